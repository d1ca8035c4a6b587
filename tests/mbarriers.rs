//! Barriers in memory (`mbarrier`) against a model of their own, in kernels whose threads wait for each other, and what is told
//! of mistakes. Nothing of the implementation is used here but to run the kernels.

#[path = "mbarriers/faults.rs"]
mod faults;
#[path = "mbarriers/model.rs"]
mod model;
#[path = "mbarriers/pipeline.rs"]
mod pipeline;

use warpstep::Kernel;

/// A kernel with a barrier `bar`, another beside it, and one `cell`; `out` is its parameter, whose address is in `%rd0`, and the
/// thread's index is in `%r0`.
fn ptx(body: &str) -> String {
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n\
         .shared .align 8 .b64 bar[2];\n.shared .align 4 .b32 cell;\n.reg .b32 %r<40>;\n.reg .b64 %rd<16>;\n.reg .b64 %s<200>;\n\
         .reg .pred %p<8>;\nld.param.u64 %rd0, [out];\nmov.u32 %r0, %tid.x;\n{body}\nret;\n}}\n"
    )
}

fn kernel(text: &str) -> Kernel<'static> {
    Kernel::from_ptx(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

//! Barriers in memory (`mbarrier`) against a model of their own, in kernels whose threads wait for each other, and what is told
//! of mistakes. Nothing of the implementation is used here but to run the kernels.

#[path = "mbarriers/faults.rs"]
mod faults;
#[path = "mbarriers/model.rs"]
mod model;
#[path = "mbarriers/pipeline.rs"]
mod pipeline;

use warpstep::Kernel;
use warpstep::check::Check;
use warpstep::memory::MemoryModel;

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

/// Each arrival hands on what those before it have, also where atomic operations on shared memory are one step: whoever waits at the barrier
/// comes after all.
#[test]
fn who_waits_comes_after_all_arrivals_whatever_their_steps() {
    let body = "setp.eq.u32 %p0, %r0, 0;\n@%p0 mbarrier.init.shared.b64 [bar], 8;\nbar.sync 0;\n\
                mul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd1, %rd0, %rd1;\nst.global.u32 [%rd1], %r0;\n\
                mbarrier.arrive.shared.b64 _, [bar];\n\
                again: mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra again;\n\
                xor.b32 %r1, %r0, 7;\nmul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd2, %rd0, %rd2;\nld.global.u32 %r2, [%rd2];\n\
                st.global.u32 [%rd1+32], %r2;";
    for name in ["flat", "fermi", "fermi-like-sm80", "rsp", "lsc-mutex"] {
        for seed in 0..4 {
            let mut out = [0u32; 16];
            let kernel = kernel(&ptx(body)).block(8).seed(seed).memory(MemoryModel::preset(name).unwrap());
            let ran = kernel.check(Check::Races).arg(&mut out[..]).run();
            ran.unwrap_or_else(|e| panic!("{name} {seed}: {e}"));
            assert_eq!(out[8..], [7, 6, 5, 4, 3, 2, 1, 0], "{name} {seed}");
        }
    }
}

//! `ldmatrix`, `stmatrix` and `movmatrix`: what lies in memory, and which lane has it.

use warpstep::Kernel;
use warpstep::check::Check;

/// A kernel of a warp over shared memory of 2 KiB, filled from `in`, and copied to `out` with a register of each lane.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{{\n\
         .shared .align 16 .b8 s[2048];\n.reg .b32 %r<40>;\n.reg .b64 %rd<8>;\n.reg .pred %p<2>;\n\
         ld.param.u64 %rd0, [in];\nld.param.u64 %rd1, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, s;\n\
         mul.wide.u32 %rd2, %r0, 16;\nadd.s64 %rd0, %rd0, %rd2;\nadd.s64 %rd1, %rd1, %rd2;\n\
         ld.global.v4.b32 {{%r4, %r5, %r6, %r7}}, [%rd0];\nshl.b32 %r2, %r0, 4;\nadd.u32 %r3, %r1, %r2;\n\
         st.shared.v4.b32 [%r3], {{%r4, %r5, %r6, %r7}};\nbar.warp.sync 0xffffffff;\n\
         mov.b32 %r10, 0;\nmov.b32 %r11, 0;\nmov.b32 %r12, 0;\nmov.b32 %r13, 0;\n\
         {body}\nst.global.v4.b32 [%rd1], {{%r10, %r11, %r12, %r13}};\nret;\n}}\n"
    )
}

/// Runs it on halves that are numbered row by row of eight, and gives each lane's four registers as halves.
fn run(body: &str) -> Vec<[u16; 8]> {
    let input: Vec<u16> = (0..256).collect();
    let mut output = vec![0u16; 256];
    let text = kernel(body);
    let kernel = Kernel::from_ptx(&text).unwrap_or_else(|e| panic!("{e}\n{text}")).block(32);
    let kernel = kernel.check(Check::Uninit).check(Check::Races).arg(&input).arg(&mut output[..]);
    kernel.run().unwrap_or_else(|e| panic!("{e}\n{text}"));
    output.chunks_exact(8).map(|lane| lane.try_into().unwrap()).collect()
}

/// PTX ISA 9.7.14.5.15: lane `l` has elements `2 (l % 4)` and the next of row `l / 4`; rows are where lanes `8 i` to `8 i + 7` say.
#[test]
fn lanes_get_two_neighbours_of_a_row() {
    for (count, list) in [(1, "%r10"), (2, "%r10, %r11"), (4, "%r10, %r11, %r12, %r13")] {
        for (space, address) in [(".shared", "%r3"), ("", "%rd3")] {
            let generic = "cvt.u64.u32 %rd3, %r3; cvta.shared.u64 %rd3, %rd3;";
            let lanes =
                run(&format!("{generic} ldmatrix.sync.aligned.m8n8.x{count}{space}.b16 {{{list}}}, [{address}];"));
            for (lane, found) in lanes.iter().enumerate() {
                for matrix in 0..count {
                    let first = (matrix * 64 + lane / 4 * 8 + lane % 4 * 2) as u16;
                    assert_eq!(found[2 * matrix..][..2], [first, first + 1], "x{count} lane {lane}");
                }
            }
            let turned = run(&format!(
                "{generic} ldmatrix.sync.aligned.m8n8.x{count}.trans{space}.b16 {{{list}}}, [{address}];"
            ));
            for (lane, found) in turned.iter().enumerate() {
                for matrix in 0..count {
                    let first = (matrix * 64 + lane % 4 * 2 * 8 + lane / 4) as u16;
                    assert_eq!(found[2 * matrix..][..2], [first, first + 8], "x{count}.trans lane {lane}");
                }
            }
        }
    }
}

#[test]
fn what_is_stored_is_what_was_loaded() {
    for (count, list) in [(1, "%r20"), (2, "%r20, %r21"), (4, "%r20, %r21, %r22, %r23")] {
        for trans in ["", ".trans"] {
            let lanes = run(&format!(
                "ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{list}}}, [%r3];\n\
                 stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%r3+1024], {{{list}}};\n\
                 bar.warp.sync 0xffffffff;\nsetp.lt.u32 %p0, %r0, {};\n\
                 @%p0 ld.shared.v4.b32 {{%r10, %r11, %r12, %r13}}, [%r3+1024];",
                8 * count
            ));
            for (lane, found) in lanes.iter().enumerate().take(8 * count) {
                let row: Vec<u16> = (0..8).map(|k| (8 * lane + k) as u16).collect();
                assert_eq!(found[..], row[..], "x{count}{trans} lane {lane}");
            }
        }
    }
}

#[test]
fn a_matrix_is_turned_and_turned_back() {
    let load = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r20}, [%r3];";
    let turned = run(&format!("{load} movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r20;"));
    let trans = run("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r10}, [%r3];");
    assert_eq!(turned, trans);
    let back = format!(
        "{load} movmatrix.sync.aligned.m8n8.trans.b16 %r21, %r20; movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r21;"
    );
    assert_eq!(run(&back), run("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r3];"));
}

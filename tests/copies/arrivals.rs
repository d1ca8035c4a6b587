//! Copies that arrive at a barrier in memory when they have landed (`cp.async.mbarrier.arrive`).

use super::{every_memory, with_caches};
use warpstep::check::Check;
use warpstep::{ControlModel, ErrorKind, Kernel};

/// Each of 64 threads copies a word and lets the barrier tell when all are there; then it reads its mirror image's.
fn kernel(arrive: &str, count: u32, wait: &str, behind: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{{\n\
         .shared .align 16 .b8 s[256];\n.shared .align 8 .b64 bar;\n.reg .b32 %r<20>;\n.reg .b64 %rd<8>;\n.reg .pred %p<4>;\n\
         ld.param.u64 %rd0, [in];\nld.param.u64 %rd1, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, s;\n\
         mul.wide.u32 %rd2, %r0, 4;\nadd.s64 %rd0, %rd0, %rd2;\nadd.s64 %rd1, %rd1, %rd2;\n\
         xor.b32 %r3, %r0, 63;\nmad.lo.u32 %r3, %r3, 4, %r1;\nmad.lo.u32 %r1, %r0, 4, %r1;\n\
         setp.ne.u32 %p0, %r0, 0;\n@%p0 bra READY;\nmbarrier.init.shared.b64 [bar], {count};\nREADY: bar.sync 0;\n\
         cp.async.ca.shared.global [%r1], [%rd0], 4;\n{arrive}\n{wait}\n\
         ld.shared.u32 %r4, [%r3];\n{behind}\nst.global.u32 [%rd1], %r4;\nret;\n}}\n"
    )
}

const COUNTED: &str = "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];";
/// What is not counted is awaited besides the thread's own arrival.
const UNCOUNTED: &str = "cp.async.mbarrier.arrive.shared.b64 [bar];\nmbarrier.arrive.shared.b64 %rd4, [bar];";
const WAIT: &str = "W: mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra W;";

fn launch<'a>(text: &str, input: &'a [u32], output: &'a [u32], zeros: &'a [u32]) -> Kernel<'a> {
    let kernel = Kernel::from_ptx(text).unwrap_or_else(|e| panic!("{e}\n{text}")).block(64);
    kernel.arg(input).arg(zeros).expect(output)
}

#[test]
fn a_barrier_tells_when_copies_have_landed() {
    let input: Vec<u32> = (100..164).collect();
    let (output, zeros): (Vec<u32>, Vec<u32>) = (input.iter().rev().copied().collect(), vec![0; 64]);
    for arrive in [COUNTED, UNCOUNTED] {
        let text = kernel(arrive, 64, WAIT, "");
        // The default schedule lets copies land though warps spin.
        launch(&text, &input, &output, &zeros).run().unwrap_or_else(|e| panic!("{e}\n{text}"));
        for memory in every_memory() {
            for seed in 0..6 {
                let kernel = launch(&text, &input, &output, &zeros).memory(memory.clone()).seed(seed);
                let kernel = kernel.check(Check::Races).check(Check::Uninit).check(Check::Barriers);
                kernel.run().unwrap_or_else(|e| panic!("{memory:?} {seed}: {e}\n{text}"));
            }
        }
        for control in [ControlModel::Its, ControlModel::Crs] {
            let hunted = launch(&text, &input, &output, &zeros).control(control).hunt(0..30).unwrap();
            assert!(hunted.findings.is_empty(), "{hunted}");
        }
    }
}

#[test]
fn who_does_not_wait_at_the_barrier_races_and_a_schedule_shows_it() {
    let input: Vec<u32> = (100..164).collect();
    let (output, zeros): (Vec<u32>, Vec<u32>) = (input.iter().rev().copied().collect(), vec![0; 64]);
    let wrong = [
        ("nobody waits", kernel(COUNTED, 64, "", "")),
        ("the barrier expects one warp less", kernel(COUNTED, 32, WAIT, "")),
        ("threads arrive, not their copies", kernel("mbarrier.arrive.shared.b64 %rd4, [bar];", 64, WAIT, "")),
        ("the copy comes behind the arrival", {
            let text = kernel(COUNTED, 64, WAIT, "");
            let copy = "cp.async.ca.shared.global [%r1], [%rd0], 4;";
            text.replace(&format!("{copy}\n{COUNTED}"), &format!("{COUNTED}\n{copy}"))
        }),
    ];
    for (name, text) in wrong {
        let error = launch(&text, &input, &output, &zeros).check(Check::Races).run().expect_err(name);
        assert!(["race", "mbarrier"].contains(&error.code()), "{name}: {error}");
        let hunted = launch(&text, &input, &output, &zeros).hunt(0..300).unwrap();
        assert!(!hunted.findings.is_empty(), "{name}: {hunted}");
        // Warps that spin hold up memory with caches by the default schedule.
        for memory in with_caches() {
            let kernel =
                |seed| launch(&text, &input, &output, &zeros).memory(memory.clone()).seed(seed).max_steps(60_000);
            let races =
                |seed| kernel(seed).check(Check::Races).run().is_err_and(|e| ["race", "mbarrier"].contains(&e.code()));
            assert!((0..20).any(races), "{name} {memory:?}");
            let shown = |seed| kernel(seed).run().is_err_and(|e| e.kind() == ErrorKind::Defect);
            assert!(name != "nobody waits" || (0..40).any(shown), "{name} {memory:?}");
        }
    }
}

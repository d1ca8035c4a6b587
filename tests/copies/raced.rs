//! Races of all schedules (`prove --check races`) beside those of runs: a search finds one if and only if some run has one.

use super::searched::{barriers, groups};
use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use warpstep::check::Check;
use warpstep::machine::ControlModel;
use warpstep::memory::MemoryModel;
use warpstep::{Error, Finding, Kernel};

fn kernel<'a>(text: &str, control: ControlModel, memory: &'a mut [u32]) -> Kernel<'a> {
    let kernel = Kernel::from_ptx(text).unwrap_or_else(|e| panic!("{e}\n{text}")).block(2).warp_size(1);
    kernel.control(control).memory(MemoryModel::Flat).check(Check::Races).max_steps(20_000).arg(memory)
}

/// What a run is stopped by.
fn run(text: &str, control: ControlModel, seed: u64) -> Option<Error> {
    kernel(text, control, &mut [0u32; 32]).seed(seed).run().err()
}

/// The races that a search finds; none where it reaches a limit.
fn proved(text: &str, control: ControlModel) -> Option<Vec<Finding>> {
    let proof =
        kernel(text, control, &mut [0u32; 32]).max_states(20_000).prove().unwrap_or_else(|e| panic!("{e}\n{text}"));
    proof.holds.map(|_| proof.findings.into_iter().filter(|finding| finding.error.code() == "race").collect())
}

/// Compares them for random programs; gives how many race, and how many do not.
fn compared(program: fn(&mut ChaCha8Rng, u32) -> String, quiet: impl Fn(&str) -> String, count: usize) -> [usize; 2] {
    let mut rng = ChaCha8Rng::seed_from_u64(181);
    let mut ends = [0; 2];
    for _ in 0..count {
        let text = quiet(&program(&mut rng, 3));
        let control = if ends[0] % 2 == 0 { ControlModel::Its } else { ControlModel::Thread };
        let Some(found) = proved(&text, control) else { continue };
        let runs = |seeds: u64| (0..seeds).find_map(|seed| run(&text, control, seed).filter(|e| e.code() == "race"));
        let raced = runs(if found.is_empty() { 40 } else { 2_000 });
        assert_eq!(raced.is_some(), !found.is_empty(), "{control:?}\n{raced:?}\n{found:?}\n{text}");
        ends[usize::from(found.is_empty())] += 1;
    }
    ends
}

/// Threads keep to what is theirs, so that only their own copies are in the way.
fn apart(text: &str) -> String {
    text.replace("[%m+", "[%rd0+")
        .replace("ld.shared.u32 %r4, [s];", "mov.u32 %r4, 0;")
        .replace("global [s]", "global [%r1]")
}

#[test]
fn a_search_finds_the_races_of_all_runs() {
    let ends = compared(groups, str::to_owned, 40);
    assert!(ends[0] > 20, "{ends:?}");
    let ends = compared(groups, apart, 60);
    assert!(ends.iter().all(|n| *n > 8), "{ends:?}");
}

#[test]
fn a_search_finds_the_races_of_barriers_and_bulk_copies() {
    let ends = compared(barriers, str::to_owned, 40);
    assert!(ends[0] > 20, "{ends:?}");
}

/// A bulk copy into shared memory that the other thread reads behind its wait.
fn handed(defect: &str) -> String {
    let fence = if defect == "fence" { "" } else { "fence.proxy.async;" };
    let wait = if defect == "wait" {
        ""
    } else {
        "again: mbarrier.test_wait.parity.shared.b64 %p1, [b], 0;\n@!%p1 bra again;"
    };
    let early = if defect == "early" { "@%p0 ld.shared.u32 %r4, [s+8];" } else { "" };
    // Which way it goes depends on who comes first.
    let sometimes = if defect == "sometimes" {
        "atom.global.exch.b32 %r6, [%m+64], 1;\nsetp.eq.u32 %p2, %r6, 0;\nsetp.eq.and.u32 %p2, %r0, 1, %p2;\n@%p2 st.shared.u32 [s], %r0;"
    } else {
        ""
    };
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 m)\n{{\n\
         .shared .align 16 .b8 s[32];\n.shared .align 8 .b64 b;\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %m;\n\
         ld.param.u64 %m, [m];\nmov.u32 %r0, %tid.x;\nsetp.eq.u32 %p0, %r0, 0;\n\
         @%p0 mbarrier.init.shared.b64 [b], 1;\n@%p0 st.shared.u32 [s+16], %r0;\n@%p0 {fence}\nbar.sync 0;\n{sometimes}\n@!%p0 bra wait;\n\
         mbarrier.arrive.expect_tx.shared.b64 _, [b], 16;\n\
         cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%m], 16, [b];\n\
         cp.async.bulk.global.shared::cta.bulk_group [%m+32], [s+16], 16;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n\
         {early}\nwait:\n{wait}\nld.shared.u32 %r5, [s+4];\nret;\n}}\n"
    )
    .replace("@%p0 \n", "\n")
}

#[test]
fn what_is_wrong_with_a_bulk_copy_is_proved() {
    for control in [ControlModel::Its, ControlModel::Thread] {
        let none = proved(&handed(""), control);
        assert!(none.as_ref().is_some_and(Vec::is_empty), "{none:?}");
        for defect in ["fence", "wait", "early", "sometimes"] {
            let found = proved(&handed(defect), control).unwrap();
            assert!(!found.is_empty(), "{defect} {control:?}");
            // It replays.
            let schedule = found[0].schedule.clone();
            let again = kernel(&handed(defect), control, &mut [0u32; 32]).replay(&schedule).unwrap_err();
            assert_eq!(again.code(), "race", "{defect}");
        }
        // Runs in which the first thread comes first have no race.
        let runs: Vec<_> = (0..40).map(|seed| run(&handed("sometimes"), control, seed).is_some()).collect();
        assert!(runs.contains(&true) && runs.contains(&false), "{runs:?}");
    }
}

/// A store that no fence between proxies follows, and that only some schedules make.
#[test]
fn a_fence_that_some_schedules_miss_is_proved() {
    for first in [0, 1] {
        let some = format!(
            "mov.u32 %r7, 1;\natom.global.exch.b32 %r6, [%m+64], %r7;\nsetp.eq.u32 %p2, %r6, {first};\n\
             setp.eq.and.u32 %p2, %r0, 0, %p2;\n@%p2 st.shared.u32 [s+20], %r0;\n"
        );
        let text = handed("").replace("@!%p0 bra wait;", &format!("{some}@!%p0 bra wait;"));
        assert!(text.contains("[s+20]"), "{text}");
        for control in [ControlModel::Its, ControlModel::Thread] {
            let found = proved(&text, control).unwrap();
            let says = |finding: &Finding| finding.error.to_string().contains("fence.proxy.async");
            assert!(found.iter().any(says), "{first} {control:?} {found:?}");
            let runs: Vec<_> = (0..40).map(|seed| run(&text, control, seed).is_some()).collect();
            assert!(runs.contains(&true) && runs.contains(&false), "{runs:?}");
        }
    }
}

//! Threads that wait for each other: results under all schedules, races, and waits that never end.

use super::{kernel, ptx};
use warpstep::Kernel;
use warpstep::check::Check;
use warpstep::machine::ControlModel;
use warpstep::memory::MemoryModel;

/// Where the kernels are made wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum But {
    Right,
    /// The consumer does not wait for the producer, nor say that it has read: else the producer might take that for the phase before.
    NoWait,
    /// Its wait orders nothing.
    RelaxedWait,
    /// The producer's arrival orders nothing.
    RelaxedArrival,
    /// Nobody waits for who initialises.
    NoSync,
    /// The consumer does not say that it has read.
    NoRelease,
}

/// One thread hands numbers to another, through one cell with a full and an empty barrier, each with a phase a round. The
/// consumer waits by parity, the producer by the state that a barrier of both returned before.
fn pipeline(rounds: u32, but: But) -> String {
    let wait = match but {
        But::NoWait => String::new(),
        But::RelaxedWait => {
            "CW: mbarrier.try_wait.parity.relaxed.cta.shared.b64 %p1, [bar], %r2;\n@!%p1 bra CW;\n".to_owned()
        }
        _ => "CW: mbarrier.try_wait.parity.shared.b64 %p1, [bar], %r2, 20;\n@!%p1 bra CW;\n".to_owned(),
    };
    let arrival = if but == But::RelaxedArrival { ".relaxed.cta" } else { "" };
    let sync = if but == But::NoSync { "" } else { "bar.sync 0;" };
    let release =
        if matches!(but, But::NoRelease | But::NoWait) { "" } else { "mbarrier.arrive.shared.b64 _, [bar+8];" };
    ptx(&format!(
        "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra READY;\nmbarrier.init.shared.b64 [bar], 1;\nmbarrier.init.shared.b64 [bar+8], 1;\n\
         READY: {sync}\nmov.u32 %r1, 0;\n@%p0 bra CONSUME;\n\
         PRODUCE: and.b32 %r2, %r1, 1;\nxor.b32 %r2, %r2, 1;\n\
         PW: mbarrier.test_wait.parity.shared.b64 %p1, [bar+8], %r2;\n@!%p1 bra PW;\n\
         add.u32 %r3, %r1, 10;\nst.shared.u32 [cell], %r3;\n\
         mbarrier.arrive{arrival}.shared.b64 %rd1, [bar];\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, {rounds};\n@%p2 bra PRODUCE;\n\
         ret;\n\
         CONSUME: and.b32 %r2, %r1, 1;\n{wait}ld.shared.u32 %r3, [cell];\n\
         mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd0, %rd2;\nst.global.u32 [%rd2], %r3;\n\
         {release}\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, {rounds};\n@%p2 bra CONSUME;"
    ))
}

/// The kernel on two warps of a thread each, with what it must leave.
fn with_results<'a>(text: &str, found: &'a mut [u32]) -> Kernel<'a> {
    let expected: Vec<u32> = (0..u32::try_from(found.len()).unwrap()).map(|k| 10 + k).collect();
    kernel(text).block(2).warp_size(1).arg(&mut found[..]).expect(&expected)
}

#[test]
fn what_is_handed_over_arrives_under_all_seeds_without_a_race() {
    let text = pipeline(4, But::Right);
    for control in [ControlModel::Crs, ControlModel::Its, ControlModel::Thread] {
        let mut found = vec![0; 4];
        let all = with_results(&text, &mut found).control(control).check(Check::Races).check(Check::Uninit);
        let hunted = all.hunt(0..64).unwrap_or_else(|e| panic!("{e}"));
        assert!(hunted.findings.is_empty() && hunted.seeds == 64, "{:?}", hunted.findings);
    }
}

#[test]
fn every_schedule_hands_over_what_was_sent() {
    for memory in [MemoryModel::Flat, MemoryModel::Split] {
        let text = pipeline(3, But::Right);
        let mut found = vec![0; 3];
        let proof = with_results(&text, &mut found).memory(memory).check(Check::Races).prove();
        let proof = proof.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(proof.holds, Some(true), "{proof}\n{:?}", proof.findings);
    }
}

/// The codes of what a hunt finds.
fn hunted(text: &str, rounds: usize) -> Vec<String> {
    let mut found = vec![0; rounds];
    let hunted = with_results(text, &mut found).check(Check::Races).hunt(0..64).unwrap_or_else(|e| panic!("{e}"));
    hunted.findings.iter().map(|found| found.error.code().to_owned()).collect()
}

#[test]
fn a_wait_that_is_left_out_is_a_race() {
    for but in [But::NoWait, But::RelaxedWait, But::RelaxedArrival] {
        let codes = hunted(&pipeline(1, but), 1);
        assert!(codes.iter().any(|code| code == "race"), "{codes:?}");
    }
}

#[test]
fn a_barrier_that_is_used_too_early_is_found() {
    let codes = hunted(&pipeline(1, But::NoSync), 1);
    assert!(codes.iter().any(|code| code == "mbarrier") && codes.iter().any(|code| code == "race"), "{codes:?}");
}

/// Two threads meet, and one of them invalidates the barrier while the other one may still ask it.
#[test]
fn a_barrier_that_is_invalidated_in_use_is_found() {
    let text = ptx("setp.ne.u32 %p0, %r0, 0;\n@!%p0 mbarrier.init.shared.b64 [bar], 2;\nbar.sync 0;\n\
         mbarrier.arrive.shared.b64 %rd1, [bar];\nW: mbarrier.test_wait.shared.b64 %p1, [bar], %rd1;\n@!%p1 bra W;\n\
         @!%p0 mbarrier.inval.shared.b64 [bar];");
    let mut found = [0u32];
    for (check, code) in [(None, "mbarrier"), (Some(Check::Races), "race")] {
        let all = kernel(&text).block(2).warp_size(1).arg(&mut found[..]);
        let all = if let Some(check) = check { all.check(check) } else { all };
        let hunted = all.hunt(0..32).unwrap_or_else(|e| panic!("{e}"));
        assert!(hunted.findings.iter().any(|found| found.error.code() == code), "{:?}", hunted.findings);
    }
}

/// Lanes of a warp that initialise one barrier together: none finds it, but they are a race.
#[test]
fn a_warp_that_initialises_a_barrier_is_a_race() {
    let text = ptx("mbarrier.init.shared.b64 [bar], 2;");
    let mut found = [0u32];
    let hunted =
        kernel(&text).block(4).arg(&mut found[..]).check(Check::Races).hunt(0..1).unwrap_or_else(|e| panic!("{e}"));
    assert!(hunted.findings.iter().any(|found| found.error.code() == "race"), "{:?}", hunted.findings);
}

#[test]
fn a_phase_that_is_never_complete_is_a_hang() {
    let text = pipeline(3, But::NoRelease);
    let mut found = vec![0; 3];
    let proof = with_results(&text, &mut found).prove().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(proof.holds, Some(false));
    let told: Vec<String> = proof.findings.iter().map(|found| found.to_string()).collect();
    let codes: Vec<&str> = proof.findings.iter().map(|found| found.error.code()).collect();
    assert_eq!(codes, ["livelock"], "{told:?}");
    for words in ["try_wait", "`bar` here, again and again: a barrier in an odd phase that awaits 1 of 1 arrival"] {
        assert!(told[0].contains(words), "{}", told[0]);
    }
}

/// 64 threads meet at a barrier twice: once by states, when each has left a number for another one, and once by parity, when one
/// thread is expected no more.
const MEETING: &str = ".shared .align 4 .b32 left[64];\nmul.wide.u32 %rd2, %r0, 4;\nadd.s64 %rd3, %rd0, %rd2;\n\
     shl.b32 %r1, %r0, 2;\nmov.u32 %r2, left;\nadd.u32 %r3, %r2, %r1;\nsub.u32 %r4, 252, %r1;\nadd.u32 %r4, %r2, %r4;\n\
     setp.ne.u32 %p0, %r0, 0;\n@%p0 bra READY;\nmbarrier.init.shared.b64 [bar], 64;\nREADY: bar.sync 0;\n\
     st.shared.u32 [%r3], %r0;\nsetp.eq.u32 %p3, %r0, 7;\n@%p3 bra LEAVES;\n\
     mbarrier.arrive.shared.b64 %rd1, [bar];\nbra W;\nLEAVES: mbarrier.arrive_drop.shared.b64 %rd1, [bar];\n\
     W: mbarrier.test_wait.shared.b64 %p1, [bar], %rd1;\n@!%p1 bra W;\n\
     ld.shared.u32 %r5, [%r4];\nst.global.u32 [%rd3], %r5;\n@%p3 bra END;\n\
     mbarrier.arrive.shared.b64 _, [bar];\nV: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 1;\n@!%p1 bra V;\n\
     setp.eq.u32 %p4, %r0, 56;\n@%p4 bra END;\nst.shared.u32 [%r3], 0;\nEND:";

#[test]
fn a_block_meets_at_a_barrier() {
    // The number that thread 7 may still be reading is left alone.
    let text = ptx(MEETING);
    let mut found = [0u32; 64];
    let expected: Vec<u32> = (0..64).map(|k| 63 - k).collect();
    let all = kernel(&text).block(64).arg(&mut found[..]).expect(&expected).check(Check::Races).check(Check::Uninit);
    let hunted = all.hunt(0..16).unwrap_or_else(|e| panic!("{e}"));
    assert!(hunted.findings.is_empty(), "{:?}", hunted.findings);
    // Without the second meeting.
    let text = text.replace("V: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 1;\n@!%p1 bra V;", "");
    let all = kernel(&text).block(64).arg(&mut found[..]).check(Check::Races);
    let hunted = all.hunt(0..4).unwrap_or_else(|e| panic!("{e}"));
    assert!(hunted.findings.iter().all(|found| found.error.code() == "race") && !hunted.findings.is_empty());
}

#[test]
fn barriers_work_on_every_memory() {
    for name in ["flat", "fermi", "tiny", "rsp", "lsc", "slsc", "lsc-mutex"] {
        let memory = MemoryModel::preset(name).unwrap_or_else(|| panic!("no preset {name}"));
        for seed in 0..20 {
            let mut found = vec![0; 3];
            let text = pipeline(3, But::Right);
            let run = with_results(&text, &mut found).memory(memory.clone()).seed(seed).run();
            run.unwrap_or_else(|e| panic!("{name}, seed {seed}: {e}"));
        }
    }
}

/// What nvcc makes of `cuda.cu`: `cuda::barrier` in rounds, and a warp that hands numbers to another one.
#[test]
fn barriers_of_libcudacxx_work() {
    let text = include_str!("cuda.ptx");
    let expected: Vec<i32> = (0..64).map(|thread| 300 + 3 * (63 - thread)).collect();
    for (entry, expected) in [("_Z4meetPi", &expected[..]), ("_Z5warpsPi", &[10; 32])] {
        let mut found = vec![0i32; expected.len()];
        let all = kernel(text).entry(entry).block(64).arg(&mut found[..]).expect(expected);
        let hunted = all.check(Check::Races).check(Check::Uninit).hunt(0..8).unwrap_or_else(|e| panic!("{e}"));
        assert!(hunted.findings.is_empty(), "{:?}", hunted.findings);
    }
}

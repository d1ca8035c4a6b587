//! The barrier of a cluster (`barrier.cluster`): what waits for what, against a model of its own over random threads; what is ordered by
//! it; what a search makes of it; what is told of its misuse (D-cluster).

use crate::small::small;
use chacha20::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use std::fmt::Write as _;
use warpstep::check::Check;
use warpstep::explore::space::{Options, explore};
use warpstep::machine::walk::Grain;
use warpstep::machine::{Config, ControlModel};
use warpstep::memory::MemoryModel;
use warpstep::{Error, Kernel};

/// A kernel over 256 words of shared memory; `%r0` is the thread's index, `%r1` the address of its word, `%d0` that of the output.
fn ptx(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n\
         .shared .align 4 .b32 s[256];\n.reg .b32 %r<20>;\n.reg .b64 %d<8>;\n.reg .pred %p<4>;\n\
         ld.param.u64 %d0, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r2, s;\nshl.b32 %r1, %r0, 2;\nadd.u32 %r1, %r1, %r2;\n\
         {body}\nret;\n}}\n"
    )
}

fn kernel(text: &str, threads: u32) -> Kernel<'static> {
    let kernel = Kernel::from_ptx(text).unwrap_or_else(|e| panic!("{e}\n{text}")).block(threads).max_steps(400_000);
    [Check::Races, Check::Barriers, Check::Uninit, Check::Bounds].into_iter().fold(kernel, Kernel::check)
}

/// In each of four rounds a thread writes a word, arrives, does something else, waits and reads its neighbour's word.
fn rounds(arrive: &str, wait: &str, threads: u32) -> String {
    ptx(&format!(
        "mov.u32 %r9, 0;\nmov.u32 %r8, 0;\nadd.u32 %r3, %r0, 1;\nrem.u32 %r3, %r3, {threads};\nshl.b32 %r3, %r3, 2;\nadd.u32 %r3, %r3, %r2;\n\
         again: mad.lo.u32 %r4, %r8, 100, %r0;\nst.shared.u32 [%r1], %r4;\n{arrive};\nadd.u32 %r9, %r9, 1000;\n{wait};\n\
         ld.shared.u32 %r5, [%r3];\nadd.u32 %r9, %r9, %r5;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n\
         add.u32 %r8, %r8, 1;\nsetp.lt.u32 %p0, %r8, 4;\n@%p0 bra again;\n\
         mul.wide.u32 %d1, %r0, 4;\nadd.u64 %d0, %d0, %d1;\nst.global.u32 [%d0], %r9;"
    ))
}

#[test]
fn words_are_handed_over_on_every_memory_under_every_control_model() {
    for (arrive, wait) in [
        ("barrier.cluster.arrive", "barrier.cluster.wait"),
        ("barrier.cluster.arrive.release.aligned", "barrier.cluster.wait.acquire.aligned"),
        ("fence.acq_rel.cluster;\nbarrier.cluster.arrive.relaxed", "barrier.cluster.wait"),
    ] {
        let text = rounds(arrive, wait, 48);
        let expected: Vec<u32> = (0..48).map(|t| 4_600 + 4 * ((t + 1) % 48)).collect();
        let presets = ["fermi", "rsp", "lsc-mutex"].map(|name| MemoryModel::preset(name).unwrap());
        for memory in
            [MemoryModel::Flat, MemoryModel::Split, MemoryModel::Lsc, MemoryModel::Slsc].iter().chain(&presets)
        {
            for control in [ControlModel::Its, ControlModel::Thread, ControlModel::Crs] {
                for seed in [None, Some(1), Some(2)] {
                    let kernel = kernel(&text, 48).memory(memory.clone()).control(control).max_steps(4_000_000);
                    let mut out = [0u32; 48];
                    let run = seed.into_iter().fold(kernel, Kernel::seed).arg(&mut out[..]).run();
                    assert!(run.is_ok(), "{memory:?} {control:?} {seed:?}\n{}", run.unwrap_err());
                    assert_eq!(out[..], expected[..], "{memory:?} {control:?} {seed:?}");
                }
            }
        }
    }
}

fn error(text: &str, threads: u32, seed: Option<u64>) -> Option<Error> {
    let mut out = [0u32; 64];
    seed.into_iter().fold(kernel(text, threads), Kernel::seed).arg(&mut out[..]).run().err()
}

/// A relaxed arrival orders nothing but what a fence has released before it; the default releases.
#[test]
fn what_is_not_released_races() {
    let relaxed = rounds("barrier.cluster.arrive.relaxed", "barrier.cluster.wait", 48);
    let found = error(&relaxed, 48, None).expect("a race");
    assert_eq!(found.code(), "race");
    assert!(found.to_string().contains("st.shared.u32"), "{found}");
    // A fence behind the arrival comes too late.
    let late = rounds("barrier.cluster.arrive.relaxed;\nfence.acq_rel.cluster", "barrier.cluster.wait", 48);
    assert_eq!(error(&late, 48, None).expect("a race").code(), "race");
    // What is written between arriving and waiting is not handed over.
    let between =
        ptx("barrier.cluster.arrive;\nst.shared.u32 [%r1], %r0;\nbarrier.cluster.wait;\nxor.b32 %r3, %r1, 128;\n\
                       ld.shared.u32 %r4, [%r3];");
    let found = error(&between, 64, None).expect("a race");
    assert_eq!(found.code(), "race", "{found}");
    // Without a wait nothing is ordered, though all have arrived.
    let unwaited =
        ptx("st.shared.u32 [%r1], %r0;\nbarrier.cluster.arrive;\nxor.b32 %r3, %r1, 128;\nld.shared.u32 %r4, [%r3];");
    assert_eq!(error(&unwaited, 64, None).expect("a race").code(), "race");
}

#[test]
fn misuse_is_told() {
    for (body, words) in [
        (
            "barrier.cluster.arrive;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;",
            "arrives again at the barrier of its cluster",
        ),
        ("barrier.cluster.wait;", "waits at the barrier of its cluster, at which it has not arrived"),
        ("barrier.cluster.arrive;\nbarrier.cluster.wait;\nbarrier.cluster.wait;", "at which it has not arrived"),
        // The first thread has arrived in the second phase, and has not waited.
        (
            "setp.eq.u32 %p0, %r0, 0;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\nbarrier.cluster.arrive;\n\
             @%p0 barrier.cluster.arrive;\nbarrier.cluster.wait;",
            "arrives again",
        ),
    ] {
        // With one program counter for the warp, a barrier of one lane is a divergent one.
        let controls: &[_] =
            if body.contains('@') { &[ControlModel::Its] } else { &[ControlModel::Its, ControlModel::Crs] };
        for control in controls {
            let mut out = [0u32; 4];
            let text = ptx(body);
            let found = kernel(&text, 32).control(*control).arg(&mut out[..]).run().expect_err(body);
            let shown = found.to_string();
            assert!(found.code() == "cluster-barrier" && shown.contains(words), "{control:?}\n{shown}");
        }
    }
    // Lanes that come to an aligned one apart from each other.
    let apart = ptx(
        "setp.lt.u32 %p0, %r0, 16;\n@%p0 bra one;\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\nret;\n\
                     one: barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;",
    );
    let found = error(&apart, 32, None).expect("a divergent barrier");
    assert_eq!(found.code(), "barrier-divergence", "{found}");
    let free = apart.replace(".aligned", "");
    assert!(error(&free, 32, None).is_none());
}

#[test]
fn who_never_arrives_is_waited_for_in_vain() {
    // The second warp waits at another barrier for the first.
    let text = ptx(
        "setp.lt.u32 %p0, %r0, 32;\n@%p0 bra first;\nbar.sync 1;\nret;\nfirst: barrier.cluster.arrive;\nbarrier.cluster.wait;",
    );
    let found = error(&text, 64, None).expect("a deadlock");
    let shown = found.to_string();
    assert!(shown.contains("the barrier of the cluster") && shown.contains("barrier 1"), "{shown}");
    // Who has exited is not waited for, whether it had arrived or not.
    for first in ["ret;", "barrier.cluster.arrive;\nret;"] {
        let text = ptx(&format!(
            "setp.lt.u32 %p0, %r0, 32;\n@!%p0 bra rest;\n{first}\nrest: barrier.cluster.arrive;\nbarrier.cluster.wait;"
        ));
        for seed in [None, Some(3), Some(4)] {
            assert!(error(&text, 64, seed).is_none(), "{first}");
        }
    }
}

/// What threads do, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Deed {
    Arrive,
    Wait,
    /// It comes to `barrier.sync 0`.
    Meet,
    Exit,
}

/// How threads end that do these deeds.
#[derive(PartialEq, Eq, Debug)]
enum End {
    Fine,
    Misused,
    Stuck,
}

/// The rules of the PTX ISA (9.7.13.4), thread by thread: who waits goes on when all threads that have not exited have arrived as
/// often as it has.
fn model(threads: &[Vec<Deed>]) -> End {
    let count = threads.len();
    let (mut at, mut arrived, mut waited) = (vec![0; count], vec![0u32; count], vec![0u32; count]);
    loop {
        let mut moved = false;
        let lives = |at: &[usize], o: usize| at[o] < threads[o].len();
        if (0..count).all(|o| !lives(&at, o) || threads[o][at[o]] == Deed::Meet) {
            (0..count).for_each(|o| at[o] += usize::from(lives(&at, o)));
        }
        for t in 0..count {
            let Some(deed) = threads[t].get(at[t]) else { continue };
            match deed {
                Deed::Arrive if arrived[t] > waited[t] => return End::Misused,
                Deed::Wait if arrived[t] == waited[t] => return End::Misused,
                Deed::Arrive => arrived[t] += 1,
                Deed::Exit => {}
                Deed::Meet => continue,
                Deed::Wait => {
                    if (0..count).any(|o| lives(&at, o) && arrived[o] < arrived[t]) {
                        continue;
                    }
                    waited[t] += 1;
                }
            }
            at[t] = if *deed == Deed::Exit { threads[t].len() } else { at[t] + 1 };
            moved = true;
        }
        if !moved {
            return if (0..count).all(|t| at[t] == threads[t].len()) { End::Fine } else { End::Stuck };
        }
    }
}

/// Threads that mostly arrive and wait by turns.
fn deeds(rng: &mut ChaCha8Rng, phases: usize) -> Vec<Deed> {
    let mut all: Vec<Deed> = (0..phases).flat_map(|_| [Deed::Arrive, Deed::Wait]).collect();
    match rng.random_range(0..12) {
        0 => _ = all.remove(rng.random_range(0..all.len())),
        1 => all.insert(rng.random_range(0..all.len()), if rng.random() { Deed::Arrive } else { Deed::Wait }),
        2 => all.truncate(rng.random_range(0..all.len())),
        3 | 4 => all.insert(rng.random_range(0..all.len()), Deed::Meet),
        _ => {}
    }
    all.push(Deed::Exit);
    all
}

/// A kernel in which each thread does its deeds; it counts them in its word.
fn program(threads: &[Vec<Deed>]) -> String {
    let mut body = String::new();
    for (t, deeds) in threads.iter().enumerate() {
        let _ = writeln!(body, "setp.ne.u32 %p0, %r0, {t};\n@%p0 bra not{t};");
        for deed in deeds {
            body += match deed {
                Deed::Arrive => "barrier.cluster.arrive;\n",
                Deed::Wait => "barrier.cluster.wait;\n",
                Deed::Meet => "barrier.sync 0;\n",
                Deed::Exit => "exit;\n",
            };
        }
        let _ = writeln!(body, "not{t}:");
    }
    ptx(&body)
}

fn code(end: &End) -> &'static str {
    match end {
        End::Fine => "",
        End::Misused => "cluster-barrier",
        End::Stuck => "barrier-deadlock",
    }
}

#[test]
fn random_threads_end_as_the_model_says() {
    let mut rng = ChaCha8Rng::seed_from_u64(19);
    let mut ends = [0; 3];
    for k in 0..400u32 {
        let phases = rng.random_range(1..4);
        let threads: Vec<_> = (0..rng.random_range(1..7)).map(|_| deeds(&mut rng, phases)).collect();
        let expected = model(&threads);
        ends[usize::from(expected == End::Misused) + 2 * usize::from(expected == End::Stuck)] += 1;
        let text = program(&threads);
        let count = u32::try_from(threads.len()).unwrap();
        for (warp, control) in [(4, ControlModel::Its), (2, ControlModel::Thread), (1, ControlModel::Crs)] {
            for seed in [None, Some(u64::from(k))] {
                let kernel = Kernel::from_ptx(&text).unwrap().block(count).warp_size(warp).control(control);
                let mut out = [0u32; 4];
                let run = seed.into_iter().fold(kernel, Kernel::seed).arg(&mut out[..]).run();
                let found = run.err().map_or_else(String::new, |e| e.code().to_owned());
                assert_eq!(found, code(&expected), "{threads:?} {warp} {control:?} {seed:?}");
            }
        }
    }
    assert!(ends.iter().all(|n| *n > 20), "{ends:?}");
}

/// A search that leaves out what nobody notices finds the ends and the contents of memory that one finds which leaves out nothing.
#[test]
fn what_a_search_leaves_out_loses_nothing() {
    let mut rng = ChaCha8Rng::seed_from_u64(20);
    let (mut several, mut smaller) = (0, 0);
    for _ in 0..20 {
        let mut body = "setp.lt.u32 %p0, %r0, 1;\n".to_owned();
        for _ in 0..rng.random_range(2..5) {
            let word = 4 * rng.random_range(0..2);
            let mut some = || match rng.random_range(0..4) {
                0 => format!("st.global.u32 [%d0+{word}], %r0;\n"),
                1 => format!("@%p0 ld.global.u32 %r7, [%d0+{word}];\n"),
                2 => format!("atom.global.add.u32 %r7, [%d0+{}], 5;\n", word ^ 4),
                _ => "@!%p0 bra skip;\nskip:\n".replace("skip", &format!("skip{}", rng.random_range(0..1_000_000))),
            };
            let (one, other) = (some(), some());
            let _ = write!(body, "{one}barrier.cluster.arrive;\n{other}barrier.cluster.wait;\n");
        }
        let text = ptx(&format!(
            "mov.u32 %r7, 0;\n{body}mul.wide.u32 %d1, %r0, 4;\nadd.u64 %d0, %d0, %d1;\nst.global.u32 [%d0+8], %r7;"
        ));
        for (memory, control, lanes) in [
            (MemoryModel::Flat, ControlModel::Its, 4),
            (MemoryModel::Flat, ControlModel::Thread, 1),
            (MemoryModel::Flat, ControlModel::Its, 2),
            (MemoryModel::Lsc, ControlModel::Its, 1),
        ] {
            let config = Config { control: Some(control), memory, warp_size: lanes, ..Config::default() };
            let search = |grain| {
                let mut poll = |_: &_| None;
                let mut options = Options { max_states: Some(20_000), ..Options::states(false, &mut poll) };
                small(&text, 1, 3, config.clone()).search(grain, |walk, outcome| explore(walk, &mut options, outcome))
            };
            let [all, some] = [Grain::Instruction, Grain::Alike { blocks: true }].map(search);
            if all.limit.is_none() && some.limit.is_none() {
                let [every, left] = [&all, &some].map(|space| space.outcomes.keys().cloned().collect::<Vec<_>>());
                assert!(
                    every.iter().all(|o| left.contains(o)) && left.iter().all(|o| every.contains(o)),
                    "{control:?}\n{text}"
                );
                several += usize::from(every.len() > 1);
                smaller += usize::from(some.graph.states() < all.graph.states());
            }
        }
    }
    assert!(several > 20 && smaller > 50, "{several} {smaller}");
}

/// All schedules of a kernel that hands words over twice: it holds; without one wait some schedule shows what is wrong.
#[test]
fn every_schedule_is_proved() {
    let good = ptx(
        "st.shared.u32 [%r1], %r0;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\nxor.b32 %r3, %r1, 4;\nld.shared.u32 %r4, [%r3];\n\
                    barrier.cluster.arrive;\nbarrier.cluster.wait;\nst.shared.u32 [%r1], %r4;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n\
                    ld.shared.u32 %r5, [%r3];\nmul.wide.u32 %d1, %r0, 4;\nadd.u64 %d0, %d0, %d1;\nst.global.u32 [%d0], %r5;",
    );
    let expected: Vec<u32> = (0..4).collect();
    let prove = |text: &str, warp, control| {
        let kernel = Kernel::from_ptx(text).unwrap().block(4).warp_size(warp).control(control).check(Check::Races);
        kernel.arg(&mut [0u32; 4][..]).expect(&expected).prove().unwrap()
    };
    for (warp, control) in [(4, ControlModel::Its), (2, ControlModel::Thread), (2, ControlModel::Crs)] {
        let proof = prove(&good, warp, control);
        assert!(proof.holds == Some(true), "{warp} {control:?}\n{proof}");
        for n in 0..3 {
            // Without its wait, the n-th barrier's arrival is followed by another.
            let parts: Vec<&str> = good.split("barrier.cluster.wait;\n").collect();
            let bad = format!(
                "{}{}",
                parts[..=n].join("barrier.cluster.wait;\n"),
                parts[n + 1..].join("barrier.cluster.wait;\n")
            );
            let proof = prove(&bad, warp, control);
            assert!(proof.holds == Some(false) && !proof.findings.is_empty(), "{n} {warp} {control:?}\n{proof}");
        }
    }
}

/// A cluster of one block, with the barriers and addresses that `cooperative_groups` makes (nvcc 13.5).
#[test]
fn a_histogram_of_cooperative_groups_counts() {
    let values: Vec<u32> = (0..96).map(|k| k * k).collect();
    let mut expected = vec![0u32; 64];
    values.iter().for_each(|value| expected[(value % 64) as usize] += 1);
    let text = include_str!("clusters/histogram.ptx");
    let run = |text: &str, seed: u64| {
        let mut bins = vec![7u32; 64];
        let kernel = kernel(text, 96).seed(seed).arg(&values[..]).arg(96u32).arg(&mut bins[..]);
        kernel.run().map(|_| bins).map_err(|e| e.to_string())
    };
    for seed in 0..6 {
        assert_eq!(run(text, seed).as_ref(), Ok(&expected), "{seed}");
    }
    // Who counts before all have cleared their bins races.
    let early = text.replacen("barrier.cluster.wait;", "", 1);
    let late = text.replacen("barrier.cluster.arrive;", "", 1).replacen("barrier.cluster.wait;", "", 1);
    let found = run(&late, 1).unwrap_err();
    assert!(found.contains("[race]"), "{found}");
    let found = run(&early, 1).unwrap_err();
    assert!(found.contains("[race]") || found.contains("[cluster-barrier]"), "{found}");
}

//! Schedules: every seed's replays to the same run, hunts find what is there, what is minimised is the essence, and what
//! does not fit is refused.

use crate::schedules_world::{Folder, LIMITS, config, hunt, own, target};
use warpstep::base::FileId;
use warpstep::check::Observers;
use warpstep::choice::{Alternative, Decision, Fair, Oracle, Part, Recorder, Replay, Schedule, Strategy};
use warpstep::explore::{Ending, Limits, Measure, Minimise, Minimised, ScheduleFile, Signature, Target, Way};
use warpstep::launch::Unexpected;
use warpstep::machine::{Config, ControlModel, MemoryModel, Stopwatch};
use warpstep::verdict::{Stop, StuckKind};

const STRATEGIES: [Strategy; 3] = [Strategy::Random, Strategy::Pct { depth: 3, steps: 200 }, Strategy::RoundRobin];

/// What decides about a run goes through text and comes back.
fn through_text(schedule: &Schedule) -> Schedule {
    let file = ScheduleFile { schedule: schedule.clone(), ..ScheduleFile::default() };
    let text = file.text();
    ScheduleFile::parse(&text, FileId::default()).unwrap_or_else(|e| panic!("{e:?}: {text}")).schedule
}

/// A seed's run unobserved, and its schedule's replay observed, do the same; the replay's trace is the recorded one.
fn replays(target: &Target, strategy: Strategy, seed: u64) {
    let mut recorder = Recorder::new(strategy.oracle(seed));
    let silent = target.run(Way { oracle: &mut recorder, tell: None, limits: LIMITS });
    let recorded = target.record(strategy.oracle(seed), LIMITS, Observers::none());
    let schedule = Schedule { fair_from: silent.fair_from, ..recorder.schedule };
    assert_eq!(schedule, recorded.schedule, "observation changes what is decided");
    let mut replay = Recorder::new(Replay::new(through_text(&schedule)));
    let limits = Limits { steps: schedule.fair_from.unwrap_or(u64::MAX), ..LIMITS };
    let (again, trace, _) = target.observe(&mut replay, limits, Observers::none(), &mut |_, _| ());
    assert_eq!((trace, again.clock), (recorded.trace, silent.clock), "seed {seed}, {strategy:?}");
    assert_eq!(again.device.memory_hash(), silent.device.memory_hash(), "seed {seed}, {strategy:?}");
    assert_eq!(again.output, silent.output);
    assert_eq!(replay.into_parts().0.finish(), Ok(()));
}

#[test]
fn every_seeds_schedule_replays_to_the_same_trace() {
    let examples = ["spinlock", "scan_warp", "votes_and_match", "named_barriers", "printf", "guarded_calls"];
    for (k, example) in examples.into_iter().enumerate() {
        for control in [ControlModel::Crs, ControlModel::Its, ControlModel::Thread] {
            let target = target(&format!("ptx-examples/{example}/launch.toml"), config(control));
            for strategy in STRATEGIES {
                let some = 10 * k as u64;
                (some..some + 4).for_each(|seed| replays(&target, strategy, seed));
            }
        }
    }
}

/// Every control model on every memory, parts of groups among them: 200 seeds of small programs.
#[test]
fn under_every_control_model_on_every_memory() {
    let memories = ["tiny", "rsp"].map(|name| MemoryModel::preset(name).unwrap());
    let memories = [MemoryModel::Flat, MemoryModel::Split].into_iter().chain(memories).collect::<Vec<_>>();
    for control in [ControlModel::Crs, ControlModel::Its, ControlModel::ItsSplit, ControlModel::Thread] {
        for memory in &memories {
            for (file, warp_size) in [("torn", 2), ("handoff_synced", 32), ("big", 32)] {
                let config = Config { memory: memory.clone(), warp_size, ..config(control) };
                let target = target(&format!("tests/prove/{file}.toml"), config);
                (0..200).for_each(|seed| replays(&target, Strategy::Random, seed));
                STRATEGIES.into_iter().for_each(|strategy| replays(&target, strategy, 7));
            }
        }
    }
}

#[test]
fn on_memory_with_caches_too() {
    let config = Config { memory: MemoryModel::preset("tiny").unwrap(), ..config(ControlModel::Its) };
    for file in ["atomicity.toml", "barrier.toml", "locks.toml"] {
        let target = target(&format!("tests/schedules/{file}"), config.clone());
        for strategy in STRATEGIES {
            (0..3).for_each(|seed| replays(&target, strategy, seed));
        }
    }
}

#[test]
fn a_schedule_of_another_run_is_refused_where_it_differs() {
    let (one, other) = (own("atomicity.toml"), own("locks.toml"));
    // Some fit by chance, as far as they go.
    let refused = (0..50).find_map(|seed| {
        let recorded = one.record(Strategy::Random.oracle(seed), LIMITS, Observers::none());
        let mut strict = Replay::new(recorded.schedule.clone());
        let (played, ..) = other.observe(&mut strict, LIMITS, Observers::none(), &mut |_, _| ());
        let Ending::Stopped(stop) = played.ending else { return None };
        matches!(stop, Stop::Diverged { decision: 2.., .. }).then_some((recorded, stop))
    });
    let (recorded, stop) = refused.expect("not all fit");
    // Told to go on, it ends by the default schedule, and tells the same place.
    let mut lenient = Replay::new(recorded.schedule).lenient();
    let (played, ..) = other.observe(&mut lenient, LIMITS, Observers::none(), &mut |_, _| ());
    assert!(!matches!(played.ending, Ending::Stopped(Stop::Diverged { .. })));
    assert_eq!(lenient.diverged(), Some(&stop));
}

#[test]
fn the_same_defect_is_found_on_any_number_of_cores() {
    for (file, strategy) in [
        ("atomicity.toml", Strategy::Random),
        ("barrier.toml", Strategy::Random),
        ("locks.toml", Strategy::Random),
        ("atomicity.toml", Strategy::RoundRobin),
        ("locks.toml", Strategy::RoundRobin),
    ] {
        let target = own(file);
        let one = hunt(&target, strategy, 0..300, false, 1);
        assert_eq!(one.findings.len(), 1, "{file}: {one:?}");
        for jobs in [2, 3] {
            assert_eq!(hunt(&target, strategy, 0..300, false, jobs), one, "{file}, {jobs} threads");
        }
        let all = hunt(&target, strategy, 0..300, true, 3);
        assert_eq!(all, hunt(&target, strategy, 0..300, true, 1), "{file}");
        assert_eq!((all.findings[0].seed, all.done.end), (one.findings[0].seed, 300), "{file}");
        assert!(all.findings.iter().all(|f| f.times >= 1));
    }
}

#[test]
fn pct_keeps_its_promise() {
    // Depth 2: the first warp must be stopped once, between its load and its store.
    for file in ["atomicity.toml", "locks.toml"] {
        let target = own(file);
        let measure = Measure::of(&target, LIMITS);
        assert_eq!(measure.warps, 2);
        let strategy = Strategy::Pct { depth: 2, steps: measure.steps };
        let hunted = hunt(&target, strategy, 0..1000, true, 2);
        let found: u64 = hunted.findings.iter().map(|f| f.times).sum();
        let bound = warpstep::choice::Pct::bound(2, measure.warps, measure.steps);
        assert!(found as f64 >= 1000.0 * bound, "{file}: {found} of 1000 with {measure:?}, at least {bound}");
    }
}

#[test]
fn results_that_depend_on_the_schedule() {
    let mut target = own("racing.toml");
    assert!(hunt(&target, Strategy::Random, 0..200, false, 2).findings.is_empty());
    let fair = target.play_fair(LIMITS);
    target.compare_schedules(&fair);
    let hunted = hunt(&target, Strategy::Random, 0..200, false, 2);
    let [found] = &hunted.findings[..] else { panic!("{hunted:?}") };
    assert_eq!(found.signature, Signature::Differs(Some("counter".into())));
    let Ending::Differs(Unexpected { mismatches, output_mismatch: None, .. }) = &found.ending else {
        panic!("{found:?}")
    };
    assert_eq!((mismatches[0].differing, mismatches[0].largest), (1, 1.0));
}

/// Minimises a seed's schedule; checks that it still shows the defect, strictly replayed, and that nothing more can go.
fn essence(target: &Target, strategy: Strategy, seed: u64) -> (Minimised, u64) {
    let before = target.record(strategy.oracle(seed), LIMITS, Observers::none());
    let wanted = Signature::of(&before.played).unwrap();
    let never = std::sync::atomic::AtomicBool::new(false);
    let job = Minimise {
        target,
        watchers: None,
        limits: LIMITS,
        time: Stopwatch::start(None),
        interrupted: &never,
        progress: &|_, _| (),
    };
    let minimised = job.run(&before.schedule).unwrap();
    assert!(minimised.complete);
    let shows = |schedule: &Schedule| {
        let limits = Limits { steps: schedule.fair_from.unwrap_or(LIMITS.steps), ..LIMITS };
        let recorded = target.record(Replay::new(schedule.clone()).lenient(), limits, Observers::none());
        (Signature::of(&recorded.played).as_ref() == Some(&wanted)).then_some(recorded.switches)
    };
    let switches = shows(&through_text(&minimised.schedule)).expect("the minimised schedule shows the defect");
    // One decision less, or one held as long as by default, does not.
    for gone in 0..minimised.schedule.taken() {
        let mut k = 0;
        let mut less = minimised.schedule.clone();
        for part in less.launches.iter_mut().flatten() {
            if let Part::Take(_) = part {
                *part = if k == gone { Part::Fair(1) } else { *part };
                k += 1;
            }
        }
        assert_eq!(shows(&less), None, "decision {gone} could go");
    }
    (minimised, switches)
}

/// The decisions that are left, all about warps of the first block: warp and instructions.
fn left(minimised: &Minimised) -> Vec<(u32, u32)> {
    let take = |part: &Part| match part {
        Part::Take(Decision { what: Alternative::Warp { block: 0, warp }, lease }) => Some((*warp, *lease)),
        Part::Take(other) => panic!("{other:?}"),
        _ => None,
    };
    minimised.schedule.launches.iter().flatten().filter_map(take).collect()
}

#[test]
fn an_atomicity_violation_is_one_preemption() {
    let target = own("atomicity.toml");
    for strategy in STRATEGIES {
        let found = hunt(&target, strategy, 0..1000, true, 2);
        for seed in found.findings.iter().map(|f| f.seed) {
            let (minimised, switches) = essence(&target, strategy, seed);
            let left = left(&minimised);
            // Load and store are the seventh and the ninth instruction: one of the warps stops between the two, the other
            // one runs to its end, and the first goes on.
            assert!(matches!(left[..], [(0 | 1, 7..=8)]), "{strategy:?} {seed}: {left:?}");
            assert_eq!(switches, 2, "{strategy:?} {seed}");
        }
    }
}

#[test]
fn a_missing_barrier_is_one_warp_before_the_other() {
    let target = own("barrier.toml");
    for strategy in STRATEGIES {
        let found = hunt(&target, strategy, 0..100, false, 2);
        let (minimised, switches) = essence(&target, strategy, found.findings[0].seed);
        // The second warp runs first, for as long as it likes.
        assert_eq!((left(&minimised), switches), (vec![(1, 2048)], 1), "{strategy:?}");
    }
}

#[test]
fn locks_in_opposite_orders_are_one_preemption() {
    let target = own("locks.toml");
    for strategy in STRATEGIES {
        let found = hunt(&target, strategy, 0..1000, false, 2);
        let finding = &found.findings[0];
        let Ending::Stopped(Stop::Stuck(stuck)) = &finding.ending else { panic!("{finding:?}") };
        assert!(matches!(**stuck, StuckKind::Endless { .. }), "{stuck:?}");
        let (minimised, _) = essence(&target, strategy, finding.seed);
        let left = left(&minimised);
        // A warp stops after it has taken its own lock and before it tries the other's.
        assert!(matches!(left[..], [(_, n)] if n < 2048), "{strategy:?}: {left:?}");
        assert!(minimised.schedule.fair_from.is_some_and(|from| from < 100), "{strategy:?}: {:?}", minimised.schedule);
    }
}

#[test]
fn the_default_schedule_never_deviates_from_itself() {
    let target = own("atomicity.toml");
    let recorded = target.record(Fair, LIMITS, Observers::none());
    let mut guided = warpstep::choice::Guided::new(recorded.schedule);
    guided.launch(0).unwrap();
    let (played, ..) = target.observe(&mut guided, LIMITS, Observers::none(), &mut |_, _| ());
    assert_eq!((played.ending, guided.did().taken()), (Ending::Expected, 0));
}

/// What a schedule was made with stays the same in its eyes, whatever memory programs are made of inside.
#[test]
fn a_schedule_of_an_earlier_build_is_replayed_on_caches() {
    let folder = Folder::new();
    folder.expect(&["replay", "atomicity.fermi.schedule"], 1, &["trace 60f0ff6c6e0fb413: a defect"]);
}

#[test]
fn schedules_on_the_command_line() {
    let folder = Folder::new();
    let found =
        folder.expect(&["hunt", "atomicity.toml"], 1, &["found by seed", "warpstep replay", "1 distinct defect"]);
    assert!(found.contains("1 of 1 u32 elements differ"), "{found}");
    let file = "atomicity.schedule";
    let seen = ["1 of 1 u32 elements differ", "context switches", "a defect", "atomicity.ptx:"];
    let text = folder.expect(&["replay", file], 1, &seen);
    assert_eq!(text, folder.expect(&["replay", file, "--continue"], 1, &seen));
    folder.expect(&["replay", file, "--turns"], 1, &["block 0, warp 0", "block 0, warp 1"]);
    folder.expect(&["minimise", file], 1, &["1 of ", "2 of ", "nothing more can go"]);
    let short = file.replace(".schedule", ".min.schedule");
    folder.expect(&["replay", &short, "--format", "json"], 1, &["\"context_switches\": 2"]);
    // The seed's run is the same one again, and so is the one that `run` makes of the seed.
    let seed = found.split("found by seed ").nth(1).unwrap().split([':', ',']).next().unwrap();
    folder.expect(&["replay", "--seed", seed, "atomicity.toml"], 1, &["1 of 1 u32 elements differ"]);
    folder.expect(&["run", "atomicity.toml", "--seed", seed], 1, &["1 of 1 u32 elements differ"]);
    folder.expect(&["hunt", "barrier.toml", "--strategy", "pct", "--depth", "1"], 1, &["1/(n·k^0)", "n = 2 warps"]);
    folder.expect(&["hunt", "racing.toml", "--check", "deterministic"], 1, &["depend on the schedule"]);
    folder.expect(&["hunt", "racing.toml", "--seeds", "50"], 0, &["no distinct defects", "50 seeds", "control its"]);
    folder.expect(&["hunt", "locks.toml", "--max-steps", "3000"], 1, &["livelock", "locks in a ring"]);
    folder.expect(&["run", "racing.toml", "--check", "deterministic"], 2, &["hunt"]);
    let race = folder.expect(&["hunt", "racing.toml", "--check", "races"], 1, &["race", "the default schedule"]);
    assert!(race.contains("atomicity.ptx:16") && race.contains(" 18 │"), "{race}");
    folder.expect(&["replay", "racing.schedule"], 1, &["race"]);
}

#[test]
fn a_hunt_goes_on_where_it_stopped() {
    let folder = Folder::new();
    let args = ["hunt", "atomicity.toml", "--keep-going", "--checkpoint", "c", "--format", "json", "--seeds"];
    let with = |n: &'static str| [&args[..], &[n]].concat();
    folder.expect(&with("40"), 1, &["\"seeds\": 40"]);
    let whole = ["hunt", "atomicity.toml", "--keep-going", "--format", "json", "--seeds", "100"];
    let (resumed, anew) = (folder.expect(&with("100"), 1, &[]), folder.expect(&whole, 1, &[]));
    assert_eq!(resumed, anew);
    folder.expect(&["hunt", "atomicity.toml", "--checkpoint", "c"], 2, &["other options"]);
    folder.expect(&["hunt", "barrier.toml", "--checkpoint", "c"], 2, &["another program"]);
    let mut damaged = folder.read("c");
    damaged.pop();
    folder.write("c", &damaged);
    folder.expect(&with("100"), 2, &["cut off or edited"]);
    folder.write("c", "hello\n");
    folder.expect(&with("100"), 2, &["is no checkpoint"]);
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    let folder = Folder::new();
    folder.expect(&["hunt", "atomicity.toml"], 1, &[]);
    let file = "atomicity.schedule";
    let text = String::from_utf8(folder.read(file)).unwrap();
    let refused = |text: &str, words: &[&str]| {
        folder.write("bad.schedule", text);
        let words: Vec<&str> = words.iter().copied().chain(["bad.schedule"]).collect();
        folder.expect(&["replay", "bad.schedule"], 2, &words);
        folder.expect(&["minimise", "bad.schedule"], 2, &words);
    };
    refused("", &["is no schedule"]);
    refused("\u{fffd}PNG\n", &["is no schedule", "bad.schedule:1"]);
    for other in ["1", "3"] {
        let format = format!("format {other} cannot be read");
        let words = [format.as_str(), "knows format 2", "warpstep hunt", "bad.schedule:1"];
        refused(&text.replace("warpstep schedule 2", &format!("warpstep schedule {other}")), &words);
    }
    refused(&text.replace("version 0.", "version 9."), &["was edited", "bad.schedule:2"]);
    refused(&Folder::resealed(&text.replace("version 0.", "version 9.")), &["warpstep 9.1", "bad.schedule:2"]);
    refused(&text[..text.len() / 2], &["is cut off", "`end`"]);
    refused(&format!("{text}warp 0.0\n"), &["follows the end"]);
    refused(&text.replacen("warp 0.0", "warp 0.1", 1), &["was edited", "bad.schedule:9"]);
    refused(&Folder::resealed(&text.replacen("warp 0.0", "warp 0/2", 1)), &["is no decision", "bad.schedule:9"]);
    refused(&Folder::resealed(&text.replacen("launch 0", "launch 1", 1)), &["`launch`", "bad.schedule:8"]);
    refused(&Folder::resealed(&text.replace("atomicity.toml", "barrier.toml")), &["another program", "bad.schedule:4"]);
    refused(&Folder::resealed(&text.replace("atomicity.toml", "racing.toml")), &["another launch", "bad.schedule:5"]);
    let crs = text.replace("atomicity.toml", "atomicity.toml --control crs");
    refused(&Folder::resealed(&crs), &["another launch", "bad.schedule:5"]);
    // A schedule that fits the program and not the run: the first decision that differs.
    let other = Folder::resealed(&text.replacen("warp 0.0", "warp 0.2", 1));
    folder.write("other.schedule", &other);
    folder.expect(
        &["replay", "other.schedule"],
        2,
        &["does not fit this run", "decision 0", "warp 0.2", "warp 0.0, warp 0.1"],
    );
    folder.expect(&["replay", "other.schedule", "--continue"], 0, &["decision 0", "no defect"]);
    folder.expect(&["replay", file, "--control", "its"], 2, &["--seed"]);
    folder.expect(&["replay", "missing.schedule"], 2, &["no such file"]);
    folder.write("atomicity.ptx", folder.read("atomicity.ptx").into_iter().chain(*b"\n").collect::<Vec<u8>>());
    folder.expect(&["replay", file], 2, &["another program", ":4"]);
}

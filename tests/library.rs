//! The library as its users meet it: kernels on vectors, errors, hunts, proofs, schedules, and that the examples run.

#[path = "../examples/hunt.rs"]
mod hunt;
#[path = "../examples/prove.rs"]
mod prove;
#[path = "../examples/run.rs"]
mod run;

use warpstep::{Argument, Buffer, Check, ControlModel, ErrorKind, Kernel, MemoryModel, Progress};

fn scale<'a>() -> Kernel<'a> {
    Kernel::from_file(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/tour/scale.ptx")).unwrap()
}

/// Two warps that add one to a counter by a load and a store.
fn count(counter: &mut [u32; 1]) -> Kernel<'_> {
    file("tests/schedules/atomicity.ptx").block(64).buffer("counter", counter)
}

/// Two warps that take two locks in opposite orders.
fn locks(locks: &mut [u32; 2]) -> Kernel<'_> {
    file("tests/schedules/locks.ptx").block(64).buffer("locks", locks)
}

/// Two warps that count under a spin lock.
fn spin(memory: &mut ([i32; 1], [i32; 1], [i32; 4])) -> Kernel<'_> {
    let kernel = file("ptx-examples/spinlock/spinlock.ptx").block(64);
    let (lock, counter, log) = memory;
    kernel.arg(lock).expect(&[0]).arg(counter).expect(&[2]).arg(log)
}

fn file<'a>(path: &str) -> Kernel<'a> {
    Kernel::from_file(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn memory_is_written_back_where_it_was_given_for_writing() {
    let mut x = vec![3.0f32; 65];
    let run = scale().grid((2, 1)).block([32, 1, 1]).arg(&mut x[..64]).arg(63u32).run().unwrap();
    assert_eq!((run.stats.blocks, run.printed()), (2, String::new()));
    assert_eq!((x[0], x[63], x[64]), (6.0, 6.0, 3.0));
    let before = x.clone();
    scale().block(32).arg(&x).arg(31u32).run().unwrap();
    assert_eq!(x, before);
}

#[test]
fn a_defect_leaves_memory_as_it_was_and_says_where_it_is() {
    let mut x = vec![1.0f32; 8];
    let error = scale().block(32).buffer("x", &mut x).arg(8u32).run().unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Defect, "out-of-bounds"));
    assert!(error.to_string().contains("just after the end of buffer `x` of 32 bytes"), "{error}");
    assert_eq!(error.json()["place"]["line"], 23);
    assert!(error.stop().is_some());
    assert_eq!(x, [1.0; 8]);
}

#[test]
fn what_must_come_out_is_compared() {
    let mut x = [1.0f32; 4];
    let right = [2.0f32; 4];
    let wrong = [2.0, 2.0, 2.5, 2.0f32];
    let run = |kernel: Kernel<'_>| kernel.run().map(|run| run.stats.blocks);
    assert_eq!(run(scale().block(4).arg(&mut x).expect(&right).arg(3u32)).unwrap(), 1);
    let mut x = [1.0f32; 4];
    let error = run(scale().block(4).arg(&mut x).expect(&wrong).arg(3u32)).unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Defect, "mismatch"));
    assert!(error.to_string().contains("2.5"), "{error}");
    assert_eq!(run(scale().block(4).arg(&mut x).expect_within(&wrong, 0.3).arg(3u32)).unwrap(), 1);
    let error = run(scale().arg(3u32).expect(&[1u32])).unwrap_err();
    assert!(
        error.kind() == ErrorKind::Input && error.to_string().contains("the memory that was given last"),
        "{error}"
    );
}

#[test]
fn what_was_never_written_is_known() {
    let mut x = Buffer::<f32>::uninit(4);
    let error = scale().block(4).arg(&mut x).arg(3u32).check(Check::Uninit).run().unwrap_err();
    assert_eq!(error.code(), "uninitialised");
    x.fill(1.5);
    scale().block(4).arg(&mut x).arg(3u32).check(Check::Uninit).run().unwrap();
    assert_eq!(x.into_vec(), [3.0; 4]);
    // What a kernel wrote is written for the next one.
    let mut y = Buffer::<f32>::uninit(4);
    scale().block(4).arg(&mut y).arg(3u32).run().unwrap();
    scale().block(4).arg(&mut y).arg(3u32).check(Check::Uninit).run().unwrap();
}

#[test]
fn wrong_input_is_told_all_at_once_with_places() {
    let error = Kernel::from_ptx(".version 7.0\n.target sm_70\n.entry k() { add.u32 %r1, 2; foo; ret; }").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
    assert!(error.to_string().contains("kernel.ptx:3"), "{error}");
    assert!(error.json()["problems"].as_array().is_some_and(|all| !all.is_empty()));
    let cases = [
        scale().arg(1u32).run(),
        scale().arg(1u64).arg(1u64).run(),
        scale().entry("other").arg(1u64).arg(1u32).run(),
        scale().block(2048).arg(1u64).arg(1u32).run(),
        scale().warp_size(33).arg(1u64).arg(1u32).run(),
        scale().arg(1u64).arg(1u32).check(Check::Deterministic).run(),
        scale().arg(1u64).arg(1u32).check(Check::Liveness).seed(1).run(),
    ];
    for case in cases {
        let error = case.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input, "{error}");
    }
    let error = Kernel::from_file("no/such.ptx").unwrap_err();
    assert!(error.to_string().contains("no/such.ptx"), "{error}");
    let null = scale().block(4).arg(Argument::null()).arg(3u32).run().unwrap_err();
    assert_eq!(null.code(), "null");
}

#[test]
fn limits_and_models_are_kept() {
    let mut taken = [0u32, 1];
    let error = locks(&mut taken).max_steps(1000).run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    let mut hashes = Vec::new();
    let memories = [MemoryModel::Flat, MemoryModel::Split, MemoryModel::preset("fermi").unwrap()];
    for (control, memory) in [ControlModel::Crs, ControlModel::Its, ControlModel::Thread].into_iter().zip(memories) {
        let mut x = [1.0f32; 32];
        let run = scale().block(32).arg(&mut x).arg(20u32).control(control).memory(memory).seed(3).run().unwrap();
        assert_eq!((x[20], x[21]), (2.0, 1.0));
        hashes.push(run.memory_hash);
    }
    assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{hashes:?}");
}

#[test]
fn a_hunt_finds_what_a_run_does_not_and_its_schedules_replay() {
    let mut counter = [0u32];
    count(&mut counter).expect(&[2u32]).run().unwrap();
    let hunted = count(&mut [0u32]).expect(&[2u32]).hunt(0..200).unwrap();
    assert!(hunted.complete && hunted.limited == 0 && hunted.seeds == 200);
    let [finding] = &hunted.findings[..] else { panic!("{hunted}") };
    assert_eq!(finding.error.code(), "mismatch");
    assert!(hunted.to_string().contains("1 distinct defect"), "{hunted}");
    let mut counter = [0u32];
    let again = count(&mut counter).expect(&[2u32]).replay(&finding.schedule).unwrap_err();
    assert_eq!(again.to_string(), finding.to_string());
    // Without the expectation it is a run like others, with the result that was not expected.
    count(&mut counter).replay(&finding.schedule).unwrap();
    assert_eq!(counter, [1]);
    let deterministic = count(&mut [0u32]).check(Check::Deterministic).hunt(0..200).unwrap();
    assert_eq!(deterministic.findings.len(), 1);
    let races = count(&mut [0u32]).check(Check::Races).hunt(0..5).unwrap();
    assert_eq!(races.findings[0].error.code(), "race");
    assert_eq!(races.findings[0].seed, None);
}

#[test]
fn a_schedule_of_something_else_is_refused() {
    let hunted = count(&mut [0u32]).expect(&[2u32]).hunt(0..200).unwrap();
    let schedule = &hunted.findings[0].schedule;
    let refused = |result: Result<_, warpstep::Error>| result.map(|_: warpstep::Run| ()).unwrap_err();
    assert_eq!(refused(count(&mut [1u32]).replay(schedule)).kind(), ErrorKind::Input);
    assert_eq!(refused(scale().arg(1u64).arg(1u32).replay(schedule)).kind(), ErrorKind::Input);
    assert_eq!(refused(count(&mut [0u32]).replay(&schedule[..40])).kind(), ErrorKind::Input);
    assert_eq!(refused(count(&mut [0u32]).replay("")).kind(), ErrorKind::Input);
}

#[test]
fn proofs_hold_are_refuted_or_reach_a_limit() {
    let memory = || Box::leak(Box::default());
    let proof = spin(memory()).prove().unwrap();
    assert!(proof.holds == Some(true) && proof.findings.is_empty() && proof.states > 10, "{proof}");
    assert!(proof.to_string().starts_with("holds (control its, memory flat"), "{proof}");
    let proof = spin(memory()).max_states(10).prove().unwrap();
    assert_eq!(proof.holds, None, "{proof}");
    let unfair = spin(memory()).progress(Progress::Unfair).prove().unwrap();
    assert_eq!(unfair.holds, Some(false), "{unfair}");
    let proof = locks(&mut [0; 2]).prove().unwrap();
    assert_eq!((proof.holds, proof.findings[0].error.code()), (Some(false), "livelock"));
    let replayed = locks(&mut [0; 2]).replay(&proof.findings[0].schedule);
    assert_eq!(replayed.unwrap_err().code(), "livelock");
}

#[test]
fn the_examples_are_short_and_run() {
    for name in ["run", "hunt", "prove"] {
        let source = format!("{}/examples/{name}.rs", env!("CARGO_MANIFEST_DIR"));
        let lines = std::fs::read_to_string(&source).unwrap().lines().count();
        assert!(lines < 40, "{source} has {lines} lines");
    }
    run::main().unwrap();
    hunt::main().unwrap();
    prove::main().unwrap();
}

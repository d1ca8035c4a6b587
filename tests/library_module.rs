//! The library where kernels are launched often, or by a program that learns types when it runs: modules, arguments by type, code
//! that judges results, interruption, hunts in parts, comparisons.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use warpstep::launch::Scalar;
use warpstep::{Argument, Check, ControlModel, Error, ErrorKind, Hunted, Kernel, Left, Lent, MemoryModel, Module};

fn module(path: &str) -> Module {
    Module::from_file(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Two warps that add one to a counter by a load and a store.
fn count<'a>(module: &Module, counter: &'a mut [u32; 1]) -> Kernel<'a> {
    module.kernel("count").block(64).buffer("counter", counter)
}

fn ty(name: &str) -> Scalar {
    Scalar::named(name).unwrap()
}

/// That an update was not lost.
fn both(left: &Left<'_>) -> Result<(), String> {
    let counter = left.elements::<u32>("counter").unwrap();
    if counter == [2] { Ok(()) } else { Err(format!("an update was lost: {counter:?}")) }
}

#[test]
fn a_module_is_read_once_and_launched_by_many_threads() {
    let scale = module("docs/tour/scale.ptx");
    assert_eq!((scale.kernels().collect::<Vec<_>>(), scale.pointer_bytes()), (vec!["scale"], 8));
    let parameters = scale.parameters("scale").unwrap();
    assert_eq!(parameters.iter().map(|p| (&*p.ty, p.bytes)).collect::<Vec<_>>(), [("u64", 8), ("u32", 4)]);
    assert!(scale.parameters("other").is_none() && scale.name().ends_with("scale.ptx"));
    assert!(scale.text().contains(".entry scale") && format!("{scale:?}").contains("\"scale\""));
    std::thread::scope(|scope| {
        for control in [None, Some(ControlModel::Crs), Some(ControlModel::Thread)] {
            let scale = scale.clone();
            scope.spawn(move || {
                for _ in 0..20 {
                    let mut x = [1.0f32; 32];
                    let kernel = scale.only().block(32).arg(&mut x).arg(31u32);
                    control.into_iter().fold(kernel, Kernel::control).run().unwrap();
                    assert_eq!(x, [2.0; 32]);
                }
            });
        }
    });
    let error = scale.kernel("other").run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
    assert_eq!(Module::from_ptx("nothing").unwrap_err().kind(), ErrorKind::Input);
}

#[test]
fn arguments_have_types_that_are_known_when_the_program_runs() {
    let scale = module("docs/tour/scale.ptx");
    let mut x: Vec<u8> = [1.0f32; 4].iter().flat_map(|x| x.to_le_bytes()).collect();
    let wanted: Vec<u8> = [2.0f32; 4].iter().flat_map(|x| x.to_le_bytes()).collect();
    let run = |x: Argument<'_>, wanted: &[u8], rel| {
        let kernel = scale.only().block(4).arg(x).expect_bytes(ty("f32"), wanted, rel);
        kernel.arg(Argument::number(ty("u32"), 3u32.to_le_bytes())).run()
    };
    let before = x.clone();
    let error = run(Argument::memory(ty("f32"), &mut x), &before, None).unwrap_err();
    assert!(error.to_string().contains("4 of 4 f32 elements differ"), "{error}");
    let error = run(Argument::kept(ty("f32"), &x), &wanted, None).unwrap_err();
    assert!(error.kind() == ErrorKind::Input && error.to_string().contains("the kernel wrote to it"), "{error}");
    run(Argument::memory(ty("f32"), &mut x), &wanted, None).unwrap();
    assert_eq!(x, wanted);
    run(Argument::memory(ty("f32"), &mut x), &wanted, Some(1.5)).unwrap();
}

#[test]
fn an_argument_points_into_the_memory_of_another() {
    let copy = ".version 8.0\n.target sm_80\n.address_size 64\n.entry copy(.param .u64 to, .param .u64 from) {
        .reg .b64 %a<2>; .reg .b32 %r;
        ld.param.u64 %a0, [to]; ld.param.u64 %a1, [from]; ld.global.u32 %r, [%a1]; st.global.u32 [%a0], %r; ret; }";
    let copy = Module::from_ptx(copy).unwrap();
    let mut x = [1u32, 2, 3];
    copy.only().arg(&mut x).arg(Argument::within(0, 8)).run().unwrap();
    assert_eq!(x, [3, 2, 3]);
    copy.only().arg(Argument::within(1, 4)).arg(&mut x).run().unwrap();
    assert_eq!(x, [3, 3, 3]);
    assert_eq!(copy.only().arg(&mut x).arg(Argument::within(0, 12)).run().unwrap_err().kind(), ErrorKind::Defect);
    for (argument, offset) in [(0, 13), (7, 0), (1, 0)] {
        let error = copy.only().arg(&mut x).arg(Argument::within(argument, offset)).run().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input, "{error}");
    }
}

#[test]
fn code_of_the_caller_judges_results() {
    let module = module("tests/schedules/atomicity.ptx");
    count(&module, &mut [0]).expect_that(both).run().unwrap();
    let hunted = count(&module, &mut [0]).expect_that(both).hunt(0..100).unwrap();
    let [lost] = &hunted.findings[..] else { panic!("{hunted:?}") };
    assert_eq!((lost.seed, lost.error.to_string()), (Some(38), "mismatch: an update was lost: [1]".to_owned()));
    let error = count(&module, &mut [0]).expect_that(both).replay(&lost.schedule).unwrap_err();
    assert_eq!((error.code(), &error.json()["refused"]), ("mismatch", &"an update was lost: [1]".into()));
    assert!(lost.schedule.contains("found results other than expected: by the caller's code"), "{}", lost.schedule);
    assert_eq!(count(&module, &mut [0]).expect_that(both).prove().unwrap().holds, Some(false));
    assert_eq!(count(&module, &mut [0]).expect_that(|_| Ok(())).prove().unwrap().holds, Some(true));
    let asks = |left: &Left<'_>| {
        let none = left.bytes("other").is_none() && left.elements::<f32>("counter").is_none();
        if none { Ok(()) } else { Err("there is no such memory".to_owned()) }
    };
    count(&module, &mut [0]).expect_that(asks).run().unwrap();
}

#[test]
fn the_caller_ends_what_is_done() {
    let endless = ".version 8.0\n.target sm_80\n.address_size 64\n.entry spin(.param .u64 x) {
        .reg .b64 %a; .reg .b32 %r;
        ld.param.u64 %a, [x];
        L: ld.volatile.global.u32 %r, [%a]; add.u32 %r, %r, 1; st.volatile.global.u32 [%a], %r; bra L; }";
    let endless = Module::from_ptx(endless).unwrap();
    let asked = Arc::new(AtomicU64::new(0));
    let after = |n| {
        let asked = Arc::clone(&asked);
        asked.store(0, Ordering::Relaxed);
        move || asked.fetch_add(1, Ordering::Relaxed) >= n
    };
    for checks in [&[][..], &[Check::Races]] {
        let mut x = [0u32; 1];
        let kernel = checks.iter().fold(endless.only().arg(&mut x), |kernel, check| kernel.check(*check));
        let error = kernel.interrupt(after(3)).run().unwrap_err();
        assert!(error.kind() == ErrorKind::Limit && error.to_string().contains("interrupted"), "{error}");
        assert_eq!(x, [0]);
    }
    let module = module("tests/schedules/atomicity.ptx");
    let hunted = count(&module, &mut [0]).interrupt(after(50)).hunt(0..u64::MAX).unwrap();
    assert!(!hunted.complete && hunted.to_string().contains("interrupted"), "{hunted}");
    // A search that had no time at all is no proof, whichever way that is told.
    let proof = count(&module, &mut [0]).block(512).warp_size(1).interrupt(after(0)).prove();
    assert!(proof.map_or_else(|error| error.kind() == ErrorKind::Limit, |proof| proof.holds.is_none()));
}

#[test]
fn parts_of_a_hunt_find_what_the_whole_does() {
    let module = module("tests/schedules/atomicity.ptx");
    let hunt = |seeds, jobs| count(&module, &mut [0]).jobs(jobs).expect_that(both).hunt(seeds).unwrap();
    let parts = [hunt(0..200, 1), hunt(200..400, 1)];
    let told = |hunted: &Hunted| hunted.findings.iter().map(|f| (f.signature.clone(), f.times)).collect::<Vec<_>>();
    let (whole, [first, second]) = (told(&hunt(0..400, 3)), parts.each_ref().map(told));
    assert_eq!(whole.len(), 1);
    assert_eq!((&first[0].0, &second[0].0), (&whole[0].0, &whole[0].0));
    assert_eq!(first[0].1 + second[0].1, whole[0].1);
}

#[test]
fn all_models_are_compared() -> Result<(), Error> {
    let module = module("tests/schedules/atomicity.ptx");
    let compared = count(&module, &mut [0]).expect(&[2u32]).max_states(10_000).compare(20)?;
    assert_eq!(compared.defect, Some(true));
    assert!(compared.to_string().starts_with("control    memory"), "{compared}");
    assert_eq!(compared.json()["models"].as_array().map(Vec::len), Some(12));
    let fermi = compared.seen.iter().filter(|seen| seen.memory == "fermi" && seen.control == "its");
    let ends = fermi.map(|seen| {
        let mut counter = [0];
        let kernel = count(&module, &mut counter).expect(&[2u32]).control(ControlModel::Its);
        kernel.memory(MemoryModel::preset("fermi").unwrap()).replay(&seen.schedule).is_ok()
    });
    let mut ends: Vec<_> = ends.collect();
    ends.sort_unstable();
    assert_eq!(ends, [false, true]);
    let mut counter = [0];
    let alone = count(&module, &mut counter).block(1).expect(&[1u32]).compare(20)?;
    assert_eq!(alone.defect, Some(false), "{alone}");
    Ok(())
}

#[test]
fn a_kernel_works_in_place() {
    /// Bytes that are looked at after the run.
    struct Shared(Arc<std::sync::Mutex<Vec<u8>>>, Vec<u8>);

    impl Lent for Shared {
        fn bytes(&self) -> &[u8] {
            &self.1
        }

        fn bytes_mut(&mut self) -> &mut [u8] {
            &mut self.1
        }
    }

    impl Drop for Shared {
        fn drop(&mut self) {
            self.0.lock().unwrap().clone_from(&self.1);
        }
    }

    let scale = module("docs/tour/scale.ptx");
    let given: Vec<u8> = [1.0f32; 64].iter().flat_map(|x| x.to_le_bytes()).collect();
    let wanted: Vec<u8> = [2.0f32; 64].iter().flat_map(|x| x.to_le_bytes()).collect();
    let launch = |last: u32, with: &dyn for<'a> Fn(Kernel<'a>) -> Result<u64, Error>| {
        let left = Arc::new(std::sync::Mutex::new(Vec::new()));
        let loan = Shared(Arc::clone(&left), given.clone());
        let ended = with(scale.only().block(64).buffer("x", Argument::in_place(ty("f32"), loan)).arg(last));
        let left = left.lock().unwrap().clone();
        (left, ended)
    };
    let hash = |kernel: Kernel<'_>| kernel.run().map(|run| run.memory_hash);
    let mut x = [1.0f32; 64];
    let same = scale.only().block(64).arg(&mut x).arg(63u32).run().unwrap().memory_hash;
    let (left, ended) = launch(63, &hash);
    assert_eq!((left, ended.unwrap()), (wanted.clone(), same));
    let (left, ended) = launch(63, &|kernel| hash(kernel.check(Check::Races).check(Check::Uninit).seed(1)));
    assert!(left == wanted && ended.is_ok());
    // Where it cannot be in place it is copied.
    let (left, ended) = launch(63, &|kernel| hash(kernel.memory(MemoryModel::preset("fermi").unwrap())));
    assert!(left == wanted && ended.is_ok());
    let (left, ended) = launch(63, &|kernel| kernel.hunt(0..10).map(|hunted| hunted.findings.len() as u64));
    assert!(left == given && ended.unwrap() == 0);
    let (left, ended) = launch(64, &|kernel| hash(kernel.block(65)));
    assert_eq!((left, ended.unwrap_err().code()), (wanted, "out-of-bounds"));
}

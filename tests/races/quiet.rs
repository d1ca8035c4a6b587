//! Reads of memory that no store is for are not told to the checker: what it finds stays the same (D-race-quiet).

use super::generate::{Kernel, kernel, pick};
use super::{kernels, pairs_of, program};
use chacha20::ChaCha8Rng;
use rand::RngExt;
use rand::SeedableRng;
use std::collections::BTreeMap;
use std::sync::Arc;
use warpstep::check::{Benign, Check, Observers, Races, RacesOptions};
use warpstep::machine::{Config, Context, ControlModel, Launch};
use warpstep::program::env::ProgEnv;
use warpstep::verdict::{Event, LimitKind, Needs, Sink, Stop, Who};

/// The checker, and how many accesses it is told of; with `all`, of everything.
struct Counted {
    races: Races,
    all: bool,
    told: u64,
}

impl Sink for Counted {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        self.told += u64::from(matches!(event, Event::Access(_)));
        self.races.event(who, event)
    }

    fn needs(&self) -> Needs {
        if self.all { Needs::all() } else { self.races.needs() }
    }
}

/// A generated kernel with three buffers of the names `out`, `a` and `b`: some accesses are moved to the other two, and some
/// stores, where `far`, go to the first one by a distance that leads to the second.
fn with_buffers(seed: u64) -> (Kernel, bool) {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0x9e37_79b9);
    let kernel = kernel(seed);
    let far = random.random_ratio(1, 6);
    let params = ".param .u64 out, .param .u64 a, .param .u64 b, .param .u32 words";
    let more =
        "ld.param.u64 %q1, [a]; ld.param.u64 %q2, [b]; ld.param.u32 %n, [words]; mad.wide.u32 %q3, %n, 4, %rd1;\n";
    let mut text = String::new();
    for line in kernel.text.lines() {
        let store = [" st.", "\tst.", "atom", "red."].iter().any(|s| line.contains(s)) || line.starts_with("st.");
        let to = match (store, random.random_range(0..4)) {
            (false, 0..=2) => "%q1",
            (true, 0) => *pick(&mut random, &["%q2", "%q2", "%q1"]),
            (true, 1) if far => "%q3",
            _ => "%rd1",
        };
        let line = line.replace("(.param .u64 out)", &format!("({params})"));
        let line = line.replace(".shared .align", ".reg .b64 %q<4>; .reg .b32 %n;\n.shared .align");
        let line = if line.contains("global") { line.replace("[%rd1", &format!("[{to}")) } else { line };
        text.push_str(&line.replace("mul.wide.u32 %rd3", &format!("{more}mul.wide.u32 %rd3")));
        text.push('\n');
    }
    (Kernel { text, ..kernel }, far)
}

/// Runs a kernel. `alias`: the buffer `a` is `b`.
fn run(
    kernel: &Kernel,
    env: &Arc<ProgEnv>,
    control: ControlModel,
    (seed, alias): (u64, bool),
    all: bool,
) -> (Counted, bool) {
    let config = Config {
        control: Some(control),
        warp_size: kernel.warp,
        seed: Some(seed),
        max_steps: Some(20_000),
        ..Config::default()
    };
    let mut context = Context::new(Arc::clone(env), config).unwrap();
    let out = context.alloc("out", 2048).unwrap();
    let a = context.alloc("a", 2048).unwrap();
    let b = if alias { a } else { context.alloc("b", 2048).unwrap() };
    // As words: a number from which no address can be made.
    let params = [out, a, b, a.wrapping_sub(out) / 4].iter().flat_map(|p| p.to_le_bytes()).collect();
    let (grid, block) = ([kernel.blocks, 1, 1], [kernel.threads, 1, 1]);
    let launch = Launch { entry: "k".into(), grid, block, shared_bytes: 0, params };
    let races = Races::new(Arc::clone(env)).with(RacesOptions { benign: Benign::None, ..RacesOptions::default() });
    let mut counted = Counted { races, all, told: 0 };
    let stray = match context.launch_with(&launch, &mut counted, &mut |_| ()) {
        Ok(_) | Err(Stop::Stuck(_) | Stop::Bug(_) | Stop::Limit(LimitKind::Steps(_))) => false,
        Err(Stop::Limit(LimitKind::Stray(_))) => true,
        Err(stop) => panic!("{stop:?}\n{}", kernel.text),
    };
    (counted, stray)
}

fn times(races: &Races) -> BTreeMap<(u32, u32), u64> {
    let pair = |f: &warpstep::check::Finding| (f.bug.place.pc.0, f.bug.other.as_ref().map_or(0, |o| o.pc.0));
    races.findings().map(|f| (pair(f), f.times)).collect()
}

#[test]
fn what_is_not_told_races_with_nothing() {
    let (mut fewer, mut racy, mut strayed) = (0u64, 0u64, 0u64);
    let count = kernels() / 2;
    for seed in 1..=count {
        let (kernel, far) = with_buffers(seed);
        let alias = seed % 5 == 0;
        let control = match (kernel.old, seed % 3) {
            (true, _) => ControlModel::Crs,
            (false, 0) => ControlModel::Thread,
            (false, _) => ControlModel::Its,
        };
        let env = program(&kernel, control);
        let (all, none) = run(&kernel, &env, control, (seed, alias), true);
        assert!(!none, "everything is told");
        let (some, stray) = run(&kernel, &env, control, (seed, alias), false);
        let what = format!("seed {seed}, {} blocks of {}\n{}", kernel.blocks, kernel.threads, kernel.text);
        if stray {
            // Told, not passed over; and of a kernel that leaves its buffer only.
            assert!(far && pairs_of(&some.races).is_subset(&pairs_of(&all.races)), "{what}");
            strayed += 1;
            continue;
        }
        assert_eq!(times(&some.races), times(&all.races), "{what}");
        let races = !pairs_of(&all.races).is_empty();
        racy += u64::from(races && some.told < all.told);
        fewer += u64::from(some.told < all.told);
    }
    println!("{count} kernels: fewer accesses are told of {fewer}, {racy} of them racy; {strayed} leave their buffer");
    assert!(fewer * 4 > count && racy * 20 > count && strayed > 0, "{fewer} {racy} {strayed}");
}

/// A store that reaches memory whose reads were not told: the run ends and says so. With a check that is told all of them, the
/// race is found.
#[test]
fn a_store_that_leaves_its_object_is_not_passed_over() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 a, .param .u64 b, \
                .param .u32 words) {\n.reg .b64 %rd<6>; .reg .b32 %r<4>; .reg .pred %p<2>;\n\
                ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [a]; ld.param.u32 %r3, [words]; mad.wide.u32 %rd4, %r3, 4, %rd1;\n\
                mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; ld.global.u32 %r2, [%rd2];\n@%p1 st.global.u32 [%rd4], %r1;\nret; }\n";
    let kernel = Kernel { text: text.to_owned(), blocks: 1, threads: 64, old: false, warp: 32 };
    let env = program(&kernel, ControlModel::Its);
    let (counted, stray) = run(&kernel, &env, ControlModel::Its, (0, false), false);
    assert!(stray && pairs_of(&counted.races).is_empty());
    let (counted, stray) = run(&kernel, &env, ControlModel::Its, (0, false), true);
    assert!(!stray && pairs_of(&counted.races).len() == 1);
    // With another check beside it, all is told.
    let mut observers = Observers::none().with(Races::new(Arc::clone(&env))).check(Check::Div0, &env);
    let mut context = Context::new(Arc::clone(&env), Config::default()).unwrap();
    let out = context.alloc("out", 64).unwrap();
    let a = context.alloc("a", 64).unwrap();
    let params = [out, a, a, a.wrapping_sub(out) / 4].iter().flat_map(|p| p.to_le_bytes()).collect();
    let launch = Launch { entry: "k".into(), grid: [1; 3], block: [64, 1, 1], shared_bytes: 0, params };
    context.launch_with(&launch, &mut observers, &mut |_| ()).unwrap();
    assert_eq!(observers.get().map(|r: &Races| r.findings().count()), Some(1));
}

//! Data races: kernels in pairs, racy and repaired, and small generated kernels on which the checker agrees with the
//! plain definition.
//!
//! `RACE_KERNELS` says how many kernels to generate (2,000 when it is not set).

mod exact;
mod generate;
mod pairs;
mod quiet;
mod readers;
mod rows;
mod unordered;

use exact::{Exact, Pair};
use generate::{Kernel, kernel};
use readers::crowds;
use rows::rows;
use std::collections::BTreeSet;
use std::sync::Arc;
use warpstep::base::SourceMap;
use warpstep::check::{Benign, Races, RacesOptions};
use warpstep::launch::build;
use warpstep::machine::{Config, Context, ControlModel, Launch, MemoryModel};
use warpstep::memory::fermi::model::DeviceModel;
use warpstep::program::env::ProgEnv;
use warpstep::verdict::{BugKind, Event, LimitKind, Sink, Stop, Unordered, Who};

/// Two observers.
struct Both<'a>(&'a mut Races, &'a mut Exact);

impl Sink for Both<'_> {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        // What ends the run is compared, too.
        self.1.event(who, event)?;
        self.0.event(who, event)
    }
}

/// The text of a kernel that accesses memory row by row, and the shape of its grid and blocks.
pub fn generated(seed: u64) -> (String, ([u32; 3], [u32; 3])) {
    let kernel = if seed.is_multiple_of(8) { crowds(seed) } else { rows(seed) };
    (kernel.text, ([kernel.blocks, 1, 1], [kernel.threads, 1, 1]))
}

fn program(kernel: &Kernel, control: ControlModel) -> Arc<ProgEnv> {
    let mut sources = SourceMap::default();
    let file = sources.add("generated.ptx", kernel.text.as_str());
    match build(&[file], Some(control), &sources) {
        Ok(env) => Arc::new(env),
        Err(problems) => panic!("{problems:#?}\n{}", kernel.text),
    }
}

/// Runs a kernel on flat memory; `None` when it does not end. With the observers, whether everything that mattered was kept.
fn run(kernel: &Kernel, seed: u64, keep: Option<usize>) -> Option<(Races, Exact, bool)> {
    run_on(kernel, seed, keep, MemoryModel::Flat)
}

fn run_on(kernel: &Kernel, seed: u64, keep: Option<usize>, memory: MemoryModel) -> Option<(Races, Exact, bool)> {
    let control = match (kernel.old, seed % 3) {
        (true, _) => ControlModel::Crs,
        (false, 0) => ControlModel::Thread,
        (false, _) => ControlModel::Its,
    };
    let env = program(kernel, control);
    let config = Config {
        control: Some(control),
        warp_size: kernel.warp,
        seed: Some(seed),
        small_steps: !seed.is_multiple_of(4),
        max_steps: Some(20_000),
        memory,
        ..Config::default()
    };
    let mut context = Context::new(Arc::clone(&env), config).unwrap();
    let out = context.alloc("out", 2048).unwrap();
    let launch = Launch {
        entry: "k".into(),
        grid: [kernel.blocks, 1, 1],
        block: [kernel.threads, 1, 1],
        shared_bytes: 0,
        params: out.to_le_bytes().to_vec(),
    };
    let races = Races::new(Arc::clone(&env)).with(RacesOptions { benign: Benign::None, ..RacesOptions::default() });
    let mut races = if let Some(keep) = keep { races.keeping(keep) } else { races };
    let mut exact = Exact::new(env, kernel.warp, kernel.threads, kernel.old);
    match context.launch_with(&launch, Both(&mut races, &mut exact), &mut |_| ()) {
        Ok(_) => Some((races, exact, true)),
        Err(Stop::Limit(LimitKind::Accesses { .. })) => Some((races, exact, false)),
        Err(Stop::Stuck(_) | Stop::Bug(_)) => None,
        Err(stop) => panic!("{stop:?}\n{}", kernel.text),
    }
}

fn pairs_of(races: &Races) -> BTreeSet<Pair> {
    let race = |f: &&warpstep::check::Finding| matches!(f.bug.kind, BugKind::Race(_));
    let pair = |f: &warpstep::check::Finding| {
        let (a, b) = (f.bug.place.pc.0, f.bug.other.as_ref().map_or(0, |o| o.pc.0));
        (a.min(b), a.max(b))
    };
    races.findings().filter(race).map(pair).collect()
}

fn kernels() -> u64 {
    std::env::var("RACE_KERNELS").ok().and_then(|n| n.parse().ok()).unwrap_or(2000)
}

#[test]
fn the_checker_finds_what_the_definition_says() {
    agrees(kernel, kernels());
}

#[test]
fn the_checker_finds_what_the_definition_says_of_rows() {
    agrees(rows, kernels() / 4);
}

#[test]
fn the_checker_finds_what_the_definition_says_of_crowds() {
    agrees(crowds, kernels() / 8);
}

/// Compares the checker with the definition on kernels that end, each with its seed.
fn agrees(kernel: fn(u64) -> Kernel, count: u64) {
    let (mut clean, mut racy, mut ended, mut ordered, mut more) = (0u64, 0u64, 0u64, 0u64, 0u64);
    let mut seed = 0;
    while ended < count {
        seed += 1;
        assert!(seed < 4 * count, "most kernels do not end");
        let kernel = kernel(seed);
        let Some((races, exact, whole)) = run(&kernel, seed, None) else { continue };
        ended += 1;
        let found = pairs_of(&races);
        let what = format!("seed {seed}, {} blocks of {}\n{}", kernel.blocks, kernel.threads, kernel.text);
        assert!(whole, "everything is kept, {what}");
        // All that must be told, and nothing that is no race.
        assert!(found.is_superset(&exact.frontier), "{found:?} {:?}, {what}", exact.frontier);
        assert!(found.is_subset(&exact.all), "{found:?} {:?}, {what}", exact.all);
        more += u64::from(found.len() > exact.frontier.len());
        assert_eq!(exact.frontier.is_empty(), exact.all.is_empty(), "seed {seed}\n{}", kernel.text);
        if found.is_empty() {
            clean += 1;
            ordered += u64::from(exact.ordered_pairs > 0);
        } else {
            racy += 1;
        }
    }
    println!("{ended} kernels: {racy} racy, {clean} clean, {ordered} of them by synchronisation");
    // Few are told that need not be: what is known by fences only is not looked at for each reader.
    assert!(more * 50 < ended, "{more}");
    assert!(clean * 10 > ended && racy * 10 > ended && ordered * 20 > ended, "{clean} {racy} {ordered}");
}

/// What is told on memory that acts later, or lane by lane, is a race by the definition on flat memory under some schedule;
/// and nearly all kernels that race there race here.
fn agrees_elsewhere(memory: &MemoryModel) {
    const SCHEDULES: u64 = 12;
    let (mut both, mut only_flat, mut clean) = (0u64, 0u64, 0u64);
    for seed in 1..=kernels() / 10 {
        let kernel = kernel(seed);
        let mut defined = BTreeSet::new();
        for k in 0..SCHEDULES {
            if let Some((_, exact, _)) = run(&kernel, 12 * seed + k, None) {
                defined.extend(exact.all);
            }
        }
        let mut found = BTreeSet::new();
        for k in 0..SCHEDULES / 2 {
            if let Some((races, ..)) = run_on(&kernel, 12 * seed + k, None, memory.clone()) {
                found.extend(pairs_of(&races));
            }
        }
        // Some schedules are rare.
        for k in (0..1000).map(|k| 1_000_000 + k) {
            if found.is_subset(&defined) {
                break;
            }
            if let Some((_, exact, _)) = run(&kernel, k, None) {
                defined.extend(exact.all);
            }
        }
        let more: Vec<_> = found.difference(&defined).collect();
        assert!(
            more.is_empty(),
            "seed {seed}: {more:?} are no races, {} blocks of {}\n{}",
            kernel.blocks,
            kernel.threads,
            kernel.text
        );
        match (defined.is_empty(), found.is_empty()) {
            (true, _) => clean += 1,
            (false, true) => only_flat += 1,
            (false, false) => both += 1,
        }
    }
    println!("{both} racy on both, {only_flat} on flat memory only, {clean} on none");
    assert!(clean > 0 && only_flat * 10 < both, "{both} {only_flat} {clean}");
}

#[test]
fn what_races_on_split_lanes_races_by_the_definition() {
    agrees_elsewhere(&MemoryModel::Split);
}

#[test]
fn what_races_with_remote_scope_promotion_races_by_the_definition() {
    agrees_elsewhere(&MemoryModel::preset("rsp").unwrap());
}

#[test]
fn what_races_on_caches_races_by_the_definition() {
    agrees_elsewhere(&MemoryModel::of(DeviceModel::fermi()).unwrap());
}

#[test]
fn a_search_stops_at_the_first_race() {
    let text = ".version 8.0 .target sm_80 .address_size 64 .visible .entry k(.param .u64 out) { .reg .b64 %rd<2>; \
                ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], 1; ret; }";
    let stop = |benign: Benign| {
        let kernel = Kernel { text: text.to_owned(), blocks: 1, threads: 2, old: false, warp: 32 };
        let env = program(&kernel, ControlModel::Its);
        let mut context = Context::new(Arc::clone(&env), Config::default()).unwrap();
        let params = context.alloc("out", 64).unwrap().to_le_bytes().to_vec();
        let launch = Launch { entry: "k".into(), grid: [1; 3], block: [2, 1, 1], shared_bytes: 0, params };
        let mut races = Races::new(env).with(RacesOptions { benign, stopping: true, ..RacesOptions::default() });
        context.launch_with(&launch, &mut races, &mut |_| ())
    };
    let Err(Stop::Bug(bug)) = stop(Benign::None) else { panic!("no race") };
    let BugKind::Race(race) = bug.kind else { panic!("{bug:?}") };
    assert!(race.same_value && race.cause == Unordered::SameInstruction);
    assert_eq!((race.first.value, race.second.value), (Some(1), Some(1)));
    assert_eq!((bug.place.entry.as_str(), bug.place.lane, bug.other.map(|o| o.lane)), ("k", 1, Some(0)));
    assert!(stop(Benign::SameValue).is_ok(), "equal stores are hidden");
    assert!(stop(Benign::default()).is_ok(), "those of one instruction are no defect");
}

#[test]
fn a_run_ends_where_something_forgotten_might_decide() {
    let mut told = 0;
    for seed in 1..=kernels() / 4 {
        let kernel = kernel(seed);
        let Some((races, exact, whole)) = run(&kernel, seed, Some(1)) else { continue };
        let found = pairs_of(&races);
        assert!(found.is_subset(&exact.all), "seed {seed}: a race that is none\n{}", kernel.text);
        told += u64::from(!whole);
        assert!(!found.is_empty() || !whole || exact.all.is_empty(), "seed {seed}: missed\n{}", kernel.text);
    }
    assert!(told > 0, "something must have been left out");
}

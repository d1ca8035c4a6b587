//! The library facade: runs repeat, schedules differ but agree, memory stays small.

use std::path::Path;
use warpstep::base::SourceMap;
use warpstep::check::{Observers, TraceHash};
use warpstep::launch::{Device, Failure, KernelLaunch, Spec, build, load, run};
use warpstep::machine::{Config, Stats};
use warpstep::verdict::{LimitKind, Silent, Stop};

fn hashes(example: &str, config: &Config) -> (u64, u64) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ptx-examples").join(example);
    let mut sources = SourceMap::default();
    let spec = Spec::read(&path, &mut sources).unwrap();
    let env = std::sync::Arc::new(load(&spec.ptx, config.control, &mut sources).unwrap());
    let mut device = Device::new(env.clone(), sources, config.clone()).unwrap();
    let mut observers = Observers::none().with_hash(&env);
    let outcome = run(&spec, &mut device, &mut observers, None, &mut |_| ()).unwrap();
    assert!(outcome.unexpected.is_empty(), "{example}");
    (device.memory_hash(), observers.get().map_or(0, TraceHash::value))
}

#[test]
fn the_same_input_gives_the_same_run() {
    for example in ["reduction", "histogram_global", "lookback_scan", "spinlock"] {
        let fair = hashes(example, &Config::default());
        assert_eq!(fair, hashes(example, &Config::default()), "{example}");
        let seeded = Config { seed: Some(7), ..Config::default() };
        assert_eq!(hashes(example, &seeded), hashes(example, &seeded), "{example}");
    }
}

#[test]
fn another_seed_is_another_schedule_with_the_same_result() {
    let traces: Vec<(u64, u64)> =
        (0..4).map(|seed| hashes("histogram_shared", &Config { seed: Some(seed), ..Config::default() })).collect();
    assert!(traces.iter().all(|t| t.0 == traces[0].0), "{traces:x?}");
    assert!(traces.iter().any(|t| t.1 != traces[0].1), "{traces:x?}");
}

fn empty_kernel(grid: [u32; 3], config: Config) -> Result<Stats, Failure> {
    let mut sources = SourceMap::default();
    let file =
        sources.add("k.ptx", ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n");
    let env = build(&[file], None, &sources).unwrap();
    let mut device = Device::new(env, sources, config)?;
    device.launch(&KernelLaunch { grid, block: [32, 1, 1], ..KernelLaunch::default() }, Silent, &mut |_| ())
}

#[test]
fn a_large_grid_needs_no_memory_of_its_own() {
    // 2^31 - 1 blocks are resident one after another; the limit of steps ends the run.
    let config = Config { max_steps: Some(200_000), max_memory: Some(1 << 20), ..Config::default() };
    let stop = empty_kernel([0x7fff_ffff, 1, 1], config).unwrap_err();
    assert_eq!(stop, Failure::Stop(Stop::Limit(LimitKind::Steps(200_000))));
}

#[test]
fn counts_are_those_of_the_launch() {
    let stats = empty_kernel([5, 2, 1], Config::default()).unwrap();
    assert_eq!(stats, Stats { blocks: 10, warp_instructions: 10, thread_instructions: 320 });
}

#[test]
fn nothing_to_launch_is_a_problem() {
    let mut sources = SourceMap::default();
    let file = sources.add("k.ptx", ".version 7.0\n.target sm_70\n.address_size 64\n");
    let env = build(&[file], None, &sources).unwrap();
    let mut device = Device::new(env, sources, Config::default()).unwrap();
    assert!(matches!(device.launch(&KernelLaunch::default(), Silent, &mut |_| ()), Err(Failure::Input(_))));
    assert!(matches!(run(&Spec::default(), &mut device, &mut Silent, None, &mut |_| ()), Err(Failure::Input(_))));
}

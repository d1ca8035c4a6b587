//! Blocks on several threads come to what one thread comes to (D-ahead): memory, output, counts and stops of random launches.

use crate::ahead_programs::{compared, warps_that_meet};
use crate::examples::launches;
use std::path::Path;
use warpstep::base::SourceMap;
use warpstep::launch::{Device, Spec, load, run};
use warpstep::machine::{Config, ControlModel, Engine};
use warpstep::verdict::Silent;

/// Launches that are tried; `AHEAD_FULL` says how many others.
const LAUNCHES: u64 = 150;

#[test]
fn several_threads_come_to_what_one_does() {
    let launches = std::env::var("AHEAD_FULL").ok().and_then(|n| n.parse().ok()).unwrap_or(LAUNCHES);
    let (mut right, mut vain, mut both) = (0, 0, 0);
    for seed in 0..launches {
        let [ahead, thrown] = compared(seed);
        right += u64::from(ahead > 0);
        vain += u64::from(thrown > 0);
        both += u64::from(ahead > 0 && thrown > 0);
    }
    // Nothing would be compared otherwise.
    let enough = launches / 5;
    assert!(right > 2 * enough && vain > enough && both > enough, "{right}, {vain} and {both} of {launches}");
}

#[test]
fn warps_of_a_block_are_told_apart() {
    // Nothing runs ahead to its end: who writes last depends on whose turn it is.
    assert!(warps_that_meet()[1] > 0);
}

/// All that can be told of an example on so many threads, and how many blocks ran ahead.
fn example(path: &Path, control: ControlModel, threads: u32) -> Result<(String, u64), String> {
    let mut sources = SourceMap::default();
    let text = |problems| format!("{problems:?}");
    let spec = Spec::read(path, &mut sources).map_err(text)?;
    let env = load(&spec.ptx, Some(control), &mut sources).map_err(text)?;
    let (engine, max_steps) = (Engine::Native { trip: 0 }, Some(300_000));
    let config =
        Config { control: Some(control), threads, counts_native: true, engine, max_steps, ..Config::default() };
    let mut device = Device::new(env, sources, config).map_err(|stop| format!("{stop:?}"))?;
    let mut printed = Vec::new();
    let outcome = run(&spec, &mut device, &mut Silent, None, &mut |bytes| printed.extend_from_slice(bytes));
    let context = device.context();
    let counts = (context.memory_hash(), context.clock(), context.native());
    Ok((format!("{outcome:?} {counts:?} {printed:?}"), context.ahead()[0]))
}

#[test]
fn examples_come_to_the_same() {
    let (mut wrong, mut ahead) = (Vec::new(), 0);
    for path in launches() {
        for control in [ControlModel::Crs, ControlModel::Its] {
            let [one, two] = [1, 2].map(|threads| example(&path, control, threads));
            ahead += u32::from(two.as_ref().is_ok_and(|(_, blocks)| *blocks > 0));
            let [one, two] = [one, two].map(|told| told.map(|(told, _)| told));
            if one != two {
                wrong.push(format!("{} {control:?}\n{one:?}\n{two:?}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ahead > 20, "{ahead}");
}

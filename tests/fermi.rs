//! Race-free examples end on memory with caches, on flat memory that is accessed lane by lane, with remote-scope promotion, and behind the
//! mutex mechanism of lockstep sequential consistency as on flat memory. `FERMI_SEEDS=1000` gives every example a thousand schedules, which
//! takes many minutes; `LSC_FULL=1` leaves none out of those with mutexes, and takes three schedules of each; `RSP_FULL=1` takes twenty
//! of each with remote-scope promotion. Of all examples `feat/launch.races.toml` alone has a race, on purpose: lanes store equal values
//! to a word that others of their warp read, and what it expects holds for lanes in lockstep; it is run by the default schedule only.

use crate::example;
use libtest_mimic::{Failed, Trial};
use std::path::Path;
use std::time::Duration;
use warpstep::base::SourceMap;
use warpstep::launch::{Device, Spec, load, run};
use warpstep::machine::{Config, MemoryModel};
use warpstep::memory::rsp::SchemeName;
use warpstep::verdict::{Event, Rule, Sink, Stop, Who};

/// Examples that are small enough for a thousand schedules each.
const SMALL: [&str; 6] = ["vecadd", "votes_and_match", "named_barriers", "carry_chains", "warp_aggregated", "printf"];
/// An example with so many accesses that one by one, unoptimised, they take more than its time.
const LARGE: &str = "matmul_tiled/";
/// Schedules of the others, unless `FERMI_SEEDS` says how many each example's first launch file gets.
const FEW: u64 = 3;

/// The tests of this file.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    let asked: Option<u64> = std::env::var("FERMI_SEEDS").ok().and_then(|n| n.parse().ok());
    for (name, path) in example::launch_files() {
        let copy = path.clone();
        trials.push(Trial::test(format!("fair {name}"), move || finishes(&copy, &fermi()?, None)));
        if !name.starts_with(LARGE) {
            let copy = path.clone();
            trials.push(Trial::test(format!("split lanes {name}"), move || {
                [None, Some(1)].into_iter().try_for_each(|seed| finishes(&copy, &MemoryModel::Split, seed))
            }));
        }
        let copy = path.clone();
        trials.push(Trial::test(format!("remote-scope promotion {name}"), move || promoted(&copy)));
        // The default schedule, and one by a seed where all are asked for.
        let whole = std::env::var_os("LSC_FULL").is_some();
        if whole || !name.starts_with(LARGE) {
            let copy = path.clone();
            trials.push(Trial::test(format!("mutexes {name}"), move || {
                let memory = MemoryModel::preset("lsc-mutex").ok_or("no preset")?;
                let mut seeds = [None, Some(1), Some(2)].into_iter().take(if whole { 3 } else { 1 });
                seeds.try_for_each(|seed| finishes(&copy, &memory, seed))
            }));
        }
        let folder = name.split('/').next().unwrap_or("").to_owned();
        let first = name.ends_with("/launch.toml");
        let seeds = match asked {
            Some(seeds) if first => seeds,
            _ if first && SMALL.contains(&folder.as_str()) => 1000,
            _ => FEW,
        };
        trials.push(Trial::test(format!("seeds {name}"), move || {
            (0..seeds).try_for_each(|seed| {
                finishes(&path, &fermi()?, Some(seed))
                    .map_err(|e| format!("seed {seed}: {}", e.message().unwrap_or("")).into())
            })
        }));
    }
    let reduction = example::root().join("reduction/launch.toml");
    trials.push(Trial::test("operations overlap under the fair schedule", move || overlap(&reduction)));
    trials
}

/// Counts how often an operation of another warp makes a step between two of one that is under way.
#[derive(Default)]
struct Overlaps {
    last: Option<Who>,
    changes: u64,
    steps: u64,
}

impl Sink for Overlaps {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        if let Event::Fired(Rule::MStep) = event {
            self.steps += 1;
            self.changes += u64::from(self.last.is_some_and(|last| last != who));
            self.last = Some(who);
        }
        Ok(())
    }
}

/// The deterministic schedule is not flat memory in disguise.
fn overlap(path: &Path) -> Result<(), Failed> {
    let mut sources = SourceMap::default();
    let spec = Spec::read(path, &mut sources).map_err(|p| format!("{p:?}"))?;
    let env = load(&spec.ptx, None, &mut sources).map_err(|p| format!("{p:?}"))?;
    let config = Config { memory: fermi()?, ..Config::default() };
    let mut device = Device::new(env, sources, config).map_err(|stop| format!("{stop:?}"))?;
    let mut overlaps = Overlaps::default();
    run(&spec, &mut device, &mut overlaps, None, &mut |_| ()).map_err(|f| format!("{f:?}"))?;
    if overlaps.changes * 2 < overlaps.steps {
        return Err(format!("{} of {} micro steps follow another warp's", overlaps.changes, overlaps.steps).into());
    }
    Ok(())
}

fn fermi() -> Result<MemoryModel, Failed> {
    Ok(MemoryModel::preset("fermi").ok_or("no preset")?)
}

/// Runs on the hardware of remote-scope promotion: under both schemes, since no example has remote accesses, of which the original one
/// has other ones.
fn promoted(path: &Path) -> Result<(), Failed> {
    finishes(path, &MemoryModel::Rsp(SchemeName::Original), None)?;
    let seeds = if std::env::var_os("RSP_FULL").is_some() { 20 } else { 1 };
    let all = std::iter::once(None).chain((0..seeds).map(Some));
    for seed in all {
        finishes(path, &MemoryModel::Rsp(SchemeName::Proposed), seed)
            .map_err(|e| Failed::from(format!("seed {seed:?}: {}", e.message().unwrap_or(""))))?;
    }
    Ok(())
}

fn finishes(path: &Path, memory: &MemoryModel, seed: Option<u64>) -> Result<(), Failed> {
    let config = Config { memory: memory.clone(), seed, timeout: Some(Duration::from_secs(60)), ..Config::default() };
    example::finish(path, config, |spec| seed.is_some() && spec.schedule_dependent)?;
    Ok(())
}

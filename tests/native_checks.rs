//! Native code under checks cannot be told from the interpreter: what they find, in its order, and all else that is told of a run.

use crate::examples::launches;
use crate::native_programs::{compared_under, found_by, same_under, written_under};
use crate::races::generated;
use std::path::Path;
use warpstep::base::SourceMap;
use warpstep::check::{Benign, Check, Observers, RacesOptions};
use warpstep::launch::{Device, Spec, load, run};
use warpstep::machine::{Config, ControlModel, Engine};

/// The checks that take rows, alone and together.
const CHECKS: [&[Check]; 3] = [&[Check::Races], &[Check::Bounds], &[Check::Races, Check::Bounds]];

/// How many random programs: `NATIVE_FULL` says.
fn programs() -> u64 {
    std::env::var("NATIVE_FULL").ok().and_then(|n| n.parse().ok()).unwrap_or(100)
}

#[test]
fn random_programs_cannot_tell_under_checks() {
    let first = std::env::var("NATIVE_FROM").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let checks = |seed: u64| CHECKS[usize::try_from(seed / 2 % 3).unwrap_or(0)];
    let runs: u32 = (first..first + programs()).map(|seed| compared_under(seed, 4, checks(seed))).sum();
    assert!(u64::from(runs) > 5 * programs(), "{runs}");
}

/// Native code goes nowhere that a check has to be told of, and tells who waits at a barrier.
#[test]
fn what_leaves_its_object_and_what_barriers_order_are_told() {
    assert!(written_under() > 0);
}

/// Kernels whose warps access memory row by row, two in three with a race.
#[test]
fn races_are_found_in_the_same_order() {
    let count = programs();
    for seed in 1..=count {
        let (text, shape) = generated(seed);
        // What the races are about.
        let text = text.replace("(.param .u64 out)", "(.param .u64 out, .param .u32 n)");
        same_under(&text, shape, &[None, Some(seed)], 2, CHECKS[usize::try_from(seed % 3).unwrap_or(0)]);
    }
}

/// What is found in an example, what is told of it, and how many thread instructions were native, of how many.
fn example(
    path: &Path,
    control: ControlModel,
    engine: Engine,
    checks: &[Check],
) -> Result<(String, (u64, u64)), String> {
    let mut sources = SourceMap::default();
    let text = |problems| format!("{problems:?}");
    let spec = Spec::read(path, &mut sources).map_err(text)?;
    let env = load(&spec.ptx, Some(control), &mut sources).map_err(text)?;
    let config = Config { control: Some(control), engine, max_steps: Some(60_000), ..Config::default() };
    let races = RacesOptions { benign: Benign::None, ..RacesOptions::default() };
    let mut device = Device::new(env, sources, config).map_err(|stop| format!("{stop:?}"))?;
    let mut observers = Observers::of(checks, &device.context().program(), races);
    let mut printed = Vec::new();
    let outcome = run(&spec, &mut device, &mut observers, None, &mut |bytes| printed.extend_from_slice(bytes));
    let (hash, clock) = (device.context().memory_hash(), device.context().clock());
    let threads = outcome.as_ref().map_or(0, |o| o.stats.iter().map(|s| s.thread_instructions).sum());
    let counts = (device.context().native(), threads);
    Ok((format!("{outcome:?} {hash:x} {clock} {printed:?} {}", found_by(&observers)), counts))
}

#[test]
fn examples_cannot_tell_under_checks() {
    let (mut wrong, mut sums) = (Vec::new(), [(0, 0); 3]);
    for path in launches() {
        for control in [ControlModel::Crs, ControlModel::Its] {
            for (checks, sum) in CHECKS.into_iter().zip(&mut sums) {
                let wanted = example(&path, control, Engine::Interpreter, checks).map(|(told, _)| told);
                for trip in [0, 2].into_iter().take(if checks.len() > 1 { 2 } else { 1 }) {
                    let seen = example(&path, control, Engine::Native { trip }, checks);
                    if let Ok((_, (native, all))) = &seen
                        && trip == 0
                    {
                        *sum = (sum.0 + native, sum.1 + all);
                        if std::env::var_os("NATIVE_TOLD").is_some() {
                            println!("{} {control:?} {checks:?}: {native} of {all}", path.display());
                        }
                    }
                    let seen = seen.map(|(told, _)| told);
                    if seen != wanted {
                        wrong.push(format!("{} {control:?} {checks:?} {trip}\n{wanted:?}\n{seen:?}", path.display()));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{sums:?} thread instructions are native");
    assert!(sums.iter().all(|(native, all)| 2 * native > *all), "{sums:?}");
}

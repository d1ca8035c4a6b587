//! What the analysis claims of registers holds in every step of every example and of random programs, under both control models
//! and with schedules by seed; and it claims something.

use crate::claims::{self, Watch};
use crate::examples::launches;
use std::path::Path;
use warpstep::base::SourceMap;
use warpstep::launch::{Device, Spec, load, run};
use warpstep::machine::{Config, ControlModel};

/// Runs an example; what was claimed of what was checked, how often a number wrapped around, and what was wrong.
fn watched(path: &Path, control: ControlModel) -> Result<(u64, u64, u64), String> {
    let mut sources = SourceMap::default();
    let text = |problems| format!("{problems:?}");
    let spec = Spec::read(path, &mut sources).map_err(text)?;
    let env = load(&spec.ptx, Some(control), &mut sources).map_err(text)?;
    let config = Config { control: Some(control), ..Config::default() };
    let mut device = Device::new(env, sources, config).map_err(|stop| format!("{stop:?}"))?;
    let mut watch = Watch::new(&device.context().program());
    // Some end in a hang on purpose under one of the models.
    let _ = run(&spec, &mut device, &mut watch, None, &mut |_| ());
    if watch.checked == 0 {
        return Err("nothing was executed".to_owned());
    }
    if watch.wrong.is_empty() { Ok((watch.claimed, watch.checked, watch.excuses)) } else { Err(watch.wrong.join("\n")) }
}

#[test]
fn claims_hold_in_the_examples() {
    let (mut wrong, mut sums) = (Vec::new(), [(0, 0, 0); 2]);
    for path in launches() {
        for (control, sum) in [ControlModel::Crs, ControlModel::Its].into_iter().zip(&mut sums) {
            match watched(&path, control) {
                Ok((claimed, checked, excuses)) => {
                    *sum = (sum.0 + claimed, sum.1 + checked, sum.2 + excuses);
                }
                Err(why) => wrong.push(format!("{} {control:?}: {why}", path.display())),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (claimed, checked, excuses) in sums {
        assert!(claimed > checked / 4 && excuses < 100, "{sums:?}");
    }
}

/// How many random programs: `AFFINE_FULL` makes that ten times as many.
fn programs() -> u64 {
    if std::env::var_os("AFFINE_FULL").is_some() { 4_000 } else { 400 }
}

#[test]
fn claims_hold_in_random_programs() {
    let mut sums = (0, 0, 0);
    for seed in 0..programs() {
        for control in [ControlModel::Crs, ControlModel::Its] {
            let watch = claims::watched(seed, control);
            assert!(watch.wrong.is_empty(), "{seed} {control:?}: {}", watch.wrong.join("\n"));
            sums = (sums.0 + watch.claimed, sums.1 + watch.checked, sums.2 + watch.excuses);
        }
    }
    assert!(sums.0 > sums.1 / 4 && sums.2 > 0, "{sums:?}");
}

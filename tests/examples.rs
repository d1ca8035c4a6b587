//! Every launch file of `ptx-examples/` runs and gives what it expects, under every control model; all models end in the
//! same memory where the result does not depend on the schedule.

use crate::case::engine;
use crate::example;
use libtest_mimic::{Failed, Trial};
use std::path::Path;
use std::time::Duration;
use warpstep::launch::Spec;
use warpstep::machine::{Config, ControlModel};

/// Stores the addresses that `malloc` gives, which are the machine's choice: that it ends is all one can expect.
const ADDRESSES: &str = "feat/launch.malloc.toml";

const MODELS: [(&str, Option<ControlModel>); 4] = [
    ("default", None),
    ("crs", Some(ControlModel::Crs)),
    ("its", Some(ControlModel::Its)),
    ("thread", Some(ControlModel::Thread)),
];

/// The tests of this file.
pub fn trials() -> Vec<Trial> {
    let trials: Vec<Trial> = example::launch_files()
        .into_iter()
        .map(|(name, path)| Trial::test(name, move || same_under_all(&path)))
        .collect();
    assert!(trials.len() >= 30, "only {} launch files", trials.len());
    trials
}

/// What a run left: the contents of the buffers whose order does not depend on the schedule.
type Memory = Vec<(String, Vec<u8>)>;

fn finish(path: &Path, control: Option<ControlModel>) -> Result<(Spec, Memory), String> {
    let config = Config { control, engine: engine(), timeout: Some(Duration::from_secs(120)), ..Config::default() };
    let (spec, device) = example::finish(path, config, |_| false)?.ok_or("not run")?;
    // Buffers that nothing is expected of may hold what depends on the schedule, such as a queue.
    let ordered = |name: &String| spec.expect.get(name).is_some_and(|e| !e.unordered);
    let contents = |name: &String| Some((name.clone(), device.contents(name)?.1.to_vec()));
    let memory = spec.buffers.keys().filter(|n| ordered(n)).filter_map(contents).collect();
    Ok((spec, memory))
}

fn same_under_all(path: &Path) -> Result<(), Failed> {
    let mut before: Option<Memory> = None;
    for (name, control) in MODELS {
        let (spec, memory) = finish(path, control).map_err(|e| format!("control model {name}:\n{e}"))?;
        if spec.expect.is_empty() && spec.stdout.is_none() && !path.ends_with(ADDRESSES) {
            return Err("the launch file expects nothing".into());
        }
        if spec.schedule_dependent {
            // What it expects holds for lanes that run together, as under the default model.
            return Ok(());
        }
        if let Some(before) = &before {
            for ((buffer, a), (_, b)) in before.iter().zip(&memory) {
                if a != b {
                    return Err(format!("`{buffer}` differs between control models, at {name}").into());
                }
            }
        }
        before = Some(memory);
    }
    Ok(())
}

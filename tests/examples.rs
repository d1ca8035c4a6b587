//! Every launch file of `ptx-examples/` runs and gives what it expects, under every control model; all models end in the
//! same memory where the result does not depend on the schedule.

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::time::Duration;
use warpstep::base::SourceMap;
use warpstep::launch::{Device, Failure, Spec, load, run};
use warpstep::machine::{Config, ControlModel};
use warpstep::report;
use warpstep::verdict::{Silent, Stop};

/// Launch files of what cannot be executed yet: they must say so, not give a wrong answer.
const GAPS: &[(&str, &str)] = &[("feat/launch.video.toml", "video instructions")];

/// Stores the addresses that `malloc` gives, which are the machine's choice: that it ends is all one can expect.
const ADDRESSES: &str = "feat/launch.malloc.toml";

const MODELS: [(&str, Option<ControlModel>); 4] = [
    ("default", None),
    ("crs", Some(ControlModel::Crs)),
    ("its", Some(ControlModel::Its)),
    ("thread", Some(ControlModel::Thread)),
];

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("ptx-examples");
    let trials: Vec<Trial> = launch_files(&root)
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
            let gap = GAPS.iter().find(|(file, _)| *file == name).map(|(_, why)| *why);
            Trial::test(name, move || gap.map_or_else(|| example(&path), |why| unsupported(&path, why)))
        })
        .collect();
    assert!(trials.len() >= 30, "only {} launch files", trials.len());
    libtest_mimic::run(&arguments, trials).exit();
}

fn launch_files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in std::fs::read_dir(root).into_iter().flatten().flatten().map(|e| e.path()).filter(|p| p.is_dir()) {
        for file in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()) {
            let name = file.file_name().and_then(|n| n.to_str()).unwrap_or("");
            if name.starts_with("launch") && name.ends_with(".toml") {
                found.push(file);
            }
        }
    }
    found.sort();
    found
}

/// What a run left: the contents of the buffers whose order does not depend on the schedule.
type Memory = Vec<(String, Vec<u8>)>;

fn finish(path: &Path, control: Option<ControlModel>) -> Result<(Spec, Memory), String> {
    let mut sources = SourceMap::default();
    let tell = |problems: Vec<warpstep::launch::Problem>, sources: &SourceMap| -> String {
        problems.iter().map(|p| report::problem(p, sources).render(sources, false)).collect()
    };
    let spec = Spec::read(path, &mut sources).map_err(|p| tell(p, &sources))?;
    let env = load(&spec.ptx, control, &mut sources).map_err(|p| tell(p, &sources))?;
    let config = Config { control, timeout: Some(Duration::from_secs(120)), ..Config::default() };
    let mut device = Device::new(env, sources, config).map_err(|stop| format!("{stop:?}"))?;
    let outcome = run(&spec, &mut device, &mut Silent, &mut |_| ()).map_err(|failure| match failure {
        Failure::Input(problems) => tell(problems, device.sources()),
        Failure::Stop(stop) => report::StopReport::new(&stop, device.context().env(), device.sources()).render(false),
    })?;
    let mut wrong: String = outcome.mismatches.iter().map(report::run::mismatch).collect();
    wrong.extend(outcome.output_mismatch.iter().map(report::run::output_mismatch));
    if !wrong.is_empty() {
        return Err(wrong);
    }
    // Buffers that nothing is expected of may hold what depends on the schedule, such as a queue.
    let ordered = |name: &String| spec.expect.get(name).is_some_and(|e| !e.unordered);
    let contents = |name: &String| Some((name.clone(), device.contents(name)?.1.to_vec()));
    let memory = spec.buffers.keys().filter(|n| ordered(n)).filter_map(contents).collect();
    Ok((spec, memory))
}

fn example(path: &Path) -> Result<(), Failed> {
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

fn unsupported(path: &Path, why: &str) -> Result<(), Failed> {
    let mut sources = SourceMap::default();
    let spec = Spec::read(path, &mut sources).map_err(|p| format!("{p:?}"))?;
    let env = load(&spec.ptx, None, &mut sources).map_err(|p| format!("{p:?}"))?;
    let mut device = Device::new(env, sources, Config::default()).map_err(|stop| format!("{stop:?}"))?;
    match run(&spec, &mut device, &mut Silent, &mut |_| ()) {
        Err(Failure::Stop(Stop::Unsupported(..))) => Ok(()),
        other => Err(format!("{why} should be unsupported: {other:?}").into()),
    }
}

//! Running launch files: for tests that do so with every example.

use std::path::{Path, PathBuf};
use warpstep::base::SourceMap;
use warpstep::launch::{Device, Failure, Problem, Spec, load, run};
use warpstep::machine::Config;
use warpstep::report;
use warpstep::verdict::Silent;

/// Where the examples are.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("ptx-examples")
}

/// The launch files of all examples, with their names below the root.
pub fn launch_files() -> Vec<(String, PathBuf)> {
    let root = root();
    let folders = std::fs::read_dir(&root).into_iter().flatten().flatten().map(|e| e.path()).filter(|p| p.is_dir());
    let files = folders.flat_map(|f| std::fs::read_dir(f).into_iter().flatten().flatten().map(|e| e.path()));
    let mut found: Vec<_> = files
        .map(|file| (file.strip_prefix(&root).unwrap_or(&file).display().to_string(), file))
        .filter(|(name, _)| name.contains("/launch") && name.ends_with(".toml"))
        .collect();
    found.sort();
    found
}

/// Runs a launch file to its end and compares what it expects; `skip` says what is not to be run.
///
/// # Errors
/// The messages that a user would see.
pub fn finish(path: &Path, config: Config, skip: impl Fn(&Spec) -> bool) -> Result<Option<(Spec, Device)>, String> {
    let mut sources = SourceMap::default();
    let tell = |problems: Vec<Problem>, sources: &SourceMap| -> String {
        problems.iter().map(|p| report::problem(p, sources).render(sources, false).to_string()).collect()
    };
    let spec = Spec::read(path, &mut sources).map_err(|p| tell(p, &sources))?;
    if skip(&spec) {
        return Ok(None);
    }
    let env = load(&spec.ptx, config.control, &mut sources).map_err(|p| tell(p, &sources))?;
    let mut device = Device::new(env, sources, config).map_err(|stop| format!("{stop:?}"))?;
    let outcome = run(&spec, &mut device, &mut Silent, None, &mut |_| ()).map_err(|failure| match failure {
        Failure::Input(problems) => tell(problems, device.sources()),
        Failure::Stop(stop) => {
            report::StopReport::new(&stop, device.context().env(), device.sources()).render(false).to_string()
        }
    })?;
    let wrong = report::run::unexpected(&outcome.unexpected);
    if wrong.is_empty() { Ok(Some((spec, device))) } else { Err(wrong) }
}

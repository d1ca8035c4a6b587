//! How a kernel is launched, from a dictionary of what was given.

use crate::watch::Watch;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use std::time::Duration;
use warpstep::check::Benign;
use warpstep::{Check, ControlModel, Kernel, MemoryModel, Progress};

/// What may be given besides grid, block and arguments; the package's documentation says what each is.
#[derive(Default)]
pub struct Options {
    checks: Vec<Check>,
    benign: Option<Benign>,
    seed: Option<u64>,
    control: Option<ControlModel>,
    memory: Option<MemoryModel>,
    warp_size: Option<u32>,
    mma_exact: bool,
    max_steps: Option<u64>,
    max_states: Option<u64>,
    timeout: Option<Duration>,
    max_memory: Option<u64>,
    progress: Option<Progress>,
    jobs: Option<usize>,
    /// Whether arrays are not copied to the device.
    pub in_place: bool,
    /// Grid, block, bytes of dynamic shared memory.
    shape: ([u32; 3], [u32; 3], u32),
}

fn wrong(key: &str, word: &str, known: &[&str]) -> PyErr {
    PyValueError::new_err(format!("{key}={word:?}: there are {}", known.join(", ")))
}

/// Control models by the words of the command line.
const CONTROLS: [(&str, ControlModel); 4] = [
    ("crs", ControlModel::Crs),
    ("its", ControlModel::Its),
    ("its-split", ControlModel::ItsSplit),
    ("thread", ControlModel::Thread),
];

fn control(word: &str) -> PyResult<ControlModel> {
    let found = CONTROLS.iter().find(|(name, _)| *name == word).map(|(_, control)| *control);
    found.ok_or_else(|| wrong("control", word, &CONTROLS.map(|(name, _)| name)))
}

/// Races that are no defects, by the words of the command line.
const BENIGN: [(&str, Benign); 3] =
    [("none", Benign::None), ("instruction", Benign::Instruction), ("same-value", Benign::SameValue)];

fn benign(word: &str) -> PyResult<Benign> {
    let found = BENIGN.iter().find(|(name, _)| *name == word).map(|(_, benign)| *benign);
    found.ok_or_else(|| wrong("benign", word, &BENIGN.map(|(name, _)| name)))
}

fn check(word: &str) -> PyResult<Check> {
    Check::named(word).ok_or_else(|| wrong("check", word, &checks()))
}

fn progress(word: &str) -> PyResult<Progress> {
    let known: Vec<_> = Progress::ALL.iter().map(|progress| progress.name()).collect();
    Progress::named(word).ok_or_else(|| wrong("progress", word, &known))
}

/// A limit: a number that is not 0, with which nothing could run.
fn limit(key: &str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    match value.extract()? {
        0 => Err(PyValueError::new_err(format!("{key}=0: a limit is a number above 0"))),
        number => Ok(number),
    }
}

/// The names of all checks.
pub fn checks() -> Vec<&'static str> {
    Check::ALL.iter().map(|check| check.name()).collect()
}

impl Options {
    /// What a launch of this shape was given.
    pub fn of(shape: ([u32; 3], [u32; 3], u32), given: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut options = Self { shape, ..Self::default() };
        let (mut memory, mut split) = (None::<String>, false);
        for (key, value) in given.into_iter().flatten() {
            let key: String = key.extract()?;
            match key.as_str() {
                "check" => {
                    for word in value.extract::<Vec<String>>()? {
                        options.checks.push(check(&word)?);
                    }
                }
                "benign" => options.benign = Some(benign(value.extract()?)?),
                "control" => options.control = Some(control(value.extract()?)?),
                "progress" => options.progress = Some(progress(value.extract()?)?),
                "memory" => memory = Some(value.extract()?),
                "split" => split = value.extract()?,
                "seed" => options.seed = Some(value.extract()?),
                "warp_size" => options.warp_size = Some(value.extract()?),
                "mma_exact" => options.mma_exact = value.extract()?,
                "max_steps" => options.max_steps = Some(limit(&key, &value)?),
                "max_states" => options.max_states = Some(limit(&key, &value)?),
                "max_memory" => options.max_memory = Some(limit(&key, &value)?),
                "in_place" => options.in_place = value.extract()?,
                "jobs" => options.jobs = Some(value.extract()?),
                "timeout" => {
                    let time = Duration::try_from_secs_f64(value.extract()?).ok().filter(|time| !time.is_zero());
                    options.timeout = Some(time.ok_or_else(|| PyValueError::new_err("timeout: seconds, above 0"))?);
                }
                other => return Err(PyTypeError::new_err(format!("there is no option `{other}`"))),
            }
        }
        if memory.is_some() || split {
            let name = memory.as_deref().unwrap_or("flat");
            let model = MemoryModel::preset(name).ok_or_else(|| wrong("memory", name, &MemoryModel::NAMES))?;
            let model = if split { model.with_lanes_split(true) } else { Some(model) };
            let why = || PyValueError::new_err(format!("memory={name:?} has no lanes that access it one by one"));
            options.memory = Some(model.ok_or_else(why)?);
        }
        Ok(options)
    }

    /// A kernel that is launched so.
    pub fn apply<'a>(self, kernel: Kernel<'a>, watch: &Arc<Watch>) -> Kernel<'a> {
        let (grid, block, shared) = self.shape;
        let watch = Arc::clone(watch);
        let mut kernel = kernel.grid(grid).block(block).shared(shared).mma_exact(self.mma_exact);
        kernel = kernel.interrupt(move || watch.asked());
        kernel = self.checks.into_iter().fold(kernel, Kernel::check);
        kernel = self.benign.into_iter().fold(kernel, Kernel::benign);
        kernel = self.seed.into_iter().fold(kernel, Kernel::seed);
        kernel = self.control.into_iter().fold(kernel, Kernel::control);
        kernel = self.memory.into_iter().fold(kernel, Kernel::memory);
        kernel = self.warp_size.into_iter().fold(kernel, Kernel::warp_size);
        kernel = self.max_steps.into_iter().fold(kernel, Kernel::max_steps);
        kernel = self.max_states.into_iter().fold(kernel, Kernel::max_states);
        kernel = self.timeout.into_iter().fold(kernel, Kernel::timeout);
        kernel = self.max_memory.into_iter().fold(kernel, Kernel::max_memory);
        kernel = self.jobs.into_iter().fold(kernel, Kernel::jobs);
        self.progress.into_iter().fold(kernel, Kernel::progress)
    }
}

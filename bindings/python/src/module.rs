//! A module of PTX.

use crate::arguments::Arguments;
use crate::error::{exception, released};
use crate::options::Options;
use crate::watch::Watch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::path::PathBuf;
use warpstep::program::env::Param;
use warpstep::{Kernel, Run};

/// Grid, block, bytes of dynamic shared memory.
pub type Shape = ([u32; 3], [u32; 3], u32);

/// A module of PTX, read and checked once.
#[pyclass(frozen, module = "warpstep._warpstep")]
pub struct Module(pub warpstep::Module);

/// What a parameter is: name, type, size in bytes, whether it is an array, whether it is declared a pointer, whether it can be one.
type Parameter = (String, String, u32, bool, bool, bool);

/// What a run gave: blocks, warp instructions, thread instructions, output, hash of memory.
type Ran<'py> = (u64, u64, u64, Bound<'py, PyBytes>, u64);

fn ran(py: Python<'_>, run: Run) -> Ran<'_> {
    let Run { stats, output, memory_hash } = run;
    let output = PyBytes::new(py, &output);
    (stats.blocks, stats.warp_instructions, stats.thread_instructions, output, memory_hash)
}

#[pymethods]
impl Module {
    #[new]
    fn new(py: Python<'_>, name: &str, text: &str) -> PyResult<Self> {
        released(py, || warpstep::Module::named(name, text))?.map(Self).map_err(|error| exception(py, &error))
    }

    #[staticmethod]
    fn from_file(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        released(py, || warpstep::Module::from_file(path))?.map(Self).map_err(|error| exception(py, &error))
    }

    /// Several texts that are linked, each with its name.
    #[staticmethod]
    fn linked(py: Python<'_>, texts: Vec<(String, String)>) -> PyResult<Self> {
        let texts: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        released(py, || warpstep::Module::linked(&texts))?.map(Self).map_err(|error| exception(py, &error))
    }

    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    #[getter]
    fn text(&self) -> &str {
        self.0.text()
    }

    /// All its texts, each with its name.
    fn texts(&self) -> Vec<(&str, &str)> {
        self.0.texts().collect()
    }

    /// Its variables in global memory, each with what it holds at first.
    fn variables<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyBytes>)>> {
        let variables = released(py, || self.0.variables())?.map_err(|error| exception(py, &error))?;
        Ok(variables.into_iter().map(|(name, bytes)| (name, PyBytes::new(py, &bytes))).collect())
    }

    fn kernels(&self) -> Vec<&str> {
        self.0.kernels().collect()
    }

    fn parameters(&self, kernel: &str) -> Option<Vec<Parameter>> {
        let pointer = self.0.pointer_bytes();
        let parameter = |p: &Param| {
            let memory = p.bytes == pointer && !p.array && !p.ty.starts_with('f');
            (p.name.clone(), p.ty.clone(), p.bytes, p.array, p.pointer, memory)
        };
        Some(self.0.parameters(kernel)?.iter().map(parameter).collect())
    }

    /// Runs a kernel to its end.
    #[pyo3(signature = (kernel, shape, arguments, options, judge=None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        kernel: &str,
        shape: Shape,
        arguments: &Bound<'py, PyList>,
        options: Option<&Bound<'py, PyDict>>,
        judge: Option<Py<PyAny>>,
    ) -> PyResult<Ran<'py>> {
        self.once(py, kernel, (shape, options), (arguments, judge, None), |kernel| kernel.run())
    }

    /// Runs a schedule again.
    #[expect(clippy::too_many_arguments, reason = "they are those of the package, which calls it")]
    fn replay<'py>(
        &self,
        py: Python<'py>,
        kernel: &str,
        shape: Shape,
        arguments: &Bound<'py, PyList>,
        options: Option<&Bound<'py, PyDict>>,
        schedule: &str,
        judge: Option<Py<PyAny>>,
        rel: Option<f64>,
    ) -> PyResult<Ran<'py>> {
        self.once(py, kernel, (shape, options), (arguments, judge, rel), |kernel| kernel.replay(schedule))
    }
}

/// The arguments of a launch, and what judges its results: code, or how far floats may be from what is expected.
pub type Judged<'a, 'py> = (&'a Bound<'py, PyList>, Option<Py<PyAny>>, Option<f64>);

impl Module {
    fn once<'py>(
        &self,
        py: Python<'py>,
        kernel: &str,
        how: (Shape, Option<&Bound<'py, PyDict>>),
        given: Judged<'_, 'py>,
        run: impl FnOnce(Kernel<'_>) -> Result<Run, warpstep::Error> + Send,
    ) -> PyResult<Ran<'py>> {
        self.done(py, kernel, how, given, run).map(|run| ran(py, run))
    }

    /// Does something with a launch, without Python's lock. An exception that Python raised meanwhile goes before the result.
    pub fn done<'py, T: Send>(
        &self,
        py: Python<'py>,
        kernel: &str,
        (shape, options): (Shape, Option<&Bound<'py, PyDict>>),
        (arguments, judge, rel): Judged<'_, 'py>,
        work: impl FnOnce(Kernel<'_>) -> Result<T, warpstep::Error> + Send,
    ) -> PyResult<T> {
        let mut arguments = Arguments::of(arguments)?;
        let options = Options::of(shape, options)?;
        let watch = Watch::new();
        let memories = arguments.memories();
        let done = released(py, || {
            let in_place = options.in_place;
            let kernel = options.apply(self.0.kernel(kernel), &watch);
            let kernel = arguments.give(kernel, rel, in_place);
            let kernel = match judge {
                Some(judge) => crate::arguments::judged(kernel, judge, memories, &watch),
                None => kernel,
            };
            work(kernel)
        })?;
        match watch.error() {
            Some(error) => Err(error),
            None => done.map_err(|error| exception(py, &error)),
        }
    }
}

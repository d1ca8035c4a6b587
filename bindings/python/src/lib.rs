//! The compiled part of the Python package `warpstep`: modules of PTX, and launches of their kernels.
//!
//! The package's Python code (`python/warpstep`) turns what its users give into what is taken here: arguments described by small
//! tuples ([`arguments`]), options by a dictionary ([`options`]). What comes back are tuples, too, or an exception ([`error`]).
//! Python's lock is released while kernels run, and taken now and then to hear of Ctrl-C ([`watch`]).

mod arguments;
mod error;
mod memory;
mod module;
mod options;
mod searches;
mod watch;

use pyo3::prelude::*;

/// The compiled part of the package `warpstep`; its Python code is what programs import.
#[pymodule]
fn _warpstep(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("OPTIMISED", !cfg!(debug_assertions))?;
    module.add("CHECKS", options::checks())?;
    module.add("ELEMENT_TYPES", warpstep::launch::SCALARS.map(|(name, _)| name).to_vec())?;
    module.add("FIRST_ADDRESS", warpstep::Kernel::FIRST_ADDRESS)?;
    module.add("LAST_ADDRESS", warpstep::Kernel::LAST_ADDRESS)?;
    module.add_class::<module::Module>()?;
    module.add_function(wrap_pyfunction!(error::panics, module)?)?;
    module.add_function(wrap_pyfunction!(searches::hunt, module)?)?;
    module.add_function(wrap_pyfunction!(searches::prove, module)?)?;
    module.add_function(wrap_pyfunction!(searches::compare, module)?)
}

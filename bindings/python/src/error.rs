//! Errors as exceptions of the package.

use pyo3::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use warpstep::{Error, ErrorKind};

/// The word for whose fault it is, by which the package chooses a class.
pub fn kind(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::Input => "input",
        ErrorKind::Defect => "defect",
        ErrorKind::Limit => "limit",
        ErrorKind::Unsupported => "unsupported",
        ErrorKind::Internal => "internal",
    }
}

/// The exception of an error.
pub fn exception(py: Python<'_>, error: &Error) -> PyErr {
    made(py, kind(error), error.code(), &error.to_string(), &error.json().to_string())
}

fn made(py: Python<'_>, kind: &str, code: &str, text: &str, json: &str) -> PyErr {
    let make = || py.import("warpstep._errors")?.getattr("made")?.call1((kind, code, text, json));
    make().map_or_else(|error| error, PyErr::from_value)
}

/// Does something without Python's lock. A panic, which is an error of warpstep, becomes an exception, too.
pub fn released<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| catch_unwind(AssertUnwindSafe(work))).map_err(|panic| internal(py, &*panic))
}

fn internal(py: Python<'_>, panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    let text = format!("an error of warpstep itself, please report it: {}", text.unwrap_or("it gives no reason"));
    made(py, "internal", "internal", &text, "{}")
}

/// Panics while Python's lock is released: for the test that this is an exception, too.
#[pyfunction]
pub fn panics(py: Python<'_>, text: String) -> PyResult<()> {
    released(py, || std::panic::panic_any(text))
}

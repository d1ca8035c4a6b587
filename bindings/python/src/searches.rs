//! Hunts, proofs and comparisons.

use crate::error::kind;
use crate::module::{Module, Shape};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use warpstep::{Comparison, Finding, Hunted, Proof};

/// What was found: seed, kind, code, text, JSON, schedule, how many seeds showed it, signature.
type Found = (Option<u64>, &'static str, String, String, String, String, u64, String);

fn found(Finding { seed, error, schedule, times, signature }: Finding) -> Found {
    let (code, json) = (error.code().to_owned(), error.json().to_string());
    (seed, kind(&error), code, error.to_string(), json, schedule, times, signature)
}

/// Findings, seeds that were run, those that reached a limit, whether all were run, the last lines.
type HuntedParts = (Vec<Found>, u64, u64, bool, String);

/// Whether it holds, findings, states, the verdict in words.
type ProofParts = (Option<bool>, Vec<Found>, u64, String);

/// Something that was seen: letter, control model, memory, whether lanes are split, schedule.
type SeenParts = (String, String, String, bool, String);

/// Whether there is a defect, what was seen, the table, JSON.
type ComparisonParts = (Option<bool>, Vec<SeenParts>, String, String);

/// Runs the default schedule and those of seeds.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are those of the package, which calls it")]
pub fn hunt<'py>(
    py: Python<'py>,
    module: &Module,
    kernel: &str,
    shape: Shape,
    arguments: &Bound<'py, PyList>,
    options: Option<&Bound<'py, PyDict>>,
    judge: Option<Py<PyAny>>,
    rel: Option<f64>,
    seeds: (u64, u64),
) -> PyResult<HuntedParts> {
    let hunted = module.done(py, kernel, (shape, options), (arguments, judge, rel), |k| k.hunt(seeds.0..seeds.1))?;
    let summary = hunted.to_string();
    let Hunted { findings, seeds, limited, complete, .. } = hunted;
    Ok((findings.into_iter().map(found).collect(), seeds, limited, complete, summary))
}

/// Goes through all states.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are those of the package, which calls it")]
pub fn prove<'py>(
    py: Python<'py>,
    module: &Module,
    kernel: &str,
    shape: Shape,
    arguments: &Bound<'py, PyList>,
    options: Option<&Bound<'py, PyDict>>,
    judge: Option<Py<PyAny>>,
    rel: Option<f64>,
) -> PyResult<ProofParts> {
    let proof = module.done(py, kernel, (shape, options), (arguments, judge, rel), |kernel| kernel.prove())?;
    let summary = proof.to_string();
    let Proof { holds, findings, states, .. } = proof;
    Ok((holds, findings.into_iter().map(found).collect(), states, summary))
}

/// Looks at all control models and memories.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are those of the package, which calls it")]
pub fn compare<'py>(
    py: Python<'py>,
    module: &Module,
    kernel: &str,
    shape: Shape,
    arguments: &Bound<'py, PyList>,
    options: Option<&Bound<'py, PyDict>>,
    judge: Option<Py<PyAny>>,
    rel: Option<f64>,
    seeds: u64,
) -> PyResult<ComparisonParts> {
    let compared = module.done(py, kernel, (shape, options), (arguments, judge, rel), |k| k.compare(seeds))?;
    let (text, json) = (compared.to_string(), compared.json().to_string());
    let Comparison { seen, defect, .. } = compared;
    let seen = seen.into_iter().map(|s| (s.letter, s.control, s.memory, s.split, s.schedule)).collect();
    Ok((defect, seen, text, json))
}

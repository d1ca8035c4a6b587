//! What each command says to programs: one object on standard output.
//!
//! `docs/schema/report.schema.json` is made of these types (`super::schema`), and their comments are its descriptions.

use super::costs::CostsReport;
use super::diagnostic::Message;
use super::hunt::{Hunt, Minimised, Replay};
use super::litmus::{Agreements, Consistency, ExpectedVerdicts, Extracted, Tested};
use super::parts::{Exit, Extra, Races};
use super::rule_table::Rules;
use super::{compare, prove, run, script, suite};
use serde::Serialize;
use serde_json::Value;

/// What `--format json` prints on standard output: one object. docs/reports.md is the tour.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[expect(missing_docs, reason = "each is what its type says")]
pub enum Report<'a> {
    Problems(Problems<'a>),
    Stopped(StoppedRun),
    Finished(Box<run::Finished<'a>>),
    Hunt(Hunt<'a>),
    Replay(Box<Replay<'a>>),
    Minimised(Minimised),
    Proof(Box<prove::Proved<'a>>),
    Orders(Box<script::Orders<'a>>),
    Litmus(Tested<'a>),
    Consistency(Consistency),
    Expected(ExpectedVerdicts),
    Agreements(Agreements),
    Extracted(Extracted),
    Compared(compare::Comparison<'a>),
    Suite(Box<suite::Suite<'a>>),
    Rules(Rules<'a>),
    Bench(Bench),
}

/// Problems of the input.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problems<'a> {
    /// The exit code.
    pub exit: Exit,
    /// The problems, in order.
    pub problems: Vec<Message<'a>>,
    /// How many more there are (--max-errors).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted: Option<usize>,
}

/// A run that ended early.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoppedRun {
    /// The exit code.
    pub exit: Exit,
    /// Why it ended.
    #[cfg_attr(feature = "schema", schemars(with = "crate::report::data::Stopped<'_>"))]
    pub stopped: Value,
    /// The races until then.
    #[serde(flatten)]
    pub races: Option<Races>,
    /// What the device printed until then.
    pub output: String,
    /// What flags add.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Measured speed.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bench {
    /// The exit code.
    pub exit: Exit,
    /// Each kernel that was measured.
    pub kernels: Vec<Speed>,
    /// The geometric mean of `millions_per_second`.
    pub geometric_mean: f64,
}

/// The speed of a kernel.
#[derive(Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Speed {
    /// Its name.
    pub kernel: &'static str,
    /// What it works on.
    pub size: String,
    /// PTX instructions executed, times threads.
    pub thread_instructions: u64,
    /// CPU time; with `--threads` the time of the clock on the wall.
    pub cpu_seconds: f64,
    /// Millions of thread instructions per second.
    pub millions_per_second: f64,
    /// Whether its results are right.
    pub correct: bool,
    /// The same under a check, with `--check`.
    pub checked: Option<Checked>,
    /// What the mutex mechanism sent. Only with `--costs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costs: Option<CostsReport>,
}

/// The speed of a kernel under a check.
#[derive(Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Checked {
    /// CPU time.
    pub cpu_seconds: f64,
    /// Bytes that the check for races takes.
    pub shadow_bytes: Option<u64>,
    /// Bytes of memory that were accessed.
    pub touched_bytes: Option<u64>,
    /// Races that were found.
    pub races: Option<usize>,
    /// Accesses whose origin was lost.
    pub lost_origins: Option<u64>,
}

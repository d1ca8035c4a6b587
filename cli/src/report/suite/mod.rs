//! What came of many launch files that were tested (`warpstep test`), for people, programs and systems of continuous
//! integration.

mod finding;
mod github;
mod junit;
mod text;

pub use finding::{Finding, Gathering, Shown};
pub use github::annotations;
pub use junit::junit;
pub use text::{left_alone, line, summary};

use super::parts::{Exit, Extra};
use super::roots::Roots;
use super::sarif::Log;
use super::stop::worst;
use crate::verdict::LimitKind;
use serde::Serialize;
use serde_json::json;
use std::time::Duration;

/// What came of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Everything is as it should be.
    Passed,
    /// The program has a defect, or its results are not as expected.
    Failed,
    /// It needs what warpstep cannot do.
    Unsupported,
    /// The time was up.
    TimedOut,
    /// Another limit was reached: memory, steps.
    Limit,
    /// The file, or one that it names, is wrong.
    Broken,
    /// warpstep itself failed.
    Internal,
    /// It was not run, or not to its end: another one failed before, or somebody ended the command.
    NotRun,
}

impl Status {
    /// All of them, in the order in which they are counted.
    pub const ALL: [Self; 8] = [
        Self::Passed,
        Self::Failed,
        Self::Unsupported,
        Self::TimedOut,
        Self::Limit,
        Self::Broken,
        Self::Internal,
        Self::NotRun,
    ];

    /// What of findings that end in an exit code.
    fn of(exit: u8, findings: &[Finding]) -> Self {
        let limits: Vec<LimitKind> = findings.iter().filter_map(|f| f.limit).collect();
        match exit {
            0 => Self::Passed,
            1 => Self::Failed,
            2 => Self::Broken,
            3 if limits.contains(&LimitKind::Interrupted) => Self::NotRun,
            3 if limits.iter().any(|limit| matches!(limit, LimitKind::Time(_))) => Self::TimedOut,
            3 => Self::Limit,
            4 => Self::Unsupported,
            _ => Self::Internal,
        }
    }
}

/// A file that was tested.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Case {
    /// The launch file or host script, relative to the root of the project.
    pub file: String,
    /// What came of it.
    pub status: Status,
    /// The exit code that it stands for.
    pub exit: Exit,
    /// Runs that came to their ends or found something: the default one, and those by seeds.
    pub runs: u64,
    /// The checks of its runs.
    pub checks: Vec<String>,
    /// What was found.
    pub findings: Vec<Finding>,
    /// What else is to be known of its runs, such as accesses that a check could not follow.
    pub notes: Vec<String>,
    /// The same for code scanning.
    #[serde(skip)]
    pub log: Log,
    /// How long it took; no part of reports that are the same each time.
    #[serde(skip)]
    pub elapsed: Duration,
}

impl Case {
    /// What was gathered of a file.
    #[must_use]
    pub fn new(file: String, gathered: Gathering<'_>, runs: u64, checks: Vec<String>, notes: Vec<String>) -> Self {
        let exit = gathered.exit();
        let Gathering { findings, log, .. } = gathered;
        let status = Status::of(exit, &findings);
        Self { file, status, exit: Exit(exit), runs, checks, findings, notes, log, elapsed: Duration::ZERO }
    }

    /// A file that was not run.
    #[must_use]
    pub fn not_run(file: String) -> Self {
        let (runs, checks, findings, notes, log, elapsed) = Default::default();
        Self { file, status: Status::NotRun, exit: Exit(0), runs, checks, findings, notes, log, elapsed }
    }

    /// Whether it ended at a limit of memory, which others may have had a part in that were tested beside it.
    #[must_use]
    pub fn lacked_memory(&self) -> bool {
        let of_memory = |limit: LimitKind| matches!(limit, LimitKind::Taken { .. } | LimitKind::Host { .. });
        self.findings.iter().filter_map(|f| f.limit).any(of_memory)
    }
}

/// How a suite ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// All files were tested.
    Done,
    /// One failed, and that was to be the end (`--fail-fast`).
    FailFast,
    /// Somebody ended it.
    Interrupted,
}

/// How many files came to what.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "named as the statuses")]
pub struct Counts {
    pub passed: usize,
    pub failed: usize,
    pub unsupported: usize,
    pub timed_out: usize,
    pub limit: usize,
    pub broken: usize,
    pub internal: usize,
    pub not_run: usize,
}

impl Counts {
    /// Of some files.
    #[must_use]
    pub fn of(files: &[Case]) -> Self {
        let of = |status| files.iter().filter(|case| case.status == status).count();
        let [passed, failed, unsupported, timed_out, limit, broken, internal, not_run] = Status::ALL.map(of);
        Self { passed, failed, unsupported, timed_out, limit, broken, internal, not_run }
    }
}

/// What came of all files.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Suite<'a> {
    /// The exit code: of the gravest file.
    pub exit: Exit,
    /// How it ended.
    pub ended: Ended,
    /// How many files came to what.
    pub counts: Counts,
    /// The files, in the order of the paths that were named, and of their names.
    pub files: &'a [Case],
    /// TOML files in the folders that are no launch files.
    pub left_alone: Vec<String>,
    /// What flags add.
    #[serde(flatten)]
    pub extra: Extra,
}

impl<'a> Suite<'a> {
    /// What came of some files, in order.
    #[must_use]
    pub fn new(files: &'a [Case], ended: Ended, left_alone: Vec<String>, extra: Extra) -> Self {
        let own = if ended == Ended::Interrupted { 3 } else { 0 };
        let exit = worst(files.iter().map(|case| case.exit.0).chain([own]));
        Self { exit: Exit(exit), ended, counts: Counts::of(files), files, left_alone, extra }
    }

    /// The log of all files, for code scanning: their results in the order of the files.
    #[must_use]
    pub fn log(&self, roots: &Roots) -> Log {
        let mut all = Log::of_project(roots.clone());
        self.files.iter().for_each(|case| all.append(case.log.clone()));
        all.property("counts", json!(self.counts));
        all.property("ended", json!(self.ended));
        all
    }
}

//! What is asked of kernels and answered, in words.

use super::data::Dimensions;
use super::shown::Subject;
use crate::launch::Mismatch;
use crate::litmus::kernel::{Asks, Gap, Judged, MIXED_SIZE_RACE};
use crate::report::terminal::inline;
use std::fmt::Write;

/// The most elements of a buffer that are told to differ.
const SHOWN: usize = 3;

/// The launch as CUDA writes it: `kernel<<<2, 32>>>`.
#[must_use]
pub fn launched(entry: &str, launch: Dimensions) -> String {
    let dims = |all: [u32; 3]| match all {
        [x, 1, 1] => x.to_string(),
        [x, y, z] => format!("({x}, {y}, {z})"),
    };
    format!("{entry}<<<{}, {}>>>", dims(launch.grid), dims(launch.block))
}

/// The question. `condition`: that of `--exists`.
#[must_use]
pub fn asked_of_kernel(asks: &Asks, condition: &str, expects: bool) -> String {
    match asks {
        Asks::Expected if expects => "results are as expected, and no thread comes to a defect".to_owned(),
        Asks::Expected => "no thread comes to a defect (no results are expected)".to_owned(),
        Asks::Races => "no execution raises a flag of the model".to_owned(),
        Asks::Ends => "every execution ends".to_owned(),
        Asks::Exists(_) => format!("exists {}", inline(condition)),
    }
}

/// The answer.
#[must_use]
pub fn said_of_kernel(asks: &Asks, judged: &Judged) -> &'static str {
    let found = judged.decided.witness.is_some() || judged.decided.lasso.is_some();
    match (asks, found, judged.defect.is_some()) {
        (Asks::Expected, true, true) => "a thread comes to a defect in an execution",
        (Asks::Expected, true, false) => "an execution leaves other results",
        (Asks::Expected, false, _) => "holds in every execution",
        (Asks::Races, true, _) if races_in_part(judged) => {
            "an execution has a data race of accesses that overlap in part, and the axioms say nothing of such a kernel"
        }
        (Asks::Races, true, _) => "an execution has a data race",
        (Asks::Races, false, _) => "no execution has a data race",
        (Asks::Ends, true, _) => "an execution never ends",
        (Asks::Ends, false, _) => "every execution ends",
        (Asks::Exists(_), true, _) => "reachable",
        (Asks::Exists(_), false, _) => "never reachable",
    }
}

/// Whether the accesses overlap in part that race.
fn races_in_part(judged: &Judged) -> bool {
    judged.decided.witness.as_ref().is_some_and(|witness| witness.flags.iter().any(|flag| flag == MIXED_SIZE_RACE))
}

/// What a thread does that has no events, and where.
#[must_use]
pub fn unexpressed(subject: &Subject<'_>, gap: &Gap) -> String {
    let Some(at) = gap.at else { return gap.what.clone() };
    let step = subject.step(gap.thread, at as usize);
    format!("{}; line {}: {}", gap.what, step.line, step.instruction)
}

/// Elements that differ, in lines.
pub(super) fn differences(all: &[Mismatch]) -> String {
    let mut out = String::new();
    for mismatch in all {
        let name = inline(&mismatch.name);
        for d in mismatch.first.iter().take(SHOWN) {
            let _ = match mismatch.unordered {
                true => writeln!(out, "  {name}, sorted, element {}: expected {}, got {}", d.index, d.expected, d.got),
                false => writeln!(out, "  {name}[{}]: expected {}, got {}", d.index, d.expected, d.got),
            };
        }
        let more = mismatch.differing.saturating_sub(SHOWN as u64);
        if more > 0 {
            let _ = writeln!(out, "  {name}: and {more} more");
        }
    }
    out
}

impl super::LitmusStep {
    /// Who does it.
    pub(super) fn whose(&self) -> String {
        self.spot.map_or_else(|| format!("P{}", self.thread), |spot| spot.text())
    }

    /// Where it stands: the line, and that of the CUDA source.
    pub(super) fn place(&self) -> String {
        place(self.line, self.cuda.as_ref())
    }
}

/// A line of PTX, and that of the CUDA source.
pub(super) fn place(line: u32, cuda: Option<&crate::report::stop::Cuda>) -> String {
    let file = |file: &str| inline(file.rsplit('/').next().unwrap_or(file)).into_owned();
    cuda.map_or_else(|| line.to_string(), |cuda| format!("{line}, {}:{}", file(&cuda.file), cuda.line))
}

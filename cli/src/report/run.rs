//! Results of runs: counts, mismatches, values.

use super::costs::CostsReport;
use super::notes::{LostReport, ReliedReport};
use super::parts::{Exit, Extra, Races};
use super::terminal::{in_place, inline};
use super::words::counted;
use crate::check::Check;
use crate::launch::{Mismatch, Outcome, OutputMismatch, Scalar, Unexpected, Value};
use crate::machine::Stats;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

/// That a timeline has only the beginning of a run.
#[must_use]
pub fn trace_cut(file: &Path, limit: u64) -> String {
    format!(
        "the timeline in {} ends early: it reached --trace-limit ({limit} bytes)\n",
        inline(&file.display().to_string())
    )
}

/// What is not as expected, or was not after another schedule.
#[must_use]
pub fn unexpected(what: &Unexpected) -> String {
    let refused = what.refused.iter().map(|why| format!("mismatch: {}\n", in_place(why.trim_end())));
    what.mismatches
        .iter()
        .map(mismatch)
        .chain(what.output_mismatch.iter().map(output_mismatch))
        .chain(refused)
        .collect()
}

/// The first differences of a buffer, and how many there are.
pub(super) fn mismatch(m: &Mismatch) -> String {
    let mut out = format!(
        "mismatch: `{}`: {} of {} {} elements differ from what is expected",
        inline(&m.name),
        m.differing,
        m.compared,
        m.ty.name()
    );
    if m.largest > 0.0 {
        let _ = write!(out, " (by {:?} at most)", m.largest);
    }
    out.push('\n');
    if m.unordered {
        out.push_str("  compared in ascending order\n");
    }
    let rows: Vec<[String; 4]> = std::iter::once(["index", "expected", "got", "difference"].map(str::to_owned))
        .chain(m.first.iter().map(|d| {
            let difference = d.got.real() - d.expected.real();
            [d.index.to_string(), d.expected.to_string(), d.got.to_string(), format!("{difference:?}")]
        }))
        .collect();
    let width = |k: usize| rows.iter().map(|r| r[k].len()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2), width(3)];
    for row in &rows {
        let cells: Vec<String> = row.iter().zip(widths).map(|(cell, w)| format!("{cell:>w$}")).collect();
        let _ = writeln!(out, "  {}", cells.join("  "));
    }
    let shown = m.first.len() as u64;
    if m.differing > shown {
        let _ = writeln!(out, "  and {} more", m.differing - shown);
    }
    out
}

/// The first line of output that differs.
pub(super) fn output_mismatch(m: &OutputMismatch) -> String {
    let show = |line: &Option<String>| line.as_ref().map_or_else(|| "nothing more".to_owned(), |l| format!("{l:?}"));
    let sorted = if m.sorted { " (of the sorted lines)" } else { "" };
    format!(
        "mismatch: printed output, line {}{sorted}\n  expected  {}\n  got       {}\n",
        m.line,
        show(&m.expected),
        show(&m.got)
    )
}

/// What was checked in a run in which nothing was found; nothing where nothing was asked for.
#[must_use]
pub fn checks(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("checked: {}\n", names.join(", ")) }
}

/// A buffer's elements, eight a line, each line with its first index.
#[must_use]
pub fn values(name: &str, ty: Scalar, bytes: &[u8]) -> String {
    let elements: Vec<String> = bytes.chunks_exact(ty.size()).map(|c| ty.decode(c).to_string()).collect();
    let width = elements.iter().map(String::len).max().unwrap_or(0);
    let mut out = format!("{}: {} x {}\n", inline(name), elements.len(), ty.name());
    let digits = elements.len().to_string().len();
    for (k, row) in elements.chunks(8).enumerate() {
        let cells: Vec<String> = row.iter().map(|e| format!("{e:>width$}")).collect();
        let _ = writeln!(out, "{:>digits$}: {}", 8 * k, cells.join(" "));
    }
    out
}

/// A run that came to its end.
#[derive(Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finished<'a> {
    /// The launches, in order.
    pub launches: &'a [Stats],
    /// What the device printed.
    pub output: Cow<'a, str>,
    /// What is not as expected.
    #[serde(flatten)]
    pub unexpected: Unexpected,
    /// Buffers whose zeros were relied on though nothing said what they hold. Only with `--check uninit`.
    pub assumed_zeros: ReliedReport,
    /// Accesses whose origin was lost. Only with `--check bounds`.
    pub lost_origins: LostReport,
    /// What the mutex mechanism sent. Only with `--costs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costs: Option<CostsReport>,
    /// Thread instructions that were executed as machine code (`--stats`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native_instructions: Option<u64>,
    /// The flag by which somebody follows each step of the run, if there is one.
    #[serde(skip)]
    pub follows: Option<&'static str>,
    /// The exit code.
    pub exit: Exit,
    /// The checks that were asked for.
    pub checks: Vec<String>,
    /// Buffers and variables that were asked for (`--print`), by name.
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, Contents>"))]
    pub buffers: Map<String, Json>,
    /// The hash of the final memory (`--hash`).
    pub memory_hash: Option<String>,
    /// The hash of the trace (`--hash`).
    pub trace_hash: Option<String>,
    /// The races.
    #[serde(flatten)]
    pub races: Option<Races>,
    /// What flags add.
    #[serde(flatten)]
    pub extra: Extra,
    /// How many things were compared.
    #[serde(skip)]
    pub compared: usize,
}

impl<'a> Finished<'a> {
    /// What a run came to that was not asked for more: buffers, hashes and what checks found are to be added.
    #[must_use]
    pub fn new(outcome: &'a Outcome, compared: usize, checks: Vec<String>) -> Self {
        let (launches, unexpected) = (&*outcome.stats, outcome.unexpected.clone());
        let output = String::from_utf8_lossy(&outcome.output);
        Self { launches, output, unexpected, checks, compared, ..Self::default() }
    }

    /// How much was executed as machine code, where that was asked for; empty otherwise.
    #[must_use]
    pub fn native(&self) -> String {
        let Some(native) = self.native_instructions else { return String::new() };
        let all: u64 = self.launches.iter().map(|s| s.thread_instructions).sum();
        let share = 100.0 * native as f64 / all.max(1) as f64;
        let allows = |name: &&String| Check::named(name).is_some_and(Check::allows_native);
        let (native_under, interpreted): (Vec<&String>, Vec<&String>) = self.checks.iter().partition(allows);
        let interpreted = interpreted.into_iter().map(|check| format!("under --check {check}"));
        let interpreted: Vec<String> = interpreted.chain(self.follows.map(|flag| format!("with {flag}"))).collect();
        let why = match (&interpreted[..], &native_under[..]) {
            ([], []) => String::new(),
            ([], checks) => checks
                .iter()
                .enumerate()
                .fold(String::new(), |text, (k, check)| text + if k == 0 { ", under --check " } else { "," } + check),
            (all, _) => format!("; a run {} is interpreted", all.join(" and ")),
        };
        format!("machine code: {}, {share:.1} % of all{why}\n", counted(native, "thread instruction"))
    }

    /// One line of counts.
    #[must_use]
    pub fn summary(&self) -> String {
        let sum = |f: fn(&Stats) -> u64| self.launches.iter().map(f).sum::<u64>();
        let verdict = match (self.compared, self.unexpected.is_empty()) {
            (0, true) => "finished",
            (_, true) => "finished, as expected",
            (_, false) => "finished, not as expected",
        };
        format!(
            "{verdict}: {}, {}, {}, {}\n",
            counted(self.launches.len() as u64, "launch"),
            counted(sum(|s| s.blocks), "block"),
            counted(sum(|s| s.warp_instructions), "warp instruction"),
            counted(sum(|s| s.thread_instructions), "thread instruction"),
        )
    }
}

/// The contents of a buffer.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Contents {
    /// The element type.
    r#type: &'static str,
    /// The elements.
    values: Vec<Value>,
}

impl Contents {
    /// Those of a buffer of elements of a type.
    #[must_use]
    pub fn new(ty: Scalar, bytes: &[u8]) -> Self {
        Self { r#type: ty.name(), values: bytes.chunks_exact(ty.size()).map(|c| ty.decode(c)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::Difference;

    #[test]
    fn values_tell_apart() {
        assert_eq!(Value::F32(0.1).to_string(), "0.1");
        assert_eq!(Value::F32(1e30).to_string(), "1e30");
        assert_eq!(Value::Bits(255, 2).to_string(), "0x00ff");
    }

    #[test]
    fn a_mismatch_is_a_table() {
        let ty = Scalar::named("s32").unwrap_or(Scalar::BYTE);
        let first = vec![Difference { index: 3, expected: Value::Signed(10), got: Value::Signed(7) }];
        let name = "out".into();
        let m = Mismatch { name, ty, differing: 2, compared: 64, first, largest: 3.0, unordered: false, at: None };
        let text = mismatch(&m);
        assert!(text.contains("2 of 64 s32 elements differ"), "{text}");
        assert!(text.contains("    3        10    7        -3.0"), "{text}");
        assert!(text.ends_with("and 1 more\n"), "{text}");
    }
}

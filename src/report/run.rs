//! Results of runs: counts, mismatches, values.

use super::count::counted;
use super::terminal::inline;
use crate::launch::{Mismatch, Outcome, OutputMismatch, Scalar, Value};
use serde_json::{Value as Json, json};
use std::fmt::{self, Write};
use std::path::Path;

impl fmt::Display for Value {
    /// The value as it can be written in a launch file; floats with as many digits as tell them apart.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned(x) => write!(f, "{x}"),
            Self::Signed(x) => write!(f, "{x}"),
            Self::F32(x) => write!(f, "{x:?}"),
            Self::F64(x) => write!(f, "{x:?}"),
            Self::Bits(x, bytes) => write!(f, "0x{x:0width$x}", width = 2 * usize::from(*bytes)),
        }
    }
}

/// A number as JSON; NaN and infinities, which JSON lacks, as strings.
fn number(value: Value) -> Json {
    match value {
        Value::Unsigned(x) | Value::Bits(x, _) => x.into(),
        Value::Signed(x) => x.into(),
        Value::F32(x) if x.is_finite() => f64::from(x).into(),
        Value::F64(x) if x.is_finite() => x.into(),
        other => other.to_string().into(),
    }
}

/// That a timeline has only the beginning of a run.
#[must_use]
pub fn trace_cut(file: &Path, limit: u64) -> String {
    format!(
        "the timeline in {} ends early: it reached --trace-limit ({limit} bytes)\n",
        inline(&file.display().to_string())
    )
}

/// The first differences of a buffer, and how many there are.
#[must_use]
pub fn mismatch(m: &Mismatch) -> String {
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
#[must_use]
pub fn output_mismatch(m: &OutputMismatch) -> String {
    let show = |line: &Option<String>| line.as_ref().map_or_else(|| "nothing more".to_owned(), |l| format!("{l:?}"));
    let sorted = if m.sorted { " (of the sorted lines)" } else { "" };
    format!(
        "mismatch: printed output, line {}{sorted}\n  expected  {}\n  got       {}\n",
        m.line,
        show(&m.expected),
        show(&m.got)
    )
}

/// One line of counts.
#[must_use]
pub fn summary(outcome: &Outcome, checked: usize) -> String {
    let sum = |f: fn(&crate::machine::Stats) -> u64| outcome.stats.iter().map(f).sum::<u64>();
    let verdict = match (checked, outcome.as_expected()) {
        (0, true) => "finished",
        (_, true) => "finished, as expected",
        (_, false) => "finished, not as expected",
    };
    format!(
        "{verdict}: {}, {}, {}, {}\n",
        counted(outcome.stats.len() as u64, "launch"),
        counted(sum(|s| s.blocks), "block"),
        counted(sum(|s| s.warp_instructions), "warp instruction"),
        counted(sum(|s| s.thread_instructions), "thread instruction"),
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

/// A buffer as JSON: `type` and `values` (NaN and infinities as strings).
#[must_use]
pub fn values_json(ty: Scalar, bytes: &[u8]) -> Json {
    let all: Vec<Json> = bytes.chunks_exact(ty.size()).map(|c| number(ty.decode(c))).collect();
    json!({ "type": ty.name(), "values": all })
}

/// The outcome as JSON: `launches` (objects with `blocks`, `warp_instructions`, `thread_instructions`), `output` (what was
/// printed), `mismatches` (objects with `name`, `type`, `differing`, `compared`, `largest` and `first`, a list of `index`,
/// `expected`, `got`), `output_mismatch` (`line`, `expected`, `got`; null when there is none).
#[must_use]
pub fn json(outcome: &Outcome) -> Json {
    let launches: Vec<Json> = outcome
        .stats
        .iter()
        .map(|s| json!({ "blocks": s.blocks, "warp_instructions": s.warp_instructions, "thread_instructions": s.thread_instructions }))
        .collect();
    let mismatches: Vec<Json> = outcome
        .mismatches
        .iter()
        .map(|m| {
            let first: Vec<Json> = m
                .first
                .iter()
                .map(|d| json!({ "index": d.index, "expected": number(d.expected), "got": number(d.got) }))
                .collect();
            json!({ "name": m.name, "type": m.ty.name(), "differing": m.differing, "compared": m.compared,
                    "largest": number(Value::F64(m.largest)), "first": first })
        })
        .collect();
    json!({
        "launches": launches,
        "output": String::from_utf8_lossy(&outcome.output),
        "mismatches": mismatches,
        "output_mismatch": outcome.output_mismatch.as_ref().map(|m| json!({ "line": m.line, "expected": m.expected, "got": m.got })),
    })
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
        let m = Mismatch { name: "out".into(), ty, differing: 2, compared: 64, first, largest: 3.0, unordered: false };
        let text = mismatch(&m);
        assert!(text.contains("2 of 64 s32 elements differ"), "{text}");
        assert!(text.contains("    3        10    7        -3.0"), "{text}");
        assert!(text.ends_with("and 1 more\n"), "{text}");
    }
}

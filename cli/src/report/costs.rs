//! What the mutex mechanism of lockstep sequential consistency sends (`--costs`), as a table and as data.

use crate::check::{Bandwidth, Costs, Counters};
use serde::Serialize;

/// Messages of a run and their bytes. Only with `--costs`.
#[derive(Clone, Copy, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostsReport {
    /// How many messages.
    pub messages: Counters,
    /// Bytes of them.
    pub bytes: Bandwidth,
}

impl CostsReport {
    /// A report of what was counted.
    #[must_use]
    pub fn new(costs: &Costs) -> Self {
        Self { messages: *costs.counters(), bytes: costs.bandwidth() }
    }

    /// Bytes as a part of those that are sent anyway, in percent.
    fn percent(&self, bytes: u64) -> f64 {
        100.0 * bytes as f64 / (self.bytes.baseline as f64).max(1.0)
    }

    fn cells(&self) -> Vec<String> {
        let Bandwidth { mutex, eviction, invalidation, rehash, .. } = self.bytes;
        let more = self.percent(mutex + eviction + invalidation + rehash);
        let counts = COLUMNS.iter().map(|(_, count)| count(&self.messages).to_string());
        counts.chain([format!("{more:.1}%")]).collect()
    }
}

/// A column of counts: what it is called, and which they are.
type Column = (&'static str, fn(&Counters) -> u64);

/// The columns of counts of a table of costs.
const COLUMNS: [Column; 11] = [
    ("requests", |c| c.mutex_requests),
    ("hits", |c| c.mutex_hits),
    ("refused", |c| c.mutex_refusals),
    ("loads", |c| c.loads),
    ("in GL1", |c| c.gl1_hits),
    ("stores", |c| c.stores),
    ("atomics", |c| c.atomics),
    ("evictions", |c| c.evictions),
    ("rehashes", |c| c.rehashes),
    ("invalid.", |c| c.invalidations),
    ("in vain", |c| c.false_invalidations),
];

/// A table of costs, a line for each of what has a name.
#[must_use]
pub fn table<'a>(rows: impl IntoIterator<Item = (&'a str, CostsReport)>) -> String {
    let head = COLUMNS.iter().map(|(name, _)| *name).chain(["more bytes"]).map(str::to_owned).collect();
    let rows = rows.into_iter().map(|(name, costs)| (name, costs.cells()));
    let rows: Vec<(&str, Vec<String>)> = std::iter::once(("", head)).chain(rows).collect();
    let width = |k: usize| rows.iter().map(|(_, cells)| cells[k].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..=COLUMNS.len()).map(width).collect();
    let first = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let line = |(name, cells): &(&str, Vec<String>)| {
        let cells: Vec<String> = cells.iter().zip(&widths).map(|(cell, w)| format!("{cell:>w$}")).collect();
        format!("{name:<first$}  {}\n", cells.join("  "))
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_bytes_compared() {
        let counters = Counters { mutex_requests: 1000, loads: 10, evictions: 5, ..Counters::default() };
        let report = CostsReport { messages: counters, bytes: counters.bandwidth(64) };
        let text = table([("vecadd", report), ("a", CostsReport::default())]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| line.len() == lines[0].len()), "{text}");
        // 1,000 requests with answers and 5 evictions with acknowledgements, against 10 loads from memory.
        assert!(lines[1].starts_with("vecadd") && lines[1].ends_with("1005.0%"), "{text}");
    }
}

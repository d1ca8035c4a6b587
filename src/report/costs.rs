//! What the mutex mechanism of lockstep sequential consistency sends (`--costs`), as a table and as data.

use crate::check::{Bandwidth, Costs, Counters};
use schemars::JsonSchema;
use serde::Serialize;

/// Messages of a run and their bytes. Only with `--costs`.
#[derive(Clone, Copy, Default, Serialize, JsonSchema)]
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

    fn cells(&self) -> [String; 12] {
        let Counters {
            mutex_requests,
            mutex_hits,
            mutex_refusals,
            loads,
            gl1_hits,
            stores,
            atomics,
            evictions,
            rehashes,
            invalidations,
            false_invalidations,
            ..
        } = self.messages;
        let Bandwidth { mutex, eviction, invalidation, rehash, .. } = self.bytes;
        let more = self.percent(mutex + eviction + invalidation + rehash);
        let counts = [
            mutex_requests,
            mutex_hits,
            mutex_refusals,
            loads,
            gl1_hits,
            stores,
            atomics,
            evictions,
            rehashes,
            invalidations,
            false_invalidations,
        ];
        let mut cells = std::array::from_fn(|k| counts.get(k).map_or_else(String::new, u64::to_string));
        cells[11] = format!("{more:.1}%");
        cells
    }
}

/// The columns of a table of costs.
const HEAD: [&str; 12] = [
    "requests",
    "hits",
    "refused",
    "loads",
    "in GL1",
    "stores",
    "atomics",
    "evictions",
    "rehashes",
    "invalid.",
    "in vain",
    "more bytes",
];

/// A table of costs, a line for each of what has a name.
#[must_use]
pub fn table<'a>(rows: impl IntoIterator<Item = (&'a str, CostsReport)>) -> String {
    let head = ("", HEAD.map(str::to_owned));
    let rows: Vec<(&str, [String; 12])> =
        std::iter::once(head).chain(rows.into_iter().map(|(name, costs)| (name, costs.cells()))).collect();
    let width = |k: usize| rows.iter().map(|(_, cells)| cells[k].len()).max().unwrap_or(0);
    let widths: [usize; 12] = std::array::from_fn(width);
    let first = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let line = |(name, cells): &(&str, [String; 12])| {
        let cells: Vec<String> = cells.iter().zip(widths).map(|(cell, w)| format!("{cell:>w$}")).collect();
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

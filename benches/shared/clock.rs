//! The time that a benchmark takes.

use std::time::Instant;

/// The CPU time of this thread in seconds, where the system tells; else the wall clock since `start`.
pub fn cpu(start: Instant) -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = stat.and_then(|s| s.split_whitespace().next().and_then(|n| n.parse::<u64>().ok()));
    nanos.map_or_else(|| start.elapsed().as_secs_f64(), |n| n as f64 / 1e9)
}

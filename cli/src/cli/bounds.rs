//! What a command may take: made from its flags when it begins.

use super::output;
use crate::machine::{Bounds, Host, Interrupted};
use std::sync::OnceLock;
use std::time::Duration;

/// What device memory, a run or a search may take unless a flag says so, at most.
const USUAL: u64 = 8 << 30;

/// Tells how much this process has allocated.
static TAKEN: OnceLock<fn() -> u64> = OnceLock::new();

/// From now on memory is bounded by what `taken` says that this process has allocated.
pub(super) fn count_by(taken: fn() -> u64) {
    // The first one counts as well as any other.
    let _ = TAKEN.set(taken);
}

/// Bounds from now on. `search`: the cap was given for a search.
pub(super) fn bounds(time: Option<Duration>, cap: u64, search: bool) -> Bounds {
    let host = Host { taken: TAKEN.get().copied(), interrupted: Some(Interrupted::Flag(output::interrupted())) };
    Bounds::new(host, time, Some(cap), search)
}

/// The cap when no flag gives one: three quarters of the memory that is free, where the system tells (D-bounds).
pub(super) fn usual_memory() -> u64 {
    static FREE: OnceLock<Option<u64>> = OnceLock::new();
    let free = FREE.get_or_init(|| free(&std::fs::read_to_string("/proc/meminfo").ok()?));
    free.map_or(USUAL, |free| USUAL.min(free / 4 * 3))
}

/// Bytes that Linux thinks a process can get without swapping.
fn free(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The smaller of two times, each of which may be absent.
pub(super) fn sooner(a: Option<Duration>, b: Option<Duration>) -> Option<Duration> {
    a.into_iter().chain(b).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_memory_is_read() {
        assert_eq!(free("MemTotal: 9 kB\nMemAvailable:   14872 kB\n"), Some(14872 << 10));
        assert_eq!(free("MemTotal: 9 kB\n"), None);
    }

    #[test]
    fn the_sooner_time_counts() {
        let seconds = |n| Some(Duration::from_secs(n));
        assert_eq!(
            (sooner(seconds(2), seconds(1)), sooner(None, seconds(3)), sooner(None, None)),
            (seconds(1), seconds(3), None)
        );
    }
}

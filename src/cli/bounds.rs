//! What a command may take: made from its flags when it begins.

use super::output;
use crate::machine::{Bounds, Host};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What device memory, a run or a search may take unless a flag says so, at most.
const USUAL: u64 = 8 << 30;

/// Tells how much this process has allocated.
static TAKEN: OnceLock<fn() -> u64> = OnceLock::new();

/// Bytes that are allocated or freed before the system is asked again what is resident.
const STALE: u64 = 1 << 20;
/// What was allocated when the system was asked last, and what was resident then beyond that.
static ASKED: AtomicU64 = AtomicU64::new(0);
static BEYOND: AtomicU64 = AtomicU64::new(0);

/// From now on memory is bounded by what `taken` says that this process has allocated, and by what the system says that it
/// holds: what tables leave behind as they grow is not used again at once (D-bounds).
pub(super) fn count_by(taken: fn() -> u64) {
    // The first one counts as well as any other.
    let _ = TAKEN.set(taken);
}

/// Bytes that this process takes.
fn held() -> u64 {
    let allocated = TAKEN.get().map_or(0, |taken| taken());
    if allocated.abs_diff(ASKED.load(Ordering::Relaxed)) >= STALE {
        let resident = std::fs::read_to_string("/proc/self/status").ok();
        let resident = resident.and_then(|status| kilobytes(&status, "VmRSS:")).unwrap_or(0);
        ASKED.store(allocated, Ordering::Relaxed);
        BEYOND.store(resident.saturating_sub(allocated), Ordering::Relaxed);
    }
    allocated + BEYOND.load(Ordering::Relaxed)
}

/// Bounds from now on. `search`: the cap was given for a search.
pub(super) fn bounds(time: Option<Duration>, cap: u64, search: bool) -> Bounds {
    let host = Host { taken: TAKEN.get().map(|_| held as fn() -> u64), interrupted: Some(output::interrupted()) };
    Bounds::new(host, time, Some(cap), search)
}

/// The cap when no flag gives one: three quarters of the memory that is free, where the system tells (D-bounds).
pub(super) fn usual_memory() -> u64 {
    static FREE: OnceLock<Option<u64>> = OnceLock::new();
    // What Linux thinks a process can get without swapping.
    let free = FREE.get_or_init(|| kilobytes(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:"));
    free.map_or(USUAL, |free| USUAL.min(free / 4 * 3))
}

/// A line of what Linux tells of memory, in bytes.
fn kilobytes(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
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
        assert_eq!(kilobytes("MemTotal: 9 kB\nMemAvailable:   14872 kB\n", "MemAvailable:"), Some(14872 << 10));
        assert_eq!(kilobytes("MemTotal: 9 kB\n", "MemAvailable:"), None);
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

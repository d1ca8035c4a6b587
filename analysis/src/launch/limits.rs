//! Whether a target and a kernel's own bounds allow a launch.
//!
//! The numbers are those of the CUDA C++ Programming Guide, "Compute capabilities", table of technical specifications;
//! `.maxntid` and `.reqntid` are PTX ISA 11.4. `.minnctapersm` is advice to the compiler and limits no launch.

use super::KernelLaunch;
use super::problem::LaunchLimit;
use crate::machine::Capacity;
use crate::program::env::Function;

/// Limits of a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TargetLimits {
    /// Blocks of a grid in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Threads of a block.
    pub threads: u32,
    /// Shared memory that a program may declare for a block, in bytes.
    pub declared_shared: u32,
    /// Shared memory of a block, declared and dynamic, in bytes.
    pub shared: u32,
}

impl TargetLimits {
    /// The limits of `sm_<sm>`.
    #[must_use]
    pub const fn of(sm: u32) -> Self {
        let kib = match sm {
            0..20 => 16,
            20..70 => 48,
            70..75 => 96,
            75..80 => 64,
            86 | 89 | 120..130 => 99,
            80..90 => 163,
            _ => 227,
        };
        let declared = if sm < 20 { 16 } else { 48 };
        Self {
            grid: [if sm < 30 { 65_535 } else { 0x7fff_ffff }, 65_535, if sm < 20 { 1 } else { 65_535 }],
            block: if sm < 20 { [512, 512, 64] } else { [1024, 1024, 64] },
            threads: if sm < 20 { 512 } else { 1024 },
            declared_shared: declared * 1024,
            shared: kib * 1024,
        }
    }
}

/// Whether a launch is allowed for `sm_<sm>`, and a multiprocessor of the device can hold a block of it.
///
/// # Errors
/// The first limit that it breaks.
pub fn check(entry: &Function, launch: &KernelLaunch, sm: u32, capacity: &Capacity) -> Result<(), LaunchLimit> {
    let (limits, block, dynamic) = (TargetLimits::of(sm), launch.block, launch.shared);
    for (what, dims, most) in [("grid", launch.grid, limits.grid), ("block", block, limits.block)] {
        if dims.contains(&0) {
            return Err(LaunchLimit::Zero { what, dims });
        }
        for ((axis, given), limit) in ['x', 'y', 'z'].into_iter().zip(dims).zip(most) {
            if given > limit {
                return Err(LaunchLimit::Dimension { what, axis, given, limit, sm });
            }
        }
    }
    let threads = volume(block);
    if threads > u64::from(limits.threads) {
        return Err(LaunchLimit::Threads { given: threads, limit: limits.threads, sm });
    }
    let declared = entry.shared_bytes;
    let most = if dynamic == 0 { limits.declared_shared.max(limits.shared.min(48 * 1024)) } else { limits.shared };
    if declared.saturating_add(dynamic) > most {
        return Err(LaunchLimit::Shared { declared, dynamic, limit: most, sm });
    }
    if let Some(bound) = entry.bounds.required_threads.filter(|bound| *bound != block) {
        return Err(LaunchLimit::RequiredThreads { given: block, bound });
    }
    if let Some(bound) = entry.bounds.max_threads.filter(|bound| threads > volume(*bound)) {
        return Err(LaunchLimit::MaxThreads { given: block, bound });
    }
    let shared = u64::from(declared) + u64::from(dynamic);
    let held = [("threads", threads, capacity.threads), ("bytes of shared memory", shared, capacity.shared)];
    match held.into_iter().find(|(_, given, limit)| *given > u64::from(*limit)) {
        Some((what, given, limit)) => Err(LaunchLimit::Processor { what, given, limit }),
        None => Ok(()),
    }
}

fn volume(dims: [u32; 3]) -> u64 {
    dims.iter().fold(1, |n, d| n.saturating_mul(u64::from(*d)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_differ() {
        assert_eq!(TargetLimits::of(52).shared, 48 * 1024);
        assert_eq!(TargetLimits::of(80).shared, 163 * 1024);
        assert_eq!(TargetLimits::of(86).shared, 99 * 1024);
        assert_eq!(TargetLimits::of(90).shared, 227 * 1024);
        assert_eq!(TargetLimits::of(13).threads, 512);
        assert_eq!(TargetLimits::of(50).grid, [0x7fff_ffff, 65_535, 65_535]);
    }
}

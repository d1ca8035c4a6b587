//! The constants of a device that its memory depends on (report, figure 3.2), and the presets.
//!
//! The report's figure describes the GTX 480; what it leaves abstract (associativity, how much a miss fetches, which
//! orders are kept) is a field here, with the decision's name. Presets on this engine are never named as if they were the
//! real caches of newer hardware.

use super::cache::Geometry;
use super::program::Fill;
use serde::{Deserialize, Serialize};

/// The shape of a cache.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheShape {
    /// Sets.
    pub sets: u32,
    /// Lines of a set.
    pub ways: u32,
}

/// Whether an acquire of scope wider than the block discards the multiprocessor's global L1 lines (D-strong).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AcquireDiscards {
    /// Never: other multiprocessors' stale lines stay (report, 2.3.2).
    Never,
    /// In programs for sm_70 and newer, whose memory model asks for it.
    Sm70,
    /// Always.
    Always,
}

/// What a device's memory is like.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceModel {
    /// A name for messages.
    pub name: String,
    /// Streaming multiprocessors (NumProcessors).
    pub processors: u32,
    /// Threads of a warp, 1 to 32 (WarpSize).
    pub warp_size: u32,
    /// Blocks that a multiprocessor holds at once (MaxResidentBlocks).
    pub resident_blocks: u32,
    /// Threads that a multiprocessor holds at once (MaxResidentThreads).
    pub resident_threads: u32,
    /// Grids that run at once (NumConKernels).
    pub concurrent_grids: u32,
    /// Bytes of shared memory of a multiprocessor (SharedMemSize).
    pub shared_bytes: u32,
    /// Banks of shared memory (SharedMemBanks), at most 64.
    pub banks: u32,
    /// Bytes of a line of either cache (MaxMemOpSize): a power of two, 32 to 128.
    pub line_bytes: u32,
    /// The L1 cache of each multiprocessor (Level1CacheSize).
    pub l1: CacheShape,
    /// The L2 cache (Level2CacheSize).
    pub l2: CacheShape,
    /// How much a miss fetches.
    pub fill: Fill,
    /// Whether operations of one thread on overlapping bytes keep program order (D-prio).
    pub same_thread_order: bool,
    /// Whether volatile operations of one thread on shared memory keep program order (D-volatile-shared).
    pub volatile_shared_order: bool,
    /// Whether an acquire discards L1 lines.
    pub acquire_discards: AcquireDiscards,
    /// Whether micro steps that only their own warp can notice are made at once (see `super::engine`).
    pub eager_local: bool,
    /// The preset of memory programs: `fermi`, `report`, `sm80`, `write-through` or `invalidate`.
    pub programs: String,
}

impl DeviceModel {
    /// Names of the presets.
    pub const PRESETS: [&'static str; 6] =
        ["fermi", "report", "fermi-like-sm80", "tiny", "write-through", "invalidate"];

    /// The GTX 480 of figure 3.2, with 48 KiB of shared memory and 16 KiB of L1 cache.
    #[must_use]
    pub fn fermi() -> Self {
        Self {
            name: "fermi".to_owned(),
            processors: 15,
            warp_size: 32,
            resident_blocks: 8,
            resident_threads: 1536,
            concurrent_grids: 16,
            shared_bytes: 48 << 10,
            banks: 32,
            line_bytes: 128,
            l1: CacheShape { sets: 32, ways: 4 },
            l2: CacheShape { sets: 384, ways: 16 },
            fill: Fill::Line,
            same_thread_order: true,
            volatile_shared_order: true,
            acquire_discards: AcquireDiscards::Sm70,
            eager_local: false,
            programs: "fermi".to_owned(),
        }
    }

    /// A preset by its name.
    #[must_use]
    pub fn preset(name: &str) -> Option<Self> {
        let fermi = Self { name: name.to_owned(), ..Self::fermi() };
        Some(match name {
            "fermi" => fermi,
            // The literal listings, and no order that the report does not promise.
            "report" => Self {
                programs: "report".to_owned(),
                same_thread_order: false,
                acquire_discards: AcquireDiscards::Never,
                ..fermi
            },
            // Sizes of an A100 with 100 KiB of its 192 KiB of L1 given to shared memory; the protocol is Fermi's.
            "fermi-like-sm80" => Self {
                processors: 108,
                resident_blocks: 32,
                resident_threads: 2048,
                concurrent_grids: 128,
                shared_bytes: 100 << 10,
                l1: CacheShape { sets: 184, ways: 4 },
                l2: CacheShape { sets: 20480, ways: 16 },
                acquire_discards: AcquireDiscards::Always,
                programs: "sm80".to_owned(),
                ..fermi
            },
            // Protocols of the sizes of `fermi`, for comparison: no device is known to be like this.
            "write-through" | "invalidate" => Self { programs: name.to_owned(), ..fermi },
            "tiny" => Self {
                processors: 2,
                warp_size: 2,
                resident_blocks: 2,
                resident_threads: 8,
                concurrent_grids: 2,
                shared_bytes: 1 << 10,
                banks: 4,
                line_bytes: 32,
                l1: CacheShape { sets: 2, ways: 2 },
                l2: CacheShape { sets: 2, ways: 2 },
                eager_local: true,
                ..fermi
            },
            _ => return None,
        })
    }

    /// The shape of one of its caches.
    #[must_use]
    pub const fn geometry(&self, cache: CacheShape) -> Geometry {
        Geometry { sets: cache.sets, ways: cache.ways, line: self.line_bytes }
    }

    /// The first thing about the description that is impossible: the field, and what it must be.
    #[must_use]
    pub fn fault(&self) -> Option<(&'static str, &'static str)> {
        let lines = |shape: CacheShape| u64::from(shape.sets) * u64::from(shape.ways);
        let possible = |shape| (1..=1 << 22).contains(&lines(shape));
        let cache = "at least one set of at least one line, and at most 4194304 lines in all";
        let rules = [
            ((1..=1 << 16).contains(&self.processors), "processors", "from 1 to 65536"),
            ((1..=32).contains(&self.warp_size), "warp_size", "from 1 to 32"),
            (self.resident_blocks > 0, "resident_blocks", "at least 1"),
            (self.resident_threads >= self.warp_size, "resident_threads", "at least one warp"),
            (self.concurrent_grids > 0, "concurrent_grids", "at least 1"),
            ((1..=64).contains(&self.banks), "banks", "from 1 to 64"),
            (matches!(self.line_bytes, 32 | 64 | 128), "line_bytes", "32, 64 or 128"),
            (possible(self.l1), "l1", cache),
            (possible(self.l2), "l2", cache),
        ];
        rules.into_iter().find(|(holds, ..)| !holds).map(|(_, field, what)| (field, what))
    }
}

impl Default for DeviceModel {
    fn default() -> Self {
        Self::fermi()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_possible_and_fermi_has_the_sizes_of_figure_3_2() {
        for name in DeviceModel::PRESETS {
            let model = DeviceModel::preset(name).unwrap();
            assert_eq!((model.name.as_str(), model.fault()), (name, None));
        }
        let fermi = DeviceModel::fermi();
        assert_eq!(fermi.l1.sets * fermi.l1.ways * fermi.line_bytes, 16 << 10);
        assert_eq!(fermi.l2.sets * fermi.l2.ways * fermi.line_bytes, 768 << 10);
        assert!(DeviceModel::preset("gtx").is_none());
        let odd = DeviceModel { line_bytes: 48, ..DeviceModel::fermi() };
        assert_eq!(odd.fault().map(|f| f.0), Some("line_bytes"));
    }
}

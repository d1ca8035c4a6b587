//! Streaming multiprocessors: which of them have room for another block (report, 5.7.1 `issueBlocks`).
//!
//! Only contexts know how full they are, since one context is active at a time and its grids share them.

use crate::machine::config::Capacity;
use crate::machine::grid::loaded::Loaded;

/// The multiprocessors of a device, as one context's grids fill them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Processors {
    capacity: Capacity,
    used: Vec<Capacity>,
}

impl Processors {
    /// `count` empty multiprocessors.
    #[must_use]
    pub fn new(count: u32, capacity: Capacity) -> Self {
        let empty = Capacity { blocks: 0, threads: 0, shared: 0 };
        Self { capacity, used: vec![empty; count.max(1) as usize] }
    }

    /// Whether a multiprocessor has room for a block. An empty one takes any block: what is too large for the device is
    /// refused before it is launched.
    fn fits(&self, used: Capacity, of: &Loaded) -> bool {
        used.blocks == 0
            || used.blocks < self.capacity.blocks
                && used.threads.saturating_add(of.threads()) <= self.capacity.threads
                && used.shared.saturating_add(of.shared_bytes) <= self.capacity.shared
    }

    /// The first multiprocessor that has room for a block.
    #[inline]
    #[must_use]
    pub fn first(&self, of: &Loaded) -> Option<u32> {
        let k = self.used.iter().position(|u| self.fits(*u, of))?;
        u32::try_from(k).ok()
    }

    /// All that have, as a set.
    #[must_use]
    pub fn all(&self, of: &Loaded) -> Vec<u64> {
        let mut set = vec![0; self.used.len().div_ceil(64)];
        for (k, _) in self.used.iter().enumerate().filter(|(_, u)| self.fits(**u, of)) {
            set[k / 64] |= 1 << (k % 64);
        }
        set
    }

    /// All are empty.
    pub fn clear(&mut self) {
        self.used.fill(Capacity { blocks: 0, threads: 0, shared: 0 });
    }

    /// A block takes its place.
    pub fn take(&mut self, sm: u32, of: &Loaded) {
        let Some(used) = self.used.get_mut(sm as usize) else { return };
        used.blocks += 1;
        used.threads = used.threads.saturating_add(of.threads());
        used.shared = used.shared.saturating_add(of.shared_bytes);
    }

    /// A block leaves.
    pub fn give(&mut self, sm: u32, of: &Loaded) {
        let Some(used) = self.used.get_mut(sm as usize) else { return };
        used.blocks = used.blocks.saturating_sub(1);
        used.threads = used.threads.saturating_sub(of.threads());
        used.shared = used.shared.saturating_sub(of.shared_bytes);
    }
}

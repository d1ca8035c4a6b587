//! What an instruction of a warp knows of all others, as one small value that cells are compared with.

use super::clock::Thread;
use crate::base::LaneMask;

/// How an instruction of a warp sees the others: what all its lanes know.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    /// The warp.
    pub warp: u32,
    /// The block's first warp, and the next block's.
    pub block: (u32, u32),
    /// The launch's first warp: what is below has happened.
    pub launch: u32,
    /// The epoch of the block up to which accesses have happened before whatever any thread with access to the location
    /// can still do.
    pub expired: u32,
    /// Epochs up to which the block's, and the warp's, accesses have happened.
    pub known: (u32, u32),
    /// The present epoch.
    pub epoch: u32,
    /// Warps in a block.
    pub warps: u32,
}

impl View {
    /// Whether an access of another warp, or of any lanes of this one, is known to have happened.
    #[inline(always)]
    pub const fn passed(&self, warp: u32, epoch: u32) -> bool {
        warp < self.launch
            || self.block.0 <= warp && warp < self.block.1 && epoch <= self.known.0
            || warp == self.warp && epoch <= self.known.1
    }

    /// Whether nobody can race with an access any more.
    #[inline(always)]
    pub const fn expired(&self, warp: u32, epoch: u32) -> bool {
        warp < self.launch || self.block.0 <= warp && warp < self.block.1 && epoch <= self.expired
    }

    /// Whether an access of one lane is known to have happened, when `lanes` act: a single lane comes after itself.
    #[inline(always)]
    pub const fn follows(&self, warp: u32, epoch: u32, lane: LaneMask, lanes: LaneMask) -> bool {
        self.passed(warp, epoch) || warp == self.warp && lane == lanes && lane.is_power_of_two()
    }

    /// The thread in a lane of a warp of this launch.
    pub const fn thread(&self, warp: u32, lane: u32) -> Thread {
        let block = self.launch + warp.saturating_sub(self.launch) / self.warps * self.warps;
        Thread { warp, lane, block }
    }
}

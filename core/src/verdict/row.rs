//! Accesses of words that lie in rows, as native code tells them: an address and a distance in place of 32 addresses.

use super::AccessKind;
use crate::base::{LANES, LaneMask, Pc};

/// An access of one word a lane, of 32 bits, whose lanes lie at equal distances in each half of the warp.
///
/// It says as much as an [`Access`](super::Access) does of where it goes, and nothing of what is read or written: who needs to know
/// that has to be told the other way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Row {
    /// Address of the word of the first lane of each half, or where it would be, in the generic address space.
    pub first: [u64; 2],
    /// The instruction's address.
    pub at: u32,
    /// The lanes that access memory.
    pub lanes: LaneMask,
    /// Bytes from one lane to the next: none, or those of a word.
    pub step: u32,
    /// 1: it stores.
    pub stores: u32,
}

/// Lanes of a half.
const HALF: usize = LANES / 2;

impl Row {
    /// Bytes of a word.
    pub const WORD: u32 = 4;

    /// The instruction.
    #[must_use]
    pub const fn pc(&self) -> Pc {
        Pc(self.at)
    }

    /// What its lanes do.
    #[must_use]
    pub const fn kind(&self) -> AccessKind {
        if self.stores == 0 { AccessKind::Read } else { AccessKind::Write }
    }

    /// The lanes of a half that access memory, as a mask of sixteen.
    #[must_use]
    pub const fn half(&self, half: usize) -> LaneMask {
        self.lanes >> (half * HALF) & 0xffff
    }

    /// The address of a lane.
    #[must_use]
    #[inline(always)]
    pub fn address(&self, lane: usize) -> u64 {
        let behind = u64::from(self.step) * (lane % HALF) as u64;
        self.first[lane / HALF % 2].wrapping_add(behind)
    }
}

//! What a copy accesses, and how (D-copy-caches).

use crate::memory::Issuer;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Where a copy accesses memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Place {
    /// Device memory by way of the L1 cache (`.ca`).
    Near,
    /// Device memory as all multiprocessors see it, past the L1 caches (`.cg`, and the async proxy of bulk copies).
    Far,
    /// The block's shared memory.
    Shared,
}

/// How a copy accesses memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deed {
    /// It reads.
    Reads,
    /// It writes.
    Writes,
    /// It combines what is there with something, atomically: reductions, and what tells barriers.
    Updates,
}

/// Bytes that a lane's copy accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Side {
    /// Whose copy it is.
    pub at: Issuer,
    /// The lane.
    pub lane: u8,
    /// Where.
    pub place: Place,
    /// The address, in shared memory the offset.
    pub address: u64,
    /// How many bytes.
    pub bytes: u32,
    /// How.
    pub does: Deed,
}

impl Side {
    /// The addresses of its bytes.
    #[must_use]
    pub const fn range(&self) -> Range<u64> {
        self.address..self.address.saturating_add(self.bytes as u64)
    }

    /// Whether it is in shared memory.
    #[must_use]
    pub const fn is_shared(&self) -> bool {
        matches!(self.place, Place::Shared)
    }
}

//! What copies ask of the memory that they land in, and tell it: the one seam between copies and engines (D-copy-caches).
//!
//! Bodies are those of memory without caches that completes an instruction before the next one begins: copies read and write device
//! memory as it is, and nothing keeps them from it. Shared memory is with the blocks, whatever the engine.

use crate::memory::{Cx, Issuer, Memory};
use crate::verdict::{AccessId, Sink, Stop, Who};
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

/// Memory that copies can be in flight beside.
pub trait Landing: Memory {
    /// Whether the lanes of an instruction land one by one, as they access this memory.
    fn lands_apart(&self) -> bool;

    /// Whether it may keep copies from landing: by [`Landing::comes_after`] or [`Landing::is_in_the_way`].
    fn may_keep(&self) -> bool {
        false
    }

    /// The name of the warp that an operation is of, and its place among the warp's; only where [`Landing::comes_after`] names any.
    fn name_of(&self, _operation: u32) -> Option<(Who, u32)> {
        None
    }

    /// Behind how many of its warp's oldest operations in flight, of `most`, a copy has to come: behind the last one of its own thread that
    /// comes before it.
    fn comes_after(&self, _: &Side, _most: u32) -> u32 {
        0
    }

    /// Whether something keeps a copy from an access at the moment.
    fn is_in_the_way(&self, _: &Side) -> bool {
        false
    }

    /// A copy reads device memory. Tells whether there is such.
    ///
    /// # Errors
    /// An observer stopped the run, or a replayed schedule does not fit.
    fn copy_reads<S: Sink>(&mut self, from: &Side, into: &mut [u8], _: &mut Cx<'_, S>) -> Result<bool, Stop> {
        let found = self.arena().bytes_at(from.address, from.bytes.into());
        found.into_iter().for_each(|found| into.copy_from_slice(found));
        Ok(found.is_some())
    }

    /// A copy writes device memory. Tells whether there is such.
    ///
    /// # Errors
    /// An observer stopped the run.
    fn copy_writes<S: Sink>(&mut self, to: &Side, from: &[u8], _: &mut Cx<'_, S>) -> Result<bool, Stop> {
        let found = self.arena_mut().bytes_at_mut(to.address, to.bytes.into());
        Ok(found.map(|found| found.copy_from_slice(from)).is_some())
    }

    /// A copy has written shared memory, where an observer may ask later who did; by an access that has no name.
    fn copy_wrote(&mut self, _: &Side) {}

    /// A copy has told a barrier, which held `_word` before; `_by` is what an observer calls the access.
    ///
    /// # Errors
    /// An observer stopped the run.
    fn barrier_told<S: Sink>(&mut self, _: &Side, _by: AccessId, _word: u64, _: &mut Cx<'_, S>) -> Result<(), Stop> {
        Ok(())
    }
}

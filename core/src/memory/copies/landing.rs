//! What copies ask of the memory that they land in, and tell it: the one seam between copies and engines (D-copy-caches).
//!
//! Bodies are those of memory without caches that completes an instruction before the next one begins: copies read and write device
//! memory as it is, and nothing keeps them from it. Shared memory is with the blocks, whatever the engine.

use super::side::Side;
use crate::memory::{Cx, Memory};
use crate::verdict::{AccessId, Sink, Stop, Who};

/// Memory that copies can be in flight beside.
pub trait Landing: Memory {
    /// Whether the lanes of an instruction land one by one, as they access this memory.
    fn lands_apart(&self) -> bool {
        true
    }

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

//! Asynchronous copies behind the mutex mechanism (D-copy-caches): each is somebody besides the warps, with one instruction. It begins when its
//! warp has no pending stores ([`Memory::blocked`](crate::memory::Memory::blocked)), since what comes before it in the program is
//! before it for everybody. Like a load under no pending store it reads without a mutex; like a store it writes a line when nobody
//! has its mutex, and is over at once, so that it keeps none.

use super::Mutexed;
use crate::base::mutant::{Mutant, on};
use crate::memory::Cx;
use crate::memory::Memory;
use crate::memory::copies::{Deed, Landing, Side};
use crate::memory::flat::Arena;
use crate::memory::lockstep::Slots;
use crate::verdict::{AccessId, Sink, Stop};

impl Landing for Mutexed {
    fn may_keep(&self) -> bool {
        true
    }

    fn is_in_the_way(&self, side: &Side) -> bool {
        if side.is_shared() || side.does == Deed::Reads || on(Mutant::CopyNeedsNoMutex) {
            return false;
        }
        let lines = side.address / self.line..=(side.range().end - 1) / self.line;
        lines.into_iter().any(|line| self.pool.slots().is_taken(self.hash.entry(line)))
    }

    fn copy_writes<S: Sink>(&mut self, to: &Side, from: &[u8], _: &mut Cx<'_, S>) -> Result<bool, Stop> {
        let found = Arena::bytes_at_mut(self.arena_mut(), to.address, to.bytes.into());
        let there = found.map(|found| found.copy_from_slice(from)).is_some();
        if S::ON {
            self.writers.overwritten(to);
        }
        Ok(there)
    }

    fn copy_wrote(&mut self, side: &Side) {
        self.writers.overwritten(side);
    }

    fn barrier_told<S: Sink>(&mut self, side: &Side, by: AccessId, word: u64, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
        self.writers.barrier_told(side, by, word, cx)
    }
}

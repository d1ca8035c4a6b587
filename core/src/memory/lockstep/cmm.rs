//! The manager of a CPU thread's mutexes (6.2, 6.3): a vector of statuses with counts of requests, and the fifo of requests (MRF).
//!
//! Requests enter the fifo in program order: that of a store which is not followed by anything older that is pending, and under it
//! those of all that want to commit. When the store at its head retires, requests leave up to the next store that has not, and a mutex
//! is given back when the last request for it has left.

use super::statuses::{Entry, FewStatuses, Status, Statuses};
use crate::base::mutant::{Mutant, on};
use std::collections::{BTreeMap, VecDeque};

/// Requests for each mutex.
pub trait Counts {
    /// How many there are for a mutex.
    fn get(&self, entry: Entry) -> u16;
    /// Changes it.
    fn set(&mut self, entry: Entry, count: u16);
}

/// A request in the fifo.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MrfEntry {
    /// For which mutex.
    pub entry: Entry,
    /// By a store, which has to retire before the request leaves.
    pub store: bool,
}

/// The fifo of requests.
pub trait MutexFifo {
    /// A request enters.
    fn push(&mut self, request: MrfEntry);
    /// The request that is the oldest.
    fn front(&self) -> Option<MrfEntry>;
    /// It leaves.
    fn pop(&mut self);
}

/// The manager of one thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Cmm<V, C, F> {
    vector: V,
    counts: C,
    fifo: F,
}

impl Cmm<FewStatuses, FewCounts, ShortFifo> {
    /// All of it in two words; states are compared by them.
    #[must_use]
    pub const fn bits(&self) -> [u64; 2] {
        [self.vector.bits() as u64 | (self.counts.0 as u64) << 32, self.fifo.0]
    }
}

impl<V: Statuses, C: Counts, F: MutexFifo> Cmm<V, C, F> {
    /// The vector.
    pub const fn vector(&self) -> &V {
        &self.vector
    }

    /// Whether a mutex is held.
    pub fn holds(&self, entry: Entry) -> bool {
        self.vector.get(entry) == Status::Acquired
    }

    /// Whether no access is left that wants a mutex.
    pub fn wants_nothing(&self, entry: Entry) -> bool {
        self.counts.get(entry) == 0
    }

    /// An access wants a mutex; whether a request has to be sent to the pool. Rule: lsc.cpu.request
    pub fn want(&mut self, entry: Entry, store: bool) -> bool {
        self.fifo.push(MrfEntry { entry, store });
        if !on(Mutant::LscRequestUncounted) {
            self.counts.set(entry, self.counts.get(entry) + 1);
        }
        let asks = self.vector.get(entry) == Status::Invalid;
        if asks {
            self.vector.set(entry, Status::Requested);
        }
        asks
    }

    /// The pool grants a mutex; whether it is given back at once, since all that wanted it is through (D-lsc-late).
    /// Rule: lsc.cpu.acquire
    #[must_use]
    pub fn acquired(&mut self, entry: Entry) -> bool {
        let late = self.counts.get(entry) == 0 && !on(Mutant::LscLateKept);
        self.vector.set(entry, if late { Status::Invalid } else { Status::Acquired });
        late
    }

    /// The same as the paper has it: the mutex is kept although nobody wants it.
    pub fn acquired_for_nobody(&mut self, entry: Entry) {
        self.vector.set(entry, Status::Acquired);
    }

    /// The oldest store has retired: its request leaves the fifo, and those behind it up to the next store. `told` hears of each mutex
    /// that is given back. Rule: lsc.cpu.release
    pub fn store_retired(&mut self, mut told: impl FnMut(Entry)) {
        let mut leaves = self.fifo.front();
        while let Some(request) = leaves {
            self.fifo.pop();
            let entry = request.entry;
            let count = self.counts.get(entry).saturating_sub(1);
            self.counts.set(entry, count);
            if count == 0 && self.vector.get(entry) == Status::Acquired {
                self.vector.set(entry, Status::Invalid);
                told(entry);
            }
            leaves = self.fifo.front().filter(|r| !r.store && !on(Mutant::LscLoadsStay));
        }
    }
}

/// Up to eight counts, each below sixteen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FewCounts(u32);

impl Counts for FewCounts {
    fn get(&self, entry: Entry) -> u16 {
        (self.0 >> (entry.0 % 8 * 4) & 0xf) as u16
    }

    fn set(&mut self, entry: Entry, count: u16) {
        let shift = entry.0 % 8 * 4;
        self.0 = self.0 & !(0xf << shift) | u32::from(count & 0xf) << shift;
    }
}

/// Up to ten requests for up to sixteen mutexes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ShortFifo(u64);

impl ShortFifo {
    /// Requests at most.
    pub const LENGTH: u32 = u64::BITS / Self::BITS;
    /// Bits of a request: that it is one, whether a store's, and its mutex.
    const BITS: u32 = 6;
}

impl MutexFifo for ShortFifo {
    fn push(&mut self, request: MrfEntry) {
        let length = (u64::BITS - self.0.leading_zeros()).div_ceil(Self::BITS);
        let row = 0x20 | u64::from(request.store) << 4 | u64::from(request.entry.0 & 0xf);
        self.0 |= row.checked_shl(length * Self::BITS).unwrap_or(0);
    }

    fn front(&self) -> Option<MrfEntry> {
        let row = self.0 & 0x3f;
        (row != 0).then_some(MrfEntry { entry: Entry((row & 0xf) as u32), store: row & 0x10 != 0 })
    }

    fn pop(&mut self) {
        self.0 >>= Self::BITS;
    }
}

/// Any number of counts.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ManyCounts(BTreeMap<Entry, u16>);

impl Counts for ManyCounts {
    fn get(&self, entry: Entry) -> u16 {
        self.0.get(&entry).copied().unwrap_or(0)
    }

    fn set(&mut self, entry: Entry, count: u16) {
        if count == 0 {
            self.0.remove(&entry);
        } else {
            self.0.insert(entry, count);
        }
    }
}

impl MutexFifo for VecDeque<MrfEntry> {
    fn push(&mut self, request: MrfEntry) {
        self.push_back(request);
    }

    fn front(&self) -> Option<MrfEntry> {
        Self::front(self).copied()
    }

    fn pop(&mut self) {
        self.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::super::statuses::ManyStatuses;
    use super::*;

    fn gives_back_in_order<V: Statuses, C: Counts, F: MutexFifo>(mut cmm: Cmm<V, C, F>) {
        let (a, b, c) = (Entry(0), Entry(1), Entry(2));
        assert!(cmm.want(a, true));
        assert!(!cmm.acquired(a));
        assert!(cmm.want(b, false));
        assert!(!cmm.acquired(b));
        assert!(!cmm.want(a, false) && cmm.holds(a));
        assert!(cmm.want(c, true));
        let mut released = Vec::new();
        cmm.store_retired(|e| released.push(e.0));
        assert_eq!(released, [1, 0]);
        // The store at the head has not got its mutex yet, and nobody will want it when it comes.
        cmm.store_retired(|e| released.push(e.0));
        assert_eq!(released, [1, 0]);
        assert!(cmm.acquired(c) && !cmm.holds(c));
    }

    #[test]
    fn a_mutex_is_given_back_with_its_last_request() {
        gives_back_in_order(Cmm::<FewStatuses, FewCounts, ShortFifo>::default());
        gives_back_in_order(Cmm::<ManyStatuses, ManyCounts, VecDeque<MrfEntry>>::default());
    }
}

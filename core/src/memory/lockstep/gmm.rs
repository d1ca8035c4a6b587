//! The manager of a wavefront's mutexes (6.4): a vector of statuses, and how many mutexes and stores are pending.
//!
//! A wavefront's instruction asks for the mutexes of its accesses when it is serviced; the next one is serviced when all of them have
//! been acquired ([`Gmm::may_service`]). All are given back together when no store is pending any more.

use super::statuses::{Entry, FewStatuses, Status, Statuses};
use crate::base::mutant::{Mutant, on};

/// What it takes to have a mutex.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Wanted {
    /// It is held: a hit in the vector.
    Held,
    /// It was asked for, by this or another access.
    Waits,
    /// A request has to be sent to the pool.
    Asks,
}

/// The manager of one wavefront.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Gmm<V> {
    vector: V,
    /// Mutexes that were asked for and have not been acquired.
    pending_mutex: u16,
    /// Stores that were issued and have not retired.
    pending_store: u16,
}

impl Gmm<FewStatuses> {
    /// All of it in a word; states are compared by it.
    #[must_use]
    pub const fn bits(&self) -> u64 {
        self.vector.bits() as u64 | (self.pending_mutex as u64) << 32 | (self.pending_store as u64) << 48
    }
}

impl<V: Statuses> Gmm<V> {
    /// The vector.
    pub const fn vector(&self) -> &V {
        &self.vector
    }

    /// Mutexes that were asked for and have not been acquired.
    pub const fn pending_mutex(&self) -> u16 {
        self.pending_mutex
    }

    /// Stores that were issued and have not retired.
    pub const fn pending_store(&self) -> u16 {
        self.pending_store
    }

    /// Whether a mutex is held.
    pub fn holds(&self, entry: Entry) -> bool {
        self.vector.get(entry) == Status::Acquired
    }

    /// Whether the next instruction may be serviced: no older one waits for a mutex, so that mutexes are asked for in program
    /// order (section 7). Rule: lsc.gpu.service
    pub fn may_service(&self) -> bool {
        self.pending_mutex == 0 || on(Mutant::LscOutOfOrder)
    }

    /// An access wants a mutex for the first time: it is counted, unless it is held or was asked for. Rule: lsc.gpu.request
    pub fn want(&mut self, entry: Entry) -> Wanted {
        if on(Mutant::LscUnasked) {
            return Wanted::Waits;
        }
        match self.vector.get(entry) {
            Status::Acquired => Wanted::Held,
            Status::Requested => Wanted::Waits,
            Status::Invalid => {
                self.vector.set(entry, Status::Requested);
                self.pending_mutex += 1;
                Wanted::Asks
            }
        }
    }

    /// The pool refuses: the mutex stays pending, and has to be asked for again. Rule: lsc.gpu.refused
    pub fn refused(&mut self, entry: Entry) {
        let status = if on(Mutant::LscRefusalGrants) { Status::Acquired } else { Status::Invalid };
        self.vector.set(entry, status);
    }

    /// A mutex that was refused is asked for again.
    pub fn ask_again(&mut self, entry: Entry) {
        self.vector.set(entry, Status::Requested);
    }

    /// Nobody needs a mutex any more for which the wavefront waits: it has no pending store (D-lsc-cancel).
    pub fn give_up(&mut self) {
        self.pending_mutex = self.pending_mutex.saturating_sub(1);
    }

    /// The pool grants a mutex that an access waits for. Rule: lsc.gpu.acquire
    pub fn acquired(&mut self, entry: Entry) {
        self.vector.set(entry, Status::Acquired);
        let less = if on(Mutant::LscAcquiredPending) { 0 } else { 1 };
        self.pending_mutex = self.pending_mutex.saturating_sub(less);
    }

    /// A store goes to the L1 cache.
    pub fn store_issued(&mut self) {
        self.pending_store += 1;
    }

    /// A store has reached memory. Where none is left, all mutexes are given back; `told` hears of each. Rule: lsc.gpu.release
    pub fn store_retired(&mut self, told: impl FnMut(Entry)) {
        self.pending_store = self.pending_store.saturating_sub(1);
        if self.pending_store == 0 || on(Mutant::LscReleaseEarly) {
            self.release_all(told);
        }
    }

    /// All mutexes are given back, one that came when no store was pending any more, too; `told` hears of each.
    pub fn release_all(&mut self, told: impl FnMut(Entry)) {
        self.vector.release_acquired(told);
    }
}

#[cfg(test)]
mod tests {
    use super::super::statuses::ManyStatuses;
    use super::*;

    fn keeps_until_all_stores_retired<V: Statuses + Default>() {
        let mut gmm = Gmm::<V>::default();
        let (a, b) = (Entry(0), Entry(1));
        assert_eq!([gmm.want(a), gmm.want(a), gmm.want(b)], [Wanted::Asks, Wanted::Waits, Wanted::Asks]);
        gmm.acquired(a);
        gmm.store_issued();
        gmm.refused(b);
        assert!(!gmm.may_service());
        gmm.ask_again(b);
        gmm.acquired(b);
        gmm.store_issued();
        assert!(gmm.may_service() && gmm.want(b) == Wanted::Held);
        let mut released = Vec::new();
        gmm.store_retired(|e| released.push(e));
        assert_eq!(released, []);
        gmm.store_retired(|e| released.push(e));
        assert_eq!(released, [a, b]);
        assert_eq!(gmm.want(a), Wanted::Asks);
    }

    #[test]
    fn mutexes_are_given_back_when_no_store_is_pending() {
        keeps_until_all_stores_retired::<FewStatuses>();
        keeps_until_all_stores_retired::<ManyStatuses>();
    }
}

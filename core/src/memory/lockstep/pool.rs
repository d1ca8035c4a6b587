//! The pool of mutexes (6.5): a bit for each, and a buffer of the CPU cores that wait for it. It does not know who has one.

use super::statuses::Entry;
use crate::base::mutant::{Mutant, on};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Who asks for a mutex.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Asker {
    /// A wavefront: what it cannot have it is refused.
    Wavefront,
    /// A CPU core by number: its request waits.
    Core(u8),
}

/// What becomes of a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Answer {
    /// The mutex is the asker's.
    Granted,
    /// A negative acknowledgement: somebody has it, ask again.
    Refused,
    /// The request waits in the mutex's buffer.
    Queued,
}

/// What a pool keeps by mutex.
pub trait Slots {
    /// The status bit.
    fn is_taken(&self, entry: Entry) -> bool;
    /// Changes it.
    fn set_taken(&mut self, entry: Entry, taken: bool);
    /// A core's request comes behind those that wait.
    fn enqueue(&mut self, entry: Entry, core: u8);
    /// The request that has waited longest leaves.
    fn dequeue(&mut self, entry: Entry) -> Option<u8>;
}

/// The pool.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Pool<S> {
    slots: S,
}

impl<S: Slots> Pool<S> {
    /// What it keeps.
    pub const fn slots(&self) -> &S {
        &self.slots
    }

    /// A request arrives.
    pub fn ask(&mut self, entry: Entry, who: Asker) -> Answer {
        if !self.slots.is_taken(entry) {
            // Rule: lsc.pool.grant
            self.slots.set_taken(entry, !on(Mutant::LscGrantUnmarked));
            return Answer::Granted;
        }
        match who {
            // Rule: lsc.pool.nack
            Asker::Wavefront if on(Mutant::LscGrantsTaken) => Answer::Granted,
            Asker::Wavefront => Answer::Refused,
            // Rule: lsc.pool.queue
            Asker::Core(core) => {
                if !on(Mutant::LscQueueDrops) {
                    self.slots.enqueue(entry, core);
                }
                Answer::Queued
            }
        }
    }

    /// A mutex is given back: it goes to the core that has waited longest, which is the answer, or becomes available.
    /// Rule: lsc.pool.release
    pub fn release(&mut self, entry: Entry) -> Option<u8> {
        let next = self.slots.dequeue(entry);
        self.slots.set_taken(entry, next.is_some() && !on(Mutant::LscHandedOverFree));
        next
    }
}

/// Up to eight mutexes for up to four CPU cores.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FewSlots {
    taken: u8,
    /// Four bits a place, the first to leave lowest: 0 for nobody, or one more than a core.
    queues: [u16; 8],
}

impl FewSlots {
    /// Mutexes at most.
    pub const ENTRIES: u32 = 8;
    /// Cores at most: each has one request for a mutex at most (6.5).
    pub const CORES: usize = 4;

    /// The status bits, and what waits at each mutex; states are compared by them.
    #[must_use]
    pub const fn bits(&self) -> (u8, [u16; 8]) {
        (self.taken, self.queues)
    }

    const fn queue(&mut self, entry: Entry) -> &mut u16 {
        &mut self.queues[(entry.0 % Self::ENTRIES) as usize]
    }
}

impl Slots for FewSlots {
    fn is_taken(&self, entry: Entry) -> bool {
        self.taken >> (entry.0 % Self::ENTRIES) & 1 != 0
    }

    fn set_taken(&mut self, entry: Entry, taken: bool) {
        let bit = 1 << (entry.0 % Self::ENTRIES);
        self.taken = if taken { self.taken | bit } else { self.taken & !bit };
    }

    fn enqueue(&mut self, entry: Entry, core: u8) {
        let queue = self.queue(entry);
        let length = u16::BITS.div_ceil(4) - queue.leading_zeros() / 4;
        *queue |= u16::from(core + 1).checked_shl(length * 4).unwrap_or(0);
    }

    fn dequeue(&mut self, entry: Entry) -> Option<u8> {
        let queue = self.queue(entry);
        let first = (*queue & 0xf) as u8;
        *queue >>= 4;
        first.checked_sub(1)
    }
}

/// Any number of mutexes and cores.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ManySlots {
    taken: BTreeSet<Entry>,
    queues: BTreeMap<Entry, VecDeque<u8>>,
}

impl ManySlots {
    /// The mutexes that somebody has, in the order of their numbers.
    pub fn taken(&self) -> impl Iterator<Item = Entry> + '_ {
        self.taken.iter().copied()
    }
}

impl Slots for ManySlots {
    fn is_taken(&self, entry: Entry) -> bool {
        self.taken.contains(&entry)
    }

    fn set_taken(&mut self, entry: Entry, taken: bool) {
        if taken {
            self.taken.insert(entry);
        } else {
            self.taken.remove(&entry);
        }
    }

    fn enqueue(&mut self, entry: Entry, core: u8) {
        self.queues.entry(entry).or_default().push_back(core);
    }

    fn dequeue(&mut self, entry: Entry) -> Option<u8> {
        let queue = self.queues.get_mut(&entry)?;
        let first = queue.pop_front();
        if queue.is_empty() {
            self.queues.remove(&entry);
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hands_over<S: Slots>(mut pool: Pool<S>) {
        let at = Entry(1);
        assert_eq!(pool.ask(at, Asker::Wavefront), Answer::Granted);
        assert_eq!(pool.ask(at, Asker::Wavefront), Answer::Refused);
        assert_eq!(pool.ask(at, Asker::Core(2)), Answer::Queued);
        assert_eq!(pool.ask(at, Asker::Core(0)), Answer::Queued);
        assert_eq!(pool.ask(Entry(0), Asker::Core(1)), Answer::Granted);
        assert_eq!(pool.release(at), Some(2));
        assert_eq!(pool.ask(at, Asker::Wavefront), Answer::Refused);
        assert_eq!(pool.release(at), Some(0));
        assert_eq!(pool.release(at), None);
        assert_eq!(pool.ask(at, Asker::Wavefront), Answer::Granted);
    }

    #[test]
    fn a_released_mutex_goes_to_the_core_that_waited_longest() {
        hands_over(Pool::<FewSlots>::default());
        hands_over(Pool::<ManySlots>::default());
    }
}

//! Whether a candidate comes about, step by step, without anything being there because of itself (D-thin-air).
//!
//! An event is there once the reads are known that its address depends on, or whether it is done at all, and the barriers before it have
//! let its thread pass; a read is known once its source is and what that writes. Values that are left depend on themselves alone. They may
//! be one of the program's constants, but nothing may be there only because of them.

use crate::axiom::frame::{Frame, INITIAL, Id};
use crate::axiom::program::Kind;
use crate::axiom::relation::{Relation, Set};

/// A candidate whose reads have sources.
pub(super) struct Grounds<'a> {
    pub(super) frame: &'a Frame,
    pub(super) rf: &'a Relation,
    pub(super) constants: &'a [u64],
}

impl Grounds<'_> {
    /// Whether everything comes about.
    pub(super) fn hold(&self) -> bool {
        let mut known = Set::new(self.frame.len());
        let unknown = |known: &Set| (0..self.frame.len()).find(|n| self.is_read(*n) && !known.contains(*n));
        let there = self.spread(&mut known);
        if there.contains(&false) {
            return false;
        }
        // One after the other takes a constant, and with it those that depend on it are known.
        while let Some(read) = unknown(&known) {
            if !self.frame.event(read).value.is_some_and(|value| self.constants.contains(&value)) {
                return false;
            }
            known.insert(read);
            self.spread(&mut known);
        }
        true
    }

    fn is_read(&self, event: usize) -> bool {
        self.frame.event(event).kind == Kind::Read
    }

    /// Adds the reads that can be known; answers the events that are there.
    fn spread(&self, known: &mut Set) -> Vec<bool> {
        let sources = self.rf.inverse();
        let mut there = vec![false; self.frame.len()];
        loop {
            let mut grown = false;
            for n in 0..self.frame.len() {
                if !there[n] && self.comes(n, known, &there) {
                    (there[n], grown) = (true, true);
                }
                let certain = |write: usize| there[write] && self.writes(write, known);
                if there[n] && self.is_read(n) && !known.contains(n) && sources.from(n).any(certain) {
                    known.insert(n);
                    grown = true;
                }
            }
            if !grown {
                return there;
            }
        }
    }

    /// Whether reads of an event's thread are all known.
    fn all_known(&self, thread: u32, positions: &[u32], known: &Set) -> bool {
        positions.iter().all(|position| {
            let number = self.frame.number(Id { thread, position: *position });
            number.is_some_and(|number| known.contains(number))
        })
    }

    /// Whether it is known what a write writes.
    fn writes(&self, write: usize, known: &Set) -> bool {
        let (id, event) = &self.frame.events[write];
        match id.thread {
            INITIAL => event.value.is_some(),
            thread => self.all_known(thread, &event.data, known),
        }
    }

    fn comes(&self, n: usize, known: &Set, there: &[bool]) -> bool {
        let (id, event) = &self.frame.events[n];
        if id.thread == INITIAL {
            return true;
        }
        let earlier = (0..n).filter(|b| self.frame.events[*b].0.thread == id.thread);
        let passes = |barrier: usize| {
            let waits = self.frame.event(barrier).arrival.filter(|a| a.waits).and_then(|a| a.quorum);
            let come = |there: &[bool]| {
                (0..self.frame.len()).filter(|a| there[*a] && self.frame.meetings.contains(*a, barrier)).count()
            };
            waits.is_none_or(|quorum| come(there) as u64 >= quorum)
        };
        self.all_known(id.thread, &event.addr, known)
            && self.all_known(id.thread, &event.ctrl, known)
            && earlier.into_iter().all(passes)
    }
}

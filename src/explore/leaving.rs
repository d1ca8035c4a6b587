//! A walk that ends where a run leaves a cycle.
//!
//! In the states of a cycle the locations that are read, and not stored to, hold the values that are read there. A run on from one of them with
//! lanes set free has left the cycle when a location holds another: how it goes on does not matter to what the cycle is
//! called, and is often far more than what comes before, since all who were held up compete then.

use super::circle::{Circle, Location, Reads};
use crate::base::{LaneMask, Pc};
use crate::choice::Oracle;
use crate::machine::Tell;
use crate::machine::walk::{Agent, Free, Look, Mark, Reached, Walk};
use crate::program::env::ProgEnv;
use crate::program::instr::Slot;
use crate::program::ops::Class;
use crate::verdict::{AllocKind, Holds, Place, Stop, Unissued, Who};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A walk that ends where it leaves a cycle.
pub(super) struct Leaving<'a> {
    walk: &'a mut dyn Walk,
    /// Locations with their sizes in bytes and the values that they hold in the cycle.
    holds: Vec<(Location, u32, &'a BTreeSet<u64>)>,
}

impl<'a> Leaving<'a> {
    /// A walk on from a state of a cycle.
    pub fn new(walk: &'a mut dyn Walk, circle: &'a Circle) -> Self {
        // What is stored in the cycle may hold what nobody reads there.
        let stored = |at, reads: &Reads| circle.stores.iter().any(|(other, bytes)| reads.touched(at, *other, *bytes));
        let known = circle.reads.iter().filter(|(at, reads)| !reads.values.is_empty() && !stored(**at, reads));
        Self { walk, holds: known.map(|(at, reads)| (*at, reads.bytes, &reads.values)).collect() }
    }

    fn left(&self) -> bool {
        let other = |value: Option<u64>, values: &BTreeSet<u64>| value.is_some_and(|v| !values.contains(&v));
        self.holds.iter().any(|(at, bytes, values)| other(self.walk.number(at.0, at.1, *bytes), values))
    }
}

impl Walk for Leaving<'_> {
    fn agents(&mut self, out: &mut Vec<Agent>) {
        if self.left() {
            out.clear();
        } else {
            self.walk.agents(out);
        }
    }

    fn advance(&mut self, agent: Agent, oracle: &mut dyn Oracle, tell: Option<Tell<'_>>) -> Result<u32, Stop> {
        self.walk.advance(agent, oracle, tell)
    }

    fn begun(&self) -> &[(Who, u32)] {
        self.walk.begun()
    }

    fn reached(&self) -> Reached {
        if self.left() { Reached::End } else { self.walk.reached() }
    }

    fn key(&self) -> u128 {
        self.walk.key()
    }

    fn whole(&self) -> Vec<u8> {
        self.walk.whole()
    }

    fn mark(&self) -> Mark {
        self.walk.mark()
    }

    fn back(&mut self, to: Mark) {
        self.walk.back(to);
    }

    fn bytes(&self, address: u64, len: u64) -> Option<&[u8]> {
        self.walk.bytes(address, len)
    }

    fn memory_hash(&self) -> u64 {
        self.walk.memory_hash()
    }

    fn register(&self, block: u64, thread: u32, class: Class, slot: Slot) -> Option<u64> {
        self.walk.register(block, thread, class, slot)
    }

    fn program(&self) -> Arc<ProgEnv> {
        self.walk.program()
    }

    fn place(&self, agent: Agent) -> Option<Place> {
        self.walk.place(agent)
    }

    fn lanes(&self) -> Vec<(u64, u32, crate::machine::control::Lane)> {
        self.walk.lanes()
    }

    fn freed(&self, free: Free) -> Result<Box<dyn Walk>, Stop> {
        self.walk.freed(free)
    }
}

impl Look for Leaving<'_> {
    fn number(&self, block: Option<u64>, address: u64, bytes: u32) -> Option<u64> {
        self.walk.number(block, address, bytes)
    }

    fn inside(&self, block: Option<u64>, address: u64) -> Option<(String, AllocKind, u64)> {
        self.walk.inside(block, address)
    }

    fn barrier(&self, block: u64, id: u32) -> Option<Holds> {
        self.walk.barrier(block, id)
    }

    fn unissued(&self) -> Option<Unissued> {
        self.walk.unissued()
    }

    fn launch(&self) -> u32 {
        self.walk.launch()
    }

    fn place_of(&self, who: Who, lanes: LaneMask, pc: Pc) -> Place {
        self.walk.place_of(who, lanes, pc)
    }
}

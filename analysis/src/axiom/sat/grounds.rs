//! Whether an execution comes about step by step, without anything being there because of itself (D-thin-air), and why not if it does not.
//!
//! An event is there once those reads are known that its place depends on, or whether it is done at all, and once the barriers before it let
//! its thread pass. A read is known once it is there, and its source with all that this writes. Whatever is left is unfounded: each of it
//! needs some other of it. So a clause excludes not just this execution, but all that need these for each other in the same way, as
//! solvers of answer sets learn (Gebser, Kaufmann, Schaub, "Conflict-Driven Answer Set Solving", 2012).

use super::choices::World;
use super::cnf::{Bit, Formula};
use super::unfold::Unfolding;
use crate::axiom::relation::{Relation, Set};
use crate::base::mutant::{Mutant, on};
use crate::base::sorted::SortedMap;
use indexmap::IndexSet;

/// What has to come about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Fact {
    /// An event is there.
    There(usize),
    /// What a read returns is known.
    Known(usize),
    /// A barrier has let its thread pass.
    Passed(usize),
}

/// An execution that satisfies the formula.
pub(super) struct Grounds<'a> {
    unfolding: &'a Unfolding,
    world: &'a World,
    /// Of each barrier, who may arrive there, done or not.
    arrivals: Relation,
    /// The events that are done.
    done: Vec<usize>,
    /// What each read reads from, and by which bit.
    sources: SortedMap<usize, (usize, Bit)>,
    /// What each read returns, and by which bit.
    returns: SortedMap<usize, (u64, Bit)>,
    there: Set,
    known: Set,
}

impl<'a> Grounds<'a> {
    /// What the formula was satisfied by last.
    pub(super) fn of(unfolding: &'a Unfolding, world: &'a World, formula: &Formula<'_>) -> Self {
        let is_done = |event: &usize| formula.holds(world.done[*event]);
        let done: Vec<usize> = (0..unfolding.events.len()).filter(is_done).collect();
        let sources = world.rf.iter().filter(|(.., bit)| formula.holds(*bit));
        let sources = sources.map(|(write, read, bit)| (read, (write, bit))).collect();
        let returned = |(read, values): (&usize, &Vec<(u64, Bit)>)| {
            let found = values.iter().find(|(_, bit)| formula.holds(*bit))?;
            is_done(read).then_some((*read, *found))
        };
        let returns = world.returns.iter().filter_map(returned).collect();
        let none = || Set::new(unfolding.events.len());
        let arrivals = world.frame.meetings.inverse();
        Self { unfolding, world, arrivals, done, sources, returns, there: none(), known: none() }
    }

    /// Bits that make it come out of thin air together; none if it does not.
    pub(super) fn missing(&mut self, constants: &[u64]) -> Option<Vec<Bit>> {
        if on(Mutant::GroundsUnasked) {
            return None;
        }
        self.spread();
        let events = self.done.iter().map(|event| Fact::There(*event));
        let barriers = self.done.iter().map(|event| Fact::Passed(*event));
        if let Some(fact) = events.chain(barriers).find(|fact| !self.holds(*fact)) {
            return Some(self.reasons(fact));
        }
        self.guesses(constants)
    }

    /// The values that are left depend on themselves alone: one after the other is one of the constants, and with it those that depend on it
    /// are known.
    fn guesses(&mut self, constants: &[u64]) -> Option<Vec<Bit>> {
        let open: Vec<usize> = self.returns.keys().copied().filter(|read| !self.known.contains(*read)).collect();
        for (k, read) in open.iter().enumerate() {
            let (value, bit) = self.returns[read];
            if self.known.contains(*read) {
                continue;
            }
            if !constants.contains(&value) {
                let from = |reads: &[usize]| reads.iter().map(|read| self.sources[read].1).collect::<Vec<Bit>>();
                return Some(match k {
                    // Of those that depend on each other it is the first one whatever else is known.
                    0 => from(&open).into_iter().chain([bit]).collect(),
                    _ => self
                        .sources
                        .values()
                        .map(|(_, bit)| *bit)
                        .chain(self.returns.values().map(|(_, bit)| *bit))
                        .collect(),
                });
            }
            self.known.insert(*read);
            self.spread();
        }
        None
    }

    /// Adds all that comes about.
    fn spread(&mut self) {
        loop {
            let mut grown = false;
            for event in self.done.clone() {
                if !self.there.contains(event) && self.lacking(Fact::There(event)).is_none() {
                    self.there.insert(event);
                    grown = true;
                }
                let open = self.returns.contains_key(&event) && !self.known.contains(event);
                if open && self.lacking(Fact::Known(event)).is_none() {
                    self.known.insert(event);
                    grown = true;
                }
            }
            if !grown {
                return;
            }
        }
    }

    /// What a fact needs that is not so; the first thing, if it needs several.
    fn lacking(&self, fact: Fact) -> Option<Fact> {
        let lacks = |fact: Fact| Some(fact).filter(|fact| !self.holds(*fact));
        match fact {
            Fact::There(event) => {
                let part = &self.unfolding.branches[self.unfolding.owners[event]?];
                let (id, this) = &self.unfolding.events[event];
                let mut reads = this.addr.iter().chain(&this.ctrl).map(|read| Fact::Known(part.events[*read as usize]));
                let earlier = &part.events[..id.position as usize];
                reads.find_map(lacks).or_else(|| earlier.iter().find_map(|barrier| lacks(Fact::Passed(*barrier))))
            }
            Fact::Known(read) => {
                let (write, _) = self.sources[&read];
                let data = || {
                    let part = &self.unfolding.branches[self.unfolding.owners[write]?];
                    let mut reads = self.unfolding.events[write].1.data.iter();
                    reads.find_map(|read| lacks(Fact::Known(part.events[*read as usize])))
                };
                lacks(Fact::There(read)).or_else(|| lacks(Fact::There(write))).or_else(data)
            }
            Fact::Passed(barrier) => self.arrivals.from(barrier).find_map(|arrival| lacks(Fact::There(arrival))),
        }
    }

    fn holds(&self, fact: Fact) -> bool {
        match fact {
            Fact::There(event) => self.there.contains(event),
            Fact::Known(read) => self.known.contains(read),
            Fact::Passed(barrier) => {
                let waits = self.unfolding.events[barrier].1.arrival.filter(|arrival| arrival.waits);
                let come =
                    || self.arrivals.from(barrier).filter(|arrival| self.there.contains(*arrival)).count() as u64;
                waits.and_then(|arrival| arrival.quorum).is_none_or(|quorum| come() >= quorum)
            }
        }
    }

    /// Why a fact of what is done never comes about: bits that say so by themselves.
    fn reasons(&self, fact: Fact) -> Vec<Bit> {
        let (mut facts, mut bits) = (IndexSet::from([fact]), Vec::new());
        let (Fact::There(event) | Fact::Known(event) | Fact::Passed(event)) = fact;
        bits.push(self.world.done[event]);
        let mut next = 0;
        while let Some(fact) = facts.get_index(next).copied() {
            next += 1;
            match fact {
                Fact::There(_) => facts.extend(self.lacking(fact)),
                Fact::Known(read) => {
                    let lacking = self.lacking(fact);
                    // Only where a read is there it matters what it reads from.
                    if lacking != Some(Fact::There(read)) {
                        bits.push(self.sources[&read].1);
                    }
                    facts.extend(lacking);
                }
                // One by one they might come.
                Fact::Passed(barrier) => {
                    for arrival in self.arrivals.from(barrier).filter(|arrival| !self.there.contains(*arrival)) {
                        match self.done.contains(&arrival) {
                            true => drop(facts.insert(Fact::There(arrival))),
                            false => bits.push(!self.world.done[arrival]),
                        }
                    }
                }
            }
        }
        bits
    }
}

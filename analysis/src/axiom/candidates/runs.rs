//! What each thread does, for all values that its reads may find.
//!
//! A read may find what its place holds at the start, or what some run of some thread writes there. So runs are collected, with the
//! values that they write, until there are no new ones. Values that arithmetic makes ever larger are cut off: no value goes through
//! more writes than there are in an execution.

use crate::axiom::program::Kind;
use crate::axiom::program::{End, Known, Place, Program, Trace};
use crate::axiom::question::{Limits, Question, Searched};
use crate::base::sorted::{SortedMap, SortedSet};

/// What a place may hold, by location and offset.
type Values = SortedMap<(u32, u32), SortedSet<u64>>;

const fn key(place: Place) -> (u32, u32) {
    (place.location, place.offset)
}

/// The runs of all threads.
pub(super) struct Runs<'a> {
    program: &'a dyn Program,
    limits: Limits,
    values: Values,
    /// Values of what depends on itself alone; none where nothing can.
    pub(super) constants: Vec<u64>,
    /// The runs of each thread that come to its end.
    pub(super) all: Vec<Vec<Trace>>,
    pub(super) done: Searched,
}

impl<'a> Runs<'a> {
    pub(super) fn new(program: &'a dyn Program, limits: Limits) -> Self {
        let mut values = Values::new();
        for (place, value) in program.initial() {
            values.entry(key(place)).or_default().insert(value);
        }
        let (all, done) = (vec![Vec::new(); program.threads()], Searched::default());
        Self { program, limits, values, constants: Vec::new(), all, done }
    }

    /// Collects them; those that are not wanted are left out in the end.
    pub(super) fn collect(&mut self, question: &Question<'_>) {
        let mut round = 0;
        loop {
            let ends = (self.done.faults, self.done.fault);
            self.round(question);
            let writes = |trace: &Trace| trace.events.iter().filter(|e| e.kind == Kind::Write).count();
            let most: usize = self.all.iter().map(|runs| runs.iter().map(writes).max().unwrap_or(0)).sum();
            round += 1;
            let depends = self.all.iter().flatten().flat_map(|trace| &trace.events).any(|event| !event.data.is_empty());
            let mut grown = self.grow();
            if depends && self.constants.is_empty() {
                self.constants = self.program.constants();
                grown = true;
            }
            if !grown || round > most + 1 || self.done.limited {
                break;
            }
            // Each round meets them anew.
            (self.done.faults, self.done.fault) = ends;
        }
        for thread in 0..self.all.len() {
            let others: Vec<usize> =
                self.all.iter().map(|runs| runs.first().map_or(0, |t| t.registers.len())).collect();
            self.all[thread].retain(|trace| {
                let unknown: Vec<Vec<Option<u64>>> = others.iter().map(|count| vec![None; *count]).collect();
                let mut registers: Vec<&[Option<u64>]> = unknown.iter().map(|list| &list[..]).collect();
                registers[thread] = &trace.registers;
                (question.wanted)(&registers, &vec![None; question.finals.len()]) != Some(false)
            });
        }
    }

    /// All runs, with the values that are known now.
    fn round(&mut self, question: &Question<'_>) {
        for thread in 0..self.all.len() {
            self.all[thread].clear();
            self.complete(thread, &mut Vec::new(), question);
        }
    }

    /// Adds what runs write; whether any of it is new.
    fn grow(&mut self) -> bool {
        let mut grown = false;
        for event in self.all.iter().flatten().flat_map(|trace| &trace.events) {
            if let (Kind::Write, Some(place), Some(value)) = (event.kind, event.place, event.value) {
                grown |= self.values.entry(key(place)).or_default().insert(value);
            }
        }
        grown
    }

    /// The runs of a thread whose first reads return what is given.
    fn complete(&mut self, thread: usize, reads: &mut Vec<Option<u64>>, question: &Question<'_>) {
        self.done.choices += 1;
        if self.done.limited || question.ends_at(self.done.choices, self.all.len(), self.limits) {
            self.done.limited = true;
            return;
        }
        let trace = self.program.run(thread, Known { reads, assumed: &[], bound: self.limits.bound });
        match &trace.end {
            End::Done | End::Stalled(_) => {}
            End::Bound => self.done.bounded = true,
            End::Spin | End::Contradiction => {}
            End::Fault(kind) => {
                self.done.faults += 1;
                self.done.fault.get_or_insert(*kind);
            }
            End::Unsupported(what) => drop(self.done.unsupported.get_or_insert_with(|| what.clone())),
        }
        if !matches!(trace.end, End::Done | End::Stalled(_)) {
            return;
        }
        // Those before it are known, and with them its address.
        let next = trace.events.iter().position(|event| event.kind == Kind::Read && event.value.is_none());
        let Some(next) = next else {
            if trace.end == End::Done {
                self.all[thread].push(trace);
            }
            return;
        };
        let Some(place) = trace.events[next].place else { return };
        let initial = self.program.initial_value(place);
        let known = self.values.get(&key(place)).into_iter().flatten().copied();
        let values: SortedSet<u64> = known.chain(initial).chain(self.constants.iter().copied()).collect();
        for value in values {
            reads.resize(next, None);
            reads.push(Some(value));
            self.complete(thread, reads, question);
        }
        reads.truncate(next);
    }
}

//! The mechanism as [`breadth`] goes through it, and what comes of that.

use super::fair::circles;
use super::grain::Grain;
use super::reduce::Reduced;
use crate::explore::breadth::{self, Kept, Limits, Machine, nobody_polls};
use crate::explore::space::{Progress, Table};
use crate::memory::lockstep::{Fired, Outcome, Program, Readings, Step, System};
use crate::verdict::LimitKind;
use std::collections::BTreeMap;

/// How to search.
pub struct Options<'a> {
    /// How the paper is read.
    pub readings: Readings,
    /// What is left out.
    pub grain: Grain,
    /// Whether fair runs are looked for that never end, which takes a list of all steps. Without [`Grain::Every`] there are none.
    pub fair: bool,
    /// States at most.
    pub max_states: Option<u64>,
    /// Bytes at most.
    pub max_bytes: Option<u64>,
    /// Asked now and then, with how far the search is: whether to stop.
    pub poll: &'a mut dyn FnMut(&Progress) -> Option<LimitKind>,
}

impl Options<'_> {
    /// A search for outcomes, without bounds.
    #[must_use]
    pub fn new(readings: Readings, grain: Grain) -> Self {
        Self { readings, grain, fair: false, max_states: None, max_bytes: None, poll: nobody_polls() }
    }
}

/// Something found, and the shortest way to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// The steps from the first state.
    pub path: Vec<Step>,
    /// The state that they lead to.
    pub state: System,
}

/// What a search found.
#[derive(Clone, Debug, Default)]
pub struct Space {
    /// The outcomes, with the state at which each was met first.
    pub ends: BTreeMap<Outcome, u32>,
    /// States in which nobody can go on and that are no end: how many, and the one that is reached first.
    pub stuck: (u64, Option<Found>),
    /// Parts of the graph in which a fair run stays for ever: how many, and a state of the one that is reached first. Not known where a
    /// limit was reached.
    pub endless: (u64, Option<Found>),
    /// The rules that fired.
    pub fired: Fired,
    /// States.
    pub states: u64,
    /// Steps between them.
    pub steps: u64,
    /// Why it ended early.
    pub limit: Option<LimitKind>,
}

/// States as they are: they are small.
#[derive(Default)]
struct Whole {
    table: Table,
    states: Vec<System>,
}

impl Kept for Whole {
    type State = System;

    fn number(&mut self, system: &System) -> (u32, bool) {
        let mixed = |hash: u64, word: &u64| (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = system.words().iter().fold(0_u64, mixed);
        let fresh = self.states.len() as u32;
        let states = &self.states;
        let found = self.table.find_or_insert((hash >> 32) as u32, fresh, |s| states[s as usize] == *system);
        if found == fresh {
            self.states.push(*system);
        }
        (found, found == fresh)
    }

    fn state(&self, number: u32) -> System {
        self.states[number as usize]
    }

    fn len(&self) -> usize {
        self.states.len()
    }

    fn table(&self) -> &Table {
        &self.table
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.states[..])
    }

    fn clear(&mut self) {
        self.table.clear();
        self.states.clear();
    }
}

/// The mechanism in a grain, with a program.
struct Run<'a> {
    reduced: Reduced<'a>,
    fired: Fired,
    candidates: Vec<Step>,
    room: Vec<Step>,
}

impl Machine for Run<'_> {
    type State = System;
    type Kept = Whole;
    type Step = Step;
    type Label = Step;
    type End = Outcome;

    fn start(&mut self) -> System {
        let mut system = System::default();
        self.reduced.settle(&mut system, &mut self.room, &mut self.fired, &mut |_| ());
        system
    }

    fn each_step(&mut self, system: &System, reached: &mut impl FnMut(Step, &System)) {
        self.candidates.clear();
        system.candidates(self.reduced.program, &mut self.candidates);
        for step in &self.candidates {
            let mut after = *system;
            if self.reduced.step(&mut after, *step, &mut self.fired) {
                self.reduced.settle(&mut after, &mut self.room, &mut self.fired, &mut |_| ());
                reached(*step, &after);
            }
        }
    }

    fn label(step: Step) -> Step {
        step
    }

    fn end(&self, system: &System) -> Option<Outcome> {
        system.is_complete(self.reduced.program).then(|| system.outcome())
    }
}

/// A search, and the room that it takes: one that is over can be used for the next.
#[derive(Default)]
pub struct Search(breadth::Search<Whole, Step, Step, Outcome>);

impl Search {
    /// Goes through all states of a program.
    pub fn explore(&mut self, program: &Program, options: &mut Options<'_>) -> Space {
        let reduced = Reduced { program, readings: options.readings, grain: options.grain };
        let mut run = Run { reduced, fired: program.fired(), candidates: Vec::new(), room: Vec::new() };
        let mut limits = Limits { states: options.max_states, bytes: options.max_bytes, poll: &mut *options.poll };
        let limit = self.0.explore(&mut run, options.fair, &mut limits);
        let progress = self.0.progress();
        let Progress { states, transitions: steps, .. } = progress;
        let mut space = Space { fired: run.fired, states, steps, limit, ..Space::default() };
        let found = |state: &u32| self.found(&run.reduced, *state);
        space.stuck = (self.0.dead.len() as u64, self.0.dead.first().map(found));
        if options.fair && limit.is_none() {
            let kept = |state: u32| self.0.kept.state(state);
            match circles(&run.reduced, self.0.kept.len(), &kept, &self.0.edges, &mut || (options.poll)(&progress)) {
                Ok(circles) => space.endless = (circles.len() as u64, circles.first().map(found)),
                Err(up) => space.limit = Some(up),
            }
        }
        space.ends = self.0.ends.iter().map(|(end, state)| (*end, *state)).collect();
        space
    }

    fn found(&self, reduced: &Reduced<'_>, state: u32) -> Found {
        Found {
            path: self.path(reduced.program, reduced.readings, reduced.grain, state),
            state: self.0.kept.state(state),
        }
    }

    /// The shortest way to a state of the last search, which was of the same program in the same grain. What was taken at once is told, too.
    #[must_use]
    pub fn path(&self, program: &Program, readings: Readings, grain: Grain, state: u32) -> Vec<Step> {
        let reduced = Reduced { program, readings, grain };
        let (mut system, mut path, mut room, mut fired) = (System::default(), Vec::new(), Vec::new(), Fired::default());
        reduced.settle(&mut system, &mut room, &mut fired, &mut |step| path.push(step));
        for step in self.0.way(state) {
            path.push(step);
            reduced.step(&mut system, step, &mut fired);
            reduced.settle(&mut system, &mut room, &mut fired, &mut |step| path.push(step));
        }
        path
    }
}

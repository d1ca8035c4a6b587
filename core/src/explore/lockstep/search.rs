//! The loop.

use super::fair::circles;
use super::grain::Grain;
use super::reduce::Reduced;
use crate::explore::space::Table;
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
    /// Asked now and then, with the number of states: whether to stop.
    pub poll: &'a mut dyn FnMut(u64) -> Option<LimitKind>,
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
    /// Parts of the graph in which a fair run stays for ever: how many, and a state of the one that is reached first.
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

/// States between two questions whether to go on.
const PATIENCE: u64 = 1 << 12;

/// A search, and the room that it takes: one that is over can be used for the next.
#[derive(Default)]
pub struct Search {
    table: Table,
    states: Vec<System>,
    /// How each state was reached first: from which, and by which of its candidates.
    from: Vec<(u32, Step)>,
    edges: Vec<(u32, u32, Step)>,
    candidates: Vec<Step>,
    room: Vec<Step>,
}

impl Search {
    /// Goes through all states of a program.
    pub fn explore(&mut self, program: &Program, options: &mut Options<'_>) -> Space {
        let reduced = Reduced { program, readings: options.readings, grain: options.grain };
        self.table.clear();
        self.states.clear();
        self.from.clear();
        self.edges.clear();
        let mut space = Space { fired: program.fired(), ..Space::default() };
        self.state(&reduced, System::default(), None, &mut space.fired);
        let mut next = 0;
        while next < self.states.len() {
            let states = self.states.len() as u64;
            if (next as u64) % PATIENCE == PATIENCE - 1 {
                space.limit = (options.poll)(states);
            }
            space.limit = space.limit.or(options.max_states.filter(|m| states > *m).map(LimitKind::States));
            if space.limit.is_some() {
                break;
            }
            self.expand(&reduced, next as u32, options.fair, &mut space);
            next += 1;
        }
        space.states = self.states.len() as u64;
        if options.fair && space.limit.is_none() {
            let circles = circles(&reduced, &self.states, &self.edges);
            space.endless = (circles.len() as u64, circles.first().map(|state| self.found(&reduced, *state)));
        }
        space
    }

    /// The number of a state.
    fn state(
        &mut self,
        reduced: &Reduced<'_>,
        mut system: System,
        from: Option<(u32, Step)>,
        fired: &mut Fired,
    ) -> u32 {
        reduced.settle(&mut system, &mut self.room, fired, &mut |_| ());
        let hash = system
            .words()
            .iter()
            .fold(0_u64, |hash, word| (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let fresh = self.states.len() as u32;
        let states = &self.states;
        let found = self.table.find_or_insert((hash >> 32) as u32, fresh, |s| states[s as usize] == system);
        if found == fresh {
            self.states.push(system);
            self.from.push(from.unwrap_or((u32::MAX, Step::Service(0))));
        }
        found
    }

    /// All steps from a state.
    fn expand(&mut self, reduced: &Reduced<'_>, from: u32, edges: bool, space: &mut Space) {
        let system = self.states[from as usize];
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        system.candidates(reduced.program, &mut candidates);
        let mut goes_on = false;
        for step in &candidates {
            let mut after = system;
            if !reduced.step(&mut after, *step, &mut space.fired) {
                continue;
            }
            goes_on = true;
            space.steps += 1;
            let to = self.state(reduced, after, Some((from, *step)), &mut space.fired);
            if edges {
                self.edges.push((from, to, *step));
            }
        }
        self.candidates = candidates;
        if system.is_complete(reduced.program) {
            space.ends.entry(system.outcome()).or_insert(from);
        } else if !goes_on {
            space.stuck.0 += 1;
            if space.stuck.1.is_none() {
                space.stuck.1 = Some(self.found(reduced, from));
            }
        }
    }

    fn found(&self, reduced: &Reduced<'_>, state: u32) -> Found {
        Found {
            path: self.path(reduced.program, reduced.readings, reduced.grain, state),
            state: self.states[state as usize],
        }
    }

    /// The shortest way to a state of the last search, which was of the same program in the same grain. What was taken at once is told, too.
    #[must_use]
    pub fn path(&self, program: &Program, readings: Readings, grain: Grain, state: u32) -> Vec<Step> {
        let (mut at, mut steps) = (state, Vec::new());
        while let Some((from, step)) = self.from.get(at as usize).filter(|f| f.0 != u32::MAX) {
            steps.push(*step);
            at = *from;
        }
        let reduced = Reduced { program, readings, grain };
        let (mut system, mut path, mut room, mut fired) = (System::default(), Vec::new(), Vec::new(), Fired::default());
        reduced.settle(&mut system, &mut room, &mut fired, &mut |step| path.push(step));
        for step in steps.iter().rev() {
            path.push(*step);
            reduced.step(&mut system, *step, &mut fired);
            reduced.settle(&mut system, &mut room, &mut fired, &mut |step| path.push(step));
        }
        path
    }
}

//! The machine as [`breadth`](crate::explore::breadth) goes through it, and what comes of that.

use super::grain::Grain;
use super::graph::{End, Graph};
use super::pack::Format;
use super::reduce::{Fetches, Reduced, dirty};
use super::rows::Rows;
use super::settle::leave;
use super::step::{Step, fire};
use crate::explore::breadth::{Kept, Limits, Machine, Search, nobody_polls, reaching};
use crate::explore::space::Progress;
use crate::memory::rsp::{Level, Program, System};
use crate::verdict::{LimitKind, Rule};
use indexmap::IndexMap;

/// How to search.
pub struct Options<'a> {
    /// What is left out.
    pub grain: Grain,
    /// Whether the ends of executions have graphs.
    pub ghost: bool,
    /// Whether states are looked for from which no execution is completed. It takes a list of all steps.
    pub stuck: bool,
    /// States at most.
    pub max_states: Option<u64>,
    /// Bytes at most.
    pub max_bytes: Option<u64>,
    /// Asked now and then, with how far the search is: whether to stop.
    pub poll: &'a mut dyn FnMut(&Progress) -> Option<LimitKind>,
}

impl Options<'_> {
    /// A search for the ends of executions, without graphs and without bounds.
    #[must_use]
    pub fn new(grain: Grain) -> Self {
        Self { grain, ghost: false, stuck: false, max_states: None, max_bytes: None, poll: nobody_polls() }
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
    /// Ends of complete executions, with a way to each that has fewest steps, but for those that are made at once.
    pub ends: IndexMap<End, Vec<Step>>,
    /// The states from which no execution is completed: how many there are, and of those in which no thread can go on the one that
    /// is reached first. Not known where a limit was reached.
    pub stuck: (u64, Option<Found>),
    /// The rules that fired.
    pub fired: Vec<Rule>,
    /// States.
    pub states: u64,
    /// Steps between them.
    pub steps: u64,
    /// Why it ended early.
    pub limit: Option<LimitKind>,
}

/// A step, with the fetches that are made before it.
#[derive(Clone, Copy)]
struct Made {
    fetches: Fetches,
    step: Step,
}

/// The machine in a grain, with a program.
struct Run<'a> {
    program: &'a Program,
    reduced: Reduced<'a>,
    fired: Vec<bool>,
}

impl<'a> Machine for Run<'a> {
    type State = System;
    type Kept = Rows<'a>;
    type Step = Made;
    type Label = ();
    type End = End;

    fn start(&mut self) -> System {
        let mut system = self.reduced.start();
        self.reduced.settle(&mut system, &mut |_| ());
        system
    }

    fn each_step(&mut self, system: &System, reached: &mut impl FnMut(Made, &System)) {
        let mut after = *system;
        for thread in 0..self.program.threads().len() {
            let step = Step::Thread(thread as u8);
            self.attempt(system, &mut after, step, reached);
            if self.reduced.grain == Grain::Needed
                && let Some(fetches) = self.reduced.before(system, thread)
            {
                self.after_fetches(system, Made { fetches, step }, reached);
            }
        }
        for k in 0..self.reduced.moves().len() {
            let step = self.reduced.moves()[k];
            if self.reduced.is_needed(system, step) {
                self.attempt(system, &mut after, Step::Environment(step), reached);
            }
        }
    }

    fn label(_: Made) {}

    fn end(&self, system: &System) -> Option<End> {
        let program = self.program;
        let through = (0..program.threads().len()).all(|thread| system.is_through(program, thread));
        if !through || dirty(program, system) {
            return None;
        }
        let registers = system.registers[..program.registers()].to_vec();
        let graph = if self.reduced.ghost { Graph::of(program, system) } else { Graph::default() };
        Some(End { registers, memory: self.reduced.memory(system), graph })
    }
}

impl Run<'_> {
    /// Makes a step if it can be made, also after fetches that it would make impossible. `after` is as the state is, before and after.
    fn attempt(&mut self, system: &System, after: &mut System, step: Step, reached: &mut impl FnMut(Made, &System)) {
        let Some(rule) = fire(self.program, after, step) else { return };
        self.fired[rule as usize] = true;
        let mut lost = Fetches::default();
        if self.reduced.grain == Grain::Needed {
            if self.reduced.below {
                self.reduced.merge(after);
            }
            lost = self.reduced.lost(system, step, after);
        }
        self.reduced.settle(after, &mut |_| ());
        reached(Made { fetches: Fetches::default(), step }, after);
        *after = *system;
        for fetches in lost.parts() {
            self.after_fetches(system, Made { fetches, step }, reached);
        }
    }

    /// Makes a step after fetches.
    fn after_fetches(&mut self, system: &System, made: Made, reached: &mut impl FnMut(Made, &System)) {
        let mut after = *system;
        for fetch in made.fetches.moves() {
            if let Some(rule) = after.perform(self.program, fetch) {
                self.fired[rule as usize] = true;
            }
        }
        if let Some(rule) = fire(self.program, &mut after, made.step) {
            self.fired[rule as usize] = true;
            self.reduced.settle(&mut after, &mut |_| ());
            reached(made, &after);
        }
    }

    /// Steps with what is done at once between them.
    fn whole(&self, way: &[Made]) -> Vec<Step> {
        let mut path = Vec::new();
        let mut system = self.reduced.start();
        self.reduced.settle(&mut system, &mut |step| path.push(step));
        for made in way {
            for step in made.fetches.moves().map(Step::Environment).chain([made.step]) {
                let _ = fire(self.program, &mut system, step);
                path.push(step);
            }
            self.reduced.settle(&mut system, &mut |step| path.push(step));
        }
        path
    }

    /// States from which none that is complete is reached: the rest of those from which one is.
    fn stuck(
        &self,
        search: &Search<Rows<'_>, Made, (), End>,
        up: &mut dyn FnMut() -> Option<LimitKind>,
    ) -> Result<(u64, Option<Found>), LimitKind> {
        let good = reaching(search.kept.len(), &search.edges, &search.complete, up)?;
        let stuck: Vec<u32> = (0..).zip(&good).filter(|(_, good)| !**good).map(|(state, _)| state).collect();
        // Where nobody can go on it is seen best.
        let threads = 0..self.program.threads().len();
        let blocked = |state: &&u32| {
            let system = search.kept.state(**state);
            threads.clone().all(|t| { system }.execute(self.program, t).is_none())
        };
        let first = stuck.iter().find(blocked).or(stuck.first());
        let found = |state: u32| Found { path: self.whole(&search.way(state)), state: search.kept.state(state) };
        Ok((stuck.len() as u64, first.map(|state| found(*state))))
    }
}

/// Goes through all states of a program.
pub fn explore(program: &Program, options: &mut Options<'_>) -> Space {
    let reduced = Reduced::new(program, options.grain, options.ghost);
    let format = Format { ghost: options.ghost, grain: options.grain, below: reduced.below };
    let mut run = Run { program, reduced, fired: vec![false; Rule::ALL.len()] };
    let mut search = Search::new(Rows::new(program, format));
    let mut limits = Limits { states: options.max_states, bytes: options.max_bytes, poll: &mut *options.poll };
    let mut limit = search.explore(&mut run, options.stuck, &mut limits);
    let progress = search.progress();
    let mut stuck = (0, None);
    if options.stuck && limit.is_none() {
        match run.stuck(&search, &mut || (options.poll)(&progress)) {
            Ok(found) => stuck = found,
            Err(up) => limit = Some(up),
        }
    }
    let ends = std::mem::take(&mut search.ends);
    let ends = ends.into_iter().map(|(end, state)| (end, run.whole(&search.way(state)))).collect();
    let fired = Rule::ALL.iter().copied().filter(|r| run.fired[*r as usize]).collect();
    Space { ends, stuck, fired, states: progress.states, steps: progress.transitions, limit }
}

/// The steps of a path with the state after each, and before all the first state.
///
/// In the grain `Needed` what can leave a fifo does so at once, which is told as steps, too, and an L2 cache that is as good as memory has what
/// memory has. What such a search forgets of caches stays.
#[must_use]
pub fn follow(program: &Program, grain: Grain, path: &[Step]) -> (System, Vec<(Step, System)>) {
    let reduced = Reduced::new(program, grain, false);
    let first = reduced.start();
    let (mut system, mut steps) = (first, Vec::new());
    let l1 = (0..program.group_count()).map(|g| (Level::L1, g));
    let caches: Vec<(Level, usize)> = l1.chain((0..program.device_count()).map(|d| (Level::L2, d))).collect();
    for step in path {
        let _ = fire(program, &mut system, *step);
        if reduced.below {
            reduced.merge(&mut system);
        }
        steps.push((*step, system));
        for (level, which) in caches.iter().filter(|_| grain == Grain::Needed) {
            leave(program, &mut system, *level, *which, &mut |step, state| {
                steps.push((Step::Environment(step), *state));
            });
        }
    }
    (first, steps)
}

//! The loop.

use super::grain::Grain;
use super::graph::{End, Graph};
use super::pack::Format;
use super::reduce::{Fetches, Reduced, dirty};
use super::settle::leave;
use super::step::{Step, fire};
use crate::explore::space::Table;
use crate::memory::rsp::{Level, Program, System};
use crate::verdict::{LimitKind, Rule};
use indexmap::IndexMap;
use xxhash_rust::xxh3::xxh3_64;

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
    /// Ends of complete executions, with a way to each that has fewest steps, but for those that are made at once.
    pub ends: IndexMap<End, Vec<Step>>,
    /// The states from which no execution is completed: how many there are, and of those in which no thread can go on the one that
    /// is reached first.
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

/// States between two questions whether to go on.
const PATIENCE: u64 = 1 << 12;

struct Run<'a> {
    program: &'a Program,
    reduced: Reduced<'a>,
    format: Format,
    table: Table,
    /// The rows of all states, one behind the other, and where each begins.
    rows: Vec<u8>,
    starts: Vec<usize>,
    /// How each state was reached first.
    from: Vec<(u32, u16)>,
    /// What was fetched before that step, by state, where something was.
    fetched: Vec<(u32, Fetches)>,
    /// All steps, as pairs of states, where they are asked for.
    edges: Option<Vec<(u32, u32)>>,
    complete: Vec<u32>,
    fired: Vec<bool>,
    space: Space,
}

/// Goes through all states of a program.
pub fn explore(program: &Program, options: &mut Options<'_>) -> Space {
    let reduced = Reduced::new(program, options.grain, options.ghost);
    let mut run = Run {
        program,
        format: Format { ghost: options.ghost, grain: options.grain, below: reduced.below },
        table: Table::default(),
        rows: Vec::new(),
        starts: Vec::new(),
        from: Vec::new(),
        fetched: Vec::new(),
        edges: options.stuck.then(Vec::new),
        complete: Vec::new(),
        fired: vec![false; Rule::ALL.len()],
        space: Space::default(),
        reduced,
    };
    let mut start = run.reduced.start();
    run.state(&mut start, (u32::MAX, 0, Fetches::default()));
    let mut next = 0;
    while next < run.starts.len() {
        if u64::from(next as u32) % PATIENCE == PATIENCE - 1 {
            run.space.limit = (options.poll)(run.starts.len() as u64);
        }
        let states = run.starts.len() as u64;
        run.space.limit = run.space.limit.or(options.max_states.filter(|m| states > *m).map(LimitKind::States));
        if run.space.limit.is_some() {
            break;
        }
        run.expand(next as u32);
        next += 1;
    }
    run.finish()
}

impl Run<'_> {
    /// The number of a state.
    fn state(&mut self, system: &mut System, (from, step, fetched): (u32, u16, Fetches)) -> u32 {
        self.reduced.settle(system, &mut |_| ());
        let start = self.rows.len();
        self.format.pack(self.program, system, &mut self.rows);
        let (before, row) = self.rows.split_at(start);
        let fresh = self.starts.len() as u32;
        let hash = xxh3_64(row);
        let starts = &self.starts;
        let same = |s: u32| {
            let end = starts.get(s as usize + 1).copied().unwrap_or(start);
            &before[starts[s as usize]..end] == row
        };
        let found = self.table.find_or_insert((hash >> 32) as u32 ^ hash as u32, fresh, same);
        if found == fresh {
            self.starts.push(start);
            self.from.push((from, step));
            if fetched != Fetches::default() {
                self.fetched.push((fresh, fetched));
            }
        } else {
            self.rows.truncate(start);
        }
        found
    }

    fn unpack(&self, state: u32) -> System {
        let start = self.starts[state as usize];
        let end = self.starts.get(state as usize + 1).copied().unwrap_or(self.rows.len());
        self.format.unpack(self.program, &self.rows[start..end])
    }

    /// All steps from a state.
    fn expand(&mut self, from: u32) {
        let system = self.unpack(from);
        let threads = self.program.threads().len();
        let mut through = true;
        let mut after = system;
        for thread in 0..threads {
            through &= system.is_through(self.program, thread);
            self.attempt(from, &system, &mut after, (thread as u16, Step::Thread(thread as u8)));
            if self.format.grain == Grain::Needed
                && let Some(fetch) = self.reduced.before(&system, thread)
            {
                self.after_fetches(from, &system, fetch, (thread as u16, Step::Thread(thread as u8)));
            }
        }
        for k in 0..self.reduced.moves().len() {
            let step = self.reduced.moves()[k];
            if self.reduced.is_needed(&system, step) {
                self.attempt(from, &system, &mut after, ((threads + k) as u16, Step::Environment(step)));
            }
        }
        if through && !dirty(self.program, &system) {
            self.complete.push(from);
            let end = self.end(&system);
            if !self.space.ends.contains_key(&end) {
                let path = self.path(from);
                self.space.ends.insert(end, path);
            }
        }
    }

    /// Makes a step if it can be made, also after fetches that it would make impossible. `after` is as the state is, before and after.
    fn attempt(&mut self, from: u32, system: &System, after: &mut System, (number, step): (u16, Step)) {
        let Some(rule) = fire(self.program, after, step) else { return };
        let mut lost = Fetches::default();
        if self.format.grain == Grain::Needed {
            if self.reduced.below {
                self.reduced.merge(after);
            }
            lost = self.reduced.lost(system, step, after);
        }
        self.reach((from, number, Fetches::default()), rule, after);
        *after = *system;
        for part in lost.parts() {
            self.after_fetches(from, system, part, (number, step));
        }
    }

    /// Makes a step after fetches.
    fn after_fetches(&mut self, from: u32, system: &System, fetches: Fetches, (number, step): (u16, Step)) {
        let mut after = *system;
        for fetch in fetches.moves() {
            if let Some(rule) = after.perform(self.program, fetch) {
                self.fired[rule as usize] = true;
            }
        }
        if let Some(rule) = fire(self.program, &mut after, step) {
            self.reach((from, number, fetches), rule, &mut after);
        }
    }

    fn reach(&mut self, from: (u32, u16, Fetches), rule: Rule, after: &mut System) {
        self.space.steps += 1;
        self.fired[rule as usize] = true;
        let to = self.state(after, from);
        if let Some(edges) = &mut self.edges {
            edges.push((from.0, to));
        }
    }

    fn end(&self, system: &System) -> End {
        let registers = system.registers[..self.program.registers()].to_vec();
        let graph = if self.format.ghost { Graph::of(self.program, system) } else { Graph::default() };
        End { registers, memory: self.reduced.memory(system), graph }
    }

    /// The shortest way to a state, with what is done at once.
    fn path(&self, state: u32) -> Vec<Step> {
        let threads = self.program.threads().len();
        let (mut at, mut back) = (state, Vec::new());
        while let Some((from, step)) = self.from.get(at as usize).filter(|f| f.0 != u32::MAX) {
            let number = usize::from(*step);
            let step = match number.checked_sub(threads) {
                None => Step::Thread(number as u8),
                Some(k) => Step::Environment(self.reduced.moves()[k]),
            };
            let known = self.fetched.binary_search_by_key(&at, |(state, _)| *state);
            back.push((known.map_or(Fetches::default(), |k| self.fetched[k].1), step));
            at = *from;
        }
        let mut path = Vec::new();
        let mut system = self.reduced.start();
        self.reduced.settle(&mut system, &mut |step| path.push(step));
        for (fetches, step) in back.into_iter().rev() {
            for step in fetches.moves().map(Step::Environment).chain([step]) {
                let _ = fire(self.program, &mut system, step);
                path.push(step);
            }
            self.reduced.settle(&mut system, &mut |step| path.push(step));
        }
        path
    }

    fn finish(mut self) -> Space {
        self.space.states = self.starts.len() as u64;
        self.space.fired = Rule::ALL.iter().copied().filter(|r| self.fired[*r as usize]).collect();
        if self.space.limit.is_none() {
            self.find_stuck();
        }
        self.space
    }

    /// States from which none that is complete is reached: the rest of those from which one is.
    fn find_stuck(&mut self) {
        let Some(mut edges) = self.edges.take() else { return };
        let mut good = vec![false; self.starts.len()];
        edges.sort_unstable_by_key(|(_, to)| *to);
        let mut left = std::mem::take(&mut self.complete);
        left.iter().for_each(|s| good[*s as usize] = true);
        while let Some(state) = left.pop() {
            let first = edges.partition_point(|(_, to)| *to < state);
            for (from, _) in edges[first..].iter().take_while(|(_, to)| *to == state) {
                if !std::mem::replace(&mut good[*from as usize], true) {
                    left.push(*from);
                }
            }
        }
        let stuck: Vec<u32> = (0..).zip(&good).filter(|(_, good)| !**good).map(|(state, _)| state).collect();
        // Where nobody can go on it is seen best.
        let threads = 0..self.program.threads().len();
        let blocked = |state: &&u32| {
            let system = self.unpack(**state);
            threads.clone().all(|t| { system }.execute(self.program, t).is_none())
        };
        let first = stuck.iter().find(blocked).or(stuck.first());
        let found = first.map(|state| Found { path: self.path(*state), state: self.unpack(*state) });
        self.space.stuck = (stuck.len() as u64, found);
    }
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

//! The loop.

use super::grain::Grain;
use super::graph::{End, Graph};
use super::pack::Format;
use super::reduce::{Reduced, dirty};
use crate::explore::space::Table;
use crate::memory::rsp::{Move, Program, System};
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

/// A step of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// A thread executes its next instruction.
    Thread(u8),
    /// The environment makes a transition.
    Environment(Move),
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
    /// Ends of complete executions, with the shortest way to each.
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
    /// All steps, as pairs of states, where they are asked for.
    edges: Option<Vec<(u32, u32)>>,
    complete: Vec<u32>,
    fired: Vec<bool>,
    space: Space,
}

/// Goes through all states of a program.
pub fn explore(program: &Program, options: &mut Options<'_>) -> Space {
    let reduced = Reduced::new(program, options.grain);
    let mut run = Run {
        program,
        format: Format { ghost: options.ghost, grain: options.grain },
        table: Table::default(),
        rows: Vec::new(),
        starts: Vec::new(),
        from: Vec::new(),
        edges: options.stuck.then(Vec::new),
        complete: Vec::new(),
        fired: vec![false; Rule::ALL.len()],
        space: Space::default(),
        reduced,
    };
    let mut start = run.reduced.start();
    run.state(&mut start, (u32::MAX, 0));
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
    /// The number of a state, and whether it is new.
    fn state(&mut self, system: &mut System, from: (u32, u16)) -> (u32, bool) {
        self.reduced.settle(system, &mut |_, _| ());
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
            self.from.push(from);
        } else {
            self.rows.truncate(start);
        }
        (found, found == fresh)
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
        for thread in 0..threads {
            through &= system.is_through(self.program, thread);
            let mut after = system;
            if let Some(rule) = after.execute(self.program, thread) {
                self.reach(from, thread as u16, rule, &mut after);
            }
        }
        for k in 0..self.reduced.moves().len() {
            let step = self.reduced.moves()[k];
            if !self.reduced.is_needed(&system, step) {
                continue;
            }
            let mut after = system;
            if let Some(rule) = after.perform(self.program, step) {
                self.reach(from, (threads + k) as u16, rule, &mut after);
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

    fn reach(&mut self, from: u32, step: u16, rule: Rule, after: &mut System) {
        self.space.steps += 1;
        self.fired[rule as usize] = true;
        let (to, _) = self.state(after, (from, step));
        if let Some(edges) = &mut self.edges {
            edges.push((from, to));
        }
    }

    fn end(&self, system: &System) -> End {
        let registers = system.registers[..self.program.registers()].to_vec();
        let graph = if self.format.ghost { Graph::of(self.program, system) } else { Graph::default() };
        End { registers, memory: self.reduced.memory(system), graph }
    }

    /// The shortest way to a state.
    fn path(&self, state: u32) -> Vec<Step> {
        let threads = self.program.threads().len();
        let (mut at, mut path) = (state, Vec::new());
        while let Some((from, step)) = self.from.get(at as usize).filter(|f| f.0 != u32::MAX) {
            let step = usize::from(*step);
            path.push(match step.checked_sub(threads) {
                None => Step::Thread(step as u8),
                Some(k) => Step::Environment(self.reduced.moves()[k]),
            });
            at = *from;
        }
        path.reverse();
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

/// The steps of a path with the state after each, and before all the first state. What a search does at once is told as steps, too.
#[must_use]
pub fn follow(program: &Program, grain: Grain, path: &[Step]) -> (System, Vec<(Step, System)>) {
    let reduced = Reduced::new(program, grain);
    let first = reduced.start();
    let (mut system, mut steps) = (first, Vec::new());
    for step in path {
        let _ = match step {
            Step::Thread(t) => system.execute(program, usize::from(*t)),
            Step::Environment(step) => system.perform(program, *step),
        };
        let mut after = vec![(*step, system)];
        reduced.settle(&mut system, &mut |step, state| after.push((Step::Environment(step), *state)));
        steps.extend(after);
    }
    (first, steps)
}

//! Every state of a machine for tests, once: one loop, breadth first, so that the way to what it finds is a shortest one.
//!
//! [`super::promotion`] and [`super::lockstep`] have machines that are no [`crate::machine::walk::Walk`]: a walk has a PTX program, warps
//! whose lanes have addresses in it, registers by slot, and a state that can be set free under control model `thread`; they have none of
//! them. What a machine is, how its states are kept and what of its steps is left out is said there.

use super::space::{Progress, Table};
use crate::verdict::LimitKind;
use indexmap::IndexMap;
use std::hash::Hash;

/// A machine whose states are gone through.
pub(super) trait Machine {
    /// A state.
    type State;
    /// Where its states are kept.
    type Kept: Kept<State = Self::State>;
    /// A step, with all that is needed to make it again.
    type Step: Copy;
    /// What is noted of a step where steps are listed.
    type Label: Copy;
    /// What is left of an execution that is complete.
    type End: Eq + Hash;

    /// The first state.
    fn start(&mut self) -> Self::State;

    /// Makes each step that is tried from a state, with what is done at once behind it.
    fn each_step(&mut self, state: &Self::State, reached: &mut impl FnMut(Self::Step, &Self::State));

    /// What is noted of a step.
    fn label(step: Self::Step) -> Self::Label;

    /// How an execution ends that comes to a state; nothing where it is not complete there.
    fn end(&self, state: &Self::State) -> Option<Self::End>;
}

/// States by number, in the order in which they are met.
pub(super) trait Kept {
    /// What is kept.
    type State;

    /// The number of a state, and whether it is new.
    fn number(&mut self, state: &Self::State) -> (u32, bool);

    /// The state of a number.
    fn state(&self, number: u32) -> Self::State;

    /// How many there are.
    fn len(&self) -> usize;

    /// The table that they are looked up in.
    fn table(&self) -> &Table;

    /// Bytes that they take, but for the table.
    fn bytes(&self) -> usize;

    /// Forgets them all.
    fn clear(&mut self);
}

/// How far a search goes.
pub(super) struct Limits<'a> {
    /// States at most.
    pub states: Option<u64>,
    /// Bytes at most.
    pub bytes: Option<u64>,
    /// Asked now and then: whether to stop.
    pub poll: &'a mut dyn FnMut(&Progress) -> Option<LimitKind>,
}

/// Stops nothing.
pub(super) fn nobody_polls<'a>() -> &'a mut dyn FnMut(&Progress) -> Option<LimitKind> {
    // What captures nothing takes no room: nothing is leaked.
    Box::leak(Box::new(|_: &Progress| None))
}

/// A search, and the room that it takes: one that is over can be used for the next.
pub(super) struct Search<K, S, L, E> {
    pub kept: K,
    /// How each state was reached first.
    from: Vec<(u32, S)>,
    /// All steps, in the order of the states that they are from, where they are listed.
    pub edges: Vec<(u32, u32, L)>,
    /// How complete executions end, with the state in which each is met first.
    pub ends: IndexMap<E, u32>,
    /// The states in which an execution is complete.
    pub complete: Vec<u32>,
    /// Those in which none is, and that no step leads out of.
    pub dead: Vec<u32>,
    /// Steps between states.
    pub steps: u64,
}

/// States between two questions whether to go on.
pub(super) const PATIENCE: usize = 1 << 12;

impl<K: Kept + Default, S: Copy, L: Copy, E: Eq + Hash> Default for Search<K, S, L, E> {
    fn default() -> Self {
        Self::new(K::default())
    }
}

impl<K: Kept, S: Copy, L: Copy, E: Eq + Hash> Search<K, S, L, E> {
    pub fn new(kept: K) -> Self {
        let (from, edges, complete, dead) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { kept, from, edges, ends: IndexMap::new(), complete, dead, steps: 0 }
    }

    /// Goes through all states of a machine; says why it ended early. `listed`: whether steps are.
    pub fn explore<M>(&mut self, machine: &mut M, listed: bool, limits: &mut Limits<'_>) -> Option<LimitKind>
    where
        M: Machine<State = K::State, Kept = K, Step = S, Label = L, End = E>,
    {
        self.clear();
        let first = machine.start();
        self.kept.number(&first);
        let mut next = 0;
        while next < self.kept.len() {
            if next % PATIENCE == PATIENCE - 1
                && let Some(limit) = self.up(limits)
            {
                return Some(limit);
            }
            let states = self.kept.len() as u64;
            if let Some(most) = limits.states.filter(|most| states > *most) {
                return Some(LimitKind::States(most));
            }
            self.expand(machine, next as u32, listed);
            next += 1;
        }
        None
    }

    fn clear(&mut self) {
        self.kept.clear();
        self.from.clear();
        self.edges.clear();
        self.ends.clear();
        self.complete.clear();
        self.dead.clear();
        self.steps = 0;
    }

    /// How far the search is.
    pub fn progress(&self) -> Progress {
        // Lists grow in place: what they have room for and do not use is not there yet.
        let lists = size_of_val(&self.from[..]) + size_of_val(&self.edges[..]);
        let bytes = (self.kept.bytes() + self.kept.table().bytes() + lists) as u64;
        Progress { states: self.kept.len() as u64, transitions: self.steps, bytes, ..Progress::default() }
    }

    fn up(&self, limits: &mut Limits<'_>) -> Option<LimitKind> {
        let progress = self.progress();
        // A table that grows is there twice for a moment; so many states may come of the next ones.
        let next = self.kept.table().grows(PATIENCE * 16) as u64;
        let memory = limits.bytes.filter(|cap| progress.bytes + next > *cap);
        memory.map(|cap| LimitKind::Search { cap, taken: progress.bytes }).or_else(|| (limits.poll)(&progress))
    }

    /// All steps from a state.
    fn expand<M>(&mut self, machine: &mut M, from: u32, listed: bool)
    where
        M: Machine<State = K::State, Kept = K, Step = S, Label = L, End = E>,
    {
        let state = self.kept.state(from);
        let before = self.steps;
        machine.each_step(&state, &mut |step, after| {
            self.steps += 1;
            let (to, fresh) = self.kept.number(after);
            if fresh {
                self.from.push((from, step));
            }
            if listed {
                self.edges.push((from, to, M::label(step)));
            }
        });
        match machine.end(&state) {
            Some(end) => {
                self.complete.push(from);
                self.ends.entry(end).or_insert(from);
            }
            None if self.steps == before => self.dead.push(from),
            None => {}
        }
    }

    /// The steps of a shortest way to a state.
    pub fn way(&self, state: u32) -> Vec<S> {
        let (mut at, mut way) = (state, Vec::new());
        // The first state was not reached from any.
        while let Some((from, step)) = (at as usize).checked_sub(1).and_then(|k| self.from.get(k)) {
            way.push(*step);
            at = *from;
        }
        way.reverse();
        way
    }
}

/// Which states one of some others is reached from, those included; or why that is not found out. `edges` are pairs of states.
pub(super) fn reaching<L: Copy>(
    states: usize,
    edges: &[(u32, u32, L)],
    goals: &[u32],
    up: &mut dyn FnMut() -> Option<LimitKind>,
) -> Result<Vec<bool>, LimitKind> {
    // Where the list of those before a state begins; then they are put there, from the end of each list on.
    let mut begins = vec![0_u32; states + 1];
    let mut polled = 0_usize;
    let mut poll = || {
        polled += 1;
        if polled.is_multiple_of(PATIENCE << 4) { up().map_or(Ok(()), Err) } else { Ok(()) }
    };
    for (_, to, _) in edges {
        begins[*to as usize] += 1;
        poll()?;
    }
    let mut sum = 0;
    for place in &mut begins {
        sum += *place;
        *place = sum;
    }
    let mut before = vec![0_u32; edges.len()];
    for (from, to, _) in edges {
        let place = &mut begins[*to as usize];
        *place -= 1;
        before[*place as usize] = *from;
        poll()?;
    }
    let mut good = vec![false; states];
    let mut left = goals.to_vec();
    left.iter().for_each(|s| good[*s as usize] = true);
    while let Some(state) = left.pop() {
        let list = begins[state as usize] as usize..begins[state as usize + 1] as usize;
        for from in &before[list] {
            poll()?;
            if !std::mem::replace(&mut good[*from as usize], true) {
                left.push(*from);
            }
        }
    }
    Ok(good)
}

//! The states that a search has seen and the steps between them.
//!
//! A state is its 128-bit number; a step says who made it. 16 bytes a step and about 60 a state: what a search needs to
//! tell cycles, to find the way to a state again, and to draw the graph.

use super::followed::Followed;
use super::left::{Left, Unit};
use super::named::Named;
use super::slots::Slots;
use serde::{Deserialize, Serialize};

/// No state, or no step.
pub(super) const NONE: u32 = u32::MAX;

/// A step between two states.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Edge {
    /// Where it leads; `u32::MAX`: not taken, or the run stopped.
    pub to: u32,
    next: u32,
    /// Who made it: an index of the units the graph was built with.
    pub unit: u32,
    /// The agent's place among those of the state.
    pub agent: u16,
    /// The combination of the step's own choices, from 0.
    pub nth: u16,
}

impl Edge {
    /// A step behind which no other one of its state is noted yet.
    pub(super) const fn new(to: u32, unit: u32, agent: u16, nth: u16) -> Self {
        Self { to, next: NONE, unit, agent, nth }
    }

    /// The one that is noted behind it.
    pub(super) const fn following(&self) -> u32 {
        self.next
    }

    /// One is noted behind it.
    pub(super) const fn set_next(&mut self, next: u32) {
        self.next = next;
    }
}

/// A state.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Seen {
    /// Its number by halves: a whole one would be aligned to 16 bytes.
    low: u64,
    high: u64,
    /// Its last edge.
    last: u32,
    /// How it was reached first: from which state, by which edge.
    from: u32,
    by: u32,
}

impl Seen {
    const fn new(number: u128) -> Self {
        Self { low: number as u64, high: (number >> 64) as u64, last: NONE, from: NONE, by: NONE }
    }

    const fn number(&self) -> u128 {
        (self.high as u128) << 64 | self.low as u128
    }
}

/// The graph of a search. What follows from the rest is not kept in files: it is made again by `Graph::restored`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Graph {
    #[serde(skip)]
    table: Slots,
    seen: Vec<Seen>,
    edges: Vec<Edge>,
    units: Named,
    /// The blocks that have stepped, where states tell.
    stepped: Vec<u64>,
    #[serde(skip)]
    left: Left,
    /// Who is who along steps, where agents that are alike are not told apart.
    followed: Followed,
    /// Its strongly connected parts, where whoever made it has found them.
    #[serde(skip)]
    connected: Option<Connected>,
}

/// Parts of a graph that are strongly connected and have a step in them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Connected {
    /// Of one state.
    singles: Vec<u32>,
    /// Of several, each in ascending order.
    parts: Vec<Vec<u32>>,
}

impl Connected {
    /// A state with a step to itself.
    pub fn single(&mut self, state: u32) {
        self.singles.push(state);
    }

    /// Several states.
    pub fn part(&mut self, states: &[u32]) {
        self.parts.push(states.to_vec());
    }

    /// All parts.
    pub fn all(&self) -> impl Iterator<Item = &[u32]> {
        self.singles.chunks(1).chain(self.parts.iter().map(|part| &part[..]))
    }
}

impl Graph {
    /// The state with a number, and whether it is new.
    pub(super) fn state(&mut self, number: u128) -> (u32, bool) {
        let fresh = u32::try_from(self.seen.len()).unwrap_or(NONE - 1);
        let (id, new) = self.table.find_or_insert(number, fresh);
        if new {
            self.seen.push(Seen::new(number));
            if self.seen.len() > self.table.room() {
                self.table.grow();
            }
        }
        (id, new)
    }

    /// Notes a step; gives its number.
    pub(super) fn edge(&mut self, from: u32, unit: Unit, agent: usize, nth: u32, to: u32) -> u32 {
        let unit = self.units.number(unit);
        let id = u32::try_from(self.edges.len()).unwrap_or(NONE);
        let narrow = |n: u32| u16::try_from(n).unwrap_or(u16::MAX);
        let next = std::mem::replace(&mut self.seen[from as usize].last, id);
        let agent = narrow(u32::try_from(agent).unwrap_or(u32::MAX));
        self.edges.push(Edge { to, next, unit, agent, nth: narrow(nth) });
        id
    }

    /// A graph with room for so many states and steps.
    pub(super) fn with_room(states: usize, steps: usize) -> Self {
        Self { seen: Vec::with_capacity(states), edges: Vec::with_capacity(steps), ..Self::default() }
    }

    /// One more state, which is not looked up by its number afterwards; how it was reached.
    pub(super) fn push(&mut self, number: u128, from: u32, by: u32) -> u32 {
        let state = u32::try_from(self.seen.len()).unwrap_or(NONE - 1);
        self.seen.push(Seen { from, by, ..Seen::new(number) });
        state
    }

    /// Its strongly connected parts were found.
    pub(super) fn connect(&mut self, connected: Connected) {
        self.connected = Some(connected);
    }

    /// Its strongly connected parts, if they were found.
    pub(super) const fn connected(&self) -> Option<&Connected> {
        self.connected.as_ref()
    }

    /// How a new state was reached.
    pub(super) fn reached(&mut self, state: u32, from: u32, edge: u32) {
        let seen = &mut self.seen[state as usize];
        (seen.from, seen.by) = (from, edge);
    }

    /// The blocks of which a warp has stepped before a state, as a set of those below 64; none where states do not tell.
    #[must_use]
    pub fn stepped(&self, state: u32) -> u64 {
        self.stepped.get(state as usize).copied().unwrap_or(0)
    }

    pub(super) fn set_stepped(&mut self, state: u32, blocks: u64) {
        if self.stepped.len() <= state as usize {
            self.stepped.resize(state as usize + 1, 0);
        }
        self.stepped[state as usize] = blocks;
    }

    /// A graph that was read from a file, with its tables; `None`: no search made it.
    pub(super) fn restored(mut self) -> Option<Self> {
        let named = self.units.restore();
        let Self { table, seen, .. } = &mut self;
        for (fresh, new) in (0..u32::try_from(seen.len()).ok()?).zip(&*seen) {
            if !table.find_or_insert(new.number(), fresh).1 {
                return None;
            }
            if fresh as usize >= table.room() {
                table.grow();
            }
        }
        (named && self.is_sound()).then_some(self)
    }

    /// Whether all numbers in it are those of its own states, steps and units, and lists come to their ends: each step was
    /// noted after the one that it follows, each state was reached from one that was seen before. That the program makes these
    /// steps is not asked: the search would have to be done again (D-checkpoint-trust).
    fn is_sound(&self) -> bool {
        let within = |n: u32, length: usize| n == NONE || (n as usize) < length;
        let (states, edges) = (self.seen.len(), self.edges.len());
        let state = |(at, seen): (usize, &Seen)| {
            let first = at == 0 && (seen.from, seen.by) == (NONE, NONE);
            let by = self.edges.get(seen.by as usize);
            let reached = (seen.from as usize) < at && by.is_some_and(|edge| edge.to as usize == at);
            within(seen.last, edges) && (first || reached)
        };
        let edge = |(at, edge): (usize, &Edge)| {
            within(edge.to, states) && within(edge.next, at) && (edge.unit as usize) < self.units.count()
        };
        self.seen.iter().enumerate().all(state)
            && self.edges.iter().enumerate().all(edge)
            && self.stepped.len() <= states
            && self.followed.is_sound(states, edges)
    }

    /// The state with a number, if it was seen.
    pub(super) fn known(&self, number: u128) -> Option<u32> {
        self.table.find(number)
    }

    /// Appends the states with some numbers, those that were seen.
    pub(super) fn known_of(&self, numbers: &[u128], found: &mut Vec<Option<u32>>) {
        self.table.find_all(numbers, found);
    }

    /// How many states there are.
    #[must_use]
    pub const fn states(&self) -> usize {
        self.seen.len()
    }

    /// How many steps there are, those not taken among them.
    #[must_use]
    pub const fn steps(&self) -> usize {
        self.edges.len()
    }

    /// Bytes that the graph takes, about.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let lists = self.seen.capacity() * size_of::<Seen>() + self.edges.capacity() * size_of::<Edge>();
        self.table.bytes() + lists + if self.followed.is_empty() { 0 } else { self.followed.bytes() }
    }

    /// Bytes that its table is about to grow by within so many steps. Lists grow in place.
    #[must_use]
    pub(super) fn grows(&self, steps: u64) -> usize {
        self.table.grows(self.seen.len(), usize::try_from(steps).unwrap_or(usize::MAX))
    }

    /// The steps from a state, the last first.
    pub fn from(&self, state: u32) -> impl Iterator<Item = &Edge> {
        let mut at = self.cursor(state);
        std::iter::from_fn(move || self.next(&mut at))
    }

    /// The same, with their numbers.
    pub(super) fn numbered(&self, state: u32) -> impl Iterator<Item = (u32, &Edge)> {
        let mut at = self.cursor(state);
        std::iter::from_fn(move || Some((at, self.next(&mut at)?)))
    }

    /// Who is who along steps.
    pub(super) const fn followed(&self) -> &Followed {
        &self.followed
    }

    pub(super) const fn followed_mut(&mut self) -> &mut Followed {
        &mut self.followed
    }

    /// The steps from a state, for [`Graph::next`]: one number, where many states are gone through at a time.
    pub(super) fn cursor(&self, state: u32) -> u32 {
        self.seen.get(state as usize).map_or(NONE, |s| s.last)
    }

    /// The next step of a state.
    pub(super) fn next(&self, cursor: &mut u32) -> Option<&Edge> {
        let edge = self.edges.get(*cursor as usize)?;
        *cursor = edge.next;
        Some(edge)
    }

    /// Who could step in a state and was not come to, since a limit ended the search.
    pub fn left(&self, state: u32) -> impl Iterator<Item = Unit> {
        self.left.of(state)
    }

    pub(super) fn leave(&mut self, left: Left) {
        self.left = left;
    }

    /// Who made a step of this graph: another one's would be nobody's, and nobody is promised anything.
    #[must_use]
    pub fn unit(&self, edge: &Edge) -> Unit {
        self.units.unit(edge.unit)
    }

    /// The state that steps from the first lead to; `None`: the last one stops the run.
    #[must_use]
    pub fn end_of(&self, path: &[Move]) -> Option<u32> {
        let step = |at: u32, to: &Move| self.from(at).find(|e| Move::of(e) == *to).map(|e| e.to);
        path.iter().try_fold(0, step).filter(|to| *to != NONE)
    }

    /// The step by which a state was reached; none: it is the first.
    pub(super) fn reached_by(&self, state: u32) -> Option<u32> {
        self.seen.get(state as usize).map(|s| s.by).filter(|by| *by != NONE)
    }

    /// The steps that lead to a state from the first, and one more of it.
    pub(super) fn path_by(&self, edge: u32, from: u32) -> Vec<Move> {
        let mut path = self.path(from);
        path.extend(self.edges.get(edge as usize).map(Move::of));
        path
    }

    /// The steps that lead to a state from the first: agent and combination of each.
    #[must_use]
    pub fn path(&self, state: u32) -> Vec<Move> {
        let mut path = Vec::new();
        let mut at = state;
        while let Some(seen) = self.seen.get(at as usize).filter(|s| s.from != NONE) {
            path.extend(self.edges.get(seen.by as usize).map(Move::of));
            at = seen.from;
        }
        path.reverse();
        path
    }
}

/// A step of a path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Move {
    /// The agent's place among those of the state.
    pub agent: u16,
    /// The combination of the step's own choices, from 0.
    pub nth: u16,
}

impl Move {
    /// The move of a step.
    #[must_use]
    pub const fn of(edge: &Edge) -> Self {
        Self { agent: edge.agent, nth: edge.nth }
    }
}

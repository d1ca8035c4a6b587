//! The states that a search has seen and the steps between them.
//!
//! A state is its 128-bit number; a step says who made it. 16 bytes a step and about 50 a state: what a search needs to
//! tell cycles, to find the way to a state again, and to draw the graph.

use crate::base::LaneMask;
use crate::machine::walk::Agent;
use rustc_hash::FxHashMap;

/// No state, or no step.
pub(super) const NONE: u32 = u32::MAX;

/// Who makes a step, as far as fairness goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Unit {
    /// Lanes of a warp: block, warp, lanes.
    Lanes(u64, u32, LaneMask),
    /// An operation of memory.
    Operation(u32),
    /// A silent rule: nobody promises that it fires (D-fairness-of-silent-rules).
    Silent,
}

impl Unit {
    /// The unit of an agent. `warps`: a warp is scheduled as a whole.
    #[must_use]
    pub const fn of(agent: &Agent, warps: bool) -> Self {
        match *agent {
            Agent::Flow { block, warp, flow, .. } => Self::Lanes(block, warp, if warps { !0 } else { flow.mask }),
            Agent::Micro(n) => Self::Operation(n),
            Agent::Silent(_) => Self::Silent,
        }
    }
}

/// A step between two states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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

/// The graph of a search.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// By the halves of their numbers: a whole one would be aligned to 16 bytes.
    numbers: FxHashMap<[u64; 2], u32>,
    first: Vec<u32>,
    /// How each state was reached first: from which state, by which edge.
    from: Vec<(u32, u32)>,
    edges: Vec<Edge>,
    units: Vec<Unit>,
    /// The blocks that have stepped, where states tell.
    stepped: Vec<u64>,
    known: FxHashMap<Unit, u32>,
}

impl Graph {
    /// The state with a number, and whether it is new.
    pub(super) fn state(&mut self, number: u128) -> (u32, bool) {
        let next = u32::try_from(self.first.len()).unwrap_or(NONE - 1);
        let id = *self.numbers.entry([number as u64, (number >> 64) as u64]).or_insert(next);
        if id == next {
            self.first.push(NONE);
            self.from.push((NONE, NONE));
        }
        (id, id == next)
    }

    /// Notes a step; gives its number.
    pub(super) fn edge(&mut self, from: u32, unit: Unit, agent: usize, nth: u32, to: u32) -> u32 {
        let fresh = u32::try_from(self.units.len()).unwrap_or(NONE);
        let unit = *self.known.entry(unit).or_insert_with(|| {
            self.units.push(unit);
            fresh
        });
        let id = u32::try_from(self.edges.len()).unwrap_or(NONE);
        let narrow = |n: u32| u16::try_from(n).unwrap_or(u16::MAX);
        let next = std::mem::replace(&mut self.first[from as usize], id);
        let agent = narrow(u32::try_from(agent).unwrap_or(u32::MAX));
        self.edges.push(Edge { to, next, unit, agent, nth: narrow(nth) });
        id
    }

    /// How a new state was reached.
    pub(super) fn reached(&mut self, state: u32, from: u32, edge: u32) {
        self.from[state as usize] = (from, edge);
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

    /// How many states there are.
    #[must_use]
    pub const fn states(&self) -> usize {
        self.first.len()
    }

    /// How many steps there are, those not taken among them.
    #[must_use]
    pub const fn steps(&self) -> usize {
        self.edges.len()
    }

    /// Bytes that the graph takes, about.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.numbers.capacity() * 25 + self.first.capacity() * 4 + self.from.capacity() * 8 + self.edges.capacity() * 16
    }

    /// The steps from a state, the last first.
    pub fn from(&self, state: u32) -> impl Iterator<Item = &Edge> {
        let mut at = self.first.get(state as usize).copied().unwrap_or(NONE);
        std::iter::from_fn(move || {
            let edge = self.edges.get(at as usize)?;
            at = edge.next;
            Some(edge)
        })
    }

    /// Who made a step.
    #[must_use]
    pub fn unit(&self, edge: &Edge) -> Unit {
        self.units.get(edge.unit as usize).copied().unwrap_or(Unit::Silent)
    }

    /// The steps that lead to a state from the first: agent and combination of each.
    #[must_use]
    pub fn path(&self, state: u32) -> Vec<Move> {
        let mut path = Vec::new();
        let mut at = state;
        while let Some(&(from, edge)) = self.from.get(at as usize).filter(|(from, _)| *from != NONE) {
            path.extend(self.edges.get(edge as usize).map(Move::of));
            at = from;
        }
        path.reverse();
        path
    }
}

/// A step of a path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
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

//! Who could have stepped in states that a search left before its end, and did not: no run is fair that only the search kept
//! from them.

use crate::base::{LaneMask, sort};
use crate::machine::walk::Agent;
use crate::memory::OperationName;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Who makes a step, as far as fairness goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Unit {
    /// Lanes of a warp: block, warp, lanes.
    Lanes(u64, u32, LaneMask),
    /// An operation of memory.
    Operation(OperationName),
    /// A silent rule: nobody promises that it fires (D-fairness-of-silent-rules).
    Silent,
}

impl Unit {
    /// The unit of an agent. `warps`: a warp is scheduled as a whole.
    #[must_use]
    pub const fn of(agent: &Agent, warps: bool) -> Self {
        match *agent {
            Agent::Flow { block, warp, flow, .. } => Self::Lanes(block, warp, if warps { !0 } else { flow.mask }),
            Agent::Micro(operation) => Self::Operation(operation.name),
            // The first step is on no way round.
            Agent::Begin | Agent::Silent(_) => Self::Silent,
        }
    }
}

/// The agents that a search did not come to, as it kept them: there may be thousands in each of thousands of states, of
/// which only those on cycles are asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Left {
    agents: Vec<Agent>,
    /// Who they are, where that is not told by the agents alone.
    units: Vec<Unit>,
    /// By state, in ascending order: which of them.
    states: Vec<(u32, Range<usize>)>,
    /// Whether a warp is scheduled as a whole.
    warps: bool,
}

impl Left {
    /// Of some states, those in a range of `agents`. `units`: who each of them is, where the agents alone do not tell.
    pub fn new(agents: Vec<Agent>, units: Vec<Unit>, mut states: Vec<(u32, Range<usize>)>, warps: bool) -> Self {
        states.retain(|(_, range)| !range.is_empty());
        sort::sort_by_key(&mut states, |(state, _)| *state);
        Self { agents, units, states, warps }
    }

    /// All of several searches through one space; `number`: the number of a state there.
    pub fn merge(all: Vec<Self>, warps: bool, number: impl Fn(u32) -> Option<u32>) -> Self {
        let (mut agents, mut units, mut states) = (Vec::new(), Vec::new(), Vec::new());
        for one in all {
            let before = agents.len();
            let there =
                |(state, range): (u32, Range<usize>)| Some((number(state)?, range.start + before..range.end + before));
            states.extend(one.states.into_iter().filter_map(there));
            agents.extend(one.agents);
            units.extend(one.units);
        }
        Self::new(agents, units, states, warps)
    }

    /// Those of a state.
    pub fn of(&self, state: u32) -> impl Iterator<Item = Unit> {
        let from = self.states.partition_point(|(s, _)| *s < state);
        let here = self.states[from..].iter().take_while(move |(s, _)| *s == state);
        let unit = |k: usize| self.units.get(k).copied().or_else(|| Some(Unit::of(self.agents.get(k)?, self.warps)));
        here.flat_map(|(_, range)| range.clone()).filter_map(unit)
    }
}

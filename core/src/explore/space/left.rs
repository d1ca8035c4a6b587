//! Who could have stepped in states that a search left before its end, and did not: no run is fair that only the search kept
//! from them.

use super::graph::Unit;
use crate::machine::walk::Agent;
use std::ops::Range;

/// The agents that a search did not come to, as it kept them: there may be thousands in each of thousands of states, of
/// which only those on cycles are asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Left {
    agents: Vec<Agent>,
    /// By state, in ascending order: which of them.
    states: Vec<(u32, Range<usize>)>,
    /// Whether a warp is scheduled as a whole.
    warps: bool,
}

impl Left {
    /// Of some states, those in a range of `agents`.
    pub fn new(agents: Vec<Agent>, mut states: Vec<(u32, Range<usize>)>, warps: bool) -> Self {
        states.retain(|(_, range)| !range.is_empty());
        states.sort_by_key(|(state, _)| *state);
        Self { agents, states, warps }
    }

    /// Those of a state.
    pub fn of(&self, state: u32) -> impl Iterator<Item = Unit> {
        let from = self.states.partition_point(|(s, _)| *s < state);
        let here = self.states[from..].iter().take_while(move |(s, _)| *s == state);
        here.flat_map(|(_, range)| &self.agents[range.clone()]).map(|agent| Unit::of(agent, self.warps))
    }
}

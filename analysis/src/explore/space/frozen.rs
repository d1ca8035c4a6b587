//! A search that stopped at a limit, as bytes, and the way back into it: nothing that was gone through is gone through again.
//!
//! Kept are the states and steps as they are, where the search stands (its stack as the steps between and the choices that
//! are left), and what was found as the way to it. The device is not: it is walked along the stack again.

use super::graph::Graph;
use super::{Found, Move, Progress, Reaches, Space};
use crate::explore::odometer::Odometer;
use crate::explore::retrace::{and_back, follow, stop_on};
use crate::machine::Bounds;
use crate::machine::walk::{Reached, State, Walk};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What of the way to a state belongs to it, where the search asks for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Before {
    /// The warp that stepped last.
    pub last: Option<(u64, u32)>,
    /// Switches between warps so far.
    pub switches: u32,
    /// The blocks of which a warp has stepped, as a set.
    pub stepped: u64,
}

/// A state on the way, and what is left to do there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Level {
    pub state: u32,
    pub by: Option<Move>,
    pub next: usize,
    pub odometer: Odometer,
    pub nth: u32,
    pub before: Before,
}

/// Where a search stands that goes through all states.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Rest {
    pub(super) stack: Vec<Level>,
    pub(super) pruned: bool,
}

/// Who keeps what a search has done.
pub struct Keep<'a, O> {
    /// Asked now and then: whether it is time.
    pub due: &'a mut dyn FnMut() -> bool,
    /// Keeps what was seen, and where the search stands.
    pub save: &'a mut dyn FnMut(&Space<O>, &Rest),
}

/// All but the graph.
#[derive(Serialize, Deserialize)]
struct Small<O> {
    rest: Rest,
    outcomes: Vec<(O, u64, Vec<Move>)>,
    found: Vec<Vec<Move>>,
    progress: Progress,
}

impl<O> Small<O> {
    /// Whether counts can be those of a search that has seen the states of a graph; they are added up later.
    fn is_sound(&self, graph: &Graph) -> bool {
        let Progress { states, transitions, schedules, deepest, collisions, .. } = self.progress;
        let most = graph.states() as u64;
        let ends = self.outcomes.iter().map(|(_, count, _)| *count).try_fold(0u64, u64::checked_add);
        states <= most
            && transitions <= graph.steps() as u64
            && schedules.max(deepest).max(collisions) <= transitions + 1
            && ends.is_some_and(|ends| ends <= most)
            && self.rest.stack.len() as u64 <= most
    }
}

/// What a run along a path comes to; `None`: not to its end. The walk stands where it stood, afterwards.
fn end_of<O>(walk: &mut dyn Walk, path: &[Move], outcome: &mut dyn FnMut(&dyn State) -> O) -> Option<O> {
    and_back(walk, |walk| {
        let _ = follow(walk, path, &Bounds::default());
        let mut agents = Vec::new();
        walk.agents(&mut agents);
        let state = walk.state();
        let ended = agents.is_empty() && matches!(state.reached(), Reached::End);
        ended.then(|| outcome(state))
    })
}

/// A search and where it stands, behind `before`.
#[must_use]
pub fn freeze<O: Serialize + Clone>(space: &Space<O>, rest: &Rest, before: Vec<u8>) -> Vec<u8> {
    let outcomes = space.outcomes.iter().map(|(o, r)| (o.clone(), r.count, r.path.clone())).collect();
    let found = space.found.iter().map(|f| f.path.clone()).collect();
    let small = Small { rest: rest.clone(), outcomes, found, progress: space.progress };
    // Plain data: it always has a form.
    postcard::to_extend(&(small, &space.graph), before).unwrap_or_default()
}

/// The search that was frozen; `walk` stands at its start, and does so afterwards. `None`: it was not this search's.
pub fn thaw<O: DeserializeOwned + Eq + std::hash::Hash>(
    bytes: &[u8],
    walk: &mut dyn Walk,
    outcome: &mut dyn FnMut(&dyn State) -> O,
) -> Option<(Space<O>, Rest)> {
    let ((small, graph), []): ((Small<O>, Graph), &[u8]) = postcard::take_from_bytes(bytes).ok()? else { return None };
    let graph = graph.restored().filter(|graph| small.is_sound(graph))?;
    let mut space = Space { graph, progress: small.progress, ..Space::default() };
    for path in small.found {
        space.found.push(Found { stop: stop_on(walk, &path)?, path });
    }
    for (kept, count, path) in small.outcomes {
        // What a way comes to is asked of the program, not of the file.
        end_of(walk, &path, outcome).filter(|seen| *seen == kept)?;
        space.outcomes.insert(kept, Reaches { count, path });
    }
    Some((space, small.rest))
}

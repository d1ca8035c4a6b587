//! A search that stopped at a limit, as bytes, and the way back into it: nothing that was gone through is gone through again.
//!
//! Kept are the states and steps as they are, where the search stands (its stack as the steps between and the choices that
//! are left), and what was found as the way to it. The device is not: it is walked along the stack again.

use super::graph::Graph;
use super::{Found, Move, Progress, Reaches, Space};
use crate::explore::odometer::Odometer;
use crate::explore::retrace::{follow, stop_on};
use crate::machine::Bounds;
use crate::machine::walk::{Reached, State, Walk};
use indexmap::IndexMap;
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

impl Rest {}

/// Keeps what a search has done.
pub trait Keep<O> {
    /// Asked now and then: whether it is time.
    fn is_due(&mut self) -> bool;

    /// Keeps what was seen, and where the search stands.
    fn keep(&mut self, space: &Space<O>, rest: &Rest);
}

impl<O> Keep<O> for () {
    fn is_due(&mut self) -> bool {
        false
    }

    fn keep(&mut self, _: &Space<O>, _: &Rest) {}
}

/// All but the graph.
#[derive(Serialize, Deserialize)]
struct Small<O> {
    options: String,
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
    let start = walk.mark();
    let _ = follow(walk, path, &Bounds::default());
    let mut agents = Vec::new();
    walk.agents(&mut agents);
    let state = walk.state();
    let ended = agents.is_empty() && matches!(state.reached(), Reached::End);
    let seen = ended.then(|| outcome(state));
    walk.back(start);
    seen
}

/// Why a search cannot go on from some bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unfit {
    /// They are not what [`freeze`] made.
    Damaged,
    /// It had other options.
    Options,
}

/// A search and where it stands; `options` must be the same when it goes on.
#[must_use]
pub fn freeze<O: Serialize + Clone>(space: &Space<O>, rest: &Rest, options: String) -> Vec<u8> {
    let outcomes = space.outcomes.iter().map(|(o, r)| (o.clone(), r.count, r.path.clone())).collect();
    let found = space.found.iter().map(|f| f.path.clone()).collect();
    let small = Small { options, rest: rest.clone(), outcomes, found, progress: space.progress };
    // Plain data: it always has a form.
    let small = serde_json::to_vec(&small).unwrap_or_default();
    let mut out = (small.len() as u64).to_le_bytes().to_vec();
    out.extend_from_slice(&small);
    space.graph.put(&mut out);
    out
}

/// The search that was frozen; `walk` stands at its start, and does so afterwards.
///
/// # Errors
/// It was not this search's.
pub fn thaw<O: DeserializeOwned + Eq + std::hash::Hash>(
    bytes: &[u8],
    options: &str,
    walk: &mut dyn Walk,
    outcome: &mut dyn FnMut(&dyn State) -> O,
) -> Result<(Space<O>, Rest), Unfit> {
    let (length, bytes) = bytes.split_first_chunk().ok_or(Unfit::Damaged)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let (small, graph) = bytes.split_at_checked(length).ok_or(Unfit::Damaged)?;
    let small: Small<O> = serde_json::from_slice(small).map_err(|_| Unfit::Damaged)?;
    if small.options != options {
        return Err(Unfit::Options);
    }
    let graph = Graph::take(graph).ok_or(Unfit::Damaged)?;
    if !small.is_sound(&graph) {
        return Err(Unfit::Damaged);
    }
    let mut found = Vec::with_capacity(small.found.len());
    for path in small.found {
        let stop = stop_on(walk, &path).ok_or(Unfit::Damaged)?;
        found.push(Found { stop, path });
    }
    let mut outcomes = IndexMap::new();
    for (kept, count, path) in small.outcomes {
        // What a way comes to is asked of the program, not of the file.
        if end_of(walk, &path, outcome).is_none_or(|seen| seen != kept) {
            return Err(Unfit::Damaged);
        }
        outcomes.insert(kept, Reaches { count, path });
    }
    Ok((Space { outcomes, found, graph, progress: small.progress, limit: None, standing: Vec::new() }, small.rest))
}

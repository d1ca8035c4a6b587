//! Exhaustive search: every schedule of a walk, or every state.
//!
//! One loop serves all searches ([`explore`]): it goes depth first and comes back by the walk's journal. What differs is
//! what is not gone into again: with [`Search::States`] a state that was seen before; with [`Search::Schedules`] a schedule
//! that only swaps neighbouring steps of another which do not conflict (sleep sets; P. Godefroid, "Partial-Order Methods",
//! 1996, chapter 5), and a state that the schedule itself has been in; with [`Search::Matched`] such a schedule, and a state
//! that was gone on from with no more agents asleep (the same, section 5.3). Without reduction every instruction is a step and
//! every swap is taken: the reference of the tests.

mod fair;
mod frozen;
mod graph;
mod left;
mod search;
mod sleep;
mod table;

pub use fair::{Cycle, Fairness, Promised, cycles, cycles_until};
pub use frozen::{Keep, Rest, Unfit, freeze, thaw};
pub use graph::{Edge, Graph, Move, Unit};
pub use search::{explore, go_on};

use crate::verdict::{LimitKind, Standing, Stop};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// What a search goes through.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Search {
    /// Every state once.
    States,
    /// Every schedule once.
    Schedules,
    /// Of the schedules that lead to a state, those that go on from it by a step with which no earlier one did.
    Matched,
}

/// How to search.
pub struct Options<'a> {
    /// What is gone through.
    pub search: Search,
    /// Whether schedules that differ only in the order of steps that do not conflict are one; not with [`Search::States`].
    pub sleep: bool,
    /// Whether a warp is scheduled as a whole (control model `crs`).
    pub warps: bool,
    /// Whether whole states are kept, so that states with equal numbers are told apart and counted.
    pub audit: bool,
    /// Whether states tell who has stepped so far, as progress models need to know ([`Graph::stepped`]).
    pub stepped: bool,
    /// Switches away from a warp that could go on, at most.
    pub preemptions: Option<u32>,
    /// States at most, beyond those of a search that goes on.
    pub max_states: Option<u64>,
    /// Steps of a schedule at most.
    pub max_depth: Option<u64>,
    /// Warp instructions at most, of all steps together.
    pub max_steps: Option<u64>,
    /// Bytes for the search at most.
    pub max_bytes: Option<u64>,
    /// Whether to stop at the first defect.
    pub first: bool,
    /// Asked now and then, with the progress so far: whether to stop.
    pub poll: &'a mut dyn FnMut(&Progress) -> Option<LimitKind>,
}

impl<'a> Options<'a> {
    /// A search through all states, without bounds but what `poll` says. `warps`: a warp is scheduled as a whole.
    pub fn states(warps: bool, poll: &'a mut dyn FnMut(&Progress) -> Option<LimitKind>) -> Self {
        Self {
            search: Search::States,
            sleep: false,
            warps,
            audit: false,
            stepped: false,
            preemptions: None,
            max_states: None,
            max_depth: None,
            max_steps: None,
            max_bytes: None,
            first: false,
            poll,
        }
    }

    /// A search through all schedules that differ in more than the order of steps which do not conflict.
    pub fn schedules(warps: bool, poll: &'a mut dyn FnMut(&Progress) -> Option<LimitKind>) -> Self {
        Self { search: Search::Schedules, sleep: true, ..Self::states(warps, poll) }
    }

    /// The same, but for what is known of a state that was reached before.
    pub fn matched(warps: bool, poll: &'a mut dyn FnMut(&Progress) -> Option<LimitKind>) -> Self {
        Self { search: Search::Matched, ..Self::schedules(warps, poll) }
    }
}

/// How far a search is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Progress {
    /// States seen.
    pub states: u64,
    /// Steps taken.
    pub transitions: u64,
    /// Schedules that came to an end.
    pub schedules: u64,
    /// The longest schedule so far, in steps.
    pub deepest: u64,
    /// Equal numbers of different states; counted in an audit only.
    pub collisions: u64,
    /// Bytes taken by the graph.
    pub bytes: u64,
}

/// Something that a search found, with the way to it.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// Why the run stops.
    pub stop: Stop,
    /// The steps to it, the one that stopped last; nothing can step behind them otherwise.
    pub path: Vec<Move>,
}

/// How often an outcome was reached, and how first.
#[derive(Clone, PartialEq, Debug)]
pub struct Reaches {
    /// In how many states, or by how many schedules.
    pub count: u64,
    /// The steps of the first.
    pub path: Vec<Move>,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Space<O> {
    /// The outcomes of runs that came to their end, in the order in which they were found.
    pub outcomes: IndexMap<O, Reaches>,
    /// Defects, one for each kind and place.
    pub found: Vec<Found>,
    /// The states and steps.
    pub graph: Graph,
    /// Counts.
    pub progress: Progress,
    /// Why it ended early: nothing is proved then.
    pub limit: Option<LimitKind>,
    /// Where the warps were in the last state of one that ended early.
    pub standing: Vec<Standing>,
}

impl<O> Default for Space<O> {
    fn default() -> Self {
        Self {
            outcomes: IndexMap::new(),
            found: Vec::new(),
            graph: Graph::default(),
            progress: Progress::default(),
            limit: None,
            standing: Vec::new(),
        }
    }
}

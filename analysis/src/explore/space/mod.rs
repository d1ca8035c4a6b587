//! Exhaustive search: every state of a walk, once.
//!
//! One loop ([`explore`]) goes depth first and comes back by the walk's journal; a state that was seen before is not gone into
//! again. `tests/shared/reference.rs` is a second, plain one that shares nothing with it but the walk.

mod ahead;
mod book;
mod fair;
mod followed;
mod frozen;
mod graph;
mod job;
mod ledger;
mod left;
mod merge;
mod named;
mod part;
mod roles;
mod search;
mod slots;
mod table;
mod team;
mod together;
mod units;
mod way;

pub use fair::{Cycle, Fairness, Promised, cycles_until};
pub use frozen::{Keep, Rest, freeze, thaw};
pub use graph::{Edge, Graph, Move};
pub use left::Unit;
pub use search::{explore, go_on};
pub(super) use table::Table;
pub use together::explore_together;

use crate::check::RacesOptions;
use crate::machine::walk::Growth;
use crate::verdict::{LimitKind, Standing, Stop};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// How to search.
pub struct Options<'a> {
    /// Whether a warp is scheduled as a whole (control model `crs`).
    pub warps: bool,
    /// Whether whole states are kept, so that states with equal numbers are told apart and counted.
    pub audit: bool,
    /// Whether states tell who has stepped so far, as progress models need to know ([`Graph::stepped`]).
    pub stepped: bool,
    /// Whether the walk is watched for races, and how they are looked for.
    pub races: Option<RacesOptions>,
    /// Switches away from a warp that could go on, at most.
    pub preemptions: Option<u32>,
    /// States at most, beyond those of a search that goes on.
    pub max_states: Option<u64>,
    /// Warp instructions at most, of all steps together.
    pub max_steps: Option<u64>,
    /// Bytes for the search at most.
    pub max_bytes: Option<u64>,
    /// Whether to stop at the first defect.
    pub first: bool,
    /// How many threads a search has that can have several.
    pub threads: u32,
    /// Asked now and then, with the progress so far: whether to stop.
    pub poll: &'a mut dyn FnMut(&Progress) -> Option<LimitKind>,
}

impl<'a> Options<'a> {
    /// A search through all states, without bounds but what `poll` says. `warps`: a warp is scheduled as a whole.
    pub fn states(warps: bool, poll: &'a mut dyn FnMut(&Progress) -> Option<LimitKind>) -> Self {
        Self {
            warps,
            audit: false,
            stepped: false,
            races: None,
            preemptions: None,
            max_states: None,
            max_steps: None,
            max_bytes: None,
            first: false,
            threads: 1,
            poll,
        }
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
    /// Which part of the states grew in one that ended early.
    pub growth: Growth,
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
            growth: Growth::default(),
        }
    }
}

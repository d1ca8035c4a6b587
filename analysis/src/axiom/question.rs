//! What a search is asked, and what it did.

use super::frame::overlap;
use super::model::Model;
use super::program::{Place, Program};
use crate::verdict;
use indexmap::IndexSet;

/// Whether registers, of each thread as its trace gives them, and last values are wanted. None: not known yet.
pub type Wanted<'a> = dyn Fn(&[&[Option<u64>]], &[Option<u64>]) -> Option<bool> + 'a;

/// What an execution has to be like.
pub struct Question<'a> {
    /// The places whose last values are asked about.
    pub finals: &'a [Place],
    /// Which executions are wanted.
    pub wanted: &'a Wanted<'a>,
    /// Ways in which threads may change places, each as who takes the place of each thread, and its own inverse: who change places do the
    /// same, groups stay groups, and `wanted` does not tell the difference. Then some executions that only differ by that are left out.
    pub symmetries: &'a [Vec<usize>],
    /// Whether a flag of the model has to be raised.
    pub flagged: bool,
}

/// Choices after which a question is asked whether to go on.
const PATIENCE: u64 = 64;

impl Question<'_> {
    /// Whether nothing is wanted any more from any of the threads, whatever comes: so a question says that time or memory is up.
    pub(super) fn is_over(&self, threads: usize) -> bool {
        let none: &[Option<u64>] = &[];
        (self.wanted)(&vec![none; threads], &vec![None; self.finals.len()]) == Some(false)
    }

    /// Whether a search that has tried so many choices ends here; now and then it asks whether it is over.
    pub(super) fn ends_at(&self, choices: u64, threads: usize, limits: Limits) -> bool {
        choices > limits.choices || choices.is_multiple_of(PATIENCE) && self.is_over(threads)
    }
}

/// What limits a search, and what it came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// How often the body of a loop is gone through at most.
    pub bound: u32,
    /// So many choices are tried at most.
    pub choices: u64,
}

/// What a search did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Searched {
    /// Choices tried.
    pub choices: u64,
    /// Consistent executions that were wanted.
    pub found: u64,
    /// Whether some thread would have gone on beyond the bound, not just read the same again.
    pub bounded: bool,
    /// Whether the search stopped at the limit of choices.
    pub limited: bool,
    /// Of way `sat`: how many executions satisfied the formula, but not the model itself.
    pub inexact: u64,
    /// Whether accesses overlap in part, so that they were taken apart (D-axiom-mixed).
    pub mixed: bool,
    /// What a thread did that cannot be expressed.
    pub unsupported: Option<String>,
    /// How many ways led a thread to a defect of its own, and what the first one is called. Those ways may yet be ones that the model
    /// does not allow.
    pub faults: u64,
    /// See `faults`.
    pub fault: Option<verdict::Kind>,
}

/// Whether coherence orders all writes to a location: not in PTX, whose models close it themselves.
pub(super) fn total(model: &Model) -> bool {
    !model.relations.iter().any(|name| name == "sync_fence")
}

/// The places that have initial writes whoever accesses them: those of the program, and what is asked about.
pub(super) fn asked_for(program: &dyn Program, question: &Question<'_>) -> IndexSet<Place> {
    let mut places: IndexSet<Place> = program.initial().into_iter().map(|(place, _)| place).collect();
    for place in question.finals {
        // Another name of a place is that place.
        if !places.iter().any(|other| overlap(*other, *place)) {
            places.insert(*place);
        }
    }
    places
}

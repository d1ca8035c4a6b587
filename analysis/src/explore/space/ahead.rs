//! Which steps of the state that a search stands in lead to states that were seen before.
//!
//! Most do, five of six in a lock. They are looked up together, so that the search waits for the table once for all of them, and are
//! not made: that they could be is all that is noted of them.

use crate::machine::walk::Foreseen;

/// Steps at least that are looked up together: one or two are made sooner.
pub(super) const FEWEST: usize = 3;

/// And at most: a state may have thousands of agents, of which most are to be looked up again behind each new state.
pub(super) const MOST: usize = 16;

/// A step that leads to a state that was seen before: which one, and how many instructions it executes.
pub(super) type Seen = (u32, u32);

/// What is known of the steps of the states on the way.
#[derive(Default)]
pub(super) struct Ahead {
    /// For each agent of each state, as far as they were looked up.
    pub steps: Vec<Option<Seen>>,
    /// For how many states on the way the last one was looked up after all others that are seen by now; 0: for none.
    pub depth: usize,
    /// Behind which of its agents none was looked up.
    pub until: u32,
    /// Room for the places of agents that are looked up, for where their steps lead, and for the states there.
    pub asked: Vec<usize>,
    pub told: Vec<(usize, Foreseen)>,
    pub numbers: Vec<u128>,
    pub found: Vec<Option<u32>>,
}

impl Ahead {
    /// The search stands somewhere else; so many agents are on its way.
    pub fn moved(&mut self, agents: usize) {
        self.steps.resize(agents, None);
        self.depth = 0;
    }

    /// Nothing is looked up yet.
    pub fn clear(&mut self) {
        self.asked.clear();
        self.told.clear();
        self.numbers.clear();
        self.found.clear();
    }
}

//! Where a search notes what it sees: in the graph, or, where threads share a search, in what each of them keeps for itself.

use super::graph::Graph;
use super::job::Job;
use super::left::Unit;
use crate::machine::walk::Roles;

/// How far a search is, beyond what is noted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Done {
    /// Steps taken.
    pub transitions: u64,
    /// States seen.
    pub states: u64,
    /// Warp instructions executed.
    pub executed: u64,
    /// Bytes taken.
    pub bytes: u64,
}

/// Where a search notes states and steps.
pub(super) trait Book {
    /// Whether one search notes all states: it tells outcomes and ways itself then.
    const ALONE: bool;

    /// The state with a number, and whether it is new.
    fn state(&mut self, number: u128) -> (u32, bool);

    /// The state with a number, if it was seen.
    fn known(&mut self, number: u128) -> Option<u32>;

    /// Appends the states with some numbers, those that were seen.
    fn known_of(&mut self, numbers: &[u128], found: &mut Vec<Option<u32>>);

    /// Notes a step; gives its number.
    fn edge(&mut self, from: u32, unit: Unit, agent: usize, nth: u32, to: u32) -> u32;

    /// How a new state was reached.
    fn reached(&mut self, state: u32, from: u32, edge: u32);

    /// The blocks of which a warp has stepped before a new state.
    fn set_stepped(&mut self, state: u32, blocks: u64);

    /// Who may be exchanged in a state that is entered.
    fn roles(&mut self, state: u32, roles: &Roles);

    /// Where the places of a step's state lead; `after` is none where everybody stays where he is.
    fn follow(&mut self, edge: u32, before: &Roles, after: Option<&Roles>);

    /// How many states there are, as far as a limit of states is about.
    fn states(&self) -> u64;

    /// How many of them are noted here.
    fn own(&self) -> u64 {
        self.states()
    }

    /// Bytes that all this takes, about.
    fn bytes(&self) -> usize;

    /// Bytes that tables are about to grow by within so many steps.
    fn grows(&self, steps: u64) -> usize;

    /// Now and then: what this search has done; gives what all have that note the same states.
    fn pause(&mut self, done: Done) -> Done {
        done
    }

    /// Changes places with a graph, for who keeps it.
    fn lend(&mut self, _: &mut Graph) {}

    /// Whether somebody waits for a part of this search.
    fn is_wanted(&self) -> bool {
        false
    }

    /// Gives a part of this search away.
    fn give(&mut self, _: Job) {}

    /// Goes on with a part of another search.
    fn begin(&mut self, _: &Job) {}
}

impl Book for Graph {
    const ALONE: bool = true;

    fn state(&mut self, number: u128) -> (u32, bool) {
        Self::state(self, number)
    }

    fn known(&mut self, number: u128) -> Option<u32> {
        Self::known(self, number)
    }

    fn known_of(&mut self, numbers: &[u128], found: &mut Vec<Option<u32>>) {
        Self::known_of(self, numbers, found);
    }

    fn edge(&mut self, from: u32, unit: Unit, agent: usize, nth: u32, to: u32) -> u32 {
        Self::edge(self, from, unit, agent, nth, to)
    }

    fn reached(&mut self, state: u32, from: u32, edge: u32) {
        Self::reached(self, state, from, edge);
    }

    fn set_stepped(&mut self, state: u32, blocks: u64) {
        Self::set_stepped(self, state, blocks);
    }

    fn roles(&mut self, state: u32, roles: &Roles) {
        self.followed_mut().state(state, roles);
    }

    fn follow(&mut self, edge: u32, before: &Roles, after: Option<&Roles>) {
        self.followed_mut().step(edge, before, after);
    }

    fn states(&self) -> u64 {
        Self::states(self) as u64
    }

    fn bytes(&self) -> usize {
        Self::bytes(self)
    }

    fn grows(&self, steps: u64) -> usize {
        Self::grows(self, steps)
    }

    fn lend(&mut self, to: &mut Graph) {
        std::mem::swap(self, to);
    }
}

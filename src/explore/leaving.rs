//! A walk that ends where a run leaves a cycle.
//!
//! In the states of a cycle the locations that are read, and not stored to, hold the values that are read there. A run on
//! from one of them with lanes set free has left the cycle when a location holds another: how it goes on does not matter to
//! what the cycle is called, and is often far more than what comes before, since all who were held up compete then.

use super::circle::{Circle, Location};
use crate::choice::Oracle;
use crate::machine::Tell;
use crate::machine::walk::{Agent, Begun, Mark, State, Walk};
use crate::program::env::ProgEnv;
use crate::verdict::Stop;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A walk that ends where it leaves a cycle.
pub(super) struct Leaving<'a> {
    walk: &'a mut dyn Walk,
    /// Locations with their sizes in bytes and the values that they hold in the cycle.
    holds: Vec<(Location, u32, &'a BTreeSet<u64>)>,
}

impl<'a> Leaving<'a> {
    /// A walk on from a state of a cycle.
    pub fn new(walk: &'a mut dyn Walk, circle: &'a Circle) -> Self {
        // What is stored in the cycle may hold what nobody reads there.
        let known = circle
            .reads
            .iter()
            .filter(|(at, reads)| !reads.values.is_empty() && !reads.stored_to(**at, &circle.stores));
        Self { walk, holds: known.map(|(at, reads)| (*at, reads.bytes, &reads.values)).collect() }
    }

    fn left(&mut self) -> bool {
        let other = |value: Option<u64>, values: &BTreeSet<u64>| value.is_some_and(|v| !values.contains(&v));
        let state = self.walk.state();
        self.holds.iter().any(|(at, bytes, values)| other(state.number(at.0, at.1, *bytes), values))
    }
}

impl Walk for Leaving<'_> {
    fn agents(&mut self, out: &mut Vec<Agent>) {
        if !self.left() {
            self.walk.agents(out);
        }
    }

    fn advance(&mut self, agent: Agent, oracle: &mut dyn Oracle, tell: Option<Tell<'_>>) -> Result<u32, Stop> {
        self.walk.advance(agent, oracle, tell)
    }

    fn begun(&self) -> &Begun {
        self.walk.begun()
    }

    fn key(&self) -> u128 {
        self.walk.key()
    }

    fn whole(&self) -> Vec<u8> {
        self.walk.whole()
    }

    fn mark(&self) -> Mark {
        self.walk.mark()
    }

    fn back(&mut self, to: Mark) {
        self.walk.back(to);
    }

    fn held(&self) -> usize {
        self.walk.held()
    }

    fn grows(&self, steps: u64) -> usize {
        self.walk.grows(steps)
    }

    fn copies(&self) -> bool {
        self.walk.copies()
    }

    fn program(&self) -> Arc<ProgEnv> {
        self.walk.program()
    }

    // Where a cycle is left the run could go on: that it is said to be stuck there is of no account.
    fn state(&mut self) -> &dyn State {
        self.walk.state()
    }
}

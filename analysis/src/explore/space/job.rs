//! A part of a search in the hands of another thread.

use super::frozen::Before;
use super::graph::Move;
use super::left::Unit;
use crate::machine::walk::Agent;
use std::ops::Range;

/// A part of a search that somebody else goes on with: some agents of a state.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub state: u32,
    /// The way to it.
    pub path: Vec<Move>,
    pub before: Before,
    /// Which of its agents; all up to the last where that is beyond them.
    pub agents: Range<u32>,
    /// These agents, and who they are where some may be exchanged, for a search that ends before anybody comes to them.
    pub waiting: (Vec<Agent>, Vec<Unit>),
}

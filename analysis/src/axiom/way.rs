//! The ways to decide. They share nothing but the events and must agree (`tests/ways.rs`).

use super::candidates;
use super::execution::Execution;
use super::model::Model;
use super::program::Program;
use super::question::{Limits, Question, Searched};
use super::sat;
use super::search::search;
use super::uniform::fitting;
use crate::base::words;
use std::ops::ControlFlow;

words! {
    /// How it is decided what a model allows.
    pub enum Way {
        /// By building consistent executions only, each once.
        Graphs = "graphs",
        /// By judging every candidate, for small programs.
        Candidates = "candidates",
        /// By a formula that a SAT solver satisfies.
        Sat = "sat",
    }
}

/// Calls `found` with executions that are wanted and allowed, found in a way. An execution for each way to read and each last value
/// that is asked about is enough.
pub fn search_by(
    way: Way,
    program: &dyn Program,
    model: &Model,
    question: &Question<'_>,
    limits: Limits,
    found: &mut dyn FnMut(&Execution) -> ControlFlow<()>,
) -> Searched {
    let model = &*fitting(program, model);
    match way {
        Way::Graphs => search(program, model, question, limits, found),
        Way::Candidates => candidates::search(program, model, question, limits, found),
        Way::Sat => sat::search(program, model, question, limits, found),
    }
}

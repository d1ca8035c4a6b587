//! What a model says of a litmus test.

use super::events::Threads;
use super::liveness::Lasso;
use super::outcome::{Observed, Truth};
use super::tree::{Cond, Litmus};
use crate::axiom::{Execution, Limits, Model, Question, Searched, Way, search_by};
use crate::base::words;
use std::ops::ControlFlow;

words! {
    /// What is asked of a test under a model.
    pub enum Property {
        /// What the test's condition asks.
        Safety = "safety",
        /// Whether every execution ends, where reads that spin see the coherence-last write in the end.
        Liveness = "liveness",
        /// Whether no execution raises a flag of the model, which stands for a data race.
        Drf = "drf",
    }
}

/// What a model says.
#[derive(Clone, Debug)]
pub struct Decided {
    /// Whether the property passes.
    pub pass: bool,
    /// An execution that shows it: what was asked for, or what must not be.
    pub witness: Option<Execution>,
    /// Of liveness: an execution that does not end.
    pub lasso: Option<Lasso>,
    /// What the search did.
    pub searched: Searched,
}

/// Decides safety or freedom from data races.
#[must_use]
pub fn decide(litmus: &Litmus, model: &Model, property: Property, way: Way, limits: Limits) -> Decided {
    let threads = Threads::of(litmus);
    let observed = Observed::of(litmus);
    let truth = litmus.condition.as_ref().map_or(Truth::None, Truth::of);
    let cond = litmus.condition.as_ref().map(|c| &c.cond);
    let flagged = property == Property::Drf;
    let wanted = |registers: &[&[Option<u64>]], finals: &[Option<u64>]| {
        let values: Vec<Option<i64>> = threads.observe(registers, finals).collect();
        let known = |cond: &Cond| cond.known(&observed, &values);
        let kept = litmus.filter.as_ref().map_or(Some(true), known);
        let asked = match cond {
            Some(cond) if !flagged => known(cond).map(|holds| holds != (truth == Truth::All)),
            _ => Some(true),
        };
        both(kept, asked)
    };
    let question = Question { finals: &threads.finals, wanted: &wanted, flagged };
    let mut witness = None;
    let searched = search_by(way, &threads, model, &question, limits, &mut |execution| {
        witness = Some(execution.clone());
        ControlFlow::Break(())
    });
    let pass = witness.is_some() == (truth == Truth::Some && !flagged);
    Decided { pass, witness, lasso: None, searched }
}

/// What holds only if both do.
fn both(one: Option<bool>, two: Option<bool>) -> Option<bool> {
    match (one, two) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

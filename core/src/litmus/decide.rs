//! What a model says of a litmus test.

use super::events::Threads;
use super::liveness::Lasso;
use super::outcome::{Observed, Truth};
use super::tree::{Cond, Litmus, Relation, Term, TermKind};
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
    let conds: Vec<&Cond> = litmus.filter.iter().chain(cond.filter(|_| !flagged)).collect();
    let alike = |a: usize, b: usize| {
        let (one, other) = (litmus.threads[a].number, litmus.threads[b].number);
        threads.alike(a, b) && conds.iter().all(|cond| cond.blind_to(one, other))
    };
    let question = Question { finals: &threads.finals, wanted: &wanted, alike: &alike, flagged };
    let mut witness = None;
    let searched = search_by(way, &threads, model, &question, limits, &mut |execution| {
        witness = Some(execution.clone());
        ControlFlow::Break(())
    });
    let pass = witness.is_some() == (truth == Truth::Some && !flagged);
    Decided { pass, witness, lasso: None, searched }
}

impl Cond {
    /// Whether it says the same when two threads change places.
    fn blind_to(&self, one: u32, other: u32) -> bool {
        self.canonical(None) == self.canonical(Some((one, other)))
    }

    /// It as text in which the order of what it joins or compares does not matter, perhaps with two threads changed for each other.
    fn canonical(&self, swapped: Option<(u32, u32)>) -> String {
        let term = |term: &Term| match (&term.kind, swapped) {
            (TermKind::Register { thread, name }, Some((one, other))) => {
                let thread = if *thread == one {
                    other
                } else if *thread == other {
                    one
                } else {
                    *thread
                };
                format!("{thread}:{name}")
            }
            (TermKind::Register { thread, name }, None) => format!("{thread}:{name}"),
            (TermKind::Location { name, element }, _) => format!("[{name}+{element}]"),
            (TermKind::Number(n), _) => n.to_string(),
        };
        let joined = |list: &[Self], mark: &str| {
            let mut parts: Vec<String> = list.iter().map(|cond| cond.canonical(swapped)).collect();
            parts.sort_unstable();
            format!("({})", parts.join(mark))
        };
        match self {
            Self::Compare(left, relation, right) => {
                let mut sides = [term(left), term(right)];
                if matches!(relation, Relation::Eq | Relation::Ne) {
                    sides.sort_unstable();
                }
                format!("{} {} {}", sides[0], relation.name(), sides[1])
            }
            Self::Not(inner) => format!("~({})", inner.canonical(swapped)),
            Self::And(list) => joined(list, " and "),
            Self::Or(list) => joined(list, " or "),
        }
    }
}

/// What holds only if both do.
fn both(one: Option<bool>, two: Option<bool>) -> Option<bool> {
    match (one, two) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

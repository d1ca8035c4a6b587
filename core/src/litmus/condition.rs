//! Conditions on final states: what they look at, and whether they hold.

use super::outcome::{Observed, Outcome};
use super::tree::{Cond, Term, TermKind};

impl Cond {
    /// Whether it holds of an outcome, all of whose terms are observed.
    #[must_use]
    pub fn holds(&self, observed: &Observed, outcome: &Outcome) -> bool {
        match self {
            Self::Compare(left, relation, right) => {
                relation.holds(value(left, observed, outcome), value(right, observed, outcome))
            }
            Self::Not(inner) => !inner.holds(observed, outcome),
            Self::And(list) => list.iter().all(|c| c.holds(observed, outcome)),
            Self::Or(list) => list.iter().any(|c| c.holds(observed, outcome)),
        }
    }
}

fn value(term: &Term, observed: &Observed, outcome: &Outcome) -> i64 {
    match &term.kind {
        TermKind::Number(n) => *n,
        place => observed.position(place).and_then(|k| outcome.0.get(k)).copied().unwrap_or(0),
    }
}

//! Conditions on final states: what they look at, and whether they hold.

use super::outcome::{Observed, Outcome};
use super::tree::{Cond, Condition, Quantifier, Term, TermKind};

/// A final state, as far as a condition can look at it. Values are the 64 bits that a register or location holds.
pub trait Final {
    /// A register of the thread at a position of the file. `None`: there is none; it counts as zero.
    fn register(&self, thread: usize, name: &str) -> Option<u64>;

    /// A location.
    fn location(&self, name: &str) -> Option<u64>;
}

/// What a condition comes to over all executions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Truth {
    /// `exists`: some final state satisfies the condition.
    Some,
    /// `~exists`: none does.
    None,
    /// `forall`: all do.
    All,
}

impl Truth {
    /// What a question asks for: of `final`, what is expected of models that it does not name.
    #[must_use]
    pub fn of(condition: &Condition) -> Self {
        match condition.quantifier {
            Quantifier::Exists => Self::Some,
            Quantifier::NotExists => Self::None,
            Quantifier::Forall => Self::All,
            Quantifier::Final => {
                let default = condition.expected.iter().find(|e| e.model.name == "default");
                if default.is_none_or(|e| e.exists) { Self::Some } else { Self::None }
            }
        }
    }
}

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

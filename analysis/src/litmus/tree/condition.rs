//! What is asked of final states.

use super::instruction::{Ident, Relation};
use crate::base::{Placed, Span, words};

/// How comparisons are written in conditions; the first of two for one is printed.
pub(in crate::litmus) const COMPARISONS: &[(&str, Relation)] = &[
    ("=", Relation::Eq),
    ("==", Relation::Eq),
    ("!=", Relation::Ne),
    ("<", Relation::Lt),
    ("<=", Relation::Le),
    (">", Relation::Gt),
    (">=", Relation::Ge),
];

/// What a condition compares, and what an outcome shows.
pub type Term = Placed<TermKind>;

/// The terms.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TermKind {
    /// `P0:r0` or `0:r0`.
    Register {
        /// The thread's number.
        thread: u32,
        /// The register.
        name: String,
    },
    /// `x`, `[x]` or `x[n]`: the value of a location.
    Location {
        /// Its name.
        name: String,
        /// The element; 0 when not given.
        element: u64,
    },
    /// A number.
    Number(i64),
}

/// A condition on a final state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cond {
    /// `P0:r0 == 1`
    Compare(Term, Relation, Term),
    /// `~c`
    Not(Box<Cond>),
    /// `c /\ d /\ …`, at least two; none is `()`, which holds.
    And(Vec<Cond>),
    /// `c \/ d \/ …`, at least two.
    Or(Vec<Cond>),
}

impl Cond {
    /// Adds its terms, in the order of the text.
    pub(in crate::litmus) fn terms<'a>(&'a self, all: &mut Vec<&'a Term>) {
        match self {
            Self::Compare(left, _, right) => all.extend([left, right]),
            Self::Not(inner) => inner.terms(all),
            Self::And(list) | Self::Or(list) => list.iter().for_each(|cond| cond.terms(all)),
        }
    }
}

words! {
    /// What is asked of the executions.
    pub enum Quantifier {
        /// Some execution satisfies the condition.
        Exists = "exists",
        /// None does.
        NotExists = "~exists",
        /// All do.
        Forall = "forall",
        /// `final c with …`: only what is expected of models by name says which of these is asked.
        Final = "final",
    }
}

/// The question of a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// How the condition is meant.
    pub quantifier: Quantifier,
    /// The condition.
    pub cond: Cond,
    /// After `final c with`: `tso: exists;`.
    pub expected: Vec<Expectation>,
    /// The place of quantifier and condition.
    pub span: Span,
}

/// What is expected of a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expectation {
    /// The model; `default` for all others.
    pub model: Ident,
    /// `exists`; otherwise `~exists`.
    pub exists: bool,
}

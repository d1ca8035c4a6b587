//! Outcomes: what the final states of a test's executions hold in the places that it asks about, counted.

use super::tree::{Cond, Condition, Litmus, Quantifier, Term, TermKind};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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

/// The registers and locations that a test looks at, in the order of its text, each with the position of its thread.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Observed(IndexMap<TermKind, usize>);

impl Observed {
    /// What a test looks at.
    #[must_use]
    pub fn of(litmus: &Litmus) -> Self {
        let position = |place: &TermKind| match place {
            TermKind::Register { thread, .. } => litmus.thread(*thread).unwrap_or(usize::MAX),
            TermKind::Location { .. } | TermKind::Number(_) => usize::MAX,
        };
        let kinds = litmus.terms().into_iter().map(|term| &term.kind);
        let places = kinds.filter(|kind| !matches!(kind, TermKind::Number(_)));
        Self(places.map(|place| (place.clone(), position(place))).collect())
    }

    /// What a condition looks at that is about locations only.
    pub(super) fn of_condition(cond: &Cond) -> Self {
        let mut terms = Vec::new();
        cond.terms(&mut terms);
        let kinds = terms.into_iter().map(|term| term.kind.clone());
        Self(kinds.filter(|kind| !matches!(kind, TermKind::Number(_))).map(|kind| (kind, usize::MAX)).collect())
    }

    /// The places.
    pub fn places(&self) -> impl Iterator<Item = &TermKind> {
        self.0.keys()
    }

    /// What a final state holds in these places.
    #[must_use]
    pub fn outcome(&self, state: &impl Final) -> Outcome {
        let values = self.0.iter().map(|(place, thread)| {
            let bits = match place {
                TermKind::Register { name, .. } => state.register(*thread, name),
                TermKind::Location { name, .. } => state.location(name),
                TermKind::Number(n) => return *n,
            };
            bits.unwrap_or(0).cast_signed()
        });
        Outcome(values.collect())
    }

    /// What a term comes to in an outcome.
    fn value(&self, term: &Term, outcome: &Outcome) -> i64 {
        match &term.kind {
            TermKind::Number(n) => *n,
            place => self.0.get_index_of(place).and_then(|k| outcome.0.get(k)).copied().unwrap_or(0),
        }
    }
}

impl Cond {
    /// Whether it holds of an outcome, all of whose terms are observed.
    #[must_use]
    pub fn holds(&self, observed: &Observed, outcome: &Outcome) -> bool {
        match self {
            Self::Compare(left, relation, right) => {
                relation.holds(observed.value(left, outcome), observed.value(right, outcome))
            }
            Self::Not(inner) => !inner.holds(observed, outcome),
            Self::And(list) => list.iter().all(|c| c.holds(observed, outcome)),
            Self::Or(list) => list.iter().any(|c| c.holds(observed, outcome)),
        }
    }
}

impl Cond {
    /// Whether it holds, as far as that is known of values in the order of the observed places.
    #[must_use]
    pub fn known(&self, observed: &Observed, values: &[Option<i64>]) -> Option<bool> {
        let value = |term: &Term| match &term.kind {
            TermKind::Number(n) => Some(*n),
            place => values.get(observed.0.get_index_of(place)?).copied().flatten(),
        };
        let decided = |list: &[Self], settles: bool| {
            let mut open = false;
            for cond in list {
                match cond.known(observed, values) {
                    Some(holds) if holds == settles => return Some(settles),
                    Some(_) => {}
                    None => open = true,
                }
            }
            (!open).then_some(!settles)
        };
        match self {
            Self::Compare(left, relation, right) => Some(relation.holds(value(left)?, value(right)?)),
            Self::Not(inner) => inner.known(observed, values).map(|holds| !holds),
            Self::And(list) => decided(list, false),
            Self::Or(list) => decided(list, true),
        }
    }
}

/// Values of the places of an [`Observed`], in its order.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Outcome(pub Vec<i64>);

/// What the executions of a test came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcomes<'a> {
    litmus: &'a Litmus,
    observed: Observed,
    counts: BTreeMap<Outcome, u64>,
}

/// How a test's condition fared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// Whether what was asked is so, of the outcomes counted.
    pub holds: bool,
    /// Executions whose outcome satisfies the condition.
    pub satisfied: u64,
    /// The others.
    pub not_satisfied: u64,
}

impl<'a> Outcomes<'a> {
    /// No outcome so far.
    #[must_use]
    pub fn new(litmus: &'a Litmus) -> Self {
        Self { litmus, observed: Observed::of(litmus), counts: BTreeMap::new() }
    }

    /// Counts `times` executions with an outcome. Those that the filter excludes are left out.
    pub fn count(&mut self, outcome: Outcome, times: u64) {
        if self.litmus.filter.as_ref().is_none_or(|f| f.holds(&self.observed, &outcome)) {
            *self.counts.entry(outcome).or_default() += times;
        }
    }

    /// The test.
    #[must_use]
    pub const fn litmus(&self) -> &'a Litmus {
        self.litmus
    }

    /// What outcomes are about.
    #[must_use]
    pub const fn observed(&self) -> &Observed {
        &self.observed
    }

    /// Whether there is an execution with an outcome.
    #[must_use]
    pub fn has(&self, outcome: &Outcome) -> bool {
        self.counts.contains_key(outcome)
    }

    /// The outcomes in ascending order of their values, with their counts and whether they satisfy the condition.
    pub fn iter(&self) -> impl Iterator<Item = (&Outcome, u64, bool)> {
        self.counts.iter().map(|(outcome, n)| (outcome, *n, self.satisfies(outcome)))
    }

    fn satisfies(&self, outcome: &Outcome) -> bool {
        self.litmus.condition.as_ref().is_some_and(|c| c.cond.holds(&self.observed, outcome))
    }

    /// Whether it is settled how the condition fared: these are all outcomes there are, or a witness, or a state that
    /// contradicts, settles it however many others there are.
    #[must_use]
    pub fn decided(&self, complete: bool) -> bool {
        let some = self.litmus.condition.as_ref().is_some_and(|c| Truth::of(c) == Truth::Some);
        complete || self.verdict().holds == some
    }

    /// How the condition fared.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let (mut satisfied, mut not_satisfied) = (0, 0);
        for (_, times, satisfies) in self.iter() {
            *(if satisfies { &mut satisfied } else { &mut not_satisfied }) += times;
        }
        let holds = match self.litmus.condition.as_ref().map(Truth::of) {
            Some(Truth::Some) => satisfied > 0,
            Some(Truth::None) => satisfied == 0,
            Some(Truth::All) => not_satisfied == 0,
            None => false,
        };
        Verdict { holds, satisfied, not_satisfied }
    }
}

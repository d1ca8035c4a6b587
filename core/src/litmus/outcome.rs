//! Outcomes: what the final states of a test's executions hold in the places that it asks about, counted.

use super::tree::{Cond, Condition, Litmus, Quantifier, Term, TermKind};
use indexmap::IndexSet;
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

/// The registers and locations that a test looks at, in the order of its text: `locations`, `filter`, the condition.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Observed {
    places: IndexSet<TermKind>,
    /// The position of the thread of each register.
    threads: Vec<usize>,
}

impl Observed {
    /// What a test looks at.
    #[must_use]
    pub fn of(litmus: &Litmus) -> Self {
        let mut places = IndexSet::new();
        let mut see = |term: &Term| {
            if !matches!(term.kind, TermKind::Number(_)) {
                places.insert(term.kind.clone());
            }
        };
        litmus.locations.iter().for_each(&mut see);
        let conds = litmus.filter.iter().chain(litmus.condition.as_ref().map(|c| &c.cond));
        conds.for_each(|c: &Cond| c.each_term(&mut see));
        let position = |place: &TermKind| match place {
            TermKind::Register { thread, .. } => litmus.thread(*thread).unwrap_or(usize::MAX),
            TermKind::Location { .. } | TermKind::Number(_) => usize::MAX,
        };
        let threads = places.iter().map(position).collect();
        Self { places, threads }
    }

    /// The places.
    pub fn places(&self) -> impl Iterator<Item = &TermKind> {
        self.places.iter()
    }

    /// The position of a place.
    #[must_use]
    pub(super) fn position(&self, place: &TermKind) -> Option<usize> {
        self.places.get_index_of(place)
    }

    /// What a final state holds in these places.
    #[must_use]
    pub fn outcome(&self, state: &impl Final) -> Outcome {
        let values = self.places.iter().zip(&self.threads).map(|(place, thread)| {
            let bits = match place {
                TermKind::Register { name, .. } => state.register(*thread, name),
                TermKind::Location { name, .. } => state.location(name),
                TermKind::Number(n) => return *n,
            };
            bits.unwrap_or(0).cast_signed()
        });
        Outcome(values.collect())
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

    /// Counts `times` executions that end in a state. Those that the filter excludes are left out.
    pub fn add(&mut self, state: &impl Final, times: u64) {
        let outcome = self.observed.outcome(state);
        self.count(outcome, times);
    }

    /// The same of an outcome.
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

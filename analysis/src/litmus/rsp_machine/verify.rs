//! Theorem 1 for one program: every complete execution of what it is compiled to is allowed, or the program is racy.

use super::axioms::{Axiom, Inclusion, judge};
use super::compile::Compiled;
use super::pre::races;
use crate::explore::promotion::{End, Grain, Options, Step, explore};
use crate::verdict::LimitKind;

/// An execution of the machine that the axioms do not allow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// What is violated.
    pub axiom: Axiom,
    /// How the execution ends.
    pub end: End,
    /// A shortest way to it, in the coarser grain.
    pub path: Vec<Step>,
}

/// What came out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The program is racy: it may do anything.
    Racy,
    /// Every execution is allowed: how many graphs there are, and how many states were gone through.
    Sound(usize, u64),
    /// One is not.
    Unsound(Box<Violation>),
    /// The search ended early.
    Limit(LimitKind),
}

/// Compares the machine with the axioms. `atomic` says which locations are atomic.
#[must_use]
pub fn verify(compiled: &Compiled, atomic: &[bool], most: Option<u64>) -> Verdict {
    if races(compiled, atomic, Inclusion::Section3) {
        return Verdict::Racy;
    }
    let options = &mut Options { ghost: true, max_states: most, ..Options::new(Grain::Needed) };
    let space = explore(&compiled.program, options);
    if let Some(limit) = space.limit {
        return Verdict::Limit(limit);
    }
    let states = space.states;
    let count = space.ends.len();
    for (end, path) in space.ends {
        if let Some(axiom) = judge(compiled, atomic, &end.graph, Inclusion::Section3).violated {
            return Verdict::Unsound(Box::new(Violation { axiom, end, path }));
        }
    }
    Verdict::Sound(count, states)
}

//! When the way of candidates asks whether to go on.

use crate::axiom::question::{Limits, Question};

/// Choices after which it is asked.
const PATIENCE: u64 = 64;

/// Whether a search among so many threads ends here: there were choices enough, or nothing is wanted any more whatever comes, which is
/// how a question says that its time or memory is up.
pub(super) fn is_up(question: &Question<'_>, threads: usize, choices: u64, limits: Limits) -> bool {
    let none: &[Option<u64>] = &[];
    let over = || (question.wanted)(&vec![none; threads], &vec![None; question.finals.len()]) == Some(false);
    choices > limits.choices || choices.is_multiple_of(PATIENCE) && over()
}

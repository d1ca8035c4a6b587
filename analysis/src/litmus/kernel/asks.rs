//! What is asked of a launch, and what is said of it.

use super::Gap;
use super::goal::Goal;
use crate::launch::Mismatch;
use crate::litmus::decided::Decided;
use crate::verdict::Stop;

/// What is asked of a launch.
#[derive(Clone, Debug)]
pub enum Asks {
    /// Whether every execution leaves what is expected, and no thread comes to a defect of its own.
    Expected,
    /// Whether no execution raises a flag of the model.
    Races,
    /// Whether every execution ends.
    Ends,
    /// Whether some execution leaves results that satisfy a condition.
    Exists(Goal),
}

/// What a model says of a launch.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The answer, with an execution.
    pub decided: Decided,
    /// What the execution leaves that is other than expected.
    pub mismatches: Vec<Mismatch>,
    /// Why a thread stops in it before its end.
    pub defect: Option<Stop>,
    /// Where a thread did first what has no events, and what that is.
    pub gap: Option<Gap>,
}

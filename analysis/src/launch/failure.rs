//! What every part of a launch gives: where a buffer was placed, or why something did not happen.

use super::problem::{Problem, ProblemKind};
use super::scalar::Scalar;
use crate::verdict::Stop;

/// Why something that was asked for did not happen.
#[derive(Clone, PartialEq, Debug)]
pub enum Failure {
    /// The input is wrong, before anything ran: exit code 2.
    Input(Vec<Problem>),
    /// The run stopped.
    Stop(Stop),
}

impl Failure {
    /// Why the run stopped, if it did.
    #[must_use]
    pub const fn stop(&self) -> Option<&Stop> {
        match self {
            Self::Stop(stop) => Some(stop),
            Self::Input(_) => None,
        }
    }

    /// The same with another stop in place of its own.
    #[must_use]
    pub fn map_stop(self, to: impl FnOnce(Stop) -> Stop) -> Self {
        match self {
            Self::Stop(stop) => Self::Stop(to(stop)),
            input @ Self::Input(_) => input,
        }
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl From<Vec<Problem>> for Failure {
    fn from(problems: Vec<Problem>) -> Self {
        Self::Input(problems)
    }
}

impl From<ProblemKind> for Failure {
    fn from(kind: ProblemKind) -> Self {
        Self::Input(kind.into())
    }
}

/// A buffer that was made.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Placed {
    pub address: u64,
    pub bytes: u64,
    pub ty: Scalar,
}

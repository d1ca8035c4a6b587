//! What tells one defect from another.

use super::{Ending, Played};
use crate::base::{Pc, sort};
use crate::verdict::{BugKind, Stop, StuckKind};
use std::mem::{Discriminant, discriminant};

/// A defect's class and the instructions that take part: two runs with the same signature show the same defect, whichever
/// threads and values it happened to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Signature {
    /// The program broke this rule there.
    Bug(Discriminant<BugKind>, Vec<Pc>),
    /// No rule applied to those who wait there; or the run goes on in a circle through these instructions for ever.
    Stuck(Discriminant<StuckKind>, Vec<Pc>),
    /// The first buffer or variable that is other than expected, or else the output.
    Unexpected(Option<String>),
    /// The first buffer or variable that depends on the schedule, or else the output.
    Differs(Option<String>),
}

impl Signature {
    /// The signature of a run's defect; `None` when it shows none.
    #[must_use]
    pub fn of(played: &Played) -> Option<Self> {
        Self::of_end(&played.ending, &played.circle)
    }

    /// The same of a run's end alone; `circle` are the instructions of a circle that it goes on in for ever.
    #[must_use]
    pub fn of_end(ending: &Ending, circle: &[Pc]) -> Option<Self> {
        match ending {
            Ending::Unexpected(what) => Some(Self::Unexpected(what.mismatches.first().map(|m| m.name.clone()))),
            Ending::Differs(what) => Some(Self::Differs(what.mismatches.first().map(|m| m.name.clone()))),
            Ending::Stopped(stop) => {
                let mut pcs: Vec<Pc> = match stop {
                    // Where the state was found to repeat is chance, the circle is not.
                    Stop::Stuck(stuck) if matches!(**stuck, StuckKind::Endless { .. }) => circle.to_vec(),
                    _ => stop.places().into_iter().map(|p| p.pc).collect(),
                };
                sort::sort(&mut pcs);
                pcs.dedup();
                match stop {
                    Stop::Bug(bug) => Some(Self::Bug(discriminant(&bug.kind), pcs)),
                    Stop::Stuck(stuck) => Some(Self::Stuck(discriminant(&**stuck), pcs)),
                    _ => None,
                }
            }
            Ending::Expected => None,
        }
    }
}

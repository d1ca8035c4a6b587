//! When two stops tell of the same defect.

use super::{Kind, Stop};
use crate::base::Pc;

/// What kind of defect it is, and at which instructions: the same for all threads, schedules and launches that run into it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Identity {
    /// What it is.
    pub kind: Kind,
    /// The instructions that are involved, each once: the number of the program and the address.
    pub places: Vec<(u32, Pc)>,
}

impl Stop {
    /// What makes it the defect that it is.
    #[must_use]
    pub fn identity(&self) -> Identity {
        let mut places: Vec<(u32, Pc)> = self.places().into_iter().map(|p| (p.program, p.pc)).collect();
        places.sort_unstable();
        places.dedup();
        Identity { kind: self.kind(), places }
    }
}

//! When two stops tell of the same defect.

use super::{BugKind, Kind, Stop, StuckKind};
use crate::base::{Pc, sort};

/// How a run comes to know of a defect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FoundBy {
    /// The machine cannot go on.
    Machine,
    /// A check looks for it (`--check`): the machine itself goes on.
    Check,
}

impl BugKind {
    /// Whether a run finds it under a check only (`--check`): the machine itself goes on.
    #[must_use]
    pub const fn needs_check(&self) -> bool {
        matches!(self.row().1, FoundBy::Check)
    }

    /// What it is called.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.row().0
    }

    const fn row(&self) -> (Kind, FoundBy) {
        use FoundBy::{Check, Machine};
        match self {
            Self::OutOfBounds { .. } => (Kind::OutOfBounds, Machine),
            Self::OutsideObject { .. } => (Kind::OutOfBounds, Check),
            Self::UseAfterFree { .. } => (Kind::UseAfterFree, Machine),
            Self::Null { .. } => (Kind::Null, Machine),
            Self::Misaligned { .. } => (Kind::Misaligned, Machine),
            Self::WrongSpace { .. } => (Kind::WrongSpace, Machine),
            Self::WriteToReadOnly { .. } => (Kind::ReadOnly, Machine),
            Self::Uninitialised { .. } => (Kind::Uninitialised, Check),
            Self::NotAMember { .. } => (Kind::NotAMember, Machine),
            Self::MembersInactive { .. } => (Kind::MembersInactive, Machine),
            Self::MembersNeverCome { .. } => (Kind::MembersNeverCome, Machine),
            Self::PartialWarp { .. } => (Kind::PartialWarp, Machine),
            Self::BulkBlocks { .. } => (Kind::OutOfBounds, Machine),
            Self::BulkSize { .. } => (Kind::Misaligned, Machine),
            Self::SparsityMetadata { .. } | Self::SparsitySelector { .. } => (Kind::Sparsity, Machine),
            Self::Barrier(_) => (Kind::Mbarrier, Machine),
            Self::Image(problem) => (problem.kind(), Machine),
            Self::MembersExited { .. } => (Kind::MembersExited, Check),
            Self::AbsentSource { .. } => (Kind::AbsentSource, Check),
            Self::BarrierDivergence { .. } => (Kind::BarrierDivergence, Machine),
            Self::BarrierExited { .. } => (Kind::BarrierExited, Check),
            Self::BarrierNumber { .. } => (Kind::BarrierNumber, Machine),
            Self::BarrierCount { .. } => (Kind::BarrierCount, Machine),
            Self::BarrierMismatch { .. } => (Kind::BarrierMismatch, Machine),
            Self::ClusterBarrier { .. } => (Kind::ClusterBarrier, Machine),
            Self::StackOverflow { .. } => (Kind::StackOverflow, Machine),
            Self::Assertion { .. } => (Kind::Assertion, Machine),
            Self::BadCallTarget { .. } => (Kind::BadCallTarget, Machine),
            Self::Undefined { .. } => (Kind::UndefinedFunction, Machine),
            Self::BadBranchIndex { .. } => (Kind::BranchIndex, Machine),
            Self::Race(_) => (Kind::Race, Check),
            Self::LaneDecides { .. } => (Kind::LaneDecides, Check),
            Self::Unsafe(_) => (Kind::Safety, Check),
            Self::BadFree { twice: true, .. } => (Kind::DoubleFree, Machine),
            Self::BadFree { .. } => (Kind::BadFree, Machine),
            Self::Leak { .. } => (Kind::Leak, Check),
            Self::BadFormat { .. } => (Kind::BadFormat, Machine),
            Self::Plain(kind @ (Kind::Trap | Kind::Breakpoint)) => (*kind, Machine),
            Self::Plain(kind) => (*kind, Check),
        }
    }
}

impl StuckKind {
    /// What it is called. A run that never ends has the name of its class where that is known.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::BarrierDeadlock { .. } => Kind::BarrierDeadlock,
            Self::Endless { hang, .. } => Kind::of_class(hang.class),
            Self::Operations { .. } => Kind::MemoryDeadlock,
            Self::MemoryProgram { .. } => Kind::MemoryProgram,
        }
    }
}

impl Stop {
    /// What it is called.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Bug(bug) => bug.kind.kind(),
            Self::Stuck(stuck) => stuck.kind(),
            Self::Limit(_) => Kind::Limit,
            Self::Unsupported(..) => Kind::Unsupported,
            Self::Diverged { .. } => Kind::Diverged,
            Self::Internal(_) => Kind::Internal,
        }
    }
}

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
        sort::sort(&mut places);
        places.dedup();
        Identity { kind: self.kind(), places }
    }
}

//! What each way to stop is called: the names in JSON, SARIF and suppression files.
//!
//! A name says what is wrong, not how it was found, and never changes: people write it into their files.

use super::{BugKind, Class, Stop, StuckKind};

macro_rules! kinds {
    ($($variant:ident = $id:literal,)*) => {
        /// The name of a way to stop, without its particulars.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "named as the variants of BugKind, StuckKind and Stop that it stands for")]
        pub enum Kind { $($variant,)* }

        impl Kind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Its fixed name, e.g. `out-of-bounds`.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Self::$variant => $id,)* }
            }
        }
    };
}

kinds! {
    OutOfBounds = "out-of-bounds",
    UseAfterFree = "use-after-free",
    Null = "null",
    Misaligned = "misaligned",
    WrongSpace = "wrong-space",
    ReadOnly = "read-only",
    Uninitialised = "uninitialised",
    DivisionByZero = "division-by-zero",
    NotAMember = "not-a-member",
    MembersInactive = "members-inactive",
    MasksDiffer = "masks-differ",
    MembersNeverCome = "members-never-come",
    MembersExited = "members-exited",
    AbsentSource = "absent-source",
    BarrierDivergence = "barrier-divergence",
    BarrierExited = "barrier-exited",
    BarrierNumber = "barrier-number",
    BarrierCount = "barrier-count",
    BarrierMismatch = "barrier-mismatch",
    StackOverflow = "stack-overflow",
    Assertion = "assertion",
    Trap = "trap",
    Breakpoint = "breakpoint",
    BadCallTarget = "bad-call-target",
    UndefinedFunction = "undefined-function",
    BranchIndex = "bad-branch-index",
    Race = "race",
    LaneDecides = "lane-decides",
    Safety = "safety",
    BadFree = "bad-free",
    DoubleFree = "double-free",
    Leak = "leak",
    BadFormat = "bad-format",
    BarrierDeadlock = "barrier-deadlock",
    SimtDeadlock = "simt-deadlock",
    Starvation = "starvation",
    Mixed = "mixed",
    Livelock = "livelock",
    Endless = "endless",
    MemoryDeadlock = "memory-deadlock",
    MemoryProgram = "memory-program",
    Limit = "limit",
    Unsupported = "unsupported",
    Diverged = "diverged",
    Internal = "internal",
}

impl Kind {
    /// The kind of a name.
    #[must_use]
    pub fn named(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|k| k.id() == id)
    }

    /// Whether it is a defect of the program, which a reader may know and accept. A limit, a gap of ours, a
    /// schedule that does not fit and an error of ours are none: they say that nothing is known.
    #[must_use]
    pub const fn is_defect(self) -> bool {
        !matches!(self, Self::Limit | Self::Unsupported | Self::Diverged | Self::Internal | Self::Safety)
    }
}

impl BugKind {
    /// Whether a run finds it under a check only (`--check`): the machine itself goes on.
    #[must_use]
    pub const fn needs_check(&self) -> bool {
        matches!(
            self,
            Self::OutsideObject { .. }
                | Self::Uninitialised { .. }
                | Self::DivisionByZero
                | Self::Race(_)
                | Self::LaneDecides { .. }
                | Self::Leak { .. }
                | Self::Unsafe(_)
                | Self::BarrierExited { .. }
                | Self::MembersExited { .. }
                | Self::AbsentSource { .. }
        )
    }

    /// What it is called.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::OutOfBounds { .. } | Self::OutsideObject { .. } => Kind::OutOfBounds,
            Self::UseAfterFree { .. } => Kind::UseAfterFree,
            Self::Null { .. } => Kind::Null,
            Self::Misaligned { .. } => Kind::Misaligned,
            Self::WrongSpace { .. } => Kind::WrongSpace,
            Self::WriteToReadOnly { .. } => Kind::ReadOnly,
            Self::Uninitialised { .. } => Kind::Uninitialised,
            Self::DivisionByZero => Kind::DivisionByZero,
            Self::NotAMember { .. } => Kind::NotAMember,
            Self::MembersInactive { .. } => Kind::MembersInactive,
            Self::MasksDiffer { .. } => Kind::MasksDiffer,
            Self::MembersNeverCome { .. } => Kind::MembersNeverCome,
            Self::MembersExited { .. } => Kind::MembersExited,
            Self::AbsentSource { .. } => Kind::AbsentSource,
            Self::BarrierDivergence { .. } => Kind::BarrierDivergence,
            Self::BarrierExited { .. } => Kind::BarrierExited,
            Self::BarrierNumber { .. } => Kind::BarrierNumber,
            Self::BarrierCount { .. } => Kind::BarrierCount,
            Self::BarrierMismatch { .. } => Kind::BarrierMismatch,
            Self::StackOverflow { .. } => Kind::StackOverflow,
            Self::Assertion { .. } => Kind::Assertion,
            Self::Trap => Kind::Trap,
            Self::Breakpoint => Kind::Breakpoint,
            Self::BadCallTarget { .. } => Kind::BadCallTarget,
            Self::Undefined { .. } => Kind::UndefinedFunction,
            Self::BadBranchIndex { .. } => Kind::BranchIndex,
            Self::Race(_) => Kind::Race,
            Self::LaneDecides { .. } => Kind::LaneDecides,
            Self::Unsafe(_) => Kind::Safety,
            Self::BadFree { twice: true, .. } => Kind::DoubleFree,
            Self::BadFree { .. } => Kind::BadFree,
            Self::Leak { .. } => Kind::Leak,
            Self::BadFormat { .. } => Kind::BadFormat,
        }
    }
}

impl StuckKind {
    /// What it is called. A run that never ends has the name of its class where that is known.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::BarrierDeadlock { .. } => Kind::BarrierDeadlock,
            Self::Endless { hang, .. } => match hang.class {
                Some(Class::SimtDeadlock) => Kind::SimtDeadlock,
                Some(Class::Starvation) => Kind::Starvation,
                Some(Class::Mixed) => Kind::Mixed,
                Some(Class::Livelock) => Kind::Livelock,
                None => Kind::Endless,
            },
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_and_found() {
        for kind in Kind::ALL {
            assert_eq!(Kind::named(kind.id()), Some(*kind));
            assert!(kind.id().chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", kind.id());
        }
        assert_eq!(Kind::named("Null"), None);
    }
}

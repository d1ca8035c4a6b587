//! Exchanges of values between the lanes of a warp (PTX ISA 9.7.13: shfl, vote, match, redux, elect, activemask).

use super::ops::Class;

/// An exchange of values between the lanes of a warp.
///
/// In the instruction the low 16 bits of `imm` index `ProgEnv::exchanges`; the high 16 bits are the slot of a predicate
/// result, or `0xffff`. `shfl`: `d` from `a` by `b` and `c`, all 32-bit, result predicate. `vote`: predicate `a`, `d` a
/// predicate (32-bit for ballot). `match`: `a` 32- or 64-bit, `d` 32-bit, result predicate (all). `redux`: 32-bit `a`,
/// `d`. `elect`: 32-bit `d`, result predicate. `activemask`: 32-bit `d`. The member mask is in 32-bit slot `e`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Exchange {
    /// The operation.
    pub kind: ExchangeKind,
    /// `.sync`: with a member mask; otherwise the active lanes take part.
    pub sync: bool,
}

impl ExchangeKind {
    /// What it reads of each lane, what it gives, and whether it may give a predicate beside.
    #[must_use]
    pub const fn shape(self) -> (&'static [Class], Class, bool) {
        use Class::{P, Q, W};
        match self {
            Self::ShflUp | Self::ShflDown | Self::ShflBfly | Self::ShflIdx => (&[W, W, W], W, true),
            Self::VoteAll | Self::VoteAny | Self::VoteUni => (&[P], P, false),
            Self::VoteBallot => (&[P], W, false),
            Self::MatchAny32 | Self::Redux(_) => (&[W], W, false),
            Self::MatchAll32 => (&[W], W, true),
            Self::MatchAny64 => (&[Q], W, false),
            Self::MatchAll64 => (&[Q], W, true),
            Self::Elect => (&[], W, true),
            Self::ActiveMask => (&[], W, false),
        }
    }

    /// Whether it is a `shfl`.
    #[must_use]
    pub const fn is_shuffle(self) -> bool {
        matches!(self, Self::ShflUp | Self::ShflDown | Self::ShflBfly | Self::ShflIdx)
    }
}

/// The exchanges.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the modes of the PTX ISA")]
pub enum ExchangeKind {
    ShflUp,
    ShflDown,
    ShflBfly,
    ShflIdx,
    VoteAll,
    VoteAny,
    VoteUni,
    VoteBallot,
    MatchAny32,
    MatchAny64,
    MatchAll32,
    MatchAll64,
    Redux(Redux),
    Elect,
    ActiveMask,
}

/// Reductions of `redux.sync`; the float forms are sm_100's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the operations of redux.sync")]
pub enum Redux {
    Add,
    MinU,
    MinS,
    MaxU,
    MaxS,
    And,
    Or,
    Xor,
    MinF { abs: bool, nan: bool },
    MaxF { abs: bool, nan: bool },
}

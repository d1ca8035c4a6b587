//! The token stack of a warp as observers see it, and what can be wrong with it (report, 5.4.1 and chapter 6).

use super::{Place, Rule, Who};
use crate::base::{LaneMask, Pc};
use serde::{Serialize, Serializer};

/// The kinds of tokens.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TokenKind {
    /// Pushed by `ssy`: lanes meet again.
    Sync,
    /// Pushed by a divergent branch: another path is still to be run.
    Diverge,
    /// Pushed by `preRet`: lanes meet again after a call.
    Call,
    /// Pushed by `preBrk`: lanes meet again after a loop.
    Break,
}

/// A token: whom it activates, and where.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Token {
    /// Its kind.
    pub kind: TokenKind,
    /// The lanes it activates, unless they are disabled by then.
    pub mask: LaneMask,
    /// Where they go on.
    pub pc: u32,
    /// The depth of their call stack there.
    pub depth: u32,
}

/// The part of a warp's execution state ς that decides who runs later.
#[derive(Clone, Copy, Debug)]
pub struct Tokens<'a> {
    /// The token stack, the top last.
    pub stack: &'a [Token],
    /// The lanes disabled by a break, a return, an exit: the disable mask.
    pub disabled: [LaneMask; 3],
}

impl Token {
    /// The lanes that it activates if it is the topmost for them: whoever it holds, unless they wait for another kind.
    #[must_use]
    pub const fn eligible(&self, [broken, returned, exited]: [LaneMask; 3]) -> LaneMask {
        self.mask
            & !exited
            & match self.kind {
                TokenKind::Break => !returned,
                TokenKind::Call => !broken,
                TokenKind::Sync | TokenKind::Diverge => !(broken | returned),
            }
    }
}

impl Tokens<'_> {
    /// The activation tokens (actToken of 6.4) of the lanes that are inactive and have not exited: the place of each token,
    /// the topmost first, and the lanes that it is for. Gives back the lanes without any.
    pub fn activations(&self, active: LaneMask, mut found: impl FnMut(usize, &Token, LaneMask)) -> LaneMask {
        let mut rest = !active & !self.disabled[2];
        for (at, token) in self.stack.iter().enumerate().rev() {
            let here = rest & token.eligible(self.disabled);
            rest &= !here;
            if here != 0 {
                found(at, token, here);
            }
        }
        rest
    }
}

/// A property of chapter 6.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Property {
    /// Stack consistency (6.2), condition (1) to (6); (4) as D-inject reads it.
    Stack(u8),
    /// Active consistency (6.4): an active lane's next address is the warp's.
    Active,
    /// Inactive consistency (6.4): an inactive lane's next address is its activation token's.
    Inactive,
    /// The invariant (6.4), part (1) to (6).
    Invariant(u8),
}

impl Property {
    /// What the report calls it.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            // As D-inject reads it.
            Self::Stack(4) => "stack-cons (4')".to_owned(),
            Self::Stack(k) => format!("stack-cons ({k})"),
            Self::Active => "act-cons".to_owned(),
            Self::Inactive => "inact-cons".to_owned(),
            Self::Invariant(k) => format!("inv ({k})"),
        }
    }

    fn as_name<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

/// A warp's state that violates a property: an error of the injection or of the machine, not of the program.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Violation {
    /// The property of the report's chapter 6.
    #[serde(serialize_with = "Property::as_name")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub property: Property,
    /// The last rule of the branching algorithm that fired in the warp.
    pub rule: Option<Rule>,
    /// The lanes for which it is.
    pub lanes: LaneMask,
    /// Where one of them would go on if it were on its own; none when it has ended, or when that does not matter.
    pub next: Option<u32>,
    /// The active lanes.
    pub active: LaneMask,
    /// The lanes disabled by a break, a return, an exit.
    #[serde(serialize_with = "disabled")]
    #[cfg_attr(feature = "schema", schemars(with = "Disabled"))]
    pub disabled: [LaneMask; 3],
    /// The token stack, the top last; as data, first.
    #[serde(rename = "tokens", serialize_with = "top_first")]
    pub stack: Vec<Token>,
}

/// Disabled lanes as data.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Disabled {
    /// By a break.
    r#break: LaneMask,
    /// By a return.
    r#return: LaneMask,
    /// By an exit.
    exit: LaneMask,
}

fn disabled<S: Serializer>([broken, returned, exited]: &[LaneMask; 3], serializer: S) -> Result<S::Ok, S::Error> {
    Disabled { r#break: *broken, r#return: *returned, exit: *exited }.serialize(serializer)
}

fn top_first<S: Serializer>(stack: &[Token], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(stack.iter().rev())
}

/// A token that is never popped, with lanes that wait for it.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NeverPopped {
    /// The warp.
    #[serde(skip)]
    pub who: Who,
    /// The token.
    pub token: Token,
    /// The lanes whose activation token it is.
    pub waiting: LaneMask,
    /// Where its active lanes are when the state repeats.
    #[serde(rename = "active")]
    pub place: Place,
    /// The instruction that pushed it.
    pub pushed: Pc,
}

//! What can be wrong with memory programs. Only `report::memp` makes text of it.

use super::tree::{Level, OpExp};
use super::{OpKey, Undefined};
use crate::base::{FileId, Span};

/// The most complaints that are kept for one file.
pub const MAX_ERRORS: usize = 100;

/// The deepest nesting of braces, parentheses and negations, and the most operators in one condition.
pub const MAX_NESTING: usize = 64;

/// A complaint about a file of memory programs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MempError {
    /// What is wrong.
    pub kind: MempErrorKind,
    /// The file.
    pub file: FileId,
    /// Where.
    pub span: Span,
}

impl MempError {
    /// Whether the programs can be run nevertheless.
    #[must_use]
    pub const fn is_warning(&self) -> bool {
        matches!(self.kind, MempErrorKind::Unreachable)
    }
}

/// The kinds of complaints.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum MempErrorKind {
    /// Characters that start no token.
    Garbage,
    /// A `/*` without `*/`.
    OpenComment,
    /// The text has 4 GiB or more.
    TooLarge,
    /// Something else was expected.
    Unexpected {
        /// What would have fitted, without repetition.
        expected: Vec<Expected>,
        /// Whether the text ends there.
        end: bool,
    },
    /// A statement ends without `;`. The span is empty and lies where the semicolon belongs.
    MissingSemicolon,
    /// A `{` without `}`.
    OpenBrace,
    /// A word that is no statement.
    UnknownStatement,
    /// A word that is no condition.
    UnknownCondition,
    /// Not the name of an operation.
    UnknownOperation,
    /// No preset has this name.
    UnknownPreset,
    /// A second `use`; the place of the first.
    SecondUse(Span),
    /// Nested deeper than [`MAX_NESTING`].
    TooDeep,
    /// A program of more statements than can be numbered.
    TooLong,
    /// There were more than [`MAX_ERRORS`] complaints.
    TooMany,
    /// The operation has a program already, at this place.
    Twice {
        /// The operation.
        key: OpKey,
        /// The file of the first one.
        file: FileId,
        /// Its name's place.
        span: Span,
    },
    /// No program serves these operations. The span is that of the last file's end.
    Missing(Vec<OpKey>),
    /// A statement that no path reaches.
    Unreachable,
    /// A path reaches the end of the program without `end`.
    NoEnd,
    /// A statement that is undefined for an operation that the program serves.
    Undefined {
        /// The statement.
        op: OpExp,
        /// The operation.
        key: OpKey,
        /// Why.
        cause: Undefined,
    },
    /// A query that is undefined for an operation that the program serves.
    NoCaches {
        /// The operation.
        key: OpKey,
    },
    /// On some path the line is not known to be in the cache: it was neither reserved nor found there in this micro step.
    NotReserved {
        /// The statement.
        op: OpExp,
        /// The cache.
        level: Level,
    },
    /// On some path the line may be in the cache already: it was not looked for in this micro step.
    MayBeCached(Level),
    /// On some path the statement waits for ever: for a line that the program pins itself, or has undertaken to fill.
    WaitsForItself(OpExp),
    /// On some path the program waits for the other multiprocessors' lines while it has one reserved itself: two that do so
    /// wait for each other.
    WaitsForEachOther,
    /// On some path bytes are made clean that the level behind has not been given in the same micro step.
    NotWrittenThrough(Level),
    /// On some path the program ends while it pins a line.
    StillPinned(Level),
    /// On some path the value of an atomic operation is read in another micro step than the one it is written in, with
    /// banks unlocked. The place of the read.
    Torn {
        /// Where it was read.
        read: Span,
    },
    /// On some path something is used that has not been read.
    NothingRead(OpExp),
    /// On some path the program ends with the operation's registers blocked.
    NotReleased,
    /// On some path a load ends without having written its registers, or an atomic operation that returns a value.
    NotWritten,
    /// On some path registers are written after they were released.
    WrittenAfterRelease,
    /// On some path a store or atomic operation ends without having written memory or a cache.
    NoEffect,
    /// On some path banks are locked twice, or unlocked without having been locked.
    LockTwice,
    /// See [`MempErrorKind::LockTwice`].
    NotLocked,
    /// On some path the program ends with its banks locked.
    StillLocked,
}

/// What would have fitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
pub enum Expected {
    /// A fixed token or word.
    Token(&'static str),
    /// A statement.
    Statement,
    /// A condition.
    Condition,
    /// The name of an operation such as `ld.global.ca`.
    Operation,
    /// The name of a preset.
    Preset,
    /// `program` or `use`.
    Item,
}

//! What can be wrong with a text as PTX syntax. Only `report::syntax` makes text of it.

use super::token::Kind;
use crate::base::Span;

/// The most complaints one parse keeps; then it gives up with [`SyntaxErrorKind::TooMany`].
pub const MAX_ERRORS: usize = 100;

/// The deepest nesting of parentheses and brackets, and the most operators, in one operand or initialiser element.
pub const MAX_NESTING: u32 = 256;

/// The deepest nesting of blocks in a function. ptxas has no documented limit; no compiler comes near.
pub const MAX_BLOCKS: u32 = 10_000;

/// One complaint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxError {
    /// What is wrong.
    pub kind: SyntaxErrorKind,
    /// Where.
    pub span: Span,
}

/// The ways in which a text is not PTX.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SyntaxErrorKind {
    /// The text does not begin with `.version`, and has none anywhere when `anywhere` is false.
    NoVersion {
        /// Whether `.version` occurs later.
        anywhere: bool,
    },
    /// The bytes are not UTF-8 from the span on.
    NotUtf8,
    /// The text has 4 GiB or more.
    TooLarge,
    /// Characters that start no token.
    Garbage,
    /// A `"` without its partner on the line.
    OpenText,
    /// A `/*` without `*/`.
    OpenComment,
    /// Something else was expected.
    Unexpected {
        /// What would have fitted, without repetition.
        expected: Vec<Expected>,
        /// What stands there.
        found: Found,
        /// What was being read.
        within: Context,
    },
    /// A statement ends without `;`. The span is empty and lies where the semicolon belongs.
    MissingSemicolon,
    /// A number that cannot be read.
    BadNumber(NumberProblem),
    /// A `.word` that PTX does not have, where a directive should be.
    UnknownDirective,
    /// Not `.section .name { … }`.
    BadSection,
    /// An instruction or block outside of any function.
    OutsideFunction,
    /// A module-level directive inside a function; the span of the brace that was not closed.
    InsideFunction {
        /// The `{` of the function.
        open: Span,
    },
    /// A `}` without `{`.
    StrayBrace,
    /// The text ends inside a function, block, section or initialiser; the span is its `{`.
    OpenBrace,
    /// Nested deeper than the limit.
    TooDeep {
        /// The limit, in levels.
        limit: u32,
    },
    /// A statement of more tokens than any compiler writes.
    StatementTooLong,
    /// There were more than [`MAX_ERRORS`] complaints.
    TooMany,
}

/// Why a number cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NumberProblem {
    /// Not a literal of PTX (PTX ISA 4.5).
    Malformed,
    /// Beyond 64 bits, or beyond what fits at this place.
    TooLarge,
    /// More or fewer numbers than a directive takes.
    Count {
        /// The least it takes.
        least: usize,
        /// The most it takes.
        most: usize,
    },
}

/// What would have fitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
pub enum Expected {
    /// A fixed token, e.g. `;`.
    Token(&'static str),
    /// A register, variable, label or function.
    Name,
    /// An operand of an instruction.
    Operand,
    /// A constant expression.
    Constant,
    /// An integer literal.
    Integer,
    /// A string.
    Text,
    /// An opcode.
    Opcode,
    /// A type such as `.u32`.
    Type,
    /// A version such as `8.0`.
    Version,
    /// A state space such as `.global`.
    Space,
    /// A statement.
    Statement,
    /// A module-level directive.
    Item,
    /// A directive between a function's head and its body.
    FunctionDirective,
}

/// What stands where something else was expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// A token: the error's span covers it.
    Token,
    /// The end of the text.
    End,
}

/// What was being read when something else was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Context {
    /// An instruction.
    Instruction,
    /// A declaration.
    Declaration,
    /// An initialiser.
    Initialiser,
    /// The head of a function.
    FunctionHead,
    /// Any other directive.
    Directive,
    /// The body of a function.
    Body,
    /// The module.
    Module,
}

impl Kind {
    /// The kind as something that was expected.
    pub(crate) const fn expected(self) -> Expected {
        match self {
            Self::Word | Self::Dotted | Self::Underscore => Expected::Name,
            Self::Int | Self::BadNumber => Expected::Integer,
            Self::HexF32 | Self::HexF64 | Self::Decimal => Expected::Constant,
            Self::Text => Expected::Text,
            Self::Dot => Expected::Type,
            Self::Table => Expected::Token(Self::LBrace.text()),
            Self::Dwarf => Expected::Token("@@DWARF"),
            Self::ConstBank => Expected::Token(Self::Const.text()),
            Self::Poison | Self::Garbage => Expected::Statement,
            fixed => Expected::Token(fixed.text()),
        }
    }
}

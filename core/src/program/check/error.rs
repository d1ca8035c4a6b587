//! What the checker complains about. Text is made in `report::check`.

use super::scope::{Symbol, SymbolKind};
use crate::base::Span;
use crate::program::consts::ConstError;
use crate::program::forms::Need;

/// A complaint: what, where, and where the other party stands when there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckError {
    /// What is wrong.
    pub kind: Problem,
    /// Where.
    pub span: Span,
    /// The declaration or the other party.
    pub other: Option<Span>,
}

/// What a name turned out to be, in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A register of this type, with so many lanes.
    Register(String, u8),
    /// A special register of this type.
    Special(String),
    /// A variable in this state space.
    Variable(String),
    /// A label.
    Label,
    /// A function.
    Function,
    /// The label of a `.branchtargets`, `.calltargets` or `.callprototype`.
    Table,
    /// An integer constant.
    Integer,
    /// A floating-point constant.
    FloatConstant,
    /// `[…]`
    Address,
    /// `{…}` of so many elements.
    Vector(usize),
    /// `a|b`
    Pair,
    /// `_`
    Sink,
    /// `!p` or `-r`
    Negation,
    /// Something else.
    Other,
}

impl Found {
    /// What a symbol is called in a message.
    #[must_use]
    pub fn of(symbol: &Symbol, text: impl Fn(crate::ptx::Modifier) -> String) -> Self {
        match symbol.kind {
            SymbolKind::Register { ty, lanes, .. } => Self::Register(text(ty), lanes),
            SymbolKind::Variable { space, .. } => Self::Variable(format!("{space:?}").to_lowercase()),
            SymbolKind::Label => Self::Label,
            SymbolKind::Function(_) => Self::Function,
            _ => Self::Table,
        }
    }
}

/// What an operand should have been.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A destination register of a type; the flag says that a wider one would do.
    Destination(String, bool),
    /// A register or constant of a type.
    Source(String, bool),
    /// A register of a type.
    Register(String),
    /// An integer constant.
    Constant,
    /// A predicate register.
    Predicate,
    /// A predicate, its negation, or a constant.
    PredicateSource,
    /// `[address]`
    Address,
    /// An integer register of 32 or 64 bits that holds an address.
    AddressRegister,
    /// A label of this function.
    Label,
    /// The label of a `.branchtargets`.
    BranchTargets,
    /// A list of so many elements of a type.
    Vector(usize, String),
    /// A list whose elements together have as many bits as the type.
    Pack(String),
    /// `d|p`
    Pair,
    /// One register, not a pair.
    NoPair,
    /// `[name, {…}]`
    Bracket,
    /// `{a, b, …}`
    Group,
}

/// Everything that can be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields are named for what the message prints")]
pub enum Problem {
    /// `.target` does not follow `.version`.
    NoTarget,
    /// A PTX version that does not exist.
    UnknownVersion { version: String },
    /// A target that does not exist.
    UnknownTarget { target: String },
    /// `.address_size` other than 32 and 64.
    AddressSize { bits: u32 },
    /// A header directive out of its place, or twice.
    Misplaced { directive: &'static str },
    /// A feature that the module's version or target does not have.
    Needs { feature: String, need: Need, version: (u16, u16), sm: u16 },
    /// A feature that the target or version no longer has.
    Withdrawn { feature: String, instead: &'static str },
    /// No such instruction.
    UnknownOpcode { name: String, similar: Option<String> },
    /// No such modifier for the instruction.
    Modifier { opcode: String, modifier: String, similar: Option<String> },
    /// A modifier twice, or beside one that excludes it.
    ModifierTwice { opcode: String, modifier: String, first: String },
    /// A required modifier is missing.
    ModifierMissing { opcode: String, one_of: Vec<String> },
    /// The instruction does not have the types.
    Types { opcode: String, given: Vec<String>, allowed: Vec<String> },
    /// Too many or too few operands.
    OperandCount { opcode: String, given: usize, least: usize, most: Option<usize> },
    /// An operand of the wrong kind or type.
    Operand { opcode: String, number: usize, expected: Expected, found: Found },
    /// A constant out of its range.
    Range { number: usize, low: i64, high: i64, value: i64 },
    /// A constant that is not a multiple of a number.
    Multiple { number: usize, of: i64, value: i64 },
    /// The address's space is not the instruction's.
    Space { opcode: String, expected: String, found: String },
    /// A name that is not declared here.
    Undeclared { name: String, similar: Option<String>, range: Option<u32> },
    /// A name declared twice in one block.
    Duplicate { name: String },
    /// A redeclaration that differs.
    Inconsistent { name: String, what: &'static str },
    /// A guard that is not a predicate.
    Guard { found: Found },
    /// A special register as a destination.
    ReadOnly { name: String },
    /// A write to a parameter, or a read of a return parameter.
    ParamDirection { name: String, written: bool },
    /// A type that cannot be declared in the space.
    DeclaredType { ty: String, space: String },
    /// A vector of more than 128 bits, or of predicates.
    VectorType { ty: String, lanes: u8 },
    /// A variable in a space that its scope does not allow.
    DeclaredSpace { space: String, scope: &'static str },
    /// An array of registers, an array without a size.
    Incomplete { name: String },
    /// A register declared as an array.
    RegisterArray { name: String },
    /// An alignment that is not a power of two.
    Alignment { align: u32 },
    /// An initialiser where none is allowed.
    NoInitialiser { name: String, space: String },
    /// An initialiser with more elements than the array.
    TooManyElements { name: String, elements: u64 },
    /// An initialiser of the wrong type or shape.
    InitialiserType { ty: String },
    /// A constant expression without a value.
    Constant(ConstError),
    /// Variables that are more than there is room for in their space.
    NoRoom { space: String, bytes: u64, most: u64 },
    /// A kernel with more bytes of parameters than there is room for.
    ParameterSpace { name: String, bytes: u64, most: u64 },
    /// Several results in parameter space.
    SeveralResults,
    /// A call of something that is not a device function.
    NotCallable { name: String },
    /// A call with the wrong number of arguments or results.
    CallCount { name: String, given: usize, declared: usize, results: bool },
    /// An argument that does not match its parameter.
    CallArgument { name: String, number: usize, results: bool },
    /// An indirect call without a prototype.
    NoPrototype,
    /// Something other than labels and numbers in a debug section.
    SectionData { found: String },
    /// `.maxntid` and `.reqntid` together, zero threads.
    Directive { name: String, why: &'static str },
}

impl CheckError {
    /// A complaint with one party.
    #[must_use]
    pub const fn new(kind: Problem, span: Span) -> Self {
        Self { kind, span, other: None }
    }

    /// The same, boxed.
    #[must_use]
    pub fn boxed(kind: Problem, span: Span) -> Box<Self> {
        Box::new(Self::new(kind, span))
    }

    /// A complaint with two.
    #[must_use]
    pub const fn with(kind: Problem, span: Span, other: Span) -> Self {
        Self { kind, span, other: Some(other) }
    }
}

//! What can be wrong with a litmus file. Only `report::litmus` makes text of it.

use crate::base::{FileId, Span};

/// The most complaints that are kept for one file.
pub const MAX_ERRORS: usize = 100;

/// The deepest nesting of parentheses and negations in a condition.
pub const MAX_NESTING: usize = 64;

/// A complaint about a litmus file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LitmusError {
    /// What is wrong.
    pub kind: LitmusErrorKind,
    /// The file.
    pub file: FileId,
    /// Where.
    pub span: Span,
}

/// The kinds of complaints.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LitmusErrorKind {
    /// The text has 4 GiB or more.
    TooLarge,
    /// The text does not begin with the word `PTX`; the word that it begins with.
    NotPtx(String),
    /// No name follows `PTX`.
    NoName,
    /// There is no `{`.
    NoInit,
    /// The `{` of the initial state has no `}`.
    OpenInit,
    /// A row or declaration ends without `;`. The span is empty and lies where the semicolon belongs.
    MissingSemicolon,
    /// Characters that start no token.
    Garbage,
    /// A `(*` without `*)`.
    OpenComment,
    /// A number that cannot be read, or is beyond 64 bits.
    BadNumber,
    /// Something else was expected.
    Unexpected {
        /// What would have fitted, without repetition.
        expected: Vec<Expected>,
        /// Whether the text ends there.
        end: bool,
    },
    /// Nested deeper than [`MAX_NESTING`].
    TooDeep,
    /// There were more than [`MAX_ERRORS`] complaints.
    TooMany,
    /// A row has more or fewer cells than there are threads.
    Columns {
        /// Cells.
        cells: usize,
        /// Threads.
        threads: usize,
    },
    /// No instruction has this name.
    UnknownInstruction,
    /// A word of an instruction that cannot stand there, and those that can; none: nothing may follow.
    Modifier {
        /// The words.
        allowed: Vec<&'static str>,
    },
    /// An instruction lacks a word, one of these.
    NoModifier {
        /// The words.
        allowed: Vec<&'static str>,
    },
    /// Too many or too few operands.
    Operands {
        /// How the instruction is written.
        form: Form,
        /// Operands given.
        found: usize,
    },
    /// An operand of another kind.
    Operand {
        /// How the instruction is written.
        form: Form,
        /// Which kind is needed.
        wanted: Expected,
    },
    /// A location where a register or a number is needed.
    LocationAsValue,
    /// A register that is written but has the name of a location.
    RegisterIsLocation,
    /// The thread of this number is there already, at this place.
    ThreadTwice(Span),
    /// There is no thread of this number.
    NoThread {
        /// The number.
        number: u32,
        /// Those that there are.
        known: Vec<u32>,
    },
    /// The name is declared already, at this place.
    Twice(Span),
    /// There is no location of this name; those that there are.
    NoLocation {
        /// The others.
        known: Vec<String>,
    },
    /// The thread has no register of this name; those that it has.
    NoRegister {
        /// The thread.
        thread: u32,
        /// The others.
        known: Vec<String>,
    },
    /// Beyond the one element that a location has.
    Element,
    /// The label is there already, at this place.
    LabelTwice(Span),
    /// The thread has no label of this name; those that it has.
    NoLabel {
        /// The thread.
        thread: u32,
        /// The others.
        known: Vec<String>,
    },
    /// Our gap: what the engines cannot express.
    Unsupported(Gap),
}

impl LitmusErrorKind {
    /// Whether the file is right, and only cannot be run.
    #[must_use]
    pub const fn is_gap(&self) -> bool {
        matches!(self, Self::Unsupported(_))
    }
}

/// What a machine that runs PTX cannot express.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Gap {
    /// Memory is accessed, or fenced, by a path that the engines do not have.
    Proxy(super::tree::Proxy),
    /// PTX has no such atomic operation.
    Atomic(super::tree::Atom),
    /// Which threads meet at a barrier depends on a register, and several may.
    BarrierNumber,
    /// How many threads meet at a barrier depends on a register.
    Quorum,
    /// More threads than the quorum come to the barrier, some perhaps twice: in PTX it begins anew after the first ones.
    Latecomers {
        /// The quorum.
        quorum: u64,
        /// The threads that come.
        threads: u32,
    },
    /// More barriers than a block has.
    Barriers,
    /// Threads of a cta meet at a barrier, and each is to be a block of its own.
    BarrierOfBlocks,
    /// Not all threads of a warp meet at a barrier; PTX counts whole warps.
    PartOfWarp {
        /// Threads that meet.
        count: u32,
        /// Threads in a warp.
        warp: u32,
    },
    /// Threads that do not fit into one block or one warp.
    Threads {
        /// How many there are.
        threads: usize,
        /// How many may be.
        limit: usize,
    },
}

/// How an instruction is written, e.g. `st.ORDER.SCOPE location, value`.
pub type Form = &'static str;

/// What would have fitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
pub enum Expected {
    /// A fixed token or word.
    Token(&'static str),
    /// A declaration of the initial state.
    Declaration,
    /// A proxy.
    Proxy,
    /// A thread such as `P0`.
    Thread,
    /// An instruction or a label.
    Instruction,
    /// A register.
    Register,
    /// A location, or a register that holds an address.
    Location,
    /// A register or a number.
    Value,
    /// A number.
    Number,
    /// A label.
    Label,
    /// A name.
    Name,
    /// `exists`, `~exists`, `forall` or `final`.
    Quantifier,
    /// A condition.
    Condition,
    /// What can be compared.
    Term,
    /// A comparison.
    Comparison,
    /// The end of the text.
    End,
}

//! What a form says: words, operands, and what has it.

use crate::base::words;
use crate::program::ops::AluOp;
use crate::ptx::{Modifier, Opcode};

/// The first PTX version and the first target (`sm_80` is 80) that have a feature.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, PartialOrd, Ord)]
pub struct Need {
    /// `.version`, major and minor.
    pub ptx: (u16, u16),
    /// `.target`, the number after `sm_`.
    pub sm: u16,
    /// Which targets with a letter behind the number have it, where those without have not.
    pub specific: Specific,
}

/// The targets that have what is not in all later ones (PTX ISA, "Architecture-specific features").
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, PartialOrd, Ord)]
pub enum Specific {
    /// All from a number on.
    #[default]
    No,
    /// Those with `a` or `f` behind the number (`100f`).
    Family,
    /// Those with `a` or `f` behind one of these numbers (`100f,103f`).
    Among(&'static [u16]),
    /// Those with `a` behind one of these numbers (`100a,103a`).
    One(&'static [u16]),
}

impl Need {
    /// What all targets from one on have.
    #[must_use]
    pub const fn new(ptx: (u16, u16), sm: u16) -> Self {
        Self { ptx, sm, specific: Specific::No }
    }
}

/// One way to write an instruction.
#[derive(Debug)]
pub struct Form {
    /// The opcode word.
    pub opcode: Opcode,
    /// Words that must follow the opcode at once, in order.
    pub heads: Vec<Slot>,
    /// Types, in order.
    pub types: Vec<Slot>,
    /// Other modifiers, in any order.
    pub flags: Vec<Slot>,
    /// Whether modifiers beyond the listed ones are allowed.
    pub open: bool,
    /// The operands.
    pub operands: Vec<OperandForm>,
    /// The first PTX version and target.
    pub need: Need,
    /// The operations that the form stands for: the first one that fits is meant.
    pub choices: Vec<Choice>,
}

/// An operation, and the instructions of its form that it serves.
#[derive(Debug)]
pub struct Choice {
    /// The first types.
    pub types: Vec<Modifier>,
    /// Other modifiers that are there.
    pub flags: Vec<Modifier>,
    /// The operation.
    pub op: AluOp,
}

/// A place for one modifier.
#[derive(Debug)]
pub struct Slot {
    /// What may stand there.
    pub words: Vec<Word>,
    /// Whether it may be empty.
    pub optional: bool,
}

/// A modifier that a slot accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    /// A known word.
    Known(Modifier),
    /// A word outside the vocabulary; `*` stands for digits.
    Pattern(&'static str),
}

words! {
    /// What an operand may be, and the letter that says so.
    pub enum Role {
        /// A destination register.
        Dst = "d",
        /// A destination, a list of as many registers as the vector modifier says.
        VecDst = "D",
        /// A destination predicate.
        PredDst = "P",
        /// A register or a constant.
        Src = "s",
        /// A source, a list of as many as the vector modifier says.
        VecSrc = "S",
        /// An address held in a register of 32 or 64 bits.
        AddrSrc = "a",
        /// A register.
        Reg = "r",
        /// A constant integer.
        Imm = "i",
        /// A predicate, its negation, or a constant.
        PredSrc = "q",
        /// `[address]`.
        Mem = "m",
        /// A label.
        Label = "l",
        /// The label of a `.branchtargets`.
        Table = "t",
        /// What `mov` reads: also a special register, a variable's address or a function.
        MovSrc = "v",
        /// What `cvt` reads: also a special register.
        CvtSrc = "c",
        /// `{a, b}` that packs or unpacks the instruction's type.
        Pack = "K",
        /// `{a, b, c, d}`: four registers or constants.
        Four = "Q",
        /// `{a, b, …}` or a register: a matrix fragment.
        Group = "g",
        /// A cache policy of 64 bits, there if and only if `.L2::cache_hint` is.
        Policy = "h",
        /// `[name, {coordinates}]`.
        Bracket = "b",
        /// Anything; last, and any number of them.
        Rest = "*",
    }
}

/// The type of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandType {
    /// The instruction's n-th type.
    Of(u8),
    /// The first type at twice its width.
    Wide,
    /// A fixed type.
    Fixed(Modifier),
}

/// The description of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OperandForm {
    /// What it may be.
    pub role: Role,
    /// Its type, where its role has one.
    pub ty: OperandType,
    /// `+`: a wider register is allowed.
    pub wider: bool,
    /// `_`: the sink is allowed.
    pub sink: bool,
    /// `?`: it may be absent.
    pub optional: bool,
    /// `|P` (required) or `|P?` (optional): a second destination, a predicate.
    pub pair: Option<bool>,
    /// `(lo,hi)`: the range of a constant.
    pub range: Option<(i64, i64)>,
}

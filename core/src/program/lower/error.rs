//! What lowering can complain about. A checked module gives none of these but those about linking and sizes.

use crate::base::{FileId, Span};
use crate::program::consts::ConstError;

/// A complaint with its place.
#[derive(Clone, PartialEq, Debug)]
pub struct LowerError {
    /// The module's source.
    pub file: FileId,
    /// What it is about.
    pub span: Span,
    /// The cause.
    pub kind: LowerErrorKind,
}

/// The causes.
#[derive(Clone, PartialEq, Debug)]
pub enum LowerErrorKind {
    /// A name that is not declared where it is used.
    Undeclared(String),
    /// A label that the enclosing blocks do not have.
    NoLabel(String),
    /// An operand of another kind than the instruction takes.
    Operand {
        /// What it takes, e.g. `a 32-bit register`.
        expected: &'static str,
    },
    /// Too few operands.
    MissingOperand,
    /// A call whose arguments or results differ in number from the callee's parameters.
    Arguments {
        /// How many the callee has.
        expected: usize,
        /// How many are given.
        found: usize,
    },
    /// A constant expression without a value.
    Constant(ConstError),
    /// A constant of another type than the place takes, such as an address in an array length.
    ConstantType,
    /// More registers of one class than a frame can have.
    TooManyRegisters,
    /// A variable, parameter area or frame of 4 GiB or more.
    TooLarge,
    /// A name defined twice.
    Duplicate {
        /// The name.
        name: String,
        /// Where it is defined first.
        file: FileId,
        /// Where it is defined first.
        span: Span,
    },
    /// A block that is closed but was not opened.
    Unbalanced,
}

/// A complaint before its file is known.
pub(in crate::program) type Fault = (LowerErrorKind, Span);
/// The result of lowering a part of an instruction.
pub(in crate::program) type Lowered<T> = Result<T, Fault>;

/// An operand of the wrong kind.
pub(in crate::program) fn operand<T>(expected: &'static str, span: Span) -> Lowered<T> {
    Err((LowerErrorKind::Operand { expected }, span))
}

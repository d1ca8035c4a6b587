//! The text of lowering's complaints.

use super::diagnostic::Diagnostic;
use crate::program::consts::ConstError;
use crate::program::{LowerError, LowerErrorKind};

/// The message of a complaint.
#[must_use]
pub fn diagnostic(error: &LowerError) -> Diagnostic {
    let say = |code, message: String| Diagnostic::error(code, error.file, error.span, message);
    match &error.kind {
        LowerErrorKind::Undeclared(name) => {
            say("undeclared", format!("`{name}` is not declared here")).label("unknown")
        }
        LowerErrorKind::NoLabel(name) => {
            say("no-label", format!("there is no label `{name}` in this block or around it")).label("unknown")
        }
        LowerErrorKind::Operand { expected } => {
            say("operand", format!("this operand must be {expected}")).label("here")
        }
        LowerErrorKind::MissingOperand => say("missing-operand", "an operand is missing".into()).label("here"),
        LowerErrorKind::Arguments { expected, found } => {
            say("arguments", format!("the function takes {expected} arguments, the call gives {found}")).label("here")
        }
        LowerErrorKind::Constant(why) => say("constant", format!("this constant has no value: {}", constant(why))),
        LowerErrorKind::ConstantType => say("constant-type", "a constant of another type is needed here".into()),
        LowerErrorKind::TooManyRegisters => say("too-many-registers", "the function has too many registers".into())
            .hint("a function can have about 65,000 registers of one size"),
        LowerErrorKind::TooLarge => say("too-large", "this is larger than 4 GiB".into()),
        LowerErrorKind::Duplicate { name, file, span } => {
            say("duplicate", format!("`{name}` is defined twice")).label("again here").also(*file, *span, "first here")
        }
        LowerErrorKind::Unbalanced => say("unbalanced", "this block was not opened".into()),
    }
}

fn constant(why: &ConstError) -> &'static str {
    match why {
        ConstError::DivisionByZero => "division by zero",
        ConstError::BadOperands => "its operator does not take these operands",
        ConstError::TooDeep => "it nests too deep",
    }
}

//! The text of complaints about a whole program: names and sizes.

use super::diagnostic::Diagnostic;
use crate::program::{LowerError, LowerErrorKind};

/// The message of a complaint.
#[must_use]
pub fn diagnostic(error: &LowerError) -> Diagnostic {
    let say = |code, message: String| Diagnostic::error(code, error.file, error.span, message);
    match &error.kind {
        LowerErrorKind::Undeclared(name) => {
            say("undeclared", format!("`{name}` is not declared here")).label("unknown")
        }
        LowerErrorKind::Space => {
            say("operand", "this operand must be a variable of a space that modules can declare".into()).label("here")
        }
        LowerErrorKind::TooManyRegisters => say("too-many-registers", "the function has too many registers".into())
            .hint("a function can have about 65,000 registers of one size"),
        LowerErrorKind::TooLarge => say("too-large", "this is larger than 4 GiB".into()),
        LowerErrorKind::Duplicate { name, file, span } => {
            say("duplicate", format!("`{name}` is defined twice")).label("again here").also(*file, *span, "first here")
        }
    }
}

//! The text of complaints about a whole program: names and sizes.

use super::diagnostic::{Diagnostic, said};
use crate::program::{LowerError, LowerErrorKind as K};

/// The message of a complaint.
pub fn diagnostic(error: &LowerError) -> Diagnostic {
    let said = match &error.kind {
        K::Undeclared(name) => said("undeclared", format!("`{name}` is not declared here"), "unknown"),
        K::Space => said("operand", "this operand must be a variable of a space that modules can declare", "here"),
        K::TooManyRegisters => said("too-many-registers", "the function has too many registers", "")
            .hint("a function can have about 65,000 registers of one size"),
        K::TooLarge => said("too-large", "this is larger than 4 GiB", ""),
        K::Duplicate { name, file, span } => {
            said("duplicate", format!("`{name}` is defined twice"), "again here").also(*file, *span, "first here")
        }
    };
    said.at(error.file, error.span)
}

//! What building a checked program can complain about: names and sizes beyond one function.
//!
//! An instruction that checking has accepted and that is not understood here is no complaint: it becomes an unsupported
//! one, which stops whoever executes it.

use crate::base::{FileId, Span};

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
    /// A variable of a space that variables do not have at module scope.
    Space,
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
}

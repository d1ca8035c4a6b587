//! What building a checked program can complain about: names and sizes beyond one function.
//!
//! An instruction that checking has accepted and that is not understood here is no complaint: it becomes an unsupported
//! one, which stops whoever executes it.

use crate::base::{FileId, Span, complaints};

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

complaints! {
    /// The causes.
    #[derive(Clone, PartialEq, Debug)]
    #[expect(missing_docs, reason = "fields are named for what the message prints")]
    pub enum LowerErrorKind() {
        /// A name that is not declared where it is used.
        Undeclared(name: String) => "undeclared" ("`{name}` is not declared here") ("unknown");
        /// A variable of a space that variables do not have at module scope.
        Space => "operand" ("this operand must be a variable of a space that modules can declare") ("here");
        /// More registers of one class than a frame can have.
        TooManyRegisters =>
            "too-many-registers" ("the function has too many registers") ("")
            ("a function can have about 65,000 registers of one size");
        /// A variable, parameter area or frame of 4 GiB or more.
        TooLarge => "too-large" ("this is larger than 4 GiB") ("");
        /// A name defined twice; where it is defined first.
        Duplicate { name: String, file: FileId, span: Span } =>
            "duplicate" ("`{name}` is defined twice") ("again here");
    }
}

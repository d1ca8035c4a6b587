//! The cat language: models of memory as text, and what they come to as data ([`Model`]).
//!
//! `let x = e`, `let f(a, b) = e`, `let rec a = e and b = e`, `let … in e`; `acyclic`, `irreflexive` and `empty`, perhaps behind
//! `flag`, `undefined_unless` and `~`, perhaps with `as name`; `include "f"`, `show`, `unshow`. Operators: [`parse()`].

mod build;
mod define;
mod error;
mod load;
mod lower;
mod names;
mod parse;
mod scope;
#[cfg(test)]
mod tests;
mod token;
mod tree;

pub use error::{
    CatError, CatErrorKind, Expected, MAX_DEPTH, MAX_ERRORS, MAX_FILES, MAX_NESTING, MAX_NODES, MAX_POSTFIX,
};
pub use load::Include;
pub use names::{BASES, Base, KEYWORDS, Names, Sort};
pub use parse::parse;
pub use tree::{Check, Definition, Expr, ExprKind, File, Ident, Infix, Let, Postfix, Statement, StatementKind};

use crate::axiom::model::Model;
use crate::base::FileId;
use load::Loaded;

/// The model that a cat file and those that it includes come to. It may use the names of [`BASES`].
///
/// # Errors
/// All that is wrong with the files; with their syntax, where something is, otherwise with what they mean.
pub fn compile(name: &str, file: FileId, text: &str, include: Include<'_>) -> Result<Model, Vec<CatError>> {
    compile_with(&Names::default(), name, file, text, include)
}

/// The same with other names that are given.
///
/// # Errors
/// As [`compile`].
pub fn compile_with(
    names: &Names,
    name: &str,
    file: FileId,
    text: &str,
    include: Include<'_>,
) -> Result<Model, Vec<CatError>> {
    let loaded = Loaded::new(file, text, include);
    if !loaded.errors.is_empty() {
        // Names that did not parse seem to be missing: complaints about those would only mislead.
        return Err(loaded.errors);
    }
    lower::lower(name, &loaded, names)
}

//! The cat language: models of memory as text, and what they come to as data ([`Model`](super::Model)).
//!
//! `let x = e`, `let f(a, b) = e`, `let rec a = e and b = e`, `let … in e`; `acyclic`, `irreflexive` and `empty`, perhaps behind
//! `flag`, `undefined_unless` and `~`, perhaps with `as name`; `include "f"`, `show`, `unshow`. Operators: [`parse()`].

mod build;
mod builtin;
mod compile;
mod define;
mod error;
mod fuse;
mod load;
mod lower;
mod names;
mod parse;
mod scope;
#[cfg(test)]
mod tests;
mod token;
mod tree;

pub use builtin::{BUILTIN, builtin, source};
pub use compile::{compile, compile_with};
pub use error::{
    CatError, CatErrorKind, Expected, MAX_DEPTH, MAX_ERRORS, MAX_FILES, MAX_NESTING, MAX_NODES, MAX_POSTFIX,
};
pub use load::Include;
pub use names::{BASES, Base, KEYWORDS, Names, OPENCL, Sort};
pub use parse::parse;
pub use tree::{Check, Definition, Expr, ExprKind, File, Ident, Infix, Let, Postfix, Statement, StatementKind};

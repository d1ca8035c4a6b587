//! Layer 2: PTX text → syntax tree.
//!
//! Tokens (logos), grammar, the tree and its printer. Follows the PTX ISA, chapters 4 and 5 for syntax.
//! Knows nothing of what an instruction means: whether `add.s33` exists is the business of `program::check`.

mod error;
mod explain;
pub mod fatbin;
mod grammar;
mod number;
mod parse;
mod print;
mod stream;
mod token;
pub mod tree;
mod words;

pub use error::{Context, Expected, MAX_BLOCKS, MAX_ERRORS, MAX_NESTING, NumberProblem, SyntaxError, SyntaxErrorKind};
pub use parse::parse;
pub use print::print;
pub(crate) use token::{Kind, lex};
pub use words::{FORMS, Modifier, Opcode};

//! Layer 2: PTX text → syntax tree.
//!
//! Tokens (logos), grammar (chumsky), the tree and its printer. Follows the PTX ISA, chapters 4 and 5 for syntax.
//! Knows nothing of what an instruction means: whether `add.s33` exists is the business of `program::check`.

pub mod tree;
mod words;

pub use words::{Modifier, Opcode};

//! Layer 3: the syntax tree → the program environment φ.
//!
//! Holds the tables of operations as well: what an instruction can be once its types are known. Knows nothing of how an
//! operation is computed (that is `alu`) or of running programs.

pub mod check;
pub mod consts;
pub mod dump;
pub mod env;
pub mod float_ops;
pub mod flow;
pub mod fncode;
pub mod forms;
pub mod instr;
pub mod int_ops;
mod layout;
mod link;
pub mod lower;
pub mod mode;
pub mod ops;
pub mod origins;
pub mod promote;
mod reachable;
pub mod registers;
mod scope;
pub mod select;
pub mod special;
pub mod types;
pub mod uses;

pub use dump::dump;
pub use lower::{LowerError, LowerErrorKind, Options, build};

//! Layer 4: the syntax tree → the program environment φ.
//!
//! Chooses the operation of `alu` that an instruction is once its types are known. Knows nothing of running programs.

pub mod affine;
pub mod alive;
pub mod bulk;
pub mod check;
pub mod consts;
pub mod dump;
pub mod env;
pub mod exchange;
mod families;
pub mod flow;
pub mod fncode;
pub mod forms;
pub mod image;
pub mod instr;
mod layout;
mod link;
pub mod lower;
pub mod matrix;
pub mod origins;
mod parts;
pub mod promote;
mod reachable;
pub mod registers;
mod scope;
pub mod select;
pub mod special;
pub mod types;
pub mod uses;
pub mod video;

pub use crate::alu::{mode, ops};
pub use dump::dump;
pub use lower::{LowerError, LowerErrorKind, Options, build};

//! Memory programs (report, 4.1, 4.4, 4.5): what each memory operation does, in the report's own small language.
//!
//! Text ([`parse`](self)) becomes a tree, the tree a [`Program`], and [`micro`] executes a micro step of it on a state
//! [`Sigma`] and the memory environment behind [`Eta`]. Programs are looked up by [`OpKey`].

mod code;
mod exec;
mod key;
mod set;
mod state;
pub mod tree;

pub use code::{At, Program};
pub use exec::{Eta, Fill, Micro, StuckAt, Undefined, micro, runs, stalled};
pub use key::{OpKey, OpKind, OpSpace};
pub use set::{ProgramId, ProgramSet};
pub use state::{AtomPlace, Atomic, Device, Piece, Shared, Sigma};
pub use tree::{CacheFn, Level, OpExp};

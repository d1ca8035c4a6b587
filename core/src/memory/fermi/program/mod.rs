//! Memory programs (report, 4.1, 4.4, 4.5): what each memory operation does, in the report's own small language.
//!
//! Text becomes a [`Program`] ([`load`]), and [`micro`] executes a micro step of it on a state
//! [`Sigma`] and the memory environment behind [`Eta`]. Programs are looked up by [`OpKey`].

mod caches;
mod check;
mod code;
mod error;
mod exec;
mod key;
mod load;
mod parse;
mod presets;
mod set;
mod state;
mod token;
pub mod tree;

pub use caches::{Around, stalled};
pub use code::{At, Program};
pub use error::{Expected, MAX_ERRORS, MAX_NESTING, MempError, MempErrorKind};
pub use exec::{Eta, Fill, Micro, Undefined, micro};
pub use key::{OpKey, OpKind};
pub use load::{load, preset};
pub use presets::{preset_files, presets};
pub use set::{ProgramId, ProgramSet};
pub use state::{AtomPlace, Atomic, Device, Piece, Shared, Sigma};
pub use tree::{CacheFn, Level, OpExp};

#[cfg(test)]
mod tests;

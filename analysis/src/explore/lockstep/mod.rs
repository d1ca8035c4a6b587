//! Every state of the mutex mechanism ([`crate::memory::lockstep`]), once: the loop is `explore::breadth`'s, with states of
//! a fixed size.
//!
//! [`Grain::Every`] leaves nothing out. [`Grain::Needed`] leaves out what changes no outcome (D-lsc-reduced), and has no circles, so that
//! every state from which no end is reached has one below it in which nobody can go on.

mod fair;
mod grain;
mod reduce;
mod run;
mod search;

pub use grain::Grain;
pub use run::{Ran, run};
pub use search::{Found, Options, Search, Space};

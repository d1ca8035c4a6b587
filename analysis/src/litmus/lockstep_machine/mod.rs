//! Tests for wavefronts on the mutex mechanism ([`crate::memory::lockstep`]): rows become instructions of wavefronts and of CPU threads, and
//! the ends of a search are read as conditions ask. Each location has a line and a mutex of its own.

mod compile;
mod ended;

pub use compile::{Agent, Compiled, Refused, compile};
pub use ended::Ended;

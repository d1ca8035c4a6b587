//! Programs with remote-scope promotion on the hardware that it was designed for: compiled by a scheme ([`Scheme`], table 3 of the
//! paper), executed in every way ([`crate::explore::promotion`]), and each execution compared with the axioms of figure 2
//! ([`axioms`]), as theorem 1 has it.
//!
//! The axioms are written down here a second time, over a handful of events, so that thousands of programs can be gone through
//! ([`sweep`]).

pub mod axioms;
mod compile;
mod ended;
pub mod necessity;
mod pre;
pub mod sweep;
mod verify;
mod width;

pub use crate::memory::rsp::{Kind, Row, Scheme, Step, Width};
pub use compile::{Compiled, Made, Refused, compile};
pub use ended::Ended;
pub use pre::{candidates, races, races_until};
pub use verify::{Verdict, Violation, verify};

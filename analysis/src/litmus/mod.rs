//! Layer 9: litmus files, and programs for the machine made of them.
//!
//! Text ([`parse()`]) becomes a tree ([`tree`]), whose names are then checked; [`print()`] writes it back. [`lower()`] makes a
//! PTX program of a test for PTX, one kernel whose blocks are the file's ctas, so that the operational engines run it;
//! [`Condition`]s are evaluated on final states, and [`Outcomes`] counts what was found. Knows nothing of how messages look.
//!
//! [`Condition`]: tree::Condition

mod agree;
mod asked;
mod blind;
mod check;
mod decide;
mod decided;
mod error;
mod events;
mod explore;
mod extract;
pub mod kernel;
mod lasting;
mod liveness;
pub mod lockstep;
pub mod lockstep_machine;
mod lower;
mod names;
mod outcome;
mod parse;
mod print;
pub mod rsp;
pub mod rsp_machine;
pub mod table;
pub mod tree;

pub use agree::{Agreement, NotShown, Permitted, Row, Says, Shown, look_for, rows, shown};
pub use decide::{accept, decide, decide_until, needed, outcomes};
pub use decided::{Decided, Lasso, Property};
pub use error::{Expected, Form, Gap, LitmusError, LitmusErrorKind, MAX_ERRORS, MAX_NESTING};
pub use events::{SETS_OF_VULKAN, Threads};
pub use explore::Board;
pub use extract::{Judged, NotExtracted, complete, extract, raced, unexplained};
pub use liveness::{liveness, liveness_plainly, liveness_until};
pub use lower::{Failure, Lowered, Options, Placement, Spot, lower};
pub use names::instructions;
pub use outcome::{Final, Observed, Outcome, Outcomes, Truth, Verdict};
pub use parse::{code, parse};
pub use print::print;

use std::path::Path;

/// Whether a path is named as a litmus file is.
#[must_use]
pub fn is_litmus(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "litmus")
}

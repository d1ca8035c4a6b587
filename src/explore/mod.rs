//! Layer 8: many runs of one target: seeds, exhaustive search, and what a run that does not end is called.
//!
//! Knows nothing of how messages look (`report`), nor of the command line.

mod target;

pub use target::{Ending, Played, Target, Way};

//! Layer 8: many runs of one target: seeds, exhaustive search, and what a run that does not end is called.
//!
//! Knows nothing of how messages look (`report`), nor of the command line.

mod odometer;
mod progress;
pub mod space;
mod target;

pub use odometer::Odometer;
pub use progress::Progress;
pub use target::{Ending, Played, Target, Way};

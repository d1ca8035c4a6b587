//! Layer 8: many runs of one target: seeds, exhaustive search, and what a run that does not end is called.
//!
//! [`Target`] is what is run, [`Hunt`] runs it by many seeds, [`space`] goes through all its schedules or states,
//! [`ScheduleFile`] keeps what was found, [`Minimise`] makes it short. Knows nothing of how messages look (`report`), nor of
//! the command line.

mod breadth;
pub mod checkpoint;
mod circle;
mod compare;
mod endless;
mod explain;
mod finding;
mod hunt;
mod leaving;
mod locks;
pub mod lockstep;
mod minimise;
mod odometer;
mod parts;
mod progress;
pub mod promotion;
mod proof;
mod prove;
mod record;
mod retrace;
mod schedule;
mod script;
pub mod shard;
mod smaller;
pub mod space;
mod strong;
mod symmetry;
mod target;
pub mod watched;

pub use compare::{Content, Fate, Fates, Seen};
pub use endless::{Ends, explained};
pub use finding::Signature;
pub use hunt::{Ended, Finding, Hunt, HuntState, Hunted, Measure, Watchers};
pub use minimise::{Minimise, Minimised};
pub use odometer::Odometer;
pub use progress::Progress;
pub use proof::{Endless, Proof, Prove, Proved, Shown, Smaller, Unshown};
pub use prove::threads_share;
pub use record::{Limits, Recorded};
pub use schedule::{Places, Refusal, ScheduleError, ScheduleFile, minor_version};
pub use script::{ScriptEnd, ScriptSearch, ScriptSpace, Taken};
pub use smaller::may_be_less;
pub use symmetry::Symmetry;
pub use target::{Ending, Judge, Played, Target, Way, setup_hash};

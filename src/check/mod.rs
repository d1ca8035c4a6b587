//! Layer 7: observers of the event stream.
//!
//! [`TraceHash`] summarises a run, [`Uninit`] and [`Div0`] stop it where the program uses what was never written or divides
//! by zero, [`Bounds`] where an access leaves the object that its address was made from, [`Safety`] and [`Liveness`] assert the properties of the report's chapter 6 (the one with [`Reference`], its
//! single-warp semantics, running along), [`Coverage`] collects the rules that fired. [`Observers`] is all of them in one sink, so that the machine is
//! compiled twice only: silent and observed. They know the program and its events, nothing of schedules.

mod barriers;
mod bounds;
mod coverage;
mod div0;
mod held;
mod liveness;
mod observers;
mod per_launch;
mod plain;
mod provenance;
#[cfg(test)]
mod ptx_tests;
mod races;
mod reference;
mod safety;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;
mod thread_rules;
mod trace;
mod uninit;
#[cfg(test)]
mod worked;

pub use barriers::Barriers;
pub use bounds::Bounds;
pub use coverage::{Coverage, rules_of};
pub use div0::Div0;
pub use liveness::Liveness;
pub use observers::Observers;
pub use per_launch::PerLaunch;
pub use races::{Benign, Finding, Footing, Races, UnorderedData};
pub use reference::{Reference, Thread, topmost};
pub use safety::Safety;
pub use trace::TraceHash;
pub use uninit::{Relied, Uninit};

use crate::base::{LaneMask, Pc, lanes_of};
use crate::verdict::{Bug, BugKind, Place, Stop};

/// A bug that lanes of a warp share; the block that runs them completes the place.
fn bug(kind: BugKind, pc: Pc, lanes: LaneMask) -> Stop {
    let lane = lanes_of(lanes).next().and_then(|l| u32::try_from(l).ok()).unwrap_or(0);
    let place = Place { pc, lane, lanes, ..Place::default() };
    Stop::Bug(Box::new(Bug { kind, place, other: None }))
}

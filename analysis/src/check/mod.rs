//! Layer 7: observers of the event stream.
//!
//! [`TraceHash`] summarises a run, [`Uninit`] and [`Div0`] stop it where the program uses what was never written or divides
//! by zero, [`Bounds`] where an access leaves the object that its address was made from, [`Safety`] and [`Liveness`] assert the properties of the report's chapter 6 (the one with [`Reference`], its
//! single-warp semantics, running along), [`Coverage`] collects the rules that fired, [`Costs`] counts messages of memory. [`Observers`] is all of them in one sink, so that the machine is
//! compiled twice only: silent and observed. They know the program and its events, nothing of schedules.

mod barriers;
mod bounds;
mod costs;
mod coverage;
pub mod deeds;
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
pub use costs::{Bandwidth, Costs, Counters, Hardware};
pub use coverage::{Coverage, rules_of};
pub use div0::Div0;
pub use liveness::Liveness;
pub use observers::Observers;
pub use per_launch::PerLaunch;
pub use races::{Benign, Causal, Finding, Footing, History, Races, RacesOptions, UnorderedData};
pub use reference::{Reference, Thread, topmost};
pub use safety::Safety;
pub use trace::TraceHash;
pub use uninit::{Relied, Uninit};

use crate::base::{LaneMask, Pc, lanes_of, words};
use crate::program::env::ProgEnv;
use crate::verdict::{Bug, BugKind, Place, Stop};
use std::sync::Arc;

/// What a check has a say in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Looks {
    /// In each run that it observes: a search does without, but for the runs that show what it found.
    AtRuns,
    /// In states that repeat, which searches look for themselves.
    AtStates,
    /// In nothing that is observed: a context itself says what is left at its end, and many runs are compared.
    Nowhere,
}

macro_rules! checks {
    ($($(#[doc = $help:literal])+ $check:ident = $name:literal, $looks:ident, $join:expr;)*) => {
        words! {
            /// What is looked for besides what no kernel may do: accesses outside of all memory, barriers that nobody
            /// completes … They see an event in this order.
            pub enum Check { $($(#[doc = $help])+ $check = $name,)* }
        }

        impl Check {
            /// What it looks for.
            #[must_use]
            pub fn help(self) -> &'static str {
                match self { $(Self::$check => concat!($($help),+),)* }.trim_start()
            }

            const fn looks(self) -> Looks {
                match self { $(Self::$check => Looks::$looks,)* }
            }

            /// Puts its observer among others, if it has one.
            fn join(self, others: Observers, program: &Arc<ProgEnv>, races: RacesOptions) -> Observers {
                let join: fn(Observers, &Arc<ProgEnv>, RacesOptions) -> Observers = match self {
                    $(Self::$check => $join,)*
                };
                join(others, program, races)
            }
        }
    };
}

// A check is one row: its help, its name, what it has a say in, and how it joins the observers of a run.
checks! {
    /// A value that was never written becomes an address, a branch condition or a stored result; told with where it comes
    /// from.
    Uninit = "uninit", AtRuns, |others, program, _| others.with_uninit(program);
    /// An access leaves the buffer, variable, parameter or allocation that its address was made from, even where it hits
    /// another one. Accesses whose origin is not known are counted.
    Bounds = "bounds", AtRuns, |others, program, _| others.with(Bounds::new(Arc::clone(program)));
    /// Integer division by zero.
    Div0 = "div0", AtRuns, |others, program, _| others.with(Div0::new(Arc::clone(program)));
    /// A barrier or .sync instruction is executed without threads that it stands for because they have exited, or a shuffle
    /// reads a lane that takes no part. (A warp's running lanes that are elsewhere are always reported.)
    Barriers = "barriers", AtRuns, |others, program, _| others.with(Barriers::new(Arc::clone(program)));
    /// Threads do only what each would do alone (report, chapter 6); asserted at each step.
    Safety = "safety", AtRuns, |others, program, _| others.with(Safety::new(Arc::clone(program)));
    /// Two accesses of one location, one a write, that nothing orders; also lanes of one instruction that write different
    /// values to one location. The run goes on, and all pairs of instructions are listed at its end.
    Races = "races", AtRuns, |others, program, options| others.with(Races::new(Arc::clone(program)).with(options));
    /// A state of the whole device repeats: the run never ends, and these tokens are never popped (control model crs).
    Liveness = "liveness", AtStates, |others, _, _| others.with_liveness();
    /// Memory from the device's malloc that is not freed when its context ends.
    Leaks = "leaks", Nowhere, |others, _, _| others;
    /// Results differ between schedules (with `hunt`, and with `test` by seeds).
    Deterministic = "deterministic", Nowhere, |others, _, _| others;
}

impl Check {
    /// Whether it observes runs.
    #[must_use]
    pub fn observes(self) -> bool {
        self.looks() != Looks::Nowhere
    }

    /// Whether kernels that it observes may run natively ([`Needs::rows`](crate::verdict::Needs::rows)), as those that nobody observes.
    #[must_use]
    pub fn allows_native(self) -> bool {
        matches!(self, Self::Races | Self::Bounds) || !self.observes()
    }

    /// Whether it looks at a run, not at a state: it has no say in a search, but in the runs that show what it found.
    #[must_use]
    pub fn looks_at_runs(self) -> bool {
        self.looks() == Looks::AtRuns
    }
}

/// A bug that lanes of a warp share; the block that runs them completes the place.
fn bug(kind: BugKind, pc: Pc, lanes: LaneMask) -> Stop {
    let lane = lanes_of(lanes).next().and_then(|l| u32::try_from(l).ok()).unwrap_or(0);
    let place = Place { pc, lane, lanes, ..Place::default() };
    Stop::Bug(Box::new(Bug { kind, place, other: None }))
}

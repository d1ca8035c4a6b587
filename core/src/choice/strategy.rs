//! Strategies: families of schedules, one for each seed.

use super::{Oracle, Pct, RoundRobin, Seeded};

/// How the schedules of seeds are made. The same strategy and seed give the same run in every build of a minor version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strategy {
    /// Every decision at random.
    Random,
    /// Random priorities that change at a few random steps ([`Pct`]).
    Pct {
        /// Ordering constraints of the defects that are looked for, at least 1.
        depth: u32,
        /// Decisions of a run.
        steps: u64,
    },
    /// Turns of equal length ([`RoundRobin`]).
    RoundRobin,
}

impl Strategy {
    /// The schedule of a seed.
    #[must_use]
    pub fn oracle(self, seed: u64) -> Box<dyn Oracle> {
        match self {
            Self::Random => Box::new(Seeded::new(seed)),
            Self::Pct { depth, steps } => Box::new(Pct::new(seed, depth, steps)),
            Self::RoundRobin => Box::new(RoundRobin::new(seed)),
        }
    }
}

impl<O: Oracle + ?Sized> Oracle for Box<O> {
    fn launch(&mut self, number: u32) -> Result<(), crate::verdict::Stop> {
        (**self).launch(number)
    }

    fn choose(&mut self, menu: super::Menu<'_>) -> Result<super::Pick, crate::verdict::Stop> {
        (**self).choose(menu)
    }
}

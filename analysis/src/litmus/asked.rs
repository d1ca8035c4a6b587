//! What a model is asked about: the threads of a test, or its wavefronts.

use super::events::Threads;
use super::lockstep::Waves;
use super::tree::Litmus;
use crate::axiom::{Model, Place, Program};

/// The program of a test as a model meets it.
pub(super) enum Asked {
    /// Threads that go on by themselves.
    Threads(Box<Threads>),
    /// Lanes, those of a wavefront in lockstep.
    Waves(Box<Waves>),
}

impl Asked {
    /// That of a test without errors.
    pub(super) fn of(litmus: &Litmus, model: &Model) -> Self {
        match &litmus.lockstep {
            Some(program) => Self::Waves(Box::new(Waves::of(litmus, program, model))),
            None => Self::Threads(Box::new(Threads::of(litmus))),
        }
    }

    pub(super) fn program(&self) -> &dyn Program {
        match self {
            Self::Threads(threads) => &**threads,
            Self::Waves(waves) => &**waves,
        }
    }

    /// The places whose last values are asked about.
    pub(super) fn finals(&self) -> &[Place] {
        match self {
            Self::Threads(threads) => &threads.finals,
            Self::Waves(waves) => &waves.finals,
        }
    }

    /// The values of what is asked about, as far as they are known.
    pub(super) fn observe(&self, registers: &[&[Option<u64>]], finals: &[Option<u64>]) -> Vec<Option<i64>> {
        match self {
            Self::Threads(threads) => threads.observe(registers, finals).collect(),
            Self::Waves(waves) => waves.observe(registers, finals),
        }
    }

    /// Ways in which threads may change places; none are looked for among wavefronts.
    pub(super) fn symmetries(&self) -> Vec<Vec<usize>> {
        match self {
            Self::Threads(threads) => threads.symmetries(),
            Self::Waves(_) => Vec::new(),
        }
    }
}

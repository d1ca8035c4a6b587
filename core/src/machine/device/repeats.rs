//! Finds a state of the whole device that repeats (for the liveness property; report, 6.5).
//!
//! Follows Brent: the state after 1, 2, 4, … turns of the schedule is kept, and later ones are compared with it. The state
//! is everything that a deterministic schedule depends on, exactly: messages, blocks, memory, and the schedule's own.

use crate::machine::control::Control;
use crate::machine::device::state::Device;
use crate::memory::Environment;

/// A watch over a run.
pub(in crate::machine) struct Watch<C, M: Environment> {
    /// What a later state is compared with.
    kept: Option<Device<C, M>>,
    turns: u64,
    until: u64,
}

/// What a look found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::machine) enum Found {
    /// Nothing.
    New,
    /// The state is kept from now on.
    Kept,
    /// It is the state that is kept.
    Same,
}

impl<C: Control, M: Environment> Watch<C, M> {
    pub const fn new() -> Self {
        Self { kept: None, turns: 0, until: 1 }
    }

    /// Looks at the state between two turns.
    pub fn look(&mut self, device: &Device<C, M>) -> Found {
        self.turns += 1;
        if self.kept.as_ref() == Some(device) {
            return Found::Same;
        }
        if self.turns < self.until {
            return Found::New;
        }
        self.until = self.turns.saturating_mul(2);
        self.kept = Some(device.clone());
        Found::Kept
    }
}

//! Finds a state of the whole device that repeats (for the liveness property; report, 6.5).
//!
//! Follows Brent: the state after 1, 2, 4, … turns of the schedule is kept, and later ones are compared with it. The state
//! is everything that a deterministic schedule depends on, exactly: blocks, memory, and the schedule's own.

use super::block::Block;
use super::control::Control;

/// What a later state is compared with.
struct Kept<C, M> {
    blocks: Vec<Option<Block<C>>>,
    memory: M,
    schedule: Schedule,
}

/// What the scheduler remembers between turns.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Schedule {
    /// Warps that are ready.
    pub ready: Vec<u64>,
    /// The warp that stepped last, and whether it used up its lease.
    pub last: Option<(u32, bool)>,
    /// Leases used up since a block was issued, as far as that matters.
    pub pressure: u32,
    /// Blocks issued.
    pub issued: u64,
}

/// A watch over a launch.
pub(super) struct Watch<C, M> {
    kept: Option<Kept<C, M>>,
    turns: u64,
    until: u64,
}

/// What a look found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Found {
    /// Nothing.
    New,
    /// The state is kept from now on.
    Kept,
    /// It is the state that is kept.
    Same,
}

impl<C: Control, M: Clone + PartialEq> Watch<C, M> {
    pub const fn new() -> Self {
        Self { kept: None, turns: 0, until: 1 }
    }

    /// Looks at the state between two turns.
    pub fn look(&mut self, blocks: &[Option<Block<C>>], memory: &M, schedule: Schedule) -> Found {
        self.turns += 1;
        if let Some(kept) = &self.kept
            && kept.schedule == schedule
            && kept.blocks == blocks
            && kept.memory == *memory
        {
            return Found::Same;
        }
        if self.turns < self.until {
            return Found::New;
        }
        self.until = self.turns.saturating_mul(2);
        self.kept = Some(Kept { blocks: blocks.to_vec(), memory: memory.clone(), schedule });
        Found::Kept
    }
}

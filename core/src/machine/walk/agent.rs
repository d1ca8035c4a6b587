//! Who steps, in what grain, and what is reached when nobody can.

use crate::base::{LaneMask, Pc};
use crate::choice::Alternative;
use crate::machine::control::Flow;
use crate::memory::Movable;
use crate::verdict::{Stop, Who};

/// Somebody who can step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Agent {
    /// The first launch begins: blocks are issued, and warps go on to where others can notice them. Only where that can be
    /// done in several ways.
    Begin,
    /// Lanes of a resident warp that stand at one address.
    Flow {
        /// The place of its block among the resident ones.
        slot: u32,
        /// Linear index of the block in its grid.
        block: u64,
        /// The warp's number in the block.
        warp: u32,
        /// The lanes and where they are.
        flow: Flow,
    },
    /// An operation of memory makes a micro step (report, 4.6).
    Micro(Movable),
    /// A silent rule fires: its place in the engine's order.
    Silent(u32),
}

/// Where a step leads that need not be made to know it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Foreseen {
    /// The number of the state behind it, as [`Walk::key`](super::Walk::key) would give it.
    pub number: u128,
    /// How many instructions it would execute.
    pub used: u32,
}

/// What happened before anybody had a choice.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Begun {
    /// Warp, address and active lanes of each instruction, in order.
    pub steps: Vec<(Who, Pc, LaneMask)>,
    /// What was decided though there was one alternative, in order.
    pub picks: Vec<Alternative>,
}

/// How far a step goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Grain {
    /// One warp instruction: nothing is left out.
    Instruction,
    /// Up to the next instruction whose effect others can notice; registers that are dead tell no states apart (D-live).
    Visible,
    /// The same, and agents that are alike are not told apart (D-symmetry).
    Alike {
        /// Whether blocks of the grid are among them: not where a scheduler looks at their numbers.
        blocks: bool,
    },
    /// As [`Grain::Visible`], where others notice sequentially consistent fences, too, and threads that meet or end: what is
    /// ordered by them decides about races (D-race-search).
    Ordered,
}

impl Grain {
    /// Whether a step goes on through what nobody notices, and what nobody will read is left out of states.
    #[must_use]
    pub const fn carries_on(self) -> bool {
        !matches!(self, Self::Instruction)
    }
}

/// Where a walk ends.
#[derive(Clone, PartialEq, Debug)]
pub enum Reached {
    /// All launches are complete.
    End,
    /// No rule applies.
    Stuck(Stop),
}

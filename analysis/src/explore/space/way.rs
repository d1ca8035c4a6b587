//! The way of a search: states that it stands in, one behind the other, and what of the way belongs to a state.

use super::Move;
use super::frozen::Before;
use crate::explore::odometer::Odometer;
use crate::machine::walk::{Mark, Roles};
use std::ops::Range;

/// A state on the way: small, since ways are long.
pub(super) struct Node {
    pub state: u32,
    /// The step that led to it; the one before is on its way to other agents by then.
    pub by: Option<Move>,
    pub mark: Mark,
    /// Its agents: where they begin in the list of all, and how many there are.
    pub first: usize,
    pub count: u32,
    /// The agent whose turn it is, behind whom its agents are somebody else's, and the number of its combination of choices.
    pub next: u32,
    pub end: u32,
    pub nth: u32,
    /// What few states have.
    pub extra: Option<Box<Extra>>,
}

/// What is known of a state on the way beyond its number.
#[derive(Default)]
pub(super) struct Extra {
    /// The combination of choices of the agent whose turn it is.
    pub odometer: Odometer,
    pub before: Before,
    /// Who may be exchanged.
    pub roles: Option<Roles>,
}

impl Node {
    pub fn extra(&mut self) -> &mut Extra {
        self.extra.get_or_insert_default()
    }

    pub fn before(&self) -> Before {
        self.extra.as_ref().map_or_else(Before::default, |e| e.before)
    }

    /// Who may be exchanged in it.
    pub fn roles(&self) -> Option<&Roles> {
        self.extra.as_ref()?.roles.as_ref()
    }

    /// Its agents among all.
    pub const fn agents(&self) -> Range<usize> {
        self.first..self.first + self.count as usize
    }
}

pub(super) fn index(k: usize) -> u32 {
    u32::try_from(k).unwrap_or(u32::MAX)
}

/// The number of a state whose walk gives `key`, with what of the way to it belongs to it: where switches count, and where it
/// does who has stepped.
pub(super) fn numbered(mut key: u128, (switches, stepped): (bool, bool), before: Before) -> u128 {
    const ODD: u128 = 0xd6e8_feb8_6659_fd93_a5a3_5625_c1f6_4b8f;
    if switches {
        let (block, warp) = before.last.unwrap_or((u64::MAX, u32::MAX));
        let extra = u128::from(block) << 64 | u128::from(warp) << 32 | u128::from(before.switches);
        key = key.wrapping_add((extra | 1 << 127).wrapping_mul(ODD));
    }
    if stepped {
        key = key.wrapping_add((u128::from(before.stepped) | 1 << 126).wrapping_mul(ODD).rotate_left(64));
    }
    key
}

/// Where a run stops.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Place {
    /// In a state in which nobody can step.
    State(u32),
    /// By a step of a state.
    Step(u32, u32),
}

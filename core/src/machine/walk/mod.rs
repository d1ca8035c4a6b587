//! Steps for a search: who can step in a state, one step, and the way back.
//!
//! A search needs what a run does not: to look at a state, to go on from it in each possible way, and to tell whether it
//! has been there. A [`Walk`] holds one context with its launches, one after the other, and steps it by [`Agent`]s: lanes
//! of a warp that stand at one address, an operation of memory, a silent rule. The rules are those of every run (`warp`,
//! `block`, `grid`); what differs is who is asked.
//!
//! With [`Grain::Visible`] a step goes on through what no other agent can notice, so that agents stand before what others
//! can: global and shared memory, barriers, exchanges of lanes. Such steps commute with all others, so that no outcome is
//! lost (P. Godefroid, "Partial-Order Methods", 1996, 4.3). Lanes that may meet others of their warp where they stop (control
//! model `its`, `meetings`) are not carried on: that decides who executes an instruction together. On memory that acts later
//! a warp goes on as long as it can: what it does is to issue operations, which nobody notices before their micro steps.

mod agent;
mod begin;
mod grid;
mod grown;
mod inspect;
mod journal;
mod meetings;
mod memo;
mod numbers;
mod pack;
mod parts;
mod restore;
mod search;
mod store;
mod stores;
mod walker;

pub use crate::machine::alike::{Exchanged, Likeness, Unlike};
pub use agent::{Agent, Begun, Foreseen, Grain, Reached};
pub use grown::{Grown, Growth};
pub use inspect::Look;
pub use numbers::Roles;
pub(super) use walker::Walker;

use crate::choice::Oracle;
use crate::machine::control::Lane;
use crate::machine::observer::Tell;
use crate::memory::OperationName;
use crate::program::env::ProgEnv;
use crate::program::instr::Slot;
use crate::program::ops::Class;
use crate::verdict::Stop;
use std::sync::Arc;

/// A point on the way of a walk, to come back to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Mark(usize);

impl Mark {
    /// The mark of a number, for a walk that keeps its own.
    #[must_use]
    pub const fn numbered(number: usize) -> Self {
        Self(number)
    }

    /// Its number.
    #[must_use]
    pub const fn number(self) -> usize {
        self.0
    }
}

/// Who is set free besides lanes that wait for a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Free {
    /// Blocks that wait for room on the device.
    pub blocks: bool,
    /// Lanes that wait at a barrier, or for members of a `bar.warp.sync`: they go on behind it.
    pub waits: bool,
}

/// A device in the hands of a search.
pub trait Walk: Send {
    /// Appends who can step now, in a fixed order; where agents are alike, in one that does not tell who is who. Nobody: [`State::reached`] says why.
    fn agents(&mut self, out: &mut Vec<Agent>);

    /// A step of an agent that [`Walk::agents`] gave in this state. `oracle` is asked where an agent's step itself can go
    /// several ways (the target of a divergent indirect branch, a multiprocessor for a block, a line to be evicted).
    /// Gives how many instructions were executed.
    ///
    /// # Errors
    /// Why the run stops there; the walk stands where it stood before.
    fn advance(&mut self, agent: Agent, oracle: &mut dyn Oracle, tell: Option<Tell<'_>>) -> Result<u32, Stop>;

    /// Where steps lead of agents that [`Walk::agents`] gave in this state, those at the places `asked`: appended are those that need
    /// not be made to know that. A step that is foreseen asks nobody anything and comes to no stop.
    fn foresee(&mut self, _agents: &[Agent], _asked: &[usize], _out: &mut Vec<(usize, Foreseen)>) {}

    /// What happened before anybody had a choice.
    fn begun(&self) -> &Begun;

    /// A number for the state: states with different numbers differ; that others do too is as good as sure (128 bits).
    fn key(&self) -> u128;

    /// A number for the state in which agents that are alike are told apart, too.
    fn exact(&self) -> u128 {
        self.key()
    }

    /// Those who may be exchanged in the state. `None`: nobody.
    fn roles(&self) -> Option<Roles> {
        None
    }

    /// What is exchanged in states, or why nothing is. `None`: that was not asked.
    fn likeness(&self) -> Option<Likeness> {
        None
    }

    /// Which part of the states that it has been in grows.
    fn growth(&self) -> Growth {
        Growth::default()
    }

    /// All that [`Walk::key`] is made from.
    fn whole(&self) -> Vec<u8>;

    /// Where the walk stands.
    fn mark(&mut self) -> Mark;

    /// Goes back to where it stood.
    fn back(&mut self, to: Mark);

    /// How many bytes the walk itself has come to take, about.
    fn held(&self) -> usize;

    /// Bytes that its tables are about to grow by within so many steps.
    fn grows(&self, steps: u64) -> usize;

    /// The program.
    fn program(&self) -> Arc<ProgEnv>;

    /// The state that it stands in, to be looked at.
    fn state(&mut self) -> &dyn State;
}

/// A state of a walk.
pub trait State: Look {
    /// The number of an operation of memory, by which a run knows it. That of a run is the same as long as the walk has not
    /// gone back.
    fn operation(&self, name: OperationName) -> Option<u32>;

    /// What is reached, when nobody can step.
    fn reached(&self) -> Reached;

    /// Bytes of device memory.
    fn bytes(&self, address: u64, len: u64) -> Option<&[u8]>;

    /// A hash of all device memory, as [`Context::memory_hash`](super::Context::memory_hash) makes it.
    fn memory_hash(&self) -> u64;

    /// A register of the entry's frame of a thread of the current launch, whose block is resident or was kept.
    fn register(&self, block: u64, thread: u32, class: Class, slot: Slot) -> Option<u64>;

    /// Every live lane of a resident warp, and where it stands, also when it cannot step: block, warp, lane.
    fn lanes(&self) -> Vec<(u64, u32, Lane)>;

    /// The same state under control model `thread`: every lane free at the address where it would go on. `tell` is told of
    /// what lanes do there before anybody has a choice.
    ///
    /// # Errors
    /// Why the run stops before anybody has a choice.
    fn freed(&self, free: Free, tell: Option<Tell<'_>>) -> Result<Box<dyn Walk>, Stop>;
}

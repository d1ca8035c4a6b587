//! Control models: how the lanes of a warp share one program counter (`semantics.md`, section 5).
//!
//! [`Crs`] is the report's stack of tokens (5.4.1), [`Its`] gives each lane a program counter and lets lanes at one
//! address run together, and it can run every thread on its own ([`Grouping::One`]), chapter 6's reference. A control model knows
//! addresses and masks only; registers, guards and memory are the warp's business.

mod crs;
mod explored;
mod its;
mod parts;

pub use crate::verdict::{Token, TokenKind};
pub use crs::Crs;
pub use explored::{Explored, Lane};
pub use its::Its;

use crate::base::{LANES, LaneMask};
use crate::choice::Oracle;
use crate::verdict::{Rule, Stop, Tokens};
use smallvec::SmallVec;
use std::fmt::Debug;

/// The lanes of a warp that run, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flow {
    /// Program address.
    pub pc: u32,
    /// The running lanes.
    pub mask: LaneMask,
    /// Depth of their call stack.
    pub depth: u32,
}

/// What a control instruction leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// The flow goes on, at its new address, mask and depth.
    Go,
    /// Nobody runs now: ask [`Control::pick`].
    Pick,
}

/// Why no lane runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Idle {
    /// Every lane has exited.
    Done,
    /// Some wait at a barrier of the block, perhaps others for members.
    Barrier,
    /// All that are left wait for members of a `.sync` instruction.
    Members,
    /// Lanes could run, but wait for memory operations.
    Blocked,
    /// The token stack ran empty at this instruction while lanes waited for a return or a break (report, 5.4.1: `unwind` is
    /// undefined): an error of ours.
    Corrupt(u32),
}

/// What lanes wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// Other members of a mask, at this instruction; it is executed when all are here.
    Members(LaneMask),
    /// All live lanes of the warp, at this instruction (aligned barriers).
    Warp,
    /// Other members of a mask, at any `bar.warp.sync` with it; the instruction is done then.
    WarpSync(LaneMask),
    /// A barrier of the block.
    Barrier(u32),
}

/// Which of the lanes at one address run together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grouping {
    /// All of them.
    All,
    /// Any of them (D-its-split).
    Any,
    /// None: every thread runs on its own.
    One,
}

/// Lanes that are somewhere else than those that execute an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    /// The lanes.
    pub lanes: LaneMask,
    /// Where they go on.
    pub pc: u32,
    /// The depth of their call stack there.
    pub depth: u32,
    /// What they wait for.
    pub wait: Option<Wait>,
}

impl Standing {
    /// Adds lanes to those at the same place.
    fn add(all: &mut Vec<Self>, more: Self) {
        let place = |s: &Self| (s.pc, s.depth, s.wait);
        match all.iter_mut().find(|s| place(s) == place(&more)) {
            Some(s) => s.lanes |= more.lanes,
            None => all.push(more),
        }
    }

    /// The instruction that they go on at or wait at: of some waits the address is behind it.
    #[must_use]
    pub const fn at(&self) -> u32 {
        match self.wait {
            Some(Wait::Barrier(_) | Wait::WarpSync(_)) => self.pc.saturating_sub(1),
            _ => self.pc,
        }
    }
}

/// Lanes at one address and depth.
pub type Group = (LaneMask, u32, u32);

/// Where others are while lanes run that have called a function.
#[derive(Clone, Debug)]
pub struct Nested {
    /// Who waits at the same depth, and where.
    pub here: Waiting,
    /// The lanes that are ready in callers.
    pub beyond: LaneMask,
    /// As [`Control::aside`] gives it.
    pub patience: u32,
}

/// Lanes that wait, and their addresses.
pub type Waiting = SmallVec<[(LaneMask, u32); 8]>;

/// A control model: the execution state of a warp.
pub trait Control: Clone + PartialEq + Eq + Debug + Send + Sync {
    /// Whether running lanes can meet others without an instruction that says so.
    const JOINS: bool;
    /// Whether lanes may wait for members that are elsewhere: otherwise members must be active (below sm_70).
    const WAITS: bool;

    /// A fresh warp whose `lanes` begin at address `entry`; other lanes have exited (D-exited-lanes).
    fn new(lanes: LaneMask, entry: u32) -> Self;

    /// The same in place, which is cheaper where the state is large.
    fn reset(&mut self, lanes: LaneMask, entry: u32) {
        *self = Self::new(lanes, entry);
    }

    /// The lanes to run next, of those that `can`, and for how many instructions they may, at most.
    ///
    /// # Errors
    /// From the oracle.
    fn pick(&mut self, oracle: &mut dyn Oracle, can: impl Fn(Flow) -> bool) -> Result<Result<(Flow, u32), Idle>, Stop>;

    /// What [`Control::pick`] gives where all lanes that are ready can run, and the oracle is [`Fair`](crate::choice::Fair). `None`: it
    /// is not so simple.
    fn first(&mut self) -> Option<(Flow, u32)> {
        None
    }

    /// The live lanes, where all of them are together and go on: [`Control::pick`] would pick them, and would not ask.
    fn whole(&self) -> Option<Flow>;

    /// What [`Control::pick`] would have noted of them: they have gone on.
    #[inline(always)]
    fn picked(&mut self) {}

    /// Whether lanes can run, as far as control decides it: neither all exited nor waiting.
    fn runnable(&mut self) -> bool;

    /// Whether [`Control::pick`] would find lanes that `can` run, or something other to say than [`Idle::Blocked`].
    fn any(&mut self, can: impl Fn(Flow) -> bool) -> bool;

    /// Which lanes run together, where that is not fixed.
    fn group(&mut self, _grouping: Grouping) {}

    /// Takes back the running lanes.
    fn park(&mut self, flow: Flow);

    /// `lanes` executed `used` instructions since they were picked.
    #[inline(always)]
    fn ran(&mut self, _lanes: LaneMask, _used: u32) {}

    /// Where those who are behind run next, as long as nobody else decides that: the other lanes that are ready, by their addresses,
    /// and how many instructions there may be until those that have waited long come first. `None`: it is not so simple.
    fn aside(&self, _flow: Flow) -> Option<(Waiting, u32)> {
        None
    }

    /// Lanes have run as [`Control::aside`] says: those of `flow` run now, others wait at their addresses. Before them those of
    /// `runs` ran, one after the other, which took `used` instructions together.
    fn regrouped(&mut self, _flow: Flow, _others: &[(LaneMask, u32)], _runs: &[LaneMask], _used: u32) {}

    /// The same as [`Control::aside`] of lanes that have called a function: those run who are deepest, of these those who are behind.
    fn nested(&self, _flow: Flow) -> Option<Nested> {
        None
    }

    /// Of lanes that are ready, who is at a depth, by addresses.
    fn at_depth(&self, _lanes: LaneMask, _depth: u32) -> Waiting {
        Waiting::new()
    }

    /// Lanes at a depth have called a function, from which they will return to an address.
    fn called(&mut self, _lanes: LaneMask, _depth: u32, _back: u32) {}

    /// Where lanes go on at a depth when what they have called returns. `None`: not all at one place.
    fn returns_to(&self, _lanes: LaneMask, _depth: u32) -> Option<u32> {
        None
    }

    /// Lanes have run as [`Control::nested`] says, and have called and returned: as [`Control::regrouped`].
    fn has_run(&mut self, _flow: Flow, _others: &[Group], _runs: &[LaneMask], _used: u32) {}

    /// [`Control::patience`] where no lane has waited.
    const PATIENCE: u32 = 0;

    /// How many instructions lanes may execute while others wait, as [`Control::aside`] says where all are together; 0: it is not so
    /// simple.
    #[inline(always)]
    fn patience(&self) -> u32 {
        0
    }

    /// Lanes that are together have parted as [`Control::aside`] says and have met again: those of `runs` ran, one after the other.
    fn parted(&mut self, _runs: &[LaneMask]) {}

    /// Below this address the running lanes meet nobody.
    #[inline(always)]
    fn watch(&self) -> u32 {
        u32::MAX
    }

    /// A branch that not all lanes take: `taken` of them go to `target`.
    fn diverge(&mut self, flow: &mut Flow, taken: LaneMask, target: u32) -> Next;

    /// A branch whose `taken` lanes have several targets, or a call of that kind where only tokens can defer lanes.
    /// Gives the lanes that go now.
    ///
    /// # Errors
    /// From the oracle.
    fn scatter(
        &mut self,
        flow: &mut Flow,
        taken: LaneMask,
        targets: &[u32; LANES],
        call: bool,
        oracle: &mut dyn Oracle,
    ) -> Result<(LaneMask, Next), Stop>;

    /// `taken` lanes call the function at `target`.
    fn call(&mut self, flow: &mut Flow, taken: LaneMask, target: u32) -> Next {
        self.call_some(flow, taken, taken, target)
    }

    /// `now` of the `taken` lanes call the function at `target`; the rest of them stay at the call.
    fn call_some(&mut self, flow: &mut Flow, now: LaneMask, taken: LaneMask, target: u32) -> Next;

    /// `lanes` return.
    fn ret(&mut self, flow: &mut Flow, lanes: LaneMask) -> Next;

    /// `lanes` end.
    fn exit(&mut self, flow: &mut Flow, lanes: LaneMask) -> Next;

    /// `ssy`, `preBrk`, `preRet` by `lanes`; nothing where tokens do not exist.
    fn push(&mut self, flow: &mut Flow, kind: TokenKind, lanes: LaneMask, target: u32);

    /// `sync`
    fn sync(&mut self, flow: &mut Flow) -> Next;

    /// `sync`, or a `break` of all running lanes, where no other lane is to be waited for: the running lanes go on
    /// together, at the address given. `None`: it is not so simple.
    #[inline(always)]
    fn rejoin(&mut self, _kind: TokenKind, _mask: LaneMask, _depth: u32) -> Option<u32> {
        None
    }

    /// `break` by `lanes`; where tokens do not exist, a branch to `target`.
    fn brk(&mut self, flow: &mut Flow, lanes: LaneMask, target: u32) -> Next;

    /// `lanes` of the running ones wait at the instruction of `flow` ([`Wait::WarpSync`] and [`Wait::Barrier`]: past it).
    /// The others stay where they are.
    fn wait(&mut self, flow: &mut Flow, lanes: LaneMask, on: Wait) -> Next;

    /// Lanes that waited at a barrier of the block go on.
    fn release(&mut self, barrier: u32, lanes: LaneMask);

    /// Lanes that have not exited.
    fn live(&self) -> LaneMask;

    /// Where live lanes stand that are not among those of `flow` that execute its instruction now: those of the flow whose
    /// guard keeps them out go on behind it.
    fn standing(&self, flow: &Flow, lanes: LaneMask) -> Vec<Standing>;

    /// Lanes at a barrier of the block, with their next addresses and depths.
    fn waiting(&self) -> Vec<(LaneMask, u32, Wait)>;

    /// The return addresses on a lane's call stack, innermost first.
    fn calls(&self, lane: usize) -> Vec<u32>;

    /// The token stack and the disable mask, where there are tokens.
    fn tokens(&self) -> Option<Tokens<'_>> {
        None
    }

    /// The rules that fired since the last call; empty unless `trace` was asked for.
    fn fired(&mut self) -> Vec<Rule> {
        Vec::new()
    }

    /// Forgets what only a schedule that takes turns remembers: which lanes ran when.
    fn forget_turns(&mut self) {}

    /// Asks for [`Control::fired`].
    fn trace(&mut self, _on: bool) {}
}

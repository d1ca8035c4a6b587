//! The engines whose accesses take effect after they were issued, and whose caches, if any, are not those of multiprocessors: one
//! type, so that the machine is compiled once for all of them. Which one it is, is decided when it is made; each keeps its rules
//! to itself, and what it does not answer has the bodies of [`Memory`].

use super::flat::Arena;
use super::mutexed::Mutexed;
use super::mutexed::mechanism::Mechanism;
use super::promoted::Promoted;
use super::rsp::SchemeName;
use super::split::{Lsc, Slsc, Split};
use super::{
    Acted, Active, Cx, Environment, Issuer, LocalMemory, Memory, Movable, OperationName, Part, Snapshot, Stores, Taken,
    Uses,
};
use crate::base::LaneMask;
use crate::program::instr::{Order, Scope, WarpRequest};
use crate::verdict::{MemoryView, Sink, Who};

/// An engine that acts later.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Delayed {
    /// Flat memory whose lanes access it one by one.
    Split(Split),
    /// The mutex mechanism of lockstep sequential consistency.
    Mutexed(Mutexed),
    /// Lockstep sequential consistency.
    Lsc(Lsc),
    /// The same, instructions taking effect as a whole.
    Slsc(Slsc),
    /// The hardware of remote-scope promotion.
    Promoted(Box<Promoted>),
}

/// Which engine it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DelayedModel {
    /// [`Delayed::Split`].
    Split,
    /// [`Delayed::Mutexed`].
    Mutexed(Mechanism),
    /// [`Delayed::Lsc`].
    Lsc,
    /// [`Delayed::Slsc`].
    Slsc,
    /// [`Delayed::Promoted`], with the scheme that accesses are compiled by.
    Promoted(SchemeName),
}

/// The same expression for whichever engine it is.
macro_rules! of {
    ($delayed:expr, $engine:ident => $answer:expr) => {
        match $delayed {
            Delayed::Split($engine) => $answer,
            Delayed::Mutexed($engine) => $answer,
            Delayed::Lsc($engine) => $answer,
            Delayed::Slsc($engine) => $answer,
            Delayed::Promoted($engine) => $answer,
        }
    };
}

impl Environment for Delayed {
    type Model = DelayedModel;

    fn create(model: &DelayedModel, base: u64, cap: Option<u64>) -> Self {
        match model {
            DelayedModel::Split => Self::Split(Split::create(&(), base, cap)),
            DelayedModel::Mutexed(mechanism) => Self::Mutexed(Mutexed::create(mechanism, base, cap)),
            DelayedModel::Lsc => Self::Lsc(Lsc::create(&(), base, cap)),
            DelayedModel::Slsc => Self::Slsc(Slsc::create(&(), base, cap)),
            DelayedModel::Promoted(scheme) => Self::Promoted(Box::new(Promoted::create(scheme, base, cap))),
        }
    }
}

impl Snapshot for Delayed {
    fn sections(&self) -> u32 {
        of!(self, m => m.sections())
    }

    fn changed(&mut self, out: &mut Vec<u32>) {
        of!(self, m => m.changed(out));
    }

    fn save(&self, part: Part, out: &mut Vec<u8>) {
        of!(self, m => m.save(part, out));
    }

    fn load(&mut self, part: Part, from: &[u8]) {
        of!(self, m => m.load(part, from));
    }
}

impl Memory for Delayed {
    const IMMEDIATE: bool = false;
    const CACHES: bool = false;
    const TAKES_REGISTERS: bool = false;

    fn arena(&self) -> &Arena {
        of!(self, m => m.arena())
    }

    fn arena_mut(&mut self) -> &mut Arena {
        of!(self, m => m.arena_mut())
    }

    fn issue<S: Sink>(&mut self, on: Active<'_, '_>, request: &WarpRequest, cx: &mut Cx<'_, S>) -> Taken {
        of!(self, m => m.issue(on, request, cx))
    }

    fn number(&self, address: u64, bytes: u32) -> Option<u64> {
        of!(self, m => m.number(address, bytes))
    }

    fn blocked(&self, at: Issuer, uses: &Uses, lanes: LaneMask) -> LaneMask {
        of!(self, m => m.blocked(at, uses, lanes))
    }

    fn fence<S: Sink>(&mut self, at: Issuer, lanes: LaneMask, scope: Scope, order: Order, cx: &mut Cx<'_, S>) -> Taken {
        of!(self, m => m.fence(at, lanes, scope, order, cx))
    }

    fn ready(&self) -> &[u64] {
        of!(self, m => m.ready())
    }

    fn pending(&self) -> usize {
        of!(self, m => m.pending())
    }

    fn waits_for_others(&self) -> bool {
        of!(self, m => m.waits_for_others())
    }

    fn issue_shows(&self, who: Who) -> bool {
        of!(self, m => m.issue_shows(who))
    }

    fn movable(&self, who: Who, out: &mut Vec<Movable>) {
        of!(self, m => m.movable(who, out));
    }

    fn operation(&self, launch: u32, name: OperationName) -> Option<u32> {
        of!(self, m => m.operation(launch, name))
    }

    fn step<S: Sink>(&mut self, number: u32, stores: &mut dyn Stores, cx: &mut Cx<'_, S>) -> Acted {
        of!(self, m => m.step(number, stores, cx))
    }

    fn woken(&mut self, out: &mut Vec<Who>) {
        of!(self, m => m.woken(out));
    }

    fn in_flight(&self, launch: u32, block: Option<u64>) -> usize {
        of!(self, m => m.in_flight(launch, block))
    }

    fn view(&self) -> MemoryView {
        of!(self, m => m.view())
    }

    fn has_silent(&self, wanted: bool) -> bool {
        of!(self, m => m.has_silent(wanted))
    }

    fn silent(&self, wanted: bool) -> usize {
        of!(self, m => m.silent(wanted))
    }

    fn fire<S: Sink>(&mut self, wanted: bool, rule: usize, stores: &mut dyn Stores, cx: &mut Cx<'_, S>) -> Acted {
        of!(self, m => m.fire(wanted, rule, stores, cx))
    }

    fn retire(&mut self, launch: u32, block: u64) {
        of!(self, m => m.retire(launch, block));
    }

    fn write_back(&mut self, stores: &mut dyn Stores) {
        of!(self, m => m.write_back(stores));
    }

    fn runtime_begins(&mut self, at: Issuer, local: &mut LocalMemory) {
        of!(self, m => m.runtime_begins(at, local));
    }

    fn flush(&mut self, stores: &mut dyn Stores) {
        of!(self, m => m.flush(stores));
    }
}

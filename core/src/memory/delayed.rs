//! The engines whose accesses take effect after they were issued: one type, so that the machine is compiled once for all of them
//! (benches/README.md, "Build time"). Which one it is, is decided when it is made; each keeps its rules
//! to itself, and what it does not answer has the bodies of [`Memory`] and [`Landing`].

use super::copies::{Landing, Side};
use super::fermi::{Fermi, FermiModel};
use super::flat::Arena;
use super::mutexed::Mutexed;
use super::mutexed::mechanism::Mechanism;
use super::promoted::Promoted;
use super::rsp::SchemeName;
use super::split::{Lsc, Slsc, Split};
use super::{
    Acted, Active, Cx, Environment, Held, Issuer, LocalMemory, Memory, Movable, OperationName, Part, Plain32, Snapshot,
    Stores, Taken, Uses,
};
use crate::base::{Frame, LaneMask};
use crate::program::instr::{Order, Scope, WarpRequest};
use crate::verdict::{AccessId, MemoryView, Sink, Stop, Who};
use pulp::Simd;

/// An engine that acts later.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delayed(Engine);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Engine {
    /// Flat memory: only copies beside it are in flight.
    Whole(Arena),
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
    /// The report's caches and memory programs.
    Fermi(Box<Fermi>),
}

/// How accesses take effect: which engine it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Accesses {
    /// As on flat memory.
    Whole,
    /// Lane by lane.
    Split,
    /// By the mutex mechanism of lockstep sequential consistency.
    Mutexed(Mechanism),
    /// By lockstep sequential consistency.
    Lsc,
    /// The same, instructions taking effect as a whole.
    Slsc,
    /// On the hardware of remote-scope promotion, with the scheme that accesses are compiled by.
    Promoted(SchemeName),
    /// By the report's caches and memory programs.
    Fermi(FermiModel),
}

/// The same expression for whichever engine it is.
macro_rules! of {
    ($delayed:expr, $engine:ident => $answer:expr) => {
        match $delayed {
            Engine::Whole($engine) => $answer,
            Engine::Split($engine) => $answer,
            Engine::Mutexed($engine) => $answer,
            Engine::Lsc($engine) => $answer,
            Engine::Slsc($engine) => $answer,
            Engine::Promoted($engine) => $answer,
            Engine::Fermi($engine) => $answer,
        }
    };
}

impl Environment for Delayed {
    type Model = Accesses;

    fn create(accesses: &Accesses, base: u64, cap: Option<u64>) -> Self {
        Self(match accesses {
            Accesses::Whole => Engine::Whole(Arena::create(&(), base, cap)),
            Accesses::Split => Engine::Split(Split::create(&(), base, cap)),
            Accesses::Mutexed(mechanism) => Engine::Mutexed(Mutexed::create(mechanism, base, cap)),
            Accesses::Lsc => Engine::Lsc(Lsc::create(&(), base, cap)),
            Accesses::Slsc => Engine::Slsc(Slsc::create(&(), base, cap)),
            Accesses::Promoted(scheme) => Engine::Promoted(Box::new(Promoted::create(scheme, base, cap))),
            Accesses::Fermi(model) => Engine::Fermi(Box::new(Fermi::create(model, base, cap))),
        })
    }
}

impl Snapshot for Delayed {
    fn sections(&self) -> u32 {
        of!(&self.0, m => m.sections())
    }

    fn changed(&mut self, out: &mut Vec<u32>) {
        of!(&mut self.0, m => m.changed(out));
    }

    fn save(&self, part: Part, out: &mut Vec<u8>) {
        of!(&self.0, m => m.save(part, out));
    }

    fn load(&mut self, part: Part, from: &[u8]) {
        of!(&mut self.0, m => m.load(part, from));
    }
}

impl Memory for Delayed {
    const IMMEDIATE: bool = false;

    fn has_caches(&self) -> bool {
        of!(&self.0, m => m.has_caches())
    }

    fn takes_registers(&self) -> bool {
        of!(&self.0, m => m.takes_registers())
    }

    fn arena(&self) -> &Arena {
        of!(&self.0, m => m.arena())
    }

    fn arena_mut(&mut self) -> &mut Arena {
        of!(&mut self.0, m => m.arena_mut())
    }

    fn issue<S: Sink>(&mut self, on: Active<'_, '_>, request: &WarpRequest, cx: &mut Cx<'_, S>) -> Taken {
        of!(&mut self.0, m => m.issue(on, request, cx))
    }

    fn reads_registers_late(&self) -> bool {
        !matches!(self.0, Engine::Whole(_))
    }

    fn names_shared(&self) -> bool {
        of!(&self.0, m => m.names_shared())
    }

    fn plain32<V: Simd, S: Sink>(&mut self, simd: V, on: Active<'_, '_>, site: Plain32, cx: &mut Cx<'_, S>) -> Taken {
        match &mut self.0 {
            Engine::Whole(arena) => arena.plain32(simd, on, site, cx),
            _ => self.issue(on, &site.request(), cx),
        }
    }

    fn number(&self, address: u64, bytes: u32) -> Option<u64> {
        of!(&self.0, m => m.number(address, bytes))
    }

    fn blocked(&self, at: Issuer, uses: &Uses, lanes: LaneMask) -> LaneMask {
        of!(&self.0, m => m.blocked(at, uses, lanes))
    }

    fn wrote<S: Sink>(
        &mut self,
        at: Issuer,
        lanes: LaneMask,
        old: &Held,
        regs: &mut Frame,
        cx: &mut Cx<'_, S>,
    ) -> Taken {
        of!(&mut self.0, m => m.wrote(at, lanes, old, regs, cx))
    }

    fn fence<S: Sink>(&mut self, at: Issuer, lanes: LaneMask, scope: Scope, order: Order, cx: &mut Cx<'_, S>) -> Taken {
        of!(&mut self.0, m => m.fence(at, lanes, scope, order, cx))
    }

    fn ready(&self) -> &[u64] {
        of!(&self.0, m => m.ready())
    }

    fn pending(&self) -> usize {
        of!(&self.0, m => m.pending())
    }

    fn waits_for_others(&self) -> bool {
        of!(&self.0, m => m.waits_for_others())
    }

    fn shared_at_once(&self) -> bool {
        of!(&self.0, m => m.shared_at_once())
    }

    fn issue_shows(&self, who: Who) -> bool {
        matches!(self.0, Engine::Whole(_)) || of!(&self.0, m => m.issue_shows(who))
    }

    fn movable(&self, who: Who, out: &mut Vec<Movable>) {
        of!(&self.0, m => m.movable(who, out));
    }

    fn operation(&self, launch: u32, name: OperationName) -> Option<u32> {
        of!(&self.0, m => m.operation(launch, name))
    }

    fn step<S: Sink>(&mut self, number: u32, stores: &mut dyn Stores, cx: &mut Cx<'_, S>) -> Acted {
        of!(&mut self.0, m => m.step(number, stores, cx))
    }

    fn woken(&mut self, out: &mut Vec<Who>) {
        of!(&mut self.0, m => m.woken(out));
    }

    fn in_flight(&self, launch: u32, block: Option<u64>) -> usize {
        of!(&self.0, m => m.in_flight(launch, block))
    }

    fn view(&self) -> MemoryView {
        of!(&self.0, m => m.view())
    }

    fn has_silent(&self, wanted: bool) -> bool {
        of!(&self.0, m => m.has_silent(wanted))
    }

    fn silent(&self, wanted: bool) -> usize {
        of!(&self.0, m => m.silent(wanted))
    }

    fn fire<S: Sink>(&mut self, wanted: bool, rule: usize, stores: &mut dyn Stores, cx: &mut Cx<'_, S>) -> Acted {
        of!(&mut self.0, m => m.fire(wanted, rule, stores, cx))
    }

    fn retire(&mut self, launch: u32, block: u64) {
        of!(&mut self.0, m => m.retire(launch, block));
    }

    fn write_back(&mut self, stores: &mut dyn Stores) {
        of!(&mut self.0, m => m.write_back(stores));
    }

    fn runtime_begins(&mut self, at: Issuer, local: &mut LocalMemory) {
        of!(&mut self.0, m => m.runtime_begins(at, local));
    }

    fn runtime_ends(&mut self, at: Issuer, local: &mut LocalMemory) {
        of!(&mut self.0, m => m.runtime_ends(at, local));
    }

    fn flush(&mut self, stores: &mut dyn Stores) {
        of!(&mut self.0, m => m.flush(stores));
    }
}

/// Flat memory: an instruction's lanes land together.
impl Landing for Arena {
    fn lands_apart(&self) -> bool {
        false
    }
}

impl Landing for Split {}

impl Landing for Lsc {}

impl Landing for Slsc {
    fn lands_apart(&self) -> bool {
        false
    }
}

impl Landing for Delayed {
    fn lands_apart(&self) -> bool {
        of!(&self.0, m => m.lands_apart())
    }

    fn may_keep(&self) -> bool {
        of!(&self.0, m => m.may_keep())
    }

    fn name_of(&self, operation: u32) -> Option<(Who, u32)> {
        of!(&self.0, m => m.name_of(operation))
    }

    fn comes_after(&self, side: &Side, most: u32) -> u32 {
        of!(&self.0, m => m.comes_after(side, most))
    }

    fn is_in_the_way(&self, side: &Side) -> bool {
        of!(&self.0, m => m.is_in_the_way(side))
    }

    fn copy_reads<S: Sink>(&mut self, from: &Side, into: &mut [u8], cx: &mut Cx<'_, S>) -> Result<bool, Stop> {
        of!(&mut self.0, m => m.copy_reads(from, into, cx))
    }

    fn copy_writes<S: Sink>(&mut self, to: &Side, from: &[u8], cx: &mut Cx<'_, S>) -> Result<bool, Stop> {
        of!(&mut self.0, m => m.copy_writes(to, from, cx))
    }

    fn copy_wrote(&mut self, side: &Side) {
        of!(&mut self.0, m => m.copy_wrote(side));
    }

    fn barrier_told<S: Sink>(&mut self, side: &Side, by: AccessId, word: u64, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
        of!(&mut self.0, m => m.barrier_told(side, by, word, cx))
    }
}

//! The engines whose accesses take effect after they were issued, and whose caches, if any, are not those of multiprocessors: one
//! type, so that the machine is compiled once for all of them. Which one it is, is decided when it is made; each keeps its rules
//! to itself, and what it does not answer has the bodies of [`Memory`]. Asynchronous copies are in flight beside its operations: they
//! read device memory and write shared memory as it is, which is right where neither has caches.

use super::copies::{Copies, Copy};
use super::flat::Arena;
use super::mutexed::Mutexed;
use super::mutexed::mechanism::Mechanism;
use super::promoted::Promoted;
use super::rsp::SchemeName;
use super::split::{Lsc, Slsc, Split};
use super::{
    Acted, Active, Cx, Environment, Issuer, LocalMemory, Memory, Movable, OperationName, Part, Plain32, Snapshot,
    Stores, Taken, Uses, snapshot,
};
use crate::base::LaneMask;
use crate::program::instr::{Order, Scope, WarpRequest};
use crate::verdict::{MemoryView, Sink, Who};
use pulp::Simd;

/// An engine that acts later, and copies in flight.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delayed {
    engine: Engine,
    /// None where the program has none, or memory has caches.
    copies: Option<Copies>,
    /// What may go on: words of the engine's operations and of copies by turns, so that numbers are stable.
    ready: Vec<u64>,
    /// The warps whose copies have landed since they were asked for last.
    woken: Vec<Who>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Engine {
    /// Flat memory: only copies are in flight.
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
}

/// Which engine it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DelayedModel {
    /// Its accesses.
    pub accesses: Accesses,
    /// Whether programs copy asynchronously.
    pub copies: bool,
}

/// How accesses take effect.
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
        }
    };
}

impl Environment for Delayed {
    type Model = DelayedModel;

    fn create(model: &DelayedModel, base: u64, cap: Option<u64>) -> Self {
        let (engine, cached, apart) = match &model.accesses {
            Accesses::Whole => (Engine::Whole(Arena::create(&(), base, cap)), false, false),
            Accesses::Split => (Engine::Split(Split::create(&(), base, cap)), false, true),
            Accesses::Mutexed(mechanism) => (Engine::Mutexed(Mutexed::create(mechanism, base, cap)), true, true),
            Accesses::Lsc => (Engine::Lsc(Lsc::create(&(), base, cap)), false, true),
            Accesses::Slsc => (Engine::Slsc(Slsc::create(&(), base, cap)), false, false),
            Accesses::Promoted(scheme) => (Engine::Promoted(Box::new(Promoted::create(scheme, base, cap))), true, true),
        };
        Self {
            engine,
            copies: (model.copies && !cached).then(|| Copies::new(apart)),
            ready: Vec::new(),
            woken: Vec::new(),
        }
    }
}

impl Delayed {
    /// Something has begun or ended: what may go on is noted anew, where copies may be in flight.
    fn refresh(&mut self) {
        let Some(copies) = &self.copies else { return };
        let (own, others) = (of!(&self.engine, m => m.ready()), copies.ready());
        self.ready.clear();
        for k in 0..own.len().max(others.len()) {
            let word = |words: &[u64]| words.get(k).copied().unwrap_or(0);
            self.ready.extend([word(own), word(others)]);
        }
    }

    /// The number of an operation of copies, where this is the number of one.
    const fn of_copies(&self, number: u32) -> Result<u32, u32> {
        if self.copies.is_none() {
            return Err(number);
        }
        let inner = number / 128 * 64 + number % 64;
        if number / 64 % 2 == 1 { Ok(inner) } else { Err(inner) }
    }

    /// The number here of an operation of copies, or of the engine's.
    const fn number_of(&self, inner: u32, copies: bool) -> u32 {
        if self.copies.is_none() { inner } else { (inner / 64 * 2 + copies as u32) * 64 + inner % 64 }
    }
}

impl Snapshot for Delayed {
    fn sections(&self) -> u32 {
        of!(&self.engine, m => m.sections())
    }

    fn changed(&mut self, out: &mut Vec<u32>) {
        of!(&mut self.engine, m => m.changed(out));
    }

    fn save(&self, part: Part, out: &mut Vec<u8>) {
        let (Part::Warp(who), Some(copies)) = (part, &self.copies) else {
            return of!(&self.engine, m => m.save(part, out));
        };
        let (mut own, mut theirs) = (Vec::new(), Vec::new());
        of!(&self.engine, m => m.save(part, &mut own));
        copies.save(who, &mut theirs);
        if !own.is_empty() || !theirs.is_empty() {
            snapshot::put(&(own, theirs), out);
        }
    }

    fn load(&mut self, part: Part, from: &[u8]) {
        let (Part::Warp(who), Some(copies)) = (part, &mut self.copies) else {
            return of!(&mut self.engine, m => m.load(part, from));
        };
        let (own, theirs) = snapshot::take::<(Vec<u8>, Vec<u8>)>(&mut &*from).unwrap_or_default();
        of!(&mut self.engine, m => m.load(part, &own));
        copies.load(who, &theirs);
        self.refresh();
    }
}

impl Memory for Delayed {
    const IMMEDIATE: bool = false;
    const CACHES: bool = false;
    const TAKES_REGISTERS: bool = false;

    fn arena(&self) -> &Arena {
        of!(&self.engine, m => m.arena())
    }

    fn arena_mut(&mut self) -> &mut Arena {
        of!(&mut self.engine, m => m.arena_mut())
    }

    fn issue<S: Sink>(&mut self, on: Active<'_, '_>, request: &WarpRequest, cx: &mut Cx<'_, S>) -> Taken {
        let taken = of!(&mut self.engine, m => m.issue(on, request, cx));
        self.refresh();
        taken
    }

    fn has_copies(&self) -> bool {
        self.copies.is_some()
    }

    fn reads_registers_late(&self) -> bool {
        !matches!(self.engine, Engine::Whole(_))
    }

    fn begin(&mut self, copy: Copy) {
        self.copies.iter_mut().for_each(|copies| copies.push(copy.clone()));
        self.refresh();
    }

    fn commit(&mut self, who: Who, lanes: LaneMask, bulk: bool) {
        self.copies.iter_mut().for_each(|copies| copies.commit(who, lanes, bulk));
        self.refresh();
    }

    fn plain32<V: Simd, S: Sink>(&mut self, simd: V, on: Active<'_, '_>, site: Plain32, cx: &mut Cx<'_, S>) -> Taken {
        match &mut self.engine {
            Engine::Whole(arena) => arena.plain32(simd, on, site, cx),
            _ => self.issue(on, &site.request(), cx),
        }
    }

    fn number(&self, address: u64, bytes: u32) -> Option<u64> {
        of!(&self.engine, m => m.number(address, bytes))
    }

    fn blocked(&self, at: Issuer, uses: &Uses, lanes: LaneMask) -> LaneMask {
        let copies = self.copies.as_ref().map_or(0, |copies| copies.blocked(at, uses, lanes));
        copies | of!(&self.engine, m => m.blocked(at, uses, lanes))
    }

    fn fence<S: Sink>(&mut self, at: Issuer, lanes: LaneMask, scope: Scope, order: Order, cx: &mut Cx<'_, S>) -> Taken {
        let taken = of!(&mut self.engine, m => m.fence(at, lanes, scope, order, cx));
        self.refresh();
        taken
    }

    fn ready(&self) -> &[u64] {
        if self.copies.is_some() { &self.ready } else { of!(&self.engine, m => m.ready()) }
    }

    fn pending(&self) -> usize {
        self.copies.as_ref().map_or(0, Copies::pending) + of!(&self.engine, m => m.pending())
    }

    fn waits_for_others(&self) -> bool {
        of!(&self.engine, m => m.waits_for_others())
    }

    fn issue_shows(&self, who: Who) -> bool {
        matches!(self.engine, Engine::Whole(_)) || of!(&self.engine, m => m.issue_shows(who))
    }

    fn movable(&self, who: Who, out: &mut Vec<Movable>) {
        of!(&self.engine, m => m.movable(who, out));
        // Their names come after those of the engine's operations.
        self.copies.iter().for_each(|copies| copies.movable(who, out));
    }

    fn operation(&self, launch: u32, name: OperationName) -> Option<u32> {
        if let Some(number) = self.copies.as_ref().and_then(|copies| copies.number(launch, name)) {
            return Some(self.number_of(number, true));
        }
        of!(&self.engine, m => m.operation(launch, name)).map(|number| self.number_of(number, false))
    }

    fn step<S: Sink>(&mut self, number: u32, stores: &mut dyn Stores, cx: &mut Cx<'_, S>) -> Acted {
        let acted = match (self.of_copies(number), &mut self.copies) {
            (Ok(number), Some(copies)) => {
                self.woken.extend(copies.owner(number));
                copies.land(number, of!(&mut self.engine, m => m.arena_mut()), stores, cx)
            }
            (Ok(number) | Err(number), _) => of!(&mut self.engine, m => m.step(number, stores, cx)),
        };
        self.refresh();
        acted
    }

    fn woken(&mut self, out: &mut Vec<Who>) {
        of!(&mut self.engine, m => m.woken(out));
        out.append(&mut self.woken);
    }

    fn in_flight(&self, launch: u32, block: Option<u64>) -> usize {
        let of = |who: &&Who| who.launch == launch && block.is_none_or(|block| block == who.block);
        let copies = self.copies.as_ref().map_or(0, |copies| copies.warps().filter(of).count());
        copies + of!(&self.engine, m => m.in_flight(launch, block))
    }

    fn view(&self) -> MemoryView {
        let mut view = of!(&self.engine, m => m.view());
        view.operations.extend(self.copies.iter().flat_map(Copies::view));
        view
    }

    fn has_silent(&self, wanted: bool) -> bool {
        of!(&self.engine, m => m.has_silent(wanted))
    }

    fn silent(&self, wanted: bool) -> usize {
        of!(&self.engine, m => m.silent(wanted))
    }

    fn fire<S: Sink>(&mut self, wanted: bool, rule: usize, stores: &mut dyn Stores, cx: &mut Cx<'_, S>) -> Acted {
        let acted = of!(&mut self.engine, m => m.fire(wanted, rule, stores, cx));
        self.refresh();
        acted
    }

    fn retire(&mut self, launch: u32, block: u64) {
        of!(&mut self.engine, m => m.retire(launch, block));
    }

    fn write_back(&mut self, stores: &mut dyn Stores) {
        of!(&mut self.engine, m => m.write_back(stores));
    }

    fn runtime_begins(&mut self, at: Issuer, local: &mut LocalMemory) {
        of!(&mut self.engine, m => m.runtime_begins(at, local));
    }

    fn flush(&mut self, stores: &mut dyn Stores) {
        of!(&mut self.engine, m => m.flush(stores));
    }
}

//! An engine and copies in flight beside its operations (D-async, D-copy-caches): how copies land is here, whatever the engine; how they
//! get at its memory is the engine's ([`Landing`]).

use super::{Copies, Copy, Landing};
use crate::base::{Frame, LaneMask};
use crate::memory::flat::Arena;
use crate::memory::{
    Acted, Active, Cx, Environment, Held, Issuer, LocalMemory, Memory, Movable, OperationName, Part, Plain32, Snapshot,
    Stores, Taken, Uses, snapshot,
};
use crate::program::instr::{Order, Scope, WarpRequest};
use crate::verdict::{MemoryView, Sink, Who};
use pulp::Simd;

/// An engine, and copies in flight.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WithCopies<E> {
    engine: E,
    /// None where the program has none: then all that is asked is asked of the engine.
    copies: Option<Copies>,
    /// What may go on: words of the engine's operations and of copies by turns, so that numbers are stable.
    ready: Vec<u64>,
    /// The warps whose copies have landed since they were asked for last.
    woken: Vec<Who>,
}

impl<E: Environment + Landing> Environment for WithCopies<E> {
    /// The engine's, and whether programs copy asynchronously.
    type Model = (E::Model, bool);

    fn create((model, copies): &Self::Model, base: u64, cap: Option<u64>) -> Self {
        let engine = E::create(model, base, cap);
        let copies = copies.then(|| Copies::new(engine.lands_apart()));
        Self { engine, copies, ready: Vec::new(), woken: Vec::new() }
    }
}

impl<E: Landing> WithCopies<E> {
    /// Something has begun or ended: what may go on is noted anew, where copies may be in flight.
    fn refresh(&mut self) {
        let Some(copies) = &self.copies else { return };
        let own = self.engine.ready();
        self.ready.clear();
        for k in 0..own.len().max(copies.words()) {
            self.ready.extend([own.get(k).copied().unwrap_or(0), copies.ready(k)]);
        }
    }

    /// The same after the engine did anything.
    fn stirred(&mut self) {
        self.copies.iter_mut().for_each(Copies::look_again);
        self.refresh();
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

    /// A step of the engine's, which copies may have waited for.
    fn engine_steps<S: Sink>(&mut self, number: u32, stores: &mut dyn Stores, cx: &mut Cx<'_, S>) -> Acted {
        let engine = &mut self.engine;
        let place = self.copies.as_ref().and_then(|_| engine.name_of(number));
        let acted = engine.step(number, stores, cx);
        if let (Some(copies), Some((who, place))) = (&mut self.copies, place) {
            let Who { launch, block, warp } = who;
            if engine.operation(launch, OperationName { block, warp, place }) != Some(number) {
                copies.ended(who, place, engine);
            }
        }
        self.stirred();
        acted
    }
}

impl<E: Landing> Snapshot for WithCopies<E> {
    fn sections(&self) -> u32 {
        self.engine.sections()
    }

    fn changed(&mut self, out: &mut Vec<u32>) {
        self.engine.changed(out);
    }

    fn save(&self, part: Part, out: &mut Vec<u8>) {
        let (Part::Warp(who), Some(copies)) = (part, &self.copies) else {
            return self.engine.save(part, out);
        };
        let (mut own, mut theirs) = (Vec::new(), Vec::new());
        self.engine.save(part, &mut own);
        copies.save(who, &mut theirs);
        if !own.is_empty() || !theirs.is_empty() {
            snapshot::put(&(own, theirs), out);
        }
    }

    fn load(&mut self, part: Part, from: &[u8]) {
        let (Part::Warp(who), Some(copies)) = (part, &mut self.copies) else {
            return self.engine.load(part, from);
        };
        let (own, theirs) = snapshot::take::<(Vec<u8>, Vec<u8>)>(&mut &*from).unwrap_or_default();
        self.engine.load(part, &own);
        copies.load(who, &theirs);
        self.stirred();
    }
}

impl<E: Landing> Memory for WithCopies<E> {
    const IMMEDIATE: bool = E::IMMEDIATE;

    fn has_caches(&self) -> bool {
        self.engine.has_caches()
    }

    fn takes_registers(&self) -> bool {
        self.engine.takes_registers()
    }

    fn arena(&self) -> &Arena {
        self.engine.arena()
    }

    fn arena_mut(&mut self) -> &mut Arena {
        self.engine.arena_mut()
    }

    fn issue<S: Sink>(&mut self, on: Active<'_, '_>, request: &WarpRequest, cx: &mut Cx<'_, S>) -> Taken {
        let taken = self.engine.issue(on, request, cx);
        self.stirred();
        taken
    }

    fn has_copies(&self) -> bool {
        self.copies.is_some()
    }

    fn reads_registers_late(&self) -> bool {
        self.engine.reads_registers_late()
    }

    fn names_shared(&self) -> bool {
        self.engine.names_shared()
    }

    fn begin(&mut self, copy: Copy) {
        let engine = &self.engine;
        self.copies.iter_mut().for_each(|copies| copies.enter(copy.clone(), engine));
        self.refresh();
    }

    fn commit(&mut self, who: Who, lanes: LaneMask, bulk: bool) {
        self.copies.iter_mut().for_each(|copies| copies.commit(who, lanes, bulk));
        self.refresh();
    }

    fn plain32<V: Simd, S: Sink>(&mut self, simd: V, on: Active<'_, '_>, site: Plain32, cx: &mut Cx<'_, S>) -> Taken {
        let taken = self.engine.plain32(simd, on, site, cx);
        self.stirred();
        taken
    }

    fn number(&self, address: u64, bytes: u32) -> Option<u64> {
        self.engine.number(address, bytes)
    }

    fn blocked(&self, at: Issuer, uses: &Uses, lanes: LaneMask) -> LaneMask {
        let copies = self.copies.as_ref().map_or(0, |copies| copies.blocked(at, uses, lanes));
        copies | self.engine.blocked(at, uses, lanes)
    }

    fn wrote<S: Sink>(
        &mut self,
        at: Issuer,
        lanes: LaneMask,
        old: &Held,
        regs: &mut Frame,
        cx: &mut Cx<'_, S>,
    ) -> Taken {
        let taken = self.engine.wrote(at, lanes, old, regs, cx);
        self.refresh();
        taken
    }

    fn fence<S: Sink>(&mut self, at: Issuer, lanes: LaneMask, scope: Scope, order: Order, cx: &mut Cx<'_, S>) -> Taken {
        let taken = self.engine.fence(at, lanes, scope, order, cx);
        self.stirred();
        taken
    }

    fn ready(&self) -> &[u64] {
        if self.copies.is_some() { &self.ready } else { self.engine.ready() }
    }

    fn pending(&self) -> usize {
        self.copies.as_ref().map_or(0, Copies::pending) + self.engine.pending()
    }

    fn waits_for_others(&self) -> bool {
        self.engine.waits_for_others()
    }

    fn shared_at_once(&self) -> bool {
        self.engine.shared_at_once()
    }

    fn issue_shows(&self, who: Who) -> bool {
        self.engine.issue_shows(who)
    }

    fn movable(&self, who: Who, out: &mut Vec<Movable>) {
        self.engine.movable(who, out);
        // Their names come after those of the engine's operations.
        self.copies.iter().for_each(|copies| copies.movable(who, &self.engine, out));
    }

    fn operation(&self, launch: u32, name: OperationName) -> Option<u32> {
        if let Some(number) = self.copies.as_ref().and_then(|copies| copies.number(launch, name)) {
            return Some(self.number_of(number, true));
        }
        self.engine.operation(launch, name).map(|number| self.number_of(number, false))
    }

    fn step<S: Sink>(&mut self, number: u32, stores: &mut dyn Stores, cx: &mut Cx<'_, S>) -> Acted {
        let number = match self.of_copies(number) {
            Ok(number) => number,
            Err(number) => return self.engine_steps(number, stores, cx),
        };
        let Some(copies) = &mut self.copies else { return Ok(()) };
        self.woken.extend(copies.owner(number));
        let acted = copies.land(number, &mut self.engine, stores, cx);
        self.refresh();
        acted
    }

    fn woken(&mut self, out: &mut Vec<Who>) {
        self.engine.woken(out);
        out.append(&mut self.woken);
    }

    fn in_flight(&self, launch: u32, block: Option<u64>) -> usize {
        let of = |who: &&Who| who.launch == launch && block.is_none_or(|block| block == who.block);
        let copies = self.copies.as_ref().map_or(0, |copies| copies.warps().filter(of).count());
        copies + self.engine.in_flight(launch, block)
    }

    fn view(&self) -> MemoryView {
        let mut view = self.engine.view();
        view.operations.extend(self.copies.iter().flat_map(Copies::view));
        view
    }

    fn has_silent(&self, wanted: bool) -> bool {
        self.engine.has_silent(wanted)
    }

    fn silent(&self, wanted: bool) -> usize {
        self.engine.silent(wanted)
    }

    fn fire<S: Sink>(&mut self, wanted: bool, rule: usize, stores: &mut dyn Stores, cx: &mut Cx<'_, S>) -> Acted {
        let acted = self.engine.fire(wanted, rule, stores, cx);
        self.stirred();
        acted
    }

    fn retire(&mut self, launch: u32, block: u64) {
        self.engine.retire(launch, block);
        self.stirred();
    }

    fn write_back(&mut self, stores: &mut dyn Stores) {
        self.engine.write_back(stores);
        self.stirred();
    }

    fn runtime_begins(&mut self, at: Issuer, local: &mut LocalMemory) {
        self.engine.runtime_begins(at, local);
        self.stirred();
    }

    fn runtime_ends(&mut self, at: Issuer, local: &mut LocalMemory) {
        self.engine.runtime_ends(at, local);
        self.stirred();
    }

    fn flush(&mut self, stores: &mut dyn Stores) {
        self.engine.flush(stores);
        self.stirred();
    }
}

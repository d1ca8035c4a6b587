//! The engine behind the seam between memory and machine: each method of [`Memory`], for memory with caches.

use super::cache::{DeviceSpace, LineKey, OpIdx};
use super::engine::{Fermi, data_slots, tell_fence};
use super::environment::{Touched, View, waits};
use super::issue::Maker;
use super::operation::{Body, Issued, Operation, Target};
use super::program::{At, Level, Micro, OpKey, Sigma, Undefined, micro};
use super::reads::tell_arrived;
use super::shown::Shown;
use super::writers::Writers;
use crate::base::mutant::{Mutant, on};
use crate::base::{Frame, LaneMask, number};
use crate::memory::flat::{Arena, Told, places, tell};
use crate::memory::{
    Acted, Active, Cx, Fault, Held, Issuer, LocalMemory, Memory, Movable, OperationName, ProgramFault, Stores, Taken,
    Trouble, Uses, Waits,
};
use crate::program::instr::{Order, Scope, Slot, WarpRequest};
use crate::program::ops::Class;
use crate::verdict::{AccessId, Contents, Event, MemoryView, Rule, Sink, Who};
use smallvec::SmallVec;
use std::cell::Cell;
use std::sync::Arc;

/// A word for why a statement is undefined; the report makes a sentence of it.
const fn cause(undefined: Undefined) -> &'static str {
    match undefined {
        Undefined::NotCached(Level::L1) => "not-cached-l1",
        Undefined::NotCached(Level::L2) => "not-cached-l2",
        Undefined::AlreadyCached(Level::L1) => "already-cached-l1",
        Undefined::AlreadyCached(Level::L2) => "already-cached-l2",
        Undefined::NoCaches => "no-caches",
        Undefined::NotAtomic => "not-atomic",
        Undefined::NotFence => "not-fence",
        Undefined::NotSharedAtomic => "not-shared-atomic",
        Undefined::NoMemory => "no-memory",
        Undefined::NothingRead => "nothing-read",
        Undefined::NoRegisters => "no-registers",
        Undefined::NotWritable => "not-writable",
        Undefined::NotReadable => "not-readable",
        Undefined::NoEnd => "no-end",
    }
}

impl Memory for Fermi {
    const IMMEDIATE: bool = false;

    fn has_caches(&self) -> bool {
        true
    }

    fn takes_registers(&self) -> bool {
        true
    }

    fn arena(&self) -> &Arena {
        &self.env.arena
    }

    fn arena_mut(&mut self) -> &mut Arena {
        &mut self.env.arena
    }

    /// Makes the operations of a request.
    ///
    /// Rule: mm.memOp
    fn issue<S: Sink>(&mut self, on: Active<'_, '_>, rq: &WarpRequest, cx: &mut Cx<'_, S>) -> Taken {
        let Active { at, mask, regs, near, .. } = on;
        let (arena, name) = (&self.env.arena, Cell::new(AccessId::NONE));
        if S::ON {
            let memory = Contents { later: true, ..arena.contents(near) };
            tell(Told { memory, together: mask, element: 0, access_id: Some(&name) }, at, mask, rq, regs, near, cx)?;
        }
        let places = places(arena, mask, rq, regs, near, cx.hints.at(at.pc))?;
        let (model, oracle, access_id) = (&*self.model, &mut *cx.oracle, name.get());
        let mut maker = Maker { model, issuer: at, rq, regs, access_id, oracle, told: Vec::new() };
        let drafts = maker.operations(mask, &places)?;
        let told = maker.told;
        if S::ON {
            cx.sink.fire(at.who, Rule::MmRegLookup)?;
            cx.sink.fire(at.who, Rule::MmMemOp)?;
            for (lanes, winner) in told {
                let event = Event::Survivor { pc: at.pc, lanes, winner: u32::try_from(winner).unwrap_or(0) };
                cx.sink.event(at.who, event)?;
            }
        }
        if matches!(rq.order, Order::Release | Order::AcqRel | Order::Sc) {
            self.push_fence(at, mask, Order::Release, rq.scope, true);
        }
        let blocked: SmallVec<[(Class, Slot); 8]> =
            data_slots(rq).filter(|s| near.uses.is_some_and(|u| u.names.contains(s))).collect();
        for draft in drafts {
            self.push_draft(rq, draft, &blocked)?;
        }
        if matches!(rq.order, Order::Acquire | Order::AcqRel | Order::Sc) {
            self.push_fence(at, mask, Order::Acquire, rq.scope, true);
        }
        Ok(())
    }

    fn names_shared(&self) -> bool {
        true
    }

    fn number(&self, address: u64, bytes: u32) -> Option<u64> {
        let behind = self.env.arena.bytes_at(address, bytes.into()).filter(|_| bytes <= 8)?;
        let byte = |(address, byte): (u64, &u8)| {
            let (base, at) = self.env.l2.shape().split(address);
            let line = self.env.l2.line(LineKey { space: DeviceSpace::Global, owner: Who::default(), base });
            line.and_then(|l| l.bytes.get(at)).unwrap_or(*byte)
        };
        let all: SmallVec<[u8; 8]> = (address..).zip(behind).map(byte).collect();
        Some(number(&all))
    }

    fn blocked(&self, at: Issuer, uses: &Uses, lanes: LaneMask) -> LaneMask {
        let Some(queue) = self.queues.get(&at.who).filter(|_| !on(Mutant::NothingBlocks)) else { return 0 };
        let mut waits = queue.held & lanes;
        for b in &queue.board {
            if b.depth == at.depth && (uses.waits == Waits::Frame || uses.names.contains(&(b.class, b.slot))) {
                waits |= b.lanes & lanes;
            }
        }
        if uses.waits == Waits::Operations && !on(Mutant::BarrierDoesNotWait) {
            let operations = queue.operations.iter().filter_map(|k| self.operations.get(*k));
            waits |= operations.fold(0, |m, o| m | o.issued.lanes) & lanes;
        }
        waits
    }

    /// Rule: mm.regLookup
    fn wrote<S: Sink>(
        &mut self,
        at: Issuer,
        lanes: LaneMask,
        old: &Held,
        regs: &mut Frame,
        cx: &mut Cx<'_, S>,
    ) -> Taken {
        if S::ON {
            cx.sink.fire(at.who, Rule::MmRegLookup)?;
        }
        let Some((id, program)) = self.programs.find(OpKey::REG).and_then(|id| Some((id, self.programs.get(id)?)))
        else {
            let (program, file) = (OpKey::REG.name(), String::new());
            return Err(Box::new(Fault::Program(ProgramFault { program, file, line: 0, cause: "no-program" })));
        };
        if self.model.eager_local && program.is_local(At::default()) {
            return Ok(());
        }
        if S::ON {
            cx.sink.fire(at.who, Rule::MmMemOp)?;
        }
        let new = old.again(regs);
        old.put(regs, lanes);
        let blocked: SmallVec<[(Class, Slot); 4]> = new.registers().collect();
        let body = Body::Program { id, at: At::default() };
        let issued = Issued { target: Target::Held(new), ..Issued::by(at, lanes) };
        self.push(Operation::new(issued, body, Sigma::Reg), &blocked);
        Ok(())
    }

    fn fence<S: Sink>(&mut self, at: Issuer, lanes: LaneMask, scope: Scope, order: Order, cx: &mut Cx<'_, S>) -> Taken {
        if !self.push_fence(at, lanes, order, scope, false) && S::ON {
            tell_fence(at, lanes, cx)?;
        }
        Ok(())
    }

    fn ready(&self) -> &[u64] {
        if on(Mutant::HighestPrioMaximum) && self.operations.live > 1 {
            return &[];
        }
        &self.operations.ready
    }

    fn pending(&self) -> usize {
        self.operations.live
    }

    /// Who has tried in vain is no part of a state that is put back, so it is not asked.
    fn movable(&self, who: Who, out: &mut Vec<Movable>) {
        let queue = self.queues.get(&who).filter(|_| !self.ready().is_empty());
        let queue = queue.map_or(&[][..], |q| &q.operations);
        for (place, number) in (0..).zip(queue.iter().copied()) {
            let Some(operation) = self.operations.get(number).filter(|o| o.above == 0) else { continue };
            if !waits(&self.env, &self.model, &self.programs, number, operation) {
                let name = OperationName { block: who.block, warp: who.warp, place };
                out.push(Movable { name, lanes: operation.issued.lanes });
            }
        }
    }

    fn operation(&self, launch: u32, OperationName { block, warp, place }: OperationName) -> Option<u32> {
        self.queues.get(&Who { launch, block, warp })?.operations.get(place as usize).copied()
    }

    /// Rule: m.step
    ///
    /// Rule: m.end
    fn step<S: Sink>(&mut self, k: u32, stores: &mut dyn Stores, cx: &mut Cx<'_, S>) -> Acted {
        let Some(mut operation) = self.operations.take(k) else { return Ok(()) };
        let Operation { issued, body, sigma, .. } = &mut *operation;
        let Body::Program { id, at } = body else { return self.end_fence(k, operation, cx) };
        let programs = Arc::clone(&self.programs);
        let Issued { issuer, lanes, .. } = *issued;
        let trouble = |fault| Box::new(Trouble { at: issuer, lanes, fault });
        let stopped = |stop| trouble(Fault::Stop(stop));
        let Some(program) = programs.get(*id) else { return Ok(()) };
        let mut from = program.line(*at);
        let mut touched = Touched::default();
        let went = loop {
            let (env, model, found) = (&mut self.env, &*self.model, Vec::new());
            let mut view = View { env, model, operation: issued, stores, cx, touched, found };
            let open = S::ON && !sigma.complete();
            let went = micro(program, at, OpIdx(k), sigma, &mut view).map_err(stopped)?;
            touched = view.touched;
            if S::ON {
                let filled = open && sigma.complete();
                if filled || touched.used {
                    view.tell_reads(sigma, filled).map_err(stopped)?;
                    touched.used = false;
                }
                tell_arrived(&mut view.env.writers, issuer.who, view.cx).map_err(stopped)?;
                let rule = if went == Micro::End { Rule::MEnd } else { Rule::MStep };
                cx.sink.fire(issuer.who, rule).map_err(stopped)?;
                if went == Micro::End && matches!(sigma, Sigma::Fence { .. }) {
                    cx.sink.fire(issuer.who, Rule::MmUpdMemBar).map_err(stopped)?;
                    tell_fence(issuer, lanes, cx).map_err(stopped)?;
                }
                let shown = Shown { issued, program: Some((program, *at)), sigma };
                self.tell_step(k, &shown, from, went, cx).map_err(stopped)?;
                from = program.line(*at);
            }
            if !(went == Micro::Yield && self.model.eager_local && program.is_local(*at)) {
                break went;
            }
        };
        let key = sigma.key();
        if touched.released {
            if let Some(queue) = self.queues.get_mut(&issuer.who) {
                queue.board.retain(|b| b.operation != k);
            }
            self.woken.push(issuer.who);
        }
        match went {
            Micro::Yield => self.operations.put(k, operation),
            Micro::Wait => self.stall(k, operation),
            Micro::End => self.finish(k, &operation),
            Micro::Stuck(at, undefined) => {
                let (name, file, line) = (program.name(), program.file().to_owned(), program.line(at));
                let fault = ProgramFault { program: name, file, line, cause: cause(undefined) };
                return Err(trouble(Fault::Program(fault)));
            }
        }
        self.changed(touched, issuer.sm, key);
        Ok(())
    }

    fn has_silent(&self, wanted: bool) -> bool {
        let mut any = false;
        if wanted {
            self.each_wanted(|_| {
                any = true;
                true
            });
        } else {
            any = self.env.caches().any(|c| c.lines().any(|l| l.dirty != 0 || l.evictable()));
        }
        any
    }

    fn silent(&self, wanted: bool) -> usize {
        self.silent_rules(wanted).len()
    }

    fn fire<S: Sink>(&mut self, wanted: bool, nth: usize, stores: &mut dyn Stores, cx: &mut Cx<'_, S>) -> Acted {
        let Some(rule) = self.silent_rules(wanted).get(nth).copied() else { return Ok(()) };
        let fired = self.fire_silent(rule, stores, cx);
        fired.map_err(|stop| Box::new(Trouble { at: Issuer::default(), lanes: 0, fault: Fault::Stop(stop) }))
    }

    fn woken(&mut self, out: &mut Vec<Who>) {
        out.append(&mut self.woken);
    }

    fn in_flight(&self, launch: u32, block: Option<u64>) -> usize {
        self.queues.keys().filter(|who| who.launch == launch && block.is_none_or(|b| b == who.block)).count()
    }

    fn view(&self) -> MemoryView {
        self.environment()
    }

    fn retire(&mut self, launch: u32, block: u64) {
        self.env.writers.forget(launch, block);
        self.forget(|who| (who.launch, who.block) == (launch, block));
    }

    fn write_back(&mut self, stores: &mut dyn Stores) {
        self.write_lines_back(stores, |_| true);
    }

    fn flush(&mut self, stores: &mut dyn Stores) {
        self.write_lines_back(stores, |_| true);
        if on(Mutant::NoFlush) {
            return;
        }
        for cache in self.env.caches_mut() {
            cache.forget(|_| true);
        }
        self.env.sms.iter_mut().for_each(|sm| sm.locked = 0);
        self.env.writers = Writers::default();
        self.woken.clear();
    }

    fn runtime_begins(&mut self, at: Issuer, local: &mut LocalMemory) {
        self.write_warp_back(at, local);
    }

    fn runtime_ends(&mut self, at: Issuer, local: &mut LocalMemory) {
        self.take_over_local(at, local);
    }
}

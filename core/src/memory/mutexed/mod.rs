//! The mutex mechanism of lockstep sequential consistency as memory for kernels (`--memory lsc-mutex`): Puthoor and Lipasti,
//! "Systems-on-Chip with Strong Ordering" (2021), sections 5 and 6. spec-notes/lockstep-ptx.md has its decisions.
//!
//! A warp is a wavefront. What an instruction accesses of global memory is coalesced by line. Its stores are pending until they
//! retire, which is a step of its own for each line; meanwhile the warp goes on, but what is younger is issued only with mutexes for
//! itself and for all pending stores. A warp has one instruction at most that asks for mutexes or loads, and waits for it; before
//! that are stores that have been issued, each when it had its mutex, and retire in the order of the program. The pool refuses a
//! mutex that another warp has, and it is asked for again. All mutexes of a warp are given back when none of its stores is pending. Pool, managers of mutexes and
//! coalescing are those of [`lockstep`](super::lockstep), which a search of the abstract machine shares.
//!
//! Shared memory is outside of the mechanism: an instruction's accesses of it are one step, after the warp's older stores. Local
//! memory, parameters and constants, which nobody else sees or changes, are accessed at once.

mod copies;
pub mod mechanism;
mod observed;
mod perform;
mod slots;
mod snapshot;
mod wavefront;

use super::fermi::program::OpKind;
use super::flat::{Arena, Told, places, tell};
use super::lockstep::{Answer, Asker, Entry, Hash, ManySlots, Pool, Wanted, coalesce};
use super::{
    Acted, Active, Cx, Environment, Fault, Held, Issuer, Memory, Movable, OperationName, Stores, Taken, Trouble, Uses,
    Waits,
};
use crate::base::mutant::{Mutant, on};
use crate::base::{Aside, Frame, LANES, LaneMask, expand, lanes_of, sort};
use crate::program::instr::{MemOp, NO_SLOT, Order, Scope, Slot, Space, WarpRequest};
use crate::program::ops::Class;
use crate::verdict::{
    AccessId, Contents, Event, Look, MemoryStep, MemoryView, OperationView, Performed, Region, Rule, Sink, StepEnd,
    Stop, Traffic, Who,
};
use mechanism::Mechanism;
use observed::Writers;
use slots::Wavefronts;
use smallvec::SmallVec;
use std::cell::Cell;
use wavefront::{Doing, Instruction, Part, Wavefront, take};

/// Memory behind the mutex mechanism.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mutexed {
    arena: Arena,
    line: u64,
    hash: Hash,
    pool: Pool<ManySlots>,
    wavefronts: Wavefronts,
    woken: Vec<Who>,
    /// Whether the pool has changed since a search asked.
    pool_changed: bool,
    /// Who wrote what, where an observer asks.
    writers: Writers,
    /// Room for the registers of stores that retire.
    scratch: Aside<Frame>,
}

impl Environment for Mutexed {
    type Model = Mechanism;

    fn create(of: &Mechanism, base: u64, cap: Option<u64>) -> Self {
        Self {
            arena: Arena::create(&(), base, cap),
            line: u64::from(of.line.max(32).next_power_of_two()),
            hash: Hash::new(of.entries),
            pool: Pool::default(),
            wavefronts: Wavefronts::default(),
            woken: Vec::new(),
            pool_changed: false,
            writers: Writers::default(),
            scratch: Aside(Frame::default()),
        }
    }
}

/// The registers that a request reads.
fn read_by(rq: &WarpRequest) -> SmallVec<[(Class, Slot); 4]> {
    let (class, double) = (rq.class(), rq.width == 16);
    let mut all: SmallVec<[(Class, Slot); 4]> = SmallVec::new();
    all.push((rq.address_class(), rq.addr));
    for slot in rq.regs.iter().filter(|s| **s != NO_SLOT) {
        all.push((class, *slot));
        if double {
            all.push((class, Slot(slot.0.saturating_add(1))));
        }
    }
    all
}

/// An instruction's parts, for people.
fn shown(i: &Instruction, lanes: LaneMask, shared: bool) -> OperationView {
    OperationView {
        who: i.at.who,
        pc: i.at.pc,
        lanes,
        processor: i.at.sm,
        name: OpKind::of(i.request.op).name().to_owned(),
        region: Some(if shared { Region::Shared } else { Region::Generic }),
        ..OperationView::default()
    }
}

/// Why an action cannot be done, from what an observer said.
fn stopped(at: Issuer, lanes: LaneMask) -> impl Fn(Stop) -> Box<Trouble> {
    move |stop| Box::new(Trouble { at, lanes, fault: Fault::Stop(stop) })
}

impl Mutexed {
    /// Takes in what an instruction does in global and shared memory: one part for each line, one for shared memory. It wants its
    /// mutexes now, where it writes or stores of its warp are pending.
    ///
    /// Rule: lsc.ptx.issue
    fn take_in<S: Sink>(
        &mut self,
        (at, rq, access_id): (Issuer, &WarpRequest, AccessId),
        places: &[(Space, u64); LANES],
        (global, shared): (LaneMask, LaneMask),
        regs: &Frame,
        cx: &mut Cx<'_, S>,
    ) -> Taken {
        let line = |lane: usize| Some((u8::try_from(lane).ok()?, places[lane].1 / self.line));
        let parts = coalesce(lanes_of(global).filter_map(line));
        let parts: SmallVec<[Part; 2]> = parts.into_iter().map(|(line, lanes)| Part { line, lanes }).collect();
        // Whoever waits for what it reads keeps its registers as they are.
        let goes_on = matches!(rq.op, MemOp::Store | MemOp::Red(..)) && global != 0;
        let held = if goes_on { Held::capture(&read_by(rq), regs).of_lanes(global) } else { Held::default() };
        let (slot, mut wavefront) = self.wavefronts.take_of(at.who);
        if shared != 0 {
            let parts = SmallVec::from_slice(&[Part { line: 0, lanes: shared }]);
            let held = Held::default();
            wavefront.shared = Some(Instruction { at, request: *rq, parts, held, access_id });
        }
        let mut hits: SmallVec<[Entry; 2]> = SmallVec::new();
        if !parts.is_empty() {
            wavefront.current = Some(Instruction { at, request: *rq, parts, held, access_id });
            wavefront.want(self.hash, |entry, wanted| {
                if wanted != Wanted::Asks {
                    hits.push(entry);
                }
            });
        }
        self.go_on(&mut wavefront);
        self.wavefronts.put(slot, wavefront, self.hash);
        if S::ON {
            cx.sink.fire(at.who, Rule::LscPtxIssue)?;
            hits.into_iter().try_for_each(|e| cx.sink.event(at.who, Event::Traffic(Traffic::Hit { entry: e.0 })))?;
        }
        Ok(())
    }

    /// What follows from a step without another: a store that has its mutex is issued, what is complete goes.
    fn go_on(&mut self, wavefront: &mut Wavefront) {
        let issued = wavefront.issue(self.hash);
        if wavefront.clear() || issued {
            self.woken.push(wavefront.who);
        }
    }

    /// A wavefront asks for a mutex.
    fn ask<S: Sink>(&mut self, wavefront: &mut Wavefront, entry: Entry, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
        let granted = self.pool.ask(entry, Asker::Wavefront) == Answer::Granted;
        if granted {
            wavefront.gmm.acquired(entry);
            self.pool_changed = true;
        } else {
            wavefront.gmm.refused(entry);
            wavefront.gmm.ask_again(entry);
            wavefront.refused.push(entry);
        }
        if S::ON {
            let [answer, heard] = if granted {
                [Rule::LscPoolGrant, Rule::LscGpuAcquire]
            } else {
                [Rule::LscPoolNack, Rule::LscGpuRefused]
            };
            cx.sink.fire(wavefront.who, answer)?;
            cx.sink.fire(wavefront.who, heard)?;
            cx.sink.event(wavefront.who, Event::Traffic(Traffic::Request { entry: entry.0, granted }))?;
        }
        Ok(())
    }

    /// A part of a store has retired: when no store is pending, all mutexes are given back.
    fn retired<S: Sink>(&mut self, wavefront: &mut Wavefront, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
        let (pool, mut given) = (&mut self.pool, SmallVec::<[Entry; 4]>::new());
        wavefront.gmm.store_retired(|entry| {
            _ = pool.release(entry);
            given.push(entry);
        });
        if wavefront.gmm.pending_store() == 0 {
            wavefront.let_go(self.hash);
        }
        if given.is_empty() {
            return Ok(());
        }
        self.pool_changed = true;
        self.wavefronts.given_back(self.hash, &self.pool);
        if S::ON {
            cx.sink.fire(wavefront.who, Rule::LscGpuRelease)?;
            cx.sink.fire(wavefront.who, Rule::LscPoolRelease)?;
            let told = |e: Entry| cx.sink.event(wavefront.who, Event::Traffic(Traffic::Release { entry: e.0 }));
            given.into_iter().try_for_each(told)?;
        }
        Ok(())
    }

    /// Makes a step of a wavefront.
    fn make<S: Sink>(
        &mut self,
        wavefront: &mut Wavefront,
        doing: Doing,
        stores: &mut dyn Stores,
        cx: &mut Cx<'_, S>,
    ) -> Acted {
        let found = match doing {
            Doing::Ask(_) | Doing::Perform(_) => wavefront.current.as_mut(),
            Doing::Shared(_) => wavefront.shared.as_mut(),
            Doing::Retire(part) => wavefront.stores.iter_mut().find(|s| s.parts.contains(&part)),
        };
        let Some(instruction) = found else { return Ok(()) };
        let at = instruction.at;
        let part = match doing {
            Doing::Ask(entry) => return self.ask(wavefront, entry, cx).map_err(stopped(at, 0)),
            Doing::Perform(part) | Doing::Shared(part) | Doing::Retire(part) => part,
        };
        take(instruction, part);
        let now = instruction.clone();
        self.perform(&now, part, matches!(doing, Doing::Shared(_)), stores, cx)?;
        let trouble = stopped(at, part.lanes);
        if S::ON {
            let line = part.line;
            let (rule, traffic) = match (doing, now.request.op) {
                // Rule: lsc.ptx.load
                (Doing::Perform(_), _) => (Rule::LscPtxLoad, Some(Traffic::Load { line })),
                // Rule: lsc.ptx.retire
                (Doing::Retire(_), MemOp::Store) => (Rule::LscPtxRetire, Some(Traffic::Store { line })),
                (Doing::Retire(_), _) => (Rule::LscPtxRetire, Some(Traffic::Atomic { line })),
                // Rule: lsc.ptx.shared
                _ => (Rule::LscPtxShared, None),
            };
            cx.sink.fire(at.who, rule).map_err(&trouble)?;
            let mut tell = |traffic| cx.sink.event(at.who, Event::Traffic(traffic));
            traffic.into_iter().try_for_each(&mut tell).map_err(&trouble)?;
        }
        if matches!(doing, Doing::Retire(_)) {
            self.retired(wavefront, cx).map_err(trouble)?;
        }
        Ok(())
    }

    /// Tells of a step that was made.
    fn tell_step<S: Sink>(
        &self,
        wavefront: &Wavefront,
        made: Option<&Instruction>,
        doing: Doing,
        cx: &mut Cx<'_, S>,
    ) -> Result<(), Stop> {
        let Some(instruction) = made else { return Ok(()) };
        let look = || {
            let (lanes, end) = match doing {
                Doing::Ask(_) => (instruction.parts.iter().fold(0, |m, p| m | p.lanes), StepEnd::Waits),
                Doing::Perform(part) | Doing::Shared(part) | Doing::Retire(part) => (part.lanes, StepEnd::Ends),
            };
            let operation = shown(instruction, lanes, matches!(doing, Doing::Shared(_)));
            MemoryStep::Operation { operation, from: 0, end }
        };
        cx.sink.event(wavefront.who, Event::MemoryStep(Look::new(&look)))
    }
}

impl Memory for Mutexed {
    const IMMEDIATE: bool = false;

    fn arena(&self) -> &Arena {
        &self.arena
    }

    fn arena_mut(&mut self) -> &mut Arena {
        &mut self.arena
    }

    fn waits_for_others(&self) -> bool {
        true
    }

    fn names_shared(&self) -> bool {
        true
    }

    /// A store under pending ones keeps mutexes that would be given back before it otherwise.
    fn issue_shows(&self, who: Who) -> bool {
        self.wavefronts.of(who).is_some_and(|wavefront| !wavefront.stores.is_empty())
    }

    fn issue<S: Sink>(&mut self, on: Active<'_, '_>, request: &WarpRequest, cx: &mut Cx<'_, S>) -> Taken {
        let Active { at, mask, regs, near, .. } = on;
        let places = places(&self.arena, mask, request, regs, near, cx.hints.at(at.pc));
        let of = |space: Space| match &places {
            Ok(places) => lanes_of(mask).filter(|l| places[*l].0 == space).fold(0, |m, l| m | 1 << l),
            Err(_) => 0,
        };
        let (global, shared): (LaneMask, LaneMask) = (of(Space::Global), of(Space::Shared));
        let later = if places.is_ok() { global | shared } else { mask };
        let name = Cell::new(AccessId::NONE);
        if S::ON && later != 0 {
            let memory = Contents { later: true, ..self.arena.contents(near) };
            let told = Told { memory, together: mask, element: 0, access_id: Some(&name) };
            tell(told, at, later, request, regs, near, cx)?;
        }
        let places = places?;
        let now: LaneMask = mask & !later;
        if now != 0 {
            let lanes = &expand(now, &cx.tables);
            self.arena.issue(Active { at, mask: now, lanes, regs: &mut *regs, near }, request, cx)?;
        }
        if later == 0 {
            return Ok(());
        }
        self.take_in((at, request, name.get()), &places, (global, shared), regs, cx)
    }

    /// A warp waits for its instruction; barriers, the device runtime and copies that begin wait for its stores.
    ///
    /// Rule: lsc.ptx.wait
    fn blocked(&self, at: Issuer, uses: &Uses, lanes: LaneMask) -> LaneMask {
        let Some(wavefront) = self.wavefronts.of(at.who) else { return 0 };
        let awaits = match uses.waits {
            Waits::Operations => !on(Mutant::LscPtxBarrierAtOnce),
            Waits::Room => !on(Mutant::CopyOvertakes),
            _ => false,
        };
        if wavefront.waits() || awaits && !wavefront.stores.is_empty() { lanes } else { 0 }
    }

    fn fence<S: Sink>(&mut self, at: Issuer, lanes: LaneMask, _: Scope, _: Order, cx: &mut Cx<'_, S>) -> Taken {
        if S::ON {
            cx.sink.event(at.who, Event::Performed(Performed::Fence { pc: at.pc, lanes }))?;
        }
        Ok(())
    }

    fn ready(&self) -> &[u64] {
        self.wavefronts.ready()
    }

    fn pending(&self) -> usize {
        self.wavefronts.len()
    }

    fn movable(&self, who: Who, out: &mut Vec<Movable>) {
        let Some(wavefront) = self.wavefronts.of(who) else { return };
        let word = wavefront.movable(self.hash, &self.pool);
        let name = |place| OperationName { block: who.block, warp: who.warp, place };
        let all = (0..64).filter(|k| word >> k & 1 == 1);
        out.extend(all.map(|k| Movable { name: name(k), lanes: wavefront.lanes(k, self.hash) }));
    }

    fn operation(&self, launch: u32, OperationName { block, warp, place }: OperationName) -> Option<u32> {
        let slot = self.wavefronts.place(Who { launch, block, warp })?;
        slot.checked_mul(64)?.checked_add(place)
    }

    fn step<S: Sink>(&mut self, number: u32, stores: &mut dyn Stores, cx: &mut Cx<'_, S>) -> Acted {
        let (slot, number) = (number / 64, number % 64);
        let Some(mut wavefront) = self.wavefronts.take(slot) else { return Ok(()) };
        let (doing, waited) = (wavefront.doing(number, self.hash), wavefront.waits());
        let made = doing.filter(|_| S::ON).and_then(|doing| match doing {
            Doing::Ask(_) | Doing::Perform(_) => wavefront.current.clone(),
            Doing::Shared(_) => wavefront.shared.clone(),
            Doing::Retire(part) => wavefront.stores.iter().find(|s| s.parts.contains(&part)).cloned(),
        });
        let acted = doing.map_or(Ok(()), |doing| self.make(&mut wavefront, doing, stores, cx));
        let told = match (doing, &acted) {
            (Some(doing), Ok(())) if S::ON => self.tell_step(&wavefront, made.as_ref(), doing, cx),
            _ => Ok(()),
        };
        self.go_on(&mut wavefront);
        let who = wavefront.who;
        let goes_on = S::ON && waited && !wavefront.waits();
        let told = told.and_then(|()| if goes_on { cx.sink.fire(who, Rule::LscPtxWait) } else { Ok(()) });
        self.wavefronts.put(slot, wavefront, self.hash);
        let at = Issuer { who, ..Issuer::default() };
        acted.and(told.map_err(stopped(at, 0)))
    }

    fn woken(&mut self, out: &mut Vec<Who>) {
        out.append(&mut self.woken);
    }

    fn in_flight(&self, launch: u32, block: Option<u64>) -> usize {
        let all = self.wavefronts.all().map(|w| w.who);
        all.filter(|w| w.launch == launch && block.is_none_or(|b| b == w.block)).count()
    }

    fn view(&self) -> MemoryView {
        let mut all: Vec<&Wavefront> = self.wavefronts.all().collect();
        sort::sort_by_key(&mut all, |w| (w.who.launch, w.who.block, w.who.warp));
        let (mut operations, mut mutexes) = (Vec::new(), Vec::new());
        for w in all {
            let asks = w.lacks_any(self.hash);
            let current = w.current.iter().map(|i| (i, false, asks)).chain(w.shared.iter().map(|i| (i, true, false)));
            let instructions = w.stores.iter().map(|i| (i, false, false)).chain(current);
            for (place, (i, shared, waits)) in (0..).zip(instructions) {
                let lanes = i.parts.iter().fold(0, |m, p| m | p.lanes);
                operations.push(OperationView { place, waits, ..shown(i, lanes, shared) });
            }
            mutexes.extend(w.mutexes().map(|entry| (w.who, entry.0)));
        }
        MemoryView { operations, mutexes, ..MemoryView::default() }
    }

    fn retire(&mut self, launch: u32, block: u64) {
        self.writers.forget(launch, block);
    }
}

//! The engine behind the seam between memory and machine: each method of [`Memory`].

use super::Promoted;
use super::access::{goes_below, reads};
use super::caches::{At, Caches, Group, UNIT, Unit, Value, set_below};
use super::mapping;
use super::pending::{Does, Instruction, Lane, first};
use super::ready::Numbered;
use crate::base::mutant::{Mutant, on};
use crate::base::{LaneMask, lanes_of};
use crate::memory::flat::{Arena, Told, places, tell};
use crate::memory::rsp::environment::{fetch_l1, flush_l1};
use crate::memory::{
    Acted, Active, Cx, Fault, Issuer, LocalMemory, Memory, Movable, OperationName, Stores, Taken, Trouble, Uses,
};
use crate::program::instr::{Order, Scope, Space, WarpRequest};
use crate::verdict::{AccessId, Contents, Event, MemoryView, Performed, Sink, Stop, Who};
use smallvec::SmallVec;
use std::cell::Cell;

/// Names of transitions of a block's cache: behind those of the lanes of its first warp, two for each unit.
const TRANSITIONS: u32 = 32;

/// The names of the flush and of the fetch of a unit.
const fn names(unit: Unit) -> [u32; 2] {
    let flush = TRANSITIONS.saturating_add(unit.saturating_mul(2));
    [flush, flush.saturating_add(1)]
}

/// The location of `bytes` bytes at an address of device memory.
fn location(arena: &Arena, address: u64, bytes: u32) -> Option<At> {
    let place = arena.place_of(address, bytes as usize)?;
    let within = place.start % UNIT;
    let all = if bytes as usize >= UNIT { !0 } else { (1u32 << bytes) - 1 };
    Some(At { unit: u32::try_from(place.start / UNIT).ok()?, mask: all << within })
}

impl Promoted {
    const fn group(at: Issuer) -> Group {
        Group { launch: at.who.launch, block: at.who.block }
    }

    /// Takes an instruction in.
    fn enter(&mut self, instruction: Instruction) {
        let lanes: SmallVec<[usize; 32]> = instruction.left.iter().map(|l| l.lane.into()).collect();
        let slot = self.pending.enter(instruction);
        lanes.into_iter().for_each(|lane| self.look(slot, lane));
        self.settle();
    }

    /// Makes a transition of the environment about an entry.
    fn transition<S: Sink>(&mut self, group: Group, of: Numbered, at: Option<At>, cx: &mut Cx<'_, S>) -> Acted {
        let Some(at) = at else {
            // It has become impossible since it was offered.
            self.ready.set(of, false);
            return Ok(());
        };
        let view = &mut self.view();
        let fired = match of {
            Numbered::Flush(_) => flush_l1(view, group, at),
            _ => fetch_l1(view, group, at),
        };
        let more = self.settle();
        if self.caches.l1.get(&group).is_some_and(|l1| l1.dirty == 0) {
            // The block may have waited for that.
            self.woken.push(Who { launch: group.launch, block: group.block, warp: 0 });
        }
        let Some(fired) = fired.filter(|_| S::ON) else { return Ok(()) };
        let stopped = |stop: Stop| Box::new(Trouble { at: Issuer::default(), lanes: 0, fault: Fault::Stop(stop) });
        for rule in std::iter::once(fired).chain(more) {
            cx.sink.fire(Who::default(), rule).map_err(stopped)?;
        }
        self.tell_arrived(Who::default(), cx).map_err(stopped)?;
        self.tell_transition(group, at, fired, cx).map_err(stopped)
    }

    /// All that is dirty is in device memory from now on.
    fn write_all(&mut self, which: impl Fn(Group) -> bool) {
        let all = self.caches.l1.iter().filter(|(group, _)| which(**group));
        let dirty = all.flat_map(|(g, l1)| l1.entries.iter().filter(|(_, e)| e.dirty != 0).map(|(u, e)| (*g, *u, e)));
        let all: Vec<(Group, At, Value)> =
            dirty.map(|(group, unit, e)| (group, At { unit, mask: e.dirty }, e.value())).collect();
        for (group, at, value) in all {
            set_below(&mut self.arena, at, &value.bytes);
            self.caches.belong(at, &value.by);
            self.caches.arrive_all(group, at.unit, &self.arena);
            self.caches.change(group, at.unit, |entry| entry.dirty = 0);
            self.caches.touch(at.unit);
        }
        self.settle();
    }
}

impl Memory for Promoted {
    const IMMEDIATE: bool = false;

    fn waits_for_others(&self) -> bool {
        true
    }

    fn shared_at_once(&self) -> bool {
        true
    }

    fn arena(&self) -> &Arena {
        &self.arena
    }

    fn arena_mut(&mut self) -> &mut Arena {
        &mut self.arena
    }

    fn issue<S: Sink>(&mut self, on: Active<'_, '_>, request: &WarpRequest, cx: &mut Cx<'_, S>) -> Taken {
        let Active { at, mask, lanes, regs, near } = on;
        let places = places(&self.arena, mask, request, regs, near, cx.hints.at(at.pc))?;
        let later: LaneMask = lanes_of(mask).filter(|l| places[*l].0 == Space::Global).fold(0, |m, l| m | 1 << l);
        self.arena.issue_rest(Active { at, mask, lanes, regs, near }, later, request, cx)?;
        if later == 0 {
            return Ok(());
        }
        let name = Cell::new(AccessId::NONE);
        if S::ON {
            let memory = Contents { later: true, ..self.arena.contents(near) };
            let told = Told { memory, together: mask, element: 0, access_id: Some(&name) };
            tell(told, at, later, request, regs, near, cx)?;
        }
        let row = mapping::row(request);
        let steps = mapping::steps(&self.scheme, row);
        let (reads, below) = (reads(row), goes_below(row, steps));
        let group = Self::group(at);
        self.caches.begin(group);
        let mut left = SmallVec::new();
        for lane in lanes_of(later) {
            let address = places[lane].1;
            // It was found to be right above.
            let Some(place) = location(&self.arena, address, request.bytes()) else { continue };
            self.uses(at, place.unit, |entry| {
                entry.reads = entry.reads.saturating_add(reads.into());
                entry.below = entry.below.saturating_add(below.into());
            });
            left.push(Lane { lane: u8::try_from(lane).unwrap_or(0), done: 0, at: place, address });
        }
        let does = Does::Access(Box::new(*request), row);
        self.enter(Instruction { at, does, lanes: mask, access_id: name.get(), left });
        Ok(())
    }

    fn blocked(&self, at: Issuer, _: &Uses, lanes: LaneMask) -> LaneMask {
        self.pending.held(at.who) & lanes
    }

    fn fence<S: Sink>(&mut self, at: Issuer, lanes: LaneMask, scope: Scope, order: Order, cx: &mut Cx<'_, S>) -> Taken {
        if mapping::fence(scope, order).is_empty() {
            if S::ON {
                cx.sink.event(at.who, Event::Performed(Performed::Fence { pc: at.pc, lanes }))?;
            }
            return Ok(());
        }
        self.caches.begin(Self::group(at));
        // What its lanes did before is over, so that one of them flushes for all.
        let lane = Lane { lane: first(lanes), done: 0, at: At { unit: 0, mask: 0 }, address: 0 };
        let does = Does::Fence(scope, order);
        let left = SmallVec::from_slice(&[lane]);
        self.enter(Instruction { at, does, lanes, access_id: AccessId::NONE, left });
        Ok(())
    }

    fn ready(&self) -> &[u64] {
        self.ready.words()
    }

    fn pending(&self) -> usize {
        self.pending.len() + self.caches.dirty
    }

    fn movable(&self, who: Who, out: &mut Vec<Movable>) {
        let first = out.len();
        let name = |place| OperationName { block: who.block, warp: who.warp, place };
        for (_, instruction) in self.pending.of(who) {
            let goes = instruction.left.iter().filter(|l| self.waits(instruction, **l).is_none());
            out.extend(goes.map(|l| Movable { name: name(l.lane.into()), lanes: 1 << l.lane }));
        }
        let group = Group { launch: who.launch, block: who.block };
        let own = self.caches.l1.get(&group).filter(|_| who.warp == 0);
        for unit in own.into_iter().flat_map(|l1| l1.entries.keys()) {
            let able = [self.flushes(group, *unit).is_some(), self.wanted(group, *unit).is_some()];
            let able = names(*unit).into_iter().zip(able).filter(|(_, able)| *able);
            out.extend(able.map(|(place, _)| Movable { name: name(place), lanes: 0 }));
        }
        out[first..].sort_unstable();
    }

    fn operation(&self, launch: u32, name: OperationName) -> Option<u32> {
        let OperationName { block, warp, place } = name;
        let Some(transition) = place.checked_sub(TRANSITIONS) else {
            let has = |i: &Instruction| i.left.iter().any(|l| u32::from(l.lane) == place);
            let slots = self.pending.of(Who { launch, block, warp });
            let (slot, _) = slots.into_iter().find(|(_, i)| has(i))?;
            return Some(Numbered::Lane(slot, place as usize).number());
        };
        let entry = self.caches.entry(Group { launch, block }, transition / 2)?;
        let of = if transition % 2 == 0 { Numbered::Flush(entry.number) } else { Numbered::Fetch(entry.number) };
        Some(of.number())
    }

    fn step<S: Sink>(&mut self, number: u32, stores: &mut dyn Stores, cx: &mut Cx<'_, S>) -> Acted {
        let of = Numbered::of(number);
        let entry = match of {
            Numbered::Lane(slot, lane) => return self.step_lane((slot, lane), stores, cx),
            Numbered::Flush(entry) | Numbered::Fetch(entry) => entry,
        };
        let Some((group, unit)) = self.caches.at(entry) else { return Ok(()) };
        let at = match of {
            Numbered::Flush(_) => self.flushes(group, unit),
            _ => self.wanted(group, unit),
        };
        self.transition(group, of, at, cx)
    }

    fn woken(&mut self, out: &mut Vec<Who>) {
        out.append(&mut self.woken);
    }

    /// A block is there until its cache is clean: what it wrote would be gone with it.
    fn in_flight(&self, launch: u32, block: Option<u64>) -> usize {
        let of = |launched, linear| launched == launch && block.is_none_or(|b| b == linear);
        let dirty = self.caches.l1.iter().filter(|(g, l1)| of(g.launch, g.block) && l1.dirty != 0).count();
        let dirty = if on(Mutant::RspPtxEndsDirty) { 0 } else { dirty };
        self.pending.warps().filter(|w| of(w.launch, w.block)).count() + dirty
    }

    fn view(&self) -> MemoryView {
        self.environment()
    }

    fn has_silent(&self, wanted: bool) -> bool {
        let mut any = false;
        if !wanted {
            self.unasked(&mut |_, _| {
                any = true;
                true
            });
        }
        any
    }

    fn silent(&self, wanted: bool) -> usize {
        let mut count = 0;
        if !wanted {
            self.unasked(&mut |_, _| {
                count += 1;
                false
            });
        }
        count
    }

    fn fire<S: Sink>(&mut self, _: bool, nth: usize, _: &mut dyn Stores, cx: &mut Cx<'_, S>) -> Acted {
        let mut all = Vec::new();
        self.unasked(&mut |group, at| {
            all.push((group, at));
            all.len() > nth
        });
        let Some((group, at)) = all.get(nth).copied() else { return Ok(()) };
        self.transition(group, Numbered::Fetch(u32::MAX), Some(at), cx)
    }

    fn retire(&mut self, launch: u32, block: u64) {
        self.caches.end(Group { launch, block });
        self.settle();
    }

    fn write_back(&mut self, _: &mut dyn Stores) {
        self.write_all(|_| true);
    }

    fn runtime_begins(&mut self, at: Issuer, _: &mut LocalMemory) {
        let own = Self::group(at);
        self.write_all(|group| group == own);
    }

    fn flush(&mut self, _: &mut dyn Stores) {
        self.write_all(|_| true);
        self.caches = Caches::default();
        self.ready.clear();
        self.woken.clear();
    }
}

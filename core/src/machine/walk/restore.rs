//! Packing what a step touched, and putting back what it was.

use super::journal::Head;
use super::pack::{canonical, pack_block, unpack_block, whose};
use super::store::{At, MEMORY};
use super::walker::{Touched, Walker, index};
use crate::machine::alike::Within;
use crate::machine::block::state::Block;
use crate::machine::context::state::ContextState;
use crate::machine::control::Explored;
use crate::machine::grid::state::Grid;
use crate::machine::packed::Unpack;
use crate::memory::{Environment, Part};
use crate::verdict::Who;
use smallvec::SmallVec;

impl<C: Explored + 'static, M: Environment + 'static> Walker<C, M> {
    pub(super) fn place_of_block(&self, slot: usize) -> At {
        1 + index(slot) * self.stride
    }

    pub(super) fn place_of_warp(&self, slot: usize, w: usize) -> At {
        self.place_of_block(slot) + 1 + index(w)
    }

    /// Packs what was touched.
    pub(super) fn take_over(&mut self) {
        let Touched { mut warps, mut blocks, head } = std::mem::take(&mut self.touched);
        self.journal.begin();
        self.local = !head;
        self.alone = warps.iter().all(|(slot, _)| self.stepping == Some(*slot));
        let memory = &self.state.memory;
        if head || self.grows {
            let (issued, resident) = self.state.grids.first().map_or((0, 0), Grid::counts);
            let head = Head { launch: index(self.launch), ended: self.ended, issued, resident };
            self.journal.update(0, |out| {
                head.pack(out);
                memory.save(Part::Heap, out);
            });
        }
        let Some(fixed) = self.launches.get(self.launch) else { return };
        let Some(grid) = self.state.grids.first_mut() else { return };
        let (memory, launch) = (&mut self.state.memory, grid.id.0);
        let (mut last, mut grown) = (None, SmallVec::<[(u64, u32, u32); 4]>::new());
        for slot in blocks.drain(..) {
            if last.replace(slot) != Some(slot) {
                let place = 1 + index(slot) * self.stride;
                self.journal.update(place, |out| {
                    let Some(block) = grid.blocks.get(slot).and_then(Option::as_ref) else { return };
                    let in_flight = (!M::IMMEDIATE).then(|| memory.in_flight(launch, Some(block.linear)));
                    pack_block(block, in_flight, out);
                });
                let held = grid.blocks.get(slot).and_then(Option::as_ref);
                if let Some((alike, block)) = fixed.alike.as_ref().zip(held) {
                    let content = self.journal.content(place);
                    self.journal.parts.note_block(content, || canonical(block, alike.level.blocks));
                }
            }
        }
        for (k, (slot, w)) in warps.iter().copied().enumerate() {
            if !warps[k + 1..].contains(&(slot, w)) {
                let place = 2 + index(slot) * self.stride + index(w);
                let known = self.journal.store.count();
                self.journal.update(place, |out| {
                    let Some(block) = grid.blocks.get_mut(slot).and_then(Option::as_mut) else { return };
                    let who = Who { launch, block: block.linear, warp: index(w) };
                    let Some(warp) = block.warps.get_mut(w) else { return };
                    let steady = fixed.alike.as_ref().and_then(|alike| alike.steady(block.linear, who.warp));
                    fixed.layout.pack_warp(warp, steady, out);
                    memory.save(Part::Warp(who), out);
                });
                let (content, new) = (self.journal.content(place), self.journal.store.count() > known);
                let held = grid.blocks.get(slot).and_then(Option::as_ref);
                let Some((block, warp)) = held.and_then(|block| Some((block, block.warps.get(w)?))) else { continue };
                if new {
                    let mut stood = None;
                    warp.control.stands(0, &mut |pc, _| stood = stood.or(pc));
                    grown.extend(stood.map(|pc| (block.linear, index(w), pc)));
                }
                if let Some(alike) = fixed.alike.as_ref().filter(|alike| alike.level.within == Within::Threads)
                    && !self.journal.parts.knows_lanes(content)
                {
                    let numbers = fixed.layout.lane_numbers(warp, alike.steady(block.linear, index(w)));
                    self.journal.parts.note_lanes(content, numbers);
                }
            }
        }
        memory.changed(&mut self.stale);
        for section in self.stale.drain(..) {
            self.journal.update(MEMORY + section, |out| memory.save(Part::Shared(section), out));
        }
        self.journal.note_memory();
        warps.clear();
        grown.into_iter().for_each(|(block, warp, pc)| self.grew(block, warp, pc));
        self.touched = Touched { warps, blocks, head: false };
    }

    /// The device becomes what the journal says: blocks before their warps, since a block that has left is made anew, and what
    /// all share of memory last, since it names what warps have in flight.
    pub(super) fn catch_up(&mut self) {
        let (mut stale, mut shared) = (std::mem::take(&mut self.stale), std::mem::take(&mut self.shared));
        let mut blocks = false;
        loop {
            stale.extend(std::iter::from_fn(|| self.journal.next_stale()));
            if stale.is_empty() {
                break;
            }
            stale.sort_unstable();
            shared.extend(stale.drain(stale.partition_point(|at| *at < MEMORY)..));
            for at in stale.drain(..) {
                blocks |= self.put(at);
            }
        }
        for at in shared.drain(..) {
            self.state.memory.load(Part::Shared(at - MEMORY), self.journal.bytes(at));
        }
        if blocks {
            self.recount();
        }
        (self.stale, self.shared) = (stale, shared);
    }

    /// Puts the content of a section that is not of memory alone into the device; tells whether it is the head's or a block's.
    fn put(&mut self, at: At) -> bool {
        let Some(behind) = at.checked_sub(1) else {
            self.put_head();
            return true;
        };
        let slot = (behind / self.stride) as usize;
        match (behind % self.stride).checked_sub(1) {
            None => self.put_block(slot),
            Some(w) => self.put_warp(slot, w as usize),
        }
        behind % self.stride == 0
    }

    /// The device is to be put back where the journal is: a step did not come to its end.
    pub(super) fn undo(&mut self) {
        let Touched { warps, blocks, head } = std::mem::take(&mut self.touched);
        if head || self.grows {
            self.journal.lost(0);
        }
        for slot in blocks {
            self.journal.lost(self.place_of_block(slot));
        }
        for (slot, w) in warps {
            self.journal.lost(self.place_of_warp(slot, w));
        }
        self.state.memory.changed(&mut self.stale);
        self.stale.drain(..).for_each(|section| self.journal.lost(MEMORY + section));
        self.state.memory.woken(&mut Vec::new());
    }

    pub(super) fn recount(&mut self) {
        let ContextState { grids, processors, .. } = &mut self.state;
        if let Some(grid) = grids.first_mut() {
            grid.recount(processors);
        }
    }

    fn put_head(&mut self) {
        let mut from = Unpack(self.journal.bytes(0));
        let Head { launch, ended, issued, .. } = Head::unpack(&mut from);
        self.state.memory.load(Part::Heap, from.0);
        let launch = launch as usize;
        self.ended = ended;
        if launch != self.launch {
            let slots = self.state.grids.first().map_or(0, |g| g.blocks.len());
            (0..slots).for_each(|slot| self.drop_operations(slot));
            self.launch = launch;
            self.begin();
            self.touched.head = false;
            (1..self.journal.places()).for_each(|at| self.journal.lost(at));
        }
        if let Some(grid) = self.state.grids.first_mut() {
            grid.set_issued(issued);
        }
    }

    /// Nobody of a block that is about to leave its slot has anything in flight.
    fn drop_operations(&mut self, slot: usize) {
        let ContextState { grids, memory, .. } = &mut self.state;
        let Some(grid) = grids.first().filter(|_| !M::IMMEDIATE) else { return };
        let Some(Some(block)) = grid.blocks.get(slot) else { return };
        for w in 0..block.warps.len() {
            memory.load(Part::Warp(Who { launch: grid.id.0, block: block.linear, warp: index(w) }), &[]);
        }
    }

    fn put_block(&mut self, slot: usize) {
        let place = self.place_of_block(slot);
        let section = self.journal.bytes(place);
        let resident = |b: &Block<C>| !section.is_empty() && whose(section) == (b.linear, b.sm);
        let held = self.state.grids.first().and_then(|g| g.blocks.get(slot)?.as_ref());
        let anew = !held.is_some_and(resident);
        if anew {
            self.drop_operations(slot);
        }
        let section = self.journal.bytes(place);
        let Some(grid) = self.state.grids.first_mut() else { return };
        if section.is_empty() {
            grid.take(slot);
            return;
        }
        if anew {
            let (linear, sm) = whose(section);
            grid.put(&self.env, slot, linear, sm);
        }
        if let Some(Some(block)) = grid.blocks.get_mut(slot) {
            unpack_block(block, section);
        }
        if anew {
            (place + 1..place + self.stride).for_each(|at| self.journal.lost(at));
        }
    }

    fn put_warp(&mut self, slot: usize, w: usize) {
        let Some(fixed) = self.launches.get(self.launch) else { return };
        let section = self.journal.bytes(self.place_of_warp(slot, w));
        let ContextState { grids, memory, .. } = &mut self.state;
        let Some(grid) = grids.first_mut() else { return };
        let Some(Some(block)) = grid.blocks.get_mut(slot).filter(|_| !section.is_empty()) else { return };
        let who = Who { launch: grid.id.0, block: block.linear, warp: index(w) };
        let mut from = Unpack(section);
        if let Some(warp) = block.warps.get_mut(w) {
            let steady = fixed.alike.as_ref().and_then(|alike| alike.steady(who.block, who.warp));
            fixed.layout.unpack_warp(warp, steady, &mut from);
            memory.load(Part::Warp(who), from.0);
        }
    }

    /// Everything is to be packed.
    pub(super) fn touch_all(&mut self) {
        let slots = self.state.grids.first().map_or(0, |g| g.blocks.len());
        let warps = self.stride as usize - 1;
        self.touched.head = true;
        self.touched.blocks.extend(0..slots);
        self.touched.warps.extend((0..slots).flat_map(|slot| (0..warps).map(move |w| (slot, w))));
    }
}

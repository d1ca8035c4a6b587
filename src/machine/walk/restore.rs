//! Packing what a step touched, and putting back what it was.

use super::Mark;
use super::journal::Back;
use super::pack::{Unpack, pack_block, put, unpack_block, whose};
use super::walker::{Touched, Walker, index};
use crate::machine::context_state::ContextState;
use crate::machine::control::Explored;
use crate::machine::grid::Grid;
use crate::memory::Environment;
use xxhash_rust::xxh3::Xxh3;

impl<C: Explored + 'static, M: Environment + 'static> Walker<C, M> {
    fn place_of_block(&self, slot: usize) -> u32 {
        1 + index(slot) * self.stride
    }

    /// Packs what was touched.
    pub(super) fn take_over(&mut self) {
        let Touched { warps, blocks, head } = std::mem::take(&mut self.touched);
        if head {
            let (launch, ended) = (index(self.launch), self.ended);
            let next = self.state.grids.first().map_or(0, Grid::issued);
            self.journal.update(0, |out| {
                put(out, launch);
                put(out, ended.into());
                out.extend_from_slice(&next.to_le_bytes());
            });
        }
        let Some(fixed) = self.launches.get(self.launch) else { return };
        let Some(grid) = self.state.grids.first() else { return };
        let resident = |slot: usize| grid.blocks.get(slot).and_then(Option::as_ref);
        let mut last = None;
        for slot in blocks.iter().copied() {
            if last.replace(slot) != Some(slot) {
                let place = 1 + index(slot) * self.stride;
                self.journal.update(place, |out| resident(slot).into_iter().for_each(|b| pack_block(b, out)));
            }
        }
        for (k, (slot, w)) in warps.iter().copied().enumerate() {
            if !warps[k + 1..].contains(&(slot, w)) {
                let place = 2 + index(slot) * self.stride + index(w);
                let warp = resident(slot).and_then(|b| b.warps.get(w));
                self.journal.update(place, |out| warp.into_iter().for_each(|w| fixed.layout.pack_warp(w, out)));
            }
        }
        match self.state.memory.image().filter(|_| self.imaged) {
            Some(image) => self.journal.update_image(image),
            None => {
                let mut hash = Xxh3::new();
                self.state.memory.digest(&mut hash);
                let before = self.before.take();
                self.journal
                    .update_memory(hash.digest128(), || before.unwrap_or_else(|| Box::new(self.state.memory.clone())));
            }
        }
        let (mut warps, mut blocks) = (warps, blocks);
        warps.clear();
        blocks.clear();
        self.touched = Touched { warps, blocks, head: false };
    }

    /// A section of the journal was put back.
    pub(super) fn touch(&mut self, place: u32) {
        let Some(behind) = place.checked_sub(1) else {
            self.touched.head = true;
            return;
        };
        let slot = (behind / self.stride) as usize;
        match (behind % self.stride).checked_sub(1) {
            None => self.touched.blocks.push(slot),
            Some(w) => self.touched.warps.push((slot, w as usize)),
        }
    }

    /// What was touched becomes what the journal says: blocks before their warps, since a block that has left is made anew.
    pub(super) fn put_touched(&mut self) {
        let Touched { mut warps, mut blocks, head } = std::mem::take(&mut self.touched);
        if head {
            self.put_head();
        }
        blocks.iter().for_each(|slot| self.put_block(*slot));
        warps.iter().for_each(|(slot, w)| self.put_warp(*slot, *w));
        if !blocks.is_empty() {
            self.recount();
        }
        warps.clear();
        blocks.clear();
        self.touched = Touched { warps, blocks, head: false };
    }

    /// Goes back to where the walk stood.
    pub(super) fn go_back(&mut self, to: Mark) {
        while let Some(undone) = self.journal.back(to) {
            match undone {
                Back::Section(place) => self.touch(place),
                Back::Chunk(range) => {
                    let from = self.journal.image().get(range.clone());
                    let to = self.state.memory.image_mut().and_then(|image| image.get_mut(range));
                    if let (Some(from), Some(to)) = (from, to) {
                        to.copy_from_slice(from);
                    }
                }
                Back::Memory(memory) => self.state.memory = *memory,
            }
        }
        self.put_touched();
    }

    /// Puts back what a step touched that did not come to its end.
    pub(super) fn undo(&mut self) {
        self.put_touched();
        if let Some(memory) = self.before.take() {
            self.state.memory = *memory;
        } else if let Some(image) = self.state.memory.image_mut() {
            image.copy_from_slice(self.journal.image());
        }
    }

    pub(super) fn recount(&mut self) {
        let ContextState { grids, processors, .. } = &mut self.state;
        if let Some(grid) = grids.first_mut() {
            grid.recount(processors);
        }
    }

    pub(super) fn put_head(&mut self) {
        let mut from = Unpack(self.journal.section(0));
        let (launch, ended, next) = (from.u32() as usize, from.u32() == 1, from.u64());
        self.ended = ended;
        if launch != self.launch {
            self.launch = launch;
            self.begin();
            self.touched.head = false;
            let slots = (self.journal.places() / self.stride) as usize;
            for slot in 0..slots {
                self.put_block(slot);
                (0..self.stride as usize - 1).for_each(|w| self.put_warp(slot, w));
            }
        }
        if let Some(grid) = self.state.grids.first_mut() {
            grid.set_issued(next);
        }
    }

    pub(super) fn put_block(&mut self, slot: usize) {
        let place = self.place_of_block(slot);
        let section = self.journal.section(place);
        let Some(grid) = self.state.grids.first_mut() else { return };
        if section.is_empty() {
            grid.take(slot);
            return;
        }
        let (linear, sm) = whose(section);
        if grid.blocks.get(slot).and_then(Option::as_ref).is_none_or(|b| b.linear != linear || b.sm != sm) {
            grid.put(&self.env, slot, linear, sm);
        }
        if let Some(Some(block)) = grid.blocks.get_mut(slot) {
            unpack_block(block, section);
        }
    }

    pub(super) fn put_warp(&mut self, slot: usize, w: usize) {
        let place = self.place_of_block(slot) + 1 + index(w);
        let Some(fixed) = self.launches.get(self.launch) else { return };
        let section = self.journal.section(place);
        let grid = self.state.grids.first_mut();
        let block = grid.and_then(|g| g.blocks.get_mut(slot)).and_then(Option::as_mut);
        if let Some(warp) = block.and_then(|b| b.warps.get_mut(w)).filter(|_| !section.is_empty()) {
            fixed.layout.unpack_warp(warp, &mut Unpack(section));
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

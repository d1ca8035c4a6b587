//! Packing what a step touched, and putting back what it was.

use super::Mark;
use super::journal::{At, CHUNK, Head, MEMORY};
use super::pack::{Unpack, forget, pack_block, unpack_block, whose};
use super::walker::{Touched, Walker, index};
use crate::machine::context_state::ContextState;
use crate::machine::control::Explored;
use crate::machine::grid::Grid;
use crate::memory::Environment;
use xxhash_rust::xxh3::Xxh3;

impl<C: Explored + 'static, M: Environment + 'static> Walker<C, M> {
    pub(super) fn place_of_block(&self, slot: usize) -> At {
        1 + index(slot) * self.stride
    }

    pub(super) fn place_of_warp(&self, slot: usize, w: usize) -> At {
        self.place_of_block(slot) + 1 + index(w)
    }

    /// Packs what was touched.
    pub(super) fn take_over(&mut self) {
        let Touched { warps, blocks, head } = std::mem::take(&mut self.touched);
        self.journal.begin();
        self.local = !head;
        if head {
            let (issued, resident) = self.state.grids.first().map_or((0, 0), Grid::counts);
            let head = Head { launch: index(self.launch), ended: self.ended, issued, resident };
            self.journal.update(0, |out| head.pack(out));
        }
        for (slot, w) in warps.iter().copied() {
            self.warp_mut(slot, w).into_iter().for_each(forget);
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
                let before = self.before.take().filter(|before| **before != self.state.memory);
                self.journal.update_memory(hash.digest128(), before);
            }
        }
        let (mut warps, mut blocks) = (warps, blocks);
        warps.clear();
        blocks.clear();
        self.touched = Touched { warps, blocks, head: false };
    }

    /// The device becomes what the journal says: blocks before their warps, since a block that has left is made anew.
    pub(super) fn catch_up(&mut self) {
        let mut stale = std::mem::take(&mut self.stale);
        let mut blocks = false;
        loop {
            stale.extend(std::iter::from_fn(|| self.journal.next_stale()));
            if stale.is_empty() {
                break;
            }
            stale.sort_unstable();
            for at in stale.drain(..) {
                blocks |= self.put(at);
            }
        }
        if blocks {
            self.recount();
        }
        self.stale = stale;
    }

    /// Puts a section's content into the device; tells whether it is the head's or a block's.
    fn put(&mut self, at: At) -> bool {
        if at >= MEMORY {
            let from = (at - MEMORY) as usize * CHUNK;
            let bytes = self.journal.bytes(at);
            let image = self.state.memory.image_mut().and_then(|image| image.get_mut(from..from + bytes.len()));
            if let Some(image) = image {
                image.copy_from_slice(bytes);
            }
            return false;
        }
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

    /// Goes back to where the walk stood; the device follows when somebody looks at it.
    pub(super) fn go_back(&mut self, to: Mark, beside: bool) {
        if let Some(memory) = self.journal.back(to, beside) {
            self.state.memory = *memory;
        }
    }

    /// The device is to be put back where the journal is: a step did not come to its end.
    pub(super) fn undo(&mut self) {
        let Touched { warps, blocks, head } = std::mem::take(&mut self.touched);
        if head {
            self.journal.lost(0);
        }
        for slot in blocks {
            self.journal.lost(self.place_of_block(slot));
        }
        for (slot, w) in warps {
            self.journal.lost(self.place_of_warp(slot, w));
        }
        if let Some(memory) = self.before.take() {
            self.state.memory = *memory;
        } else if let Some(image) = self.state.memory.image() {
            for (at, bytes) in (MEMORY..).zip(image.chunks(CHUNK)) {
                if self.journal.bytes(at) != bytes {
                    self.journal.lost(at);
                }
            }
        }
    }

    pub(super) fn recount(&mut self) {
        let ContextState { grids, processors, .. } = &mut self.state;
        if let Some(grid) = grids.first_mut() {
            grid.recount(processors);
        }
    }

    fn put_head(&mut self) {
        let Head { launch, ended, issued, .. } = self.journal.head();
        let launch = launch as usize;
        self.ended = ended;
        if launch != self.launch {
            self.launch = launch;
            self.begin();
            self.touched.head = false;
            (1..self.journal.places()).for_each(|at| self.journal.lost(at));
        }
        if let Some(grid) = self.state.grids.first_mut() {
            grid.set_issued(issued);
        }
    }

    fn put_block(&mut self, slot: usize) {
        let place = self.place_of_block(slot);
        let Some(grid) = self.state.grids.first_mut() else { return };
        let section = self.journal.bytes(place);
        if section.is_empty() {
            grid.take(slot);
            return;
        }
        let (linear, sm) = whose(section);
        let anew = grid.blocks.get(slot).and_then(Option::as_ref).is_none_or(|b| b.linear != linear || b.sm != sm);
        if anew {
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

//! What a walk does to a grid besides stepping it: blocks come and go as states are put back.

use crate::base::Aside;
use crate::machine::block::state::Block;
use crate::machine::context::processors::Processors;
use crate::machine::control::Control;
use crate::machine::grid::state::Grid;
use crate::machine::warp::state::Warp;
use crate::program::env::ProgEnv;

impl<C: Control> Grid<C> {
    /// How many blocks have been issued, and how many of them are not complete.
    pub(super) const fn counts(&self) -> (u64, u32) {
        (self.next, self.resident)
    }

    /// Whether no block is left to be issued.
    pub(super) const fn all_issued(&self) -> bool {
        self.next >= self.total
    }

    /// So many blocks have been issued.
    pub(super) const fn set_issued(&mut self, next: u64) {
        self.next = next;
    }

    /// Registers keep what a block that was here before left in them; in a search they would come into the state.
    pub(super) fn forget_spare(&mut self) {
        self.spare.0.iter_mut().for_each(|block| block.warps.clear());
    }

    /// There is no block in a slot.
    pub(super) fn take(&mut self, slot: usize) {
        self.spare.0.extend(self.blocks.get_mut(slot).and_then(Option::take));
    }

    /// A block that was there before is in a slot again; its state is put back by the caller.
    pub(super) fn put(&mut self, env: &ProgEnv, slot: usize, linear: u64, sm: u32) {
        self.take(slot);
        if self.blocks.len() <= slot {
            self.blocks.resize_with(slot + 1, || None);
        }
        let mut block = self.spare.0.pop().unwrap_or_default();
        block.issue(env, &self.loaded, linear, sm);
        if let Some(place) = self.blocks.get_mut(slot) {
            *place = Some(block);
        }
    }

    /// Counts again who is resident, and where.
    pub(super) fn recount(&mut self, processors: &mut Processors) {
        processors.clear();
        self.resident = 0;
        for block in self.blocks.iter().flatten().filter(|b| !b.kept) {
            processors.take(block.sm, &self.loaded);
            self.resident += 1;
        }
    }

    /// The same grid under another control model.
    pub(in crate::machine) fn with_control<D: Control>(&self, control: impl Fn(&C) -> D) -> Grid<D> {
        let mut new = Grid::new(self.id, self.program, self.loaded.clone());
        new.next = self.next;
        new.resident = self.resident;
        let warp = |w: &Warp<C>| Warp {
            control: control(&w.control),
            frames: w.frames.clone(),
            filled: w.filled.clone(),
            local: w.local.clone(),
            arrivals: w.arrivals,
            index: w.index,
            lines: Aside::default(),
        };
        let block = |b: &Block<C>| Block {
            warps: b.warps.iter().map(warp).collect(),
            barriers: b.barriers.clone(),
            shared: b.shared.clone(),
            index: b.index,
            linear: b.linear,
            sm: b.sm,
            running: b.running,
            live: b.live,
            kept: b.kept,
            fresh: b.fresh.clone(),
        };
        new.blocks = self.blocks.iter().map(|b| b.as_ref().map(block)).collect();
        new
    }
}

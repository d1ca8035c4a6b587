//! What memory changes of warps and blocks, taken note of.
//!
//! An operation writes registers one micro step before it releases them, shared memory for one warp of a block, local memory
//! when a line of it is written back: nobody is woken by that, and still the state is another one.

use super::walker::Touched;
use crate::base::Frame;
use crate::machine::control::Control;
use crate::machine::grid::state::Grid;
use crate::memory::{LocalMemory, Stores};
use crate::verdict::Who;

/// The stores of resident blocks in the hands of memory: whose are asked for is to be packed again.
pub(super) struct Moved<'a, C> {
    grids: &'a mut [Grid<C>],
    touched: &'a mut Touched,
}

impl<'a, C: Control> Moved<'a, C> {
    pub const fn new(grids: &'a mut [Grid<C>], touched: &'a mut Touched) -> Self {
        Self { grids, touched }
    }

    fn grid(&mut self, launch: u32) -> Option<&mut Grid<C>> {
        self.grids.first_mut().filter(|g| g.id.0 == launch)
    }

    fn slot(&self, launch: u32, block: u64) -> Option<usize> {
        self.grids.first().filter(|g| g.id.0 == launch)?.slot(block)
    }

    fn warp(&mut self, who: Who) {
        if let Some(slot) = self.slot(who.launch, who.block) {
            self.touched.warps.push((slot, who.warp as usize));
        }
    }
}

impl<C: Control> Stores for Moved<'_, C> {
    fn frame(&mut self, who: Who, depth: u32) -> Option<&mut Frame> {
        self.warp(who);
        self.grid(who.launch)?.frame(who, depth)
    }

    fn shared(&mut self, launch: u32, block: u64) -> Option<&mut [u8]> {
        let slot = self.slot(launch, block);
        self.touched.blocks.extend(slot);
        self.grid(launch)?.shared(block)
    }

    fn local(&mut self, who: Who) -> Option<&mut LocalMemory> {
        self.warp(who);
        self.grid(who.launch)?.local(who)
    }

    fn param(&mut self, launch: u32) -> Option<&[u8]> {
        Some(&self.grid(launch)?.loaded.params)
    }
}

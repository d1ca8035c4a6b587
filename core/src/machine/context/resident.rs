//! What memory that acts later reaches of the warps and blocks of a context.

use crate::base::Frame;
use crate::machine::control::Control;
use crate::machine::grid::state::Grid;
use crate::memory::{LocalMemory, Stores};
use crate::verdict::Who;

/// What belongs to the warps and blocks of a context's grids, for an engine that acts later: those that run, and those that
/// were aborted and have operations in flight.
pub(in crate::machine) struct Resident<'a, C>(pub &'a mut [Grid<C>], pub &'a mut [Grid<C>]);

impl<C: Control> Resident<'_, C> {
    fn grid(&mut self, launch: u32) -> Option<&mut Grid<C>> {
        self.0.iter_mut().chain(self.1.iter_mut()).find(|g| g.id.0 == launch)
    }
}

impl<C: Control> Stores for Resident<'_, C> {
    fn frame(&mut self, who: Who, depth: u32) -> Option<&mut Frame> {
        self.grid(who.launch)?.frame(who, depth)
    }

    fn shared(&mut self, launch: u32, block: u64) -> Option<&mut [u8]> {
        self.grid(launch)?.shared(block)
    }

    fn local(&mut self, who: Who) -> Option<&mut LocalMemory> {
        self.grid(who.launch)?.local(who)
    }

    fn param(&mut self, launch: u32) -> Option<&[u8]> {
        Some(&self.grid(launch)?.loaded.params)
    }
}

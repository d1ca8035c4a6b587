//! A number for a state, so that a search can tell whether it has been there.
//!
//! Counted in is what later steps depend on: warps, barriers, memories, operations in flight. Left out is what only a
//! schedule remembers (who stepped last), and how operations happen to be numbered.

use super::context_state::ContextState;
use super::control::Control;
use super::grid::Grid;
use crate::base::{Frame, LANES};
use crate::memory::{Environment, Part};
use crate::verdict::Who;
use std::fmt::Write;
use std::hash::Hash;
use xxhash_rust::xxh3::Xxh3;

/// Text that goes straight into a hash: for small values that are printed in full.
struct Text<'a>(&'a mut Xxh3);

impl Write for Text<'_> {
    fn write_str(&mut self, s: &str) -> std::fmt::Result {
        self.0.update(s.as_bytes());
        Ok(())
    }
}

/// The number of a context's state.
pub(super) fn of_context<C: Control, M: Environment>(state: &ContextState<C, M>) -> u128 {
    let mut hash = Xxh3::new();
    for grid in state.grids.iter().chain(&state.leaving) {
        of_grid(grid, &state.memory, &mut hash);
    }
    let parts = [Part::Heap].into_iter().chain((0..state.memory.sections()).map(Part::Shared));
    parts.for_each(|part| of_memory(&state.memory, part, &mut hash));
    hash.digest128()
}

fn of_memory<M: Environment>(memory: &M, part: Part, hash: &mut Xxh3) {
    let mut section = Vec::new();
    memory.save(part, &mut section);
    section.hash(hash);
}

fn of_grid<C: Control, M: Environment>(grid: &Grid<C>, memory: &M, hash: &mut Xxh3) {
    let lanes = (grid.loaded.warp_size as usize).min(LANES);
    (grid.id.0, grid.completed, grid.ready.as_slice()).hash(hash);
    for block in grid.blocks() {
        (block.linear, block.sm, block.running, block.live).hash(hash);
        hash.update(&block.shared);
        let _ = write!(Text(hash), "{:?}", block.barriers);
        for warp in &block.warps {
            let _ = write!(Text(hash), "{:?}{:?}", warp.control, warp.filled);
            for frame in &warp.frames {
                of_frame(frame, lanes, hash);
            }
            let offsets = (0..u64::from(warp.local.extent())).step_by(4);
            for row in offsets.filter_map(|o| warp.local.row(o)) {
                row.0.get(..lanes).hash(hash);
            }
            let who = Who { launch: grid.id.0, block: block.linear, warp: warp.index };
            of_memory(memory, Part::Warp(who), hash);
        }
    }
}

fn of_frame(frame: &Frame, lanes: usize, hash: &mut Xxh3) {
    for slot in &frame.w {
        slot.0.get(..lanes).hash(hash);
    }
    for slot in &frame.q {
        slot.0.get(..lanes).hash(hash);
    }
    let live = if lanes >= LANES { !0 } else { (1 << lanes) - 1 };
    for slot in &frame.p {
        (slot & live).hash(hash);
    }
}

//! The fingerprint of a device's state, by which a search that keeps whole states finds those that may be the same.

use crate::machine::context::state::ContextState;
use crate::machine::control::Explored;
use crate::machine::device::state::Device;
use crate::machine::grid::state::Grid;
use crate::machine::warp::state::Warp;
use crate::memory::{Environment, Part};
use crate::verdict::Who;
use xxhash_rust::xxh3::Xxh3;

impl<C: Explored, M: Environment> Device<C, M> {
    /// A hash of contexts, blocks, registers and memory. States that are equal have equal ones; not everything in which
    /// states differ goes into it, so that they are compared as well.
    pub(in crate::machine) fn fingerprint(&self) -> u64 {
        let mut hash = Xxh3::new();
        let mut bytes = Vec::new();
        for context in &self.contexts {
            context.memory.arena().digest(&mut hash);
            put_context(context, &mut bytes);
        }
        hash.update(&bytes);
        hash.digest()
    }
}

fn put_context<C: Explored, M: Environment>(context: &ContextState<C, M>, out: &mut Vec<u8>) {
    out.extend(context.id.0.to_le_bytes());
    (0..context.memory.sections()).for_each(|section| context.memory.save(Part::Shared(section), out));
    for grid in context.grids.iter().chain(&context.leaving) {
        out.extend(grid.id.0.to_le_bytes());
        out.extend(grid.next.to_le_bytes());
        put_blocks(grid, &context.memory, out);
    }
}

fn put_blocks<C: Explored, M: Environment>(grid: &Grid<C>, memory: &M, out: &mut Vec<u8>) {
    for block in grid.blocks.iter().flatten() {
        out.extend(block.linear.to_le_bytes());
        out.extend_from_slice(&block.shared);
        for warp in &block.warps {
            memory.save(Part::Warp(Who { launch: grid.id.0, block: block.linear, warp: warp.index }), out);
            put_warp(warp, out);
        }
    }
}

fn put_warp<C: Explored>(warp: &Warp<C>, out: &mut Vec<u8>) {
    warp.control.pack(out);
    for frame in &warp.frames {
        frame.w.iter().flat_map(|slot| slot.0).for_each(|lane| out.extend(lane.to_le_bytes()));
        frame.q.iter().flat_map(|slot| slot.0).for_each(|lane| out.extend(lane.to_le_bytes()));
        frame.p.iter().for_each(|mask| out.extend(mask.to_le_bytes()));
    }
}

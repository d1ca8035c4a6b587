//! Where the warps of a context stand: for who ends a run before it has.

use crate::base::{LaneMask, Pc, sort};
use crate::machine::context::state::ContextState;
use crate::machine::control::Explored;
use crate::machine::control::Wait;
use crate::machine::grid::state::Grid;
use crate::memory::Environment;
use crate::program::env::ProgEnv;
use crate::verdict::{Standing, WaitingFor};
use indexmap::IndexMap;
use std::cmp::Reverse;

/// Lanes at one instruction, and what they wait for.
type Key = (u32, Option<WaitingFor>);

impl<C: Explored, M: Environment> ContextState<C, M> {
    /// The live lanes of resident blocks by where they stand and what they wait for, the most first.
    #[must_use]
    pub fn standing(&self) -> Vec<Standing> {
        let mut all = Vec::new();
        for grid in self.grids.iter().filter(|g| !g.completed) {
            if let Some(of) = self.program(grid.program) {
                all.extend(of_grid(grid, &of.program.0));
            }
        }
        sort::sort_by_key(&mut all, most);
        all
    }
}

/// The order of groups for people. A function, as a closure would have the sort compiled for each kind of machine.
const fn most(group: &Standing) -> Reverse<u64> {
    Reverse(group.lanes)
}

fn of_grid<C: Explored>(grid: &Grid<C>, env: &ProgEnv) -> Vec<Standing> {
    // With each group the last block that was counted for it.
    let mut groups: IndexMap<Key, (Standing, u64)> = IndexMap::new();
    for block in grid.blocks().filter(|b| !b.kept) {
        for warp in &block.warps {
            let mut here: IndexMap<Key, LaneMask> = IndexMap::new();
            for lane in warp.control.lanes() {
                let (pc, on) = match lane.wait {
                    // The instruction at which it waits stands before the one where it will go on.
                    Some(Wait::Barrier(id)) => (lane.pc.saturating_sub(1), Some(WaitingFor::Barrier(id))),
                    Some(Wait::WarpSync(mask)) => (lane.pc.saturating_sub(1), Some(WaitingFor::Members(mask))),
                    Some(Wait::Members(mask)) => (lane.pc, Some(WaitingFor::Members(mask))),
                    Some(Wait::Warp) => (lane.pc, Some(WaitingFor::Members(warp.control.live()))),
                    None => (lane.pc, None),
                };
                *here.entry((pc, on)).or_insert(0) |= 1 << lane.lane;
            }
            for (key, lanes) in here {
                let (group, last) = groups.entry(key).or_insert_with(|| {
                    let place = block.place(env, &grid.loaded, warp.index, lanes, Pc(key.0));
                    (Standing { place, on: key.1, lanes: 0, warps: 0, blocks: 1 }, block.linear)
                });
                group.lanes += u64::from(lanes.count_ones());
                group.warps += 1;
                group.blocks += u64::from(std::mem::replace(last, block.linear) != block.linear);
            }
        }
    }
    groups.into_values().map(|(group, _)| group).collect()
}

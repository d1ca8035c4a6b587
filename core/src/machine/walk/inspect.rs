//! What an explanation asks of a state besides who can step in it.

use super::grown::{Grown, Growth};
use super::walker::{Walker, index};
use crate::base::{LaneMask, Pc, lanes_of, number};
use crate::machine::control::Explored;
use crate::machine::grid::state::Grid;
use crate::memory::Environment;
use crate::verdict::{CLUSTER, Holds, Inside, Place, Shape, Standing, Unissued, Who};
use rustc_hash::FxHashMap;

/// A look at a state.
pub trait Look {
    /// The number that lies at a generic address, of global memory where all multiprocessors see it, least significant byte
    /// first; at most 8 bytes. `block`: whose shared memory it belongs to.
    fn number(&self, block: Option<u64>, address: u64, bytes: u32) -> Option<u64>;

    /// Whether memory has caches.
    fn has_caches(&self) -> bool;

    /// The buffer or variable that an address lies in; `block`: whose shared memory it belongs to.
    fn inside(&self, block: Option<u64>, address: u64) -> Option<Inside>;

    /// A barrier of a block: how many threads have come, of how many. `None`: nobody has.
    fn barrier(&self, block: u64, id: u32) -> Option<Holds>;

    /// The blocks of the current launch that are not issued. `None`: all are.
    fn unissued(&self) -> Option<Unissued>;

    /// Where the live lanes stand, the most first.
    fn standing(&self) -> Vec<Standing>;

    /// The number of the current launch, as events have it.
    fn launch(&self) -> u32;

    /// Where lanes of a warp of the current launch are, or were when their block was resident.
    fn place_of(&self, who: Who, lanes: LaneMask, pc: Pc) -> Place;
}

impl<C: Explored + 'static, M: Environment + 'static> Look for Walker<C, M> {
    fn number(&self, block: Option<u64>, address: u64, bytes: u32) -> Option<u64> {
        let Some(block) = block else { return self.state.memory.number(address, bytes) };
        let grid = self.state.grids.first()?;
        let block = grid.blocks.get(grid.slot(block)?)?.as_ref()?;
        let at = usize::try_from(address.wrapping_sub(self.env.addresses().shared)).ok()?;
        let found = block.shared.get(at..at.checked_add(bytes as usize)?)?;
        (bytes <= 8).then(|| number(found))
    }

    fn has_caches(&self) -> bool {
        self.state.memory.has_caches()
    }

    fn inside(&self, block: Option<u64>, address: u64) -> Option<Inside> {
        if block.is_some() {
            let entry = self.env.function(self.launches.get(self.launch)?.loaded.entry)?;
            return Some(entry.inside_shared(address.wrapping_sub(self.env.addresses().shared)));
        }
        Inside::of(&self.state.memory.arena().names(), address)
    }

    fn barrier(&self, block: u64, id: u32) -> Option<Holds> {
        let grid = self.state.grids.first()?;
        let block = grid.blocks.get(grid.slot(block)?)?.as_ref()?;
        if id == CLUSTER {
            return Some(Holds::Barrier { id, arrived: block.barriers.at_cluster(), expected: block.live });
        }
        let open = block.barriers.open(id)?;
        let (arrived, expected) = open.count.map_or((open.lanes, block.live), |count| (open.arrived, count));
        Some(Holds::Barrier { id, arrived, expected })
    }

    fn unissued(&self) -> Option<Unissued> {
        let grid = self.state.grids.first()?;
        let Grid { next: first, total, resident, .. } = *grid;
        (first < total).then_some(Unissued { first, total, resident: resident.into() })
    }

    fn standing(&self) -> Vec<Standing> {
        self.state.standing()
    }

    fn launch(&self) -> u32 {
        self.state.grids.first().map_or(0, |g| g.id.0)
    }

    fn place_of(&self, who: Who, lanes: LaneMask, pc: Pc) -> Place {
        self.state.place(who, lanes, pc).unwrap_or_else(|| self.gone(who, lanes, pc))
    }
}

impl<C: Explored + 'static, M: Environment + 'static> Walker<C, M> {
    /// Where lanes of a warp are whose block may not be resident.
    pub(super) fn gone(&self, who: Who, lanes: LaneMask, pc: Pc) -> Place {
        let Some(fixed) = self.launches.get(self.launch) else { return Place::default() };
        let loaded = &fixed.loaded;
        let lane = u32::try_from(lanes_of(lanes).next().unwrap_or(0)).unwrap_or(0);
        let shape = Shape { entry: 0, grid: loaded.grid, block: loaded.block, warp_size: loaded.warp_size };
        Place {
            program: loaded.program,
            entry: self.env.function(loaded.entry).map_or_else(String::new, |f| f.name.clone()),
            pc,
            block: shape.block_index(who.block),
            thread: loaded.thread(who.warp, lane),
            warp: who.warp,
            lane,
            lanes,
            calls: Vec::new(),
        }
    }

    /// A warp is as it has not been before.
    pub(super) fn grew(&mut self, block: u64, warp: u32, pc: u32) {
        *self.ways.entry((block, warp)).or_default().entry(pc).or_default() += 1;
    }

    /// What grows.
    pub(super) fn growth_of(&self) -> Growth {
        let sum = |ways: &FxHashMap<u32, u64>| ways.values().sum::<u64>();
        // Of several the first, whatever order they are kept in.
        let most = self.ways.iter().max_by_key(|(who, ways)| (sum(ways), std::cmp::Reverse(**who)));
        let most = most.and_then(|((block, warp), ways)| {
            let (pc, here) = ways.iter().max_by_key(|(pc, n)| (**n, std::cmp::Reverse(**pc)))?;
            let who = Who { launch: index(self.launch), block: *block, warp: *warp };
            Some(Grown { ways: sum(ways), here: *here, place: self.gone(who, 1, Pc(*pc)) })
        });
        Growth { memories: self.journal.memories() as u64, warps: self.ways.len() as u64, most }
    }
}

//! What a search asks of a walk.

use super::journal::Back;
use super::walker::{Walker, index};
use super::{Agent, Free, Grain, Mark, Reached, Walk};
use crate::base::Pc;
use crate::choice::Oracle;
use crate::machine::Tell;
use crate::machine::context_state::{ContextState, Resident};
use crate::machine::control::{Explored, Its, Lane, Wait};
use crate::machine::grid::Grid;
use crate::machine::overlap::at_fault;
use crate::machine::processors::Processors;
use crate::memory::Environment;
use crate::program::env::ProgEnv;
use crate::program::instr::Slot;
use crate::program::ops::Class;
use crate::verdict::{Place, Stop, StuckKind, Who};
use std::sync::Arc;

impl<C: Explored + 'static, M: Environment + 'static> Walk for Walker<C, M> {
    fn agents(&mut self, out: &mut Vec<Agent>) {
        out.clear();
        let slots = self.state.grids.first().map_or(0, |g| g.blocks.len());
        for slot in 0..slots {
            let grid = self.state.grids.first_mut();
            let Some(Some(block)) = grid.and_then(|g| g.blocks.get_mut(slot)) else { continue };
            let (linear, warps) = (block.linear, block.warps.len());
            for w in 0..warps {
                let Some(Ok(flows)) = self.warp_mut(slot, w).map(|w| w.control.flows()) else { continue };
                for flow in flows {
                    if !self.blocked(slot, w, flow) {
                        out.push(Agent::Flow { slot: index(slot), block: linear, warp: index(w), flow });
                    }
                }
            }
        }
        if !M::IMMEDIATE {
            let ready = self.state.memory.ready();
            let bits = ready.iter().zip(0u32..).flat_map(|(word, k)| (0..64).map(move |b| (word >> b & 1, k * 64 + b)));
            out.extend(bits.filter(|(bit, _)| *bit == 1).map(|(_, n)| Agent::Micro(n)));
            let mut silent = Vec::new();
            self.state.memory.silent(false, &mut silent);
            out.extend((0..index(silent.len())).map(Agent::Silent));
        }
    }

    fn advance(&mut self, agent: Agent, oracle: &mut dyn Oracle, tell: Option<Tell<'_>>) -> Result<u32, Stop> {
        match agent {
            Agent::Flow { slot, warp, flow, .. } => self.step_with(oracle, tell, |walk, cx| {
                let hidden = walk.launches.get(walk.launch).map_or(0, |f| f.visible.hidden(flow.pc));
                let fuel = if walk.grain == Grain::Visible { hidden.max(1) } else { 1 };
                walk.turn(slot as usize, warp as usize, flow, fuel, cx)
            }),
            Agent::Micro(operation) => self.step_with(oracle, tell, |walk, cx| {
                let ContextState { memory, grids, .. } = &mut walk.state;
                let done = memory.step(operation, &mut Resident(grids), cx);
                done.map_err(|trouble| at_fault(&walk.state, *trouble))?;
                walk.memory_moved();
                Ok(0)
            }),
            Agent::Silent(k) => self.step_with(oracle, tell, |walk, cx| {
                let ContextState { memory, grids, .. } = &mut walk.state;
                let mut all = Vec::new();
                memory.silent(false, &mut all);
                let Some(rule) = all.get(k as usize) else { return Ok(0) };
                let done = memory.fire(*rule, &mut Resident(grids), cx);
                done.map_err(|trouble| at_fault(&walk.state, *trouble))?;
                walk.memory_moved();
                Ok(0)
            }),
        }
    }

    fn begun(&self) -> &[(Who, u32)] {
        &self.begun
    }

    fn reached(&self) -> Reached {
        if self.ended {
            return Reached::End;
        }
        let lost = || Stop::Stuck(Box::new(StuckKind::TokenStack { place: Place::default() }));
        Reached::Stuck(self.state.stuck().unwrap_or_else(lost))
    }

    fn key(&self) -> u128 {
        self.journal.key()
    }

    fn whole(&self) -> Vec<u8> {
        self.journal.whole()
    }

    fn mark(&self) -> Mark {
        self.journal.mark()
    }

    fn back(&mut self, to: Mark) {
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

    fn bytes(&self, address: u64, len: u64) -> Option<&[u8]> {
        self.state.memory.peek(address, len)
    }

    fn memory_hash(&self) -> u64 {
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        self.state.memory.arena().digest(&mut hasher);
        hasher.digest()
    }

    fn register(&self, block: u64, thread: u32, class: Class, slot: Slot) -> Option<u64> {
        let grid = self.state.grids.first()?;
        let block = grid.blocks.get(grid.slot(block)?)?.as_ref()?;
        let size = grid.loaded.warp_size;
        let (warp, lane) = (block.warps.get((thread / size) as usize)?, (thread % size) as usize);
        let frame = warp.frames.first()?;
        match class {
            Class::W => frame.w.get(slot.index()).map(|row| row.0[lane].into()),
            Class::Q => frame.q.get(slot.index()).map(|row| row.0[lane]),
            Class::P => frame.p.get(slot.index()).map(|mask| (mask >> lane & 1).into()),
        }
    }

    fn program(&self) -> Arc<ProgEnv> {
        Arc::clone(&self.env)
    }

    fn place(&self, agent: Agent) -> Option<Place> {
        let Agent::Flow { block, warp, flow, .. } = agent else { return None };
        let launch = self.state.grids.first()?.id.0;
        self.state.place(Who { launch, block, warp }, flow.mask, Pc(flow.pc))
    }

    fn lanes(&self) -> Vec<(u64, u32, Lane)> {
        let blocks = self.state.grids.iter().flat_map(Grid::blocks);
        let warps = blocks.flat_map(|b| b.warps.iter().map(move |w| (b.linear, w)));
        warps.flat_map(|(block, w)| w.control.lanes().into_iter().map(move |l| (block, w.index, l))).collect()
    }

    fn freed(&self, free: Free) -> Result<Box<dyn Walk>, Stop> {
        if self.state.memory.pending() > 0 {
            return Err(Stop::Unsupported("lanes set free while memory operations are in flight".into(), None));
        }
        let mut config = self.config.clone();
        if free.blocks {
            config.device.capacity.blocks = u32::MAX;
            config.device.capacity.threads = u32::MAX;
            config.device.capacity.shared = u32::MAX;
        }
        let lane = |lane: Lane| Lane {
            wait: lane.wait.filter(|w| !free.waits || !matches!(w, Wait::Barrier(_) | Wait::WarpSync(_))),
            ..lane
        };
        let state = self.state.with_control(|control| {
            let lanes: Vec<Lane> = control.lanes().into_iter().map(lane).collect();
            Its::<true>::of_lanes(&lanes)
        });
        let loaded = self.launches.iter().map(|f| f.loaded.clone()).collect();
        let (env, grain) = (Arc::clone(&self.env), Grain::Visible);
        let mut walk = Walker::<Its<true>, M>::of(state, env, self.program, loaded, &config, grain);
        (walk.launch, walk.ended) = (self.launch, self.ended);
        if free.blocks {
            walk.state.processors = Processors::new(config.device.processors, config.device.capacity);
            walk.recount();
        }
        walk.touch_all();
        walk.step_with(&mut crate::choice::Fair, None, |_, _| Ok(0))?;
        walk.journal.settle();
        Ok(Box::new(walk))
    }
}

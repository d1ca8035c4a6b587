//! Barriers and exchanges without all whom they name (`--check barriers`; decisions D-barrier-lanes, D-bar-exit, D-shuffle).
//!
//! The machine reports by itself what cannot be harmless. Here is what hardware gets over and PTX does not allow or leaves
//! undefined: threads that have exited, or do nothing more but exit, while others wait at a barrier for all threads; lanes
//! of a member mask that have exited; shuffles that read lanes which take no part. What NVIDIA's synccheck documents is
//! compared row by row in `spec-notes/synccheck.md`.

use super::bug;
use crate::base::{LANES, LaneMask, Pc, lanes_of};
use crate::machine::shuffle_sources;
use crate::program::env::ProgEnv;
use crate::program::instr::{Barrier, Instr, Op, Slot};
use crate::verdict::{Arrive, Bug, BugKind, Doing, Elsewhere, Event, Place, Shape, Sink, Step, Stop, Who};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Lanes of a warp at an instruction.
#[derive(Clone, Copy, Debug)]
struct At {
    warp: u32,
    lanes: LaneMask,
    pc: Pc,
}

/// Lanes that wait for the members of a mask (`bar.warp.sync`), or for all lanes of their warp.
#[derive(Clone, Copy, Debug)]
struct Meeting {
    at: At,
    members: LaneMask,
    /// The barrier of the block, when it is one.
    barrier: Option<u32>,
}

/// A resident block.
#[derive(Clone, Debug, Default)]
struct Block {
    exits: Vec<At>,
    /// Who waits at each barrier that all threads are awaited at.
    open: FxHashMap<u32, Vec<At>>,
    meetings: Vec<Meeting>,
    /// Lanes of the warp that arrives that do not execute the barrier.
    apart: Vec<At>,
}

/// Stops a run at a barrier, shuffle or vote that is executed without all threads that it stands for.
pub struct Barriers {
    env: Arc<ProgEnv>,
    program: u32,
    shape: Shape,
    blocks: FxHashMap<u64, Block>,
}

impl Block {
    fn exited(&self, warp: u32) -> LaneMask {
        self.exits.iter().filter(|e| e.warp == warp).fold(0, |m, e| m | e.lanes)
    }

    /// Where lanes of a warp exited.
    fn exits_of(&self, warp: u32, lanes: LaneMask) -> Vec<Elsewhere> {
        let some = self.exits.iter().filter(|e| e.warp == warp && e.lanes & lanes != 0);
        some.map(|e| At { lanes: e.lanes & lanes, ..*e }.elsewhere(Doing::Exited)).collect()
    }
}

impl At {
    const fn elsewhere(self, doing: Doing) -> Elsewhere {
        Elsewhere { warp: self.warp, lanes: self.lanes, pc: self.pc, doing }
    }
}

impl Barriers {
    /// An observer of a program's runs.
    #[must_use]
    pub fn new(env: Arc<ProgEnv>) -> Self {
        let shape = Shape { entry: 0, grid: [1; 3], block: [1; 3], warp_size: 32 };
        Self { env, program: 0, shape, blocks: FxHashMap::default() }
    }

    fn barrier(&self, pc: Pc) -> Option<(&Instr, &Barrier)> {
        let i = self.env.code.get(pc.0 as usize).filter(|i| i.op == Op::Bar)?;
        Some((i, self.env.barriers.get(i.imm as usize)?))
    }

    /// Lanes that waited when others left them: their place is told whole, since another instruction is being executed.
    fn waited(&self, who: Who, at: At, kind: BugKind) -> Stop {
        let lane = lanes_of(at.lanes).next().and_then(|l| u32::try_from(l).ok()).unwrap_or(0);
        let kernel = (self.program, self.env.name_of(self.shape.entry));
        let place = Place { lanes: at.lanes, ..self.shape.place(kernel, at.pc, (who.block, at.warp, lane)) };
        Stop::Bug(Box::new(Bug { kind, place, other: None }))
    }

    fn step(&mut self, who: Who, step: &Step<'_>) -> Result<(), Stop> {
        match self.env.code.get(step.pc.0 as usize).map(|i| i.op) {
            Some(Op::Exit) if step.lanes != 0 => self.exit(who, step),
            Some(Op::Bar) if step.lanes != 0 => {
                self.come(who, step);
                Ok(())
            }
            Some(Op::WarpSync) if step.lanes != 0 => self.warp_sync(who, step),
            _ => Ok(()),
        }
    }

    fn exit(&mut self, who: Who, step: &Step<'_>) -> Result<(), Stop> {
        let block = self.blocks.entry(who.block).or_default();
        let here = At { warp: who.warp, lanes: step.lanes, pc: step.pc };
        block.exits.push(here);
        let elsewhere = vec![here.elsewhere(Doing::Exited)];
        let missed = block.meetings.iter().find(|m| m.at.warp == who.warp && m.members & here.lanes != 0);
        if let Some(Meeting { at, members, barrier }) = missed.copied() {
            if barrier.is_some() && self.env.went_on(at.pc.0, step.pc.0) {
                // A divergent barrier, which the machine reports by itself.
                return Ok(());
            }
            let kind = match barrier {
                Some(id) => BugKind::BarrierExited { id, arrived: at.lanes, elsewhere },
                None => BugKind::MembersExited { mask: members, exited: members & here.lanes, elsewhere },
            };
            return Err(self.waited(who, at, kind));
        }
        let waiting = block.open.iter().filter_map(|(id, all)| Some((*id, *all.first()?))).min_by_key(|w| w.0);
        let Some((id, at)) = waiting else { return Ok(()) };
        Err(self.waited(who, at, BugKind::BarrierExited { id, arrived: at.lanes, elsewhere }))
    }

    /// Lanes come to a barrier; perhaps others of their warp are to come, or are apart.
    fn come(&mut self, who: Who, step: &Step<'_>) {
        let Some((i, &barrier)) = self.barrier(step.pc) else { return };
        let id = barrier.id.map_or_else(|| named(step, i.a), u32::from);
        let block = self.blocks.entry(who.block).or_default();
        let here = At { warp: who.warp, lanes: step.lanes, pc: step.pc };
        block.meetings.retain(|m| m.at.warp != who.warp || m.at.pc != step.pc);
        block.apart.clear();
        match step.tokens {
            Some(tokens) => {
                let mut add = |lanes, pc| block.apart.push(At { lanes, pc, ..here });
                if step.active != step.lanes {
                    add(step.active & !step.lanes, Pc(step.pc.0 + 1));
                }
                tokens.activations(step.active, |_, token, lanes| add(lanes, Pc(token.pc)));
            }
            None if barrier.aligned => {
                let members = !block.exited(who.warp) & !step.lanes;
                block.meetings.push(Meeting { at: here, members, barrier: Some(id) });
            }
            None => {}
        }
    }

    fn arrive(&mut self, who: Who, arrive: &Arrive) -> Result<(), Stop> {
        let Some((_, &barrier)) = self.barrier(arrive.pc) else { return Ok(()) };
        let block = self.blocks.entry(who.block).or_default();
        block.meetings.retain(|m| m.at.warp != who.warp || m.at.pc != arrive.pc);
        let mut elsewhere: Vec<_> = block.apart.drain(..).map(|a| a.elsewhere(Doing::Leaves)).collect();
        // A count is of whole warps: those of others are not missed.
        let missed = |e: &&At| !barrier.counted || barrier.aligned && e.warp == who.warp;
        elsewhere.extend(block.exits.iter().filter(missed).map(|e| e.elsewhere(Doing::Exited)));
        let arrived = arrive.lanes & !elsewhere.iter().filter(|e| e.warp == who.warp).fold(0, |m, e| m | e.lanes);
        if !elsewhere.is_empty() {
            return Err(bug(BugKind::BarrierExited { id: arrive.id, arrived, elsewhere }, arrive.pc, arrived));
        }
        if arrive.waits && !barrier.counted {
            let at = At { warp: who.warp, lanes: arrive.lanes, pc: arrive.pc };
            block.open.entry(arrive.id).or_default().push(at);
        }
        Ok(())
    }

    fn warp_sync(&mut self, who: Who, step: &Step<'_>) -> Result<(), Stop> {
        let Some(i) = self.env.code.get(step.pc.0 as usize) else { return Ok(()) };
        let mask = named(step, i.a);
        self.members(who, mask, step)?;
        let block = self.blocks.entry(who.block).or_default();
        let same = |m: &&mut Meeting| m.at.warp == who.warp && m.barrier.is_none() && m.members == mask;
        match block.meetings.iter_mut().find(same) {
            Some(m) => m.at.lanes |= step.lanes,
            None => {
                let at = At { warp: who.warp, lanes: step.lanes, pc: step.pc };
                block.meetings.push(Meeting { at, members: mask, barrier: None });
            }
        }
        // Lanes that do not exist or have exited are not awaited.
        let missing = !block.exited(who.warp) & self.shape.populated(who.warp);
        block
            .meetings
            .retain(|m| m.barrier.is_some() || m.at.warp != who.warp || m.members & missing & !m.at.lanes != 0);
        Ok(())
    }

    /// Lanes give a member mask: none of it may have exited.
    fn members(&self, who: Who, mask: LaneMask, step: &Step<'_>) -> Result<(), Stop> {
        let Some(block) = self.blocks.get(&who.block) else { return Ok(()) };
        let exited = mask & block.exited(who.warp);
        if exited == 0 {
            return Ok(());
        }
        let elsewhere = block.exits_of(who.warp, exited);
        Err(bug(BugKind::MembersExited { mask, exited, elsewhere }, step.pc, step.lanes))
    }

    fn exchange(&self, who: Who, step: &Step<'_>) -> Result<(), Stop> {
        let Some(i) = self.env.code.get(step.pc.0 as usize) else { return Ok(()) };
        let Some(exchange) = self.env.exchange(i) else { return Ok(()) };
        if exchange.sync {
            self.members(who, named(step, i.e), step)?;
        }
        if !exchange.kind.is_shuffle() {
            return Ok(());
        }
        let found = shuffle_sources(exchange.kind, i, step.lanes, self.shape.warp_size, step.regs);
        if found.absent == 0 {
            return Ok(());
        }
        let sources = lanes_of(found.absent).fold(0, |m, l| m | 1 << (found.from[l] % LANES));
        let elsewhere = self.blocks.get(&who.block).map_or_else(Vec::new, |b| b.exits_of(who.warp, sources));
        Err(bug(BugKind::AbsentSource { readers: found.absent, sources, elsewhere }, step.pc, found.absent))
    }
}

/// What the first lane that executes a step names in a register.
fn named(step: &Step<'_>, slot: Slot) -> u32 {
    let lead = lanes_of(step.lanes).next().unwrap_or(0);
    step.regs.w.get(slot.index()).map_or(0, |w| w.0[lead])
}

impl Sink for Barriers {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        match event {
            Event::Launch { program, shape, .. } => {
                (self.program, self.shape) = (program, shape);
                self.blocks.clear();
            }
            Event::Block { .. } | Event::BlockDone => {
                self.blocks.remove(&who.block);
            }
            Event::Step(step) => return self.step(who, &step),
            Event::Arrive(arrive) => return self.arrive(who, &arrive),
            Event::Exchange(step) => return self.exchange(who, &step),
            Event::Released(id) => {
                self.blocks.entry(who.block).or_default().open.remove(&id);
            }
            _ => {}
        }
        Ok(())
    }
}

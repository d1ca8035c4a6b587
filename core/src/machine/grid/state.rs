//! A grid: blocks are issued to multiprocessors and their warps take turns (report, 5.6, and 5.7.1 as far as one grid goes).
//!
//! Blocks are made when they are issued and reused when they complete, so memory grows with what is resident, not with
//! the grid. Which warp steps, whether another block is issued already, and where, is the oracle's choice.
//!
//! Departures. The report's grid steps all its scheduled warps at once; here one warp steps (D-sched), for as many
//! instructions as the oracle's pick holds. Blocks that are not issued or complete are not kept: that they remain idle
//! (`block.idle`) is that nothing is done for them.

use crate::base::Aside;
use crate::base::Frame;
use crate::base::mutant::{Mutant, on};
use crate::choice::{Menu, Names, Oracle, Site};
use crate::machine::block::state::Block;
use crate::machine::block::step::put;
use crate::machine::context::processors::Processors;
use crate::machine::control::Control;
use crate::machine::device::message::{GridId, ProgramId};
use crate::machine::grid::loaded::Loaded;
use crate::memory::{Cx, LocalMemory, Memory};
use crate::program::env::ProgEnv;
use crate::verdict::{Event, LimitKind, Rule, Sink, Stop, Taker, Who};

/// Instructions that a warp may execute when nothing else is ready: a multiple of the lengths of most short loops, so that
/// one that spins is in the same state after each turn.
pub(in crate::machine) const ALONE: u32 = 15_120;
/// Leases used up before another block is issued: somebody may be waiting for it.
pub(super) const PRESSURE: u32 = 16;

/// A grid of a context.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid<C> {
    /// Its index.
    pub id: GridId,
    /// The program that it executes: the report's program map.
    pub program: ProgramId,
    /// Whether all its blocks are complete.
    pub completed: bool,
    /// What its launch fixes.
    pub loaded: Box<Loaded>,
    /// Issued blocks, by slot.
    pub(in crate::machine) blocks: Vec<Option<Block<C>>>,
    /// The linear index of the block that was issued to each slot last: what an oracle is shown.
    pub(in crate::machine) issued: Vec<u64>,
    pub(in crate::machine) spare: Aside<Vec<Block<C>>>,
    /// The warps that can step, numbered by slot and warp: a slot has `1 << shift` of them, of which as many exist as a block has warps.
    pub(in crate::machine) ready: Vec<u64>,
    pub(in crate::machine) shift: u32,
    /// The next block to be issued.
    pub(in crate::machine) next: u64,
    /// Blocks in all.
    pub(in crate::machine) total: u64,
    /// Of blocks that run ahead of others: the block before which they end (D-ahead).
    pub(in crate::machine) until: Option<u64>,
    /// And whether their warps may take turns in any order, so that memory has to know of each who accesses it.
    pub(in crate::machine) apart: bool,
    /// Issued blocks that are not complete.
    pub(in crate::machine) resident: u32,
    /// The turn taken last, and whether it was used up: what a deterministic scheduler remembers.
    pub(in crate::machine) last: Option<(u32, bool)>,
    /// Turns used up since a block was issued: the same.
    pub(super) pressure: u32,
}

impl<C: Control> Grid<C> {
    /// A grid none of whose blocks has been issued.
    #[must_use]
    pub fn new(id: GridId, program: ProgramId, loaded: Box<Loaded>) -> Self {
        Self {
            id,
            program,
            completed: false,
            blocks: Vec::new(),
            issued: Vec::new(),
            spare: Aside(Vec::new()),
            ready: Vec::new(),
            shift: loaded.warps().next_power_of_two().trailing_zeros(),
            next: 0,
            total: loaded.grid.iter().map(|n| u64::from(*n)).product(),
            until: None,
            apart: false,
            resident: 0,
            last: None,
            pressure: 0,
            loaded,
        }
    }

    /// Forgets whose turn it was.
    pub(in crate::machine) fn forget_turns(&mut self) {
        (self.last, self.pressure) = (None, 0);
        let warps = self.blocks.iter_mut().flatten().flat_map(|block| &mut block.warps);
        warps.for_each(|warp| warp.control.forget_turns());
    }

    /// Whether a block of it has been issued.
    #[must_use]
    pub const fn executing(&self) -> bool {
        self.next > 0
    }

    /// Whether all blocks are complete.
    pub(in crate::machine) const fn done(&self) -> bool {
        self.next == self.total && self.resident == 0 && self.until.is_none()
    }

    /// Whether no block is resident, some are complete and others wait.
    pub(in crate::machine) const fn is_between(&self) -> bool {
        self.resident == 0 && self.next < self.total
    }

    /// Makes it one of which blocks run ahead, from the first of some on up to one that is left to others.
    pub(in crate::machine) fn run_ahead(&mut self, (first, until): (u64, u64), last: Option<(u32, bool)>, apart: bool) {
        self.blocks.clear();
        self.ready.fill(0);
        (self.next, self.until, self.apart) = (first, Some(until), apart);
        (self.resident, self.last, self.pressure) = (0, last, 0);
    }

    /// Blocks have run ahead up to one, and have done what they would have done.
    pub(in crate::machine) fn has_run(&mut self, until: u64, last: Option<(u32, bool)>) {
        (self.next, self.last, self.pressure) = (until, last, 0);
    }

    /// Whether blocks behind those that are resident are to be issued, since turns keep being used up.
    pub(in crate::machine) const fn is_pressed(&self) -> bool {
        self.pressure >= PRESSURE
    }

    /// The block before which those end that may be issued.
    pub(in crate::machine) fn end(&self) -> u64 {
        self.until.unwrap_or(self.total)
    }

    /// Whether it can step: a warp is ready, a block can be issued, or all are complete. `room`: one more grid may execute.
    pub fn can_step(&self, processors: &Processors, room: bool) -> bool {
        !self.completed && (self.ready.iter().any(|w| *w != 0) || self.done() || self.can_issue(processors, room))
    }

    /// The resident blocks.
    pub fn blocks(&self) -> impl Iterator<Item = &Block<C>> {
        self.blocks.iter().flatten()
    }

    /// All its blocks are complete, and so is the grid; its context removes it.
    ///
    /// Rule: grid.compl
    pub(in crate::machine) fn complete<S: Sink>(&mut self, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
        self.completed = true;
        if S::ON {
            let who = Who { launch: self.id.0, ..Who::default() };
            cx.sink.fire(who, Rule::GridCompl)?;
        }
        Ok(())
    }

    /// Why the grid cannot step, when it cannot and nothing else can.
    pub fn stuck(&self, env: &ProgEnv) -> Option<Stop> {
        self.blocks().next().map(|b| b.stuck(env, &self.loaded))
    }

    /// Whether a block of it can be issued. `room`: one more grid may execute.
    pub fn can_issue(&self, processors: &Processors, room: bool) -> bool {
        self.next < self.end() && (room || self.executing()) && processors.first(&self.loaded).is_some()
    }

    /// The slot of a resident block.
    pub(in crate::machine) fn slot(&self, linear: u64) -> Option<usize> {
        self.blocks.iter().position(|b| b.as_ref().is_some_and(|b| b.linear == linear))
    }

    /// A block whose warps are done leaves, or is kept to be looked at; its room is free. Tells whether it is over: not
    /// while operations of it are in flight.
    ///
    /// Rule: block.compl
    pub(in crate::machine) fn end_block<M: Memory, S: Sink>(
        &mut self,
        slot: usize,
        keep: bool,
        (mem, processors): (&mut M, &mut Processors),
        cx: &mut Cx<'_, S>,
    ) -> Result<bool, Stop> {
        let Some(place) = self.blocks.get_mut(slot) else { return Ok(false) };
        let Some(block) = place else { return Ok(false) };
        let who = Who { launch: self.id.0, block: block.linear, warp: 0 };
        if !M::IMMEDIATE && mem.in_flight(who.launch, Some(who.block)) > 0 {
            return Ok(false);
        }
        processors.give(block.sm, &self.loaded);
        self.resident -= 1;
        if keep {
            block.kept = true;
        } else {
            self.spare.0.extend(place.take());
        }
        mem.retire(who.launch, who.block);
        if on(Mutant::BlockEndsEarly) {
            // Its other warps are gone.
            (0..1 << self.shift).for_each(|w| put(&mut self.ready, slot << self.shift, w, false));
        }
        if S::ON {
            cx.sink.event(who, Event::BlockDone)?;
            cx.sink.fire(who, Rule::BlockCompl)?;
        }
        Ok(true)
    }

    fn block_mut(&mut self, linear: u64) -> Option<&mut Block<C>> {
        self.blocks.iter_mut().flatten().find(|b| b.linear == linear)
    }

    /// The registers of a resident warp at a depth of its call stack.
    pub fn frame(&mut self, who: Who, depth: u32) -> Option<&mut Frame> {
        self.block_mut(who.block)?.warps.get_mut(who.warp as usize)?.frames.get_mut(depth as usize)
    }

    /// The local memory of a resident warp.
    pub fn local(&mut self, who: Who) -> Option<&mut LocalMemory> {
        Some(&mut self.block_mut(who.block)?.warps.get_mut(who.warp as usize)?.local)
    }

    /// The shared memory of a resident block.
    pub fn shared(&mut self, block: u64) -> Option<&mut [u8]> {
        Some(&mut self.block_mut(block)?.shared[..])
    }

    /// Gives back the room of all its blocks: it is being aborted.
    pub fn leave(&self, processors: &mut Processors) {
        for block in self.blocks.iter().flatten() {
            processors.give(block.sm, &self.loaded);
        }
    }

    /// Issues the next block to a multiprocessor. Gives its slot.
    ///
    /// # Errors
    /// There is no memory for it; an observer objects.
    #[inline(never)]
    pub(in crate::machine) fn issue<S: Sink>(
        &mut self,
        env: &ProgEnv,
        processors: &mut Processors,
        sm: u32,
        cx: &mut Cx<'_, S>,
    ) -> Result<usize, Stop> {
        if S::ON {
            let who = Who { launch: self.id.0, block: self.next, warp: 0 };
            cx.sink.event(who, Event::Block { processor: sm })?;
            cx.sink.fire(who, Rule::ContextIssue)?;
        }
        if self.spare.0.is_empty()
            && let Some(limit) = self.loaded.bounds.room(self.loaded.block_bytes(env), Taker::Blocks)
        {
            return Err(Stop::Limit(limit));
        }
        let slot = self.blocks.iter().position(Option::is_none).unwrap_or_else(|| {
            self.blocks.push(None);
            self.blocks.len() - 1
        });
        let mut block = self.spare.0.pop().unwrap_or_default();
        let linear = if on(Mutant::BlockIssuedTwice) { self.next.saturating_sub(1) } else { self.next };
        block.issue(env, &self.loaded, linear, sm);
        processors.take(sm, &self.loaded);
        self.resident += 1;
        if cx.sink.wants_rules() {
            block.warps.iter_mut().for_each(|w| w.control.trace(true));
        }
        self.next += 1;
        let end = (slot + 1) << self.shift;
        if self.ready.len() * 64 < end {
            self.ready.resize(end.div_ceil(64), 0);
        }
        (0..self.loaded.warps()).for_each(|w| put(&mut self.ready, slot << self.shift, w, true));
        self.blocks[slot] = Some(block);
        self.issued.resize(self.blocks.len().max(self.issued.len()), 0);
        self.issued[slot] = linear;
        Ok(slot)
    }

    /// Issues blocks: one when none is ready, more when the oracle says so.
    #[inline(always)]
    pub(super) fn more_blocks<S: Sink>(
        &mut self,
        env: &ProgEnv,
        processors: &mut Processors,
        cx: &mut Cx<'_, S>,
        eager: bool,
    ) -> Result<(), Stop> {
        if self.next == self.total {
            return Ok(());
        }
        if eager {
            while self.can_issue(processors, true)
                && let Some(first) = processors.first(&self.loaded)
            {
                self.issue(env, processors, first, cx)?;
            }
            return Ok(());
        }
        let idle = self.ready.iter().all(|w| *w == 0);
        if !idle && self.pressure < PRESSURE {
            return Ok(());
        }
        if !idle && self.until.is_some() && !self.apart {
            // Blocks that run ahead are about to take turns with others.
            return Err(Stop::Limit(LimitKind::Interrupted));
        }
        self.issue_some(env, processors, cx, idle)
    }

    #[inline(never)]
    fn issue_some<S: Sink>(
        &mut self,
        env: &ProgEnv,
        processors: &mut Processors,
        cx: &mut Cx<'_, S>,
        idle: bool,
    ) -> Result<(), Stop> {
        let mut forced = idle;
        while self.next < self.end() {
            // Where memory is immediate, multiprocessors do not differ.
            let Some(first) = processors.first(&self.loaded) else { break };
            if !forced {
                let last = Some((0, self.pressure >= PRESSURE));
                let names = [0, self.next];
                let menu = Menu::of(Site::Issue, &[0b11]).after(last).named(Names::Each(&names));
                let now = cx.oracle.choose(menu)?.index == 1;
                if !now {
                    break;
                }
            }
            self.pressure = 0;
            forced = false;
            self.issue(env, processors, first, cx)?;
        }
        self.pressure = 0;
        Ok(())
    }

    /// Which multiprocessor takes the next block: the first that has room, unless they `differ`.
    pub(in crate::machine) fn processor(
        &self,
        differ: bool,
        processors: &Processors,
        oracle: &mut dyn Oracle,
    ) -> Result<u32, Stop> {
        if !differ {
            return Ok(processors.first(&self.loaded).unwrap_or(0));
        }
        let ready = processors.all(&self.loaded);
        let before = self.blocks.iter().flatten().max_by_key(|b| b.linear).map(|b| (b.sm, true));
        let menu = Menu::of(Site::Processor, &ready).after(before);
        if menu.arity() < 2 { Ok(menu.nth(0)) } else { Ok(oracle.choose(menu)?.index) }
    }
}

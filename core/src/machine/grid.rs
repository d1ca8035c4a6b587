//! A grid: blocks are issued to multiprocessors and their warps take turns (report, 5.6, and 5.7.1 as far as one grid goes).
//!
//! Blocks are made when they are issued and reused when they complete, so memory grows with what is resident, not with
//! the grid. Which warp steps, whether another block is issued already, and where, is the oracle's choice.
//!
//! Departures. The report's grid steps all its scheduled warps at once; here one warp steps (D-sched), for as many
//! instructions as the oracle's pick holds. Blocks that are not issued or complete are not kept: that they remain idle
//! (`block.idle`) is that nothing is done for them.

use super::block::Block;
use super::books::{Books, Stats};
use super::control::Control;
use super::loaded::Loaded;
use super::message::{GridId, Program, ProgramId};
use super::processors::Processors;
use super::step::{self, Executing, put};
use super::warp::{Halt, Yield};
use super::watched::Watched;
use crate::base::Aside;
use crate::base::Frame;
use crate::base::mutant::{Mutant, on};
use crate::choice::{Fair, Menu, Names, Oracle, Site};
use crate::memory::{Cx, LocalMemory, Memory};
use crate::program::env::ProgEnv;
use crate::verdict::{Event, LimitKind, Rule, Sink, Stop, Taker, Who};
use pulp::Simd;

/// Instructions that a warp may execute when nothing else is ready: a multiple of the lengths of most short loops, so that
/// one that spins is in the same state after each turn.
pub(super) const ALONE: u32 = 15_120;
/// Leases used up before another block is issued: somebody may be waiting for it.
const PRESSURE: u32 = 16;

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
    pub(super) blocks: Vec<Option<Block<C>>>,
    /// The linear index of the block that was issued to each slot last: what an oracle is shown.
    pub(super) issued: Vec<u64>,
    pub(super) spare: Aside<Vec<Block<C>>>,
    /// The warps that can step, numbered by slot and warp: a slot has `1 << shift` of them, of which as many exist as a block has warps.
    pub(super) ready: Vec<u64>,
    pub(super) shift: u32,
    /// The next block to be issued.
    pub(super) next: u64,
    /// Blocks in all.
    pub(super) total: u64,
    /// Issued blocks that are not complete.
    pub(super) resident: u32,
    /// The turn taken last, and whether it was used up: what a deterministic scheduler remembers.
    pub(super) last: Option<(u32, bool)>,
    /// Turns used up since a block was issued: the same.
    pressure: u32,
}

/// Why a grid's turns ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Held {
    /// The pick is used up.
    Spent,
    /// No warp of it is ready, and no block can be issued.
    Idle,
    /// All its blocks are complete.
    Complete,
}

/// What a grid runs with.
pub(super) struct Turns<'a, 'b, 'c, M, S> {
    pub program: &'a Program,
    pub processors: &'a mut Processors,
    pub mem: &'a mut M,
    pub cx: &'a mut Cx<'b, S>,
    pub books: &'a mut Books<'c>,
    /// Warp instructions that the pick holds for.
    pub hold: u64,
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
            resident: 0,
            last: None,
            pressure: 0,
            loaded,
        }
    }

    /// Forgets whose turn it was.
    pub(super) fn forget_turns(&mut self) {
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
    pub(super) const fn done(&self) -> bool {
        self.next == self.total && self.resident == 0
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
    pub(super) fn complete<S: Sink>(&mut self, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
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
        self.next < self.total && (room || self.executing()) && processors.first(&self.loaded).is_some()
    }

    /// The slot of a resident block.
    pub(super) fn slot(&self, linear: u64) -> Option<usize> {
        self.blocks.iter().position(|b| b.as_ref().is_some_and(|b| b.linear == linear))
    }

    /// A block whose warps are done leaves, or is kept to be looked at; its room is free. Tells whether it is over: not
    /// while operations of it are in flight.
    ///
    /// Rule: block.compl
    pub(super) fn end_block<M: Memory, S: Sink>(
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
    pub(super) fn issue<S: Sink>(
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
    fn more_blocks<S: Sink>(
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
        while self.next < self.total {
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

    /// Which multiprocessor takes the next block: the first that has room, where they do not differ.
    pub(super) fn processor<M: Memory>(&self, processors: &Processors, oracle: &mut dyn Oracle) -> Result<u32, Stop> {
        if !M::CACHES {
            return Ok(processors.first(&self.loaded).unwrap_or(0));
        }
        let ready = processors.all(&self.loaded);
        let before = self.blocks.iter().flatten().max_by_key(|b| b.linear).map(|b| (b.sm, true));
        let menu = Menu::of(Site::Processor, &ready).after(before);
        if menu.arity() < 2 { Ok(menu.nth(0)) } else { Ok(oracle.choose(menu)?.index) }
    }
}

/// A warp's turn: its number among those that may be resident, and for how many instructions it holds.
#[derive(Clone, Copy)]
struct Turn {
    index: usize,
    lease: u32,
}

/// Whose turn it is; forced moves do not reach the oracle, nor others when it `takes_turns`. `None`: nobody is ready.
#[inline(always)]
fn next_turn(
    ready: &[u64],
    last: Option<(u32, bool)>,
    names: Names<'_>,
    takes_turns: bool,
    oracle: &mut dyn Oracle,
) -> Result<Option<Turn>, Stop> {
    let mut words = ready.iter().enumerate().filter(|(_, w)| **w != 0);
    let Some((k, &word)) = words.next() else { return Ok(None) };
    if word & (word - 1) == 0 && words.next().is_none() {
        return Ok(Some(Turn { index: k * 64 + word.trailing_zeros() as usize, lease: ALONE }));
    }
    let pick = match Fair::turn(ready, last).filter(|_| takes_turns) {
        Some(pick) => pick,
        None => oracle.choose(Menu { site: Site::Warp, ready, last, names })?,
    };
    Ok(Some(Turn { index: pick.index as usize, lease: pick.lease.get() }))
}

/// Why the turns of a block ended.
enum Leave {
    /// Another block's warp goes next, or it is to be asked who does.
    Turn(Option<Turn>),
    /// The block of this slot is complete.
    Complete(usize),
    /// The grid's turns end.
    Grid(Held),
    /// A warp halted.
    Halt(u32, Box<Halt>),
    /// A limit is reached.
    Limit(LimitKind),
}

/// Runs a grid for as long as the pick holds.
///
/// Rule: grid.exec
#[inline(always)]
pub(super) fn exec<V: Simd, C: Control, M: Memory, S: Watched>(
    simd: V,
    grid: &mut Grid<C>,
    with: Turns<'_, '_, '_, M, S>,
) -> Result<Held, Stop> {
    let Turns { program, processors, mem, cx, books, mut hold } = with;
    let env = &*program.0;
    let mut stats = Stats::default();
    let mut carried = None;
    if S::ON {
        let who = Who { launch: grid.id.0, ..Who::default() };
        cx.sink.fire(who, Rule::GridExec)?;
        // Rule: block.idle
        if grid.next < grid.total {
            cx.sink.fire(Who { block: grid.next, ..who }, Rule::BlockIdle)?;
        }
    }
    let ended = loop {
        let chosen = match carried.take() {
            Some(turn) => Some(turn),
            None => {
                grid.more_blocks(env, processors, cx, books.eager)?;
                next_turn(&grid.ready, grid.last, Names::Warps(&grid.issued, grid.shift), books.takes_turns, cx.oracle)?
            }
        };
        let Some(turn) = chosen else {
            break Ok(if grid.done() { Held::Complete } else { Held::Idle });
        };
        match turns(simd, grid, turn, env, mem, cx, books, &mut hold, &mut stats)? {
            Leave::Turn(turn) => carried = turn,
            Leave::Complete(slot) => {
                stats.blocks += 1;
                grid.end_block(slot, false, (&mut *mem, &mut *processors), cx)?;
                if on(Mutant::GridEndsEarly) {
                    break Ok(Held::Complete);
                }
                if hold == 0 && !grid.done() {
                    break Ok(Held::Spent);
                }
            }
            Leave::Grid(held) => break Ok(held),
            Leave::Halt(warp, halt) => {
                let block = grid.blocks.get(turn.index >> grid.shift).and_then(Option::as_ref);
                break Err(block.map_or_else(super::nothing_steps, |b| b.stop(env, &grid.loaded, warp, *halt)));
            }
            Leave::Limit(limit) => break Err(Stop::Limit(limit)),
        }
    };
    books.book(grid.id, stats);
    ended
}

/// Turns of one block, as long as it is its warps' turn: leaving the loop costs more than a turn.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "what changes from turn to turn stays in registers")]
fn turns<V: Simd, C: Control, M: Memory, S: Watched>(
    simd: V,
    grid: &mut Grid<C>,
    mut turn: Turn,
    env: &ProgEnv,
    mem: &mut M,
    cx: &mut Cx<'_, S>,
    books: &mut Books<'_>,
    hold: &mut u64,
    stats: &mut Stats,
) -> Result<Leave, Stop> {
    let Grid { id, blocks, issued, ready, shift, next, total, last, pressure, loaded, .. } = &mut *grid;
    let (shift, more, watched) = (*shift, *next < *total, books.watched);
    let slot = turn.index >> shift;
    let base = slot << shift;
    let Some(Some(block)) = blocks.get_mut(slot) else { return Ok(Leave::Grid(Held::Idle)) };
    let mut at = Executing::of(block, env, loaded, id.0);
    let leave = loop {
        let Turn { index, lease } = turn;
        at.sh.clock = books.clock;
        let fuel = books.fuel(lease, *hold);
        let (why, used) = match at.step(index - base, mem, cx, step::Turn { simd, fuel, ready, base }) {
            Ok(outcome) => outcome,
            Err(halt) => break Leave::Halt(at.sh.who.warp, halt),
        };
        let spent = why == Yield::Fuel;
        *last = Some((u32::try_from(index).unwrap_or(0), spent));
        stats.warp_instructions += u64::from(used);
        *hold = hold.saturating_sub(u64::from(used));
        // Who is behind turns that run out is only asked while blocks wait.
        if spent && more {
            *pressure = (*pressure + 1).min(PRESSURE);
        }
        if let Some(limit) = books.turn(used, spent) {
            break Leave::Limit(limit);
        }
        if !spent && (at.over() || on(Mutant::BlockEndsEarly)) {
            break Leave::Complete(slot);
        }
        if *hold == 0 || S::ON && watched {
            break Leave::Grid(Held::Spent);
        }
        if more && *pressure >= PRESSURE {
            break Leave::Turn(None);
        }
        match next_turn(ready, *last, Names::Warps(issued, shift), books.takes_turns, cx.oracle)? {
            Some(t) if t.index >> shift == slot => turn = t,
            other => break Leave::Turn(other),
        }
    };
    stats.thread_instructions = stats.thread_instructions.wrapping_add(at.sh.threads);
    Ok(leave)
}

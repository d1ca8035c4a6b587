//! A grid: blocks are issued to multiprocessors and their warps take turns (report, 5.6, and 5.7.1 as far as one grid goes).
//!
//! Blocks are made when they are issued and reused when they complete, so memory grows with what is resident, not with
//! the grid. Which warp steps, whether another block is issued already, and where, is the oracle's choice.
//!
//! Departures. The report's grid steps all its scheduled warps at once; here one warp steps (D-sched), for as many
//! instructions as the oracle's pick holds. Blocks that are not issued or complete are not kept: that they remain idle
//! (`block.idle`) is that nothing is done for them.

use super::aside::Aside;
use super::block::{Block, end_barriers};
use super::books::{Books, Stats};
use super::control::Control;
use super::loaded::Loaded;
use super::message::{GridId, Program, ProgramId};
use super::processors::Processors;
use super::warp::{self, Halt, Shared, Yield};
use super::watched::Watched;
use crate::base::Frame;
use crate::base::mutant::{Mutant, on};
use crate::choice::{Menu, Names, Oracle, Site};
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
    /// The warps that can step, numbered by slot and warp: a slot has `1 << shift` of them, of which `per_block` exist.
    pub(super) ready: Vec<u64>,
    pub(super) shift: u32,
    per_block: usize,
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

fn set(ready: &mut [u64], index: usize) {
    ready[index / 64] |= 1 << (index % 64);
}

fn clear(ready: &mut [u64], index: usize) {
    ready[index / 64] &= !(1 << (index % 64));
}

impl<C: Control> Grid<C> {
    /// A grid none of whose blocks has been issued.
    #[must_use]
    pub fn new(id: GridId, program: ProgramId, loaded: Box<Loaded>) -> Self {
        let per_block = loaded.warps() as usize;
        Self {
            id,
            program,
            completed: false,
            blocks: Vec::new(),
            issued: Vec::new(),
            spare: Aside(Vec::new()),
            ready: Vec::new(),
            shift: per_block.next_power_of_two().trailing_zeros(),
            per_block,
            next: 0,
            total: loaded.grid.iter().map(|n| u64::from(*n)).product(),
            resident: 0,
            last: None,
            pressure: 0,
            loaded,
        }
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

    /// Says whether a warp can step.
    pub(super) fn mark(&mut self, slot: usize, warp: u32, can: bool) {
        let index = (slot << self.shift) + warp as usize;
        if let Some(word) = self.ready.get_mut(index / 64) {
            *word = *word & !(1 << (index % 64)) | u64::from(can) << (index % 64);
        }
    }

    /// Drops a block that is complete.
    pub(super) fn drop_block(&mut self, slot: usize, processors: &mut Processors) {
        if let Some(block) = self.blocks.get_mut(slot).and_then(Option::take) {
            processors.give(block.sm, &self.loaded);
            self.resident -= 1;
            self.spare.0.push(block);
        }
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

    /// Issues the next block.
    ///
    /// # Errors
    /// There is no memory for it.
    #[inline(never)]
    pub(super) fn issue(
        &mut self,
        env: &ProgEnv,
        processors: &mut Processors,
        sm: u32,
        trace: bool,
    ) -> Result<(), Stop> {
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
        if trace {
            block.warps.iter_mut().for_each(|w| w.control.trace(true));
        }
        self.next += 1;
        let end = (slot + 1) << self.shift;
        if self.ready.len() * 64 < end {
            self.ready.resize(end.div_ceil(64), 0);
        }
        for w in 0..self.per_block {
            set(&mut self.ready, (slot << self.shift) + w);
        }
        self.blocks[slot] = Some(block);
        self.issued.resize(self.blocks.len().max(self.issued.len()), 0);
        self.issued[slot] = linear;
        Ok(())
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
                self.issue_on(env, processors, first, cx)?;
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
            self.issue_on(env, processors, first, cx)?;
        }
        self.pressure = 0;
        Ok(())
    }

    /// Issues the next block to a multiprocessor.
    pub(super) fn issue_on<S: Sink>(
        &mut self,
        env: &ProgEnv,
        processors: &mut Processors,
        sm: u32,
        cx: &mut Cx<'_, S>,
    ) -> Result<(), Stop> {
        if S::ON {
            let who = Who { launch: self.id.0, block: self.next, warp: 0 };
            cx.sink.event(who, Event::Block { processor: sm })?;
            cx.sink.fire(who, Rule::ContextIssue)?;
        }
        self.issue(env, processors, sm, cx.sink.wants_rules())
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

/// Whose turn it is; forced moves do not reach the oracle. `None`: nobody is ready.
#[inline(always)]
fn next_turn(
    ready: &[u64],
    last: Option<(u32, bool)>,
    names: Names<'_>,
    oracle: &mut dyn Oracle,
) -> Result<Option<Turn>, Stop> {
    let mut words = ready.iter().enumerate().filter(|(_, w)| **w != 0);
    let Some((k, &word)) = words.next() else { return Ok(None) };
    if word & (word - 1) == 0 && words.next().is_none() {
        return Ok(Some(Turn { index: k * 64 + word.trailing_zeros() as usize, lease: ALONE }));
    }
    let pick = oracle.choose(Menu { site: Site::Warp, ready, last, names })?;
    Ok(Some(Turn { index: pick.index as usize, lease: pick.lease.get() }))
}

/// Why the turns of a block ended.
enum Leave {
    /// Another block's warp goes next, or somebody must be asked who does.
    Turn(Option<Turn>),
    /// The block is complete.
    Complete,
    /// The pick of the grid is used up.
    Spent,
    /// A warp halted.
    Halt(u32, Box<Halt>),
    /// A limit is reached.
    Limit(LimitKind),
}

/// Runs a grid for as long as the pick holds.
///
/// Rule: grid.exec
#[inline(always)]
#[expect(clippy::too_many_lines, reason = "the turns of a block stay in one loop: leaving it costs more than a turn")]
pub(super) fn exec<V: Simd, C: Control, M: Memory, S: Watched>(
    simd: V,
    grid: &mut Grid<C>,
    with: Turns<'_, '_, '_, M, S>,
) -> Result<Held, Stop> {
    let Turns { program, processors, mem, cx, books, mut hold } = with;
    let env = &*program.0;
    let id = grid.id;
    let launch = id.0;
    let who = |block: u64, warp: u32| Who { launch, block, warp };
    let shift = grid.shift;
    let (small, watched) = (books.small, books.watched);
    let mut stats = Stats::default();
    let mut carried = None;
    if S::ON {
        cx.sink.fire(who(0, 0), Rule::GridExec)?;
        // Rule: block.idle
        if grid.next < grid.total {
            cx.sink.fire(who(grid.next, 0), Rule::BlockIdle)?;
        }
    }
    let held = loop {
        let chosen = match carried.take() {
            Some(turn) => Some(turn),
            None => {
                grid.more_blocks(env, processors, cx, books.eager)?;
                next_turn(&grid.ready, grid.last, Names::Warps(&grid.issued, shift), cx.oracle)?
            }
        };
        let Some(mut turn) = chosen else {
            break if grid.done() { Held::Complete } else { Held::Idle };
        };
        let slot = turn.index >> shift;
        let Grid { blocks, issued, ready, next, total, resident, last, pressure, loaded, spare, .. } = &mut *grid;
        let Some(Some(block)) = blocks.get_mut(slot) else { break Held::Idle };
        let Block { warps, barriers, shared, index: place, linear, sm, live, running, .. } = block;
        let linear = *linear;
        let mut sh = Shared {
            env,
            loaded,
            barriers,
            shared: &mut shared[..],
            map: env.addresses(),
            who: who(linear, 0),
            block: *place,
            sm: *sm,
            clock: 0,
            threads: 0,
            turn: 0,
            exited: 0,
        };
        let leave = loop {
            let Turn { index, lease } = turn;
            let Some(warp) = warps.get_mut(index - (slot << shift)) else { break Leave::Turn(None) };
            let number = warp.index;
            let lease = if small { 1 } else { lease };
            let held = if books.whole_turns { u64::MAX } else { hold };
            let most = u64::from(lease).min(books.budget.steps).min(held);
            let fuel = u32::try_from(most).unwrap_or(lease);
            sh.who.warp = number;
            sh.clock = books.clock;
            // Rule: block.exec
            if S::ON {
                cx.sink.fire(sh.who, Rule::BlockExec)?;
            }
            let (done, used) = match warp::run(simd, warp, &mut sh, mem, fuel, cx) {
                Ok(outcome) => outcome,
                Err(halt) => break Leave::Halt(number, halt),
            };
            stats.warp_instructions += u64::from(used);
            books.clock += u64::from(used);
            if let Some(limit) = books.budget.spend(u64::from(used)) {
                break Leave::Limit(limit);
            }
            hold = hold.saturating_sub(u64::from(used));
            let spent = done == Yield::Fuel;
            *last = Some((u32::try_from(index).unwrap_or(0), spent));
            if spent {
                // Nobody asks for more when every block is issued.
                if next < total {
                    *pressure = (*pressure + 1).min(PRESSURE);
                }
                if books.budget.steps == 0 {
                    break Leave::Limit(LimitKind::Steps(books.budget.limit));
                }
            } else {
                clear(ready, index);
                *running -= u32::from(done == Yield::Done);
            }
            let exited = std::mem::take(&mut sh.exited);
            *live -= if on(Mutant::BarrierAwaitsExited) { 0 } else { exited };
            // Also after the last step of a lease: nobody may come to a barrier that is complete.
            if sh.barriers.any() {
                let mut ended = Vec::new();
                let free = |w| set(ready, (slot << shift) + w as usize);
                let tell = |id, reduced| {
                    if S::ON {
                        ended.push((id, reduced));
                    }
                };
                end_barriers(sh.barriers, warps, *live, free, tell);
                if S::ON {
                    tell_barriers(&ended, sh.who, cx)?;
                }
            }
            if !spent && (*running == 0 || on(Mutant::BlockEndsEarly)) {
                break Leave::Complete;
            }
            if hold == 0 || S::ON && watched {
                break Leave::Spent;
            }
            if *pressure >= PRESSURE && next < total {
                break Leave::Turn(None);
            }
            match next_turn(ready, *last, Names::Warps(issued, shift), cx.oracle)? {
                Some(t) if t.index >> shift == slot => turn = t,
                other => break Leave::Turn(other),
            }
        };
        *live -= sh.exited;
        stats.thread_instructions = stats.thread_instructions.wrapping_add(sh.threads);
        match leave {
            Leave::Turn(turn) => carried = turn,
            // Rule: block.compl
            Leave::Complete => {
                processors.give(block.sm, loaded);
                spare.0.extend(blocks[slot].take());
                *resident -= 1;
                stats.blocks += 1;
                if on(Mutant::BlockEndsEarly) {
                    // Its other warps are gone.
                    (0..1usize << shift).for_each(|w| clear(ready, (slot << shift) + w));
                }
                if S::ON {
                    cx.sink.event(who(linear, 0), Event::BlockDone)?;
                    cx.sink.fire(who(linear, 0), Rule::BlockCompl)?;
                }
                if on(Mutant::GridEndsEarly) {
                    break Held::Complete;
                }
                if hold == 0 && !grid.done() {
                    break Held::Spent;
                }
            }
            Leave::Spent => break Held::Spent,
            Leave::Halt(warp, halt) => {
                book(books.stats, id, stats);
                return Err(block.stop(env, loaded, warp, *halt));
            }
            Leave::Limit(limit) => {
                book(books.stats, id, stats);
                return Err(Stop::Limit(limit));
            }
        }
    };
    book(books.stats, id, stats);
    Ok(held)
}

/// Adds the counts of a grid's turns to what it has done before.
pub(super) fn book(all: &mut Vec<(GridId, Stats)>, grid: GridId, stats: Stats) {
    if !all.iter().any(|(id, _)| *id == grid) {
        all.push((grid, Stats::default()));
    }
    let Some((_, sum)) = all.iter_mut().find(|(id, _)| *id == grid) else { return };
    sum.warp_instructions += stats.warp_instructions;
    sum.thread_instructions = sum.thread_instructions.wrapping_add(stats.thread_instructions);
    sum.blocks += stats.blocks;
}

/// Tells the observer of barriers that ended: each number, and whether it reduced.
pub(super) fn tell_barriers<S: Sink>(ended: &[(u32, bool)], who: Who, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
    for (id, reduced) in ended {
        cx.sink.event(who, Event::Released(*id))?;
        for rule in [Rule::BarEndBar, Rule::BarRemBar, Rule::BlockEndBar] {
            cx.sink.fire(who, rule)?;
        }
        if *reduced {
            cx.sink.fire(who, Rule::BarReduce)?;
        }
    }
    Ok(())
}

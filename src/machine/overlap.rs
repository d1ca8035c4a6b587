//! The device's loop where memory acts on its own (report, 5.8.3): a step of a warp, then a macro step of memory.
//!
//! Departures from the loop of `device`, which is for memory that completes every request at once: a warp takes part only
//! while it can be scheduled (D-ready), a block completes when its operations have ended, and a macro step follows each
//! turn ([`macro_step`]). The oracle's lease of a turn is a number of device steps whose macro steps are empty. Blocks are
//! issued as soon as there is room: a block whose warps do not step yet cannot be told from one that is not issued. Both
//! loops share the rules of warp and block.

use super::block::{Block, end_barriers};
use super::control::Control;
use super::device::{ALONE, Budget, Go, Stats};
use super::loaded::Loaded;
use super::macro_step::{self, Halted, Now, Schedule, Went};
use super::warp::{self, Halt, Shared, Why, Yield, can_be_scheduled};
use crate::base::{Frame, LaneMask, Pc};
use crate::choice::{Menu, Site};
use crate::memory::{Cx, LocalMemory, Memory, Stores, Trouble};
use crate::program::env::ProgEnv;
use crate::verdict::{Event, LimitKind, Operation, Place, Rule, Sink, Stop, StuckKind, Who};
use pulp::Simd;

/// Micro steps between two looks at the clock.
const PATIENCE: u32 = 1 << 14;

/// The blocks that are resident, and which of their warps can step.
struct Resident<C> {
    launch: u32,
    blocks: Vec<Option<Block<C>>>,
    ready: Vec<u64>,
    per_block: usize,
}

impl<C> Resident<C> {
    fn slot(&self, who: Who) -> Option<usize> {
        let here = |b: &Option<Block<C>>| b.as_ref().is_some_and(|b| b.linear == who.block);
        (who.launch == self.launch).then(|| self.blocks.iter().position(here)).flatten()
    }

    fn block(&mut self, who: Who) -> Option<&mut Block<C>> {
        let slot = self.slot(who)?;
        self.blocks.get_mut(slot)?.as_mut()
    }

    fn set(&mut self, index: usize, on: bool) {
        if self.ready.len() <= index / 64 {
            self.ready.resize(index / 64 + 1, 0);
        }
        if let Some(word) = self.ready.get_mut(index / 64) {
            *word = *word & !(1 << (index % 64)) | u64::from(on) << (index % 64);
        }
    }

    fn any_ready(&self) -> bool {
        self.ready.iter().any(|w| *w != 0)
    }

    fn count(&self) -> usize {
        self.blocks.iter().flatten().count()
    }
}

impl<C> Stores for Resident<C> {
    fn frame(&mut self, who: Who, depth: u32) -> Option<&mut Frame> {
        self.block(who)?.warps.get_mut(who.warp as usize)?.frames.get_mut(depth as usize)
    }

    fn shared(&mut self, launch: u32, block: u64) -> Option<&mut [u8]> {
        Some(&mut self.block(Who { launch, block, warp: 0 })?.shared[..])
    }

    fn local(&mut self, who: Who) -> Option<&mut LocalMemory> {
        Some(&mut self.block(who)?.warps.get_mut(who.warp as usize)?.local)
    }
}

/// A grid being run.
struct Running<'a, C, M> {
    env: &'a ProgEnv,
    loaded: &'a Loaded,
    mem: &'a mut M,
    all: Resident<C>,
    /// The next block to be issued, of how many.
    next: u64,
    total: u64,
    /// Blocks that may be resident.
    room: usize,
    stats: Stats,
    schedule: Schedule,
    woken: Vec<Who>,
    /// Which warp stepped last, and whether it used its lease up.
    last: Option<(u32, bool)>,
}

/// Runs a grid to its end.
#[inline(always)]
pub(super) fn run<V: Simd, C: Control, M: Memory, S: Sink>(simd: V, go: Go<'_, '_, C, M, S>) -> Result<Stats, Stop> {
    let Go { env, loaded, mem, cx, mut budget, clock, residents, .. } = go;
    let launch = loaded.number;
    let all = Resident { launch, blocks: Vec::new(), ready: Vec::new(), per_block: loaded.warps() as usize };
    let mut grid = Running::<C, M> {
        env,
        loaded,
        mem,
        all,
        next: 0,
        total: loaded.grid.iter().map(|n| u64::from(*n)).product(),
        room: residents,
        stats: Stats::default(),
        schedule: Schedule::default(),
        woken: Vec::new(),
        last: None,
    };
    let first = Who { launch, block: 0, warp: 0 };
    if S::ON {
        cx.sink.event(first, Event::Launch { tokens: !C::JOINS })?;
        for rule in [Rule::ContextExec, Rule::GridExec] {
            cx.sink.event(first, Event::Fired(rule))?;
        }
    }
    loop {
        grid.issue(cx)?;
        grid.macro_step(&mut budget, cx)?;
        grid.issue(cx)?;
        match grid.turn(cx)? {
            Some((index, lease)) => grid.step(simd, index, lease, clock, &mut budget, cx)?,
            None if grid.all.count() == 0 && grid.next == grid.total => break,
            None => return Err(grid.stuck()),
        }
    }
    if S::ON {
        for rule in [Rule::GridCompl, Rule::ContextCompl] {
            cx.sink.event(first, Event::Fired(rule))?;
        }
    }
    Ok(grid.stats)
}

impl<C: Control, M: Memory> Running<'_, C, M> {
    /// Issues blocks while there is room.
    fn issue<S: Sink>(&mut self, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
        while self.next < self.total && self.all.count() < self.room {
            if S::ON {
                let who = Who { launch: self.loaded.number, block: self.next, warp: 0 };
                cx.sink.event(who, Event::Block)?;
                cx.sink.event(who, Event::Fired(Rule::ContextIssue))?;
            }
            let blocks = &mut self.all.blocks;
            let slot = blocks.iter().position(Option::is_none).unwrap_or_else(|| {
                blocks.push(None);
                blocks.len() - 1
            });
            let sm = u32::try_from(slot).unwrap_or(0) % self.loaded.sms.max(1);
            let mut block = Block::<C>::default();
            block.issue(self.env, self.loaded, self.next, sm);
            if S::ON {
                block.warps.iter_mut().for_each(|w| w.control.trace(true));
            }
            if let Some(place) = self.all.blocks.get_mut(slot) {
                *place = Some(block);
            }
            for w in 0..self.all.per_block {
                self.all.set(slot * self.all.per_block + w, true);
            }
            self.next += 1;
        }
        Ok(())
    }

    /// What memory does between two turns.
    fn macro_step<S: Sink>(&mut self, budget: &mut Budget<'_>, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
        let mut now = Now { can_end: self.all.any_ready(), spent: self.last.is_some_and(|(_, spent)| spent) };
        let mut patience = PATIENCE;
        loop {
            match macro_step::go_on(self.mem, &mut self.all, &mut self.schedule, now, cx) {
                Ok(Went::Ended | Went::Stuck) => return Ok(()),
                Ok(Went::On) => {}
                Err(Halted::Stop(stop)) => return Err(stop),
                Err(Halted::Trouble(trouble)) => return Err(self.at_fault(*trouble)),
            }
            let mut woken = std::mem::take(&mut self.woken);
            self.mem.woken(&mut woken);
            for who in woken.drain(..) {
                self.wake(who, cx)?;
            }
            self.woken = woken;
            now = Now { can_end: self.all.any_ready(), spent: false };
            patience -= 1;
            if patience == 0 {
                patience = PATIENCE;
                if let Some(limit) = (budget.time_up)() {
                    return Err(Stop::Limit(limit));
                }
            }
        }
    }

    /// Looks again at a warp that memory has done something for.
    fn wake<S: Sink>(&mut self, who: Who, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
        let Some(slot) = self.all.slot(who) else { return Ok(()) };
        let Some(Some(block)) = self.all.blocks.get_mut(slot) else { return Ok(()) };
        let (sm, complete) = (block.sm, block.running == 0);
        if let Some(warp) = block.warps.get_mut(who.warp as usize)
            && warp.control.runnable()
        {
            let goes = can_be_scheduled(warp, who, sm, &self.loaded.uses, self.mem);
            self.all.set(slot * self.all.per_block + who.warp as usize, goes);
        }
        if complete { self.complete(slot, cx) } else { Ok(()) }
    }

    /// Whose turn it is; forced moves do not reach the oracle. `None`: nobody is ready.
    fn turn<S: Sink>(&mut self, cx: &mut Cx<'_, S>) -> Result<Option<(usize, u32)>, Stop> {
        let ready = &self.all.ready;
        let mut words = ready.iter().enumerate().filter(|(_, w)| **w != 0);
        let Some((k, &word)) = words.next() else { return Ok(None) };
        if word & (word - 1) == 0 && words.next().is_none() {
            return Ok(Some((k * 64 + word.trailing_zeros() as usize, ALONE)));
        }
        let pick = cx.oracle.choose(Menu { site: Site::Warp, ready, last: self.last })?;
        Ok(Some((pick.index as usize, pick.lease.get())))
    }

    /// A warp's turn.
    #[inline(always)]
    fn step<V: Simd, S: Sink>(
        &mut self,
        simd: V,
        index: usize,
        lease: u32,
        clock: u64,
        budget: &mut Budget<'_>,
        cx: &mut Cx<'_, S>,
    ) -> Result<(), Stop> {
        let (env, loaded) = (self.env, self.loaded);
        let (slot, w) = (index / self.all.per_block, index % self.all.per_block);
        let Some(Some(block)) = self.all.blocks.get_mut(slot) else { return Ok(()) };
        let Block { warps, barriers, shared, index: place, linear, sm, live, .. } = block;
        let Some(warp) = warps.get_mut(w) else { return Ok(()) };
        let who = Who { launch: loaded.number, block: *linear, warp: warp.index };
        let sm = *sm;
        let mut sh = Shared {
            env,
            loaded,
            barriers,
            shared: &mut shared[..],
            map: env.addresses(),
            who,
            block: *place,
            sm,
            clock: clock + self.stats.warp_instructions,
            threads: 0,
            turn: 0,
            exited: 0,
        };
        if S::ON {
            cx.sink.event(who, Event::Fired(Rule::BlockExec))?;
        }
        let fuel = u32::try_from(u64::from(lease).min(budget.steps)).unwrap_or(lease);
        let outcome = warp::run(simd, warp, &mut sh, self.mem, fuel, cx);
        *live -= sh.exited;
        self.stats.thread_instructions = self.stats.thread_instructions.wrapping_add(sh.threads);
        let (done, used) = match outcome {
            Ok(o) => o,
            Err(halt) => return Err(block.stop(env, loaded, who.warp, *halt)),
        };
        self.stats.warp_instructions += u64::from(used);
        budget.steps -= u64::from(used);
        let spent = done == Yield::Fuel;
        self.last = Some((u32::try_from(index).unwrap_or(0), spent));
        match done {
            Yield::Fuel => {
                let goes = can_be_scheduled(warp, who, sm, &loaded.uses, self.mem);
                self.all.set(index, goes);
                if budget.steps == 0 {
                    return Err(Stop::Limit(LimitKind::Steps(budget.limit)));
                }
                (budget.time_up)().map_or(Ok(()), |limit| Err(Stop::Limit(limit)))
            }
            Yield::Blocked => {
                self.all.set(index, false);
                Ok(())
            }
            Yield::Done | Yield::Barrier | Yield::Members => {
                if done == Yield::Done {
                    block.running -= 1;
                }
                self.all.set(index, false);
                self.settle(slot, who, cx)
            }
        }
    }

    /// A warp has stopped by itself: ends barriers, drops a block that is complete.
    fn settle<S: Sink>(&mut self, slot: usize, who: Who, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
        let Some(Some(Block { barriers, warps, live, running, .. })) = self.all.blocks.get_mut(slot) else {
            return Ok(());
        };
        let (mut ended, mut freed) = (Vec::new(), Vec::new());
        end_barriers(barriers, warps, *live, |w| freed.push(w), |id, reduced| ended.push((id, reduced)));
        let complete = *running == 0;
        if S::ON {
            super::device::tell_barriers(&ended, who, cx)?;
        }
        for warp in freed {
            self.wake(Who { warp, ..who }, cx)?;
        }
        if complete { self.complete(slot, cx) } else { Ok(()) }
    }

    /// Drops a block whose warps are done, once its operations have ended.
    fn complete<S: Sink>(&mut self, slot: usize, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
        let Some(place) = self.all.blocks.get_mut(slot) else { return Ok(()) };
        let Some(block) = place else { return Ok(()) };
        let who = Who { launch: self.loaded.number, block: block.linear, warp: 0 };
        if self.mem.in_flight(who.launch, Some(who.block)) {
            return Ok(());
        }
        *place = None;
        self.mem.retire(who.launch, who.block);
        self.stats.blocks += 1;
        if S::ON {
            cx.sink.event(who, Event::BlockDone)?;
            cx.sink.event(who, Event::Fired(Rule::BlockCompl))?;
        }
        Ok(())
    }

    /// Where lanes of a warp issued an operation.
    fn place(&self, who: Who, lanes: LaneMask, pc: Pc) -> Place {
        let block = self.all.slot(who).and_then(|s| self.all.blocks.get(s)).and_then(Option::as_ref);
        block.map_or_else(Place::default, |b| b.place(self.env, self.loaded, who.warp, lanes, pc))
    }

    /// Completes what memory said when it stopped.
    fn at_fault(&self, trouble: Trouble) -> Stop {
        let Trouble { at, lanes, fault } = trouble;
        let block = self.all.slot(at.who).and_then(|s| self.all.blocks.get(s)).and_then(Option::as_ref);
        let halt = Halt { why: Why::Fault(fault), pc: at.pc, lanes };
        block.map_or_else(
            || Stop::Stuck(Box::new(StuckKind::TokenStack { place: Place::default() })),
            |b| b.stop(self.env, self.loaded, at.who.warp, halt),
        )
    }

    /// Why nothing can step.
    fn stuck(&self) -> Stop {
        let operations: Vec<Operation> = self
            .mem
            .describe()
            .into_iter()
            .map(|o| Operation {
                place: self.place(o.at.who, o.lanes, o.at.pc),
                program: o.program,
                file: o.file,
                line: o.line,
            })
            .collect();
        let waits = self.all.blocks.iter().flatten().find(|b| b.running > 0);
        match waits {
            Some(block) if operations.is_empty() => block.stuck(self.env, self.loaded),
            _ => Stop::Stuck(Box::new(StuckKind::Operations { operations })),
        }
    }
}

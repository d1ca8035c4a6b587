//! A context's step where memory acts on its own (report, 5.8.3): a macro step of memory, then a step of a warp.
//!
//! Departures from the turns of `grid`, which are for memory that completes every request at once: a warp takes part only
//! while it can be scheduled (D-ready), a block completes when its operations have ended, and a macro step comes before each
//! turn ([`macro_step`]). The oracle's lease of a turn is a number of device steps whose macro steps are empty. Blocks are
//! issued as soon as there is room: a block whose warps do not step yet cannot be told from one that is not issued. Both
//! share the rules of warp, block and grid.

use super::aside::Aside;
use super::books::Books;
use super::config::Config;
use super::context_state::{ContextState, Resident, Stepped};
use super::control::Control;
use super::grid::{ALONE, Grid, book, tell_barriers};
use super::macro_step::{self, Halted, Now, Schedule, Went};
use super::message::Program;
use super::processors::Processors;
use super::warp::{self, Halt, Shared, Why, Yield, can_be_scheduled};
use super::watched::Watched;
use crate::choice::{Menu, Names, Site};
use crate::memory::{Cx, Environment, Fault, InFlight, Memory, Trouble};
use crate::verdict::{Event, LimitKind, Operation, Rule, Sink, Stop, Who};
use pulp::Simd;

/// What is kept between steps.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    schedule: Schedule,
    woken: Aside<Vec<Who>>,
}

/// One step of a context: what memory does, and one turn of a warp.
#[inline(always)]
pub(super) fn exec<V: Simd, C: Control, M: Environment, S: Watched>(
    simd: V,
    state: &mut ContextState<C, M>,
    config: &Config,
    hold: u64,
    cx: &mut Cx<'_, S>,
    books: &mut Books<'_>,
) -> Result<Stepped, Stop> {
    issue(state, config, cx)?;
    let drains = state.drains();
    let moved = macro_step(state, config, books, cx)?;
    if drains {
        return Ok(if moved { Stepped::On(false) } else { Stepped::Nothing });
    }
    let issued = issue(state, config, cx)?;
    if let Some(grid) = state.grids.iter_mut().find(|g| !g.completed && g.done()) {
        grid.complete(cx)?;
        return Ok(Stepped::On(false));
    }
    let Some((at, index, lease)) = turn(state, cx)? else {
        return Ok(if moved || issued { Stepped::On(false) } else { Stepped::Nothing });
    };
    let fuel = if books.small { 1 } else { u64::from(lease) };
    let held = if books.whole_turns { u64::MAX } else { hold };
    let fuel = u32::try_from(fuel.min(books.budget.steps).min(held)).unwrap_or(lease);
    let spent = step(simd, state, at, index, fuel, cx, books)?;
    Ok(Stepped::On(spent))
}

/// Issues blocks while there is room. Tells whether any was issued.
fn issue<C: Control, M: Environment, S: Sink>(
    state: &mut ContextState<C, M>,
    config: &Config,
    cx: &mut Cx<'_, S>,
) -> Result<bool, Stop> {
    let mut any = false;
    loop {
        let room = state.room(config);
        let mut can = vec![0; state.grids.len().div_ceil(64)];
        for (k, _) in state.grids.iter().enumerate().filter(|(_, g)| g.can_issue(&state.processors, room)) {
            can[k / 64] |= 1 << (k % 64);
        }
        let names = state.names();
        let menu = Menu::of(Site::Grid, &can).named(Names::Each(&names));
        let at = match menu.arity() {
            0 => return Ok(any),
            1 => menu.nth(0),
            _ => cx.oracle.choose(menu)?.index,
        };
        let ContextState { grids, processors, programs, .. } = &mut *state;
        let Some(grid) = grids.get_mut(at as usize) else { return Ok(any) };
        let Some(program) = programs.get(grid.program.0 as usize) else { return Ok(any) };
        let sm = grid.processor::<M>(processors, cx.oracle)?;
        grid.issue_on(&program.program.0, processors, sm, cx)?;
        any = true;
    }
}

/// Whether something other than memory can happen: a warp is ready, or an operation's end has made room for a block, whose
/// warps need not wait for memory.
fn can_end<C: Control, M: Environment>(state: &ContextState<C, M>, config: &Config) -> bool {
    let room = || state.room(config);
    let issues = |g: &Grid<C>| g.can_issue(&state.processors, room());
    state.grids.iter().any(|g| g.ready.iter().any(|w| *w != 0) || issues(g))
}

/// What memory does between two turns. Tells whether it did anything.
fn macro_step<C: Control, M: Environment, S: Sink>(
    state: &mut ContextState<C, M>,
    config: &Config,
    books: &mut Books<'_>,
    cx: &mut Cx<'_, S>,
) -> Result<bool, Stop> {
    let spent = state.last.is_some_and(|(_, spent)| spent);
    let can_end = |state: &ContextState<C, M>| !state.drains() && can_end(state, config);
    let mut now = Now { can_end: can_end(state), spent };
    let mut moved = false;
    loop {
        if S::ON && books.states {
            cx.sink.event(Who::default(), Event::State(super::digest::of_context(state)))?;
        }
        let ContextState { memory, grids, leaving, processors, kept, .. } = &mut *state;
        match macro_step::go_on(memory, &mut Resident(grids, leaving), &mut kept.schedule, now, cx) {
            Ok(Went::Ended | Went::Stuck) => return Ok(moved),
            Ok(Went::On) => moved = true,
            Err(Halted::Stop(stop)) => return Err(stop),
            Err(Halted::Trouble(trouble)) => return Err(at_fault(state, *trouble)),
        }
        let mut woken = std::mem::take(&mut kept.woken.0);
        memory.woken(&mut woken);
        for who in woken.drain(..) {
            let Some(grid) = grids.iter_mut().find(|g| g.id.0 == who.launch) else { continue };
            Around { memory: &mut *memory, processors: &mut *processors, cx: &mut *cx, books: &mut *books }
                .wake(grid, who)?;
        }
        kept.woken.0 = woken;
        if !state.leaving.is_empty() {
            state.forget_left();
        }
        now = Now { can_end: can_end(state), spent: false };
        if let Some(limit) = books.budget.spend(0) {
            return Err(Stop::Limit(limit));
        }
    }
}

/// What a grid's blocks need of the context while they wake, settle and end.
struct Around<'r, 'c, 'b, M, S> {
    memory: &'r mut M,
    processors: &'r mut Processors,
    cx: &'r mut Cx<'c, S>,
    books: &'r mut Books<'b>,
}

impl<M: Memory, S: Sink> Around<'_, '_, '_, M, S> {
    /// Looks again at a warp that memory has done something for.
    fn wake<C: Control>(&mut self, grid: &mut Grid<C>, who: Who) -> Result<(), Stop> {
        let Some(slot) = grid.slot(who.block) else { return Ok(()) };
        let Grid { blocks, loaded, .. } = &mut *grid;
        let Some(Some(block)) = blocks.get_mut(slot) else { return Ok(()) };
        let (sm, complete) = (block.sm, block.running == 0);
        if let Some(warp) = block.warps.get_mut(who.warp as usize)
            && warp.control.runnable()
        {
            let can = can_be_scheduled(warp, who, sm, &loaded.uses, self.memory);
            grid.mark(slot, who.warp, can);
        }
        if complete { self.drop_complete(grid, slot) } else { Ok(()) }
    }

    /// Drops a block whose warps are done, once its operations have ended.
    fn drop_complete<C: Control>(&mut self, grid: &mut Grid<C>, slot: usize) -> Result<(), Stop> {
        let Some(Some(block)) = grid.blocks.get(slot) else { return Ok(()) };
        let who = Who { launch: grid.id.0, block: block.linear, warp: 0 };
        if self.memory.in_flight(who.launch, Some(who.block)) {
            return Ok(());
        }
        grid.drop_block(slot, self.processors);
        self.memory.retire(who.launch, who.block);
        book(self.books.stats, grid.id, super::Stats { blocks: 1, ..Default::default() });
        if S::ON {
            self.cx.sink.event(who, Event::BlockDone)?;
            self.cx.sink.fire(who, Rule::BlockCompl)?;
        }
        Ok(())
    }

    /// A warp has made its steps: ends barriers, drops a block that is complete.
    fn settle<C: Control>(&mut self, grid: &mut Grid<C>, slot: usize, who: Who) -> Result<(), Stop> {
        let Some(Some(block)) = grid.blocks.get_mut(slot) else { return Ok(()) };
        let (mut ended, mut freed) = (Vec::new(), Vec::new());
        let tell = |id, reduced| ended.push((id, reduced));
        super::block::end_barriers(&mut block.barriers, &mut block.warps, block.live, |w| freed.push(w), tell);
        let complete = block.running == 0;
        if S::ON {
            tell_barriers(&ended, who, self.cx)?;
        }
        for warp in freed {
            self.wake(grid, Who { warp, ..who })?;
        }
        if complete { self.drop_complete(grid, slot) } else { Ok(()) }
    }
}

/// Whose turn it is: the grid's place, the warp's number in it, the lease. Forced moves do not reach the oracle. `None`:
/// nobody is ready.
fn turn<C: Control, M: Environment, S: Sink>(
    state: &mut ContextState<C, M>,
    cx: &mut Cx<'_, S>,
) -> Result<Option<(usize, usize, u32)>, Stop> {
    let mut ready = vec![0; state.grids.len().div_ceil(64)];
    for (k, _) in state.grids.iter().enumerate().filter(|(_, g)| g.ready.iter().any(|w| *w != 0)) {
        ready[k / 64] |= 1 << (k % 64);
    }
    let names = state.names();
    let menu = Menu::of(Site::Grid, &ready).after(state.last).named(Names::Each(&names));
    let (at, most) = match menu.arity() {
        0 => return Ok(None),
        1 => (menu.nth(0) as usize, ALONE),
        _ => {
            let pick = cx.oracle.choose(menu)?;
            (pick.index as usize, pick.lease.get())
        }
    };
    let Some(grid) = state.grids.get(at) else { return Ok(None) };
    let menu = Menu::of(Site::Warp, &grid.ready).after(grid.last).named(Names::Warps(&grid.issued, grid.shift));
    // How far one warp goes before memory does is a choice, too, where some of its lanes may go on while others wait: whom
    // they meet depends on it. Lanes that cannot meet go on as far as they can, which loses nothing.
    if menu.arity() < 2 && !C::JOINS {
        return Ok(Some((at, menu.nth(0) as usize, most)));
    }
    let pick = cx.oracle.choose(menu)?;
    Ok(Some((at, pick.index as usize, pick.lease.get().min(most))))
}

/// A warp's turn. Tells whether it used its fuel up.
#[inline(always)]
fn step<V: Simd, C: Control, M: Environment, S: Watched>(
    simd: V,
    state: &mut ContextState<C, M>,
    at: usize,
    index: usize,
    fuel: u32,
    cx: &mut Cx<'_, S>,
    books: &mut Books<'_>,
) -> Result<bool, Stop> {
    let ContextState { grids, memory, programs, processors, .. } = &mut *state;
    let Some(grid) = grids.get_mut(at) else { return Ok(false) };
    let Some(Program(env)) = programs.get(grid.program.0 as usize).map(|p| &p.program) else { return Ok(false) };
    let (slot, w) = (index >> grid.shift, index & ((1 << grid.shift) - 1));
    let (id, launch) = (grid.id, grid.id.0);
    let Grid { blocks, loaded, .. } = &mut *grid;
    let Some(Some(block)) = blocks.get_mut(slot) else { return Ok(false) };
    let Some(warp) = block.warps.get_mut(w) else { return Ok(false) };
    let who = Who { launch, block: block.linear, warp: warp.index };
    let sm = block.sm;
    let mut sh = Shared {
        env,
        loaded,
        barriers: &mut block.barriers,
        shared: &mut block.shared[..],
        map: env.addresses(),
        who,
        block: block.index,
        sm,
        clock: books.clock,
        threads: 0,
        turn: 0,
        exited: 0,
    };
    if S::ON {
        for rule in [Rule::ContextExec, Rule::GridExec, Rule::BlockExec] {
            cx.sink.fire(who, rule)?;
        }
    }
    let outcome = warp::run(simd, warp, &mut sh, memory, fuel, cx);
    block.live -= sh.exited;
    let mut stats = super::Stats { thread_instructions: sh.threads, ..Default::default() };
    let (done, used) = match outcome {
        Ok(outcome) => outcome,
        Err(halt) => {
            book(books.stats, id, stats);
            return Err(block.stop(env, loaded, who.warp, *halt));
        }
    };
    stats.warp_instructions = u64::from(used);
    book(books.stats, id, stats);
    books.clock += u64::from(used);
    let limit = books.budget.spend(u64::from(used));
    let spent = done == Yield::Fuel;
    let can = spent && can_be_scheduled(warp, who, sm, &loaded.uses, memory);
    block.running -= u32::from(done == Yield::Done);
    // Also after the last step of a lease: nobody may come to a barrier that is complete.
    let settles = block.barriers.any() || matches!(done, Yield::Done | Yield::Barrier | Yield::Members);
    grid.last = Some((u32::try_from(index).unwrap_or(0), spent));
    grid.mark(slot, who.warp, can);
    if let Some(limit) = limit {
        return Err(Stop::Limit(limit));
    }
    if spent && books.budget.steps == 0 {
        return Err(Stop::Limit(LimitKind::Steps(books.budget.limit)));
    }
    if settles {
        Around { memory, processors, cx, books }.settle(grid, slot, who)?;
    }
    Ok(spent)
}

/// Completes what memory said when it stopped.
pub(super) fn at_fault<C: Control, M: Environment>(state: &ContextState<C, M>, trouble: Trouble) -> Stop {
    let Trouble { at, lanes, fault } = trouble;
    match (state.owner(at.who), fault) {
        (Some((env, grid, block)), fault) => {
            block.stop(env, &grid.loaded, at.who.warp, Halt { why: Why::Fault(fault), pc: at.pc, lanes })
        }
        // Silent rules are nobody's.
        (None, Fault::Stop(stop)) => stop,
        (None, Fault::Limit(limit)) => Stop::Limit(limit),
        (None, Fault::Bug(..) | Fault::Program(_)) => {
            Stop::internal("a memory operation is at fault whose warp is gone", None)
        }
    }
}

/// The operations in flight, for a report.
pub(super) fn operations<C: Control, M: Environment>(state: &ContextState<C, M>) -> Result<Vec<Operation>, Stop> {
    let operation = |InFlight { at, lanes, program, file, line }| {
        let gone = || Stop::internal("a memory operation is in flight whose warp is gone", None);
        let place = state.place(at.who, lanes, at.pc).ok_or_else(gone)?;
        Ok(Operation { place, program, file, line })
    };
    state.memory.describe().into_iter().map(operation).collect()
}

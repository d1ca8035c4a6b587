//! A context's step where memory acts on its own (report, 5.8.3): a macro step of memory, then a step of a warp.
//!
//! Departures from the turns of `grid`, which are for memory that completes every request at once: a warp takes part only
//! while it can be scheduled (D-ready), a block completes when its operations have ended, and a macro step comes before each
//! turn ([`macro_step`]). The oracle's lease of a turn is a number of device steps whose macro steps are empty. Blocks are
//! issued as soon as there is room: a block whose warps do not step yet cannot be told from one that is not issued. Both
//! share the rules of warp, block and grid.

use crate::choice::{Menu, Names, Site};
use crate::machine::block::step::{Executing, Turn, put};
use crate::machine::books::{Books, Stats};
use crate::machine::config::Config;
use crate::machine::context::fault::at_fault;
use crate::machine::context::macro_step;
use crate::machine::context::macro_step::{Halted, Now, Went};
use crate::machine::context::processors::Processors;
use crate::machine::context::resident::Resident;
use crate::machine::context::state::{ContextState, Stepped};
use crate::machine::control::Control;
use crate::machine::device::message::Program;
use crate::machine::grid::state::{ALONE, Grid};
use crate::machine::warp::ready::can_be_scheduled;
use crate::machine::warp::state::Yield;
use crate::memory::{Cx, Environment, Memory};
use crate::verdict::{Rule, Sink, Stop, Who};

/// One step of a context: what memory does, and one turn of a warp.
#[inline(always)]
pub(in crate::machine) fn exec<C: Control, M: Environment, S: Sink>(
    state: &mut ContextState<C, M>,
    config: &Config,
    hold: u64,
    cx: &mut Cx<'_, S>,
    books: &mut Books<'_>,
) -> Result<Stepped, Stop> {
    issue(state, config, cx)?;
    let drains = state.drains();
    let moved = macro_step(state, config, books, cx)?;
    if drains || moved && books.single {
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
    let spent = step(state, at, index, books.fuel(lease, hold), cx, books)?;
    state.kept.schedule.spent = spent && state.memory.has_copies();
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
        let can = |g: &Grid<C>| g.can_issue(&state.processors, room);
        let Some((at, _)) = state.which(can, None, cx.oracle)? else { return Ok(any) };
        let ContextState { grids, processors, programs, memory, .. } = &mut *state;
        let Some(grid) = grids.get_mut(at) else { return Ok(any) };
        let Some(program) = programs.get(grid.program.0 as usize) else { return Ok(any) };
        let sm = grid.processor(memory.has_caches(), processors, cx.oracle)?;
        grid.issue(&program.program.0, processors, sm, cx)?;
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
    let spent = state.kept.schedule.spent || state.last.is_some_and(|(_, spent)| spent);
    let can_end = |state: &ContextState<C, M>| !state.drains() && can_end(state, config);
    let mut now = Now { can_end: can_end(state), spent };
    let mut moved = false;
    loop {
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
            wake(grid, who, memory, processors, cx, books)?;
        }
        kept.woken.0 = woken;
        if !state.leaving.is_empty() {
            state.forget_left();
        }
        now = Now { can_end: can_end(state), spent: false };
        if let Some(limit) = books.budget.spend(0) {
            return Err(Stop::Limit(limit));
        }
        if books.single {
            return Ok(moved);
        }
    }
}

/// Looks again at a warp that memory has done something for, and drops its block if that was the last of it.
fn wake<C: Control, M: Memory, S: Sink>(
    grid: &mut Grid<C>,
    who: Who,
    memory: &mut M,
    processors: &mut Processors,
    cx: &mut Cx<'_, S>,
    books: &mut Books<'_>,
) -> Result<(), Stop> {
    let Some(slot) = grid.slot(who.block) else { return Ok(()) };
    let Grid { blocks, loaded, ready, shift, .. } = &mut *grid;
    let Some(Some(block)) = blocks.get_mut(slot) else { return Ok(()) };
    if let Some(warp) = block.warps.get_mut(who.warp as usize)
        && warp.control.runnable()
    {
        put(ready, slot << *shift, who.warp, can_be_scheduled(warp, who, block.sm, &loaded.uses, memory));
    }
    if block.running == 0 && grid.end_block(slot, false, (memory, processors), cx)? {
        books.book(grid.id, Stats { blocks: 1, ..Stats::default() });
    }
    Ok(())
}

/// Whose turn it is: the grid's place, the warp's number in it, the lease. Forced moves do not reach the oracle. `None`:
/// no warp is ready.
fn turn<C: Control, M: Environment, S: Sink>(
    state: &ContextState<C, M>,
    cx: &mut Cx<'_, S>,
) -> Result<Option<(usize, u32, u32)>, Stop> {
    let ready = |g: &Grid<C>| g.ready.iter().any(|w| *w != 0);
    let Some((at, lease)) = state.which(ready, state.last, cx.oracle)? else { return Ok(None) };
    let Some(grid) = state.grids.get(at) else { return Ok(None) };
    let menu = Menu::of(Site::Warp, &grid.ready).after(grid.last).named(Names::Warps(&grid.issued, grid.shift));
    let most = lease.unwrap_or(ALONE);
    // How far one warp goes before memory does is a choice, too, where some of its lanes may go on while others wait: whom
    // they meet depends on it. Lanes that cannot meet go on as far as they can, which loses nothing.
    if menu.arity() < 2 && !C::JOINS {
        return Ok(Some((at, menu.nth(0), most)));
    }
    let pick = cx.oracle.choose(menu)?;
    Ok(Some((at, pick.index, pick.lease.get().min(most))))
}

/// A warp's turn. Tells whether it used its fuel up.
#[inline(always)]
fn step<C: Control, M: Environment, S: Sink>(
    state: &mut ContextState<C, M>,
    at: usize,
    index: u32,
    fuel: u32,
    cx: &mut Cx<'_, S>,
    books: &mut Books<'_>,
) -> Result<bool, Stop> {
    let ContextState { grids, memory, programs, processors, .. } = &mut *state;
    let Some(grid) = grids.get_mut(at) else { return Ok(false) };
    let Some(Program(env)) = programs.get(grid.program.0 as usize).map(|p| &p.program) else { return Ok(false) };
    let Grid { id, blocks, loaded, ready, shift, last, .. } = &mut *grid;
    let (slot, w) = (index as usize >> *shift, index & !(!0 << *shift));
    let Some(Some(block)) = blocks.get_mut(slot) else { return Ok(false) };
    let who = Who { launch: id.0, block: block.linear, warp: w };
    if S::ON {
        cx.sink.fire(who, Rule::ContextExec)?;
        cx.sink.fire(who, Rule::GridExec)?;
    }
    let mut block_at = Executing::of(block, env, loaded, id.0);
    block_at.sh.clock = books.clock;
    let outcome = block_at.step(w as usize, memory, cx, Turn { fuel, ready, base: slot << *shift, begun: None });
    let mut stats = Stats { thread_instructions: block_at.sh.threads, ..Stats::default() };
    let over = block_at.over();
    let (why, used) = match outcome {
        Ok(outcome) => outcome,
        Err(halt) => {
            books.book(*id, stats);
            return Err(block.stop(env, loaded, w, *halt));
        }
    };
    let spent = why == Yield::Fuel;
    *last = Some((index, spent));
    stats.warp_instructions = used.into();
    let limit = books.turn(used, spent);
    if limit.is_none() && over && grid.end_block(slot, false, (memory, processors), cx)? {
        stats.blocks = 1;
    }
    books.book(grid.id, stats);
    limit.map_or(Ok(spent), |limit| Err(Stop::Limit(limit)))
}

//! A grid runs: its warps take turns, for as long as the pick holds (report, 5.6 and 5.7.1).

use crate::base::mutant::{Mutant, on};
use crate::choice::{Fair, Menu, Names, Oracle, Site};
use crate::machine::block::step;
use crate::machine::block::step::Executing;
use crate::machine::block::turns::{After, Whose};
use crate::machine::books::{Books, Stats};
use crate::machine::config::Engine;
use crate::machine::context::processors::Processors;
use crate::machine::control::Control;
use crate::machine::device::message::Program;
use crate::machine::grid::state::{ALONE, Grid, PRESSURE};
use crate::machine::native::{Session, phases, session, settle};
use crate::machine::warp::state::{Halt, Yield};
use crate::memory::{Cx, Memory};
use crate::program::env::ProgEnv;
use crate::verdict::{LimitKind, Rule, Sink, Stop, Who};

/// Why a grid's turns ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::machine) enum Held {
    /// The pick is used up.
    Spent,
    /// No warp of it is ready, and no block can be issued.
    Idle,
    /// All its blocks are complete.
    Complete,
}

/// What a grid runs with.
pub(in crate::machine) struct Turns<'a, 'b, 'c, M, S> {
    pub program: &'a Program,
    pub processors: &'a mut Processors,
    pub mem: &'a mut M,
    pub cx: &'a mut Cx<'b, S>,
    pub books: &'a mut Books<'c>,
    /// Warp instructions that the pick holds for.
    pub hold: u64,
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

/// Instructions of a turn of warps that run ahead and have nothing to do with each other, so that it makes no difference: a warp
/// hardly has more.
const APART: u32 = 1 << 20;

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
pub(in crate::machine) fn exec<C: Control, M: Memory, S: Sink>(
    grid: &mut Grid<C>,
    with: Turns<'_, '_, '_, M, S>,
) -> Result<Held, Stop> {
    let mut native = Native { session: None, after: u64::MAX, told: 0 };
    // Turns of a random schedule are short: what is compiled would not be worth it.
    let worth = with.books.takes_turns || with.books.engine != Engine::Auto;
    let observed = S::ON && (with.books.watched || with.cx.sink.takes_rows().is_none());
    if M::NATIVE && !observed && !with.books.small && !with.books.single && worth {
        native.look(with.program, grid, with.books, 0, &with.cx.sink);
    }
    let with_counts = with.books.counts_native;
    let ended = exec_with(grid, Turns { books: &mut *with.books, ..with }, &mut native);
    *with.books.native += native.leave(grid);
    if grid.until.is_some() && with_counts && !native.is_plain() {
        // Where native code was left might be another place in memory that is all there.
        return Err(Stop::Limit(LimitKind::Interrupted));
    }
    ended
}

/// A launch's kernel as machine code.
struct Native {
    session: Option<Session>,
    /// Warp instructions of these turns after which it may be compiled.
    after: u64,
    /// How many of them have been told of.
    told: u64,
}

impl Native {
    /// Nothing is held natively any more; gives how many thread instructions were native.
    fn leave<C>(&self, grid: &mut Grid<C>) -> u64 {
        let Some(session) = &self.session else { return 0 };
        let warps = grid.blocks.iter_mut().flatten().flat_map(|block| &mut block.warps);
        warps.for_each(|warp| settle(session, warp));
        session.executed()
    }

    /// Whether the kernel is machine code, and will be.
    fn is_settled(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.visits_are_long())
    }

    /// Whether native code was left nowhere but where it is whatever memory is like.
    fn is_plain(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.visits_are_long() && session.is_plain())
    }

    /// The kernel is interpreted from now on: its visits to native code are too short.
    #[cold]
    #[inline(never)]
    fn give_up<C>(&mut self, grid: &mut Grid<C>) -> u64 {
        let executed = self.leave(grid);
        if let Some(session) = self.session.take() {
            session.give_up();
        }
        executed
    }

    /// Asks for it, when so many warp instructions have been executed in these turns.
    #[cold]
    #[inline(never)]
    fn look<C, S: Sink>(&mut self, program: &Program, grid: &Grid<C>, books: &Books<'_>, executed: u64, sink: &S) {
        match session(&program.0, &grid.loaded, books.engine, executed - self.told, sink.takes_rows()) {
            Ok(session) => (self.session, self.after) = (Some(session), u64::MAX),
            Err(more) => self.after = executed.saturating_add(more),
        }
        self.told = executed;
    }
}

#[inline(always)]
fn exec_with<C: Control, M: Memory, S: Sink>(
    grid: &mut Grid<C>,
    with: Turns<'_, '_, '_, M, S>,
    native: &mut Native,
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
                if books.stops_before(grid.next) && grid.is_between() && native.is_settled() {
                    books.between = true;
                    break Ok(Held::Spent);
                }
                grid.more_blocks(env, processors, cx, books.eager)?;
                next_turn(&grid.ready, grid.last, Names::Warps(&grid.issued, grid.shift), books.takes_turns, cx.oracle)?
            }
        };
        let Some(turn) = chosen else {
            break Ok(if grid.done() { Held::Complete } else { Held::Idle });
        };
        if grid.until.is_none() && native.session.as_ref().is_some_and(Session::is_poor) {
            *books.native += native.give_up(grid);
        }
        if stats.warp_instructions >= native.after {
            native.look(program, grid, books, stats.warp_instructions, &cx.sink);
        }
        match turns(grid, turn, env, mem, cx, books, &mut hold, &mut stats, native, processors)? {
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
                break Err(block.map_or_else(crate::machine::warp::mistakes::nothing_steps, |b| {
                    b.stop(env, &grid.loaded, warp, *halt)
                }));
            }
            Leave::Limit(limit) => break Err(Stop::Limit(limit)),
        }
    };
    if native.session.is_none() && native.after != u64::MAX {
        native.look(program, grid, books, stats.warp_instructions, &cx.sink);
    }
    books.book(grid.id, stats);
    ended
}

/// Turns of one block, as long as it is its warps' turn: leaving the loop costs more than a turn.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "what changes from turn to turn stays in registers")]
fn turns<C: Control, M: Memory, S: Sink>(
    grid: &mut Grid<C>,
    mut turn: Turn,
    env: &ProgEnv,
    mem: &mut M,
    cx: &mut Cx<'_, S>,
    books: &mut Books<'_>,
    hold: &mut u64,
    stats: &mut Stats,
    native: &mut Native,
    processors: &mut Processors,
) -> Result<Leave, Stop> {
    let Grid { id, blocks, issued, ready, shift, next, total, until, apart, last, pressure, loaded, .. } = &mut *grid;
    let (shift, watched) = (*shift, books.watched);
    let slot = turn.index >> shift;
    let base = slot << shift;
    let Some(Some(block)) = blocks.get_mut(slot) else { return Ok(Leave::Grid(Held::Idle)) };
    let mut at = Executing::of(block, env, loaded, id.0);
    at.sh.native = native.session.as_mut();
    let after = native.after;
    // Whether the next turn is that of the next warp, and warps need not be told apart.
    let in_turn = M::NATIVE && at.sh.native.is_some() && books.takes_turns && !*apart;
    let mask = u32::MAX >> (32 - (1_u32 << shift.min(5)));
    let leave = loop {
        let (mut index, mut begun) = (turn.index, None);
        if *apart {
            turn.lease = APART;
        }
        at.sh.clock = books.clock;
        if in_turn {
            let issued = &mut issued[slot..=slot];
            let (eager, total) = (books.eager, books.end(*next, until.unwrap_or(*total)));
            let after = After { next, total, issued, pressure, processors, eager };
            let whose = Whose { warp: index - base, lease: turn.lease, hold: &mut *hold, ready, base, mask, after };
            let ended = match phases(&mut at, whose, mem, cx, books, stats) {
                Ok(turns) => turns,
                Err(halt) => break Leave::Halt(at.sh.who.warp, halt),
            };
            let before = ended.last.map(|warp| base + warp);
            if let Some(before) = before {
                *last = Some((u32::try_from(before).unwrap_or(0), false));
            }
            if let Some(limit) = ended.limit {
                break Leave::Limit(limit);
            }
            if at.over() {
                break Leave::Complete(slot);
            }
            begun = ended.begun;
            if let Some(part) = &begun {
                index = base + part.warp;
            } else if before.is_some() {
                match next_turn(ready, *last, Names::Warps(issued, shift), books.takes_turns, cx.oracle)? {
                    Some(t) if t.index >> shift == slot => turn = t,
                    other => break Leave::Turn(other),
                }
                continue;
            }
        }
        let (fuel, before) = match &begun {
            None => (books.fuel(turn.lease, *hold), 0),
            Some(part) => (part.left, part.lanes.used),
        };
        at.sh.clock = books.clock + u64::from(before);
        let how = step::Turn { fuel, ready, base, begun: begun.map(|part| part.lanes) };
        let (why, used) = match at.step(index - base, mem, cx, how) {
            Ok((why, used)) => (why, before + used),
            Err(halt) => break Leave::Halt(at.sh.who.warp, halt),
        };
        let spent = why == Yield::Fuel;
        *last = Some((u32::try_from(index).unwrap_or(0), spent));
        stats.warp_instructions += u64::from(used);
        *hold = hold.saturating_sub(u64::from(used));
        // Who is behind turns that run out is only asked while blocks wait.
        if spent && *next < *total {
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
        if *next < *total && *pressure >= PRESSURE {
            break Leave::Turn(None);
        }
        match next_turn(ready, *last, Names::Warps(issued, shift), books.takes_turns, cx.oracle)? {
            Some(t) if t.index >> shift == slot && stats.warp_instructions < after => turn = t,
            other => break Leave::Turn(other),
        }
    };
    stats.thread_instructions = stats.thread_instructions.wrapping_add(at.sh.threads);
    Ok(leave)
}

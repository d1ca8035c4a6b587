//! The device: blocks are issued to it and its warps are scheduled (report, 5.6 to 5.8, as far as one grid at a time needs
//! them).
//!
//! Blocks are made when they are issued and reused when they complete, so memory grows with what is resident, not with
//! the grid. Which warp steps, and whether another block is issued already, is the oracle's choice.

use super::block::{Block, end_barriers};
use super::control::Control;
use super::loaded::Loaded;
use super::warp::{self, Halt, Shared, Yield};
use super::watch::{Found, Schedule, Watch};
use crate::base::mutant::{Mutant, on};
use crate::choice::{Menu, Oracle, Site};
use crate::memory::{Cx, Memory};
use crate::program::env::ProgEnv;
use crate::verdict::{Event, LimitKind, Place, Rule, Sink, Stop, StuckKind, Who};
use pulp::{Simd, WithSimd};

/// Instructions that a warp may execute when nothing else is ready.
pub(super) const ALONE: u32 = 1 << 14;
/// Leases used up before another block is issued: somebody may be waiting for it.
const PRESSURE: u32 = 16;

/// Budgets of a run.
pub struct Budget<'a> {
    /// Warp instructions that may still be executed.
    pub steps: u64,
    /// The limit that `steps` came from, for the report.
    pub limit: u64,
    /// Asked now and then: whether time is up.
    pub time_up: &'a mut dyn FnMut() -> Option<LimitKind>,
}

/// What a launch did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Warp instructions executed.
    pub warp_instructions: u64,
    /// Thread instructions executed: warp instructions times active lanes, injected ones left out.
    pub thread_instructions: u64,
    /// Blocks completed.
    pub blocks: u64,
}

/// A launch to be run on the instruction set at hand.
pub(super) struct Go<'a, 'b, C, M, S> {
    pub env: &'a ProgEnv,
    pub loaded: &'a Loaded,
    pub mem: &'a mut M,
    pub cx: &'a mut Cx<'b, S>,
    pub budget: Budget<'a>,
    pub clock: u64,
    pub residents: usize,
    /// Whether to look for a state that repeats.
    pub watch: bool,
    pub control: std::marker::PhantomData<C>,
}

impl<C: Control, M: Memory + Clone + PartialEq, S: Sink> WithSimd for Go<'_, '_, C, M, S> {
    type Output = Result<Stats, Stop>;

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) -> Self::Output {
        if M::IMMEDIATE { run(simd, self) } else { super::overlap::run(simd, self) }
    }
}

/// Who is resident and who is ready.
struct Residents<C> {
    blocks: Vec<Option<Block<C>>>,
    /// Blocks that completed, to be reused.
    spare: Vec<Block<C>>,
    /// The warps that can step, numbered by slot and warp: a slot has `1 << shift` of them, of which `per_block` exist.
    ready: Vec<u64>,
    shift: u32,
    per_block: usize,
    next: u64,
    total: u64,
}

impl<C: Control> Residents<C> {
    /// Issues the next block.
    #[inline(never)]
    fn issue(&mut self, env: &ProgEnv, loaded: &Loaded, trace: bool) {
        let slot = self.blocks.iter().position(Option::is_none).unwrap_or_else(|| {
            self.blocks.push(None);
            self.blocks.len() - 1
        });
        let sm = u32::try_from(slot).unwrap_or(0) % loaded.sms.max(1);
        let mut block = self.spare.pop().unwrap_or_default();
        block.issue(env, loaded, self.next, sm);
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
    }

    fn resident(&self) -> usize {
        self.blocks.iter().flatten().count()
    }
}

fn set(ready: &mut [u64], index: usize) {
    ready[index / 64] |= 1 << (index % 64);
}

fn clear(ready: &mut [u64], index: usize) {
    ready[index / 64] &= !(1 << (index % 64));
}

/// A warp's turn: its number among those that may be resident, and for how many instructions it holds.
#[derive(Clone, Copy)]
struct Turn {
    index: usize,
    lease: u32,
}

/// Whose turn it is; forced moves do not reach the oracle. `None`: nobody is ready.
#[inline(always)]
fn next_turn(ready: &[u64], last: Option<(u32, bool)>, oracle: &mut dyn Oracle) -> Result<Option<Turn>, Stop> {
    let mut words = ready.iter().enumerate().filter(|(_, w)| **w != 0);
    let Some((k, &word)) = words.next() else { return Ok(None) };
    if word & (word - 1) == 0 && words.next().is_none() {
        return Ok(Some(Turn { index: k * 64 + word.trailing_zeros() as usize, lease: ALONE }));
    }
    let pick = oracle.choose(Menu { site: Site::Warp, ready, last })?;
    Ok(Some(Turn { index: pick.index as usize, lease: pick.lease.get() }))
}

/// Why the turns of a block ended.
enum Leave {
    /// Another block's warp goes next, or somebody must be asked who does.
    Turn(Option<Turn>),
    /// The block is complete.
    Complete,
    /// A warp halted.
    Halt(u32, Box<Halt>),
    /// The time is up.
    Limit(LimitKind),
}

/// Runs a grid to its end.
///
/// Rule: context.exec
///
/// Rule: grid.exec
#[inline(always)]
#[expect(clippy::too_many_lines, reason = "the turns of a block stay in one loop: leaving it costs more than a turn")]
fn run<V: Simd, C: Control, M: Memory + Clone + PartialEq, S: Sink>(
    simd: V,
    go: Go<'_, '_, C, M, S>,
) -> Result<Stats, Stop> {
    let Go { env, loaded, mem, cx, mut budget, clock, residents, watch, .. } = go;
    let mut watch = if S::ON && watch { Some(Watch::new()) } else { None };
    let who = |block: u64, warp: u32| Who { launch: loaded.number, block, warp };
    let per_block = loaded.warps() as usize;
    let mut all = Residents::<C> {
        blocks: Vec::new(),
        spare: Vec::new(),
        ready: Vec::new(),
        shift: per_block.next_power_of_two().trailing_zeros(),
        per_block,
        next: 0,
        total: loaded.grid.iter().map(|n| u64::from(*n)).product(),
    };
    let shift = all.shift;
    let mut stats = Stats::default();
    let mut last = None;
    let mut pressure = 0;
    let mut carried = None;
    if S::ON {
        cx.sink.event(who(0, 0), Event::Launch { tokens: !C::JOINS })?;
        for rule in [Rule::ContextExec, Rule::GridExec] {
            cx.sink.event(who(0, 0), Event::Fired(rule))?;
        }
    }
    loop {
        if S::ON
            && let Some(watch) = &mut watch
        {
            // Nobody asks how many leases were used up when every block is issued.
            let pressure = if all.next < all.total { pressure.min(PRESSURE) } else { 0 };
            let schedule = Schedule { ready: all.ready.clone(), last, pressure, issued: all.next };
            look(watch, &all.blocks, mem, schedule, env, loaded, cx)?;
        }
        let chosen = match carried.take() {
            Some(turn) => Some(turn),
            None => {
                more_blocks(&mut all, env, loaded, cx, residents, &mut pressure)?;
                next_turn(&all.ready, last, cx.oracle)?
            }
        };
        let Some(mut turn) = chosen else {
            let Some(stuck) = all.blocks.iter().flatten().next() else { break };
            return Err(stuck.stuck(env, loaded));
        };
        let slot = turn.index >> shift;
        let Residents { blocks, ready, next, total, .. } = &mut all;
        let Some(Some(block)) = blocks.get_mut(slot) else { break };
        let Block { warps, barriers, shared, index: place, linear, sm, live, running } = block;
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
            let fuel = u32::try_from(u64::from(lease).min(budget.steps)).unwrap_or(lease);
            sh.who.warp = number;
            sh.clock = clock + stats.warp_instructions;
            // Rule: block.exec
            if S::ON {
                cx.sink.event(sh.who, Event::Fired(Rule::BlockExec))?;
            }
            let (done, used) = match warp::run(simd, warp, &mut sh, mem, fuel, cx) {
                Ok(outcome) => outcome,
                Err(halt) => break Leave::Halt(number, halt),
            };
            stats.warp_instructions += u64::from(used);
            budget.steps -= u64::from(used);
            let spent = done == Yield::Fuel;
            last = Some((u32::try_from(index).unwrap_or(0), spent));
            if spent {
                pressure += 1;
                if budget.steps == 0 {
                    break Leave::Limit(LimitKind::Steps(budget.limit));
                }
                if let Some(limit) = (budget.time_up)() {
                    break Leave::Limit(limit);
                }
            } else {
                clear(ready, index);
                let exited = std::mem::take(&mut sh.exited);
                *live -= if on(Mutant::BarrierAwaitsExited) { 0 } else { exited };
                if done == Yield::Done {
                    *running -= 1;
                }
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
                if *running == 0 {
                    break Leave::Complete;
                }
            }
            if pressure >= PRESSURE && next < total || S::ON && watch.is_some() {
                break Leave::Turn(None);
            }
            match next_turn(ready, last, cx.oracle)? {
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
                all.spare.extend(all.blocks[slot].take());
                stats.blocks += 1;
                if S::ON {
                    cx.sink.event(who(linear, 0), Event::BlockDone)?;
                    cx.sink.event(who(linear, 0), Event::Fired(Rule::BlockCompl))?;
                }
            }
            Leave::Halt(warp, halt) => return Err(block.stop(env, loaded, warp, *halt)),
            Leave::Limit(limit) => return Err(Stop::Limit(limit)),
        }
    }
    // Rule: grid.compl
    // Rule: context.compl
    if S::ON {
        for rule in [Rule::GridCompl, Rule::ContextCompl] {
            cx.sink.event(who(0, 0), Event::Fired(rule))?;
        }
    }
    Ok(stats)
}

/// Tells the observer when the whole state is kept, and when it repeats; completes the places that it names then.
fn look<C: Control, M: Clone + PartialEq, S: Sink>(
    watch: &mut Watch<C, M>,
    blocks: &[Option<Block<C>>],
    mem: &M,
    schedule: Schedule,
    env: &ProgEnv,
    loaded: &Loaded,
    cx: &mut Cx<'_, S>,
) -> Result<(), Stop> {
    let who = Who { launch: loaded.number, block: 0, warp: 0 };
    match watch.look(blocks, mem, schedule) {
        Found::New => Ok(()),
        Found::Kept => cx.sink.event(who, Event::Remembered),
        Found::Same => {
            let Err(Stop::Stuck(mut stuck)) = cx.sink.event(who, Event::Repeated) else { return Ok(()) };
            let complete = |at: &mut Place, who: Who| {
                let block = blocks.iter().flatten().find(|b| b.linear == who.block);
                if let Some(block) = block {
                    *at = block.place(env, loaded, who.warp, at.lanes, at.pc);
                }
            };
            if let StuckKind::Endless { tokens, place, who } = &mut *stuck {
                complete(place, *who);
                tokens.iter_mut().for_each(|t| complete(&mut t.place, t.who));
            }
            Err(Stop::Stuck(stuck))
        }
    }
}

/// Tells the observer of barriers that ended: each number, and whether it reduced.
pub(super) fn tell_barriers<S: Sink>(ended: &[(u32, bool)], who: Who, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
    for (id, reduced) in ended {
        cx.sink.event(who, Event::Released(*id))?;
        for rule in [Rule::BarEndBar, Rule::BarRemBar, Rule::BlockEndBar] {
            cx.sink.event(who, Event::Fired(rule))?;
        }
        if *reduced {
            cx.sink.event(who, Event::Fired(Rule::BarReduce))?;
        }
    }
    Ok(())
}

/// Issues blocks: one when none is ready, more when the oracle says so.
#[inline(always)]
fn more_blocks<C: Control, S: Sink>(
    all: &mut Residents<C>,
    env: &ProgEnv,
    loaded: &Loaded,
    cx: &mut Cx<'_, S>,
    residents: usize,
    pressure: &mut u32,
) -> Result<(), Stop> {
    if all.next == all.total {
        return Ok(());
    }
    let idle = all.ready.iter().all(|w| *w == 0);
    if !idle && *pressure < PRESSURE {
        return Ok(());
    }
    issue_some(all, env, loaded, cx, residents, pressure, idle)
}

#[inline(never)]
fn issue_some<C: Control, S: Sink>(
    all: &mut Residents<C>,
    env: &ProgEnv,
    loaded: &Loaded,
    cx: &mut Cx<'_, S>,
    residents: usize,
    pressure: &mut u32,
    idle: bool,
) -> Result<(), Stop> {
    let mut forced = idle;
    while all.next < all.total && all.resident() < residents {
        if !forced {
            let last = Some((0, *pressure >= PRESSURE));
            let now = cx.oracle.choose(Menu { site: Site::Issue, ready: &[0b11], last })?.index == 1;
            if !now {
                break;
            }
        }
        *pressure = 0;
        forced = false;
        if S::ON {
            let who = Who { launch: loaded.number, block: all.next, warp: 0 };
            cx.sink.event(who, Event::Block)?;
            cx.sink.event(who, Event::Fired(Rule::ContextIssue))?;
        }
        all.issue(env, loaded, S::ON);
    }
    *pressure = 0;
    Ok(())
}

//! The device: blocks are issued to it and its warps are scheduled (report, 5.6 to 5.8, as far as one grid at a time needs
//! them).
//!
//! Blocks are made when they are issued and reused when they complete, so memory grows with what is resident, not with
//! the grid. Which warp steps, and whether another block is issued already, is the oracle's choice.

use super::block::Block;
use super::control::Control;
use super::loaded::Loaded;
use super::warp::{self, Shared, Yield};
use crate::base::mutant::{Mutant, on};
use crate::choice::{Menu, Site};
use crate::memory::{Cx, Memory};
use crate::program::env::ProgEnv;
use crate::verdict::{Event, LimitKind, Rule, Sink, Stop, Who};
use pulp::{Simd, WithSimd};

/// Instructions that a warp may execute when nothing else is ready.
const ALONE: u32 = 1 << 14;
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
    pub control: std::marker::PhantomData<C>,
}

impl<C: Control, M: Memory, S: Sink> WithSimd for Go<'_, '_, C, M, S> {
    type Output = Result<Stats, Stop>;

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) -> Self::Output {
        run(simd, self)
    }
}

/// Who is resident and who is ready.
struct Residents<C> {
    blocks: Vec<Option<Block<C>>>,
    /// Blocks that completed, to be reused.
    spare: Vec<Block<C>>,
    ready: Vec<u64>,
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
        let end = (slot + 1) * self.per_block;
        if self.ready.len() * 64 < end {
            self.ready.resize(end.div_ceil(64), 0);
        }
        for w in 0..self.per_block {
            self.set(slot * self.per_block + w);
        }
        self.blocks[slot] = Some(block);
    }

    fn set(&mut self, index: usize) {
        self.ready[index / 64] |= 1 << (index % 64);
    }

    fn clear(&mut self, index: usize) {
        self.ready[index / 64] &= !(1 << (index % 64));
    }

    fn resident(&self) -> usize {
        self.blocks.iter().flatten().count()
    }
}

/// Runs a grid to its end.
///
/// Rule: context.exec
///
/// Rule: grid.exec
#[inline(always)]
fn run<V: Simd, C: Control, M: Memory, S: Sink>(simd: V, go: Go<'_, '_, C, M, S>) -> Result<Stats, Stop> {
    let Go { env, loaded, mem, cx, mut budget, clock, residents, .. } = go;
    let who = |block: u64, warp: u32| Who { launch: loaded.number, block, warp };
    let total = loaded.grid.iter().map(|n| u64::from(*n)).product();
    let per_block = loaded.warps() as usize;
    let mut all =
        Residents::<C> { blocks: Vec::new(), spare: Vec::new(), ready: Vec::new(), per_block, next: 0, total };
    let mut stats = Stats::default();
    let mut last = None;
    let mut pressure = 0;
    if S::ON {
        cx.sink.event(who(0, 0), Event::Launch { tokens: !C::JOINS })?;
        for rule in [Rule::ContextExec, Rule::GridExec] {
            cx.sink.event(who(0, 0), Event::Fired(rule))?;
        }
    }
    loop {
        more_blocks(&mut all, env, loaded, cx, residents, &mut pressure)?;
        let several = {
            let mut words = all.ready.iter().filter(|w| **w != 0);
            match (words.next(), words.next()) {
                (None, _) => None,
                (Some(w), None) => Some(w & (w - 1) != 0),
                _ => Some(true),
            }
        };
        let (index, lease) = match several {
            None if all.resident() == 0 => break,
            None => {
                let stuck = all.blocks.iter().flatten().next();
                return Err(stuck.map_or(Stop::Limit(LimitKind::Steps(0)), |b| b.stuck(env, loaded)));
            }
            Some(false) => {
                let word = all.ready.iter().position(|w| *w != 0).unwrap_or(0);
                (word * 64 + all.ready[word].trailing_zeros() as usize, ALONE)
            }
            Some(true) => {
                let pick = cx.oracle.choose(Menu { site: Site::Warp, ready: &all.ready, last })?;
                (pick.index as usize, pick.lease.get())
            }
        };
        let (slot, w) = (index / per_block, index % per_block);
        let Some(Some(block)) = all.blocks.get_mut(slot) else { break };
        let Block { warps, barriers, shared, index: place, linear, sm, live, .. } = block;
        let fuel = u32::try_from(u64::from(lease).min(budget.steps)).unwrap_or(lease);
        let warp = &mut warps[w];
        let number = warp.index;
        let mut sh = Shared {
            env,
            loaded,
            barriers,
            shared: &mut shared[..],
            map: env.addresses(),
            who: who(*linear, number),
            block: *place,
            sm: *sm,
            clock: clock + stats.warp_instructions,
            threads: 0,
            turn: 0,
            exited: 0,
        };
        // Rule: block.exec
        if S::ON {
            cx.sink.event(sh.who, Event::Fired(Rule::BlockExec))?;
        }
        let outcome = warp::run(simd, warp, &mut sh, mem, fuel, cx);
        *live -= if on(Mutant::BarrierAwaitsExited) { 0 } else { sh.exited };
        stats.thread_instructions = stats.thread_instructions.wrapping_add(sh.threads);
        let (done, used) = match outcome {
            Ok(o) => o,
            Err(halt) => return Err(block.stop(env, loaded, number, *halt)),
        };
        stats.warp_instructions += u64::from(used);
        budget.steps -= u64::from(used);
        let spent = done == Yield::Fuel;
        last = Some((u32::try_from(index).unwrap_or(0), spent));
        if spent {
            pressure += 1;
            if budget.steps == 0 {
                return Err(Stop::Limit(LimitKind::Steps(budget.limit)));
            }
            if let Some(limit) = (budget.time_up)() {
                return Err(Stop::Limit(limit));
            }
            continue;
        }
        if done == Yield::Done {
            block.running -= 1;
        }
        let (of, at) = (who(*linear, number), *linear);
        let mut ended = Vec::new();
        let complete = settle(&mut all, slot, index, |id, reduced| {
            if S::ON {
                ended.push((id, reduced));
            }
        });
        if S::ON {
            tell_barriers(&ended, of, cx)?;
        }
        if complete {
            stats.blocks += 1;
            if S::ON {
                cx.sink.event(who(at, 0), Event::BlockDone)?;
                cx.sink.event(who(at, 0), Event::Fired(Rule::BlockCompl))?;
            }
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

/// Tells the observer of barriers that ended: each number, and whether it reduced.
fn tell_barriers<S: Sink>(ended: &[(u32, bool)], who: Who, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
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

/// A warp has stopped by itself: ends barriers, drops a block that is complete. Tells whether it is.
///
/// Rule: block.compl
#[inline(never)]
fn settle<C: Control>(all: &mut Residents<C>, slot: usize, index: usize, ended: impl FnMut(u32, bool)) -> bool {
    all.clear(index);
    let per_block = all.per_block;
    let Some(block) = all.blocks.get_mut(slot).and_then(Option::as_mut) else { return false };
    let freed = block.end_barriers(ended);
    let complete = block.running == 0;
    for w in (0..per_block).filter(|w| freed >> w & 1 == 1) {
        all.set(slot * per_block + w);
    }
    if complete && let Some(block) = all.blocks[slot].take() {
        all.spare.push(block);
    }
    complete
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

//! What goes along with a run and is no part of the state: counts and budgets.

use crate::machine::config::Engine;
use crate::machine::device::message::GridId;
use crate::verdict::LimitKind;
use serde::Serialize;

/// What a grid's run did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stats {
    /// Blocks completed.
    pub blocks: u64,
    /// Warp instructions executed.
    pub warp_instructions: u64,
    /// Thread instructions executed: warp instructions times active lanes, injected ones left out.
    pub thread_instructions: u64,
}

impl Stats {
    /// Adds what was done besides.
    pub(in crate::machine) const fn add(&mut self, more: Self) {
        self.warp_instructions += more.warp_instructions;
        self.thread_instructions = self.thread_instructions.wrapping_add(more.thread_instructions);
        self.blocks += more.blocks;
    }
}

/// Budgets of a run.
pub struct Budget<'a> {
    /// Warp instructions that may still be executed.
    pub steps: u64,
    /// The limit that `steps` came from, for the report.
    pub limit: u64,
    /// What was done since `time_up` was asked.
    pub patience: u64,
    /// Asked now and then: whether time is up.
    pub time_up: &'a mut dyn FnMut() -> Option<LimitKind>,
}

/// Warp instructions, and turns, between two questions whether time is up: a fraction of a millisecond.
const PATIENCE: u64 = 1 << 11;

impl Budget<'_> {
    /// Takes `used` instructions off. Gives the limit when one is reached, but that of steps.
    #[inline(always)]
    pub(in crate::machine) fn spend(&mut self, used: u64) -> Option<LimitKind> {
        self.steps -= used;
        self.patience += used + 1;
        if self.patience < PATIENCE {
            return None;
        }
        self.patience = 0;
        (self.time_up)()
    }
}

/// What goes along with a run and is no state: counts, budgets, the granularity.
pub struct Books<'a> {
    /// Budgets.
    pub budget: Budget<'a>,
    /// Warp instructions executed so far on the device, for clocks.
    pub clock: u64,
    /// Counts by grid.
    pub stats: &'a mut Vec<(GridId, Stats)>,
    /// Whether every choice holds for one warp instruction only.
    pub small: bool,
    /// Whether every choice holds for one turn of a warp only: the state is looked at between turns.
    pub watched: bool,
    /// Whether a turn goes on to its end when the pick is used up meanwhile: then who stops the run changes nothing in it.
    pub whole_turns: bool,
    /// Whether the run is one step of the device: of memory that acts later, one micro step.
    pub single: bool,
    /// Whether the oracle lets warps take turns ([`Oracle::takes_turns`](crate::choice::Oracle::takes_turns)).
    pub takes_turns: bool,
    /// Whether blocks are issued as soon as there is room.
    pub eager: bool,
    /// What executes kernels.
    pub engine: Engine,
    /// Thread instructions that were executed natively.
    pub native: &'a mut u64,
    /// The block from which on the run ends where no block is resident, so that others can run ahead (D-ahead).
    pub stops: Option<u64>,
    /// Whether somebody asks how much was executed natively.
    pub counts_native: bool,
    /// Whether it has ended so.
    pub between: bool,
}

impl Books<'_> {
    /// Whether the run ends before a block, where no other one is resident.
    #[inline(always)]
    pub(in crate::machine) fn stops_before(&self, block: u64) -> bool {
        self.stops.is_some_and(|from| block >= from)
    }

    /// Where blocks end that may follow each other natively, the next one and the one behind the last being given.
    #[inline(always)]
    pub(in crate::machine) fn end(&self, next: u64, total: u64) -> u64 {
        self.stops.map_or(total, |from| total.min(from.max(next)))
    }

    /// Instructions that a turn may take: its lease, unless a budget ends before; `hold` is what is left of a run's.
    #[inline(always)]
    pub(in crate::machine) fn fuel(&self, lease: u32, hold: u64) -> u32 {
        let lease = if self.small { 1 } else { lease };
        let held = if self.whole_turns { u64::MAX } else { hold };
        u32::try_from(u64::from(lease).min(self.budget.steps).min(held)).unwrap_or(lease)
    }

    /// A turn of so many instructions is over. Gives the limit when one is reached; `spent`: the turn used its fuel up.
    #[inline(always)]
    pub(in crate::machine) fn turn(&mut self, used: u32, spent: bool) -> Option<LimitKind> {
        self.clock += u64::from(used);
        let limit = self.budget.spend(u64::from(used));
        limit.or_else(|| (spent && self.budget.steps == 0).then_some(LimitKind::Steps(self.budget.limit)))
    }

    /// Whether no budget ends, and nobody stops the run, within so many instructions.
    #[inline(always)]
    #[cfg_attr(not(all(feature = "native", target_arch = "x86_64")), allow(dead_code, reason = "native code reads it"))]
    pub(in crate::machine) fn lasts(&self, instructions: u64, hold: u64) -> bool {
        !self.small && self.budget.steps.min(hold) > instructions
    }

    /// So many turns of so many instructions together are over, none of which used its fuel up. Gives the limit when one is reached.
    #[inline(always)]
    #[cfg_attr(not(all(feature = "native", target_arch = "x86_64")), allow(dead_code, reason = "native code reads it"))]
    pub(in crate::machine) fn turns(&mut self, turns: u32, used: u64) -> Option<LimitKind> {
        self.clock += used;
        self.budget.patience += u64::from(turns);
        self.budget.spend(used)
    }

    /// Adds the counts of a grid's turns to what it has done before.
    pub(in crate::machine) fn book(&mut self, grid: GridId, stats: Stats) {
        let at = self.stats.iter().position(|(id, _)| *id == grid).unwrap_or_else(|| {
            self.stats.push((grid, Stats::default()));
            self.stats.len() - 1
        });
        self.stats[at].1.add(stats);
    }
}

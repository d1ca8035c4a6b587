//! Blocks of a launch on several threads, which no result can be told by (D-ahead).
//!
//! The fair schedule runs one block after the other, but where warps keep using their turns up. So where a block has ended and none
//! has begun, blocks behind it can run ahead, a chunk of them on each thread: each chunk as if all before it were over, on a view of
//! memory as it is now ([`crate::memory::flat`], `over`). It begins with whose turn is guessed to have been last (`guess`); registers
//! and shared memory of a block begin anew in any case. Then the chunks are looked at in order. One that began as the one before has
//! ended, and has touched no byte that those before have changed, has done exactly what it would have done in its turn: what it wrote
//! is made so, its counts are added. The first one that has not, and all behind it, are thrown away, and run again from there.
//!
//! Whatever a chunk cannot do as if it were its turn ends it, and what ends it is left to the ordinary way, from the state before: a
//! fault, a trap, a limit, blocks that would take turns with those behind them, native code that is left because of where memory lies.
//! Programs that print, allocate, read clocks, copy asynchronously or use textures do not run ahead at all.

mod apart;
mod guess;
mod in_order;
mod wave;

use crate::machine::bounds::Stopwatch;
use crate::machine::control::Explored;
use crate::machine::device::state::{Order, Ran};
use crate::machine::grid::state::{ALONE, Grid};
use crate::machine::runner::{Hosted, Run};
use crate::memory::flat::{Arena, Flat};
use crate::program::env::{Init, Preload, ProgEnv, Special};
use crate::program::instr::{Instr, Op};
use crate::verdict::{Silent, Stop};
use apart::Apart;
pub(in crate::machine) use guess::Remembered;
use guess::{Guess, MOST};
use in_order::InOrder;
use std::sync::Arc;

/// Bytes that there have to be where memory is bounded: what views may take.
const ROOM: u64 = 1 << 30;

impl<C: Explored + 'static> Hosted<C, Flat> {
    /// Whether blocks may run ahead in a run.
    pub(in crate::machine) fn may_run_ahead(&self, run: &Run<'_>) -> bool {
        let Run { oracle, order, whole_turns, .. } = run;
        let plain = !self.config.small_steps && !self.config.eager && !self.config.keep_finished;
        let turns = oracle.takes_turns() && *order == Order::Prompt && *whole_turns;
        let room = self.config.bounds.spare().is_none_or(|spare| spare >= ROOM);
        self.config.threads > 1 && plain && turns && room && self.device.contexts.len() == 1
    }

    /// Runs, and has blocks run ahead where they can.
    pub(in crate::machine) fn run_ahead(&mut self, run: Run<'_>) -> Result<Ran, Stop> {
        let Run { oracle, out, order, hold, whole_turns, watch, look, .. } = run;
        let (end, mut guess) = (self.clock.saturating_add(hold), Guess::default());
        loop {
            let hold = end.saturating_sub(self.clock);
            self.stops = guess.from;
            let ran = self.go(
                Silent,
                Run { tell: None, oracle: &mut *oracle, out: &mut *out, order, hold, whole_turns, watch, look },
            );
            self.stops = None;
            if ran.is_err() || !self.between {
                return ran;
            }
            guess.from = None;
            if self.grid().is_some_and(|(grid, env)| can(grid, env)) {
                let most = self.config.max_steps.unwrap_or(u64::MAX).saturating_sub(self.clock);
                let most = most.min(end.saturating_sub(self.clock)).saturating_sub(2 * u64::from(ALONE));
                self.chunks(&mut guess, most, watch);
            }
        }
    }

    /// The only grid, with its program, when there is one and nothing else is to be done.
    fn grid(&self) -> Option<(&Grid<C>, &ProgEnv)> {
        let [context] = &self.device.contexts[..] else { return None };
        let [grid] = &context.grids[..] else { return None };
        let quiet = context.io.inputs.is_empty() && context.io.outputs.is_empty() && self.device.io.inputs.is_empty();
        Some((grid, &*context.program(grid.program)?.program.0)).filter(|_| quiet)
    }

    /// Memory is taken out, so that all threads may look at it, and put back.
    fn memory(&mut self) -> Option<&mut Arena> {
        self.device.contexts.first_mut().map(|context| &mut context.memory)
    }

    /// The same, to be changed.
    fn only_grid(&mut self) -> Option<&mut Grid<C>> {
        self.device.contexts.first_mut().and_then(|context| context.grids.first_mut())
    }

    fn chunks(&mut self, guess: &mut Guess, most: u64, watch: Stopwatch) {
        let Some((grid, env)) = self.grid() else { return };
        let (warps, may_be_apart) = (grid.loaded.warps(), may_be_apart(grid, env) && !self.config.counts_native);
        let of = (grid.program, grid.loaded.entry, grid.loaded.block);
        if guess.grid != Some(grid.id) {
            *guess = self.remembered.recall(of, grid.id);
        }
        let irregular = std::mem::take(&mut guess.irregular) && may_be_apart;
        let Some(below) = self.memory().and_then(Arena::lower) else { return };
        let (mut under, worker) = (Arc::new(below), self.worker());
        if !irregular {
            wave::waves(self, worker, &mut under, &mut InOrder { guess, most, warps, may_be_apart }, watch);
        } else if let Some(mut judge) = Apart::new(self, guess, most) {
            wave::waves(self, worker, &mut under, &mut judge, watch);
            let holds = judge.holds;
            // Nobody else has it any more: threads have ended.
            if let Some(memory) = Arc::get_mut(&mut under).filter(|_| !judge.holds) {
                judge.put_back(self, memory);
            }
            guess.apart = holds;
        }
        self.remembered.keep(of, guess);
        if let Some(memory) = self.memory() {
            memory.raise(Arc::unwrap_or_clone(under));
        }
    }

    /// What chunks run on; memory is that of each.
    fn worker(&self) -> Self {
        let mut worker = self.clone();
        (worker.config.threads, worker.config.max_steps, worker.stops) = (1, Some(MOST), None);
        worker
    }
}

/// Whether blocks of a grid do nothing that others could tell when they do it from, but access memory.
fn can<C>(grid: &Grid<C>, env: &ProgEnv) -> bool {
    grid.loaded.workspace == 0 && reached(grid, env).0.iter().all(|i| is_plain(i.op))
}

/// The instructions that a grid may get to, and the registers that functions begin with that it may get to.
fn reached<'a, C>(grid: &Grid<C>, env: &'a ProgEnv) -> (&'a [Instr], Vec<Preload>) {
    let Some(entry) = env.function(grid.loaded.entry) else { return (&env.code, Vec::new()) };
    let own = env.code.get(entry.start.0 as usize..entry.end.0 as usize).unwrap_or_default();
    if own.iter().any(|i| matches!(i.op, Op::Call | Op::CallIndirect)) {
        // Who calls may get anywhere.
        return (&env.code, env.functions.values().flat_map(|f| &f.preloads).copied().collect());
    }
    (own, entry.preloads.clone())
}

/// Whether warps of a grid cannot but have nothing to do with each other, but for device memory.
fn may_be_apart<C: Explored>(grid: &Grid<C>, env: &ProgEnv) -> bool {
    let (code, preloads) = reached(grid, env);
    let meets = |i: &Instr| matches!(i.op, Op::Bar | Op::ClusterArrive { .. } | Op::ClusterWait { .. });
    let placed = |preload: &Preload| matches!(preload.init, Init::Special(Special::SmId));
    !C::JOINS && grid.loaded.shared_bytes == 0 && !preloads.iter().any(placed) && !code.iter().any(meets)
}

const fn is_plain(op: Op) -> bool {
    match op {
        Op::Int(_)
        | Op::Float(_)
        | Op::Mem
        | Op::LdGlobal32
        | Op::StGlobal32
        | Op::LdShared32
        | Op::StShared32
        | Op::Bra
        | Op::Brx
        | Op::Call
        | Op::CallIndirect
        | Op::Ret
        | Op::Exit
        | Op::Ssy
        | Op::PreBrk
        | Op::PreRet
        | Op::Sync
        | Op::Break
        | Op::Bar
        | Op::ClusterArrive { .. }
        | Op::ClusterWait { .. }
        | Op::WarpSync
        | Op::Exchange
        | Op::Matrix
        | Op::Fence { .. }
        | Op::Nanosleep
        | Op::Alloca
        | Op::StackSave
        | Op::StackRestore
        | Op::Trap
        | Op::Brkpt
        | Op::Nop
        | Op::Unsupported => true,
        Op::Barrier(_)
        | Op::Image
        | Op::CopyFrom
        | Op::CopyTo
        | Op::Bulk(_)
        | Op::CopyCommit
        | Op::CopyArrive
        | Op::CopyWait
        | Op::BulkCommit
        | Op::BulkWait { .. }
        | Op::ProxyFence
        | Op::ReadSpecial(_)
        | Op::Syscall(_) => false,
    }
}

//! Barriers of a block, and of lanes of a warp (PTX ISA 9.7.13).
//!
//! A barrier event is an arrival at the k-th meeting of a barrier; spec-notes/kernels.md says what counts mean.

use super::run::{Halt, Thread, fault, gap};
use super::shadow::{Taint, unite};
use crate::axiom::{Arrival, Kind};
use crate::program::instr::{BarrierKind, Instr};
use crate::program::ops::Class;
use crate::verdict;

/// Barriers of a block (PTX ISA, `bar`).
const COUNT: u64 = 16;

impl Thread<'_, '_, '_, '_, '_> {
    /// `bar` and `barrier`.
    ///
    /// Rule: D-axiom-barriers
    pub fn barrier(&mut self, pc: u32, i: &Instr) -> Result<(), Halt> {
        let Some(&barrier) = self.kernel.env().barriers.get(i.imm as usize) else { return self.skip() };
        let Some(mut on) = self.guard(i)? else { return self.skip() };
        if let BarrierKind::Red(_) = barrier.kind {
            return Err(gap("a barrier that reduces (`bar.red`)"));
        }
        self.need(Class::W, i.a)?;
        unite(&mut on.from, &self.shadow.of(Class::W, i.a).from);
        let id = barrier.id.map(u64::from).or_else(|| self.value(Class::W, i.a)).unwrap_or(COUNT);
        if id >= COUNT {
            return Err(fault(verdict::Kind::BarrierNumber));
        }
        let mut quorum = None;
        if barrier.counted {
            self.need(Class::W, i.b)?;
            unite(&mut on.from, &self.shadow.of(Class::W, i.b).from);
            let count = self.value(Class::W, i.b).unwrap_or(0);
            quorum = Some(self.quorum(count, barrier.aligned)?);
        }
        let which = (self.block.cast_signed() << 4) | id.cast_signed();
        self.arrive(pc, &on, which, (quorum, barrier.kind == BarrierKind::Sync));
        self.skip()
    }

    /// How many threads a count stands for.
    fn quorum(&self, count: u64, aligned: bool) -> Result<u64, Halt> {
        let shape = self.kernel.apart.shape();
        let (threads, warp) = (u64::from(shape.threads()), u64::from(shape.warp_size));
        if count == 0 || !count.is_multiple_of(warp) {
            return Err(fault(verdict::Kind::BarrierCount));
        }
        if !aligned || threads.is_multiple_of(warp) {
            return Ok(count);
        }
        match count {
            _ if threads > warp => Err(gap("a barrier with a count in a block whose last warp is not full")),
            _ if count == warp => Ok(threads),
            _ => Ok(count),
        }
    }

    /// `bar.warp.sync`: who names the same lanes meets. Lanes that hold no thread are not waited for.
    pub fn warp_sync(&mut self, pc: u32, i: &Instr) -> Result<(), Halt> {
        let Some(mut on) = self.guard(i)? else { return self.skip() };
        self.need(Class::W, i.a)?;
        unite(&mut on.from, &self.shadow.of(Class::W, i.a).from);
        let shape = self.kernel.apart.shape();
        let mask = self.value(Class::W, i.a).unwrap_or(0);
        if mask >> self.on.lane() & 1 == 0 {
            return Err(fault(verdict::Kind::NotAMember));
        }
        let warps = u64::from(shape.threads().div_ceil(shape.warp_size));
        let warp = self.block * warps + u64::from(self.index / shape.warp_size);
        // Barriers of blocks have numbers from 0.
        let which = -1 - (warp << 32 | mask).cast_signed();
        self.arrive(pc, &on, which, (None, true));
        self.skip()
    }

    fn arrive(&mut self, pc: u32, on: &Taint, which: i64, (quorum, waits): (Option<u64>, bool)) {
        let met = self.meetings.entry(which).or_default();
        let arrival = Arrival { barrier: Some((which, *met)), quorum, waits };
        *met += 1;
        self.event(Kind::Barrier, 0, on, pc).arrival = Some(arrival);
    }
}

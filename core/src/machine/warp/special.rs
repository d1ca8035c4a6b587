//! Instructions outside the innermost loop that stay where they are: exchanges, stack allocation, clocks, the device runtime.

use crate::base::mutant::{Mutant, on};
use crate::base::{LaneMask, Pc, lanes_of};
use crate::machine::control::{Control, Wait};
use crate::machine::warp::exchange;
use crate::machine::warp::slow_path::{Did, Rare, Trouble, bug};
use crate::memory::{Fault, Memory};
use crate::program::instr::{Moving, Op, STACK_TOP, Slot};
use crate::verdict::{BugKind, Event, Kind, Sink, Step, Stop};

impl<C: Control, M: Memory, S: Sink> Rare<'_, '_, '_, C, M, S> {
    /// Everything else.
    #[inline(never)]
    pub fn other(&mut self) -> Result<Did, Trouble> {
        let (i, m) = (self.i, self.m);
        match i.op {
            Op::WarpSync => return self.warp_sync(),
            Op::Exchange => return self.exchange(),
            Op::Matrix => return self.matrix(),
            Op::Image => self.image()?,
            op if op.copies() => self.copy()?,
            Op::Barrier(check) => self.mbarrier(check)?,
            Op::ReadSpecial(which) => self.clock(which),
            Op::Alloca => self.alloca()?,
            Op::StackSave => {
                for l in lanes_of(m) {
                    self.regs.q[i.d.index()].0[l] = self.regs.w[STACK_TOP.index()].0[l].into();
                }
            }
            Op::StackRestore => {
                for l in lanes_of(m) {
                    self.regs.w[STACK_TOP.index()].0[l] = self.regs.q[i.a.index()].0[l] as u32;
                }
            }
            Op::Syscall(call) => self.syscall(call)?,
            Op::Trap => return Err(bug(BugKind::Plain(Kind::Trap), m)),
            Op::Brkpt => return Err(bug(BugKind::Plain(Kind::Breakpoint), m)),
            Op::Unsupported => {
                let what = self.sh.env.unsupported[i.imm as usize].clone();
                return Err(Trouble::Unsupported(what));
            }
            op => {
                let what = format!("{op:?} comes to where it is not executed");
                return Err(Trouble::Fault(Fault::Stop(Stop::internal(what, None))));
            }
        }
        Ok(Did::Next)
    }

    /// The lanes of `m` grouped by the member mask each gives, checked.
    fn members(&self, slot: Slot) -> Result<Vec<(LaneMask, LaneMask)>, Trouble> {
        let masks = &self.regs.w[slot.index()].0;
        let mut sets: Vec<(LaneMask, LaneMask)> = Vec::new();
        for l in lanes_of(self.m) {
            if masks[l] >> l & 1 == 0 {
                return Err(bug(BugKind::NotAMember { mask: masks[l] }, 1 << l));
            }
            match sets.iter_mut().find(|s| s.0 == masks[l]) {
                Some(s) => s.1 |= 1 << l,
                None => sets.push((masks[l], 1 << l)),
            }
        }
        Ok(sets)
    }

    fn warp_sync(&mut self) -> Result<Did, Trouble> {
        let live = self.control.live();
        let sets = self.members(self.i.a)?;
        if let Some(&(mask, lanes)) = sets.iter().find(|(mask, lanes)| mask & live & !lanes != 0) {
            if !C::WAITS {
                return Err(bug(BugKind::MembersInactive { mask, active: lanes }, lanes));
            }
            return Ok(Did::Control(self.control.wait(self.flow, lanes, Wait::WarpSync(mask))));
        }
        Ok(Did::Next)
    }

    /// `shfl`, `vote`, `match`, `redux`, `elect`, `activemask`.
    ///
    /// Rule: thread.vote
    fn exchange(&mut self) -> Result<Did, Trouble> {
        let (i, m) = (self.i, self.m);
        let what = self.sh.env.exchanges[i.imm as usize & 0xffff];
        if !what.sync {
            self.tell_exchange(m)?;
            exchange::run(what.kind, i, m, self.sh.loaded.warp_size, self.regs);
            return Ok(Did::Next);
        }
        let live = self.control.live();
        let sets = self.members(i.e)?;
        // Sets that lack a member wait for it before anybody writes a register: the instruction is executed again then.
        let incomplete = sets.iter().find(|(mask, lanes)| mask & live & !lanes != 0);
        if let Some(&(mask, lanes)) = incomplete.filter(|_| !on(Mutant::MembersNotAwaited)) {
            if !C::WAITS {
                return Err(bug(BugKind::MembersInactive { mask, active: lanes }, lanes));
            }
            return Ok(Did::Control(self.control.wait(self.flow, lanes, Wait::Members(mask))));
        }
        for (_, lanes) in sets {
            self.tell_exchange(lanes)?;
            exchange::run(what.kind, i, lanes, self.sh.loaded.warp_size, self.regs);
        }
        Ok(Did::Next)
    }

    /// Tells the observer that `lanes` exchange values now.
    #[inline(always)]
    pub(super) fn tell_exchange(&mut self, lanes: LaneMask) -> Result<(), Trouble> {
        if S::ON {
            let (pc, depth, regs) = (Pc(self.flow.pc), self.flow.depth, &*self.regs);
            let step = Step { pc, lanes, active: self.flow.mask, depth, regs, tokens: self.control.tokens() };
            self.cx.sink.event(self.sh.who, Event::Exchange(step))?;
        }
        Ok(())
    }

    /// Clocks come from the step counter (D-clock): a warp instruction is a cycle, and a nanosecond.
    fn clock(&mut self, which: Moving) {
        let (d, m) = (self.i.d, self.m);
        let now = self.sh.clock;
        let low = now as u32;
        let narrow = match which {
            Moving::Clock | Moving::GlobalTimerLo | Moving::Pm => low,
            Moving::ClockHi | Moving::GlobalTimerHi => (now >> 32) as u32,
            Moving::Clock64 | Moving::GlobalTimer | Moving::Pm64 => {
                lanes_of(m).for_each(|l| self.regs.q[d.index()].0[l] = now);
                return;
            }
        };
        lanes_of(m).for_each(|l| self.regs.w[d.index()].0[l] = narrow);
    }

    /// `alloca`: moves the top of the stack.
    fn alloca(&mut self) -> Result<(), Trouble> {
        let Self { i, m, regs, .. } = self;
        let align = i.imm.max(1).next_power_of_two();
        let limit = self.sh.loaded.stack_limit;
        for l in lanes_of(*m) {
            let base = regs.w[STACK_TOP.index()].0[l].next_multiple_of(align);
            let bytes = regs.q[i.a.index()].0[l];
            // A callee's frame begins at a multiple of 16, and the arguments of a call are put where it begins.
            let top = u64::from(base).saturating_add(bytes).checked_next_multiple_of(16).unwrap_or(u64::MAX);
            if top > u64::from(limit) {
                return Err(bug(BugKind::StackOverflow { bytes: top, limit: limit.into() }, 1 << l));
            }
            regs.w[STACK_TOP.index()].0[l] = top as u32;
            regs.q[i.d.index()].0[l] = base.into();
            self.local.reach((top as u32).saturating_add(self.sh.loaded.arguments));
        }
        Ok(())
    }
}

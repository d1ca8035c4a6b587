//! Instructions outside the innermost loop: calls, exchanges, stack allocation, clocks, the device runtime.

use super::barrier::Arrival;
use super::block::place;
use super::control::{Control, Flow, Next, Wait};
use super::warp::Shared;
use super::{exchange, syscall};
use crate::base::mutant::{Mutant, on};
use crate::base::{Frame, LANES, LaneMask, Pc, lanes_of, put_mask};
use crate::choice::Oracle;
use crate::memory::{Cx, Fault, Issuer, LocalMemory, Memory};
use crate::program::env::FuncId;
use crate::program::instr::{Instr, Moving, Op, STACK_TOP, Slot};
use crate::verdict::{BugKind, Event, Kind, Sink, Step, Stop};

/// What an instruction did to the flow.
pub(super) enum Did {
    /// The next instruction follows.
    Next,
    /// A control instruction.
    Control(Next),
    /// Lanes entered a function.
    Enter(FuncId, LaneMask, Next),
}

/// Why it could not.
pub(super) enum Trouble {
    /// The program's fault.
    Fault(Fault),
    /// Ours.
    Unsupported(String),
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// What a rare instruction works on.
pub(super) struct Rare<'a, 'b, C, M> {
    pub control: &'a mut C,
    pub flow: &'a mut Flow,
    pub local: &'a mut LocalMemory,
    pub sh: &'a mut Shared<'b>,
    pub mem: &'a mut M,
    pub warp: u32,
}

pub(super) fn bug(kind: BugKind, lanes: LaneMask) -> Trouble {
    Trouble::Fault(Fault::Bug(kind, lanes))
}

impl<C: Control, M: Memory> Rare<'_, '_, C, M> {
    /// `call`, direct and indirect, and `brx.idx`.
    ///
    /// Rule: thread.call
    #[inline(never)]
    pub fn transfer(&mut self, i: &Instr, m: LaneMask, regs: &Frame, oracle: &mut dyn Oracle) -> Result<Did, Trouble> {
        let env = self.sh.env;
        if i.op == Op::Brx {
            let table = &env.tables[i.imm as usize][..];
            let index = &regs.w[i.a.index()].0;
            let count = u32::try_from(table.len()).unwrap_or(u32::MAX);
            if let Some(l) = lanes_of(m).find(|&l| index[l] >= count) {
                let bad = lanes_of(m).filter(|&l| index[l] >= count).fold(0, |m, l| m | 1 << l);
                return Err(bug(BugKind::BadBranchIndex { index: index[l], targets: count }, bad));
            }
            // Lanes that do not branch have none.
            let targets = index.map(|k| table.get(k as usize).copied().unwrap_or(0));
            return self.branch(m, &targets, oracle).map(Did::Control);
        }
        let id = if i.op == Op::Call {
            FuncId(i.imm)
        } else {
            let address = &regs.q[i.a.index()].0;
            let lead = lanes_of(m).next().unwrap_or(0);
            if lanes_of(m).any(|l| address[l] != address[lead]) {
                return self.call_many(m, address, oracle);
            }
            self.target(address[lead], m)?
        };
        let function = env.function(id).ok_or_else(lost)?;
        if !function.defined && is_device_runtime(&function.name) {
            let what =
                format!("`{}` of CUDA's device runtime (launches and synchronisation by a kernel)", function.name);
            return Err(Trouble::Unsupported(what));
        }
        if !function.defined {
            return Err(bug(BugKind::Undefined { function: function.name.clone() }, m));
        }
        let next = self.control.call(self.flow, m, function.start.0);
        Ok(Did::Enter(id, m, next))
    }

    /// The function at a code address.
    fn target(&self, address: u64, lanes: LaneMask) -> Result<FuncId, Trouble> {
        let map = self.sh.map;
        let found = self.sh.env.functions.values().position(|f| f.defined && map.code_of(f.start) == address);
        let id = found.and_then(|k| u32::try_from(k).ok()).map(FuncId);
        id.ok_or_else(|| bug(BugKind::BadCallTarget { address }, lanes))
    }

    /// Where a function begins that is there.
    fn start(&self, id: FuncId) -> Result<u32, Trouble> {
        self.sh.env.function(id).map(|f| f.start.0).ok_or_else(lost)
    }

    /// An indirect call with several targets: those of one target go now, the rest come back to this instruction.
    ///
    /// Rule: D-callframe (the frame is pushed for the lanes that go, not for all).
    fn call_many(&mut self, m: LaneMask, address: &[u64; LANES], oracle: &mut dyn Oracle) -> Result<Did, Trouble> {
        for l in lanes_of(m) {
            self.target(address[l], 1 << l)?;
        }
        if C::JOINS {
            // Independent threads: the lanes of one target call now, the others stay at the instruction.
            let lead = lanes_of(m).next().unwrap_or(0);
            let same = lanes_of(m).filter(|&l| address[l] == address[lead]).fold(0, |s, l| s | 1 << l);
            let id = self.target(address[lead], same)?;
            let start = self.start(id)?;
            let next = self.control.call_some(self.flow, same, m, start);
            return Ok(Did::Enter(id, same, next));
        }
        let mut starts = [0; LANES];
        for l in lanes_of(m) {
            let id = self.target(address[l], 1 << l)?;
            starts[l] = self.start(id)?;
        }
        let scattered = self.control.scatter(self.flow, m, &starts, true, oracle);
        let (now, next) = scattered.map_err(|s| Trouble::Fault(Fault::Stop(s)))?;
        let lead = lanes_of(now).next().unwrap_or(0);
        let id = self.target(address[lead], now)?;
        Ok(Did::Enter(id, now, next))
    }

    /// A branch with a target per lane.
    fn branch(&mut self, m: LaneMask, targets: &[u32; LANES], oracle: &mut dyn Oracle) -> Result<Next, Trouble> {
        let lead = targets[lanes_of(m).next().unwrap_or(0)];
        if lanes_of(m).all(|l| targets[l] == lead) {
            if m == self.flow.mask {
                self.flow.pc = lead;
                return Ok(Next::Go);
            }
            return Ok(self.control.diverge(self.flow, m, lead));
        }
        let scattered = self.control.scatter(self.flow, m, targets, false, oracle);
        Ok(scattered.map_err(|s| Trouble::Fault(Fault::Stop(s)))?.1)
    }

    /// Everything else.
    #[inline(never)]
    pub fn other<S: Sink>(
        &mut self,
        i: &Instr,
        m: LaneMask,
        regs: &mut Frame,
        cx: &mut Cx<'_, S>,
    ) -> Result<Did, Trouble> {
        match i.op {
            Op::WarpSync => return self.warp_sync(i, m, regs),
            Op::Exchange => return self.exchange(i, m, regs, cx),
            Op::ReadSpecial(which) => self.clock(which, i.d, m, regs),
            Op::Alloca => self.alloca(i, m, regs)?,
            Op::StackSave => {
                for l in lanes_of(m) {
                    regs.q[i.d.index()].0[l] = regs.w[STACK_TOP.index()].0[l].into();
                }
            }
            Op::StackRestore => {
                for l in lanes_of(m) {
                    regs.w[STACK_TOP.index()].0[l] = regs.q[i.a.index()].0[l] as u32;
                }
            }
            Op::Syscall(call) => {
                let (who, sm) = (self.sh.who, self.sh.sm);
                let at = Issuer { who, pc: Pc(self.flow.pc), depth: self.flow.depth, sm };
                self.mem.runtime_begins(at, self.local);
                let (control, sh) = (&*self.control, &*self.sh);
                let place = |lane: usize| {
                    place(sh.env, sh.loaded, (sh.block, self.warp), 1 << lane, at.pc, control.calls(lane))
                };
                syscall::run(call, m, regs, self.local, sh, self.mem, cx, &place)?;
                self.mem.runtime_ends(at, self.local);
            }
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
    fn members(&self, slot: Slot, m: LaneMask, regs: &Frame) -> Result<Vec<(LaneMask, LaneMask)>, Trouble> {
        let masks = &regs.w[slot.index()].0;
        let mut sets: Vec<(LaneMask, LaneMask)> = Vec::new();
        for l in lanes_of(m) {
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

    fn warp_sync(&mut self, i: &Instr, m: LaneMask, regs: &Frame) -> Result<Did, Trouble> {
        let live = self.control.live();
        let sets = self.members(i.a, m, regs)?;
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
    fn exchange<S: Sink>(
        &mut self,
        i: &Instr,
        m: LaneMask,
        regs: &mut Frame,
        cx: &mut Cx<'_, S>,
    ) -> Result<Did, Trouble> {
        let what = self.sh.env.exchanges[i.imm as usize & 0xffff];
        if !what.sync {
            self.tell_exchange(m, regs, cx)?;
            exchange::run(what.kind, i, m, self.sh.loaded.warp_size, regs);
            return Ok(Did::Next);
        }
        let live = self.control.live();
        let sets = self.members(i.e, m, regs)?;
        // Sets that lack a member wait for it before anybody writes a register: the instruction is executed again then.
        let incomplete = sets.iter().find(|(mask, lanes)| mask & live & !lanes != 0);
        if let Some(&(mask, lanes)) = incomplete.filter(|_| !on(Mutant::MembersNotAwaited)) {
            if !C::WAITS {
                return Err(bug(BugKind::MembersInactive { mask, active: lanes }, lanes));
            }
            return Ok(Did::Control(self.control.wait(self.flow, lanes, Wait::Members(mask))));
        }
        for (_, lanes) in sets {
            self.tell_exchange(lanes, regs, cx)?;
            exchange::run(what.kind, i, lanes, self.sh.loaded.warp_size, regs);
        }
        Ok(Did::Next)
    }

    /// Tells the observer that `lanes` exchange values now.
    #[inline(always)]
    fn tell_exchange<S: Sink>(&self, lanes: LaneMask, regs: &Frame, cx: &mut Cx<'_, S>) -> Result<(), Trouble> {
        if S::ON {
            let (pc, depth) = (Pc(self.flow.pc), self.flow.depth);
            let step = Step { pc, lanes, active: self.flow.mask, depth, regs, tokens: self.control.tokens() };
            cx.sink.event(self.sh.who, Event::Exchange(step)).map_err(|s| Trouble::Fault(Fault::Stop(s)))?;
        }
        Ok(())
    }

    /// Clocks come from the step counter (D-clock): a warp instruction is a cycle, and a nanosecond.
    fn clock(&self, which: Moving, d: Slot, m: LaneMask, regs: &mut Frame) {
        let now = self.sh.clock;
        let low = now as u32;
        let narrow = match which {
            Moving::Clock | Moving::GlobalTimerLo | Moving::Pm => low,
            Moving::ClockHi | Moving::GlobalTimerHi => (now >> 32) as u32,
            Moving::Clock64 | Moving::GlobalTimer | Moving::Pm64 => {
                lanes_of(m).for_each(|l| regs.q[d.index()].0[l] = now);
                return;
            }
        };
        lanes_of(m).for_each(|l| regs.w[d.index()].0[l] = narrow);
    }

    /// `alloca`: moves the top of the stack.
    fn alloca(&mut self, i: &Instr, m: LaneMask, regs: &mut Frame) -> Result<(), Trouble> {
        let align = i.imm.max(1).next_power_of_two();
        let limit = self.sh.loaded.stack_limit;
        for l in lanes_of(m) {
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

/// That a function is not there to which an instruction or an address of code leads.
#[track_caller]
fn lost() -> Trouble {
    Trouble::Fault(Fault::Stop(Stop::internal("a function that was looked up is not there", None)))
}

/// Writes a barrier's reduction to the lanes that waited for it.
pub(super) fn reduced(frames: &mut [Frame], arrival: &Arrival, red: crate::program::instr::BarrierRed, value: u32) {
    let frame = &mut frames[arrival.depth as usize];
    if red == crate::program::instr::BarrierRed::Popc {
        for l in lanes_of(arrival.lanes) {
            frame.w[arrival.dest.index()].0[l] = value;
        }
    } else {
        put_mask(&mut frame.p[arrival.dest.index()], value.wrapping_neg(), arrival.lanes);
    }
}

/// Whether a function belongs to CUDA's device runtime, by which kernels launch kernels (dynamic parallelism): its
/// functions begin with `__cudaCDP`, or are called as the host's are.
fn is_device_runtime(function: &str) -> bool {
    let host = function.strip_prefix("cuda").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
    host || function.starts_with("__cudaCDP")
}

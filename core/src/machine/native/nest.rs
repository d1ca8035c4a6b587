//! Lanes call functions and return while native code waits: what follows of that for who runs where.

use super::callees::Callee;
use super::calls::Calls;
use super::forms::Way;
use super::host::{Host, Placed, Transferred};
use super::session::Kernel;
use super::stacked::{ALIGN, Here, Level, Stacked, base};
use crate::base::mutant::{Mutant, on};
use crate::base::{Frame, LaneMask};
use crate::machine::control::{Control, Flow};
use crate::machine::warp::frames::{Deeper, Stack};
use crate::machine::warp::state::{Shared, Warp};
use crate::memory::{LocalMemory, Memory};
use crate::program::env::FuncId;
use crate::verdict::{Row, Sink};

/// A visit to functions: who runs, and what goes along with it.
pub(super) struct Nest<'a> {
    pub kernel: &'a Kernel,
    pub stacked: &'a mut Stacked,
    pub here: Here,
    /// All lanes that are ready, and those of them that are in callers that native code has not been in.
    pub ready: LaneMask,
    pub beyond: LaneMask,
    /// Whether functions are compiled that have not been run often.
    pub now: bool,
    /// Whether those who run are all that are ready, since they have called or returned: nobody has waited any more.
    pub together: bool,
}

impl Nest<'_> {
    /// The function that runs.
    #[inline(always)]
    pub fn callee(&self) -> Option<&Callee> {
        self.kernel.callees.made(self.here.number)
    }

    /// The lanes of a function call another one, with so much fuel left; gives how many thread instructions were fewer than if all
    /// lanes had executed each. `None`: they do not, natively.
    #[inline(always)]
    pub fn call<C: Control>(&mut self, left: i64, warp: &mut Warp<C>, sh: &Shared<'_>) -> Option<u64> {
        let (here, callees) = (self.here, &self.kernel.callees);
        let plan = &callees.made(here.number)?.plan;
        let id = FuncId(plan.code.get(here.k)?.imm);
        let number = callees.number(id)?;
        callees.get(number, sh.env, self.kernel.setting, self.now)?.plan.entries.first().copied().flatten()?;
        let depth = here.depth as usize + 1;
        let Stacked { filled, apart, .. } = &mut *self.stacked;
        if !apart.has_room() {
            return None;
        }
        if filled.len() <= depth {
            filled.resize(depth + 1, None);
        }
        let all = on(Mutant::NativeFilled).then_some(!0);
        let known = filled[depth].filter(|(other, _)| *other == number).map_or(0, |(_, lanes)| lanes);
        let base = here.base.checked_add(plan.function.frame_bytes)?.checked_next_multiple_of(ALIGN)?;
        let Warp { control, frames, filled: fills, local, index, .. } = warp;
        let deeper = Deeper { caller: here.depth, base, ready: all.unwrap_or(known) };
        if !(Stack { frames, filled: fills, local }).enter_again(sh, deeper, id, here.mask, *index) {
            return None;
        }
        filled[depth] = Some((number, known | here.mask));
        control.called(here.mask, here.depth, plan.function.start.0 + here.k as u32 + 1);
        let fewer = apart.turn(left);
        self.stacked.push(here);
        self.go_on(Here { number, base, depth: here.depth + 1, mask: here.mask, k: 0 });
        Some(fewer)
    }

    /// The lanes of a function return: see [`Nest::call`].
    #[inline(always)]
    pub fn ret<C: Control>(&mut self, left: i64, warp: &Warp<C>) -> Option<u64> {
        let (here, callees) = (self.here, &self.kernel.callees);
        let back = warp.control.returns_to(here.mask, here.depth - 1)?;
        if !self.stacked.apart.has_room() {
            return None;
        }
        if self.stacked.levels.is_empty() {
            self.callers(Flow { pc: back, mask: here.mask, depth: here.depth - 1 }, warp)?;
        }
        let place = callees.made(self.stacked.levels.last()?.number)?.plan.place(back)?;
        let fewer = self.stacked.apart.turn(left);
        self.stacked.come_back(place, here.mask);
        let next = self.stacked.next(callees, here)?;
        self.go_on(next);
        Some(fewer)
    }

    /// Others run, or elsewhere.
    #[inline(always)]
    pub fn go_on(&mut self, here: Here) {
        (self.here, self.stacked.apart.all.mask) = (here, here.mask);
        self.together = here.mask == self.ready && !on(Mutant::NativeTogether);
    }

    /// Native code came back at an instruction.
    #[inline(always)]
    pub fn came_to(&mut self, pc: u32) {
        let start = self.callee().map_or(pc, |callee| callee.plan.function.start.0);
        (self.here.k, self.here.mask) = ((pc - start) as usize, self.stacked.apart.all.mask);
    }

    /// Whether lanes are ready in callers.
    #[inline(always)]
    pub fn waits_beyond(&self) -> bool {
        let here = self.stacked.apart.those().fold(self.here.mask, |all, (_, lanes)| all | lanes);
        here != self.ready
    }

    /// Lanes return to where native code has not been yet: those who wait there are taken over from the control model. `None`: it is
    /// not so simple.
    #[inline(never)]
    pub fn callers<C: Control>(&mut self, flow: Flow, warp: &Warp<C>) -> Option<()> {
        let callees = &self.kernel.callees;
        let number = callees.at(flow.pc).filter(|_| flow.depth > 0)?;
        let callee = callees.made(number)?;
        let waiting = warp.control.at_depth(self.beyond, flow.depth);
        let all = waiting.iter().fold(flow.mask, |all, (lanes, _)| all | lanes);
        let base = base(callee, warp.frames.get(flow.depth as usize)?, flow.mask, all)?;
        if waiting.iter().any(|(_, pc)| callee.plan.place(*pc).is_none()) {
            return None;
        }
        self.stacked.levels.push(Level { number, base, waiting: 0 });
        for (lanes, pc) in waiting {
            self.stacked.waiting.push((callee.plan.place(pc)?, lanes));
            self.beyond &= !lanes;
        }
        Some(())
    }
}

/// What native code calls back for in functions.
pub(super) struct Within<'a, 'l, 'c, C, M, S> {
    pub calls: Calls<'a, 'l, 'c, M, S>,
    pub nest: Nest<'a>,
    pub warp: &'a mut Warp<C>,
}

impl<C: Control, M: Memory, S: Sink> Host for Within<'_, '_, '_, C, M, S> {
    fn place(&mut self) -> usize {
        self.calls.place()
    }

    fn shared(&mut self) -> &mut [u8] {
        self.calls.shared()
    }

    fn plain(&mut self, of: (u32, &mut Frame, &mut LocalMemory), pc: u32, lanes: LaneMask) -> bool {
        self.calls.depth = self.nest.here.depth;
        self.calls.plain(of, pc, lanes)
    }

    fn block(&mut self, site: (bool, u32), address: u64, bytes: u64, unit: u32) -> Option<(u64, usize, u64)> {
        self.calls.block(site, address, bytes, unit)
    }

    fn note(&mut self, warp: u32, rows: &[Row]) -> bool {
        self.calls.note(warp, rows)
    }

    #[inline(always)]
    fn transfer(&mut self, pc: u32, left: i64) -> Transferred<'_> {
        let Self { calls, nest, warp } = self;
        nest.came_to(pc);
        let before = nest.here.number;
        let calls_one = nest.callee().is_some_and(|callee| callee.plan.ways.get(nest.here.k) == Some(&Way::Call));
        let done = if calls_one { nest.call(left, warp, calls.sh) } else { nest.ret(left, warp) };
        let Some(fewer) = done else { return Transferred::No };
        if self.nest.together || self.nest.here.number != before {
            return Transferred::Elsewhere(fewer);
        }
        self.placed().map_or(Transferred::Elsewhere(fewer), |placed| Transferred::On(fewer, placed))
    }

    #[inline(always)]
    fn placed(&mut self) -> Option<Placed<'_>> {
        let beyond = self.nest.waits_beyond();
        let Nest { kernel, stacked, here, .. } = &mut self.nest;
        let plan = &kernel.callees.made(here.number)?.plan;
        let number = plan.entries.get(here.k).copied().flatten()?;
        let Warp { frames, local, index, .. } = &mut *self.warp;
        let (frame, from) = (frames.get_mut(here.depth as usize)?, plan.function.start.0 + here.k as u32);
        let stack = (here.base / 4) as usize;
        Some(Placed { warp: *index, frame, local, apart: &mut stacked.apart, stack, beyond, number, from })
    }
}

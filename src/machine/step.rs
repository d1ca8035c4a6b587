//! The step of a block, which every run and every search makes (report, 5.4 and 5.5): lanes of a warp execute, and what
//! follows from that.
//!
//! Turns of a grid ([`super::grid`]), steps of a context whose memory acts on its own ([`super::overlap`]) and steps of a
//! search ([`super::walk`]) differ in who says which lanes go on and for how long, and in what they note.

use super::block::Block;
use super::control::Control;
use super::loaded::Loaded;
use super::rare::reduced;
use super::warp::{Halt, Shared, Warp, Why, Yield};
use crate::base::Pc;
use crate::base::mutant::{Mutant, on};
use crate::memory::{Cx, Fault, Memory};
use crate::program::env::ProgEnv;
use crate::verdict::{Event, Rule, Sink, Stop, Who};

/// A resident block whose warps execute.
pub(super) struct Executing<'a, C> {
    warps: &'a mut [Warp<C>],
    /// What its warps share.
    pub sh: Shared<'a>,
    live: &'a mut u32,
    running: &'a mut u32,
}

impl<'a, C: Control> Executing<'a, C> {
    /// A block of the grid of launch `launch`.
    #[inline(always)]
    pub fn of(block: &'a mut Block<C>, env: &'a ProgEnv, loaded: &'a Loaded, launch: u32) -> Self {
        let Block { warps, barriers, shared, index, linear, sm, live, running, .. } = block;
        let sh = Shared {
            env,
            loaded,
            barriers,
            shared: &mut shared[..],
            map: env.addresses(),
            who: Who { launch, block: *linear, warp: 0 },
            block: *index,
            sm: *sm,
            clock: 0,
            threads: 0,
            turn: 0,
            exited: 0,
        };
        Self { warps, sh, live, running }
    }

    /// Whether all its warps are done.
    #[inline(always)]
    pub const fn over(&self) -> bool {
        *self.running == 0
    }

    /// A step of warp `w`: `execute` runs lanes of it, and says why they stopped and after how many instructions; then
    /// those that exited are counted, and barriers that are complete end. `mark` learns of each warp whose readiness this
    /// changes, and whether it may go on as far as its control model says.
    ///
    /// Rule: block.exec
    #[inline(always)]
    pub fn step<M: Memory, S: Sink>(
        &mut self,
        w: usize,
        mem: &mut M,
        cx: &mut Cx<'_, S>,
        execute: impl FnOnce(&mut Warp<C>, &mut Shared<'a>, &mut M, &mut Cx<'_, S>) -> Result<(Yield, u32), Box<Halt>>,
        mut mark: impl FnMut(&mut Warp<C>, bool, &M),
    ) -> Result<(Yield, u32), Box<Halt>> {
        let Some(warp) = self.warps.get_mut(w) else { return Err(stopped(no_warp())) };
        self.sh.who.warp = warp.index;
        if S::ON {
            cx.sink.fire(self.sh.who, Rule::BlockExec).map_err(stopped)?;
        }
        let outcome = execute(warp, &mut self.sh, mem, cx);
        let exited = std::mem::take(&mut self.sh.exited);
        *self.live -= if on(Mutant::BarrierAwaitsExited) { 0 } else { exited };
        let (why, used) = outcome?;
        mark(warp, why == Yield::Fuel, mem);
        *self.running -= u32::from(why == Yield::Done);
        // Also after the last instruction of a lease: a barrier that is complete takes no more arrivals.
        if self.sh.barriers.any() {
            self.end_barriers(mem, cx, mark).map_err(stopped)?;
        }
        Ok((why, used))
    }

    /// Ends the barriers that are complete.
    ///
    /// Rule: block.endBar
    #[inline]
    fn end_barriers<M: Memory, S: Sink>(
        &mut self,
        mem: &M,
        cx: &mut Cx<'_, S>,
        mut mark: impl FnMut(&mut Warp<C>, bool, &M),
    ) -> Result<(), Stop> {
        let barriers = &mut *self.sh.barriers;
        let mut go_on = |warp: &mut Warp<C>| {
            let may = M::IMMEDIATE || warp.control.runnable();
            mark(warp, may, mem);
        };
        while let Some(id) = barriers.complete(*self.live) {
            let Some(open) = barriers.open(id) else { break };
            let value = open.value();
            let mut rest = open.whole;
            while rest != 0 {
                let w = rest.trailing_zeros();
                rest &= rest - 1;
                let Some(warp) = self.warps.get_mut(w as usize) else { continue };
                warp.control.release(id, !0);
                go_on(warp);
            }
            for arrival in &open.waiting {
                let Some(warp) = self.warps.get_mut(arrival.warp as usize) else { continue };
                warp.control.release(id, arrival.lanes);
                if let Some((red, value)) = value {
                    reduced(&mut warp.frames, arrival, red, value);
                }
                go_on(warp);
            }
            barriers.remove(id);
            if S::ON {
                cx.sink.event(self.sh.who, Event::Released(id))?;
                let rules = [Rule::BarEndBar, Rule::BarRemBar, Rule::BlockEndBar, Rule::BarReduce];
                for rule in &rules[..if value.is_some() { 4 } else { 3 }] {
                    cx.sink.fire(self.sh.who, *rule)?;
                }
            }
        }
        Ok(())
    }
}

#[cold]
fn stopped(stop: Stop) -> Box<Halt> {
    Box::new(Halt { why: Why::Fault(Fault::Stop(stop)), pc: Pc(0), lanes: !0 })
}

#[cold]
fn no_warp() -> Stop {
    Stop::internal("a warp steps that its block does not have", None)
}

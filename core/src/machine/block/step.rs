//! The step of a block, which every run and every search makes (report, 5.4 and 5.5): lanes of a warp execute, and what
//! follows from that.
//!
//! Turns of a grid ([`crate::machine::grid`]), steps of a context whose memory acts on its own ([`crate::machine::overlap`]) and steps of a
//! search ([`crate::machine::walk`]) differ in who says which lanes go on and for how long, and in what they note.

use crate::base::mutant::{Mutant, on};
use crate::machine::block::state::Block;
use crate::machine::control::Control;
use crate::machine::grid::loaded::Loaded;
use crate::machine::warp::mistakes::no_warp;
use crate::machine::warp::ready::can_be_scheduled;
use crate::machine::warp::run::{Begun, run};
use crate::machine::warp::slow_path::reduced;
use crate::machine::warp::state::{Halt, Shared, Warp, Yield, stopped};
use crate::memory::{Cx, Fault, Memory};
use crate::program::env::ProgEnv;
use crate::verdict::{CLUSTER, Event, Rule, Sink, Stop, Who};

/// Says whether a warp is ready: the bit of `base` is its block's first.
#[inline(always)]
pub(in crate::machine) fn put(ready: &mut [u64], base: usize, warp: u32, can: bool) {
    let index = base + warp as usize;
    if let Some(word) = ready.get_mut(index / 64) {
        *word = *word & !(1 << (index % 64)) | u64::from(can) << (index % 64);
    }
}

/// How a warp steps. A trait and not a pair of closures: those would be functions of their own, which are compiled for the
/// baseline instruction set.
pub(in crate::machine) trait Step<C, M: Memory, S> {
    /// Runs lanes of the warp; says why they stopped, and after how many instructions.
    fn execute(
        &mut self,
        warp: &mut Warp<C>,
        sh: &mut Shared<'_>,
        mem: &mut M,
        cx: &mut Cx<'_, S>,
    ) -> Result<(Yield, u32), Box<Halt>>;

    /// Notes that a warp has changed that `may` go on as far as its control model says; `of` is one of its block.
    fn mark(&mut self, warp: &mut Warp<C>, may: bool, of: &Party<'_>, mem: &M);
}

/// A warp of a block, and what its launch fixes.
pub(in crate::machine) struct Party<'a> {
    pub who: Who,
    pub sm: u32,
    pub loaded: &'a Loaded,
}

/// A turn of a warp, whose lanes its control model and the oracle pick.
pub(in crate::machine) struct Turn<'a> {
    /// Instructions that it may take.
    pub fuel: u32,
    /// The warps that are ready, and where those of the block begin.
    pub ready: &'a mut [u64],
    pub base: usize,
    /// The lanes that have begun it natively.
    pub begun: Option<Begun>,
}

impl<C: Control, M: Memory, S: Sink> Step<C, M, S> for Turn<'_> {
    #[inline(always)]
    fn execute(
        &mut self,
        warp: &mut Warp<C>,
        sh: &mut Shared<'_>,
        mem: &mut M,
        cx: &mut Cx<'_, S>,
    ) -> Result<(Yield, u32), Box<Halt>> {
        run(warp, sh, mem, (self.fuel, self.begun.take()), cx)
    }

    #[inline(always)]
    fn mark(&mut self, warp: &mut Warp<C>, may: bool, of: &Party<'_>, mem: &M) {
        let who = Who { warp: warp.index, ..of.who };
        let can = may && can_be_scheduled(warp, who, of.sm, &of.loaded.uses, mem);
        put(self.ready, self.base, warp.index, can);
    }
}

/// Which block a slot holds.
#[cfg_attr(not(all(feature = "native", target_arch = "x86_64")), allow(dead_code, reason = "native code reads it"))]
pub(in crate::machine) struct Place<'a> {
    pub index: &'a mut [u32; 3],
    pub linear: &'a mut u64,
    pub sm: &'a mut u32,
    /// See [`Block::fresh`].
    pub fresh: &'a mut bool,
}

/// A resident block whose warps execute.
pub(in crate::machine) struct Executing<'a, C> {
    pub warps: &'a mut [Warp<C>],
    /// What its warps share.
    pub sh: Shared<'a>,
    /// Lanes that have not exited, and warps that are not done.
    pub live: &'a mut u32,
    pub running: &'a mut u32,
    /// Which block it is.
    pub place: Place<'a>,
}

impl<'a, C: Control> Executing<'a, C> {
    /// A block of the grid of launch `launch`.
    #[inline(always)]
    pub fn of(block: &'a mut Block<C>, env: &'a ProgEnv, loaded: &'a Loaded, launch: u32) -> Self {
        let Block { warps, barriers, shared, index, linear, sm, live, running, fresh, .. } = block;
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
            runs: None,
            begun: 0,
            more: 0,
            exited: 0,
            native: None,
        };
        let place = Place { index, linear, sm, fresh: &mut fresh.0 };
        Self { warps, sh, live, running, place }
    }

    /// The warp that steps, as the block's launch knows it.
    pub fn party(&self) -> Party<'a> {
        Party { who: self.sh.who, sm: self.sh.sm, loaded: self.sh.loaded }
    }

    /// Whether all its warps are done.
    #[inline(always)]
    pub const fn over(&self) -> bool {
        *self.running == 0
    }

    /// A step of warp `w`: lanes of it execute, those that exited are counted, and barriers that are complete end.
    ///
    /// Rule: block.exec
    #[inline(always)]
    pub fn step<M: Memory, S: Sink>(
        &mut self,
        w: usize,
        mem: &mut M,
        cx: &mut Cx<'_, S>,
        mut how: impl Step<C, M, S>,
    ) -> Result<(Yield, u32), Box<Halt>> {
        *self.place.fresh = false;
        let who = Who { warp: u32::try_from(w).unwrap_or(u32::MAX), ..self.sh.who };
        // Not read back from where a part was just written, which would stall.
        let party = Party { who, ..self.party() };
        self.sh.who.warp = who.warp;
        let Some(warp) = self.warps.get_mut(w) else { return Err(no_warp()) };
        if S::ON {
            cx.sink.fire(party.who, Rule::BlockExec).map_err(halted)?;
        }
        let outcome = how.execute(warp, &mut self.sh, mem, cx);
        let exited = std::mem::take(&mut self.sh.exited);
        *self.live -= if on(Mutant::BarrierAwaitsExited) { 0 } else { exited };
        let (why, used) = outcome?;
        // Where memory is immediate, a warp that was ready and has not stopped still is.
        if !M::IMMEDIATE || why != Yield::Fuel {
            how.mark(warp, why == Yield::Fuel, &party, mem);
        }
        *self.running -= u32::from(why == Yield::Done);
        // Also after the last instruction of a lease: a barrier that is complete takes no more arrivals.
        if self.sh.barriers.any() {
            if self.sh.barriers.completes_cluster(*self.live) {
                self.end_phase(mem, cx, &mut how, &party).map_err(halted)?;
            }
            self.end_barriers(mem, cx, how, &party).map_err(halted)?;
        }
        Ok((why, used))
    }

    /// Ends the phase of the cluster's barrier, which is complete (D-cluster-barrier).
    #[inline(never)]
    fn end_phase<M: Memory, S: Sink>(
        &mut self,
        mem: &M,
        cx: &mut Cx<'_, S>,
        how: &mut impl Step<C, M, S>,
        party: &Party<'_>,
    ) -> Result<(), Stop> {
        self.sh.barriers.put_at_cluster(0);
        if S::ON {
            cx.sink.event(self.sh.who, Event::Released(CLUSTER))?;
        }
        for warp in self.warps.iter_mut().filter(|warp| warp.arrivals.open != 0) {
            let lanes = warp.arrivals.complete(&mut warp.control);
            if S::ON && lanes != 0 {
                let who = Who { warp: warp.index, ..self.sh.who };
                cx.sink.event(who, Event::Passed { lanes })?;
            }
            let may = M::IMMEDIATE && lanes != 0 || warp.control.runnable();
            how.mark(warp, may, party, mem);
        }
        Ok(())
    }

    /// Ends the barriers that are complete.
    ///
    /// Rule: block.endBar
    #[inline(always)]
    pub fn end_barriers<M: Memory, S: Sink>(
        &mut self,
        mem: &M,
        cx: &mut Cx<'_, S>,
        mut how: impl Step<C, M, S>,
        party: &Party<'_>,
    ) -> Result<(), Stop> {
        let barriers = &mut *self.sh.barriers;
        let mut go_on = |warp: &mut Warp<C>| {
            let may = M::IMMEDIATE || warp.control.runnable();
            how.mark(warp, may, party, mem);
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
pub(in crate::machine) fn halted(stop: Stop) -> Box<Halt> {
    stopped(Fault::Stop(stop), !0)
}

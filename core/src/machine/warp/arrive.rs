//! Lanes of a warp arrive at barriers of their block (report, 5.5.1; PTX ISA, `bar` and `barrier`).
//!
//! Each lane names a barrier and perhaps a count; lanes that name the same arrive together, and a warp may wait at several
//! barriers at once. Departure: an aligned barrier that some live lanes of the warp do not execute is a defect unless they
//! may still come or do nothing more but exit (D-barrier-lanes); in the report one lane's arrival counts for its warp.

use crate::base::mutant::{Mutant, on};
use crate::base::{LANES, LaneMask, Pc, lanes_of};
use crate::machine::block::barrier::{Arrival, Arrive, COUNT};
use crate::machine::control::{Control, Flow, Wait};
use crate::machine::warp::slow_path::{Did, Rare, Trouble, bug};
use crate::machine::warp::state::Shared;
use crate::memory::{Fault, Memory};
use crate::program::env::ProgEnv;
use crate::program::instr::{Barrier, BarrierKind, Instr};
use crate::verdict::{Bug, BugKind, Doing, Elsewhere, Event, Place, Rule, Sink, Stop};
use smallvec::SmallVec;

/// Lanes that name one barrier.
#[derive(Clone, Copy)]
struct Meeting {
    id: u32,
    count: Option<u32>,
    lanes: LaneMask,
}

impl Shared<'_> {
    /// Joins a barrier where the whole of a warp, whose `live` lanes are left, executes a `bar.sync` with one number and no
    /// count, which nearly all are; gives the number.
    #[inline(always)]
    pub(in crate::machine) fn join(&mut self, i: &Instr, live: LaneMask, warp: u32) -> Option<u32> {
        let id = self.env.barriers.get(i.imm as usize).and_then(Barrier::plain)?;
        let joined = self.barriers.join(id, warp, live.count_ones(), self.loaded.warp_size);
        joined.then_some(id.into())
    }
}

impl<C: Control, M: Memory, S: Sink> Rare<'_, '_, '_, C, M, S> {
    /// `bar` and `barrier`: arrival of the warp, or of its lanes where each has its own program counter.
    ///
    /// Rule: thread.barsync
    ///
    /// Rule: thread.bararrive
    ///
    /// Rule: thread.barred
    #[inline(never)]
    pub fn barrier(&mut self) -> Result<Did, Trouble> {
        let (m, live) = (self.m, self.control.live());
        let Some(&barrier) = self.sh.env.barriers.get(self.i.imm as usize) else { return Ok(Did::Next) };
        if M::IMMEDIATE
            && m == live
            && !self.cx.sink.wants_rules()
            && let Some(id) = self.sh.join(self.i, live, self.warp)
        {
            self.tell_arrival(id, m, true)?;
            return Ok(Did::Control(self.control.wait(self.flow, m, Wait::Barrier(id))));
        }
        if let Some(did) = self.come_together(barrier.aligned)? {
            return Ok(did);
        }
        let aligned = barrier.aligned || !C::WAITS;
        if let Some(id) = barrier.id.map(u32::from).filter(|id| m != 0 && !barrier.counted && *id < COUNT) {
            // Nearly all barriers: one number for all lanes, and no count.
            let whole = aligned && !on(Mutant::BarrierCountsLanes);
            self.arrive(barrier, Meeting { id, count: None, lanes: m }, whole.then_some(live))?;
            return Ok(match barrier.kind {
                BarrierKind::Arrive => Did::Next,
                _ => Did::Control(self.control.wait(self.flow, m, Wait::Barrier(id))),
            });
        }
        let meetings = self.meetings(barrier)?;
        let whole = aligned && (!C::WAITS || meetings.len() == 1) && !on(Mutant::BarrierCountsLanes);
        for meeting in &meetings {
            self.arrive(barrier, *meeting, whole.then_some(live))?;
        }
        if barrier.kind == BarrierKind::Arrive {
            return Ok(Did::Next);
        }
        let (mut next, mut rest) = (Did::Next, *self.flow);
        for Meeting { id, lanes, .. } in meetings {
            let mut at = rest;
            next = Did::Control(self.control.wait(&mut at, lanes, Wait::Barrier(id)));
            *self.flow = at;
            if C::WAITS {
                rest.mask &= !lanes;
            }
        }
        Ok(next)
    }

    /// Which lanes name which barrier, checked.
    fn meetings(&self, barrier: Barrier) -> Result<SmallVec<[Meeting; 2]>, Trouble> {
        let (m, w) = (self.m, &self.regs.w);
        let (ids, counts) = (&w[self.i.a.index()].0, &w[self.i.b.index()].0);
        let size = self.sh.loaded.warp_size;
        let mut all: SmallVec<[Meeting; 2]> = SmallVec::new();
        for l in lanes_of(m) {
            let id = barrier.id.map_or(ids[l], u32::from);
            let count = barrier.counted.then(|| counts[l]);
            if id >= COUNT {
                return Err(bug(BugKind::BarrierNumber { id }, giving(ids, m, id)));
            }
            if let Some(count) = count.filter(|n| *n == 0 || n % size != 0) {
                return Err(bug(BugKind::BarrierCount { count }, giving(counts, m, count)));
            }
            match all.iter_mut().find(|a| a.id == id) {
                None => all.push(Meeting { id, count, lanes: 1 << l }),
                Some(a) if a.count == count => a.lanes |= 1 << l,
                Some(a) => {
                    let other = count.map_or(m, |count| giving(counts, m, count));
                    return Err(self.contradiction(*a, Meeting { id, count, lanes: other }));
                }
            }
        }
        Ok(all)
    }

    /// Lanes of one instruction give one barrier different counts.
    fn contradiction(&self, first: Meeting, second: Meeting) -> Trouble {
        let text = |m: Meeting| m.count.map_or_else(String::new, |n| format!("{n} threads"));
        let kind = BugKind::BarrierMismatch { id: first.id, first: text(first), second: text(second) };
        // The block completes both places.
        let place = |lanes| Place { pc: Pc(self.flow.pc), warp: self.warp, lanes, ..Place::default() };
        let (place, other) = (place(second.lanes), Some(place(first.lanes)));
        Trouble::Fault(Fault::Stop(Stop::Bug(Box::new(Bug { kind, place, other }))))
    }

    /// Lanes arrive at a barrier; `whole`: they stand for all these live lanes of the warp.
    fn arrive(&mut self, barrier: Barrier, of: Meeting, whole: Option<LaneMask>) -> Result<(), Trouble> {
        let Meeting { id, count, lanes } = of;
        let loaded = self.sh.loaded;
        let who = Arrival { warp: self.warp, lanes, depth: self.flow.depth, dest: self.i.d, pc: self.flow.pc };
        let stands_for = whole.unwrap_or(lanes).count_ones();
        let weight = if whole.is_some() { loaded.warp_size } else { lanes.count_ones() };
        let predicate = self.regs.p.get(self.i.c.index()).copied().unwrap_or(0);
        let block = loaded.warps().saturating_mul(loaded.warp_size);
        let arrive = Arrive { id, barrier, count, who, weight, stands_for, predicate, block };
        let opened = self.sh.barriers.arrive(&arrive).map_err(|kind| bug(kind, lanes))?;
        if S::ON {
            let all = [Rule::BarBarInfo, Rule::BarUpdAct, Rule::BarUpdArrCnt, Rule::BarPrepBar];
            for rule in &all[..if opened { 4 } else { 3 }] {
                self.cx.sink.fire(self.sh.who, *rule)?;
            }
            let waits = barrier.kind != BarrierKind::Arrive;
            self.tell_arrival(id, whole.unwrap_or(lanes), waits)?;
        }
        Ok(())
    }

    /// Tells that lanes arrive at a barrier, and whether they wait at it.
    #[inline(never)]
    fn tell_arrival(&mut self, id: u32, lanes: LaneMask, waits: bool) -> Result<(), Trouble> {
        let arrive = crate::verdict::Arrive { pc: Pc(self.flow.pc), id, lanes, waits, releases: true };
        Ok(self.cx.sink.event(self.sh.who, Event::Arrive(arrive))?)
    }

    /// Some of the `live` lanes execute an aligned barrier: looks where the others are (D-barrier-lanes).
    #[cold]
    pub(super) fn converge(&self, live: LaneMask) -> Result<(), Trouble> {
        let (m, env, pc) = (self.m, self.sh.env, self.flow.pc);
        let (mut arrived, mut missing) = (m, 0);
        let mut elsewhere = Vec::new();
        for s in self.control.standing(self.flow, live & !m) {
            if s.wait == Some(Wait::Warp) && (s.pc, s.depth) == (pc, self.flow.depth) {
                arrived |= s.lanes;
                continue;
            }
            let calls = lanes_of(s.lanes).next().map_or_else(Vec::new, |lane| self.control.calls(lane));
            let doing = match s.wait {
                Some(_) => Doing::Waits,
                None if env.only_leaves(s.pc, &calls) => Doing::Leaves,
                None => Doing::Runs,
            };
            // Who waits at another aligned barrier waits for these.
            let may_come = C::WAITS && s.wait != Some(Wait::Warp) && env.can_reach(s.pc, &calls, pc);
            if doing != Doing::Leaves && !may_come {
                missing |= s.lanes;
            }
            elsewhere.push(Elsewhere { warp: self.warp, lanes: s.lanes, pc: visible(env, s.at()), doing });
        }
        if missing == 0 { Ok(()) } else { Err(bug(BugKind::BarrierDivergence { arrived, missing, elsewhere }, m)) }
    }
}

/// Lanes of a warp exit for which others wait at an aligned barrier: a defect unless they left to exit and nothing else
/// (D-barrier-lanes).
#[cold]
pub(in crate::machine) fn stranded<C: Control>(
    env: &ProgEnv,
    control: &C,
    warp: u32,
    exit: Flow,
    lanes: LaneMask,
) -> Option<Fault> {
    let standing = control.standing(&exit, control.live() & !exit.mask);
    let at = standing.into_iter().find(|s| s.wait == Some(Wait::Warp) && env.went_on(s.pc, exit.pc))?;
    let gone = Elsewhere { warp, lanes, pc: Pc(exit.pc), doing: Doing::Exited };
    let kind = BugKind::BarrierDivergence { arrived: at.lanes, missing: lanes, elsewhere: vec![gone] };
    let place = Place { pc: Pc(at.pc), warp, lanes: at.lanes, ..Place::default() };
    Some(Fault::Stop(Stop::Bug(Box::new(Bug { kind, place, other: None }))))
}

/// The lanes of `among` that give this value.
fn giving(values: &[u32; LANES], among: LaneMask, value: u32) -> LaneMask {
    lanes_of(among).filter(|l| values[*l] == value).fold(0, |m, l| m | 1 << l)
}

/// The first instruction from an address on that the program has; others were injected.
pub(in crate::machine) fn visible(env: &ProgEnv, pc: u32) -> Pc {
    let own = |pc: &u32| env.origin.get(*pc as usize).is_some_and(|o| !o.hidden);
    Pc((pc..).take(64).find(own).unwrap_or(pc))
}

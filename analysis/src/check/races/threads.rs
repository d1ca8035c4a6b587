//! The threads of a resident block: what each knows, and how barriers and `bar.warp.sync` make it known.

use super::clock::{Clock, Group, Known, Thread};
use super::history::Release;
use super::launch::Launch;
use super::shadow::Shadow;
use crate::base::mutant::{Mutant, on};
use crate::base::{LANES, LaneMask, lanes_of};
use crate::check::plain::at;
use crate::verdict::{Arrive, CLUSTER, Reach};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A thread's clock at a moment, to be handed on later.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    me: Thread,
    clock: Clock,
    epoch: u32,
    /// Who releases by it: the thread, or in lockstep all lanes of its warp.
    acting: Group,
}

/// What a thread has released and observed and has not used yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    /// The last releasing fence of each reach: a strong write after it makes a release pattern.
    pub fences: [Option<Moment>; 2],
    /// The last release operation at each location, by width and reach: a strong write there continues its pattern.
    pub heads: FxHashMap<(u64, u32, Reach), Moment>,
    /// Releases that strong reads observed, with location and width: a fence, or an acquire operation there, makes an
    /// acquire pattern.
    pub observed: Vec<(u64, u32, Release)>,
}

/// The clocks of a warp's lanes.
#[derive(Clone, Debug)]
enum Clocks {
    /// All lanes know the same of others.
    Shared(Clock),
    /// Each knows something else.
    Each(Box<[Clock; LANES]>),
}

/// Lanes that wait at `bar.warp.sync` for the others of a mask.
#[derive(Clone, Copy, Debug)]
struct Meeting {
    members: LaneMask,
    here: LaneMask,
}

/// A warp.
#[derive(Clone, Debug)]
pub(super) struct Warp {
    /// Its number in the run.
    pub id: u32,
    /// Lanes that hold threads.
    populated: LaneMask,
    exited: LaneMask,
    /// Lanes that accessed shared or global memory since all threads of the block last met.
    pub touched: LaneMask,
    clocks: Clocks,
    meetings: Vec<Meeting>,
    /// Made when a lane first needs it.
    pending: Option<Box<[Pending; LANES]>>,
}

/// Arrivals at a barrier.
#[derive(Clone, Debug, Default)]
struct Barrier {
    /// The lanes that wait, by warp; none of those behind its end.
    waiting: Vec<LaneMask>,
    /// What those who arrived without waiting hand on.
    arrived: Option<Known>,
}

/// A resident block.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// The number of its first warp.
    pub first: u32,
    /// Whether the lanes of a warp execute in lockstep (D-race-lockstep).
    pub lockstep: bool,
    /// The present epoch, from 1.
    pub epoch: u32,
    /// The epoch after which all threads of the block last met.
    pub met: u32,
    /// Its warps.
    pub warps: Vec<Warp>,
    /// The shadow of its shared memory.
    pub shared: Shadow,
    /// What its sequentially consistent fences know, whatever their reach.
    pub fences: Option<Known>,
    /// Whether a thread exited after accesses that the others do not know of.
    unmet: bool,
    /// By number; there are 16 at most, and that of the cluster.
    barriers: Vec<Barrier>,
    /// What those handed on who arrived in the last phase of the cluster's barrier that is complete.
    phase: Option<Arc<Known>>,
}

impl Block {
    /// The block of a launch whose warps are numbered from `first`.
    pub fn new(first: u32, launch: &Launch, shared: Shadow) -> Self {
        let warp = |w: u32| Warp {
            id: first + w,
            populated: launch.shape.populated(w),
            exited: 0,
            touched: 0,
            clocks: Clocks::Shared(Clock::default()),
            meetings: Vec::new(),
            pending: None,
        };
        Self {
            first,
            lockstep: launch.lockstep,
            epoch: 1,
            met: 0,
            warps: (0..launch.warps).map(warp).collect(),
            shared,
            fences: None,
            unmet: false,
            barriers: Vec::new(),
            phase: None,
        }
    }

    /// A thread of it.
    pub fn thread(&self, warp: usize, lane: usize) -> Thread {
        let id = self.warps.get(warp).map_or(0, |w| w.id);
        Thread { warp: id, lane: u32::try_from(lane).unwrap_or(0), block: self.first }
    }

    /// The epoch up to which accesses happened before whatever anybody can still do to a location; `alone`: nobody else has
    /// access to it, as to shared memory, or to anything in a launch of one block.
    pub const fn expired(&self, alone: bool) -> u32 {
        if alone { self.met } else { 0 }
    }

    /// The lanes of a warp that know what some of them learn: in lockstep all.
    pub fn learners(&self, warp: usize, lanes: LaneMask) -> LaneMask {
        self.warps.get(warp).filter(|_| self.lockstep).map_or(lanes, |w| w.populated)
    }

    /// Threads arrive at a barrier.
    pub fn arrive(&mut self, warp: usize, arrive: &Arrive) {
        if !arrive.waits {
            let releases = arrive.releases || on(Mutant::ClusterRelaxedReleases);
            let known = if releases { self.known_by(warp, arrive.lanes) } else { self.fenced_by(warp, arrive.lanes) };
            at(&mut self.barriers, arrive.id).arrived.get_or_insert_with(Known::default).join(&known);
            self.epoch += 1;
            return;
        }
        let waiting = &mut at(&mut self.barriers, arrive.id).waiting;
        if waiting.len() <= warp {
            waiting.resize(warp + 1, 0);
        }
        waiting[warp] |= arrive.lanes;
    }

    /// What lanes of a warp know together, themselves among it.
    fn known_by(&self, warp: usize, lanes: LaneMask) -> Known {
        let mut all = Known::default();
        let Some(w) = self.warps.get(warp) else { return all };
        let whole = lanes == w.populated;
        for lane in lanes_of(lanes) {
            let me = self.thread(warp, lane);
            let group = if whole { Group::Warp(me.warp) } else { Group::Thread(me.warp, me.lane) };
            all.join(&w.clock(lane).released(me, group, self.epoch));
            if whole && w.agrees() {
                break;
            }
        }
        all
    }

    /// What the last releasing fences of lanes of a warp knew: what they hand on by a relaxed arrival.
    fn fenced_by(&self, warp: usize, lanes: LaneMask) -> Known {
        let mut all = Known::default();
        let pending = lanes_of(lanes).filter_map(|lane| self.warps.get(warp)?.has_pending(lane));
        pending.flat_map(|pending| pending.fences.iter().flatten()).for_each(|fence| all.join(&fence.known()));
        all
    }

    /// A barrier is complete: who waited knows what all who arrived knew.
    pub fn release(&mut self, id: u32) {
        let Some(Barrier { mut waiting, arrived }) = self.barriers.get_mut(id as usize).map(std::mem::take) else {
            return;
        };
        if id == CLUSTER {
            self.phase = arrived.map(Arc::new);
            return;
        }
        if arrived.is_none() && self.everybody(&waiting) {
            self.meet();
        } else {
            let mut known = arrived.unwrap_or_default();
            for (warp, lanes) in waiting.iter().enumerate() {
                known.join(&self.known_by(warp, *lanes));
            }
            let known = Arc::new(known);
            for (warp, lanes) in waiting.iter().enumerate().filter(|(_, lanes)| **lanes != 0) {
                self.join(warp, *lanes, &known);
            }
            self.epoch += 1;
        }
        // Its room is used again.
        waiting.clear();
        self.barriers[id as usize].waiting = waiting;
    }

    /// Lanes of a warp have waited at the barrier of their cluster.
    pub fn passed(&mut self, warp: usize, lanes: LaneMask) {
        if let Some(known) = self.phase.clone() {
            self.join(warp, lanes, &known);
        }
    }

    /// Whether all threads wait, but for those that exited and left nothing unknown.
    fn everybody(&self, waiting: &[LaneMask]) -> bool {
        let lanes = waiting.iter().chain(std::iter::repeat(&0));
        !self.unmet && self.warps.iter().zip(lanes).all(|(w, lanes)| w.populated & !w.exited & !lanes == 0)
    }

    /// All threads meet: each knows everything.
    fn meet(&mut self) {
        let mut rest: Option<Arc<Known>> = None;
        let mut fences = 0;
        for clock in self.warps.iter().flat_map(Warp::clocks) {
            fences = fences.max(clock.fences);
            match (&mut rest, &clock.rest) {
                (Some(all), Some(more)) if !Arc::ptr_eq(all, more) => Arc::make_mut(all).join(more),
                (none @ None, Some(first)) => *none = Some(Arc::clone(first)),
                _ => {}
            }
        }
        let clock = Clock { block: self.epoch, warp: self.epoch, fences, rest };
        for warp in &mut self.warps {
            warp.touched = 0;
            match &mut warp.clocks {
                Clocks::Shared(c) => c.clone_from(&clock),
                each @ Clocks::Each(_) => *each = Clocks::Shared(clock.clone()),
            }
        }
        self.met = self.epoch;
        self.epoch += 1;
    }

    /// Lanes of a warp learn something.
    pub fn join(&mut self, warp: usize, lanes: LaneMask, known: &Arc<Known>) {
        let first = self.first;
        let Some(w) = self.warps.get_mut(warp) else { return };
        let id = w.id;
        w.each(lanes, |lane, clock| clock.join(known, Thread { warp: id, lane, block: first }));
    }

    /// Lanes of a warp come to `bar.warp.sync` with this member mask. Whoever's members are all there goes on.
    pub fn warp_sync(&mut self, warp: usize, lanes: LaneMask, members: LaneMask) {
        let Some(w) = self.warps.get_mut(warp) else { return };
        match w.meetings.iter_mut().find(|m| m.members == members) {
            Some(m) => m.here |= lanes,
            None => w.meetings.push(Meeting { members, here: lanes }),
        }
        self.end_meetings(warp);
    }

    fn end_meetings(&mut self, warp: usize) {
        while let Some(w) = self.warps.get_mut(warp) {
            let complete = |m: &Meeting| m.members & w.populated & !w.exited & !m.here == 0;
            let Some(at) = w.meetings.iter().position(complete) else { return };
            let Meeting { here, .. } = w.meetings.swap_remove(at);
            if let Clocks::Shared(clock) = &mut w.clocks
                && here == w.populated
            {
                clock.warp = self.epoch;
            } else {
                let known = Arc::new(self.known_by(warp, here));
                self.join(warp, here, &known);
            }
            self.epoch += 1;
        }
    }

    /// Lanes of a warp exit.
    pub fn exit(&mut self, warp: usize, lanes: LaneMask) {
        let Some(w) = self.warps.get_mut(warp) else { return };
        w.exited |= lanes;
        self.unmet |= w.touched & lanes != 0;
        if !w.meetings.is_empty() {
            self.end_meetings(warp);
        }
    }
}

impl Warp {
    /// What a lane knows.
    pub fn clock(&self, lane: usize) -> &Clock {
        match &self.clocks {
            Clocks::Shared(clock) => clock,
            Clocks::Each(all) => &all[lane & (LANES - 1)],
        }
    }

    /// Whether all lanes know the same.
    pub const fn agrees(&self) -> bool {
        matches!(self.clocks, Clocks::Shared(_))
    }

    fn clocks(&self) -> &[Clock] {
        match &self.clocks {
            Clocks::Shared(clock) => std::slice::from_ref(clock),
            Clocks::Each(all) => &all[..],
        }
    }

    /// Changes the clocks of lanes.
    fn each(&mut self, lanes: LaneMask, mut change: impl FnMut(u32, &mut Clock)) {
        if let Clocks::Shared(clock) = &self.clocks {
            // One lane stands for all when all change: a clock holds nothing of its own thread.
            if lanes & self.populated == self.populated {
                let mut clock = clock.clone();
                change(self.populated.trailing_zeros(), &mut clock);
                self.clocks = Clocks::Shared(clock);
                return;
            }
            self.clocks = Clocks::Each(Box::new(std::array::from_fn(|_| clock.clone())));
        }
        let Clocks::Each(all) = &mut self.clocks else { return };
        for lane in lanes_of(lanes) {
            change(u32::try_from(lane).unwrap_or(0), &mut all[lane]);
        }
    }

    /// Whether no lane has released or observed anything outside of barriers.
    pub const fn is_plain(&self) -> bool {
        self.pending.is_none()
    }

    /// What a lane has released and observed.
    pub fn pending(&mut self, lane: usize) -> &mut Pending {
        &mut self.pending.get_or_insert_with(Box::default)[lane & (LANES - 1)]
    }

    /// The same, where there is any.
    pub fn has_pending(&self, lane: usize) -> Option<&Pending> {
        self.pending.as_ref().map(|all| &all[lane & (LANES - 1)])
    }
}

impl Moment {
    /// A lane's clock now.
    pub fn now(block: &Block, warp: usize, lane: usize) -> Self {
        let me = block.thread(warp, lane);
        let clock = block.warps.get(warp).map_or_else(Clock::default, |w| w.clock(lane).clone());
        let acting = if block.lockstep { Group::Warp(me.warp) } else { Group::Thread(me.warp, me.lane) };
        Self { me, clock, epoch: block.epoch, acting }
    }

    /// What it hands on.
    pub fn known(&self) -> Known {
        self.clock.released(self.me, self.acting, self.epoch)
    }
}

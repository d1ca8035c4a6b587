//! A resident block (report, 5.5): its warps, shared memory and barriers.

use crate::base::mutant::{Mutant, on};
use crate::base::{Aside, Frame, LaneMask, Pc, lanes_of};
use crate::machine::block::barrier::Barriers;
use crate::machine::block::cluster::Arrivals;
use crate::machine::control::{Control, Wait};
use crate::machine::grid::loaded::{Loaded, Where};
use crate::machine::warp::frames::zero;
use crate::machine::warp::place::place;
use crate::machine::warp::state::{Halt, Warp, Why};
use crate::memory::{Fault, LocalMemory};
use crate::program::env::ProgEnv;
use crate::program::instr::{STACK_BASE, STACK_TOP};
use crate::verdict::{Bug, BugKind, Doing, Elsewhere, Operation, Place, Stop, StuckKind, Waiting, WaitingFor};
use aligned_vec::{AVec, ConstAlign};

/// A block on a streaming multiprocessor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block<C> {
    /// Its warps.
    pub warps: Vec<Warp<C>>,
    /// Its barriers.
    pub barriers: Barriers,
    /// Its shared memory.
    pub shared: AVec<u8, ConstAlign<64>>,
    /// Its index in the grid.
    pub index: [u32; 3],
    /// The same, linear.
    pub linear: u64,
    /// The streaming multiprocessor.
    pub sm: u32,
    /// Warps that have not finished.
    pub running: u32,
    /// Lanes that have not exited.
    pub live: u32,
    /// It is complete and holds no room; a search keeps it to read its registers.
    pub kept: bool,
    /// Whether its warps are as they were issued, as far as control goes: what they have done since, native code holds.
    pub fresh: Aside<bool>,
}

impl<C: Control> Block<C> {
    /// An empty block, to be issued with [`Block::issue`].
    #[must_use]
    pub fn new() -> Self {
        let shared = AVec::new(64);
        Self {
            warps: Vec::new(),
            barriers: Barriers::default(),
            shared,
            index: [0; 3],
            linear: 0,
            sm: 0,
            running: 0,
            live: 0,
            kept: false,
            fresh: Aside(false),
        }
    }

    /// Makes it the block of linear index `linear`; what it holds from an earlier block of the same launch is reused.
    ///
    /// Rule: context.issue
    pub fn issue(&mut self, env: &ProgEnv, loaded: &Loaded, linear: u64, sm: u32) {
        let Some(entry) = env.function(loaded.entry) else { return };
        self.index = loaded.index_of(linear);
        if on(Mutant::BlockTransposed) {
            self.index.swap(0, 1);
        }
        (self.linear, self.sm, self.kept, self.fresh.0) = (linear, sm, false, true);
        self.barriers.clear();
        if loaded.shared_bytes > 0 {
            self.shared.fill(0);
            self.shared.resize(loaded.shared_bytes as usize, 0);
        }
        let again = !self.warps.is_empty();
        self.running = loaded.warps();
        self.live = loaded.threads();
        for w in 0..self.running {
            let populated = loaded.populated(w);
            if again {
                let warp = &mut self.warps[w as usize];
                warp.control.reset(populated, entry.start.0);
                warp.filled.fill(None);
                warp.arrivals = Arrivals::default();
            } else {
                let mut frame = Frame::default();
                frame.grow(entry.slots.w.max(2).into(), entry.slots.q.into(), entry.slots.p.into());
                let (frames, filled) = (vec![frame], vec![None]);
                let control = C::new(populated, entry.start.0);
                let (local, arrivals) = (LocalMemory::default(), Arrivals::default());
                self.warps.push(Warp { control, frames, filled, local, arrivals, index: w, lines: Aside::default() });
            }
            let warp = &mut self.warps[w as usize];
            warp.control.group(loaded.grouping);
            warp.local.renew(entry.frame_bytes.saturating_add(loaded.arguments));
            let frame = &mut warp.frames[0];
            let at = Where { block: self.index, warp: w, sm };
            if again {
                loaded.fill_again(frame, at);
            } else {
                loaded.fill(env, &entry.preloads, frame, !0, at);
            }
            if !again || loaded.moves_stack {
                frame.w[STACK_BASE.index()].0.fill(0);
                frame.w[STACK_TOP.index()].0.fill(entry.frame_bytes);
            }
            zero(&entry.undefined, frame, !0);
        }
    }

    /// Where `lanes` of a warp are, for a report.
    #[must_use]
    pub fn place(&self, env: &ProgEnv, loaded: &Loaded, warp: u32, lanes: LaneMask, pc: Pc) -> Place {
        let lane = lanes_of(lanes).next().unwrap_or(0);
        let calls = self.warps.get(warp as usize).map_or_else(Vec::new, |w| w.control.calls(lane));
        place(env, loaded, (self.index, warp), lanes, pc, calls)
    }

    /// Completes what a warp said when it halted.
    #[must_use]
    pub fn stop(&self, env: &ProgEnv, loaded: &Loaded, warp: u32, halt: Halt) -> Stop {
        let lanes = match &halt.why {
            Why::Fault(Fault::Bug(_, bad)) if *bad != 0 => *bad,
            _ => halt.lanes,
        };
        let place = self.place(env, loaded, warp, lanes, halt.pc);
        match halt.why {
            Why::Fault(Fault::Bug(kind, _)) => {
                let other = match &kind {
                    BugKind::BarrierMismatch { id, .. } => self.waits_at(env, loaded, *id),
                    _ => None,
                };
                Stop::Bug(Box::new(Bug { kind, place, other }))
            }
            Why::Fault(Fault::Limit(limit)) => Stop::Limit(limit),
            // An observer knows the lanes; the rest of the place is known here.
            Why::Fault(Fault::Stop(Stop::Bug(mut bug))) if bug.place.entry.is_empty() => {
                let lanes = if bug.place.lanes == 0 { lanes } else { bug.place.lanes };
                bug.place = self.place(env, loaded, warp, lanes, bug.place.pc);
                if let Some(other) = bug.other.as_mut().filter(|o| o.entry.is_empty()) {
                    *other = self.place(env, loaded, other.warp, other.lanes, other.pc);
                }
                Stop::Bug(bug)
            }
            Why::Fault(Fault::Stop(Stop::Internal(mut error))) => {
                error.place.get_or_insert(place);
                Stop::Internal(error)
            }
            Why::Fault(Fault::Stop(stop)) => stop,
            Why::Fault(Fault::Program(f)) => {
                let operation = Operation { place, program: f.program, file: f.file, line: f.line };
                Stop::Stuck(Box::new(StuckKind::MemoryProgram { operation, cause: f.cause }))
            }
            Why::Unsupported(what) => Stop::Unsupported(what, Some(Box::new(place))),
        }
    }

    /// Where lanes wait at a barrier, those of the lowest warp.
    fn waits_at(&self, env: &ProgEnv, loaded: &Loaded, id: u32) -> Option<Place> {
        self.warps.iter().find_map(|warp| {
            let all = warp.control.waiting();
            let (lanes, pc, _) = all.into_iter().find(|(.., wait)| *wait == Wait::Barrier(id))?;
            Some(self.place(env, loaded, warp.index, lanes, Pc(pc)))
        })
    }

    /// Who waits, and for what.
    fn waiting(&self, env: &ProgEnv, loaded: &Loaded) -> Vec<(Waiting, Wait)> {
        let mut all = Vec::new();
        for warp in &self.warps {
            for (lanes, pc, wait) in warp.control.waiting() {
                let on = match wait {
                    Wait::Barrier(id) => WaitingFor::Barrier(id),
                    Wait::Members(m) | Wait::WarpSync(m) => WaitingFor::Members(m),
                    Wait::Warp => WaitingFor::Members(warp.control.live()),
                };
                let place = self.place(env, loaded, warp.index, lanes, Pc(pc));
                all.push((Waiting { place, on }, wait));
            }
        }
        all
    }

    /// Why nothing in the block can step, when that is so.
    #[must_use]
    pub fn stuck(&self, env: &ProgEnv, loaded: &Loaded) -> Stop {
        let waiting = self.waiting(env, loaded);
        let exited = loaded.threads() - self.live.min(loaded.threads());
        let members = waiting.iter().find(|(_, wait)| !matches!(wait, Wait::Barrier(_)));
        if let Some((w, wait)) = members {
            // The other party: lanes of the same warp that wait elsewhere.
            let same = |o: &&(Waiting, Wait)| o.0.place.warp == w.place.warp && o.0.place.pc != w.place.pc;
            let mut others = waiting.iter().filter(same).map(|o| &o.0.place);
            let arrived = w.place.lanes;
            let (kind, other) = match *wait {
                Wait::Members(mask) | Wait::WarpSync(mask) => {
                    (BugKind::MembersNeverCome { mask, waiting: arrived }, others.next().cloned())
                }
                Wait::Warp | Wait::Barrier(_) => {
                    let live = self.warps.get(w.place.warp as usize).map_or(0, |w| w.control.live());
                    let at = |p: &Place| Elsewhere { warp: p.warp, lanes: p.lanes, pc: p.pc, doing: Doing::Waits };
                    let elsewhere = others.map(at).collect();
                    (BugKind::BarrierDivergence { arrived, missing: live & !arrived, elsewhere }, None)
                }
            };
            return Stop::Bug(Box::new(Bug { kind, place: w.place.clone(), other }));
        }
        let waiting = waiting.into_iter().map(|(w, _)| w).collect();
        Stop::Stuck(Box::new(StuckKind::BarrierDeadlock { waiting, exited }))
    }
}

impl<C: Control> Default for Block<C> {
    fn default() -> Self {
        Self::new()
    }
}

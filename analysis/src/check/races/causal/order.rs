//! What orders accesses: fences, releases and acquires, barriers, and the end of threads.

use super::copies::at_block;
use super::known::{Set, Spot, Thread, thread};
use super::state::{Barrier, Cell, Element, History, Of, Pattern};
use super::{Causal, Part};
use crate::base::mutant::{Mutant, on};
use crate::base::{LaneMask, Pc, lanes_of};
use crate::check::races::sites::{FenceSite, Site};
use crate::verdict::{Arrive, CLUSTER, Reach, Step, Stop, Strength, Who};

impl Causal {
    /// An instruction is about to be executed.
    ///
    /// # Errors
    /// A race of copies that are waited for.
    pub(super) fn step(&mut self, history: &mut History, who: Who, step: &Step<'_>) -> Result<(), Stop> {
        match self.sites.get(step.pc.0 as usize) {
            Some(Site::Fence(fence)) => {
                if self.lockstep {
                    history.lockstep(who);
                }
                history.fence(who, step.lanes, *fence);
            }
            Some(Site::WarpSync(slot)) => {
                for lane in lanes_of(step.lanes) {
                    let mask = step.regs.w[slot.index()].0[lane];
                    *history.meetings.entry((who.block, who.warp, mask)).or_default() |= 1 << lane;
                }
                self.meet(history, who);
            }
            Some(Site::Exit) => {
                *history.exited.entry((who.block, who.warp)).or_default() |= step.lanes;
                self.meet(history, who);
                // In lockstep, what a lane did happens before what others of its warp do.
                if !self.lockstep {
                    lanes_of(step.lanes).for_each(|lane| _ = history.threads.remove(&thread(who, lane)));
                }
            }
            Some(Site::ProxyFence) => history.copies.proxies.fenced(at_block(who)),
            Some(&Site::CopyCommit { bulk }) => history.copies.commit(at_block(who), who.warp, step.lanes, bulk),
            Some(&Site::CopyWait(awaited)) => return self.waited(history, who, (step, awaited)),
            Some(Site::Other | Site::Access(_)) | None => {}
        }
        Ok(())
    }

    /// Lanes at `bar.warp.sync` go on, if no live one of their mask is missing.
    fn meet(&self, history: &mut History, who: Who) {
        let Some(shape) = self.shapes.get(who.launch as usize) else { return };
        let gone = history.exited.get(&(who.block, who.warp)).copied().unwrap_or(0);
        let live = shape.populated(who.warp) & !gone;
        let range = (who.block, who.warp, 0)..=(who.block, who.warp, LaneMask::MAX);
        let here = history.meetings.range(range).map(|(key, here)| (*key, *here));
        let done: Vec<_> = here.filter(|((.., mask), here)| mask & live & !here == 0).collect();
        for (key, here) in done {
            history.meetings.remove(&key);
            let members: Vec<Thread> = lanes_of(here).map(|lane| thread(who, lane)).collect();
            history.together(&members);
        }
    }
}

impl History {
    pub(super) fn of(&mut self, thread: Thread) -> &mut Of {
        self.threads.entry(thread).or_default()
    }

    /// Each of some threads knows what any of them does.
    fn together(&mut self, members: &[Thread]) {
        let mut all = Set::default();
        members.iter().filter_map(|thread| self.threads.get(thread)).for_each(|of| all.join(&of.known));
        members.iter().for_each(|thread| self.of(*thread).known.join(&all));
    }

    /// In lockstep one instruction of a warp happens before the next one (D-race-lockstep).
    pub(super) fn lockstep(&mut self, who: Who) {
        let range = (who.block, who.warp, 0)..=(who.block, who.warp, u32::MAX);
        let members: Vec<Thread> = self.threads.range(range).map(|(thread, _)| *thread).collect();
        let mut all = Set::default();
        members.iter().for_each(|thread| all.join(&self.of(*thread).known));
        (0..32).for_each(|lane| self.of(thread(who, lane)).known.join(&all));
    }

    /// A thread has accessed a spot.
    pub(super) fn did(&mut self, spot: Spot, me: Thread, number: usize, writes: bool, observed: bool) {
        let of = self.threads.entry(me).or_default();
        let Cell { kept, latest, behind, patterns } = self.cells.entry(spot).or_default();
        kept.add(number);
        of.known.add(number);
        if writes {
            *latest = Some(number);
            *behind = of.known.and(kept);
            // A read-modify-write hands on the releases of the write that it observed.
            if !observed {
                patterns.clear();
            }
        }
    }

    /// A strong read observes release patterns, and an acquire operation completes them.
    pub(super) fn observe(&mut self, part: &Part<'_>, patterns: Vec<(Pattern, Set)>) {
        let Part { site, me, .. } = *part;
        let Strength::Strong(reach) = site.strength else { return };
        let observed = &mut self.of(me).observed;
        for ((block, far), known) in patterns {
            let near = block == me.0;
            if far.includes(near) {
                observed.entry((part.element(), near)).or_default().join(&known);
            }
        }
        if site.acquires {
            self.acquire(me, reach, Some(part.element()));
        }
    }

    /// The last operation of acquire patterns: of those of one element, or of all.
    fn acquire(&mut self, me: Thread, reach: Reach, at: Option<Element>) {
        let Of { known, observed, .. } = self.of(me);
        observed.retain(|(element, near), releases| {
            let includes = reach.includes(*near) || on(Mutant::AcquireAnyScope);
            let completes = at.is_none_or(|at| at == *element) && includes;
            if completes {
                known.join(releases);
            }
            !completes
        });
    }

    /// What a strong write hands on: what its thread released before, and what it releases itself.
    pub(super) fn publish(&mut self, part: &Part<'_>, grain: u64) {
        let Part { site, me, .. } = *part;
        let Strength::Strong(reach) = site.strength else { return };
        if !site.kind.writes() {
            return;
        }
        let of = self.of(me);
        if site.releases {
            let known = of.known.clone();
            of.heads.insert((part.element(), reach), known);
        }
        let heads = of.heads.iter().filter(|((element, _), _)| *element == part.element());
        let heads = heads.map(|((_, reach), known)| (*reach, known.clone()));
        let releases: Vec<_> = of.fences.iter().map(|(reach, known)| (*reach, known.clone())).chain(heads).collect();
        for spot in part.spots(grain) {
            let patterns = &mut self.cells.entry(spot).or_default().patterns;
            releases.iter().for_each(|(reach, known)| patterns.entry((me.0, *reach)).or_default().join(known));
        }
    }

    /// Lanes execute a fence. Sequentially consistent ones come after those before them whose scopes and their own include each
    /// other's threads; lanes of one instruction are not ordered among each other.
    fn fence(&mut self, who: Who, lanes: LaneMask, fence: FenceSite) {
        let FenceSite { reach, acquires, releases, total } = fence;
        let mut before = self.near.get(&who.block).cloned().unwrap_or_default();
        if reach == Reach::Device {
            before.join(&self.far);
        }
        if on(Mutant::FenceOrderForgotten) {
            before = Set::default();
        }
        for lane in lanes_of(lanes) {
            let me = thread(who, lane);
            if acquires {
                self.acquire(me, reach, None);
            }
            if total {
                self.of(me).known.join(&before);
                let known = self.of(me).known.clone();
                self.near.entry(who.block).or_default().join(&known);
                if reach == Reach::Device {
                    self.far.join(&known);
                }
            }
            if releases {
                let of = self.of(me);
                let known = of.known.clone();
                // One that reaches farther does all that an earlier one did.
                if reach == Reach::Device {
                    of.fences.clear();
                }
                of.fences.insert(reach, known);
            }
        }
    }

    /// Threads arrive at a barrier.
    pub(super) fn arrive(&mut self, who: Who, arrive: &Arrive) {
        let releases = arrive.releases || on(Mutant::ClusterRelaxedReleases);
        for lane in lanes_of(arrive.lanes) {
            let me = thread(who, lane);
            let mut known = Set::default();
            match self.threads.get(&me) {
                Some(of) if releases => known.join(&of.known),
                // A relaxed arrival hands on what its thread's last fences knew.
                Some(of) => of.fences.values().for_each(|fenced| known.join(fenced)),
                None => {}
            }
            let Barrier { arrived, waiting } = self.barriers.entry((who.block, arrive.id)).or_default();
            arrived.join(&known);
            if arrive.waits {
                let at = waiting.partition_point(|other| *other < me);
                waiting.insert(at, me);
            }
        }
    }

    /// A barrier is complete: who waited knows what all who arrived knew.
    pub(super) fn released(&mut self, who: Who, id: u32) {
        let ended = self.barriers.remove(&(who.block, id));
        if id == CLUSTER {
            self.phases.insert(who.block, ended.map(|barrier| barrier.arrived).unwrap_or_default());
            return;
        }
        let Some(Barrier { arrived, waiting }) = ended else { return };
        waiting.into_iter().for_each(|thread| self.of(thread).known.join(&arrived));
    }

    /// Lanes have arrived by an instruction, since what they had begun to copy has landed.
    pub(super) fn landed(&mut self, who: Who, pc: Pc, lanes: LaneMask) {
        self.copies.landed(at_block(who), who.warp, pc, lanes);
    }

    /// Threads have waited at the barrier of their cluster.
    pub(super) fn passed(&mut self, who: Who, lanes: LaneMask) {
        let Some(arrived) = self.phases.get(&who.block).cloned() else { return };
        lanes_of(lanes).for_each(|lane| self.of(thread(who, lane)).known.join(&arrived));
    }
}

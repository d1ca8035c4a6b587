//! The hardware of remote-scope promotion as the memory of PTX kernels (`--memory rsp`): [`rsp`](crate::memory::rsp) has the rules, which act
//! here on bytes with masks.
//!
//! A block is a work-group with an L1 cache, a lane is a thread. An access of global memory is compiled by a row of table 3
//! ([`mapping`]); a lane makes its steps one after the other and is held until the last, with the other lanes of its
//! instruction. What the environment does is of two kinds. Flushes, and fetches that somebody may wait for or that bring a newer
//! value, are operations of the block whose cache it is: they are promised progress, as the rest in flight is. Fetches that
//! nobody asks for are silent rules. Evictions are left out, and what can leave a fifo does so at once (D-rsp-reduced).
//!
//! Shared, local and constant memory and parameters are no part of it: accesses of them take effect at once.

mod access;
mod caches;
mod copies;
mod hardware;
mod mapping;
mod pending;
mod ready;
mod seam;
mod snapshot;
mod view;

use super::flat::Arena;
use super::rsp::instructions::{lock, lock_rmw, may_execute, update_l1, update_l2};
use super::rsp::{Kind, Level, Scheme, SchemeName, Step, environment, instructions};
use super::{Environment, Issuer};
use crate::base::mutant::{Mutant, on};
use crate::verdict::{Rule, Who};
use caches::{At, Caches, Group, Unit, is_stale};
use hardware::{Probe, View};
use pending::{Does, Instruction, Lane, Pending};
use ready::{Numbered, Ready, Wait};
use std::sync::Arc;

/// Memory with remote-scope promotion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Promoted {
    arena: Arena,
    scheme: Arc<Scheme>,
    caches: Caches,
    pending: Pending,
    ready: Ready,
    woken: Vec<Who>,
    /// Sections were put back: a walk asks who can go on, not what is noted of it.
    walked: bool,
}

impl Environment for Promoted {
    type Model = SchemeName;

    fn create(scheme: &SchemeName, base: u64, cap: Option<u64>) -> Self {
        Self {
            arena: Arena::create(&(), base, cap),
            scheme: Arc::new(Scheme::of(*scheme)),
            caches: Caches::default(),
            pending: Pending::default(),
            ready: Ready::default(),
            woken: Vec::new(),
            walked: false,
        }
    }
}

impl Promoted {
    const fn probe(&self) -> Probe<'_> {
        Probe { caches: &self.caches, arena: &self.arena }
    }

    const fn view(&mut self) -> View<'_> {
        View { caches: &mut self.caches, arena: &mut self.arena }
    }

    /// All steps of an instruction.
    fn steps(&self, does: &Does) -> &[Step] {
        match does {
            Does::Access(_, row) => mapping::steps(&self.scheme, *row),
            Does::Fence(scope, order) => mapping::fence(*scope, *order),
        }
    }

    /// What a lane waits for; nothing if the rule of its next step fires.
    fn waits(&self, instruction: &Instruction, lane: Lane) -> Option<Wait> {
        let (probe, thread) = (&mut self.probe(), instruction.thread(lane.lane));
        if !may_execute(probe, thread) {
            return Some(Wait::Markers(thread));
        }
        let step = *self.steps(&instruction.does).get(usize::from(lane.done))?;
        let (group, at) = (thread.group(), lane.at);
        let entry = Wait::Entry(group, at.unit);
        match (step, &instruction.does) {
            (Step::Access, Does::Access(_, row)) => match (row.kind, row.width.level()) {
                (Kind::Load, _) if instructions::load(probe, group, at).is_none() => Some(entry),
                (Kind::Load | Kind::Store, _) => None,
                (Kind::Update, Level::L1) if update_l1(probe, thread, at, |_, _| None).is_none() => Some(entry),
                (Kind::Update, Level::L2 | Level::Global) if update_l2(probe, thread, at, |_, _| None).is_none() => {
                    Some(entry)
                }
                (Kind::Update, _) => None,
            },
            (Step::Lock, _) if lock(probe, thread, at).is_none() => Some(Wait::Lock),
            (Step::LockRmw(reach), _) if lock_rmw(probe, thread, reach).is_none() => Some(Wait::Lock),
            _ => None,
        }
    }

    /// Looks again whether a lane can go on.
    fn look(&mut self, slot: usize, lane: usize) {
        let Some((instruction, at)) = self.pending.lane(slot, lane).filter(|_| !self.walked) else { return };
        let waits = self.waits(instruction, at);
        let group = instruction.thread(at.lane).group();
        self.ready.set(Numbered::Lane(slot, lane), waits.is_none());
        if let Some(wait) = waits {
            self.ready.wait((slot, lane), wait);
            // An update waits for its entry or for a lock.
            if matches!(wait, Wait::Entry(..)) {
                self.ready.wait((slot, lane), Wait::Lock);
            }
            debug_assert!(!matches!(wait, Wait::Entry(of, _) if of != group), "entries are of the own cache");
        }
    }

    fn wake(&mut self, wait: Wait) {
        for (slot, lane) in self.ready.waited(wait) {
            self.look(slot, lane);
        }
    }

    /// The location that is flushed of a dirty entry, if it can be.
    fn flushes(&self, group: Group, unit: Unit) -> Option<At> {
        let at = At { unit, mask: self.caches.entry(group, unit)?.dirty };
        (at.mask != 0 && environment::may_trigger(&self.probe(), group, at)).then_some(at)
    }

    /// The location that would be fetched, if anything can be and would be another value or freshness.
    fn fetches(&self, group: Group, unit: Unit) -> Option<At> {
        let entry = self.caches.entry(group, unit);
        let (valid, dirty) = entry.map_or((0, 0), |e| (e.valid, e.dirty));
        let at = At { unit, mask: !dirty };
        let new = at.mask & !valid != 0 || entry.is_some_and(|e| is_stale(&self.arena, unit, e));
        (new && environment::may_trigger(&self.probe(), group, at)).then_some(at)
    }

    /// The same of fetches that are promised: somebody of the block is about to read here, or what is held is older than what could be.
    fn wanted(&self, group: Group, unit: Unit) -> Option<At> {
        let entry = self.caches.entry(group, unit)?;
        let newer = || is_stale(&self.arena, unit, entry) && !on(Mutant::RspPtxKeepsOldValues);
        if entry.reads > 0 || newer() { self.fetches(group, unit) } else { None }
    }

    /// Fetches that nobody asks for, in a fixed order: of what somebody else is about to change, since later they would bring what
    /// they bring now, or what the change leaves.
    fn unasked(&self, see: &mut dyn FnMut(Group, At) -> bool) {
        let (l1, hot) = (&self.caches.l1, &self.caches.hot);
        if l1.len() < 2 || on(Mutant::RspPtxNeverFetchesEarly) {
            return;
        }
        let mut last = None;
        for &(unit, owner) in hot {
            if last.replace(unit) == Some(unit) {
                continue;
            }
            // The first of those who are about to change it; others may be, too.
            let shared = hot.range((unit, owner)..).nth(1).is_some_and(|(next, _)| *next == unit);
            for group in l1.keys().filter(|group| shared || **group != owner) {
                let at = self.fetches(*group, unit).filter(|_| self.wanted(*group, unit).is_none());
                if at.is_some_and(|at| see(*group, at)) {
                    return;
                }
            }
        }
    }

    /// After anything changed: what can leave fifos does, and who may go on by it is noted. Gives the rules that fired.
    fn settle(&mut self) -> Vec<Rule> {
        let mut fired = Vec::new();
        let mut stirred: Vec<Group> = std::mem::take(&mut self.caches.queued);
        stirred.extend(self.caches.touched.iter().map(|(group, _)| *group));
        stirred.sort_unstable();
        stirred.dedup();
        for group in stirred {
            let cache = super::rsp::CacheAt::L1(group);
            loop {
                let view = &mut self.view();
                let left = environment::dequeue_location(view, cache);
                let Some(rule) = left.or_else(|| environment::dequeue_marker(view, cache)) else { break };
                fired.push(rule);
            }
        }
        if self.walked {
            self.caches.forget_changes();
            return fired;
        }
        for number in std::mem::take(&mut self.caches.gone) {
            self.ready.set(Numbered::Flush(number), false);
            self.ready.set(Numbered::Fetch(number), false);
        }
        let mut touched = std::mem::take(&mut self.caches.touched);
        touched.sort_unstable();
        touched.dedup();
        for (group, unit) in touched {
            if let Some(number) = self.caches.entry(group, unit).map(|e| e.number) {
                let (flushes, fetches) = (self.flushes(group, unit).is_some(), self.wanted(group, unit).is_some());
                self.ready.set(Numbered::Flush(number), flushes);
                self.ready.set(Numbered::Fetch(number), fetches);
            }
            self.wake(Wait::Entry(group, unit));
        }
        for thread in std::mem::take(&mut self.caches.released) {
            self.wake(Wait::Markers(thread));
        }
        if std::mem::take(&mut self.caches.unlocked) {
            self.wake(Wait::Lock);
        }
        fired
    }

    /// A lane is about to do what changes an entry's users.
    fn uses(&mut self, at: Issuer, unit: Unit, change: impl FnOnce(&mut caches::Entry)) {
        let group = Group { launch: at.who.launch, block: at.who.block };
        self.caches.change(group, unit, change);
    }
}

//! Table 2: what the environment does. Any thread may trigger it (D-rsp-trigger): of the work-group whose L1 cache it is about,
//! of the device whose L2 cache it is about.

use super::assembly::{Level, Location, Program};
use super::instructions::Fired;
use super::state::{Entry, Hygiene, Mark, Place, System};
use super::{GROUPS, LOCATIONS};
use crate::base::mutant::{Mutant, on};
use crate::verdict::Rule;

/// A transition of the environment, with the cache that it is about: of which work-group, or of which device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Move {
    /// `EVICT_L1(x)`, `EVICT_L2(x)`
    Evict(Level, u8, Location),
    /// `FLUSH_L1(x, v)`, `FLUSH_L2(x, v)`
    Flush(Level, u8, Location),
    /// `FETCH_L1(x, v)`, `FETCH_L2(x, v)`
    Fetch(Level, u8, Location),
    /// `DEQLOC_L1(x)`, `DEQLOC_L2(x)`: of whatever location is at the tail.
    DequeueLocation(Level, u8),
    /// `DEQMARKER_L1`, `DEQMARKER_L2`
    DequeueMarker(Level, u8),
}

const fn clean(entry: Entry) -> bool {
    entry.present && matches!(entry.hygiene, Hygiene::Clean)
}

impl System {
    /// The environment makes a transition. `None`: its condition does not hold, and nothing has changed.
    pub fn perform(&mut self, program: &Program, step: Move) -> Option<Fired> {
        match step {
            Move::Evict(Level::L1, group, at) => self.evict_l1(usize::from(group), at),
            Move::Evict(_, device, at) => self.evict_l2(usize::from(device), at),
            Move::Flush(Level::L1, group, at) => self.flush_l1(program, usize::from(group), at),
            Move::Flush(_, device, at) => self.flush_l2(program, usize::from(device), at),
            Move::Fetch(Level::L1, group, at) => self.fetch_l1(program, usize::from(group), at),
            Move::Fetch(_, device, at) => self.fetch_l2(usize::from(device), at),
            Move::DequeueLocation(level, which) => self.dequeue_location(level, usize::from(which)),
            Move::DequeueMarker(level, which) => self.dequeue_marker(level, usize::from(which)),
        }
    }

    /// Whether a thread of a work-group could trigger what a location's lock in the lock file is about.
    #[must_use]
    pub fn may_move(&self, program: &Program, group: usize, at: Location) -> bool {
        let lock = self.lockfile[program.device_of(group)][usize::from(at.0)];
        lock.holder().is_none_or(|t| program.group_of(t) == group) || on(Mutant::RspLockFileIgnored)
    }

    /// Rule: rsp.env.EVICT-L1
    fn evict_l1(&mut self, group: usize, at: Location) -> Option<Fired> {
        let entry = self.l1[group].entry_mut(at);
        if !clean(*entry) && !(on(Mutant::RspEvictsDirty) && entry.present) {
            return None;
        }
        *entry = Entry::default();
        Some(Rule::RspEnvEvictL1)
    }

    /// Its lock is free or held by a thread of the device, which may trigger it: there are no others. Rule: rsp.env.EVICT-L2
    fn evict_l2(&mut self, device: usize, at: Location) -> Option<Fired> {
        let entry = self.l2[device].entry_mut(at);
        if !clean(*entry) && !(on(Mutant::RspEvictsDirtyL2) && entry.present) {
            return None;
        }
        *entry = Entry::default();
        Some(Rule::RspEnvEvictL2)
    }

    /// Entries that are not there stay away (D-rsp-absent). Rule: rsp.env.FLUSH-L1
    fn flush_l1(&mut self, program: &Program, group: usize, at: Location) -> Option<Fired> {
        let entry = self.l1[group].entry(at);
        if self.l1[group].not_dirty(at) || !self.may_move(program, group, at) {
            return None;
        }
        let device = program.device_of(group);
        (0..program.device_count()).for_each(|d| self.l2[d].invalidate(at));
        if !on(Mutant::RspFlushLost) {
            self.store(program, (Level::L2, device), at, entry.value, entry.source);
        }
        self.l1[group].entry_mut(at).hygiene = Hygiene::Clean;
        self.ghost.append(program, Place::l1(group), Place::l2(device), at);
        Some(Rule::RspEnvFlushL1)
    }

    /// Rule: rsp.env.FLUSH-L2
    fn flush_l2(&mut self, program: &Program, device: usize, at: Location) -> Option<Fired> {
        let entry = self.l2[device].entry(at);
        if self.l2[device].not_dirty(at) {
            return None;
        }
        if !on(Mutant::RspFlushL2Lost) {
            self.global[usize::from(at.0)] = (entry.value, entry.source);
        }
        self.l2[device].entry_mut(at).hygiene = Hygiene::Clean;
        self.ghost.append(program, Place::l2(device), Place::GLOBAL, at);
        Some(Rule::RspEnvFlushL2)
    }

    /// The entry that an L1 cache would get of a location now, if that can be fetched.
    #[must_use]
    pub fn fetchable(&self, program: &Program, group: usize, at: Location) -> Option<Entry> {
        let dirty = !self.l1[group].not_dirty(at) && !on(Mutant::RspFetchOverDirty);
        if dirty || !self.may_move(program, group, at) {
            return None;
        }
        let below = self.l2[program.device_of(group)].valid(at)?;
        Some(Entry { hygiene: Hygiene::Clean, ..below })
    }

    /// What is fetched is clean, also where the entry of the L2 cache is dirty. Rule: rsp.env.FETCH-L1
    fn fetch_l1(&mut self, program: &Program, group: usize, at: Location) -> Option<Fired> {
        *self.l1[group].entry_mut(at) = self.fetchable(program, group, at)?;
        Some(Rule::RspEnvFetchL1)
    }

    /// Rule: rsp.env.FETCH-L2
    fn fetch_l2(&mut self, device: usize, at: Location) -> Option<Fired> {
        if !self.l2[device].not_dirty(at) && !on(Mutant::RspFetchL2OverDirty) {
            return None;
        }
        let (value, source) = self.global[usize::from(at.0)];
        *self.l2[device].entry_mut(at) = Entry { value, source, present: true, hygiene: Hygiene::Clean, valid: true };
        Some(Rule::RspEnvFetchL2)
    }

    fn dequeue_location(&mut self, level: Level, which: usize) -> Option<Fired> {
        let cache = if level == Level::L1 { &mut self.l1[which] } else { &mut self.l2[which] };
        let Some(Mark::Location(at)) = cache.fifo.tail() else { return None };
        let early = if level == Level::L1 { Mutant::RspDequeuesDirty } else { Mutant::RspDequeuesDirtyL2 };
        if !cache.not_dirty(at) && !on(early) {
            return None;
        }
        cache.fifo.dequeue();
        // Rule: rsp.env.DEQLOC-L1, rsp.env.DEQLOC-L2
        Some(if level == Level::L1 { Rule::RspEnvDeqLocL1 } else { Rule::RspEnvDeqLocL2 })
    }

    fn dequeue_marker(&mut self, level: Level, which: usize) -> Option<Fired> {
        let cache = if level == Level::L1 { &mut self.l1[which] } else { &mut self.l2[which] };
        let Some(Mark::Flush(thread)) = cache.fifo.tail() else { return None };
        if on(if level == Level::L1 { Mutant::RspMarkerStays } else { Mutant::RspMarkerStaysL2 }) {
            return None;
        }
        cache.fifo.dequeue();
        self.markers[usize::from(thread)] -= 1;
        // Rule: rsp.env.DEQMARKER-L1, rsp.env.DEQMARKER-L2
        Some(if level == Level::L1 { Rule::RspEnvDeqMarkerL1 } else { Rule::RspEnvDeqMarkerL2 })
    }

    /// The transitions of the environment that could be tried, in a fixed order: those of L1 caches by work-group, then those of L2
    /// caches by device.
    pub fn moves(program: &Program, out: &mut Vec<Move>) {
        let caches = |level: Level, count: usize| (0..count).map(move |k| (level, k as u8));
        let all = caches(Level::L1, program.group_count().min(GROUPS)).chain(caches(Level::L2, program.device_count()));
        for (level, which) in all {
            for at in (0..program.initial().len().min(LOCATIONS)).map(|k| Location(k as u8)) {
                out.push(Move::Flush(level, which, at));
                out.push(Move::Fetch(level, which, at));
                out.push(Move::Evict(level, which, at));
            }
            out.push(Move::DequeueLocation(level, which));
            out.push(Move::DequeueMarker(level, which));
        }
    }
}

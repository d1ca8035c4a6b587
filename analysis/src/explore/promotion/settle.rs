//! What a search does at once after a step, and what it does not tell apart (D-rsp-reduced).

use super::ahead::Left;
use super::grain::Grain;
use super::pack::location;
use super::reduce::Reduced;
use super::step::{Step, fire};
use crate::base::mutant::{Mutant, on};
use crate::memory::rsp::{
    Cache, Entry, Fifo, Hygiene, Instruction, Level, Lock, Mark, Move, Place, Program, Reach, System,
};

impl Reduced<'_> {
    /// Does at once what takes nothing from anybody. `told` hears of each step, but for what leaves a fifo.
    pub fn settle(&self, system: &mut System, told: &mut dyn FnMut(Step)) {
        if self.grain == Grain::Every {
            return;
        }
        loop {
            let left = self.ahead.left(self.program, system);
            self.tidy(system, &left);
            let thread = (0..self.program.threads().len()).find(|t| self.goes_on(system, *t, &left));
            if let Some(thread) = thread {
                if let Some(fetch) = self.before(system, thread) {
                    for fetch in fetch.moves() {
                        system.perform(self.program, fetch);
                        told(Step::Environment(fetch));
                    }
                }
                let step = Step::Thread(thread as u8);
                if fire(self.program, system, step).is_some() {
                    told(step);
                    continue;
                }
            }
            let Some(flush) = self.own(system, &left) else { return };
            system.perform(self.program, flush);
            told(Step::Environment(flush));
        }
    }

    /// What is not told apart becomes the same.
    fn tidy(&self, system: &mut System, left: &Left) {
        if self.below {
            self.merge(system);
        }
        for group in 0..self.program.group_count() {
            self.dequeue(system, Level::L1, group);
            system.l1[group].fifo.trim(left.marks_l1 >> group & 1 == 1);
            for at in 0..self.program.initial().len() {
                let entry = system.l1[group].entries[at];
                if !entry.present {
                    continue;
                }
                let read = left.first[group] >> at & 1 == 1;
                let fetch = system.fetchable(self.program, group, location(at));
                let kept = &mut system.l1[group].entries[at];
                if entry.hygiene == Hygiene::Dirty {
                    kept.valid &= read;
                } else if !entry.valid || !read || fetch.is_some_and(|e| self.alike(e, entry)) {
                    *kept = Entry::default();
                }
            }
        }
        if !self.below {
            self.tidy_l2(system, left);
        }
    }

    fn tidy_l2(&self, system: &mut System, left: &Left) {
        for device in 0..self.program.device_count() {
            self.dequeue(system, Level::L2, device);
            system.l2[device].fifo.trim(left.marks_l2 >> device & 1 == 1);
            let groups = (0..self.program.group_count()).filter(|g| self.program.device_of(*g) == device);
            let read = groups.fold(0, |bits, g| bits | left.first[g] | left.second[g]);
            for (at, entry) in system.l2[device].entries.iter_mut().enumerate() {
                let dirty = entry.hygiene == Hygiene::Dirty;
                entry.valid &= read >> at & 1 == 1;
                if !dirty && !entry.valid {
                    *entry = Entry::default();
                }
            }
        }
    }

    /// The only L2 cache and memory have the same: whatever the one lacks is flushed or fetched.
    pub fn merge(&self, system: &mut System) {
        for at in 0..self.program.initial().len() {
            let entry = system.l2[0].entries[at];
            if entry.hygiene == Hygiene::Dirty {
                system.global[at] = (entry.value, entry.source);
                system.ghost.append(self.program, Place::l2(0), Place::GLOBAL, location(at));
            }
        }
        system.fill_l2(self.program.initial().len());
        for mark in system.l2[0].fifo.iter() {
            if let Mark::Flush(thread) = mark {
                system.markers[usize::from(thread)] -= 1;
            }
        }
        system.l2[0].fifo = Fifo::default();
    }

    /// Removes from a fifo what can leave it.
    fn dequeue(&self, system: &mut System, level: Level, which: usize) {
        leave(self.program, system, level, which, &mut |_, _| ());
    }

    /// Whether a thread's next instruction can be executed, and takes nothing from anybody.
    fn goes_on(&self, system: &System, thread: usize, left: &Left) -> bool {
        if system.markers[thread] != 0 {
            return false;
        }
        let program = self.program;
        let code = &program.threads()[thread].code;
        let group = program.group_of(thread);
        let own = |lock: Lock| lock.ready(thread);
        match code.get(usize::from(system.next[thread])) {
            Some(Instruction::Flush(..)) => true,
            Some(Instruction::UnlockRmw(reach)) => {
                (0..program.group_count()).filter(|g| reached(program, group, *g, *reach)).all(|g| own(system.rmw[g]))
            }
            Some(Instruction::Unlock(at)) => own(system.lockfile[program.device_of(group)][usize::from(at.0)]),
            Some(Instruction::Invalidate(Level::L1, reach)) => {
                let mut groups = (0..program.group_count()).filter(|g| reached(program, group, *g, *reach));
                groups.all(|g| nothing_valid(&system.l1[g])) || on(Mutant::RspInvalidatesEarly)
            }
            Some(Instruction::Invalidate(..)) => {
                self.below || system.l2[..program.device_count()].iter().all(nothing_valid)
            }
            // Nothing but what memory has can be read, ever.
            Some(Instruction::Load(_, at)) => {
                let k = usize::from(at.0);
                self.below
                    && left.writes >> k & 1 == 0
                    && system.l1[..program.group_count()].iter().all(|c| c.not_dirty(*at))
                    && system.l1[group].valid(*at).is_none()
                    && system.fetchable(program, group, *at).is_some()
            }
            _ => false,
        }
    }

    /// A flush of a location that nobody outside the work-group has to do with any more.
    fn own(&self, system: &System, left: &Left) -> Option<Move> {
        let groups = 0..self.program.group_count();
        for group in groups.clone() {
            for at in 0..self.program.initial().len() {
                let place = location(at);
                if system.l1[group].not_dirty(place) || !system.may_move(self.program, group, place) {
                    continue;
                }
                let other = |g: usize| left.names[g] >> at & 1 == 1 || !system.l1[g].not_dirty(place);
                let dirty_below = || system.l2[..self.program.device_count()].iter().any(|c| !c.not_dirty(place));
                if on(Mutant::RspFlushesEarly) || !groups.clone().any(|g| g != group && other(g)) && !dirty_below() {
                    return Some(Move::Flush(Level::L1, group as u8, place));
                }
            }
        }
        None
    }
}

fn reached(program: &Program, own: usize, group: usize, reach: Reach) -> bool {
    match reach {
        Reach::Group => group == own,
        Reach::Device => program.device_of(group) == program.device_of(own),
        Reach::System => true,
    }
}

fn nothing_valid(cache: &Cache) -> bool {
    cache.entries.iter().all(|e| !e.present || !e.valid)
}

/// Removes from a fifo what can leave it. `told` hears of each transition, with the state after it.
pub(super) fn leave(
    program: &Program,
    system: &mut System,
    level: Level,
    which: usize,
    told: &mut dyn FnMut(Move, &System),
) {
    loop {
        let cache = if level == Level::L1 { &system.l1[which] } else { &system.l2[which] };
        let step = match cache.fifo.tail() {
            Some(Mark::Location(_)) => Move::DequeueLocation(level, which as u8),
            Some(Mark::Flush(_)) => Move::DequeueMarker(level, which as u8),
            None => return,
        };
        if system.perform(program, step).is_none() {
            return;
        }
        told(step, system);
    }
}

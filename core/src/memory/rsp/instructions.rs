//! Table 1: what an instruction does when a thread executes it. `None` is **block**.

use super::assembly::{Event, Instruction, Level, Location, Program, Reach, Register, Update};
use super::state::{Entry, Hygiene, Lock, Mark, Place, Source, System};
use crate::base::mutant::{Mutant, on};
use crate::verdict::Rule;

/// A rule that fired.
pub type Fired = Rule;

/// The devices, or work-groups, of a program that somebody reaches.
fn groups(program: &Program, own: usize, reach: Reach) -> impl Iterator<Item = usize> + use<'_> {
    (0..program.group_count()).filter(move |group| match reach {
        Reach::Group => *group == own,
        Reach::Device => program.device_of(*group) == program.device_of(own),
        Reach::System => true,
    })
}

fn devices(program: &Program, own: usize, reach: Reach) -> impl Iterator<Item = usize> + use<> {
    let device = program.device_of(own);
    (0..program.device_count()).filter(move |d| reach == Reach::System || *d == device)
}

/// An update to be made.
#[derive(Clone, Copy)]
struct Asked {
    update: Update,
    /// What is found goes here.
    to: Register,
    at: Location,
    event: Event,
}

impl System {
    /// A thread executes its next instruction. `None`: it is blocked, and nothing has changed, or the thread is through.
    pub fn execute(&mut self, program: &Program, thread: usize) -> Option<Fired> {
        // The check that the paper leaves implicit in every row: `unflushed`.
        if self.markers[thread] != 0 && !on(Mutant::RspMarkersIgnored) {
            return None;
        }
        let position = usize::from(self.next[thread]);
        let instruction = *program.threads()[thread].code.get(position)?;
        let event = program.event(thread, position).unwrap_or(Event(0));
        let group = program.group_of(thread);
        let fired = match instruction {
            Instruction::Load(to, at) => self.load(group, to, at, event),
            Instruction::Store(from, at) => self.store_l1(program, group, at, self.value(from), event),
            Instruction::Update(level, update, to, at) => {
                let asked = Asked { update, to, at, event };
                match level {
                    Level::L1 => self.update_l1(program, thread, asked),
                    Level::L2 => self.update_l2(program, thread, asked),
                    Level::Global => self.update_global(program, thread, asked),
                }
            }
            Instruction::Flush(level, reach) => self.flush(program, thread, level, reach),
            Instruction::Invalidate(level, reach) => self.invalidate(program, group, level, reach),
            Instruction::Lock(at) => self.lock(program, thread, at),
            Instruction::Unlock(at) => self.unlock(program, thread, at),
            Instruction::LockRmw(reach) => self.lock_rmw(program, thread, reach),
            Instruction::UnlockRmw(reach) => self.unlock_rmw(program, group, reach),
            Instruction::Compute(..) | Instruction::SkipUnless(..) | Instruction::Skip(_) => {
                self.carry_on_thread(program, thread);
                return None;
            }
        }?;
        self.next[thread] += 1;
        self.carry_on_thread(program, thread);
        Some(fired)
    }

    /// Rule: rsp.LD
    fn load(&mut self, group: usize, to: Register, at: Location, event: Event) -> Option<Fired> {
        let entry = if on(Mutant::RspLoadsInvalid) {
            Some(self.l1[group].entry(at)).filter(|e| e.present)
        } else {
            self.l1[group].valid(at)
        }?;
        self.set(to, entry.value);
        self.ghost.read(event, entry.source);
        Some(Rule::RspLd)
    }

    /// Rule: rsp.ST
    fn store_l1(&mut self, program: &Program, group: usize, at: Location, value: i32, event: Event) -> Option<Fired> {
        self.store(program, (Level::L1, group), at, value, event.into());
        self.ghost.write(program, event, Place::l1(group), at);
        Some(Rule::RspSt)
    }

    /// `store` of table 1, into a cache: a new entry where there is none.
    pub(super) fn store(
        &mut self,
        _program: &Program,
        (level, which): (Level, usize),
        at: Location,
        value: i32,
        source: Source,
    ) {
        let cache = if level == Level::L1 { &mut self.l1[which] } else { &mut self.l2[which] };
        *cache.entry_mut(at) = Entry { value, source, present: true, hygiene: Hygiene::Dirty, valid: true };
        if !(on(Mutant::RspStoresUnqueued) && level == Level::L1) {
            cache.fifo.enqueue(Mark::Location(at));
        }
    }

    /// An update reads what it found; answers what it stores, nothing where an exchange fails.
    fn updated(&mut self, Asked { update, to, event, .. }: Asked, (found, source): (i32, Source)) -> Option<i32> {
        let new = match update {
            Update::Increment => Some(found.wrapping_add(1)),
            Update::Apply(function, operand) => Some(function.of(found, self.value(operand))),
            Update::Exchange(expected, new) => (found == self.value(expected)).then(|| self.value(new)),
        };
        self.set(to, found);
        self.ghost.read(event, source);
        new
    }

    /// Rule: rsp.INC-L1
    fn update_l1(&mut self, program: &Program, thread: usize, asked: Asked) -> Option<Fired> {
        let Asked { at, event, .. } = asked;
        let group = program.group_of(thread);
        if !self.rmw[group].ready(thread) && !on(Mutant::RspRmwLockIgnored) {
            return None;
        }
        let entry = self.l1[group].valid(at)?;
        if let Some(new) = self.updated(asked, (entry.value, entry.source)) {
            self.store(program, (Level::L1, group), at, new, event.into());
            self.ghost.write(program, event, Place::l1(group), at);
        }
        Some(Rule::RspIncL1)
    }

    /// Rule: rsp.INC-L2
    fn update_l2(&mut self, program: &Program, thread: usize, asked: Asked) -> Option<Fired> {
        let Asked { at, event, .. } = asked;
        let group = program.group_of(thread);
        let device = program.device_of(group);
        let dirty = !self.l1[group].not_dirty(at) && !on(Mutant::RspDirtyPassed);
        let locked = !self.lockfile[device][usize::from(at.0)].ready(thread);
        if !self.rmw[group].ready(thread) || dirty || locked {
            return None;
        }
        let entry = self.l2[device].valid(at)?;
        if !on(Mutant::RspIncrementKeepsL1) {
            self.l1[group].invalidate(at);
        }
        if let Some(new) = self.updated(asked, (entry.value, entry.source)) {
            (0..program.device_count()).for_each(|d| self.l2[d].invalidate(at));
            self.store(program, (Level::L2, device), at, new, event.into());
            self.ghost.write(program, event, Place::l2(device), at);
        }
        Some(Rule::RspIncL2)
    }

    /// An addition of ours, the counterpart for scope ALL (D-rsp-all). Rule: rsp.INC-GL
    fn update_global(&mut self, program: &Program, thread: usize, asked: Asked) -> Option<Fired> {
        let Asked { at, event, .. } = asked;
        let group = program.group_of(thread);
        let device = program.device_of(group);
        let dirty = !self.l1[group].not_dirty(at) || !self.l2[device].not_dirty(at);
        let locked = !self.lockfile[device][usize::from(at.0)].ready(thread);
        if !self.rmw[group].ready(thread) || dirty || locked {
            return None;
        }
        let keeps = on(Mutant::RspGlobalKeepsCaches);
        if !keeps {
            self.l1[group].invalidate(at);
            self.l2[device].invalidate(at);
        }
        if let Some(new) = self.updated(asked, self.global[usize::from(at.0)]) {
            (0..program.device_count()).filter(|_| !keeps).for_each(|d| self.l2[d].invalidate(at));
            self.global[usize::from(at.0)] = (new, event.into());
            self.ghost.write(program, event, Place::GLOBAL, at);
        }
        Some(Rule::RspIncGl)
    }

    fn flush(&mut self, program: &Program, thread: usize, level: Level, reach: Reach) -> Option<Fired> {
        let group = program.group_of(thread);
        let mark = Mark::Flush(u8::try_from(thread).unwrap_or(0));
        if level == Level::L1 {
            // Rule: rsp.FLU-L1
            let reach = if on(Mutant::RspFlushesOwn) { Reach::Group } else { reach };
            for which in groups(program, group, reach) {
                self.l1[which].fifo.enqueue(mark);
                self.markers[thread] += 1;
            }
            return Some(Rule::RspFluL1);
        }
        // Rule: rsp.FLU-L2
        for which in devices(program, group, reach).filter(|_| !on(Mutant::RspFlushesNoL2)) {
            self.l2[which].fifo.enqueue(mark);
            self.markers[thread] += 1;
        }
        Some(Rule::RspFluL2)
    }

    fn invalidate(&mut self, program: &Program, group: usize, level: Level, reach: Reach) -> Option<Fired> {
        let locations = || (0..program.initial().len()).map(|at| Location(at as u8));
        if level == Level::L1 {
            // Rule: rsp.INV-L1
            let reach = if on(Mutant::RspInvalidatesOwn) { Reach::Group } else { reach };
            for which in groups(program, group, reach) {
                locations().for_each(|at| self.l1[which].invalidate(at));
            }
            return Some(Rule::RspInvL1);
        }
        // An addition of ours, for scope ALL (D-rsp-all). Rule: rsp.INV-L2
        for which in devices(program, group, reach).filter(|_| !on(Mutant::RspKeepsL2)) {
            locations().for_each(|at| self.l2[which].invalidate(at));
        }
        Some(Rule::RspInvL2)
    }

    /// Rule: rsp.LK-L2
    fn lock(&mut self, program: &Program, thread: usize, at: Location) -> Option<Fired> {
        let device = program.device_of(program.group_of(thread));
        let lock = &mut self.lockfile[device][usize::from(at.0)];
        if !lock.ready(thread) && !on(Mutant::RspLockTaken) {
            return None;
        }
        *lock = Lock::held(thread);
        Some(Rule::RspLkL2)
    }

    /// Whoever holds it (D-rsp-unlock). Rule: rsp.UL-L2
    fn unlock(&mut self, program: &Program, thread: usize, at: Location) -> Option<Fired> {
        let device = program.device_of(program.group_of(thread));
        if !on(Mutant::RspUnlockIdle) {
            self.lockfile[device][usize::from(at.0)] = Lock::default();
        }
        Some(Rule::RspUlL2)
    }

    /// Rule: rsp.LK-rmw
    fn lock_rmw(&mut self, program: &Program, thread: usize, reach: Reach) -> Option<Fired> {
        let own = program.group_of(thread);
        let reach = if on(Mutant::RspLocksOwnRmw) { Reach::Group } else { reach };
        if groups(program, own, reach).any(|g| !self.rmw[g].ready(thread)) {
            return None;
        }
        groups(program, own, reach).for_each(|g| self.rmw[g] = Lock::held(thread));
        Some(Rule::RspLkRmw)
    }

    /// Whoever holds them (D-rsp-unlock). Rule: rsp.UL-rmw
    fn unlock_rmw(&mut self, program: &Program, group: usize, reach: Reach) -> Option<Fired> {
        let reach = if on(Mutant::RspUnlocksOwnRmw) { Reach::Group } else { reach };
        groups(program, group, reach).for_each(|g| self.rmw[g] = Lock::default());
        Some(Rule::RspUlRmw)
    }
}

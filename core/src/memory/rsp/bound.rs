//! The rules on the abstract machine: a state with the program that it is a state of.

use super::assembly::{Instruction, Level, Location, Program, Reach, Register, Update};
use super::hardware::{Cache, CacheOf, Hardware, MarkOf};
use super::instructions::Fired;
use super::state::{self, Entry, Hygiene, Lock, Mark, Place, Source, System};
use super::{GROUPS, LOCATIONS, environment, instructions};
use crate::base::mutant::{Mutant, on};
use crate::memory::rsp::assembly::Event;

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

/// A state and its program.
struct Bound<'a> {
    system: &'a mut System,
    program: &'a Program,
}

impl Bound<'_> {
    #[inline]
    fn cache(&self, cache: CacheOf<Self>) -> &state::Cache {
        match cache {
            Cache::L1(group) => &self.system.l1[group],
            Cache::L2(device) => &self.system.l2[device],
        }
    }

    #[inline]
    fn cache_mut(&mut self, cache: CacheOf<Self>) -> &mut state::Cache {
        match cache {
            Cache::L1(group) => &mut self.system.l1[group],
            Cache::L2(device) => &mut self.system.l2[device],
        }
    }
}

const fn place(cache: Option<Cache<usize, usize>>) -> Place {
    match cache {
        Some(Cache::L1(group)) => Place::l1(group),
        Some(Cache::L2(device)) => Place::l2(device),
        None => Place::GLOBAL,
    }
}

/// Values have their ghosts with them: who wrote them.
impl Hardware for Bound<'_> {
    type Location = Location;
    type Group = usize;
    type Device = usize;
    type Thread = usize;
    type Value = (i32, Source);

    #[inline]
    fn group_of(&self, thread: usize) -> usize {
        self.program.group_of(thread)
    }

    #[inline]
    fn device_of(&self, group: usize) -> usize {
        self.program.device_of(group)
    }

    #[inline]
    fn each_group(&mut self, own: usize, reach: Reach, mut act: impl FnMut(&mut Self, usize)) {
        let program = self.program;
        for group in 0..program.group_count() {
            let reached = match reach {
                Reach::Group => group == own,
                Reach::Device => program.device_of(group) == program.device_of(own),
                Reach::System => true,
            };
            if reached {
                act(self, group);
            }
        }
    }

    #[inline]
    fn each_device(&mut self, own: usize, reach: Reach, mut act: impl FnMut(&mut Self, usize)) {
        let device = self.program.device_of(own);
        (0..self.program.device_count()).filter(|d| reach == Reach::System || *d == device).for_each(|d| act(self, d));
    }

    #[inline]
    fn unflushed(&self, thread: usize) -> bool {
        self.system.markers[thread] != 0
    }

    #[inline]
    fn marker_enters(&mut self, thread: usize) {
        self.system.markers[thread] += 1;
    }

    #[inline]
    fn marker_leaves(&mut self, thread: usize) {
        self.system.markers[thread] -= 1;
    }

    #[inline]
    fn not_dirty(&self, cache: CacheOf<Self>, at: Location) -> bool {
        self.cache(cache).not_dirty(at)
    }

    #[inline]
    fn held(&self, cache: CacheOf<Self>, at: Location) -> Option<(i32, Source)> {
        Some(self.cache(cache).entry(at)).filter(|e| e.present).map(|e| (e.value, e.source))
    }

    #[inline]
    fn valid(&self, cache: CacheOf<Self>, at: Location) -> Option<(i32, Source)> {
        self.cache(cache).valid(at).map(|e| (e.value, e.source))
    }

    #[inline]
    fn put(&mut self, cache: CacheOf<Self>, at: Location, (value, source): (i32, Source), hygiene: Hygiene) {
        *self.cache_mut(cache).entry_mut(at) = Entry { value, source, present: true, hygiene, valid: true };
    }

    #[inline]
    fn clean(&mut self, cache: CacheOf<Self>, at: Location) {
        self.cache_mut(cache).entry_mut(at).hygiene = Hygiene::Clean;
    }

    #[inline]
    fn evict(&mut self, cache: CacheOf<Self>, at: Location) -> bool {
        let dirty = if matches!(cache, Cache::L1(_)) { Mutant::RspEvictsDirty } else { Mutant::RspEvictsDirtyL2 };
        let entry = self.cache_mut(cache).entry_mut(at);
        let goes = entry.present && (entry.hygiene == Hygiene::Clean || on(dirty));
        if goes {
            *entry = Entry::default();
        }
        goes
    }

    #[inline]
    fn invalidate(&mut self, cache: CacheOf<Self>, at: Location) {
        self.cache_mut(cache).invalidate(at);
    }

    #[inline]
    fn invalidate_all(&mut self, cache: CacheOf<Self>) {
        for at in 0..self.program.initial().len() {
            self.cache_mut(cache).invalidate(Location(at as u8));
        }
    }

    #[inline]
    fn global(&self, at: Location) -> (i32, Source) {
        self.system.global[usize::from(at.0)]
    }

    #[inline]
    fn set_global(&mut self, at: Location, value: (i32, Source)) {
        self.system.global[usize::from(at.0)] = value;
    }

    #[inline]
    fn enqueue(&mut self, cache: CacheOf<Self>, mark: MarkOf<Self>) {
        let mark = match mark {
            Mark::Location(at) => Mark::Location(at),
            Mark::Flush(thread) => Mark::Flush(thread as u8),
        };
        self.cache_mut(cache).fifo.enqueue(mark);
    }

    #[inline]
    fn tail(&self, cache: CacheOf<Self>) -> Option<MarkOf<Self>> {
        Some(match self.cache(cache).fifo.tail()? {
            Mark::Location(at) => Mark::Location(at),
            Mark::Flush(thread) => Mark::Flush(thread.into()),
        })
    }

    #[inline]
    fn dequeue(&mut self, cache: CacheOf<Self>) {
        self.cache_mut(cache).fifo.dequeue();
    }

    #[inline]
    fn rmw(&self, group: usize) -> Option<usize> {
        self.system.rmw[group].holder()
    }

    #[inline]
    fn set_rmw(&mut self, group: usize, holder: Option<usize>) {
        self.system.rmw[group] = holder.map_or_else(Lock::default, Lock::held);
    }

    #[inline]
    fn locked(&self, device: usize, at: Location) -> Option<usize> {
        self.system.lockfile[device][usize::from(at.0)].holder()
    }

    #[inline]
    fn set_locked(&mut self, device: usize, at: Location, holder: Option<usize>) {
        self.system.lockfile[device][usize::from(at.0)] = holder.map_or_else(Lock::default, Lock::held);
    }

    #[inline]
    fn wrote(&mut self, to: Option<CacheOf<Self>>, at: Location, (_, source): (i32, Source)) {
        if let Some(event) = source.event() {
            self.system.ghost.write(self.program, event, place(to), at);
        }
    }

    #[inline]
    fn moved(&mut self, from: CacheOf<Self>, to: Option<CacheOf<Self>>, at: Location) {
        self.system.ghost.append(self.program, place(Some(from)), place(to), at);
    }
}

impl System {
    /// A thread executes its next instruction. `None`: it is blocked, and nothing has changed, or the thread is through.
    pub fn execute(&mut self, program: &Program, thread: usize) -> Option<Fired> {
        let h = &mut Bound { system: self, program };
        if !instructions::may_execute(h, thread) {
            return None;
        }
        let position = usize::from(h.system.next[thread]);
        let instruction = *program.threads()[thread].code.get(position)?;
        let event = program.event(thread, position).unwrap_or(Event(0));
        let group = program.group_of(thread);
        let fired = match instruction {
            Instruction::Load(to, at) => instructions::load(h, group, at).map(|((value, source), fired)| {
                h.system.set(to, value);
                h.system.ghost.read(event, source);
                fired
            }),
            Instruction::Store(from, at) => {
                let value = (h.system.value(from), event.into());
                Some(instructions::store(h, group, at, value))
            }
            Instruction::Update(level, update, to, at) => {
                let change = |h: &mut Bound<'_>, found| h.system.updated(update, to, event, found);
                match level {
                    Level::L1 => instructions::update_l1(h, thread, at, change),
                    Level::L2 => instructions::update_l2(h, thread, at, change),
                    Level::Global => instructions::update_global(h, thread, at, change),
                }
            }
            Instruction::Flush(level, reach) => Some(instructions::flush(h, thread, level, reach)),
            Instruction::Invalidate(level, reach) => Some(instructions::invalidate(h, group, level, reach)),
            Instruction::Lock(at) => instructions::lock(h, thread, at),
            Instruction::Unlock(at) => Some(instructions::unlock(h, thread, at)),
            Instruction::LockRmw(reach) => instructions::lock_rmw(h, thread, reach),
            Instruction::UnlockRmw(reach) => Some(instructions::unlock_rmw(h, group, reach)),
            Instruction::Compute(..) | Instruction::SkipUnless(..) | Instruction::Skip(_) => {
                self.carry_on_thread(program, thread);
                return None;
            }
        }?;
        self.next[thread] += 1;
        self.carry_on_thread(program, thread);
        Some(fired)
    }

    /// An update reads what it found; answers what it stores, nothing where an exchange fails.
    fn updated(
        &mut self,
        update: Update,
        to: Register,
        event: Event,
        (found, source): (i32, Source),
    ) -> Option<(i32, Source)> {
        let new = match update {
            Update::Increment => Some(found.wrapping_add(1)),
            Update::Apply(function, operand) => Some(function.of(found, self.value(operand))),
            Update::Exchange(expected, new) => (found == self.value(expected)).then(|| self.value(new)),
        };
        self.set(to, found);
        self.ghost.read(event, source);
        new.map(|new| (new, event.into()))
    }

    /// The environment makes a transition. `None`: its condition does not hold, and nothing has changed.
    pub fn perform(&mut self, program: &Program, step: Move) -> Option<Fired> {
        let h = &mut Bound { system: self, program };
        let cache = |level, which: u8| match level {
            Level::L1 => Cache::L1(usize::from(which)),
            _ => Cache::L2(usize::from(which)),
        };
        match step {
            Move::Evict(Level::L1, group, at) => environment::evict_l1(h, usize::from(group), at),
            Move::Evict(_, device, at) => environment::evict_l2(h, usize::from(device), at),
            Move::Flush(Level::L1, group, at) => environment::flush_l1(h, usize::from(group), at),
            Move::Flush(_, device, at) => environment::flush_l2(h, usize::from(device), at),
            Move::Fetch(Level::L1, group, at) => environment::fetch_l1(h, usize::from(group), at),
            Move::Fetch(_, device, at) => environment::fetch_l2(h, usize::from(device), at),
            Move::DequeueLocation(level, which) => environment::dequeue_location(h, cache(level, which)),
            Move::DequeueMarker(level, which) => environment::dequeue_marker(h, cache(level, which)),
        }
    }

    /// Whether a thread of a work-group could trigger what a location's lock in the lock file is about.
    #[must_use]
    pub fn may_move(&self, program: &Program, group: usize, at: Location) -> bool {
        let lock = self.lockfile[program.device_of(group)][usize::from(at.0)];
        lock.holder().is_none_or(|t| program.group_of(t) == group)
    }

    /// The entry that an L1 cache would get of a location now: whether `FETCH_L1` is possible, without copying the state to try it.
    #[must_use]
    pub fn fetchable(&self, program: &Program, group: usize, at: Location) -> Option<Entry> {
        if !self.l1[group].not_dirty(at) || !self.may_move(program, group, at) {
            return None;
        }
        let below = self.l2[program.device_of(group)].valid(at)?;
        Some(Entry { hygiene: Hygiene::Clean, ..below })
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

//! The hardware: L1 caches of blocks with their fifos, the rmw locks and the lock file, over device memory, which is the L2 cache
//! and what is behind it (D-rsp-ptx-l2).

use crate::memory::flat::Arena;
use crate::memory::rsp::{CacheAt, CacheOf, Hardware, Hygiene, Mark, MarkOf, Reach};
use crate::verdict::Who;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Bytes that caches keep together: no access of a lane has more, and each lies within as many (D-rsp-ptx-unit).
pub(super) const UNIT: usize = 32;

/// Which bytes of device memory are kept together: [`UNIT`] bytes, by their place among all.
pub(super) type Unit = u32;

/// A location: some bytes of a unit, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(super) struct At {
    pub unit: Unit,
    pub mask: u32,
}

/// What a unit holds.
pub(super) type Bytes = [u8; UNIT];

/// A work-group: a block of a launch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub(super) struct Group {
    pub launch: u32,
    pub block: u64,
}

/// A thread: a lane of a warp.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub(super) struct Thread {
    pub who: Who,
    pub lane: u8,
}

impl Thread {
    pub const fn group(self) -> Group {
        Group { launch: self.who.launch, block: self.who.block }
    }
}

/// A unit's entry in an L1 cache.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Zero where they are neither valid nor dirty.
    pub bytes: Bytes,
    pub valid: u32,
    pub dirty: u32,
    /// Accesses under way that read it here.
    pub reads: u16,
    /// Accesses under way that will write it below, or lock it.
    pub below: u16,
    /// Its number among all entries of all caches.
    #[serde(skip)]
    pub number: u32,
}

impl Entry {
    const fn is_hot(&self) -> bool {
        self.dirty != 0 || self.below != 0
    }

    const fn is_idle(&self) -> bool {
        self.valid == 0 && self.dirty == 0 && self.reads == 0 && self.below == 0
    }

    fn forget(&mut self, mask: u32) {
        self.valid &= !mask;
        let gone = !self.valid & !self.dirty;
        bits(gone).for_each(|k| self.bytes[k] = 0);
    }
}

/// An L1 cache with its fifo and its work-group's rmw lock.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Level1 {
    pub entries: BTreeMap<Unit, Entry>,
    pub fifo: VecDeque<Mark<At, Thread>>,
    pub rmw: Option<Thread>,
    /// How many entries are dirty.
    #[serde(skip)]
    pub dirty: usize,
}

/// The state of all caches and locks.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Caches {
    pub l1: BTreeMap<Group, Level1>,
    pub locks: BTreeMap<Unit, Thread>,
    /// Markers of each thread that are in fifos.
    #[serde(skip)]
    pub markers: FxHashMap<Thread, u32>,
    /// Entries by their numbers.
    #[serde(skip)]
    numbers: Vec<Option<(Group, Unit)>>,
    #[serde(skip)]
    free: BTreeSet<u32>,
    /// The entries whose blocks are about to change what is below.
    #[serde(skip)]
    pub hot: BTreeSet<(Unit, Group)>,
    /// How many entries are dirty.
    #[serde(skip)]
    pub dirty: usize,
    /// What was touched since somebody looked: whose entries of which unit.
    #[serde(skip)]
    pub touched: Vec<(Group, Unit)>,
    /// Into whose fifos something was put.
    #[serde(skip)]
    pub queued: Vec<Group>,
    /// The numbers of entries that are gone.
    #[serde(skip)]
    pub gone: Vec<u32>,
    /// Whether a lock was freed.
    #[serde(skip)]
    pub unlocked: bool,
    /// Threads whose markers have left.
    #[serde(skip)]
    pub released: Vec<Thread>,
}

/// The bits of a mask.
pub(super) fn bits(mask: u32) -> impl Iterator<Item = usize> {
    (0..UNIT).filter(move |k| mask >> k & 1 == 1)
}

impl Caches {
    /// A block's cache, which is there from its first access on.
    pub fn begin(&mut self, group: Group) {
        // Rmw locks are taken of all together.
        let rmw = self.l1.values().next().and_then(|l1| l1.rmw);
        self.l1.entry(group).or_insert_with(|| Level1 { rmw, ..Level1::default() });
    }

    pub fn entry(&self, group: Group, unit: Unit) -> Option<&Entry> {
        self.l1.get(&group)?.entries.get(&unit)
    }

    /// Changes an entry; one that holds nothing is none.
    pub fn change(&mut self, group: Group, unit: Unit, change: impl FnOnce(&mut Entry)) {
        let Some(l1) = self.l1.get_mut(&group) else { return };
        let entry = l1.entries.entry(unit).or_insert_with(|| {
            let number = self.free.pop_first().unwrap_or_else(|| {
                self.numbers.push(None);
                u32::try_from(self.numbers.len() - 1).unwrap_or(u32::MAX)
            });
            if let Some(place) = self.numbers.get_mut(number as usize) {
                *place = Some((group, unit));
            }
            Entry { number, ..Entry::default() }
        });
        let (dirty, hot) = (usize::from(entry.dirty != 0), entry.is_hot());
        change(entry);
        let now = usize::from(entry.dirty != 0);
        (l1.dirty, self.dirty) = (l1.dirty + now - dirty, self.dirty + now - dirty);
        match (hot, entry.is_hot()) {
            (false, true) => _ = self.hot.insert((unit, group)),
            (true, false) => _ = self.hot.remove(&(unit, group)),
            _ => {}
        }
        self.touched.push((group, unit));
        if entry.is_idle() {
            let number = entry.number;
            l1.entries.remove(&unit);
            self.give_back(number);
        }
    }

    fn give_back(&mut self, number: u32) {
        if let Some(place) = self.numbers.get_mut(number as usize) {
            *place = None;
        }
        self.free.insert(number);
        self.gone.push(number);
    }

    /// The entry of a number.
    pub fn at(&self, number: u32) -> Option<(Group, Unit)> {
        self.numbers.get(number as usize).copied().flatten()
    }

    /// All who have a copy of a unit are to look again.
    pub fn touch(&mut self, unit: Unit) {
        let copies = self.l1.iter().filter(|(_, l1)| l1.entries.contains_key(&unit));
        self.touched.extend(copies.map(|(group, _)| (*group, unit)));
    }

    /// A block's cache is gone.
    pub fn end(&mut self, group: Group) {
        let Some(l1) = self.l1.remove(&group) else { return };
        self.dirty -= l1.dirty;
        for (unit, entry) in &l1.entries {
            self.hot.remove(&(*unit, group));
            self.give_back(entry.number);
        }
        let threads = l1.fifo.iter().filter_map(|m| if let Mark::Flush(t) = m { Some(*t) } else { None });
        for thread in threads.collect::<Vec<_>>() {
            self.marker_gone(thread);
        }
    }

    fn marker_gone(&mut self, thread: Thread) {
        if let Some(count) = self.markers.get_mut(&thread) {
            *count -= 1;
            if *count == 0 {
                self.markers.remove(&thread);
                self.released.push(thread);
            }
        }
    }

    /// Nobody is interested in what has changed.
    pub fn forget_changes(&mut self) {
        self.touched.clear();
        self.gone.clear();
        self.released.clear();
        self.unlocked = false;
    }

    /// What follows from the rest: after it was put back.
    pub fn recount(&mut self) {
        self.numbers.clear();
        self.free.clear();
        self.markers.clear();
        self.hot.clear();
        self.dirty = 0;
        for (group, l1) in &mut self.l1 {
            l1.dirty = l1.entries.values().filter(|e| e.dirty != 0).count();
            for (unit, entry) in &mut l1.entries {
                entry.number = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
                self.numbers.push(Some((*group, *unit)));
                if entry.is_hot() {
                    self.hot.insert((*unit, *group));
                }
            }
            self.dirty += l1.dirty;
            for mark in &l1.fifo {
                if let Mark::Flush(thread) = mark {
                    *self.markers.entry(*thread).or_default() += 1;
                }
            }
        }
    }
}

/// The conditions of the rules on these caches, over device memory. What rules would change, they do not: a rule that answers
/// here would fire.
pub(super) struct Probe<'a> {
    pub caches: &'a Caches,
    pub arena: &'a Arena,
}

/// The rules on these caches.
pub(super) struct View<'a> {
    pub caches: &'a mut Caches,
    pub arena: &'a mut Arena,
}

/// The bytes of a unit in device memory.
pub(super) fn below(arena: &Arena, unit: Unit) -> Bytes {
    let first = unit as usize * UNIT;
    let mut bytes = [0; UNIT];
    let there = arena.bytes.get(first..).unwrap_or_default();
    bytes.iter_mut().zip(there).for_each(|(to, from)| *to = *from);
    bytes
}

/// Writes some bytes of a unit to device memory.
pub(super) fn set_below(arena: &mut Arena, at: At, value: &Bytes) {
    let first = at.unit as usize * UNIT;
    for k in bits(at.mask) {
        if let Some(byte) = arena.bytes.get_mut(first + k) {
            *byte = value[k];
        }
    }
}

/// What both ask.
macro_rules! asked {
    () => {
        type Location = At;
        type Group = Group;
        type Device = ();
        type Thread = Thread;
        type Value = Bytes;

        fn group_of(&self, thread: Thread) -> Group {
            thread.group()
        }

        fn device_of(&self, _: Group) {}

        fn each_group(&mut self, own: Group, reach: Reach, mut act: impl FnMut(&mut Self, Group)) {
            if reach == Reach::Group {
                return act(self, own);
            }
            let all: Vec<Group> = self.caches.l1.keys().copied().collect();
            all.into_iter().for_each(|group| act(self, group));
        }

        fn each_device(&mut self, _: Group, _: Reach, mut act: impl FnMut(&mut Self, ())) {
            act(self, ());
        }

        fn unflushed(&self, thread: Thread) -> bool {
            self.caches.markers.contains_key(&thread)
        }

        fn not_dirty(&self, cache: CacheOf<Self>, at: At) -> bool {
            match cache {
                CacheAt::L1(group) => self.caches.entry(group, at.unit).is_none_or(|e| e.dirty & at.mask == 0),
                CacheAt::L2(()) => true,
            }
        }

        fn held(&self, cache: CacheOf<Self>, at: At) -> Option<Bytes> {
            match cache {
                CacheAt::L1(group) => self.caches.entry(group, at.unit).map(|e| e.bytes),
                CacheAt::L2(()) => Some(self.global(at)),
            }
        }

        fn valid(&self, cache: CacheOf<Self>, at: At) -> Option<Bytes> {
            match cache {
                CacheAt::L1(group) => {
                    let entry = self.caches.entry(group, at.unit)?;
                    (entry.valid & at.mask == at.mask).then_some(entry.bytes)
                }
                CacheAt::L2(()) => Some(self.global(at)),
            }
        }

        fn global(&self, at: At) -> Bytes {
            below(self.arena, at.unit)
        }

        fn tail(&self, cache: CacheOf<Self>) -> Option<MarkOf<Self>> {
            let CacheAt::L1(group) = cache else { return None };
            self.caches.l1.get(&group)?.fifo.front().copied()
        }

        fn rmw(&self, group: Group) -> Option<Thread> {
            self.caches.l1.get(&group)?.rmw
        }

        fn locked(&self, (): (), at: At) -> Option<Thread> {
            self.caches.locks.get(&at.unit).copied()
        }
    };
}

impl Hardware for Probe<'_> {
    asked!();

    fn marker_enters(&mut self, _: Thread) {}

    fn marker_leaves(&mut self, _: Thread) {}

    fn put(&mut self, _: CacheOf<Self>, _: At, _: Bytes, _: Hygiene) {}

    fn clean(&mut self, _: CacheOf<Self>, _: At) {}

    fn evict(&mut self, _: CacheOf<Self>, _: At) -> bool {
        false
    }

    fn invalidate(&mut self, _: CacheOf<Self>, _: At) {}

    fn invalidate_all(&mut self, _: CacheOf<Self>) {}

    fn set_global(&mut self, _: At, _: Bytes) {}

    fn enqueue(&mut self, _: CacheOf<Self>, _: MarkOf<Self>) {}

    fn dequeue(&mut self, _: CacheOf<Self>) {}

    fn set_rmw(&mut self, _: Group, _: Option<Thread>) {}

    fn set_locked(&mut self, (): (), _: At, _: Option<Thread>) {}
}

impl Hardware for View<'_> {
    asked!();

    fn marker_enters(&mut self, thread: Thread) {
        *self.caches.markers.entry(thread).or_default() += 1;
    }

    fn marker_leaves(&mut self, thread: Thread) {
        self.caches.marker_gone(thread);
    }

    fn put(&mut self, cache: CacheOf<Self>, at: At, value: Bytes, hygiene: Hygiene) {
        match cache {
            CacheAt::L1(group) => self.caches.change(group, at.unit, |entry| {
                bits(at.mask).for_each(|k| entry.bytes[k] = value[k]);
                entry.valid |= at.mask;
                match hygiene {
                    Hygiene::Clean => entry.dirty &= !at.mask,
                    Hygiene::Dirty => entry.dirty |= at.mask,
                }
            }),
            // What the L2 cache gets is flushed from it at once.
            CacheAt::L2(()) => self.set_global(at, value),
        }
    }

    fn clean(&mut self, cache: CacheOf<Self>, at: At) {
        if let CacheAt::L1(group) = cache {
            self.caches.change(group, at.unit, |entry| {
                entry.dirty &= !at.mask;
                entry.forget(0);
            });
        }
    }

    /// Nothing needs it (D-rsp-reduced).
    fn evict(&mut self, _: CacheOf<Self>, _: At) -> bool {
        false
    }

    fn invalidate(&mut self, cache: CacheOf<Self>, at: At) {
        if let CacheAt::L1(group) = cache
            && self.caches.entry(group, at.unit).is_some()
        {
            self.caches.change(group, at.unit, |entry| entry.forget(at.mask));
        }
    }

    fn invalidate_all(&mut self, cache: CacheOf<Self>) {
        let CacheAt::L1(group) = cache else { return };
        let entries = self.caches.l1.get(&group).into_iter().flat_map(|l1| &l1.entries);
        let units: Vec<Unit> = entries.filter(|(_, e)| e.valid != 0).map(|(unit, _)| *unit).collect();
        units.into_iter().for_each(|unit| self.invalidate(cache, At { unit, mask: !0 }));
    }

    fn set_global(&mut self, at: At, value: Bytes) {
        set_below(self.arena, at, &value);
        // Copies elsewhere may be older from now on.
        self.caches.touch(at.unit);
    }

    /// A location that is already behind the last marker need not be there again (D-rsp-ptx-fifo).
    fn enqueue(&mut self, cache: CacheOf<Self>, mark: MarkOf<Self>) {
        let CacheAt::L1(group) = cache else { return };
        let Some(l1) = self.caches.l1.get_mut(&group) else { return };
        self.caches.queued.push(group);
        if let Mark::Location(at) = mark {
            let mut recent = l1.fifo.iter_mut().rev().map_while(|m| match m {
                Mark::Location(at) => Some(at),
                Mark::Flush(_) => None,
            });
            if let Some(same) = recent.find(|same| same.unit == at.unit) {
                same.mask |= at.mask;
                return;
            }
        }
        l1.fifo.push_back(mark);
    }

    fn dequeue(&mut self, cache: CacheOf<Self>) {
        if let CacheAt::L1(group) = cache
            && let Some(l1) = self.caches.l1.get_mut(&group)
        {
            l1.fifo.pop_front();
        }
    }

    fn set_rmw(&mut self, group: Group, holder: Option<Thread>) {
        self.caches.unlocked |= holder.is_none();
        if let Some(l1) = self.caches.l1.get_mut(&group) {
            l1.rmw = holder;
        }
    }

    fn set_locked(&mut self, (): (), at: At, holder: Option<Thread>) {
        self.caches.unlocked |= holder.is_none();
        match holder {
            Some(thread) => _ = self.caches.locks.insert(at.unit, thread),
            None => _ = self.caches.locks.remove(&at.unit),
        }
        self.caches.touch(at.unit);
    }
}

/// Whether some bytes of a copy are older than device memory.
pub(super) fn is_stale(arena: &Arena, unit: Unit, entry: &Entry) -> bool {
    let now = below(arena, unit);
    bits(entry.valid & !entry.dirty).any(|k| entry.bytes[k] != now[k])
}

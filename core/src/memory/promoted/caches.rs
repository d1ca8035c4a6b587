//! The hardware: L1 caches of blocks with their fifos, the rmw locks and the lock file, over device memory, which is the L2 cache
//! and what is behind it (D-rsp-ptx-l2).

use crate::memory::flat::Arena;
use crate::memory::rsp::Mark;
use crate::verdict::{AccessId, AllocKind, Arrived, Who};
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

/// Who wrote each byte of a unit, where an observer asks.
pub(super) type Writers = [AccessId; UNIT];

/// Nobody asks.
pub(super) const NOBODY: Writers = [AccessId::NONE; UNIT];

/// The bytes of a unit, and whose they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Value {
    pub bytes: Bytes,
    pub by: Writers,
}

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
    /// Whose its bytes are.
    #[serde(skip)]
    by: Option<Box<Writers>>,
    /// The writes since it was flushed last, where an observer asks: also those that others are over by now (`pmo`).
    #[serde(skip)]
    pub since: Vec<(AccessId, u32)>,
}

impl Entry {
    const fn is_hot(&self) -> bool {
        self.dirty != 0 || self.below != 0
    }

    fn is_idle(&self) -> bool {
        self.valid == 0 && self.dirty == 0 && self.reads == 0 && self.below == 0 && self.since.is_empty()
    }

    pub fn value(&self) -> Value {
        Value { bytes: self.bytes, by: self.by.as_deref().copied().unwrap_or(NOBODY) }
    }

    pub fn take_over(&mut self, mask: u32, value: &Value) {
        bits(mask).for_each(|k| self.bytes[k] = value.bytes[k]);
        if self.by.is_some() || bits(mask).any(|k| value.by[k] != AccessId::NONE) {
            let by = self.by.get_or_insert_with(|| Box::new(NOBODY));
            bits(mask).for_each(|k| by[k] = value.by[k]);
        }
    }

    pub fn forget(&mut self, mask: u32) {
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
    /// Whose the bytes of device memory are, where an observer asks.
    #[serde(skip)]
    below: FxHashMap<Unit, Box<Writers>>,
    /// Writes that came to device memory since somebody looked.
    #[serde(skip)]
    pub arrived: Vec<Arrived>,
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

    /// Whose the bytes of a unit in device memory are.
    pub fn writers(&self, unit: Unit) -> Writers {
        self.below.get(&unit).map_or(NOBODY, |by| **by)
    }

    /// Bytes of device memory are somebody's.
    pub fn belong(&mut self, at: At, by: &Writers) {
        if bits(at.mask).any(|k| by[k] != AccessId::NONE) || self.below.contains_key(&at.unit) {
            let below = self.below.entry(at.unit).or_insert_with(|| Box::new(NOBODY));
            bits(at.mask).for_each(|k| below[k] = by[k]);
        }
    }

    /// A write came to device memory.
    pub fn arrive(&mut self, at: At, access_id: AccessId, arena: &Arena) {
        if access_id != AccessId::NONE {
            let (first, bytes) = (at.mask.trailing_zeros() as usize, at.mask.count_ones());
            let address = arena.address_of(at.unit as usize * UNIT + first);
            self.arrived.push(Arrived { access_id, space: AllocKind::Global, address, bytes });
        }
    }

    /// What was written to an entry came there, in its order.
    pub fn arrive_all(&mut self, group: Group, unit: Unit, arena: &Arena) {
        if self.entry(group, unit).is_none_or(|e| e.since.is_empty()) {
            return;
        }
        let mut all = Vec::new();
        self.change(group, unit, |entry| all = std::mem::take(&mut entry.since));
        all.into_iter().for_each(|(access_id, mask)| self.arrive(At { unit, mask }, access_id, arena));
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

    pub fn marker_gone(&mut self, thread: Thread) {
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

/// Whether some bytes of a copy are older than device memory.
pub(super) fn is_stale(arena: &Arena, unit: Unit, entry: &Entry) -> bool {
    let now = below(arena, unit);
    bits(entry.valid & !entry.dirty).any(|k| entry.bytes[k] != now[k])
}

//! What of a run goes into a test: deeds that have to stay, synchronisation between their threads, and writes that others read.

use crate::base::sort;
use crate::base::sorted::{SortedMap, SortedSet};
use crate::check::deeds::{Deed, Done, Source, Spot, Touch, What};
use crate::program::instr::Order;

/// How many reads of others' strong writes are tried, and how many barriers; and of each gap between two deeds that are kept, how many fences.
const READS: usize = 6;
const MEETINGS: usize = 4;
const FENCES: usize = 3;
/// Deeds of a test at most.
pub(super) const MOST: usize = 32;

/// Some of the deeds of a launch as if there were no others: what the others wrote is there since before it.
pub(super) fn only(done: &Done, deeds: &SortedSet<u32>) -> Done {
    let number = |k: u32| u32::try_from(deeds.partition_point(|deed| *deed < k)).unwrap_or(u32::MAX);
    let all = deeds.iter().filter_map(|k| done.deeds.get(*k as usize)).cloned();
    let all = all.map(|mut deed| {
        if let What::Access(Touch { from, .. }) = &mut deed.what
            && let Source::Deed(write) = *from
        {
            *from = if deeds.contains(&write) { Source::Deed(number(write)) } else { Source::Initial };
        }
        deed
    });
    Done { shape: done.shape, names: Vec::new(), deeds: all.collect() }
}

/// Deeds that have to stay, and groups of others that may be left out one by one.
#[derive(Clone)]
pub(super) struct Slice<'a> {
    done: &'a Done,
    stays: SortedSet<u32>,
    /// What may be left out, and whether it is.
    groups: Vec<(Vec<u32>, bool)>,
}

impl<'a> Slice<'a> {
    /// Some deeds, and what synchronises their threads.
    pub fn of(done: &'a Done, stays: SortedSet<u32>) -> Self {
        let mut slice = Self { done, stays, groups: Vec::new() };
        slice.add(slice.reads());
        slice.add(slice.meetings());
        slice.add(slice.fences());
        slice
    }

    /// Takes groups in, as long as they leave the test small.
    fn add(&mut self, groups: Vec<Vec<u32>>) {
        for group in groups {
            self.groups.push((group, false));
            if self.deeds().len() > MOST {
                self.groups.pop();
            }
        }
    }

    /// How many groups there are.
    pub const fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Leaves a group out, or takes it back in; gives how it was.
    pub fn leave_out(&mut self, group: usize, out: bool) -> bool {
        self.groups.get_mut(group).is_none_or(|(_, is)| std::mem::replace(is, out))
    }

    /// The writes that have to stay, each with a read of it that has to.
    pub fn handed_on(&self) -> Vec<[u32; 2]> {
        let reads = self.stays.iter().filter_map(|k| match self.deed(*k)?.touch()?.from {
            Source::Deed(from) if self.stays.contains(&from) => Some([from, *k]),
            _ => None,
        });
        reads.collect()
    }

    /// It, where a write and its read need not stay.
    pub fn without(&self, pair: [u32; 2]) -> Self {
        let mut less = self.clone();
        less.stays.retain(|k| !pair.contains(k));
        less
    }

    /// The deeds of the test, with the writes that must be there so that reads return what they returned.
    pub fn deeds(&self) -> SortedSet<u32> {
        let groups = self.groups.iter().filter(|(_, out)| !out).flat_map(|(group, _)| group);
        let mut all: SortedSet<u32> = self.stays.iter().chain(groups).copied().collect();
        while all.len() <= MOST
            && let Some(more) = all.iter().find_map(|k| self.lacks(*k, &all))
        {
            all.insert(more);
        }
        all
    }

    fn deed(&self, k: u32) -> Option<&'a Deed> {
        self.done.deeds.get(k as usize)
    }

    /// A write that is read and that nothing else stands for: of the writes of a place that are read and no part of the test, the first one is the
    /// initial value, unless writes that are come before it.
    fn lacks(&self, k: u32, all: &SortedSet<u32>) -> Option<u32> {
        let touch = self.deed(k)?.touch()?;
        let Source::Deed(from) = touch.from else { return None };
        if all.contains(&from) {
            return None;
        }
        let read = self.order(Some(from));
        let before = |other: u32| {
            let Some(other_touch) = self.deed(other).and_then(Deed::touch).filter(|t| t.meets(touch)) else {
                return false;
            };
            let written = other_touch.writes() && self.order(Some(other)) < read && other != from;
            let first = match other_touch.from {
                Source::Initial => self.order(None) < read,
                Source::Deed(source) => !all.contains(&source) && self.order(Some(source)) < read,
                Source::None | Source::Several(_) => false,
            };
            written || first
        };
        all.iter().any(|other| before(*other)).then_some(from)
    }

    /// When a write takes effect; none: what is there before the launch.
    fn order(&self, write: Option<u32>) -> (u8, u64) {
        match write {
            None => (0, 0),
            Some(k) => match self.deed(k).and_then(Deed::touch).and_then(|t| t.arrived) {
                Some(arrived) => (1, arrived),
                None => (2, u64::from(k)),
            },
        }
    }

    /// The deeds of each thread that are there so far.
    fn by_thread(&self) -> SortedMap<u64, Vec<u32>> {
        let mut all: SortedMap<u64, Vec<u32>> = SortedMap::new();
        for k in self.deeds() {
            if let Some(deed) = self.deed(k) {
                all.entry(deed.thread).or_default().push(k);
            }
        }
        all
    }

    /// Strong reads of what another of the threads wrote, with those writes, where deeds that are kept come before the write and after the read: the
    /// nearest first, one of each two threads and place.
    fn reads(&self) -> Vec<Vec<u32>> {
        let threads = self.by_thread();
        let mut found: SortedMap<(u64, u64, Spot), (u32, [u32; 2])> = SortedMap::new();
        for (k, deed) in (0u32..).zip(&self.done.deeds) {
            let Some((touch, Source::Deed(from))) = deed.touch().map(|touch| (touch, &touch.from)) else { continue };
            let (Some(reader), Some(write)) = (threads.get(&deed.thread), self.deed(*from)) else { continue };
            let Some(writer) = threads.get(&write.thread).filter(|_| write.thread != deed.thread) else { continue };
            let strong = |touch: &Touch| touch.order != Order::Weak;
            let both = strong(touch) && write.touch().is_some_and(strong);
            let (Some(next), true) = (reader.iter().find(|other| **other >= k), both) else { continue };
            if !writer.iter().any(|other| other <= from) || self.stays.contains(&k) && self.stays.contains(from) {
                continue;
            }
            let key = (deed.thread, write.thread, touch.spot);
            let far = next - k;
            if found.get(&key).is_none_or(|(other, _)| far < *other) {
                found.insert(key, (far, [*from, k]));
            }
        }
        let mut all: Vec<(u32, [u32; 2])> = found.into_values().collect();
        sort::sort(&mut all);
        all.into_iter().take(READS).map(|(_, pair)| pair.to_vec()).collect()
    }

    /// The last and the next of the deeds of a thread that are there.
    fn gap(threads: &SortedMap<u64, Vec<u32>>, thread: u64, k: u32) -> (Option<u32>, Option<u32>) {
        let all = threads.get(&thread).map_or(&[][..], Vec::as_slice);
        let place = all.partition_point(|other| *other <= k);
        (place.checked_sub(1).and_then(|p| all.get(p)).copied(), all.get(place).copied())
    }

    /// Meetings of several of the threads at barriers, one for each way to lie between what is kept.
    fn meetings(&self) -> Vec<Vec<u32>> {
        let threads = self.by_thread();
        let mut all: SortedMap<u32, Vec<u32>> = SortedMap::new();
        for (k, deed) in (0u32..).zip(&self.done.deeds) {
            if let What::Meet { meeting, .. } = deed.what
                && threads.contains_key(&deed.thread)
                && !self.stays.contains(&k)
            {
                all.entry(meeting).or_default().push(k);
            }
        }
        let mut ways = SortedSet::new();
        let mut found = Vec::new();
        for met in all.into_values().filter(|met| met.len() > 1) {
            let gaps: Vec<_> =
                met.iter().filter_map(|k| Some(Self::gap(&threads, self.deed(*k)?.thread, *k))).collect();
            let orders = gaps.iter().any(|gap| gap.0.is_some()) && gaps.iter().any(|gap| gap.1.is_some());
            if orders && ways.insert(gaps) {
                found.push(met);
            }
        }
        found.truncate(MEETINGS);
        found
    }

    /// Fences between deeds that are kept, of each gap those of different kinds.
    fn fences(&self) -> Vec<Vec<u32>> {
        let threads = self.by_thread();
        let mut found: SortedMap<(u64, u32), Vec<(What, u32)>> = SortedMap::new();
        for (k, deed) in (0u32..).zip(&self.done.deeds) {
            if let (What::Fence(..), (Some(last), Some(_))) = (&deed.what, Self::gap(&threads, deed.thread, k)) {
                let gap = found.entry((deed.thread, last)).or_default();
                if gap.len() < FENCES && gap.iter().all(|(what, _)| *what != deed.what) {
                    gap.push((deed.what.clone(), k));
                }
            }
        }
        found.into_values().flatten().map(|(_, k)| vec![k]).collect()
    }
}

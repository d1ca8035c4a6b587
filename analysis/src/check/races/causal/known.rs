//! Accesses by number, and sets of them.

use crate::base::Pc;
use crate::verdict::Who;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use xxhash_rust::xxh3::xxh3_128;

/// A thread of the present launch: block, warp, lane.
pub(super) type Thread = (u64, u32, u32);

/// A thread of a warp.
pub(super) fn thread(who: Who, lane: usize) -> Thread {
    (who.block, who.warp, u32::try_from(lane).unwrap_or(u32::MAX))
}

/// A few bytes of memory, as many as the program's smallest access has: the block whose shared memory it is, and the address.
pub(super) type Spot = (Option<u64>, u64);

/// An access of a spot. A later one of the same thread by the same instruction takes its place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Touch {
    pub spot: Spot,
    pub thread: Thread,
    pub pc: Pc,
    /// What it stored, where that decides whether a race is a defect (`--benign same-value`).
    pub value: Option<u64>,
}

/// The accesses that a search has met, each with a hash: numbers depend on the order in which they were met, hashes do not.
#[derive(Debug, Default)]
pub(super) struct Table(IndexMap<Touch, u128, FxBuildHasher>);

impl Table {
    /// The number of an access.
    pub fn number(&mut self, touch: Touch) -> usize {
        let hash = || {
            let Touch { spot, thread, pc, value } = touch;
            let mut bytes = Vec::with_capacity(64);
            let numbers =
                [spot.0.map_or(0, |b| b + 1), spot.1, thread.0, thread.1.into(), thread.2.into(), pc.0.into()];
            numbers.iter().for_each(|n: &u64| bytes.extend(n.to_le_bytes()));
            value.iter().for_each(|n| bytes.extend(n.to_le_bytes()));
            xxh3_128(&bytes)
        };
        let entry = self.0.entry(touch);
        let number = entry.index();
        entry.or_insert_with(hash);
        number
    }

    /// The access of a number.
    pub fn touch(&self, number: usize) -> Option<Touch> {
        self.0.get_index(number).map(|(touch, _)| *touch)
    }

    /// A number for a set, by what is in it.
    pub fn hash(&self, set: &Set) -> u128 {
        let hashes = set.iter().filter_map(|number| self.0.get_index(number));
        hashes.fold(0, |sum: u128, (_, hash)| sum.wrapping_add(*hash))
    }

    /// Bytes that it takes, about.
    pub fn bytes(&self) -> usize {
        self.0.capacity() * (size_of::<Touch>() + size_of::<u128>() + 2 * size_of::<usize>())
    }
}

/// A set of accesses, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Set(SmallVec<[u64; 2]>);

impl Set {
    pub fn has(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    pub fn add(&mut self, number: usize) {
        if self.0.len() <= number / 64 {
            self.0.resize(number / 64 + 1, 0);
        }
        self.0[number / 64] |= 1 << (number % 64);
    }

    pub fn remove(&mut self, number: usize) {
        if let Some(word) = self.0.get_mut(number / 64) {
            *word &= !(1 << (number % 64));
        }
    }

    pub fn join(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine |= theirs);
    }

    /// What is in both.
    pub fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(mine, theirs)| mine & theirs).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Its numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        let bits = |(k, word): (usize, &u64)| {
            let word = *word;
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| 64 * k + bit)
        };
        self.0.iter().enumerate().flat_map(bits)
    }
}

//! Cache lines (report, 4.2.1), with masks per byte in place of the two flags (D-line).

use crate::base::mutant::{Mutant, on};
use crate::verdict::{AccessId, Who};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smallvec::SmallVec;
use std::ops::Range;

/// The longest line, in bytes: one bit of a mask for each.
pub const MAX_LINE: usize = 128;

/// A set of bytes of one line: bit `k` is the byte at `base + k`.
pub type ByteMask = u128;

/// The state spaces that lie in DRAM (the report's `StateSpace_device`, and kernel parameters). Only global and local
/// memory are cached: the caches of constant memory matter for speed alone (4.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DeviceSpace {
    /// `.global`
    Global,
    /// `.local`
    Local,
    /// `.const`
    Const,
    /// Kernel parameters.
    Param,
}

impl DeviceSpace {
    /// Whether lines of it may be in a cache.
    #[must_use]
    pub const fn cached(self) -> bool {
        matches!(self, Self::Global | Self::Local)
    }
}

/// What a line holds a copy of. The report keys lines by the operation's address; here they are keyed by their base, so
/// that operations on different bytes of a line share it (D-line).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LineKey {
    /// The state space.
    pub space: DeviceSpace,
    /// Tells apart address spaces that use the same addresses: the warp that local memory is of, the launch that parameters
    /// are of; nobody in particular for what all share.
    pub owner: Who,
    /// Address of the first byte, a multiple of the line's size.
    pub base: u64,
}

/// The index of a memory operation in flight (the report's `MemOpIdx`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct OpIdx(pub u32);

/// How soon a line is evicted (the report's `EvClass`, without `last`, which no cache operator uses).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub enum EvClass {
    /// Before lines of class `normal`.
    First,
    /// The default.
    #[default]
    Normal,
}

/// Bytes of one line, and which of them are known. Unknown bytes are zero, so that equal contents compare equal.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Bytes {
    mask: ByteMask,
    data: [u8; MAX_LINE],
    /// Who wrote each byte, where an observer asked: it goes where the byte goes.
    writers: Option<Box<Writers>>,
}

/// Who wrote the bytes of a line.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Writers {
    of: [AccessId; MAX_LINE],
    /// Bytes that were written since the line was last written back, some with the value that they had: those are not dirty.
    fresh: ByteMask,
}

impl Bytes {
    /// No byte known.
    pub const NONE: Self = Self { mask: 0, data: [0; MAX_LINE], writers: None };

    /// The known bytes.
    #[must_use]
    pub const fn mask(&self) -> ByteMask {
        self.mask
    }

    /// A byte; `None` when it is not known or lies beyond the longest line.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<u8> {
        (at < MAX_LINE && self.mask >> at & 1 == 1).then(|| self.data.get(at).copied()).flatten()
    }

    /// All bytes from the line's base on; unknown ones are zero.
    #[must_use]
    pub const fn data(&self) -> &[u8; MAX_LINE] {
        &self.data
    }

    /// Makes a byte known; nothing happens beyond the longest line.
    pub fn set(&mut self, at: usize, byte: u8) {
        if let Some(place) = self.data.get_mut(at) {
            *place = byte;
            self.mask |= 1 << at;
            self.written_by(at, 1, AccessId::NONE);
        }
    }

    /// Who wrote a byte; [`AccessId::NONE`] where nobody asked.
    #[must_use]
    pub fn writer(&self, at: usize) -> AccessId {
        self.writers.as_ref().and_then(|w| w.of.get(at)).copied().unwrap_or_default()
    }

    /// Whether somebody asked who wrote them.
    #[must_use]
    pub const fn has_writers(&self) -> bool {
        self.writers.is_some()
    }

    /// Takes note of who wrote `len` bytes from an offset on.
    pub fn written_by(&mut self, at: usize, len: usize, by: AccessId) {
        if by == AccessId::NONE && self.writers.is_none() {
            return;
        }
        let none = || Box::new(Writers { of: [AccessId::NONE; MAX_LINE], fresh: 0 });
        if let Some(some) = self.writers.get_or_insert_with(none).of.get_mut(at..(at + len).min(MAX_LINE)) {
            some.fill(by);
        }
    }

    /// The bytes that were written since they were last written back; none where nobody asks who wrote them.
    #[must_use]
    pub fn fresh(&self) -> ByteMask {
        self.writers.as_ref().map_or(0, |w| w.fresh)
    }

    /// Bytes have been written, or written back.
    pub(super) fn set_fresh(&mut self, mask: ByteMask, fresh: bool) {
        if let Some(writers) = &mut self.writers {
            writers.fresh = if fresh { writers.fresh | mask } else { writers.fresh & !mask };
        }
    }

    /// Takes over who wrote the fresh bytes of `from` that have the same value here; they are fresh here, too.
    pub(super) fn rewritten(&mut self, from: &Self) {
        for at in bits(from.fresh()) {
            if self.get(at).is_none_or(|byte| byte == from.data[at]) {
                self.written_by(at, 1, from.writer(at));
                self.set_fresh(1 << at, true);
            }
        }
    }

    /// Makes bytes known from an offset on; what lies beyond the longest line is left out.
    pub fn put(&mut self, at: usize, bytes: &[u8]) {
        let len = bytes.len().min(MAX_LINE.saturating_sub(at));
        if let (Some(to), Some(from)) = (self.data.get_mut(at..at.saturating_add(len)), bytes.get(..len)) {
            to.copy_from_slice(from);
            self.mask |= span_mask(at, len);
            self.written_by(at, len, AccessId::NONE);
        }
    }

    /// Takes over the bytes of `from` in `mask`; those that are not known there are left alone.
    pub fn copy(&mut self, from: &Self, mask: ByteMask) {
        let mask = mask & from.mask;
        for run in runs(mask) {
            self.data[run.clone()].copy_from_slice(&from.data[run]);
        }
        if (self.writers.is_some() || from.writers.is_some()) && !on(Mutant::WriterForgotten) {
            bits(mask).for_each(|at| self.written_by(at, 1, from.writer(at)));
        }
        self.mask |= mask;
    }

    /// Forgets bytes.
    pub fn clear(&mut self, mask: ByteMask) {
        for run in runs(mask & self.mask) {
            self.data[run.clone()].fill(0);
            self.written_by(run.start, run.len(), AccessId::NONE);
        }
        self.mask &= !mask;
    }

    /// The bytes of `mask` alone.
    #[must_use]
    pub fn only(&self, mask: ByteMask) -> Self {
        if self.mask & !mask == 0 {
            return self.clone();
        }
        let mut some = Self::NONE;
        some.copy(self, mask);
        some
    }

    /// The bytes of `mask` that are known in both and equal.
    #[must_use]
    pub fn equal(&self, other: &Self, mask: ByteMask) -> ByteMask {
        let both = mask & self.mask & other.mask;
        if runs(both).all(|run| self.data[run.clone()] == other.data[run]) {
            return both;
        }
        bits(both).filter(|at| self.data[*at] == other.data[*at]).fold(0, |found, at| found | 1 << at)
    }
}

/// The known bytes, apart from who wrote them.
impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let known: SmallVec<[u8; MAX_LINE]> = bits(self.mask).map(|at| self.data[at]).collect();
        (self.mask, known).serialize(to)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let (mask, known) = <(ByteMask, SmallVec<[u8; MAX_LINE]>)>::deserialize(from)?;
        let mut bytes = Self::NONE;
        bits(mask).zip(known).for_each(|(at, byte)| bytes.set(at, byte));
        Ok(bytes)
    }
}

impl std::fmt::Debug for Bytes {
    /// Known bytes in hexadecimal, runs of unknown ones as `..`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut gap = false;
        for at in 0..MAX_LINE - self.mask.leading_zeros() as usize {
            match self.get(at) {
                Some(byte) => write!(f, "{byte:02x}")?,
                None if gap => continue,
                None => write!(f, "..")?,
            }
            gap = self.get(at).is_none();
        }
        Ok(())
    }
}

/// The set bits of a mask, in ascending order.
pub fn bits(mask: ByteMask) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        (rest != 0).then(|| {
            let at = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            at
        })
    })
}

/// The runs of neighbours in a mask, in ascending order.
pub fn runs(mask: ByteMask) -> impl Iterator<Item = Range<usize>> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        (rest != 0).then(|| {
            let start = rest.trailing_zeros() as usize;
            let len = (rest >> start).trailing_ones() as usize;
            rest &= !span_mask(start, len);
            start..start + len
        })
    })
}

/// The mask of `len` bytes from `at` on; what lies beyond the longest line is left out.
#[must_use]
pub fn span_mask(at: usize, len: usize) -> ByteMask {
    if at >= MAX_LINE || len == 0 {
        return 0;
    }
    let ones = if len >= MAX_LINE { !0 } else { (1 << len) - 1 };
    ones << at
}

/// A line in use. An unused line (the report's `init`) is not stored at all.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Line {
    /// What it is a copy of.
    pub key: LineKey,
    /// The valid bytes: the report's `valid` and `cw`.
    pub bytes: Bytes,
    /// Bytes newer than the next level's; a subset of the valid ones.
    pub dirty: ByteMask,
    /// Bytes that an operation has undertaken to fetch; disjoint from the valid ones.
    pub fill: ByteMask,
    /// The operations that keep the line from being evicted, ascending.
    #[serde(skip)]
    pub pins: SmallVec<[OpIdx; 4]>,
    /// The eviction class.
    pub class: EvClass,
}

impl Line {
    /// A line just reserved for an address: nothing valid, class `normal`.
    pub(super) fn new(key: LineKey) -> Self {
        Self { key, bytes: Bytes::NONE, dirty: 0, fill: 0, pins: SmallVec::new(), class: EvClass::Normal }
    }

    /// The valid bytes as a mask.
    #[must_use]
    pub const fn valid(&self) -> ByteMask {
        self.bytes.mask
    }

    /// Whether the line may be evicted: neither dirty nor pinned (the axioms of `canEvict`, 4.2.2).
    #[must_use]
    pub fn evictable(&self) -> bool {
        (self.dirty == 0 || on(Mutant::EvictDirty)) && (self.pins.is_empty() || on(Mutant::EvictPinned))
    }

    /// Whether all bytes of `mask` are valid or being fetched.
    #[must_use]
    pub const fn covers(&self, mask: ByteMask) -> bool {
        mask & !(self.bytes.mask | self.fill) == 0
    }

    /// Adds an operation to those that pin the line (the report's `pin`): once, however often it is called.
    ///
    /// Rule: cache.pin
    pub(super) fn pin(&mut self, op: OpIdx) {
        if let Err(at) = self.pins.binary_search(&op) {
            self.pins.insert(at, op);
        }
    }

    /// Removes an operation from those that pin the line; nothing happens if it did not. Says whether it did.
    ///
    /// Rule: cache.unpin
    pub(super) fn unpin(&mut self, op: OpIdx) -> bool {
        let found = self.pins.binary_search(&op);
        if let Ok(at) = found {
            self.pins.remove(at);
        }
        found.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whole runs at once do what byte after byte does.
        #[test]
        fn runs_are_bits(mask in any::<u128>(), sparse in any::<u128>(), data in proptest::collection::vec(0u8..3, 128)) {
            for mask in [mask, mask & sparse, mask | sparse, !0, 0] {
                prop_assert_eq!(runs(mask).flatten().collect::<Vec<_>>(), bits(mask).collect::<Vec<_>>());
                let (mut whole, mut one, mut by_byte) = (Bytes::NONE, Bytes::NONE, Bytes::NONE);
                whole.put(0, &data);
                one.put(1, &data);
                bits(mask).for_each(|at| by_byte.set(at, data[at]));
                prop_assert_eq!(whole.only(mask), by_byte.clone());
                prop_assert_eq!((one.get(0), one.get(1), one.mask()), (None, Some(data[0]), !1));
                let mut copied = one.clone();
                copied.copy(&by_byte, sparse);
                let mut cleared = whole.clone();
                cleared.clear(mask);
                for at in 0..MAX_LINE {
                    let taken = by_byte.get(at).filter(|_| sparse >> at & 1 == 1).or(one.get(at));
                    prop_assert_eq!(copied.get(at), taken);
                    prop_assert_eq!(cleared.get(at), whole.get(at).filter(|_| mask >> at & 1 == 0));
                    prop_assert!(cleared.get(at).is_some() || cleared.data()[at] == 0);
                }
                let equal: Vec<usize> = bits(mask).filter(|at| one.get(*at) == whole.get(*at)).collect();
                prop_assert_eq!(bits(one.equal(&whole, mask)).collect::<Vec<_>>(), equal);
            }
        }
    }
}

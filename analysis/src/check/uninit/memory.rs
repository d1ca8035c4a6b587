//! Definedness of memory, byte by byte.

use super::cause::Cause;
use crate::base::LANES;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Shared and local memory larger than this does not exist: a write beyond is about to be refused.
const LARGEST: u64 = 1 << 24;

/// Bit `k` of a mask stands for byte `k`; `len` is at most 16.
pub(super) const fn all(len: u32) -> u32 {
    (1 << len) - 1
}

/// The bytes of `len` that are not defined.
fn holes(len: u32, defined: u32) -> impl Iterator<Item = u64> {
    (0..len).filter(move |k| defined >> k & 1 == 0).map(u64::from)
}

/// Device memory: everything is defined but the ranges that nobody has initialised, as far as they were not written.
#[derive(Clone, Debug, Default)]
pub(super) struct Global {
    /// End of each range by its address; they do not overlap.
    ranges: BTreeMap<u64, u64>,
    /// 64 bytes a word: bytes of a range that were written since.
    written: FxHashMap<u64, u64>,
}

impl Global {
    /// Nothing in the range is defined any more.
    pub fn forget(&mut self, address: u64, len: u64) {
        let (mut start, mut end) = (address, address.saturating_add(len));
        if start == end {
            return;
        }
        let words = start / 64..=(end - 1) / 64;
        let clear = |word: u64, bits: &mut u64| {
            let gone = (0..64).filter(|k| (address..end).contains(&(word * 64 + k))).fold(0u64, |m, k| m | 1 << k);
            *bits &= !gone;
        };
        // Whichever is shorter: the range or what was written.
        if words.end() - words.start() < self.written.len() as u64 {
            for word in words {
                if let Some(bits) = self.written.get_mut(&word) {
                    clear(word, bits);
                }
            }
        } else {
            self.written.iter_mut().for_each(|(word, bits)| clear(*word, bits));
        }
        while let Some((&s, &e)) = self.ranges.range(..=end).next_back().filter(|r| *r.1 >= start) {
            (start, end) = (start.min(s), end.max(e));
            self.ranges.remove(&s);
        }
        self.ranges.insert(start, end);
    }

    /// The range that holds an address is defined from now on.
    pub fn settle(&mut self, address: u64) {
        let found = self.ranges.range(..=address).next_back().filter(|r| *r.1 > address).map(|r| *r.0);
        found.map(|start| self.ranges.remove(&start));
    }

    /// Whether everything is defined.
    pub fn complete(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The defined bytes of `len` at an address.
    pub fn get(&self, address: u64, len: u32) -> u32 {
        let outside = |from: u64, to: u64| self.ranges.range(..to).next_back().is_none_or(|r| *r.1 <= from);
        if outside(address, address.saturating_add(len.into())) {
            return all(len);
        }
        let defined = |k: &u32| {
            let at = address.wrapping_add((*k).into());
            outside(at, at.saturating_add(1)) || self.written.get(&(at / 64)).is_some_and(|w| w >> (at % 64) & 1 == 1)
        };
        (0..len).filter(defined).fold(0, |m, k| m | 1 << k)
    }

    /// `len` bytes at an address are defined from now on.
    pub fn define(&mut self, address: u64, len: u32) {
        if self.complete() {
            return;
        }
        for at in (0..u64::from(len)).map(|k| address.wrapping_add(k)) {
            *self.written.entry(at / 64).or_default() |= 1 << (at % 64);
        }
    }
}

/// A block's shared memory, or a thread's local memory: undefined until it is written.
#[derive(Clone, Debug, Default)]
pub(super) struct Fresh {
    /// The bytes that are.
    defined: FixedBitSet,
    /// Why bytes that were written are not defined.
    causes: FxHashMap<u64, Cause>,
}

impl Fresh {
    /// The defined bytes of `len` at an offset.
    pub fn get(&self, offset: u64, len: u32) -> u32 {
        let defined = |k: &u32| self.defined.contains(offset.wrapping_add((*k).into()) as usize);
        (0..len).filter(defined).fold(0, |m, k| m | 1 << k)
    }

    /// Why a byte is not defined, if it was written.
    pub fn cause(&self, offset: u64) -> Option<Cause> {
        self.causes.get(&offset).copied()
    }

    /// Says why those of `len` bytes at an offset that are not defined are not.
    pub fn blame(&mut self, offset: u64, len: u32, defined: u32, cause: Cause) {
        self.causes.extend(holes(len, defined).map(|k| (offset.wrapping_add(k), cause)));
    }

    /// Sets the definedness of `len` bytes at an offset.
    pub fn put(&mut self, offset: u64, len: u32, defined: u32) {
        if offset > LARGEST {
            return;
        }
        let first = offset as usize;
        self.defined.grow(first + len as usize);
        for k in 0..len as usize {
            self.defined.set(first + k, defined >> k & 1 == 1);
        }
    }

    /// Nothing of `offset .. end` is defined any more.
    pub fn forget(&mut self, offset: u64, end: u64) {
        if !self.causes.is_empty() {
            self.causes.retain(|at, _| !(offset..end).contains(at));
        }
        let bytes = self.defined.len() as u64;
        let (first, end) = (offset.min(bytes), end.max(offset).min(bytes));
        self.defined.set_range(first as usize..end as usize, false);
    }
}

/// Local memory of a warp, lane by lane.
pub(super) type Local = [Fresh; LANES];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_memory_is_defined_unless_forgotten() {
        let mut g = Global::default();
        assert_eq!(g.get(100, 8), 0xff);
        g.define(100, 8);
        g.forget(96, 8);
        assert_eq!(g.get(100, 8), 0xf0);
        g.define(101, 2);
        assert_eq!(g.get(100, 8), 0xf6);
        g.forget(102, 1);
        assert_eq!(g.get(100, 8), 0xf2);
        g.forget(300, 4);
        g.forget(310, 4);
        g.forget(303, 8);
        assert_eq!((g.get(296, 8), g.get(304, 8), g.get(312, 8), g.ranges.len()), (0xf, 0, 0xfc, 2));
    }

    #[test]
    fn lanes_and_bytes_of_local_memory_are_apart() {
        let mut l = Local::default();
        l[3].put(8, 4, 0b1011);
        assert_eq!((l[3].get(8, 4), l[4].get(8, 4), l[3].get(6, 4)), (0b1011, 0, 0b1100));
        l[3].forget(9, 100);
        assert_eq!(l[3].get(8, 4), 1);
    }

    #[test]
    fn shared_memory_is_undefined_until_written() {
        let mut s = Fresh::default();
        assert_eq!(s.get(60, 8), 0);
        s.put(62, 4, 0b1101);
        assert_eq!(s.get(60, 8), 0b0011_0100);
        s.put(u64::MAX - 1, 4, 0xf);
    }
}

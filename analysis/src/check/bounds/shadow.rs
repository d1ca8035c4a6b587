//! Origins of registers and of memory.

use crate::base::{LANES, LaneMask, lanes_of};
use crate::check::provenance::objects::{Id, NONE, both};
use rustc_hash::FxHashMap;

/// Origins of those registers of a call that are followed, lane by lane.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows(Vec<[Id; LANES]>);

impl Rows {
    /// A lane's origin of a row.
    pub fn get(&self, row: u32, lane: usize) -> Id {
        self.0.get(row as usize).map_or(NONE, |r| r[lane])
    }

    /// Sets a lane's origin of a row.
    pub fn put(&mut self, row: u32, lane: usize, id: Id) {
        if let Some(r) = self.0.get_mut(row as usize) {
            r[lane] = id;
        }
    }

    /// Makes so many rows.
    pub fn reach(&mut self, rows: usize) {
        if self.0.len() < rows {
            self.0.resize(rows, [NONE; LANES]);
        }
    }

    /// Lanes enter a function with so many rows.
    pub fn enter(&mut self, rows: usize, lanes: LaneMask) {
        self.reach(rows);
        for row in self.0.iter_mut().take(rows) {
            lanes_of(lanes).for_each(|lane| row[lane] = NONE);
        }
    }
}

/// Origins of memory, by words of four bytes; only those that are known to be parts of addresses.
#[derive(Clone, Debug, Default)]
pub(super) struct Words(FxHashMap<u64, Id>);

impl Words {
    /// Whether no address is in this memory.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What `len` bytes at an address are derived from. Less than a word is never an address.
    pub fn get(&self, address: u64, len: u32) -> Id {
        if self.0.is_empty() || len < 4 {
            return NONE;
        }
        let words = address / 4..=address.wrapping_add(u64::from(len) - 1) / 4;
        words.fold(NONE, |all, word| both(all, self.0.get(&word).copied().unwrap_or(NONE)))
    }

    /// Says what `len` bytes at an address are derived from.
    pub fn put(&mut self, address: u64, len: u32, id: Id) {
        let words = address / 4..=address.wrapping_add(u64::from(len.max(1)) - 1) / 4;
        if id == NONE || len < 4 {
            if !self.0.is_empty() {
                words.for_each(|word| _ = self.0.remove(&word));
            }
        } else {
            words.for_each(|word| _ = self.0.insert(word, id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::provenance::objects::LOST;

    #[test]
    fn memory_keeps_addresses_by_words() {
        let mut words = Words::default();
        words.put(64, 8, 5);
        assert_eq!((words.get(64, 8), words.get(68, 4), words.get(64, 2), words.get(72, 8)), (5, 5, NONE, NONE));
        words.put(68, 4, 6);
        assert_eq!((words.get(64, 8), words.get(64, 4)), (LOST, 5));
        words.put(65, 1, 7);
        assert_eq!((words.get(64, 8), words.get(64, 4)), (6, NONE));
        words.put(64, 8, NONE);
        assert!(words.is_empty());
    }
}

//! Mutexes by number, and the vector in which a core keeps what it knows of each (6.3, 6.4).

use std::collections::BTreeMap;

/// A mutex: an entry of the pool, and of each vector, which are indexed alike (6.5).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Entry(pub u32);

/// Which mutex belongs to a line: the lower bits of the line's address (6.3). Lines with the same bits share a mutex falsely.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Hash {
    mask: u32,
}

impl Hash {
    /// For a pool of so many entries: the power of two that is not below it.
    #[must_use]
    pub const fn new(entries: u32) -> Self {
        let bits = match entries {
            0 | 1 => 0,
            n => u32::BITS - (n - 1).leading_zeros(),
        };
        Self { mask: ((1_u64 << bits) - 1) as u32 }
    }

    /// Entries of the pool less one.
    #[must_use]
    pub const fn last(self) -> Entry {
        Entry(self.mask)
    }

    /// The mutex of a line, given as its address divided by the bytes of a line. Rule: lsc.hash
    #[must_use]
    pub const fn entry(self, line: u64) -> Entry {
        Entry(line as u32 & self.mask)
    }
}

/// What a core knows of a mutex: two bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Status {
    /// It neither has it nor has asked for it.
    #[default]
    Invalid,
    /// It has asked, and waits for the answer.
    Requested,
    /// Nobody else has it.
    Acquired,
}

/// A vector of statuses.
pub trait Statuses {
    /// That of a mutex.
    fn get(&self, entry: Entry) -> Status;
    /// Changes it.
    fn set(&mut self, entry: Entry, status: Status);
    /// Those that are acquired become invalid, in the order of their numbers; `told` hears of each.
    fn release_acquired(&mut self, told: impl FnMut(Entry));
    /// Whether any is acquired.
    fn any_acquired(&self) -> bool;
}

/// Up to sixteen statuses in a word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FewStatuses(u32);

const LOW: u32 = 0x5555_5555;

impl FewStatuses {
    /// Entries at most.
    pub const ENTRIES: u32 = 16;

    /// All statuses together; states are compared by it.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }
}

impl Statuses for FewStatuses {
    #[inline]
    fn get(&self, entry: Entry) -> Status {
        match self.0 >> (entry.0 % Self::ENTRIES * 2) & 3 {
            0 => Status::Invalid,
            1 => Status::Requested,
            _ => Status::Acquired,
        }
    }

    #[inline]
    fn set(&mut self, entry: Entry, status: Status) {
        let shift = entry.0 % Self::ENTRIES * 2;
        self.0 = self.0 & !(3 << shift) | (status as u32) << shift;
    }

    fn release_acquired(&mut self, mut told: impl FnMut(Entry)) {
        let mut acquired = self.0 >> 1 & LOW;
        self.0 &= LOW;
        while acquired != 0 {
            let at = acquired.trailing_zeros() / 2;
            acquired &= acquired - 1;
            told(Entry(at));
        }
    }

    fn any_acquired(&self) -> bool {
        self.0 >> 1 & LOW != 0
    }
}

/// Any number of statuses; those that are not invalid are kept.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ManyStatuses(BTreeMap<Entry, Status>);

impl ManyStatuses {
    /// Those that are not invalid, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (Entry, Status)> + '_ {
        self.0.iter().map(|(entry, status)| (*entry, *status))
    }
}

impl Statuses for ManyStatuses {
    fn get(&self, entry: Entry) -> Status {
        self.0.get(&entry).copied().unwrap_or_default()
    }

    fn set(&mut self, entry: Entry, status: Status) {
        if status == Status::Invalid {
            self.0.remove(&entry);
        } else {
            self.0.insert(entry, status);
        }
    }

    fn release_acquired(&mut self, mut told: impl FnMut(Entry)) {
        self.0.retain(|entry, status| {
            let keep = *status != Status::Acquired;
            if !keep {
                told(*entry);
            }
            keep
        });
    }

    fn any_acquired(&self) -> bool {
        self.0.values().any(|status| *status == Status::Acquired)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_share_a_mutex_where_their_lower_bits_agree() {
        let hash = Hash::new(1024);
        assert_eq!(hash.entry(5), hash.entry(5 + 1024));
        assert_ne!(hash.entry(5), hash.entry(6));
        assert_eq!(Hash::new(1).entry(77), Entry(0));
        assert_eq!(Hash::new(3).last(), Entry(3));
        assert_eq!(Hash::new(u32::MAX).last(), Entry(u32::MAX));
    }

    fn vector(mut vector: impl Statuses) {
        vector.set(Entry(3), Status::Acquired);
        vector.set(Entry(0), Status::Requested);
        vector.set(Entry(15), Status::Acquired);
        assert!(vector.any_acquired());
        let mut released = Vec::new();
        vector.release_acquired(|entry| released.push(entry.0));
        assert_eq!(released, [3, 15]);
        assert_eq!([0, 3, 15].map(|e| vector.get(Entry(e))), [Status::Requested, Status::Invalid, Status::Invalid]);
        assert!(!vector.any_acquired());
    }

    #[test]
    fn both_vectors_keep_what_they_are_told() {
        vector(FewStatuses::default());
        vector(ManyStatuses::default());
    }
}

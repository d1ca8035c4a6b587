//! The device's heap: who allocated and freed its blocks, and how much of it is used (D-heap).
//!
//! The blocks themselves are the arena's; this is what a report, and `malloc`, must know besides.

use crate::verdict::{Bug, BugKind, LeakSite, Lifetime, Nearest, Place, Relation};
use std::collections::BTreeMap;

/// Bytes that a block takes at least, and a multiple of which it takes.
const UNIT: u64 = 16;

/// A block that `malloc` made.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Record {
    bytes: u64,
    life: Lifetime,
}

/// What is known of the heap.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Heap {
    /// By address.
    blocks: BTreeMap<u64, Record>,
    /// Bytes of those that are not freed.
    used: u64,
}

/// What a block takes of the heap.
const fn taken(bytes: u64) -> u64 {
    match bytes.checked_next_multiple_of(UNIT) {
        Some(0) => UNIT,
        Some(taken) => taken,
        None => u64::MAX,
    }
}

impl Heap {
    /// Whether a heap of `size` bytes has room for a block.
    pub const fn has_room(&self, bytes: u64, size: u64) -> bool {
        self.used.saturating_add(taken(bytes)) <= size
    }

    /// A block was made.
    pub fn made(&mut self, address: u64, bytes: u64, allocated: Place) {
        self.used = self.used.saturating_add(taken(bytes));
        self.blocks.insert(address, Record { bytes, life: Lifetime { allocated, freed: None } });
    }

    /// A block was freed.
    pub fn freed(&mut self, address: u64, by: Place) {
        if let Some(block) = self.blocks.get_mut(&address) {
            self.used = self.used.saturating_sub(taken(block.bytes));
            block.life.freed = Some(by);
        }
    }

    /// A block was not made after all.
    pub fn unmake(&mut self, address: u64) {
        self.unfree(address);
        if let Some(block) = self.blocks.remove(&address) {
            self.used = self.used.saturating_sub(taken(block.bytes));
        }
    }

    /// A block was not freed after all.
    pub fn unfree(&mut self, address: u64) {
        if let Some(block) = self.blocks.get_mut(&address)
            && block.life.freed.take().is_some()
        {
            self.used = self.used.saturating_add(taken(block.bytes));
        }
    }

    /// The life of the block at an address.
    pub fn life(&self, address: u64) -> Option<Box<Lifetime>> {
        self.blocks.get(&address).map(|b| Box::new(b.life.clone()))
    }

    /// A defect of an access with the life of the heap's block that it is about, if it is about one.
    pub fn told(&self, mut kind: BugKind) -> BugKind {
        if let BugKind::OutOfBounds { address, nearest: Some(near), .. }
        | BugKind::UseAfterFree { address, nearest: near, .. } = &mut kind
        {
            near.life = self.life(start(*address, near));
        }
        kind
    }

    /// The blocks that are not freed, each instruction that allocated some once; the first of them by number of program and
    /// address of the instruction stands for all.
    pub fn leaks(&self) -> Option<Bug> {
        let mut sites: BTreeMap<_, LeakSite> = BTreeMap::new();
        for Record { bytes, life } in self.blocks.values().filter(|b| b.life.freed.is_none()) {
            let place = &life.allocated;
            let new = || LeakSite { place: place.clone(), blocks: 0, bytes: 0 };
            let site = sites.entry((place.program, place.pc)).or_insert_with(new);
            (site.blocks, site.bytes) = (site.blocks + 1, site.bytes.saturating_add(*bytes));
        }
        let sites: Vec<LeakSite> = sites.into_values().collect();
        let place = sites.first()?.place.clone();
        let (blocks, bytes) = sites.iter().fold((0, 0), |(n, m), s| (n + s.blocks, s.bytes.saturating_add(m)));
        Some(Bug { kind: BugKind::Leak { blocks, bytes, sites }, place, other: None })
    }
}

/// Where the block begins that an address is nearest to.
const fn start(address: u64, near: &Nearest) -> u64 {
    match near.relation {
        Relation::Before(d) => address.wrapping_add(d),
        Relation::After(d) => address.wrapping_sub(d).wrapping_sub(near.bytes),
        Relation::Inside(d) => address.wrapping_sub(d),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_comes_back() {
        let mut heap = Heap::default();
        assert!(heap.has_room(32, 32) && !heap.has_room(33, 32) && !heap.has_room(u64::MAX, u64::MAX - 1));
        heap.made(64, 20, Place::default());
        assert!(!heap.has_room(1, 32));
        heap.freed(64, Place::default());
        assert!(heap.has_room(32, 32) && heap.leaks().is_none());
    }

    #[test]
    fn blocks_of_no_bytes_end_as_well() {
        let mut heap = Heap::default();
        let many = (0..1000).take_while(|k| {
            let room = heap.has_room(0, 1024);
            heap.made(*k, 0, Place::default());
            room
        });
        assert_eq!(many.count(), 64);
    }
}

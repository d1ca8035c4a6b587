//! The arena: all blocks of device memory. Their bytes lie close together in one vector, which searches hash and copy; their
//! addresses lie far apart, so that an index that leaves one does not reach another (D-gaps).
//!
//! `address` is always a device address (`u64`), `at` an index in the vector (`usize`): a hint turns one into the other.

use super::block::{Block, nearest};
use super::heap;
use super::lent::{Lent, Loans, is_lent};
use super::mirror::Mirror;
#[cfg(all(feature = "native", target_arch = "x86_64"))]
use super::over::Does;
use super::over::Over;
use crate::memory::{Fault, Hint, Near, Part, Snapshot, Taken, snapshot};
use crate::program::env::AddressMap;
use crate::verdict::{
    AllocKind, Bug, BugKind, Contents, DeviceMemory, Lifetime, LimitKind, Named, Place, Relation, Unwritten,
};
use aligned_vec::{AVec, ConstAlign};
use std::ops::Range;

/// Bytes between two blocks in the vector, and of address space at least. At least a line of a cache.
const GAP: u64 = 256;
/// More address space between two blocks, where addresses have 64 bits: whatever 32-bit arithmetic adds to an address of one
/// of them is not one of the other.
const FAR: u64 = 1 << 32;
/// Bytes of a block from which on it begins where a page of so many bytes might.
const LARGE: u64 = 1 << 16;
const PAGE: u64 = 1 << 12;
/// Bytes of a section.
const CHUNK: usize = 512;

/// Device memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arena {
    /// The bytes of all blocks, with small gaps between them.
    pub(in crate::memory) bytes: AVec<u8, ConstAlign<64>>,
    /// Blocks by ascending address, and, but for those that lie in what is lent, by ascending place in `bytes`.
    pub(super) blocks: Vec<Block>,
    /// Bytes of the host's that are lent.
    loans: Loans,
    /// Memory of the host's at its own addresses.
    pub(super) mirror: Option<Box<Mirror>>,
    /// The memory that this is a view of, where blocks run ahead: it has no bytes of its own then.
    pub(super) over: Option<Box<Over>>,
    /// Whether there is any of these.
    pub(super) has_guests: bool,
    /// The address of the first block, if it is aligned as it wants to be.
    pub(super) base: u64,
    pub(super) cap: Option<u64>,
}

impl Arena {
    pub(in crate::memory) fn new(base: u64, cap: Option<u64>) -> Self {
        let (bytes, blocks, loans) = (AVec::new(64), Vec::new(), Loans::default());
        Self { bytes, blocks, loans, mirror: None, over: None, has_guests: false, base, cap }
    }

    /// Makes a zeroed block at the next address that is a multiple of `align`; gives its address.
    ///
    /// # Errors
    /// The memory cap; this computer has no more.
    pub fn alloc(&mut self, name: &str, kind: AllocKind, len: u64, align: u64) -> Result<u64, Box<Fault>> {
        let align = align.max(64);
        let apart = if self.address_bits() == 64 { FAR } else { 0 };
        // Whatever is lent, and wherever in the vector bytes are: addresses are the same.
        let from = self.reach(apart).next_multiple_of(align);
        let offset = (self.blocks.len() as u64).saturating_mul(apart).saturating_add(from);
        // Behind a block whose address was chosen.
        let last = self.blocks.last().map_or(0, |b| b.address - self.base + b.len + GAP);
        let offset = if offset >= last { offset } else { last.saturating_add(apart).next_multiple_of(align) };
        self.place(name, kind, len, (align, offset))
    }

    /// Makes a zeroed buffer at an address of the caller's choice, a multiple of 256. `None`: it is not behind all blocks that there
    /// are.
    ///
    /// # Errors
    /// As of [`Arena::alloc`].
    pub fn alloc_at(&mut self, name: &str, len: u64, address: u64) -> Result<Option<u64>, Box<Fault>> {
        let last = self.blocks.last().map_or(self.base, |b| b.address + b.len + GAP);
        if address < last || !address.is_multiple_of(256) {
            return Ok(None);
        }
        self.place(name, AllocKind::Buffer, len, (256, address - self.base)).map(Some)
    }

    /// Makes a zeroed block whose address is so far from the first one, and whose bytes lie behind all others in the vector, at a
    /// multiple of `align`.
    fn place(&mut self, name: &str, kind: AllocKind, len: u64, at: (u64, u64)) -> Result<u64, Box<Fault>> {
        let (align, offset) = at;
        // One index of several large blocks is at one place of a page in all of them: elsewhere, a store to one of them would look
        // to the processor as if loads a little behind it in another one had to wait for it.
        let start = self.used().next_multiple_of(if len < LARGE { align } else { align.max(PAGE) });
        let end = start.saturating_add(len).saturating_add(GAP);
        let wanted = self.blocks.iter().filter(|b| !b.is_freed()).map(|b| b.len).sum::<u64>().saturating_add(len);
        let room = AddressMap::memory(self.address_bits());
        let cap = self.cap.unwrap_or(u64::MAX).min(room);
        let last = offset.saturating_add(len).saturating_add(GAP);
        let places = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        let Some((at, size)) = places.filter(|_| wanted <= cap && last <= room) else {
            return Err(Box::new(Fault::Limit(LimitKind::Memory { cap, wanted })));
        };
        let more = size.saturating_sub(self.bytes.len());
        if self.bytes.try_reserve(more).is_err() && self.bytes.try_reserve_exact(more).is_err() {
            return Err(Box::new(Fault::Limit(LimitKind::Host { wanted: end })));
        }
        self.bytes.resize(size, 0);
        let address = self.base + offset;
        self.blocks.push(Block { address, at, len, kind, life: None, name: name.to_owned(), unwritten: None });
        Ok(address)
    }

    /// The bytes of the vector that its blocks take.
    fn used(&self) -> u64 {
        let own = self.blocks.iter().rfind(|b| !is_lent(b.at)).map_or(0, |b| b.at as u64 + b.len + GAP);
        if self.mirror.is_some() { own.max(self.bytes.len() as u64) } else { own }
    }

    /// What [`Arena::used`] would be if nothing else were in the vector, and blocks were as close together there as may be.
    fn reach(&self, apart: u64) -> u64 {
        let before = self.blocks.len().saturating_sub(1) as u64 * apart;
        self.blocks.last().map_or(0, |b| b.address - self.base - before + b.len + GAP)
    }

    /// Makes a block of bytes that the host lends for as long as the arena is there: nothing is copied. Gives its address, a multiple
    /// of 256.
    ///
    /// # Errors
    /// As of [`Arena::alloc`].
    pub fn lend(&mut self, name: &str, loan: Box<dyn Lent>) -> Result<u64, Box<Fault>> {
        let len = loan.bytes().len() as u64;
        let address = self.alloc(name, AllocKind::Buffer, 0, 256)?;
        let wanted = self.blocks.iter().filter(|b| !b.is_freed()).map(|b| b.len).sum::<u64>().saturating_add(len);
        let room = AddressMap::memory(self.address_bits());
        let cap = self.cap.unwrap_or(u64::MAX).min(room);
        let fits = wanted <= cap && (address - self.base).saturating_add(len).saturating_add(GAP) <= room;
        let Ok(at) = (if fits { self.loans.add(loan) } else { Err(loan) }) else {
            self.blocks.pop();
            return Err(Box::new(Fault::Limit(LimitKind::Memory { cap, wanted })));
        };
        if let Some(block) = self.blocks.last_mut() {
            (block.at, block.len) = (at, len);
        }
        self.has_guests = true;
        Ok(address)
    }

    /// Whether some of its blocks lie elsewhere than in the vector.
    #[inline(always)]
    pub(super) const fn has_loans(&self) -> bool {
        !self.loans.is_empty() || self.over.is_some()
    }

    /// The bytes at indices of one block.
    #[inline(always)]
    pub(super) fn part(&self, place: Range<usize>) -> Option<&[u8]> {
        if is_lent(place.start) { self.elsewhere(place) } else { self.bytes.get(place) }
    }

    #[cold]
    fn elsewhere(&self, place: Range<usize>) -> Option<&[u8]> {
        match &self.over {
            Some(over) => over.part(&place),
            None => self.loans.get(&place),
        }
    }

    /// The same, to be written.
    #[inline(always)]
    pub(super) fn part_mut(&mut self, place: Range<usize>) -> Option<&mut [u8]> {
        if is_lent(place.start) { self.elsewhere_mut(place) } else { self.bytes.get_mut(place) }
    }

    #[cold]
    fn elsewhere_mut(&mut self, place: Range<usize>) -> Option<&mut [u8]> {
        match &mut self.over {
            Some(over) => over.part_mut(&place),
            None => self.loans.get_mut(&place),
        }
    }

    /// How many bits addresses have: none of 64 fits 32 of them.
    const fn address_bits(&self) -> u32 {
        if self.base >> 32 != 0 { 64 } else { 32 }
    }

    /// The windows of generic addresses.
    pub(crate) const fn windows(&self) -> AddressMap {
        AddressMap::of(self.address_bits())
    }

    /// Makes a block for device `malloc`; `None` when a heap of `size` bytes has no room for it.
    pub(crate) fn malloc(&mut self, bytes: u64, size: u64, by: Place) -> Result<Option<u64>, Box<Fault>> {
        if !heap::has_room(&self.blocks, bytes, size) {
            return Ok(None);
        }
        let address = self.alloc("", AllocKind::Heap, bytes, 16)?;
        if let Some(block) = self.blocks.last_mut() {
            block.life = Some(Box::new(Lifetime { allocated: by, freed: None }));
        }
        Ok(Some(address))
    }

    /// The blocks of device `malloc` that are not freed, as the defect that they are at the end of a context.
    #[must_use]
    pub fn leaks(&self) -> Option<Bug> {
        heap::leaks(&self.blocks)
    }

    /// Frees a block made by device `malloc`.
    pub(crate) fn free(&mut self, address: u64, by: Place) -> Taken {
        let found = self.blocks.iter_mut().find(|b| b.address == address && b.kind == AllocKind::Heap);
        match found.and_then(|b| b.life.as_mut()) {
            Some(life) if life.freed.is_none() => {
                life.freed = Some(by);
                Ok(())
            }
            other => {
                let (twice, life) = (other.is_some(), other.cloned());
                Err(Box::new(Fault::Bug(BugKind::BadFree { address, twice, life }, 0)))
            }
        }
    }

    /// Notes what the host has not written of the buffer at an address, for observers.
    pub fn leave_unwritten(&mut self, address: u64, unwritten: Option<Unwritten>) {
        if let Some(block) = self.blocks.iter_mut().rfind(|b| b.address == address) {
            block.unwritten = unwritten;
        }
    }

    /// What observers see of memory at an access.
    pub(in crate::memory) fn contents<'a>(&'a self, near: &'a Near<'_>) -> Contents<'a> {
        Contents { device: self, window: near.map.shared, shared: near.shared, later: false }
    }

    /// The blocks that have names.
    #[must_use]
    pub fn names(&self) -> Vec<Named> {
        let named = self.blocks.iter().filter(|b| !b.is_freed() && !b.name.is_empty());
        let one = |b: &Block| {
            let (name, unwritten) = (b.name.clone(), b.unwritten.clone());
            Named { name, kind: b.kind, address: b.address, bytes: b.len, unwritten }
        };
        named.map(one).collect()
    }

    /// Feeds a hash with addresses, sizes and contents of all blocks that were not freed.
    pub fn digest(&self, hasher: &mut xxhash_rust::xxh3::Xxh3) {
        for block in self.blocks.iter().filter(|b| !b.is_freed()) {
            hasher.update(&block.address.to_le_bytes());
            hasher.update(&block.len.to_le_bytes());
            hasher.update(self.bytes_at(block.address, block.len).unwrap_or(&[]));
        }
    }

    /// Bytes of this computer that all blocks take.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Undoes what `malloc` and `free` have done since.
    fn load_heap(&mut self, mut from: &[u8]) {
        self.blocks.retain_mut(|b| {
            let Some(life) = &mut b.life else { return true };
            let earlier = snapshot::take::<(u64, bool)>(&mut from);
            if let Some((_, false)) = earlier {
                life.freed = None;
            }
            earlier.is_some()
        });
        self.bytes.truncate(usize::try_from(self.used()).unwrap_or(usize::MAX));
    }

    /// The block that holds all of `len` bytes at an address, freed or not, and where they are in the vector of bytes.
    fn block_at(&self, address: u64, len: u64) -> Option<(&Block, usize)> {
        let k = self.blocks.partition_point(|b| b.address <= address);
        let block = &self.blocks[k.checked_sub(1)?];
        let inside = address - block.address;
        (inside < block.len && len <= block.len - inside).then(|| (block, block.at + inside as usize))
    }

    /// Where bytes of one block are in the vector, freed or not.
    pub(in crate::memory) fn place_of(&self, address: u64, len: usize) -> Option<Range<usize>> {
        let (_, at) = self.block_at(address, len as u64)?;
        Some(at..at + len)
    }

    /// The address of a place in the vector of bytes, or what it would be before the first byte of the next block.
    pub(in crate::memory) fn address_of(&self, at: usize) -> u64 {
        let k = self.blocks.partition_point(|b| b.at <= at);
        let block = k.checked_sub(1).and_then(|k| self.blocks.get(k));
        block.map_or(self.base, |b| b.address + (at - b.at) as u64)
    }

    /// What the block of memory at an address is.
    #[must_use]
    pub fn kind_of(&self, address: u64) -> Option<AllocKind> {
        self.block_at(address, 1).map(|(b, _)| b.kind)
    }

    /// Where `len` bytes at an address are in the vector of bytes, when an instruction may do `need` to all of them.
    #[inline(always)]
    pub(super) fn index(&self, hint: &mut Hint, address: u64, len: u64, need: u8) -> Option<usize> {
        let inside = address.wrapping_sub(hint.address);
        if inside < hint.len && len <= hint.len - inside && hint.allowed & need == need {
            return Some(hint.at + inside as usize);
        }
        self.search(hint, address, len, need)
    }

    #[cold]
    #[inline(never)]
    fn search(&self, hint: &mut Hint, address: u64, len: u64, need: u8) -> Option<usize> {
        let found = self.block_at(address, len).filter(|(b, _)| !b.is_freed());
        let Some((block, at)) = found else { return self.mirror.as_ref()?.search(hint, address, len, need) };
        let allowed = if block.kind == AllocKind::Const { Hint::CONST } else { Hint::READ | Hint::WRITE };
        if allowed & need != need {
            return None;
        }
        if let Some(over) = &self.over {
            let (found, whole) = over.index(at, len)?;
            if whole {
                *hint =
                    Hint { address: block.address, len: block.len, at: found - (at - block.at), allowed: Hint::READ };
            }
            return Some(found);
        }
        *hint = Hint { address: block.address, len: block.len, at: block.at, allowed };
        Some(at)
    }

    /// The block that all of `len` bytes at an address lie in, when global instructions may read and write them: its address, where its
    /// bytes are, which stay there as long as the vector does, and how many it has. `does`: what is done there.
    #[cfg(all(feature = "native", target_arch = "x86_64"))]
    pub(crate) fn block_to_use(&mut self, address: u64, len: u64, does: Does) -> Option<(u64, usize, u64)> {
        if self.over.is_some() {
            return self.window(address, len, does);
        }
        let mut hint = Hint::default();
        self.search(&mut hint, address, len, Hint::READ | Hint::WRITE)?;
        let bytes = self.part_mut(hint.at..hint.at.checked_add(usize::try_from(hint.len).ok()?)?)?;
        Some((hint.address, bytes.as_mut_ptr() as usize, hint.len))
    }

    /// Where `len` bytes at an address are in the vector of bytes, when they are in one block that was not freed.
    fn live(&self, address: u64, len: u64) -> Option<Range<usize>> {
        if self.over.is_some() {
            return None; // Nobody would note what is looked at here.
        }
        match self.block_at(address, len.max(1)) {
            Some((b, at)) => (!b.is_freed()).then_some(at..at + len as usize),
            None => self.mirror.as_ref()?.place(address, len),
        }
    }

    /// Bytes at an address.
    #[must_use]
    pub fn bytes_at(&self, address: u64, len: u64) -> Option<&[u8]> {
        self.part(self.live(address, len)?)
    }

    /// Bytes at an address, to be written by the host.
    pub fn bytes_at_mut(&mut self, address: u64, len: u64) -> Option<&mut [u8]> {
        let place = self.live(address, len)?;
        self.part_mut(place)
    }

    /// Why an access that [`Arena::index`] refuses is wrong.
    #[cold]
    pub(super) fn explain(&self, address: u64, bytes: u32, write: bool, space: &'static str) -> BugKind {
        if address < 4096 {
            BugKind::Null { address, bytes, write, space }
        } else if let Some((block, _)) = self.block_at(address, u64::from(bytes)) {
            if block.is_freed() {
                BugKind::UseAfterFree { address, bytes, write, nearest: nearest(block, address) }
            } else if write && block.kind == AllocKind::Const {
                BugKind::WriteToReadOnly { address, bytes, write, actual: block.kind }
            } else {
                BugKind::WrongSpace { address, bytes, write, space, actual: block.kind }
            }
        } else if let Some((near, fixed)) = self.mirror.as_ref().and_then(|mirror| mirror.near(address)) {
            if write && fixed {
                return BugKind::WriteToReadOnly { address, bytes, write, actual: AllocKind::Buffer };
            }
            BugKind::OutOfBounds { address, bytes, write, space, nearest: Some(near) }
        } else {
            let distance = |b: &&Block| match nearest(b, address).relation {
                Relation::Before(d) | Relation::After(d) => d,
                Relation::Inside(_) => 0,
            };
            // A block further than its own window away says nothing about the address.
            let near = self.blocks.iter().min_by_key(distance).filter(|b| distance(b) < 1 << 40);
            BugKind::OutOfBounds { address, bytes, write, space, nearest: near.map(|b| nearest(b, address)) }
        }
    }
}

/// The sections that all warps share are chunks of the bytes of all blocks.
impl Snapshot for Arena {
    fn sections(&self) -> u32 {
        u32::try_from(self.bytes.len().div_ceil(CHUNK)).unwrap_or(u32::MAX)
    }

    /// Taking note of each write would cost more than comparing.
    fn changed(&mut self, out: &mut Vec<u32>) {
        out.extend(0..self.sections());
    }

    fn save(&self, part: Part, out: &mut Vec<u8>) {
        match part {
            // What `malloc` and `free` have done: with the bytes, all that decides what accesses and they themselves come to.
            Part::Heap => {
                let heap = self.blocks.iter().filter(|b| b.kind == AllocKind::Heap);
                heap.for_each(|b| snapshot::put(&(b.len, b.is_freed()), out));
            }
            Part::Warp(_) => {}
            Part::Shared(k) => out.extend_from_slice(self.bytes.chunks(CHUNK).nth(k as usize).unwrap_or(&[])),
        }
    }

    fn load(&mut self, part: Part, from: &[u8]) {
        match part {
            Part::Heap => self.load_heap(from),
            Part::Warp(_) => {}
            Part::Shared(k) => {
                let bytes = self.bytes.chunks_mut(CHUNK).nth(k as usize).filter(|bytes| bytes.len() == from.len());
                bytes.into_iter().for_each(|bytes| bytes.copy_from_slice(from));
            }
        }
    }
}

impl DeviceMemory for Arena {
    fn bytes(&self, address: u64, len: u64) -> Option<&[u8]> {
        self.bytes_at(address, len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_do_not_touch_and_are_found() {
        let mut arena = Arena::new(0x1000_0000, None);
        let a = arena.alloc("a", AllocKind::Buffer, 10, 256).unwrap();
        let b = arena.alloc("b", AllocKind::Buffer, 10, 256).unwrap();
        assert!(b >= a + 10 + GAP && b.is_multiple_of(256) && b >> 32 == 0);
        assert!(
            arena.bytes_at(a, 10).is_some() && arena.bytes_at(a, 11).is_none() && arena.bytes_at(a + 10, 1).is_none()
        );
        let BugKind::OutOfBounds { nearest: Some(n), .. } = arena.explain(a + 12, 4, false, "global") else { panic!() };
        assert_eq!((n.name.as_str(), n.relation), ("a", Relation::After(2)));
        let BugKind::OutOfBounds { nearest: Some(n), .. } = arena.explain(a - 8, 4, false, "global") else { panic!() };
        assert_eq!((n.name.as_str(), n.relation), ("a", Relation::Before(8)));
    }

    #[test]
    fn wide_addresses_lie_far_apart_and_bytes_close_together() {
        let mut arena = Arena::new(AddressMap::of(64).global, None);
        let blocks: Vec<u64> = (0..3000).map(|_| arena.alloc("", AllocKind::Heap, 10, 16).unwrap()).collect();
        assert!(blocks.windows(2).all(|w| w[1] - (w[0] + 10) > FAR) && arena.size() < 3000 * 400);
        for (k, address) in (0u8..=255).cycle().zip(&blocks) {
            arena.bytes_at_mut(*address, 10).unwrap().fill(k);
        }
        let mut hint = Hint::default();
        for (k, address) in (0u8..=255).cycle().zip(&blocks) {
            let mut at = |address, len| arena.index(&mut hint, address, len, Hint::WRITE);
            let first = at(*address, 10).unwrap();
            assert!(
                at(address + 3, 7) == Some(first + 3) && at(address + 4, 7).is_none() && at(address + FAR, 1).is_none()
            );
            assert!(
                arena.bytes[first..first + 10] == [k; 10] && arena.place_of(*address, 10) == Some(first..first + 10)
            );
        }
        // A context has no addresses beyond its own.
        assert!(arena.alloc("", AllocKind::Buffer, 1 << 60, 16).is_err());
    }

    #[test]
    fn what_is_lent_is_a_block_like_others() {
        let mut arena = Arena::new(AddressMap::of(64).global, Some(1 << 30));
        let a = arena.alloc("a", AllocKind::Buffer, 10, 256).unwrap();
        let b = arena.lend("b", Box::new(vec![7u8; 3000])).unwrap();
        let c = arena.alloc("c", AllocKind::Buffer, 10, 1024).unwrap();
        assert!(b - a > FAR && c - (b + 3000) > FAR && b.is_multiple_of(256));
        let mut other = Arena::new(AddressMap::of(64).global, None);
        let all = [("a", 10, 256), ("b", 3000, 256), ("c", 10, 1024)];
        assert_eq!(all.map(|(name, len, align)| other.alloc(name, AllocKind::Buffer, len, align).unwrap()), [a, b, c]);
        arena.bytes_at_mut(a, 10).unwrap().fill(1);
        arena.bytes_at_mut(c, 10).unwrap().fill(3);
        arena.bytes_at_mut(b + 2999, 1).unwrap().fill(2);
        assert!(arena.bytes_at(b, 3001).is_none() && arena.bytes_at(b - 1, 1).is_none());
        assert_eq!((arena.bytes_at(a, 10), arena.bytes_at(c, 10)), (Some(&[1; 10][..]), Some(&[3; 10][..])));
        assert_eq!(arena.bytes_at(b + 2998, 2), Some(&[7, 2][..]));
        let mut hint = Hint::default();
        let at = arena.index(&mut hint, b + 8, 4, Hint::WRITE).unwrap();
        assert!(arena.part(at..at + 4) == Some(&[7; 4]) && arena.bytes.get(at..at + 4).is_none());
        let BugKind::OutOfBounds { nearest: Some(n), .. } = arena.explain(b + 3000, 4, false, "global") else {
            panic!()
        };
        assert_eq!((n.name.as_str(), n.relation), ("b", Relation::After(0)));
        // A copy has bytes of its own.
        let copy = arena.clone();
        arena.bytes_at_mut(b, 1).unwrap().fill(0);
        assert!(copy != arena && copy.bytes_at(b, 1) == Some(&[7]));
        // The cap is about them, too.
        assert!(arena.lend("d", Box::new(vec![0u8; 1 << 30])).is_err());
        let d = arena.alloc("d", AllocKind::Buffer, 10, 256).unwrap();
        assert!(d > c && arena.bytes_at(c, 10) == Some(&[3; 10]));
    }

    #[test]
    fn an_address_can_be_chosen() {
        let base = AddressMap::of(64).global;
        let mut arena = Arena::new(base, None);
        let own = arena.alloc("own", AllocKind::Global, 8, 8).unwrap();
        let chosen = base + (1 << 45);
        assert_eq!(arena.alloc_at("x", 100, chosen).unwrap(), Some(chosen));
        assert_eq!(arena.alloc_at("y", 10, chosen + (1 << 40)).unwrap(), Some(chosen + (1 << 40)));
        // Neither below one that is there, nor where no buffer begins, nor out of the addresses that there are.
        assert_eq!(arena.alloc_at("z", 10, chosen + (1 << 39)).unwrap(), None);
        assert_eq!(arena.alloc_at("z", 10, chosen + (1 << 41) + 8).unwrap(), None);
        assert!(arena.alloc_at("z", 10, base + (1 << 55)).is_err());
        arena.bytes_at_mut(chosen, 100).unwrap().fill(3);
        // What is made later lies behind, as far away as ever, and its bytes beside the others.
        let heap = arena.malloc(20, 1 << 20, Place::default()).unwrap().unwrap();
        assert!(heap >= chosen + (1 << 40) + FAR && arena.bytes_at(heap, 20) == Some(&[0; 20]));
        assert!(arena.bytes_at(own, 8).is_some() && arena.bytes_at(chosen + 99, 1) == Some(&[3]));
        assert!(arena.bytes_at(chosen + 99, 2).is_none() && arena.size() < 2048);
        let BugKind::OutOfBounds { nearest: Some(n), .. } = arena.explain(chosen + 100, 4, true, "global") else {
            panic!()
        };
        assert_eq!((n.name.as_str(), n.relation), ("x", Relation::After(0)));
    }

    #[test]
    fn other_blocks_are_another_state() {
        let saved = |arena: &Arena| {
            let mut state = Vec::new();
            arena.save(Part::Heap, &mut state);
            (0..arena.sections()).for_each(|k| arena.save(Part::Shared(k), &mut state));
            state
        };
        let state = |bytes: u64, free: bool| {
            let mut arena = Arena::new(0x1000_0000, None);
            let a = arena.malloc(bytes, 1 << 20, Place::default()).unwrap().unwrap();
            if free {
                arena.free(a, Place::default()).unwrap();
            }
            (saved(&arena), arena)
        };
        // A search would take what may be done with 20 bytes for what may be done with 60, or after they are freed.
        assert!(state(20, false).0 == state(20, false).0 && state(20, false).0 != state(60, false).0);
        assert!(state(20, true).0 != state(20, false).0);
        // The way back.
        let (_, mut arena) = state(20, false);
        let (before, mut heap) = (arena.clone(), Vec::new());
        arena.save(Part::Heap, &mut heap);
        let first = arena.blocks[0].address;
        arena.malloc(3, 1 << 20, Place::default()).unwrap();
        arena.free(first, Place::default()).unwrap();
        arena.load(Part::Heap, &heap);
        assert_eq!(arena, before);
    }

    #[test]
    fn room_of_the_heap_comes_back() {
        let mut arena = Arena::new(0x1000_0000, None);
        let mut malloc = |bytes, size| arena.malloc(bytes, size, Place::default()).unwrap();
        assert!(malloc(33, 32).is_none() && malloc(u64::MAX, u64::MAX - 1).is_none());
        let first = malloc(20, 32).unwrap();
        assert!(malloc(1, 32).is_none());
        arena.free(first, Place::default()).unwrap();
        assert!(arena.leaks().is_none() && arena.malloc(32, 32, Place::default()).unwrap().is_some());
    }

    #[test]
    fn blocks_of_no_bytes_end_as_well() {
        let mut arena = Arena::new(0x1000_0000, None);
        let all = std::iter::from_fn(|| arena.malloc(0, 1024, Place::default()).unwrap());
        assert_eq!(all.count(), 64);
    }

    #[test]
    fn the_cap_counts_live_blocks() {
        let mut arena = Arena::new(0, Some(100));
        let a = arena.malloc(80, 1 << 20, Place::default()).unwrap().unwrap();
        assert!(arena.alloc("", AllocKind::Heap, 30, 16).is_err());
        arena.free(a, Place::default()).unwrap();
        assert!(arena.alloc("", AllocKind::Heap, 30, 16).is_ok());
        assert!(matches!(
            *arena.free(a, Place::default()).unwrap_err(),
            Fault::Bug(BugKind::BadFree { twice: true, .. }, _)
        ));
    }
}

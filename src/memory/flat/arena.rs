//! The arena: all blocks of device memory, in one vector of bytes with gaps between them.

use super::heap::Heap;
use crate::base::{LaneMask, Pc};
use crate::memory::{Fault, Hint, Near, SiteHints};
use crate::verdict::{AllocKind, Bug, BugKind, Contents, LimitKind, Named, Nearest, Place, Relation, Unwritten};
use aligned_vec::{AVec, ConstAlign};
use std::hash::Hasher;

/// Bytes between two blocks, so that a small overrun hits nothing. At least a vector register and a half.
const GAP: u64 = 256;

/// A block of device memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// First byte, as an offset in the arena.
    pub base: u64,
    /// Size in bytes.
    pub len: u64,
    /// What it is.
    pub kind: AllocKind,
    /// Whether it was freed.
    pub freed: bool,
    /// The name of the buffer or variable; "" when it has none.
    pub name: String,
    /// The part of a buffer that the host has not written.
    pub unwritten: Option<Unwritten>,
}

/// Device memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arena {
    /// The bytes; the first lies at address `base`.
    pub(in crate::memory) bytes: AVec<u8, ConstAlign<64>>,
    /// Blocks by ascending base; never empty of bytes that another block has.
    blocks: Vec<Block>,
    base: u64,
    cap: Option<u64>,
    heap: Heap,
}

impl Arena {
    pub(in crate::memory) fn new(base: u64, cap: Option<u64>) -> Self {
        Self { bytes: AVec::new(64), blocks: Vec::new(), base, cap, heap: Heap::default() }
    }

    /// Makes a zeroed block at the next address that is a multiple of `align`; gives its address.
    ///
    /// # Errors
    /// The memory cap; this computer has no more.
    pub fn alloc(&mut self, name: &str, kind: AllocKind, len: u64, align: u64) -> Result<u64, Box<Fault>> {
        let used = self.blocks.last().map_or(0, |b| b.base + b.len + GAP);
        let start = used.next_multiple_of(align.max(64));
        let end = start.saturating_add(len).saturating_add(GAP);
        let wanted = self.blocks.iter().filter(|b| !b.freed).map(|b| b.len).sum::<u64>().saturating_add(len);
        let cap = self.cap.unwrap_or(u64::MAX).min(1 << 46);
        let Some(size) = usize::try_from(end).ok().filter(|_| wanted <= cap && end < 1 << 46) else {
            return Err(Box::new(Fault::Limit(LimitKind::Memory { cap, wanted })));
        };
        let more = size.saturating_sub(self.bytes.len());
        if self.bytes.try_reserve(more).is_err() && self.bytes.try_reserve_exact(more).is_err() {
            return Err(Box::new(Fault::Limit(LimitKind::Host { wanted: end })));
        }
        self.bytes.resize(size, 0);
        self.blocks.push(Block { base: start, len, kind, freed: false, name: name.to_owned(), unwritten: None });
        Ok(self.base + start)
    }

    /// Makes a block for device `malloc`; `None` when a heap of `size` bytes has no room for it.
    pub(in crate::memory) fn malloc(&mut self, bytes: u64, size: u64, by: Place) -> Result<Option<u64>, Box<Fault>> {
        if !self.heap.has_room(bytes, size) {
            return Ok(None);
        }
        let address = self.alloc("", AllocKind::Heap, bytes, 16)?;
        self.heap.made(address, bytes, by);
        Ok(Some(address))
    }

    /// The blocks of device `malloc` that are not freed, as the defect that they are at the end of a context.
    #[must_use]
    pub fn leaks(&self) -> Option<Bug> {
        self.heap.leaks()
    }

    /// Frees a block made by device `malloc`.
    pub(in crate::memory) fn free(&mut self, address: u64, by: Place) -> Result<(), Box<Fault>> {
        let at = address.wrapping_sub(self.base);
        match self.blocks.iter_mut().find(|b| b.base == at && b.kind == AllocKind::Heap) {
            Some(b) if !b.freed => {
                b.freed = true;
                self.heap.freed(address, by);
                Ok(())
            }
            other => {
                let (twice, life) = (other.is_some(), self.heap.life(address));
                Err(Box::new(Fault::Bug(BugKind::BadFree { address, twice, life }, 0)))
            }
        }
    }

    /// Notes what the host has not written of the buffer at an address, for observers.
    pub fn leave_unwritten(&mut self, address: u64, unwritten: Option<Unwritten>) {
        let at = self.offset(address);
        if let Some(block) = self.blocks.iter_mut().rfind(|b| b.base == at) {
            block.unwritten = unwritten;
        }
    }

    /// The offset in the arena of an address; far beyond the end for one below the first.
    #[inline(always)]
    pub(in crate::memory) const fn offset(&self, address: u64) -> u64 {
        address.wrapping_sub(self.base)
    }

    /// What observers see of memory at an access.
    pub(in crate::memory) fn contents<'a>(&'a self, near: &'a Near<'_>) -> Contents<'a> {
        Contents { base: self.base, device: &self.bytes, window: near.map.shared, shared: near.shared, later: false }
    }

    /// The blocks, by ascending address.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The blocks that have names.
    #[must_use]
    pub fn names(&self) -> Vec<Named> {
        let named = self.blocks.iter().filter(|b| !b.freed && !b.name.is_empty());
        let one = |b: &Block| {
            let (name, unwritten) = (b.name.clone(), b.unwritten.clone());
            Named { name, kind: b.kind, address: self.address(b), bytes: b.len, unwritten }
        };
        named.map(one).collect()
    }

    /// Feeds a hash with addresses, sizes and contents of all blocks that were not freed.
    pub fn digest(&self, hasher: &mut xxhash_rust::xxh3::Xxh3) {
        for block in self.blocks.iter().filter(|b| !b.freed) {
            let address = self.address(block);
            hasher.update(&address.to_le_bytes());
            hasher.update(&block.len.to_le_bytes());
            hasher.update(self.bytes_at(address, block.len).unwrap_or(&[]));
        }
    }

    /// Adds to a hash all that decides what accesses, `malloc` and `free` come to.
    pub(in crate::memory) fn hash_state(&self, into: &mut dyn Hasher) {
        for block in &self.blocks {
            into.write(&[block.freed.into()]);
            into.write_u64(block.len);
        }
        into.write(&self.bytes);
    }

    /// The bytes of all blocks and between them.
    #[must_use]
    pub fn image(&self) -> &[u8] {
        &self.bytes
    }

    /// The same, to be put back.
    pub fn image_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// The address of a block.
    #[must_use]
    pub const fn address(&self, block: &Block) -> u64 {
        self.base + block.base
    }

    /// The block that holds all of `offset .. offset + len`, freed or not.
    fn block_at(&self, offset: u64, len: u64) -> Option<&Block> {
        let k = self.blocks.partition_point(|b| b.base <= offset);
        let block = &self.blocks[k.checked_sub(1)?];
        let inside = offset - block.base;
        (inside < block.len && len <= block.len - inside).then_some(block)
    }

    /// What the block of memory at an address is.
    #[must_use]
    pub fn kind_of(&self, address: u64) -> Option<AllocKind> {
        self.block_at(self.offset(address), 1).map(|b| b.kind)
    }

    /// Whether an instruction may do `need` to all of `offset .. offset + len`.
    #[inline(always)]
    pub(super) fn allows(&self, hints: &mut SiteHints, pc: Pc, offset: u64, len: u64, need: u8) -> bool {
        let hint = hints.at(pc);
        let inside = offset.wrapping_sub(hint.base);
        if inside < hint.len && len <= hint.len - inside && hint.allowed & need == need {
            return true;
        }
        self.search(hint, offset, len, need)
    }

    #[cold]
    #[inline(never)]
    fn search(&self, hint: &mut Hint, offset: u64, len: u64, need: u8) -> bool {
        let Some(block) = self.block_at(offset, len).filter(|b| !b.freed) else { return false };
        let allowed = if block.kind == AllocKind::Const { Hint::CONST } else { Hint::READ | Hint::WRITE };
        if allowed & need != need {
            return false;
        }
        *hint = Hint { base: block.base, len: block.len, allowed };
        true
    }

    /// Bytes at an address.
    #[must_use]
    pub fn bytes_at(&self, address: u64, len: u64) -> Option<&[u8]> {
        let at = self.offset(address);
        self.block_at(at, len.max(1)).filter(|b| !b.freed)?;
        self.bytes.get(usize::try_from(at).ok()?..usize::try_from(at + len).ok()?)
    }

    /// Bytes at an address, to be written by the host.
    pub fn bytes_at_mut(&mut self, address: u64, len: u64) -> Option<&mut [u8]> {
        let at = self.offset(address);
        self.block_at(at, len.max(1)).filter(|b| !b.freed)?;
        self.bytes.get_mut(usize::try_from(at).ok()?..usize::try_from(at + len).ok()?)
    }

    /// Why an access that [`Arena::allows`] refuses is wrong.
    #[cold]
    pub(super) fn explain(
        &self,
        address: u64,
        bytes: u32,
        write: bool,
        space: &'static str,
        lanes: LaneMask,
    ) -> Box<Fault> {
        let at = self.offset(address);
        let kind = if address < 4096 {
            BugKind::Null { address, bytes, write, space }
        } else if let Some(block) = self.block_at(at, u64::from(bytes)) {
            if block.freed {
                BugKind::UseAfterFree { address, bytes, write, nearest: nearest(block, at) }
            } else if write && block.kind == AllocKind::Const {
                BugKind::WriteToReadOnly { address, bytes, actual: block.kind }
            } else {
                BugKind::WrongSpace { address, bytes, write, space, actual: block.kind }
            }
        } else {
            let distance = |b: &&Block| match nearest(b, at).relation {
                Relation::Before(d) | Relation::After(d) => d,
                Relation::Inside(_) => 0,
            };
            // A block further than its own window away says nothing about the address.
            let near = self.blocks.iter().min_by_key(distance).filter(|b| distance(b) < 1 << 40);
            BugKind::OutOfBounds { address, bytes, write, space, nearest: near.map(|b| nearest(b, at)) }
        };
        Box::new(Fault::Bug(self.heap.told(kind), lanes))
    }
}

fn nearest(block: &Block, at: u64) -> Nearest {
    // An address below the arena has wrapped around.
    let relation = if at < block.base || at > u64::MAX / 2 {
        Relation::Before(block.base.wrapping_sub(at))
    } else if at >= block.base + block.len {
        Relation::After(at - (block.base + block.len))
    } else {
        Relation::Inside(at - block.base)
    };
    Nearest { name: block.name.clone(), kind: block.kind, bytes: block.len, relation, freed: block.freed, life: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_do_not_touch_and_are_found() {
        let mut arena = Arena::new(0x1000_0000, None);
        let a = arena.alloc("a", AllocKind::Buffer, 10, 256).unwrap();
        let b = arena.alloc("b", AllocKind::Buffer, 10, 256).unwrap();
        assert!(b >= a + 10 + GAP && b.is_multiple_of(256));
        assert!(
            arena.bytes_at(a, 10).is_some() && arena.bytes_at(a, 11).is_none() && arena.bytes_at(a + 10, 1).is_none()
        );
        let Fault::Bug(BugKind::OutOfBounds { nearest: Some(n), .. }, 1) =
            *arena.explain(a + 12, 4, false, "global", 1)
        else {
            panic!()
        };
        assert_eq!((n.name.as_str(), n.relation), ("a", Relation::After(2)));
        let Fault::Bug(BugKind::OutOfBounds { nearest: Some(n), .. }, 1) = *arena.explain(a - 8, 4, false, "global", 1)
        else {
            panic!()
        };
        assert_eq!((n.name.as_str(), n.relation), ("a", Relation::Before(8)));
    }

    #[test]
    fn other_blocks_are_another_state() {
        let state = |bytes: u64, free: bool| {
            let mut arena = Arena::new(0x1000_0000, None);
            let a = arena.malloc(bytes, 1 << 20, Place::default()).unwrap().unwrap();
            if free {
                arena.free(a, Place::default()).unwrap();
            }
            let mut hash = xxhash_rust::xxh3::Xxh3::new();
            arena.hash_state(&mut hash);
            hash.digest128()
        };
        // A search would take what may be done with 20 bytes for what may be done with 60, or after they are freed.
        assert!(state(20, false) == state(20, false) && state(20, false) != state(60, false));
        assert!(state(20, true) != state(20, false));
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

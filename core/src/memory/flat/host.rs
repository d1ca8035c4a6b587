//! Memory of the host's process at its own addresses, for kernels whose pointers are host pointers.
//!
//! A kernel works on a copy. A piece of the host's memory is read when an instruction first reaches it, and lies in the arena's
//! vector like any block from then on; after the run the host is given the bytes that have changed. So the host's memory is as it
//! was when a run does not come to its end, no reference to it exists that somebody else's write could make wrong, and a range that
//! disappears meanwhile is an error, not a crash.

use super::Arena;
use super::place::addresses;
use crate::base::{Frame, LaneMask, lanes_of};
use crate::memory::{Fault, Hint, Near, Taken};
use crate::program::instr::{MemOp, Space, WarpRequest};
use crate::verdict::{AllocKind, LimitKind, Nearest, Relation};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Memory of the host's process by address.
pub trait HostMemory: Send + Sync {
    /// The range that an address lies in, if a kernel may access it.
    fn range(&self, address: u64) -> Option<HostRange>;

    /// The range that is closest to an address, for messages; it may be any.
    fn closest(&self, address: u64) -> Option<HostRange>;

    /// Fills `to` with what lies at an address. False: it is not there.
    fn read(&self, address: u64, to: &mut [u8]) -> bool;

    /// Writes to an address. False: that cannot be.
    fn write(&self, address: u64, from: &[u8]) -> bool;
}

/// Memory of the host's in one piece.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostRange {
    /// What messages call it; may be empty.
    pub name: String,
    /// Its addresses.
    pub addresses: Range<u64>,
    /// Whether it may be written.
    pub writable: bool,
}

/// Bytes that are read at once at least. A piece begins and ends at multiples, or where its range does, so that no aligned access
/// lies in two.
const STEP: u64 = 64 << 10;
/// Bytes that are read at once at most.
const MOST: u64 = 16 << 20;
/// Room for pieces that is set aside, in bytes: native code is told once where the vector lies, so that it may not move.
const ROOM: usize = 8 << 30;

/// A piece of the host's memory that has been read.
#[derive(Clone)]
struct Piece {
    address: u64,
    /// Where it is in the vector of bytes.
    at: usize,
    /// What was read.
    before: Vec<u8>,
    writable: bool,
}

impl Piece {
    fn end(&self) -> u64 {
        self.address + self.before.len() as u64
    }
}

/// The host's memory, and what has been read of it.
#[derive(Clone)]
pub(super) struct Mirror {
    host: Arc<dyn HostMemory>,
    /// By ascending address.
    pieces: Vec<Piece>,
}

impl fmt::Debug for Mirror {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.pieces.iter().map(|p| p.address..p.end())).finish()
    }
}

/// Arenas of one host are compared by their bytes.
impl PartialEq for Mirror {
    fn eq(&self, other: &Self) -> bool {
        let key = |p: &Piece| (p.address, p.before.len());
        Arc::ptr_eq(&self.host, &other.host) && self.pieces.iter().map(key).eq(other.pieces.iter().map(key))
    }
}

impl Eq for Mirror {}

impl Mirror {
    /// The piece that holds all of `len` bytes at an address.
    fn piece(&self, address: u64, len: u64) -> Option<&Piece> {
        let k = self.pieces.partition_point(|p| p.address <= address);
        let piece = &self.pieces[k.checked_sub(1)?];
        let (inside, all) = (address - piece.address, piece.before.len() as u64);
        (inside < all && len <= all - inside).then_some(piece)
    }

    /// Where `len` bytes at an address are in the vector of bytes.
    pub(super) fn place(&self, address: u64, len: u64) -> Option<Range<usize>> {
        let piece = self.piece(address, len)?;
        let at = piece.at + (address - piece.address) as usize;
        Some(at..at + len as usize)
    }

    /// The same, when an instruction may do `need` there; what holds it is the next hint.
    pub(super) fn search(&self, hint: &mut Hint, address: u64, len: u64, need: u8) -> Option<usize> {
        let piece = self.piece(address, len)?;
        let allowed = if piece.writable { Hint::READ | Hint::WRITE } else { Hint::READ };
        if allowed & need != need {
            return None;
        }
        *hint = Hint { address: piece.address, len: piece.before.len() as u64, at: piece.at, allowed };
        Some(piece.at + (address - piece.address) as usize)
    }

    /// What an address is close to, and whether it is inside of memory that may only be read.
    pub(super) fn near(&self, address: u64) -> Option<(Nearest, bool)> {
        let range = self.host.closest(address)?;
        let Range { start, end } = range.addresses;
        let relation = if address < start {
            Relation::Before(start - address)
        } else if address >= end {
            Relation::After(address - end)
        } else {
            Relation::Inside(address - start)
        };
        let inside = matches!(relation, Relation::Inside(_));
        let kind = AllocKind::Buffer;
        let near = Nearest { name: range.name, kind, bytes: end - start, relation, freed: false, life: None };
        Some((near, inside && !range.writable))
    }

    /// What to read so that an address is there: its place among the pieces, the addresses, and whether these may be written.
    fn missing(&self, address: u64) -> Option<(usize, Range<u64>, bool)> {
        let k = self.pieces.partition_point(|p| p.address <= address);
        let before = k.checked_sub(1).and_then(|k| self.pieces.get(k));
        if before.is_some_and(|p| address < p.end()) {
            return None;
        }
        let range = self.host.range(address).filter(|r| r.addresses.contains(&address))?;
        let down = (address / STEP * STEP).max(range.addresses.start);
        let first = before.map_or(down, |p| down.max(p.end()));
        // Who goes through memory from its start to its end gets more and more at a time.
        let ahead = before.filter(|p| p.end() == first).map_or(STEP, |p| (2 * p.before.len() as u64).clamp(STEP, MOST));
        let last = (address / STEP * STEP).saturating_add(ahead.next_multiple_of(STEP)).min(range.addresses.end);
        let last = self.pieces.get(k).map_or(last, |next| last.min(next.address));
        Some((k, first..last, range.writable))
    }
}

impl Arena {
    /// Lets kernels access memory of the host's process by its addresses. The arena's own have to lie elsewhere. Room that cannot be
    /// had is taken for a smaller limit.
    pub fn mirror(&mut self, host: Arc<dyn HostMemory>) {
        let sizes = std::iter::successors(Some(ROOM), |room| Some(room / 2)).take_while(|room| *room > STEP as usize);
        for room in sizes {
            if self.bytes.try_reserve_exact(room).is_ok() {
                break;
            }
        }
        self.mirror = Some(Box::new(Mirror { host, pieces: Vec::new() }));
        self.has_guests = true;
    }

    /// Reads what an instruction is about to access of the host's memory. What is not there is left to the access to find out.
    ///
    /// # Errors
    /// There is no more room.
    #[inline(never)]
    pub(super) fn fetch(
        &mut self,
        mask: LaneMask,
        rq: &WarpRequest,
        regs: &Frame,
        near: &Near<'_>,
        hint: &mut Hint,
    ) -> Taken {
        if !matches!(rq.space, Space::Global | Space::Generic) || self.mirror.is_none() {
            return Ok(());
        }
        let (addresses, len) = (addresses(rq, regs), u64::from(rq.bytes()));
        let need = if rq.op == MemOp::Load { Hint::READ } else { Hint::WRITE };
        for lane in lanes_of(mask) {
            let address = addresses[lane];
            let own = rq.space == Space::Generic && near.map.inside(address).is_some();
            if own || self.index(hint, address, len, need).is_some() {
                continue;
            }
            self.fetch_at(address)?;
        }
        Ok(())
    }

    /// Reads the piece of the host's memory that an address lies in, if there is one and it has not been read.
    fn fetch_at(&mut self, address: u64) -> Taken {
        let Some(mirror) = &mut self.mirror else { return Ok(()) };
        let Some((k, Range { start, end }, writable)) = mirror.missing(address) else { return Ok(()) };
        // As far from a multiple of 64 as the address is: accesses that are aligned there are aligned here.
        let at = self.bytes.len().next_multiple_of(64) + (start % 64) as usize;
        let size = at.saturating_add((end - start) as usize);
        if size > self.bytes.capacity() {
            let cap = self.bytes.capacity() as u64;
            return Err(Box::new(Fault::Limit(LimitKind::Memory { cap, wanted: size as u64 })));
        }
        self.bytes.resize(size, 0);
        let Some(bytes) = self.bytes.get_mut(at..) else { return Ok(()) };
        if !mirror.host.read(start, bytes) {
            return Ok(());
        }
        let before = bytes.to_vec();
        mirror.pieces.insert(k, Piece { address: start, at, before, writable });
        Ok(())
    }

    /// Gives the host the bytes that have changed.
    ///
    /// # Errors
    /// An address that cannot be written any more. What was written before is as it was.
    pub fn give_back(&self) -> Result<(), u64> {
        let Some(mirror) = &self.mirror else { return Ok(()) };
        let mut done: Vec<(u64, &[u8])> = Vec::new();
        for piece in &mirror.pieces {
            let now = self.bytes.get(piece.at..piece.at + piece.before.len()).unwrap_or(&[]);
            for changed in changes(&piece.before, now) {
                let address = piece.address + changed.start as u64;
                if !mirror.host.write(address, &now[changed.clone()]) {
                    done.iter().rev().for_each(|(at, old)| {
                        mirror.host.write(*at, old);
                    });
                    return Err(address);
                }
                done.push((address, &piece.before[changed]));
            }
        }
        Ok(())
    }
}

/// The parts in which two rows of bytes differ: no byte that is equal is in one.
fn changes<'a>(before: &'a [u8], now: &'a [u8]) -> impl Iterator<Item = Range<usize>> + 'a {
    /// Bytes that are compared at once.
    const LINE: usize = 256;
    let count = before.len().min(now.len());
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < count && before[at] == now[at] {
            let line = at..(at + LINE).min(count);
            at = if before[line.clone()] == now[line.clone()] { line.end } else { at + 1 };
        }
        let start = at;
        while at < count && before[at] != now[at] {
            at += 1;
        }
        (start < at).then_some(start..at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::env::AddressMap;
    use std::sync::Mutex;

    /// A host that has so many bytes at an address; the rest of its memory may only be read.
    struct Row(u64, Mutex<Vec<u8>>, u64);

    impl HostMemory for Row {
        fn range(&self, address: u64) -> Option<HostRange> {
            let (first, end) = (self.0, self.0 + self.1.lock().unwrap().len() as u64);
            let addresses = if address < self.2 { first..self.2 } else { self.2..end };
            let range = HostRange { name: "x".into(), writable: address < self.2, addresses };
            (first..end).contains(&address).then_some(range)
        }

        fn closest(&self, address: u64) -> Option<HostRange> {
            self.range(address.clamp(self.0, self.2 - 1))
        }

        fn read(&self, address: u64, to: &mut [u8]) -> bool {
            let at = (address - self.0) as usize;
            to.copy_from_slice(&self.1.lock().unwrap()[at..at + to.len()]);
            true
        }

        fn write(&self, address: u64, from: &[u8]) -> bool {
            let at = (address - self.0) as usize;
            self.1.lock().unwrap()[at..at + from.len()].copy_from_slice(from);
            address < self.2
        }
    }

    #[test]
    fn pieces_are_read_once_and_only_changes_are_given_back() {
        let first = 0x7000_0000_0010u64;
        let host = Arc::new(Row(first, Mutex::new(vec![7; 1 << 20]), first + (1 << 19)));
        let mut arena = Arena::new(AddressMap::of(64).global + (1 << 54), None);
        let own = arena.alloc("own", AllocKind::Global, 8, 8).unwrap();
        arena.mirror(host.clone());
        let mut hint = Hint::default();
        assert_eq!(arena.index(&mut hint, first, 4, Hint::READ), None);
        for at in [first, first + (1 << 18), first + (1 << 17), first + (1 << 19), first + 200_000] {
            arena.fetch_at(at).unwrap();
            let place = arena.index(&mut hint, at, 4, Hint::READ).unwrap();
            assert_eq!((place % 16, arena.bytes_at(at, 4)), ((at % 16) as usize, Some(&[7; 4][..])));
        }
        assert_eq!(arena.index(&mut hint, first + (1 << 19), 4, Hint::WRITE), None);
        arena.bytes_at_mut(first + 100, 2).unwrap().fill(1);
        arena.bytes_at_mut(first + (1 << 18), 1).unwrap().fill(2);
        // What others write meanwhile stays, where the kernel has written nothing.
        host.1.lock().unwrap()[99] = 9;
        let more = arena.alloc("more", AllocKind::Heap, 8, 8).unwrap();
        arena.bytes_at_mut(more, 8).unwrap().fill(5);
        assert!(more > own && arena.bytes_at(first + 100, 2) == Some(&[1, 1]));
        assert_eq!(arena.give_back(), Ok(()));
        let now = host.1.lock().unwrap().clone();
        assert_eq!((&now[98..103], now[1 << 18]), (&[7, 9, 1, 1, 7][..], 2));
        assert_eq!(now.iter().filter(|b| **b == 7).count(), (1 << 20) - 4);
    }

    #[test]
    fn changes_are_exact() {
        let before = [0u8; 1000];
        let mut now = before;
        (now[0], now[255], now[256], now[999]) = (1, 1, 1, 1);
        assert_eq!(changes(&before, &now).collect::<Vec<_>>(), [0..1, 255..257, 999..1000]);
        assert_eq!(changes(&before, &before).count(), 0);
    }
}

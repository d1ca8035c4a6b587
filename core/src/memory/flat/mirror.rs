//! Memory of the host's process at its own addresses, for kernels whose pointers are host pointers.
//!
//! A kernel works on a copy. A piece of the host's memory is read when an instruction first reaches it, and lies in the arena's
//! vector like any block from then on; after the run the host is given what has changed, and no byte that the kernel has not stored:
//! what others write beside it meanwhile stays. So the host's memory is as it was when a run does not come to its end, no reference to
//! it exists that somebody else's write could make wrong, and a range that disappears meanwhile is an error, not a crash.

use crate::memory::Hint;
use crate::verdict::{AllocKind, Nearest, Relation};
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

    /// Writes to many addresses, one after the other, until one of them cannot be written. Gives how many could.
    fn write_all(&self, parts: &[(u64, &[u8])]) -> usize {
        parts.iter().take_while(|(address, from)| self.write(*address, from)).count()
    }
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
    /// A power of two: of a row of so many bytes, at a multiple of them, kernels store all or none.
    unit: u64,
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
    /// Nothing has been read.
    pub(super) fn new(host: Arc<dyn HostMemory>, unit: u64) -> Self {
        Self { host, pieces: Vec::new(), unit }
    }

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
    pub(super) fn missing(&self, address: u64) -> Option<(usize, Range<u64>, bool)> {
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

    /// Reads a piece into the vector of bytes, whose part from `at` on is given; it is the one of a number by ascending address.
    pub(super) fn take(&mut self, number: usize, (address, writable): (u64, bool), (at, bytes): (usize, &mut [u8])) {
        if self.host.read(address, bytes) {
            self.pieces.insert(number, Piece { address, at, before: bytes.to_vec(), writable });
        }
    }

    /// Gives the host what has changed of the vector of bytes.
    pub(super) fn give_back(&self, bytes: &[u8]) -> Result<(), u64> {
        /// Bytes with their address.
        type Part<'a> = (u64, &'a [u8]);
        let (mut old, mut new) = (Vec::<Part<'_>>::new(), Vec::<Part<'_>>::new());
        for piece in &self.pieces {
            let now = bytes.get(piece.at..piece.at + piece.before.len()).unwrap_or(&[]);
            for changed in changes(&piece.before, now, (piece.address, self.unit)) {
                let address = piece.address + changed.start as u64;
                new.push((address, &now[changed.clone()]));
                old.push((address, &piece.before[changed]));
            }
        }
        let done = self.host.write_all(&new);
        let Some((address, _)) = new.get(done) else { return Ok(()) };
        self.host.write_all(&old[..done]);
        Err(*address)
    }
}

/// The parts in which two rows of bytes differ that lie at an address: no unit that is equal is in one.
fn changes<'a>(
    before: &'a [u8],
    now: &'a [u8],
    (address, unit): (u64, u64),
) -> impl Iterator<Item = Range<usize>> + 'a {
    /// Bytes that are compared at once.
    const LINE: usize = 256;
    let count = before.len().min(now.len());
    // Where the unit ends that a byte lies in.
    let end = move |at: usize| (at + (unit - (address + at as u64) % unit) as usize).min(count);
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < count && before[at..end(at)] == now[at..end(at)] {
            let line = at..end(at + LINE - 1).min(count);
            at = if before[line.clone()] == now[line.clone()] { line.end } else { end(at) };
        }
        let start = at;
        while at < count && before[at..end(at)] != now[at..end(at)] {
            at = end(at);
        }
        (start < at).then_some(start..at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_exact() {
        let before = [0u8; 1000];
        let mut now = before;
        (now[0], now[255], now[256], now[999]) = (1, 1, 1, 1);
        let of = |address, unit| changes(&before, &now, (address, unit)).collect::<Vec<_>>();
        assert_eq!(of(16, 1), [0..1, 255..257, 999..1000]);
        assert_eq!(of(16, 4), [0..4, 252..260, 996..1000]);
        // Memory that begins and ends amidst units.
        assert_eq!(of(18, 4), [0..2, 254..258, 998..1000]);
        assert_eq!(of(9, 8), [0..7, 255..263, 999..1000]);
        assert_eq!(changes(&before, &before, (3, 8)).count(), 0);
    }
}

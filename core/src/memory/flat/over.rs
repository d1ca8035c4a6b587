//! Memory as blocks see it that run ahead of those before them (D-ahead).
//!
//! What memory is like before is shared: nobody has a reference by which it could be changed meanwhile. A buffer that blocks only
//! read, they read there. One that they write is copied page by page where they get to, and all that they do to it they do to the
//! copy. So threads have no bytes in common that one of them writes, what runs ahead is seen by nobody until it is known to be right,
//! and to throw it away costs nothing. What was read and written is known by then, for nothing but what is asked for is there:
//! whole buffers that nobody writes, else pages, else, where pages are too much, the bytes themselves.

use super::block::Block;
use super::lent::{BITS, FIRST, Loans};
use crate::verdict::Who;
use aligned_vec::{AVec, ConstAlign};
use std::ops::Range;
use std::sync::Arc;

/// Bytes that are copied at once.
pub(super) const PAGE: usize = 1 << 12;
/// Bytes of a buffer that lie together in copies at most: no access of native code goes from one to the next.
const SLAB: usize = 1 << 16;
/// Slabs that a view may have: more of them write all over memory; and that all views have that are there at a time.
const SLABS: usize = 1 << 8;
const ALL_SLABS: usize = 1 << 12;
/// Slabs that are kept from one launch to the next at most.
const SPARE: usize = 256;
/// Accesses of a view that are noted by their bytes at most, and of all views.
const NOTED: usize = 1 << 18;
const ALL_NOTED: usize = 1 << 22;
/// Pages around an access that native code is told of at once, on either side.
#[cfg(all(feature = "native", target_arch = "x86_64"))]
const AROUND: usize = 64;

/// What is known of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Manner {
    /// Blocks write it.
    pub written: bool,
    /// Blocks that run beside each other get to the same pages of it, so that accesses are noted by their bytes.
    pub exact: bool,
}

/// Of each block of memory.
pub(crate) type Manners = Vec<Manner>;

/// What is done to bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Does {
    pub loads: bool,
    pub stores: bool,
}

impl Does {
    pub const LOADS: Self = Self { loads: true, stores: false };
    pub const STORES: Self = Self { loads: false, stores: true };
    pub const BOTH: Self = Self { loads: true, stores: true };

    /// All that some do; whatever there is where nobody says so.
    #[cfg(all(feature = "native", target_arch = "x86_64"))]
    pub fn all(of: impl Iterator<Item = Self>) -> Self {
        let sum = |a: Self, b: Self| Self { loads: a.loads || b.loads, stores: a.stores || b.stores };
        of.reduce(sum).unwrap_or(Self::BOTH)
    }
}

/// How memory is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum View {
    /// To blocks that run one after the other.
    InOrder,
    /// To warps whose order is not known: no two of them may write a byte, and none may read what is written.
    Apart,
}

/// Room for copies that was used before.
#[derive(Default, Debug)]
pub(crate) struct Slabs(pub(super) Vec<Vec<u8>>);

/// A part of a buffer, as far as it was copied.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Slab {
    /// The number of its buffer.
    pub buffer: usize,
    /// The bytes, of which the first ones are left out so that the others are aligned.
    pub bytes: Vec<u8>,
    skip: usize,
    /// Where it lies in the vector of all bytes.
    pub at: usize,
    len: usize,
    /// By page: whether it was copied, and whether it is written.
    pub here: Vec<u64>,
    pub stored: Vec<u64>,
}

/// Bytes that were accessed: where they lie in the vector of all bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Noted {
    pub at: Range<usize>,
    pub slab: usize,
    pub stores: bool,
    /// The warp: 0 where they are not told apart.
    pub who: u64,
}

/// What memory was like before, for several to look at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Below {
    pub(super) bytes: AVec<u8, ConstAlign<64>>,
    pub(super) blocks: Vec<Block>,
}

impl Default for Below {
    fn default() -> Self {
        Self { bytes: AVec::new(64), blocks: Vec::new() }
    }
}

/// What a view of memory shows, and what was done to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Over {
    pub(super) under: Arc<Below>,
    pub(super) manners: Manners,
    /// By block of memory: whether it was read where it lies.
    pub(super) read: Vec<bool>,
    /// The blocks of memory that turned out to be written.
    pub(super) learned: Vec<usize>,
    /// By block of memory: its slabs by number, from 1 on; 0: it is not there.
    table: Vec<Vec<u32>>,
    pub(super) slabs: Vec<Slab>,
    /// Accesses of what is noted by its bytes.
    pub(super) noted: Vec<Noted>,
    view: View,
    who: u64,
    /// Accesses that were asked for one by one.
    pub(super) asked: u64,
    /// Slabs, and accesses that are noted, at most.
    most: (usize, usize),
    /// It cannot show what is asked for: what was done to it is of no use.
    pub(super) failed: bool,
    pub(super) spare: Vec<Vec<u8>>,
}

/// A copy has no part in it.
impl Clone for Slabs {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Slabs {
    /// Keeps what the next launch may use.
    pub(crate) fn keep(&mut self) {
        self.0.truncate(SPARE);
    }

    /// Some for each of so many views.
    pub(crate) fn share(&mut self, count: usize) -> Vec<Self> {
        let mut all: Vec<Self> = (0..count).map(|_| Self::default()).collect();
        for (k, bytes) in self.0.drain(..).enumerate() {
            all[k % count].0.push(bytes);
        }
        all
    }
}

fn has(bits: &[u64], k: usize) -> bool {
    bits.get(k / 64).is_some_and(|word| word >> (k % 64) & 1 == 1)
}

fn put(bits: &mut [u64], k: usize) {
    if let Some(word) = bits.get_mut(k / 64) {
        *word |= 1 << (k % 64);
    }
}

impl Slab {
    fn new(spare: &mut Vec<Vec<u8>>, buffer: usize, at: usize, len: usize) -> Self {
        let room = len + 64;
        let found = spare.iter().position(|bytes| bytes.len() >= room && bytes.len() <= 2 * room);
        // Not written, this costs address space only.
        let bytes = found.map_or_else(|| vec![0; room], |k| spare.swap_remove(k));
        let skip = bytes.as_ptr().align_offset(64).min(64);
        let pages = vec![0; len.div_ceil(PAGE).div_ceil(64)];
        Self { buffer, bytes, skip, at, len, here: pages.clone(), stored: pages }
    }

    pub fn data(&self) -> &[u8] {
        self.bytes.get(self.skip..self.skip + self.len).unwrap_or(&[])
    }

    pub fn data_mut(&mut self) -> &mut [u8] {
        self.bytes.get_mut(self.skip..self.skip + self.len).unwrap_or(&mut [])
    }

    /// The places in the vector of all bytes of the pages of a set, in order.
    pub fn runs<'a>(&'a self, of: &'a [u64]) -> impl Iterator<Item = Range<usize>> + 'a {
        let pages = self.len.div_ceil(PAGE);
        let mut k = 0;
        std::iter::from_fn(move || {
            while k < pages && !has(of, k) {
                k += if k % 64 == 0 && of.get(k / 64) == Some(&0) { 64 } else { 1 };
            }
            let from = k;
            while k < pages && has(of, k) {
                k += 1;
            }
            (from < k).then(|| self.at + from * PAGE..self.at + (k * PAGE).min(self.len))
        })
    }
}

impl Over {
    /// One of so many views.
    pub(super) fn new(under: Arc<Below>, (view, views): (View, usize), manners: &Manners, spare: &mut Slabs) -> Self {
        let count = under.blocks.len();
        let share = |all: usize, most: usize| (all / views.max(1)).clamp(1, most);
        let mut manners = manners.clone();
        manners.resize(count, Manner::default());
        Self {
            under,
            manners,
            read: vec![false; count],
            learned: Vec::new(),
            table: vec![Vec::new(); count],
            slabs: Vec::new(),
            noted: Vec::new(),
            view,
            who: 0,
            asked: 0,
            most: (share(ALL_SLABS, SLABS), share(ALL_NOTED, NOTED)),
            failed: false,
            spare: std::mem::take(&mut spare.0),
        }
    }

    /// Bytes of a buffer that are read where they lie.
    pub(super) fn in_place(&mut self, k: usize, inside: usize, len: usize) -> Option<&[u8]> {
        self.read[k] = true;
        let at = self.under.blocks.get(k)?.at + inside;
        self.under.bytes.get(at..at + len)
    }

    /// Bytes that have been asked for of a buffer that is copied.
    pub(super) fn copied(&mut self, k: usize, (inside, len): (usize, usize)) -> Option<&mut [u8]> {
        let (number, from) = (self.slab(k, inside / SLAB)?, inside % SLAB);
        self.slabs.get_mut(number)?.data_mut().get_mut(from..from + len)
    }

    /// The bytes at indices: those of what lies below have the first numbers.
    pub(super) fn part(&self, place: &Range<usize>) -> Option<&[u8]> {
        let (number, within) = Loans::find(place)?;
        match number.checked_sub(1) {
            None => self.under.bytes.get(within),
            Some(k) => self.slabs.get(k)?.data().get(within),
        }
    }

    /// The same, to be written: only copies are.
    pub(super) fn part_mut(&mut self, place: &Range<usize>) -> Option<&mut [u8]> {
        let (number, within) = Loans::find(place)?;
        self.slabs.get_mut(number.checked_sub(1)?)?.data_mut().get_mut(within)
    }

    /// The index of bytes of one buffer that have been asked for, and whether all of it may be read from there on: whoever writes some
    /// of it then fails.
    pub(super) fn index(&self, at: usize, len: u64) -> Option<(usize, bool)> {
        let k = self.under.blocks.partition_point(|b| b.at <= at).checked_sub(1)?;
        let block = &self.under.blocks[k];
        if !self.manners[k].written {
            return Some((FIRST + at, self.read[k]));
        }
        let inside = at - block.at;
        let number = *self.table[k].get(inside / SLAB)? as usize;
        let (slab, from) = (self.slabs.get(number.checked_sub(1)?)?, inside % SLAB);
        let last = (from + len as usize).checked_sub(1)?;
        let all = last < slab.len && (from / PAGE..=last / PAGE).all(|page| has(&slab.here, page));
        all.then_some((FIRST + (number << BITS) + from, false))
    }

    /// Blocks are about to access bytes of a buffer. False: these cannot be shown.
    pub(super) fn ask(&mut self, k: usize, (inside, len): (usize, usize), does: Does) -> bool {
        if !self.failed && !self.show(k, (inside, len), does) {
            self.failed = true;
        }
        !self.failed
    }

    fn show(&mut self, k: usize, (inside, len): (usize, usize), Does { loads, stores }: Does) -> bool {
        if !self.manners[k].written {
            if !stores {
                self.read[k] = true;
                return true;
            }
            self.learned.push(k);
            // Native code may know already where it lies.
            if self.read[k] {
                return false;
            }
            self.manners[k].written = true;
        }
        if loads && self.view == View::Apart {
            return false;
        }
        let Some(last) = len.checked_sub(1).map(|more| inside + more) else { return false };
        if inside / SLAB != last / SLAB {
            return false;
        }
        let Some(number) = self.slab(k, inside / SLAB) else { return false };
        let slab = &mut self.slabs[number];
        for page in inside % SLAB / PAGE..=last % SLAB / PAGE {
            if !has(&slab.here, page) {
                put(&mut slab.here, page);
                let within = page * PAGE..((page + 1) * PAGE).min(slab.len);
                let from = self.under.bytes.get(slab.at + within.start..slab.at + within.end);
                if let (Some(to), Some(from)) = (slab.data_mut().get_mut(within), from) {
                    to.copy_from_slice(from);
                }
            }
            if stores {
                put(&mut slab.stored, page);
            }
        }
        if self.is_exact(k) {
            let from = self.slabs[number].at + inside % SLAB;
            self.note(Noted { at: from..from + len, slab: number, stores, who: self.who });
        }
        self.noted.len() <= self.most.1
    }

    /// Whether accesses of a buffer are noted by their bytes.
    pub(super) fn is_exact(&self, k: usize) -> bool {
        self.view == View::Apart || self.manners[k].exact
    }

    /// A number that changes with the warps that are told apart.
    #[cfg(all(feature = "native", target_arch = "x86_64"))]
    pub(super) fn begin(&mut self, who: Who) -> usize {
        self.is_of(who);
        self.who as usize
    }

    /// A warp is about to access memory.
    pub(super) fn is_of(&mut self, who: Who) {
        if self.view == View::Apart {
            self.who = (who.block << 10 | u64::from(who.warp)) + 1;
        }
    }

    /// The number of a slab; it is made when it is not there.
    fn slab(&mut self, k: usize, part: usize) -> Option<usize> {
        let entry = self.table[k].get(part).copied().unwrap_or(0);
        if entry != 0 {
            return Some(entry as usize - 1);
        }
        if self.slabs.len() >= self.most.0 {
            return None;
        }
        let block = self.under.blocks.get(k)?;
        let len = usize::try_from(block.len).ok()?.checked_sub(part * SLAB)?.min(SLAB);
        self.slabs.push(Slab::new(&mut self.spare, k, block.at + part * SLAB, len));
        let parts = part.max(self.table[k].len().saturating_sub(1)) + 1;
        self.table[k].resize(parts, 0);
        self.table[k][part] = u32::try_from(self.slabs.len()).ok()?;
        Some(self.slabs.len() - 1)
    }

    fn note(&mut self, more: Noted) {
        match self.noted.last_mut() {
            Some(last)
                if (last.slab, last.stores, last.who) == (more.slab, more.stores, more.who)
                    && (last.at.start..=last.at.end).contains(&more.at.start) =>
            {
                last.at.end = last.at.end.max(more.at.end);
            }
            _ => self.noted.push(more),
        }
    }

    /// The part of a buffer around bytes that have been asked for which may be accessed in the same way, and where it is.
    #[cfg(all(feature = "native", target_arch = "x86_64"))]
    pub(super) fn around(
        &mut self,
        k: usize,
        (inside, len): (usize, usize),
        Does { stores, .. }: Does,
    ) -> Option<(usize, usize, usize)> {
        let block = self.under.blocks.get(k)?;
        if !self.manners[k].written {
            let bytes = self.under.bytes.get(block.at..block.at + usize::try_from(block.len).ok()?)?;
            return Some((0, bytes.as_ptr() as usize, bytes.len()));
        }
        let (part, from) = (inside / SLAB, inside % SLAB);
        let number = self.table[k].get(part)?.checked_sub(1)? as usize;
        let exact = self.is_exact(k);
        let slab = self.slabs.get_mut(number)?;
        let within = if exact {
            from..from + len
        } else {
            let may = |page: usize| has(if stores { &slab.stored } else { &slab.here }, page);
            let (mut first, mut last) = (from / PAGE, (from + len - 1) / PAGE);
            let (least, most) = (first.saturating_sub(AROUND), last + AROUND);
            while first > least && may(first - 1) {
                first -= 1;
            }
            while last < most && may(last + 1) {
                last += 1;
            }
            first * PAGE..((last + 1) * PAGE).min(slab.len)
        };
        let bytes = slab.data_mut().get_mut(within.clone())?;
        Some((part * SLAB + within.start, bytes.as_mut_ptr() as usize, bytes.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::flat::Arena;
    use crate::verdict::AllocKind;

    #[test]
    fn views_share_the_room_that_there_is() {
        let mut arena = Arena::new(0x1000, None);
        let len = 3 * SLAB;
        arena.alloc("a", AllocKind::Buffer, len as u64, 64).unwrap();
        let under = Arc::new(arena.lower().unwrap());
        // How many slabs one of so many views can write.
        let slabs = |views: usize| {
            let mut over =
                Over::new(Arc::clone(&under), (View::InOrder, views), &Manners::new(), &mut Slabs::default());
            (0..3).take_while(|k| over.ask(0, (k * SLAB, 4), Does::STORES)).count()
        };
        assert_eq!([2, ALL_SLABS / 2, ALL_SLABS, 2 * ALL_SLABS].map(slabs), [3, 2, 1, 1]);
    }
}

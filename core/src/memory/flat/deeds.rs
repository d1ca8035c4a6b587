//! What blocks have done to memory that ran ahead, and whether that is what they would have done in their turn (D-ahead).

use super::over::{Below, Manner, Manners, Noted, Over, Slabs};
use crate::base::mutant::{Mutant, on};
use crate::base::sort;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that a thread copies: to where, and from where.
type Share<'a> = Vec<(&'a mut [u8], &'a [u8])>;

/// Bytes that are worth to be copied by several threads.
const MUCH: usize = 1 << 20;

/// Bytes of a slab that may have been written.
#[derive(Clone, Debug)]
struct Part {
    /// Where they lie in the vector of all bytes.
    at: Range<usize>,
    slab: usize,
}

/// What blocks have done to memory that ran ahead.
#[derive(Debug)]
pub(crate) struct Deeds {
    over: Over,
    /// The bytes that may have been read or written, where they lie in the vector of all bytes: in ascending order.
    touched: Vec<Range<usize>>,
    /// Those of them that may have been written, the same.
    stored: Vec<Part>,
}

/// What blocks have written, apart from what they have seen.
#[derive(Debug)]
pub(crate) struct Written {
    over: Over,
    stored: Vec<Part>,
}

/// What memory was like before blocks wrote it: where, and the bytes one behind the other.
#[derive(Default, Debug)]
pub(crate) struct Former {
    at: Vec<Range<usize>>,
    bytes: Vec<u8>,
}

/// What blocks have done that may have run in any order.
#[derive(Default, Debug)]
pub(crate) struct Together {
    /// By buffer.
    read: Vec<bool>,
    written: Vec<bool>,
    /// The bytes that were written: the places of the first, and behind the last.
    ranges: BTreeMap<usize, usize>,
    /// How many.
    pub bytes: usize,
}

/// Ranges in ascending order, those that meet in one.
fn merged(mut all: Vec<Range<usize>>) -> Vec<Range<usize>> {
    all.sort_unstable_by_key(|range| range.start);
    all.dedup_by(|next, last| {
        let meet = next.start <= last.end;
        if meet {
            last.end = last.end.max(next.end);
        }
        meet
    });
    all
}

impl Deeds {
    pub(super) fn of(over: Over) -> Self {
        let reads = |noted: &&Noted| noted.stores || !on(Mutant::AheadReads);
        let mut touched: Vec<_> = over.noted.iter().filter(reads).map(|noted| noted.at.clone()).collect();
        let mut stored = Vec::new();
        for (k, block) in over.under.blocks.iter().enumerate().filter(|(k, _)| over.read[*k]) {
            debug_assert!(over.slabs.iter().all(|slab| slab.buffer != k));
            touched.push(block.at..block.at + block.len as usize);
        }
        for (number, slab) in over.slabs.iter().enumerate() {
            let own: Vec<_> = if over.is_exact(slab.buffer) {
                let own = over.noted.iter().filter(|noted| noted.stores && noted.slab == number);
                merged(own.map(|noted| noted.at.clone()).collect())
            } else {
                touched.extend(slab.runs(&slab.here));
                slab.runs(&slab.stored).collect()
            };
            stored.extend(own.into_iter().map(|at| Part { at, slab: number }));
        }
        stored.sort_unstable_by_key(|part| part.at.start);
        Self { over, touched: merged(touched), stored }
    }

    /// Whether it shows all that was done.
    pub(crate) const fn is_whole(&self) -> bool {
        !self.over.failed
    }

    /// Accesses that had to be asked for one by one: each takes about as long as an instruction of a warp.
    pub(crate) const fn asked(&self) -> u64 {
        self.over.asked
    }

    /// Bytes that may have been written.
    pub(crate) fn bytes(&self) -> u64 {
        self.stored.iter().map(|part| part.at.len() as u64).sum()
    }

    /// Takes note of what these blocks show of buffers; gives whether anything of that is new.
    pub(crate) fn teach(&self, manners: &mut Manners) -> bool {
        manners.resize(self.over.manners.len(), Manner::default());
        let mut new = false;
        for k in &self.over.learned {
            new |= !std::mem::replace(&mut manners[*k].written, true);
        }
        new
    }

    /// Bytes that earlier blocks have changed and these may have read, or written: the number of their buffer, and whether it is
    /// sure. `None`: none, so that these have done what they would have done behind them.
    pub(crate) fn meets(&self, earlier: &Self) -> Option<(usize, bool)> {
        let (mut j, mut i) = (0, 0);
        while let (Some(own), Some(other)) = (self.touched.get(j), earlier.stored.get(i)) {
            let both = own.start.max(other.at.start)..own.end.min(other.at.end);
            if !both.is_empty() && earlier.changes(&Part { at: both, slab: other.slab }) {
                return Some((earlier.over.slabs[other.slab].buffer, self.both_change(earlier)));
            }
            if own.end <= other.at.end {
                j += 1;
            } else {
                i += 1;
            }
        }
        None
    }

    /// Whether both have changed the same byte.
    fn both_change(&self, earlier: &Self) -> bool {
        let (mut j, mut i) = (0, 0);
        while let (Some(own), Some(other)) = (self.stored.get(j), earlier.stored.get(i)) {
            let both = own.at.start.max(other.at.start)..own.at.end.min(other.at.end);
            let part = |slab| Part { at: both.clone(), slab };
            if !both.is_empty()
                && let (Some(own), Some(other)) =
                    (now(&self.over, &part(own.slab)), now(&earlier.over, &part(other.slab)))
                && let Some(before) = self.over.under.bytes.get(both.clone())
                && own.iter().zip(other).zip(before).any(|((own, other), before)| own != before && other != before)
            {
                return true;
            }
            if own.at.end <= other.at.end {
                j += 1;
            } else {
                i += 1;
            }
        }
        false
    }

    /// Whether bytes that may have been written are others than before.
    fn changes(&self, part: &Part) -> bool {
        now(&self.over, part) != self.over.under.bytes.get(part.at.clone()) && !on(Mutant::AheadMeets)
    }

    /// Whether two warps may have written the same byte.
    pub(crate) fn overlap(&self) -> bool {
        let mut all: Vec<_> = self.over.noted.iter().filter(|noted| noted.stores).collect();
        sort::sort_by_key(&mut all, |noted| noted.at.start);
        let (mut end, mut who) = (0, 0);
        all.into_iter().any(|noted| {
            let both = noted.at.start < end && noted.who != who;
            if noted.at.end > end {
                (end, who) = (noted.at.end, noted.who);
            }
            both
        }) && !on(Mutant::AheadApart)
    }

    /// Adds what these blocks read and wrote to what others did. False: some of it they have in common, so that the order of them matters.
    pub(crate) fn join(&self, all: &mut Together) -> bool {
        all.read.resize(self.over.read.len(), false);
        all.written.resize(self.over.read.len(), false);
        all.read.iter_mut().zip(&self.over.read).for_each(|(all, own)| *all |= own);
        let mut apart = true;
        for Part { at, slab } in &self.stored {
            all.written[self.over.slabs[*slab].buffer] = true;
            let before = all.ranges.range(..at.end).next_back();
            apart &= before.is_none_or(|(_, end)| *end <= at.start);
            all.ranges.insert(at.start, at.end);
            all.bytes += at.len();
        }
        let mut both = all.read.iter().zip(&all.written);
        (apart && !both.any(|(read, written)| *read && *written)) || on(Mutant::AheadApart)
    }

    /// What was written, without what was seen: nobody else may be looking at that any more when it is made so.
    pub(crate) fn written(self) -> Written {
        let Self { mut over, stored, .. } = self;
        over.under = Arc::new(Below::default());
        Written { over, stored }
    }
}

/// The copies of bytes.
fn now<'a>(over: &'a Over, part: &Part) -> Option<&'a [u8]> {
    let slab = over.slabs.get(part.slab)?;
    slab.data().get(part.at.start.checked_sub(slab.at)?..part.at.end.checked_sub(slab.at)?)
}

impl Former {
    /// Makes memory what it was.
    pub(crate) fn restore(&self, memory: &mut Below) {
        let mut rest = &self.bytes[..];
        for at in &self.at {
            let Some((own, behind)) = rest.split_at_checked(at.len()) else { break };
            if let Some(to) = memory.bytes.get_mut(at.clone()) {
                to.copy_from_slice(own);
            }
            rest = behind;
        }
    }
}

impl Written {
    /// Makes memory what blocks have made of their copies, those behind others behind them.
    pub(crate) fn commit(all: &[Self], memory: &mut Below, threads: usize) {
        let parts = || all.iter().flat_map(|of| of.stored.iter().map(|part| (part, &of.over)));
        let mut sorted: Vec<_> = parts().collect();
        sorted.sort_by_key(|(part, _)| part.at.start);
        let apart = sorted.windows(2).all(|two| two[0].0.at.end <= two[1].0.at.start);
        let bytes = sorted.iter().map(|(part, _)| part.at.len()).sum::<usize>();
        if !apart || bytes < MUCH || threads < 2 {
            for (part, over) in parts() {
                if let (Some(now), Some(to)) = (now(over, part), memory.bytes.get_mut(part.at.clone())) {
                    to.copy_from_slice(now);
                }
            }
            return;
        }
        // Each thread copies as much.
        let (mut rest, mut at) = (&mut memory.bytes[..], 0);
        let mut shares: Vec<Share<'_>> = (0..threads).map(|_| Vec::new()).collect();
        let (mut share, mut full) = (0, 0);
        for (part, over) in sorted {
            let Some(from) = now(over, part) else { continue };
            let (_, behind) = std::mem::take(&mut rest).split_at_mut(part.at.start - at);
            let (to, behind) = behind.split_at_mut(part.at.len());
            (rest, at) = (behind, part.at.end);
            shares[share].push((to, from));
            full += part.at.len();
            share = (full * threads / bytes.max(1)).min(threads - 1);
        }
        let shares: Vec<Mutex<Share<'_>>> = shares.into_iter().map(Mutex::new).collect();
        let copy = |share: &Mutex<Share<'_>>| {
            let share = std::mem::take(&mut *share.lock().unwrap_or_else(PoisonError::into_inner));
            share.into_iter().for_each(|(to, from)| to.copy_from_slice(from));
        };
        std::thread::scope(|scope| {
            for share in shares.iter().skip(1) {
                // Where there are no more threads, there are fewer.
                drop(std::thread::Builder::new().spawn_scoped(scope, move || copy(share)));
            }
            shares.iter().for_each(copy);
        });
    }

    /// Makes memory what these blocks have made of it; gives what it was before.
    pub(crate) fn exchange(&self, memory: &mut Below) -> Former {
        let mut former = Former::default();
        for part in &self.stored {
            if let (Some(now), Some(to)) = (now(&self.over, part), memory.bytes.get_mut(part.at.clone())) {
                former.bytes.extend_from_slice(to);
                former.at.push(part.at.clone());
                to.copy_from_slice(now);
            }
        }
        former
    }

    /// Gives the room of the copies back.
    pub(crate) fn leave(self, spare: &mut Slabs) {
        let Over { slabs, spare: more, .. } = self.over;
        spare.0.extend(slabs.into_iter().map(|slab| slab.bytes).chain(more));
    }
}

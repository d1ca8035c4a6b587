//! Whether any write is to come: whether the first thread to go on, which reads what is there, writes something then, or comes to wait again.
//! Where nobody does, reads are left with the writes that are there.

use super::frame::{Frame, Id, placed};
use super::program::{End, Kind, Stall, Trace};
use super::relation::Relation;

/// The most ways to read what is there that are looked at.
const WAYS: usize = 64;

/// A node of the search.
pub(super) struct Coming<'a> {
    pub(super) frame: &'a Frame,
    pub(super) traces: &'a [Trace],
    /// What each thread's reads returned.
    pub(super) reads: &'a [Vec<Option<u64>>],
    /// Which reads may read from each write, the other way round.
    pub(super) sources: &'a Relation,
}

/// Whether a thread writes, or waits again, that knows what its reads returned, behind so many events.
type GoesOn<'a> = dyn FnMut(usize, &[Option<u64>], usize) -> bool + 'a;

impl Coming<'_> {
    /// Whether any is. `written` gives what is written, where that is known.
    pub(super) fn any(&self, written: &dyn Fn(usize) -> Option<u64>, goes_on: &mut GoesOn<'_>) -> bool {
        // Who waits at a barrier, or for an address, may do anything.
        if self.frame.blocked.contains(&true) || !self.traces.iter().all(|trace| trace.events.iter().all(placed)) {
            return true;
        }
        (0..self.traces.len()).any(|thread| match &self.traces[thread].end {
            End::Stalled(stall) => match self.ways(thread, stall, written) {
                Some(ways) => {
                    let before = self.traces[thread].events.len();
                    ways.iter().any(|reads| goes_on(thread, reads, before))
                }
                None => true,
            },
            _ => false,
        })
    }

    /// What a thread that waits may read of what is there. None: too much, or what is not known yet.
    fn ways(
        &self,
        thread: usize,
        stall: &Stall,
        written: &dyn Fn(usize) -> Option<u64>,
    ) -> Option<Vec<Vec<Option<u64>>>> {
        // It may go on without what it waits for.
        if !stall.control && !stall.options.is_empty() {
            return None;
        }
        let mut ways = vec![self.reads[thread].clone()];
        for position in stall.on.iter().copied() {
            let index = position as usize;
            if self.reads[thread].get(index).is_some_and(Option::is_some) {
                continue;
            }
            let read = self.frame.number(Id { thread: u32::try_from(thread).ok()?, position })?;
            let values: Option<Vec<u64>> = self.sources.from(read).map(written).collect();
            let mut values = values?;
            values.sort_unstable();
            values.dedup();
            if ways.len() * values.len() > WAYS {
                return None;
            }
            let with = |reads: &Vec<Option<u64>>, value: u64| {
                let mut reads = reads.clone();
                reads.resize(reads.len().max(index + 1), None);
                reads[index] = Some(value);
                reads
            };
            ways = ways.iter().flat_map(|reads| values.iter().map(move |value| with(reads, *value))).collect();
        }
        Some(ways)
    }
}

/// Whether a read has nothing to read from among the writes that are there.
pub(super) fn starves(frame: &Frame, rf: &Relation) -> bool {
    let fed = rf.range();
    (0..frame.events.len()).any(|n| frame.event(n).kind == Kind::Read && !fed.contains(n))
}

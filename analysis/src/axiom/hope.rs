//! Whether any thread that waits can ever go on: the first to do so gets what it waits for from writes that are there.

use super::frame::{Frame, Id, placed};
use super::program::{End, Kind, Position, Stall, Trace};
use super::relation::Relation;

/// A node of the search, as far as this looks at it.
pub(super) struct Waiting<'a> {
    pub(super) frame: &'a Frame,
    pub(super) traces: &'a [Trace],
    /// What each thread's reads returned.
    pub(super) reads: &'a [Vec<Option<u64>>],
    /// Which writes each read may read from.
    pub(super) sources: &'a Relation,
}

impl Waiting<'_> {
    /// Whether none can: the value of each write that a read may read from depends on a read that waits likewise, and on
    /// no value that may come out of thin air (D-thin-air). Who waits at a barrier goes on only after somebody else has.
    pub(super) fn hopeless(&self) -> bool {
        let waits = |(thread, trace): (usize, &'_ Trace)| match &trace.end {
            End::Stalled(stall) if !self.frame.blocked[thread] => Some((u32::try_from(thread).ok()?, stall.clone())),
            _ => None,
        };
        let stalls: Vec<(u32, Stall)> = self.traces.iter().enumerate().filter_map(waits).collect();
        // An access whose place is not known may be of anything.
        if stalls.is_empty() || !self.traces.iter().all(|trace| trace.events.iter().all(placed)) {
            return false;
        }
        let sources = self.sources.inverse();
        let mut able = vec![false; self.frame.events.len()];
        loop {
            let goes_on = |(thread, stall): &(u32, Stall)| {
                let assumes = !stall.control && !stall.options.is_empty();
                assumes || stall.on.iter().all(|on| self.able(*thread, *on, &able))
            };
            if stalls.iter().any(goes_on) {
                return false;
            }
            let grows = |read: &usize| {
                !able[*read]
                    && self.frame.event(*read).kind == Kind::Read
                    && sources.from(*read).any(|write| self.written(write, &able))
            };
            let more: Vec<usize> = (0..able.len()).filter(grows).collect();
            if more.is_empty() {
                return !self.circular();
            }
            more.into_iter().for_each(|read| able[read] = true);
        }
    }

    /// Whether some value may depend on itself: then it may come out of thin air, as long as nothing is done because of it.
    fn circular(&self) -> bool {
        let mut values = self.sources.clone();
        values.add(&self.frame.data);
        let values = values.plus();
        let unknown = |event: usize| {
            let (id, event) = &self.frame.events[event];
            let known = self.reads.get(id.thread as usize).and_then(|all| all.get(id.position as usize));
            event.kind == Kind::Read && known.copied().flatten().is_none()
        };
        (0..self.frame.events.len()).any(|event| values.contains(event, event) && unknown(event))
    }

    /// Whether a read's value is known, or may become so.
    fn able(&self, thread: u32, position: Position, able: &[bool]) -> bool {
        let known = self.reads.get(thread as usize).and_then(|all| all.get(position as usize)).copied().flatten();
        known.is_some() || self.frame.number(Id { thread, position }).is_none_or(|read| able[read])
    }

    /// The same of what a write writes.
    fn written(&self, write: usize, able: &[bool]) -> bool {
        let (id, event) = &self.frame.events[write];
        event.data.iter().all(|position| self.able(id.thread, *position, able))
    }
}

//! Asynchronous copies with remote-scope promotion (D-copy-caches), by the rules of the paper: what goes by way of the L1 cache is a load that
//! FETCH_L1 may come before. What goes past it asks what INC_L2 asks for: the own L1 cache does not have it dirty, since that is
//! newer, and its lock is free; what is written is an INC_L2 that does not look at what it found.

use super::Promoted;
use super::caches::{At, Group, NOBODY, Thread, UNIT, Value};
use super::hardware::View;
use crate::base::mutant::{Mutant, on};
use crate::memory::Cx;
use crate::memory::copies::{Deed, Landing, Place, Side};
use crate::memory::flat::Arena;
use crate::memory::rsp::environment::{fetch_l1, may_trigger};
use crate::memory::rsp::instructions::{load, update_l2};
use crate::verdict::{Rule, Sink, Stop};
use smallvec::SmallVec;
use std::ops::Range;

/// The bytes of a copy in one unit: the location, their place in the unit, and among the copy's.
type Pieces = SmallVec<[(At, usize, Range<usize>); 2]>;

/// The locations that a copy accesses. `None`: there is no such memory.
fn locations(arena: &Arena, side: &Side) -> Option<Pieces> {
    let place = arena.place_of(side.address, side.bytes as usize)?;
    let (mut next, mut all) = (place.start, Pieces::new());
    while next < place.end {
        let (unit, first) = (next / UNIT, next % UNIT);
        let len = (UNIT - first).min(place.end - next);
        let ones = if len >= UNIT { !0 } else { (1u32 << len) - 1 };
        let at = At { unit: u32::try_from(unit).ok()?, mask: ones << first };
        all.push((at, first, next - place.start..next - place.start + len));
        next += len;
    }
    Some(all)
}

/// Whose copy it is.
const fn thread(side: &Side) -> Thread {
    Thread { who: side.at.who, lane: side.lane }
}

impl Promoted {
    /// Whether a location has to be fetched before it can be loaded.
    fn lacks(&self, group: Group, at: At) -> bool {
        self.caches.entry(group, at.unit).is_none_or(|entry| entry.valid & at.mask != at.mask)
    }

    /// What is dirty in the own L1 cache of a location, and may not be loaded.
    fn dirty(&self, group: Group, at: At) -> (u32, u32) {
        self.caches.entry(group, at.unit).map_or((0, 0), |e| (e.dirty & at.mask, e.dirty & !e.valid & at.mask))
    }

    /// Whether a location cannot be accessed now.
    fn keeps(&self, side: &Side, at: At) -> bool {
        let (thread, probe) = (thread(side), &mut self.probe());
        let group = thread.group();
        let (dirty, lost) = self.dirty(group, at);
        let dirty = if on(Mutant::CopyPassesDirty) { 0 } else { dirty };
        match (side.place, side.does) {
            (Place::Near, _) => lost != 0 || self.lacks(group, at) && !may_trigger(probe, group, at),
            (_, Deed::Reads) => dirty != 0 || !may_trigger(probe, group, at),
            _ => update_l2(probe, thread, at, |_, _| None).is_none(),
        }
    }

    /// Tells which rules fired.
    fn fired<S: Sink>(&mut self, side: &Side, fired: Option<Rule>, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
        let settled = self.settle();
        if S::ON {
            fired.into_iter().chain(settled).try_for_each(|rule| cx.sink.fire(side.at.who, rule))?;
        }
        Ok(())
    }
}

impl Landing for Promoted {
    fn may_keep(&self) -> bool {
        true
    }

    fn is_in_the_way(&self, side: &Side) -> bool {
        let all = if side.is_shared() { None } else { locations(&self.arena, side) };
        all.into_iter().flatten().any(|(at, ..)| self.keeps(side, at))
    }

    fn copy_reads<S: Sink>(&mut self, from: &Side, into: &mut [u8], cx: &mut Cx<'_, S>) -> Result<bool, Stop> {
        let Some(all) = locations(&self.arena, from) else { return Ok(false) };
        let group = thread(from).group();
        let by_l1 = from.place == Place::Near && !on(Mutant::CopyPassesL1) || on(Mutant::CopyNeverPassesL1);
        for (at, first, within) in all {
            let found = if by_l1 {
                self.caches.begin(group);
                if self.lacks(group, at) {
                    let dirty = self.caches.entry(group, at.unit).map_or(0, |entry| entry.dirty);
                    let fetched = fetch_l1(&mut self.view(), group, At { mask: !dirty, ..at });
                    self.fired(from, fetched, cx)?;
                }
                load(&self.view(), group, at).map(|(found, _)| found)
            } else {
                Some(Value { bytes: super::caches::below(&self.arena, at.unit), by: NOBODY })
            };
            let Some(found) = found else { return Ok(false) };
            if let (Some(to), Some(bytes)) =
                (into.get_mut(within.clone()), found.bytes.get(first..first + within.len()))
            {
                to.copy_from_slice(bytes);
            }
        }
        Ok(true)
    }

    fn copy_writes<S: Sink>(&mut self, to: &Side, from: &[u8], cx: &mut Cx<'_, S>) -> Result<bool, Stop> {
        let Some(all) = locations(&self.arena, to) else { return Ok(false) };
        for (at, first, within) in all {
            let mut new = Value { bytes: [0; UNIT], by: NOBODY };
            if let (Some(bytes), Some(from)) = (new.bytes.get_mut(first..first + within.len()), from.get(within)) {
                bytes.copy_from_slice(from);
            }
            let view: &mut View<'_> = &mut self.view();
            let fired = update_l2(view, thread(to), at, |_, _| Some(new));
            self.fired(to, fired, cx)?;
        }
        Ok(true)
    }
}

//! Asynchronous copies on memory with caches (D-copy-caches): what they find in caches and leave there, and what keeps them from landing.
//!
//! A `.ca` copy is one with its multiprocessor's L1: it reads the valid bytes of the line, takes the others from L2, or memory behind it, and
//! leaves the line in L1 as a load does. What goes past L1 reads L2 or memory, and what its own L1 has dirty, which is newer. What is
//! written to device memory goes to L2 where that has the line, else to memory: nobody can tell these apart. The own L1's copy is discarded
//! as a store's is; other L1 caches keep theirs, unless the device's stores make these invalid.

use super::cache::{ByteMask, Bytes, DeviceSpace, LineKey, Room, span_mask};
use super::engine::Fermi;
use super::environment::{Touched, banks};
use super::operation::{Operation, address_of};
use super::program::{AtomPlace, Atomic, Fill, OpKey, OpKind, Piece, Sigma};
use super::reads::tell_arrived;
use crate::base::mutant::{Mutant, on};
use crate::choice::{Site, one_of};
use crate::memory::Cx;
use crate::memory::copies::{Deed, Landing, Place, Side};
use crate::program::instr::{CacheOp, Order, Space};
use crate::verdict::{AccessId, AllocKind, Event, Performed, ReadsFrom, Sink, Stop, Who};
use smallvec::SmallVec;
use std::ops::Range;

/// The bytes of a copy that lie in one line.
struct Piecewise {
    key: LineKey,
    mask: ByteMask,
    /// Where they are in the line.
    at: usize,
    /// Where they are among the copy's.
    within: Range<usize>,
}

/// Whether an operation of the copy's thread, issued before, is above it as it is above later operations (D-prio).
fn is_above(operation: &Operation, side: &Side, same_thread_order: bool) -> bool {
    if operation.issued.lanes >> side.lane & 1 == 0 {
        return false;
    }
    if operation.is_fence() {
        return true;
    }
    let (rank, does) = (operation.issued.rank, side.does);
    let keeps = same_thread_order || rank.strong && does == Deed::Updates;
    if !keeps || rank.read && does == Deed::Reads {
        return false;
    }
    let sigma = &operation.sigma;
    let near = match sigma {
        Sigma::Shared(_) | Sigma::Atomic(Atomic { place: AtomPlace::Shared(_), .. }) => side.is_shared(),
        _ => !side.is_shared() && sigma.key().is_some_and(|key| key.space == DeviceSpace::Global),
    };
    let Range { start, end } = side.range();
    near && operation.issued.parts.iter().filter(|part| part.lane == side.lane).any(|part| {
        let first = address_of(sigma, part.at);
        first < end && start < first + u64::from(part.len)
    })
}

impl Fermi {
    /// The lines that a copy accesses.
    fn lines_of(&self, side: &Side) -> SmallVec<[Piecewise; 2]> {
        let Range { start, end } = side.range();
        let (shape, mut next, mut all) = (self.env.l2.shape(), start, SmallVec::new());
        while next < end {
            let (base, at) = shape.split(next);
            let len = usize::try_from((base + u64::from(shape.line)).min(end) - next).unwrap_or(0);
            let key = LineKey { space: DeviceSpace::Global, owner: Who::default(), base };
            let first = usize::try_from(next - start).unwrap_or(usize::MAX);
            all.push(Piecewise { key, mask: span_mask(at, len), at, within: first..first + len });
            next += len as u64;
        }
        all
    }

    /// Bytes of a line as all multiprocessors see them.
    fn below(&self, key: LineKey, want: ByteMask) -> Bytes {
        let mut found = Bytes::NONE;
        self.env.l2.line(key).into_iter().for_each(|line| found.copy(&line.bytes, want));
        self.env.read_global(key, want & !found.mask(), &mut found);
        found
    }

    /// Whether a store makes bytes invalid in the L1 caches of other multiprocessors.
    fn stores_invalidate(&self) -> bool {
        let key = OpKey::new(OpKind::Store, Space::Global, Order::Weak, CacheOp::Cg);
        let program = key.and_then(|key| self.programs.find(key)).and_then(|id| self.programs.get(id));
        program.is_some_and(super::program::Program::invalidates_others)
    }

    /// The multiprocessors whose L1 caches lose what a multiprocessor's copy writes.
    fn loses(&self, sm: u32) -> Range<usize> {
        if self.stores_invalidate() { 0..self.env.sms.len() } else { sm as usize..sm as usize + 1 }
    }
}

impl Landing for Fermi {
    fn may_keep(&self) -> bool {
        true
    }

    fn name_of(&self, operation: u32) -> Option<(Who, u32)> {
        let who = self.operations.get(operation)?.issued.issuer.who;
        let place = self.queues.get(&who)?.operations.iter().position(|k| *k == operation)?;
        Some((who, u32::try_from(place).ok()?))
    }

    fn comes_after(&self, side: &Side, most: u32) -> u32 {
        let operations = self.queues.get(&side.at.who).map_or(&[][..], |queue| &queue.operations);
        let above = |k: &u32| {
            let operation = self.operations.get(*k);
            operation.is_some_and(|operation| is_above(operation, side, self.model.same_thread_order))
        };
        let last = operations.iter().take(most as usize).rposition(above);
        last.map_or(0, |last| u32::try_from(last + 1).unwrap_or(u32::MAX))
    }

    /// Banks that an atomic operation has locked, and lines that operations pin where they are to be discarded: what those bring in would
    /// be older than what is written.
    fn is_in_the_way(&self, side: &Side) -> bool {
        let sm = side.at.sm;
        match (side.place, side.does) {
            (_, Deed::Reads) | (Place::Shared, Deed::Writes) => false,
            (Place::Shared, Deed::Updates) => {
                let Range { start, end } = side.range();
                let piece = |offset: u64| Piece {
                    offset: u32::try_from(offset).unwrap_or(u32::MAX),
                    len: u8::try_from((end - offset).min(16)).unwrap_or(16),
                };
                let banks = (start..end).step_by(16).fold(0, |all, at| all | banks(piece(at), self.model.banks));
                self.env.sm(sm).is_some_and(|sm| sm.locked & banks != 0) && !on(Mutant::CopyLocksIgnored)
            }
            (Place::Near | Place::Far, _) => {
                let all = self.env.sms.get(self.loses(sm)).unwrap_or_default();
                self.lines_of(side).iter().any(|line| all.iter().any(|sm| sm.l1.pinned(line.key)))
            }
        }
    }

    fn copy_reads<S: Sink>(&mut self, from: &Side, into: &mut [u8], cx: &mut Cx<'_, S>) -> Result<bool, Stop> {
        if self.env.arena.bytes_at(from.address, from.bytes.into()).is_none() {
            return Ok(false);
        }
        let by_l1 = match from.place {
            Place::Near => !on(Mutant::CopyPassesL1),
            _ => on(Mutant::CopyNeverPassesL1),
        };
        for Piecewise { key, mask, at, within } in self.lines_of(from) {
            let mut found = Bytes::NONE;
            let own = self.env.sm(from.at.sm).map(|sm| &sm.l1);
            if let Some(line) = own.and_then(|l1| l1.line(key)) {
                found.copy(&line.bytes, if by_l1 { mask } else { mask & line.dirty });
            }
            let missing = mask & !found.mask();
            if missing != 0 {
                let whole = if self.model.fill == Fill::Line { self.env.l2.shape().whole() } else { mask };
                let below = self.below(key, if by_l1 { whole } else { missing });
                found.copy(&below, missing);
                if by_l1 && let Some(sm) = self.env.sms.get_mut(from.at.sm as usize) {
                    let victim = match sm.l1.room(key) {
                        Room::Evict(among) => among.get(one_of(cx.oracle, Site::Victim, among.len())?).copied(),
                        _ => None,
                    };
                    sm.l1.bring(key, &below, victim);
                    self.changed(Touched { l1: true, ..Touched::default() }, from.at.sm, Some(key));
                }
            }
            if let (Some(to), Some(bytes)) = (into.get_mut(within.clone()), found.data().get(at..at + within.len())) {
                to.copy_from_slice(bytes);
            }
        }
        Ok(true)
    }

    fn copy_writes<S: Sink>(&mut self, to: &Side, from: &[u8], _: &mut Cx<'_, S>) -> Result<bool, Stop> {
        if self.env.arena.bytes_at(to.address, to.bytes.into()).is_none() {
            return Ok(false);
        }
        for Piecewise { key, mask, at, within } in self.lines_of(to) {
            let mut bytes = Bytes::NONE;
            bytes.put(at, from.get(within).unwrap_or_default());
            if self.env.l2.line(key).is_some() {
                self.env.l2.write(key, &bytes, None);
                self.env.writers.write(key, &bytes);
            } else {
                self.env.write_global(key, &bytes);
            }
            let lose = if on(Mutant::CopyKeepsL1) { 0..0 } else { self.loses(to.at.sm) };
            for sm in self.env.sms.get_mut(lose).unwrap_or_default() {
                sm.l1.discard(key, mask);
            }
            self.changed(Touched { l1: true, l2: true, others: true, ..Touched::default() }, to.at.sm, Some(key));
        }
        Ok(true)
    }

    fn copy_wrote(&mut self, side: &Side) {
        let Who { launch, block, .. } = side.at.who;
        let Range { start, end } = side.range();
        for at in (start..end).step_by(16) {
            let (offset, len) = (u32::try_from(at).unwrap_or(u32::MAX), u8::try_from((end - at).min(16)).unwrap_or(16));
            self.env.writers.write_shared((launch, block), Piece { offset, len }, AccessId::NONE);
        }
    }

    fn barrier_told<S: Sink>(&mut self, side: &Side, by: AccessId, word: u64, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
        let (who, pc) = (side.at.who, side.at.pc);
        let piece = Piece { offset: u32::try_from(side.address).unwrap_or(u32::MAX), len: 8 };
        if by != AccessId::NONE {
            let writers = self.env.writers.of_shared((who.launch, who.block), piece);
            let (lane, space, address) = (side.lane.into(), AllocKind::Shared, side.address);
            let read = ReadsFrom { pc, lane, access_id: by, space, address, writers: &writers, value: Some(word) };
            cx.sink.event(who, Event::Performed(Performed::Read(read)))?;
        }
        self.env.writers.write_shared((who.launch, who.block), piece, by);
        tell_arrived(&mut self.env.writers, who, cx)
    }
}

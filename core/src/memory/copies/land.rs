//! Copies land: they read, write, and tell barriers (D-async, D-bulk).

use super::copy::{Bulk, Copy, Kind, Part, Source};
use crate::alu::atom;
use crate::alu::mbarrier::{Object, Refused, deed, perform};
use crate::alu::ops::{AtomOp, AtomTy};
use crate::base::mutant::{Mutant, on};
use crate::memory::flat::Arena;
use crate::memory::{Acted, Cx, Fault, Stores, Trouble};
use crate::verdict::{BarrierProblem, BugKind, Event, Look, MemoryStep, Sink, StepEnd, Stop};

/// Why a part of a copy does not land.
enum Wrong {
    /// An impossible case of ours.
    Gone(&'static str),
    /// A defect of the program's.
    Barrier(BarrierProblem),
}

impl Copy {
    /// Reads its sources, which it writes at another time.
    ///
    /// # Errors
    /// Its block is gone.
    pub(super) fn read(&mut self, stores: &mut dyn Stores) -> Acted {
        let (at, lanes) = (self.at, self.lanes());
        let shared = stores.shared(at.who.launch, at.who.block);
        let mut all = self.parts.iter_mut().filter(|part| part.held.is_empty());
        let read = shared.and_then(|shared| {
            all.try_for_each(|part| {
                part.held = slice(shared, part.from, part.taken)?.to_vec();
                Some(())
            })
        });
        let fault = || Fault::Stop(Stop::internal("a bulk copy is in flight from where no shared memory is", None));
        read.ok_or_else(|| Box::new(Trouble { at, lanes, fault: fault() }))
    }

    /// Lands: it is no more in flight.
    ///
    /// # Errors
    /// Its source or its block is gone; there is no barrier; an observer stopped the run.
    pub(super) fn land<S: Sink>(self, arena: &mut Arena, stores: &mut dyn Stores, cx: &mut Cx<'_, S>) -> Acted {
        let (at, who) = (self.at, self.at.who);
        let trouble = |lanes, fault| Box::new(Trouble { at, lanes, fault });
        let gone = |what| trouble(self.lanes(), Fault::Stop(Stop::internal(what, None)));
        let shared = stores.shared(who.launch, who.block);
        let shared = shared.ok_or_else(|| gone("a copy is in flight whose block is gone"))?;
        for part in &self.parts {
            let lane = 1 << part.lane;
            let landed = match self.kind {
                Kind::Small => small(part, arena, shared),
                Kind::Arrival => change(shared, part.to, deed::ARRIVES | 1),
                Kind::Bulk(bulk) => bulky(bulk, part, arena, shared),
            };
            landed.map_err(|wrong| match wrong {
                Wrong::Gone(what) => trouble(lane, Fault::Stop(Stop::internal(what, None))),
                Wrong::Barrier(problem) => trouble(lane, Fault::Bug(BugKind::Barrier(problem), lane)),
            })?;
        }
        if S::ON {
            let look = || MemoryStep::Operation { operation: self.shown(self.accesses()), from: 0, end: StepEnd::Ends };
            let stopped = |stop| trouble(self.lanes(), Fault::Stop(stop));
            cx.sink.event(who, Event::MemoryStep(Look::new(&look))).map_err(stopped)?;
            // Who waits at the barrier is told of it.
            if !self.has_groups(false) && !self.has_groups(true) {
                cx.sink.event(who, Event::Landed { pc: at.pc, lanes: self.lanes() }).map_err(stopped)?;
            }
        }
        Ok(())
    }
}

/// Bytes at an offset in shared memory.
fn slice(shared: &mut [u8], at: u64, bytes: u32) -> Option<&mut [u8]> {
    let at = usize::try_from(at).ok()?;
    shared.get_mut(at..at.checked_add(bytes as usize)?)
}

/// A `cp.async` of a lane.
fn small(part: &Part, arena: &Arena, shared: &mut [u8]) -> Result<(), Wrong> {
    let to = slice(shared, part.to, part.bytes);
    let to = to.ok_or(Wrong::Gone("a copy is in flight to where no shared memory is"))?;
    if !on(Mutant::CopyKeepsRest) {
        to.fill(0);
    }
    if part.taken > 0 {
        let from = arena.bytes_at(part.from, part.taken.into());
        to[..part.taken as usize].copy_from_slice(from.ok_or(Wrong::Gone("a copy is in flight whose source is gone"))?);
    }
    Ok(())
}

/// A bulk copy of a lane.
fn bulky(bulk: Bulk, part: &Part, arena: &mut Arena, shared: &mut [u8]) -> Result<(), Wrong> {
    let from = match bulk.from {
        _ if part.taken == 0 || !part.held.is_empty() => part.held.clone(),
        Source::Registers => Vec::new(),
        Source::Device => arena
            .bytes_at(part.from, part.taken.into())
            .ok_or(Wrong::Gone("a bulk copy is in flight whose source is gone"))?
            .to_vec(),
        Source::Shared => slice(shared, part.from, part.taken)
            .ok_or(Wrong::Gone("a bulk copy is in flight from where no shared memory is"))?
            .to_vec(),
    };
    let to = if bulk.to_device {
        arena.bytes_at_mut(part.to, part.bytes.into())
    } else {
        slice(shared, part.to, part.bytes)
    };
    let to = to.ok_or(Wrong::Gone("a bulk copy is in flight whose destination is gone"))?;
    match bulk.combines {
        Some(how) => combine(how, to, &from),
        None => to.copy_from_slice(&from),
    }
    if bulk.to_device || on(Mutant::BulkTellsNobody) {
        Ok(())
    } else {
        change(shared, part.barrier, deed::COMPLETES | u64::from(part.bytes))
    }
}

/// Elements in memory are combined with others, each by an atomic operation.
fn combine((op, ty): (AtomOp, AtomTy), to: &mut [u8], from: &[u8]) {
    let size = ty.bytes() as usize;
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte));
    for (to, from) in to.chunks_exact_mut(size).zip(from.chunks_exact(size)) {
        let new = atom::apply(op, ty, number(to), number(from), 0);
        to.copy_from_slice(&new.to_le_bytes()[..size]);
    }
}

/// An operation on the barrier at an offset in shared memory.
fn change(shared: &mut [u8], at: u64, request: u64) -> Result<(), Wrong> {
    let none = || Wrong::Barrier(BarrierProblem::NoBarrier { found: 0 });
    let bytes = slice(shared, at, 8).and_then(|bytes| bytes.first_chunk_mut()).ok_or_else(none)?;
    let word = u64::from_le_bytes(*bytes);
    let new = perform(word, request).map_err(|refused| Wrong::Barrier(explained(refused, word, request)))?;
    *bytes = new.to_le_bytes();
    Ok(())
}

/// Why an operation is refused, with its numbers.
pub fn explained(refused: Refused, word: u64, request: u64) -> BarrierProblem {
    let object = Object::of(word);
    let (amount, expects) = (request as u32, request & deed::EXPECTS != 0);
    // What arrives with transactions arrives once.
    let count = if expects { 1 } else { amount };
    match refused {
        Refused::NoBarrier => BarrierProblem::NoBarrier { found: word },
        Refused::Count => BarrierProblem::Count { count: count.into() },
        Refused::Arrivals => BarrierProblem::Arrivals { count, pending: object.map_or(0, |object| object.pending) },
        Refused::Transactions => {
            BarrierProblem::Transactions { count: amount, expects, before: object.map_or(0, |object| object.tx) }
        }
        Refused::Completes => BarrierProblem::Completes { count },
    }
}

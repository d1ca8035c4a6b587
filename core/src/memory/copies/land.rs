//! Copies land: they read, write, and tell barriers (D-async, D-bulk, D-copy-caches).

use super::copy::{Bulk, Copy, Kind, Part, Source};
use super::landing::Landing;
use super::side::{Deed, Place, Side};
use crate::alu::atom;
use crate::alu::mbarrier::{Object, Refused, deed, perform};
use crate::alu::ops::{AtomOp, AtomTy};
use crate::base::LaneMask;
use crate::base::mutant::{Mutant, on};
use crate::memory::{Acted, Cx, Fault, Issuer, Stores, Trouble};
use crate::verdict::{BarrierProblem, BugKind, Event, Look, MemoryStep, Sink, StepEnd, Stop};
use smallvec::SmallVec;

/// Why a part of a copy does not land.
enum Wrong {
    /// An impossible case of ours.
    Gone(&'static str),
    /// A defect of the program's.
    Barrier(BarrierProblem),
    /// An observer stopped the run.
    Stop(Stop),
}

impl From<Stop> for Wrong {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

/// What a part of a copy lands in.
struct Ground<'a, 'c, E, S> {
    engine: &'a mut E,
    shared: &'a mut [u8],
    cx: &'a mut Cx<'c, S>,
}

impl Copy {
    /// What a part of it accesses by its next step, or by all.
    fn sides(&self, part: &Part, by_all: bool) -> SmallVec<[Side; 3]> {
        let side = |place, address, bytes, does| Side { at: self.at, lane: part.lane, place, address, bytes, does };
        let reads = |place| side(place, part.from, part.taken, Deed::Reads);
        let barrier = |address| side(Place::Shared, address, 8, Deed::Updates);
        let mut all: SmallVec<[Side; 3]> = SmallVec::new();
        match self.kind {
            Kind::Small(place) => {
                all.extend([reads(place), side(Place::Shared, part.to, part.bytes, Deed::Writes)]);
            }
            Kind::Arrival => all.push(barrier(part.to)),
            Kind::Bulk(bulk) => {
                let reads_first = self.is_unread() && !by_all;
                all.extend(bulk.from.place().filter(|_| part.held.is_empty()).map(reads));
                all.extend((!reads_first).then(|| side(bulk.to(), part.to, part.bytes, bulk.does())));
                all.extend((!bulk.to_device).then(|| barrier(part.barrier)));
            }
        }
        all.retain(|side| side.bytes > 0);
        all
    }

    /// Behind how many of its warp's operations in flight, of `most`, it has to land.
    pub(super) fn comes_after<E: Landing>(&self, engine: &E, most: u32) -> u32 {
        if !engine.may_keep() || on(Mutant::CopyOvertakes) {
            return 0;
        }
        let sides = self.parts.iter().flat_map(|part| self.sides(part, true));
        sides.map(|side| engine.comes_after(&side, most)).max().unwrap_or(0)
    }

    /// Whether memory keeps some lanes' from their next step.
    pub(super) fn is_kept<E: Landing>(&self, lanes: LaneMask, engine: &E) -> bool {
        let parts = self.parts.iter().filter(|part| lanes >> part.lane & 1 == 1);
        let behind = |side: &Side| self.behind > 0 && engine.comes_after(side, self.behind) > 0;
        parts.flat_map(|part| self.sides(part, false)).any(|side| behind(&side) || engine.is_in_the_way(&side))
    }

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
    pub(super) fn land<E: Landing, S: Sink>(
        self,
        engine: &mut E,
        stores: &mut dyn Stores,
        cx: &mut Cx<'_, S>,
    ) -> Acted {
        let (at, who) = (self.at, self.at.who);
        let trouble = |lanes, fault| Box::new(Trouble { at, lanes, fault });
        let gone = |what| trouble(self.lanes(), Fault::Stop(Stop::internal(what, None)));
        let shared = stores.shared(who.launch, who.block);
        let shared = shared.ok_or_else(|| gone("a copy is in flight whose block is gone"))?;
        let mut ground = Ground { engine, shared, cx };
        for part in &self.parts {
            let lane = 1 << part.lane;
            let landed = match self.kind {
                Kind::Small(place) => ground.small(at, place, part),
                Kind::Arrival => ground.tell(at, part, part.to, deed::ARRIVES | 1),
                Kind::Bulk(bulk) => ground.bulky(at, bulk, part),
            };
            landed.map_err(|wrong| match wrong {
                Wrong::Gone(what) => trouble(lane, Fault::Stop(Stop::internal(what, None))),
                Wrong::Barrier(problem) => trouble(lane, Fault::Bug(BugKind::Barrier(problem), lane)),
                Wrong::Stop(stop) => trouble(lane, Fault::Stop(stop)),
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

impl<E: Landing, S: Sink> Ground<'_, '_, E, S> {
    /// A `cp.async` of a lane.
    fn small(&mut self, at: Issuer, place: Place, part: &Part) -> Result<(), Wrong> {
        let to = slice(self.shared, part.to, part.bytes);
        let to = to.ok_or(Wrong::Gone("a copy is in flight to where no shared memory is"))?;
        if !on(Mutant::CopyKeepsRest) {
            to.fill(0);
        }
        if part.taken > 0 {
            let (address, bytes, does) = (part.from, part.taken, Deed::Reads);
            let from = Side { at, lane: part.lane, place, address, bytes, does };
            if !self.engine.copy_reads(&from, &mut to[..part.taken as usize], self.cx)? {
                return Err(Wrong::Gone("a copy is in flight whose source is gone"));
            }
        }
        self.wrote(at, part);
        Ok(())
    }

    /// A part has written shared memory.
    fn wrote(&mut self, at: Issuer, part: &Part) {
        if S::ON {
            let (address, bytes, does) = (part.to, part.bytes, Deed::Writes);
            self.engine.copy_wrote(&Side { at, lane: part.lane, place: Place::Shared, address, bytes, does });
        }
    }

    /// What a bulk copy of a lane reads.
    fn taken(&mut self, at: Issuer, bulk: Bulk, part: &Part) -> Result<Vec<u8>, Wrong> {
        if part.taken == 0 || !part.held.is_empty() {
            return Ok(part.held.clone());
        }
        match bulk.from {
            Source::Registers => Ok(Vec::new()),
            Source::Device => {
                let (address, bytes, does) = (part.from, part.taken, Deed::Reads);
                let from = Side { at, lane: part.lane, place: Place::Far, address, bytes, does };
                let mut found = vec![0; bytes as usize];
                let there = self.engine.copy_reads(&from, &mut found, self.cx)?;
                there.then_some(found).ok_or(Wrong::Gone("a bulk copy is in flight whose source is gone"))
            }
            Source::Shared => slice(self.shared, part.from, part.taken)
                .map(|from| from.to_vec())
                .ok_or(Wrong::Gone("a bulk copy is in flight from where no shared memory is")),
        }
    }

    /// A bulk copy of a lane.
    fn bulky(&mut self, at: Issuer, bulk: Bulk, part: &Part) -> Result<(), Wrong> {
        let gone = "a bulk copy is in flight whose destination is gone";
        let mut from = self.taken(at, bulk, part)?;
        if !bulk.to_device {
            let to = slice(self.shared, part.to, part.bytes).ok_or(Wrong::Gone(gone))?;
            match bulk.combines {
                Some(how) => combine(how, to, &from),
                None => to.copy_from_slice(&from),
            }
            self.wrote(at, part);
            if on(Mutant::BulkTellsNobody) {
                return Ok(());
            }
            return self.tell(at, part, part.barrier, deed::COMPLETES | u64::from(part.bytes));
        }
        let (address, bytes, does) = (part.to, part.bytes, bulk.does());
        let to = Side { at, lane: part.lane, place: Place::Far, address, bytes, does };
        if let Some(how) = bulk.combines {
            let mut found = vec![0; bytes as usize];
            if !self.engine.copy_reads(&to, &mut found, self.cx)? {
                return Err(Wrong::Gone(gone));
            }
            combine(how, &mut found, &from);
            from = found;
        }
        let there = self.engine.copy_writes(&to, &from, self.cx)?;
        there.then_some(()).ok_or(Wrong::Gone(gone))
    }

    /// An operation on the barrier at an offset in shared memory.
    fn tell(&mut self, at: Issuer, part: &Part, address: u64, request: u64) -> Result<(), Wrong> {
        let none = || Wrong::Barrier(BarrierProblem::NoBarrier { found: 0 });
        let bytes = slice(self.shared, address, 8).and_then(|bytes| bytes.first_chunk_mut()).ok_or_else(none)?;
        let word = u64::from_le_bytes(*bytes);
        let new = perform(word, request).map_err(|refused| Wrong::Barrier(explained(refused, word, request)))?;
        *bytes = new.to_le_bytes();
        if S::ON {
            let (bytes, does) = (8, Deed::Updates);
            let side = Side { at, lane: part.lane, place: Place::Shared, address, bytes, does };
            self.engine.barrier_told(&side, part.access_id, word, self.cx)?;
        }
        Ok(())
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

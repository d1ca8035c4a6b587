//! Accesses of memory: events where others see it, a thread's own business otherwise.

use super::run::{Halt, Thread, gap, hidden};
use super::shadow::{Taint, unite};
use super::tags;
use crate::axiom::{Event, Kind, Place, Sources};
use crate::program::instr::{Instr, MemOp, NO_SLOT, Slot, Space, WarpRequest};
use crate::program::ops::{AtomOp, AtomTy, Class};
use smallvec::SmallVec;

/// A part of an access that goes through one register: where in the access, and how many bytes.
#[derive(Clone, Copy)]
struct Piece {
    slot: Slot,
    offset: u64,
    bytes: u32,
}

/// The pieces of a load or store; an element of 16 bytes has two.
fn pieces(rq: &WarpRequest) -> SmallVec<[Piece; 8]> {
    let (bytes, halves) = if rq.width == 16 { (8, 2) } else { (rq.width.into(), 1) };
    let slots = (0..).zip(rq.regs.iter().take(rq.elems.into())).filter(|(_, slot)| **slot != NO_SLOT);
    let each = |(k, slot): (u64, &Slot)| {
        let (slot, first) = (*slot, k * u64::from(rq.width));
        (0..halves).map(move |half| Piece {
            slot: Slot(slot.0.saturating_add(half)),
            offset: first + 8 * u64::from(half),
            bytes,
        })
    };
    slots.flat_map(each).collect()
}

/// An access that is done.
struct Doing<'a> {
    rq: &'a WarpRequest,
    /// Where: a space that is not generic.
    at: (Space, u64),
    /// What it depends on whether it is done.
    guard: Taint,
    /// What its address depends on.
    addr: Sources,
    pc: u32,
}

impl Doing<'_> {
    fn at(&self, offset: u64) -> (Space, u64) {
        (self.at.0, self.at.1 + offset)
    }
}

impl Thread<'_, '_, '_, '_, '_> {
    /// `ld`, `st`, `atom`, `red`.
    pub fn access(&mut self, pc: u32, i: &Instr) -> Result<(), Halt> {
        let Some(rq) = self.kernel.env().request(i) else { return self.step() };
        let Some(guard) = self.guard(i)? else { return self.left_out(i, &rq) };
        self.need(rq.address_class(), rq.addr)?;
        let addr = self.shadow.of(rq.address_class(), rq.addr).from;
        let at = self.on.place(&rq)?;
        let doing = Doing { rq: &rq, at, guard, addr, pc };
        if !matches!(at.0, Space::Global | Space::Shared) {
            return self.own(i, &doing);
        }
        if rq.width == 16 {
            return Err(gap("an access of 128 bits that is no vector"));
        }
        let whole = self.bytes_of(&doing, 0, rq.bytes())?;
        if self.shown.hides(whole.location) {
            self.left.extend(self.places(&doing)?);
            return self.hidden(i, &doing, whole.location);
        }
        match rq.op {
            MemOp::Load => self.load(i, &doing),
            MemOp::Store => self.store(&doing),
            MemOp::Atom(op, ty) | MemOp::Red(op, ty) => self.atomic(i, &doing, (op, ty)),
        }
    }

    /// A guard keeps an access from being done: what it would have loaded still depends on that.
    fn left_out(&mut self, i: &Instr, rq: &WarpRequest) -> Result<(), Halt> {
        let slots: SmallVec<[Slot; 8]> = match rq.op {
            MemOp::Load => pieces(rq).iter().map(|piece| piece.slot).collect(),
            MemOp::Atom(..) => SmallVec::from_slice(&[rq.regs[0]]),
            MemOp::Store | MemOp::Red(..) => SmallVec::new(),
        };
        for slot in slots {
            let before = self.shadow.of(rq.class(), slot);
            self.loaded(i, rq.class(), slot, before);
        }
        self.skip()
    }

    /// A register was loaded; under a guard it depends on that, and on what was there before.
    fn loaded(&mut self, i: &Instr, class: Class, slot: Slot, mut value: Taint) {
        if slot == NO_SLOT {
            return;
        }
        if let Some(guard) = i.guard {
            let on = self.shadow.of(Class::P, guard.pred).from;
            if !on.is_empty() {
                unite(&mut value.from, &on);
                unite(&mut value.from, &self.shadow.of(class, slot).from);
            }
        }
        self.shadow.set(class, slot, value);
    }

    /// Local memory, parameters and constants.
    fn own(&mut self, i: &Instr, doing: &Doing<'_>) -> Result<(), Halt> {
        let Doing { rq, at: (space, at), ref addr, .. } = *doing;
        let class = rq.class();
        let mut found: SmallVec<[(Slot, Taint); 8]> = SmallVec::new();
        self.visits.stores += u32::from(!matches!(rq.op, MemOp::Load));
        match rq.op {
            MemOp::Load => {
                for Piece { slot, offset, bytes } in pieces(rq) {
                    let mut taint = Taint::default();
                    if space == Space::Local {
                        taint = self.shadow.local(at + offset, bytes);
                    }
                    unite(&mut taint.from, addr);
                    found.push((slot, taint));
                }
            }
            MemOp::Store => {
                for Piece { slot, offset, bytes } in pieces(rq) {
                    let mut taint = self.shadow.of(class, slot);
                    unite(&mut taint.from, addr);
                    self.shadow.set_local(at + offset, bytes, &taint);
                }
            }
            MemOp::Atom(..) | MemOp::Red(..) => {
                let mut all = self.shadow.local(at, rq.bytes());
                found.push((rq.regs[0], all.clone()));
                for slot in rq.regs[1..3].iter().filter(|slot| **slot != NO_SLOT) {
                    all.join(&self.shadow.of(class, *slot));
                }
                unite(&mut all.from, addr);
                self.shadow.set_local(at, rq.bytes(), &all);
                found.retain(|_| matches!(rq.op, MemOp::Atom(..)));
            }
        }
        self.step()?;
        found.into_iter().for_each(|(slot, taint)| self.loaded(i, class, slot, taint));
        Ok(())
    }

    /// The places of an access, one for each of its elements.
    fn places(&self, doing: &Doing<'_>) -> Result<Vec<Place>, Halt> {
        let rq = doing.rq;
        match rq.op {
            MemOp::Load | MemOp::Store => pieces(rq).iter().map(|p| self.bytes_of(doing, p.offset, p.bytes)).collect(),
            MemOp::Atom(..) | MemOp::Red(..) => Ok(vec![self.bytes_of(doing, 0, rq.bytes())?]),
        }
    }

    /// An access of a location that is left out: what it loads is not known.
    fn hidden(&mut self, i: &Instr, doing: &Doing<'_>, location: u32) -> Result<(), Halt> {
        self.step()?;
        let slots: SmallVec<[Slot; 8]> = match doing.rq.op {
            MemOp::Load => pieces(doing.rq).iter().map(|piece| piece.slot).collect(),
            MemOp::Atom(..) => SmallVec::from_slice(&[doing.rq.regs[0]]),
            MemOp::Store | MemOp::Red(..) => SmallVec::new(),
        };
        for slot in slots {
            self.loaded(i, doing.rq.class(), slot, Taint::read(hidden(location), false));
        }
        Ok(())
    }

    /// The place of some bytes of an access.
    fn bytes_of(&self, doing: &Doing<'_>, offset: u64, bytes: u32) -> Result<Place, Halt> {
        let found = self.kernel.place_at(self.block, doing.at(offset), bytes);
        found.ok_or_else(|| gap("memory of more than 4 GB"))
    }

    /// What a read finds that comes so many positions behind the next one, if it is known.
    fn given(&self, ahead: usize) -> Option<u64> {
        self.known.reads.get(self.events.len() + ahead).copied().flatten()
    }

    /// A read or a write of some bytes.
    fn accesses(
        &mut self,
        kind: Kind,
        doing: &Doing<'_>,
        part: (u64, u32),
        value: Option<u64>,
    ) -> Result<&mut Event, Halt> {
        let place = self.bytes_of(doing, part.0, part.1)?;
        let tags = tags::access(kind == Kind::Write, doing.rq.order, doing.rq.scope);
        let event = self.event(kind, tags, &doing.guard, doing.pc);
        (event.place, event.value) = (Some(place), value);
        event.addr.clone_from(&doing.addr);
        Ok(event)
    }

    fn load(&mut self, i: &Instr, doing: &Doing<'_>) -> Result<(), Halt> {
        let mut found: SmallVec<[(Slot, Taint); 8]> = SmallVec::new();
        for Piece { slot, offset, bytes } in pieces(doing.rq) {
            let (value, at) = (self.given(0), self.position());
            if let Some(value) = value {
                self.on.put(doing.at(offset), bytes, value);
            }
            self.accesses(Kind::Read, doing, (offset, bytes), value)?;
            found.push((slot, Taint::read(at, value.is_some())));
        }
        self.step()?;
        found.into_iter().for_each(|(slot, taint)| self.loaded(i, doing.rq.class(), slot, taint));
        Ok(())
    }

    fn store(&mut self, doing: &Doing<'_>) -> Result<(), Halt> {
        self.step()?;
        for Piece { slot, offset, bytes } in pieces(doing.rq) {
            let data = self.shadow.of(doing.rq.class(), slot);
            let value = (!data.unknown).then(|| self.on.get(doing.at(offset), bytes));
            self.accesses(Kind::Write, doing, (offset, bytes), value)?.data = data.from;
        }
        Ok(())
    }

    /// `atom` and `red`: a read and a write that are one. Operations on pairs of halves are two (PTX ISA, `atom`).
    fn atomic(&mut self, i: &Instr, doing: &Doing<'_>, (op, ty): (AtomOp, AtomTy)) -> Result<(), Halt> {
        let rq = doing.rq;
        if rq.elems > 1 {
            return Err(gap("a vector of atomic operations"));
        }
        let (class, [d, b, c]) = (rq.class(), rq.atomic_slots(0));
        let parts: u32 = if matches!(ty, AtomTy::F16x2 | AtomTy::Bf16x2) { 2 } else { 1 };
        let (bytes, first) = (ty.bytes() / parts, self.position());
        let mut read = Taint::default();
        let mut given: SmallVec<[Option<u64>; 2]> = SmallVec::new();
        for k in 0..parts {
            let value = self.given(2 * k as usize);
            if let Some(value) = value {
                self.on.put(doing.at((k * bytes).into()), bytes, value);
            }
            read.join(&Taint::read(first + 2 * k, value.is_some()));
            given.push(value);
        }
        let mut write = Written { source: self.shadow.of(class, b), value: None, on: Sources::new(), done: true };
        if op == AtomOp::Cas {
            // It is there before it is decided what the read makes of it.
            self.accesses(Kind::Read, doing, (0, bytes), given[0])?.tags |= tags::RMW;
            write.done = self.succeeds(doing, bytes, &mut read, (class, b))?;
            write.on.clone_from(&read.from);
            unite(&mut write.on, &write.source.from);
            write.source = self.shadow.of(class, c);
            write.value = self.value(class, c).map(|value| low(value, bytes));
        }
        self.step()?;
        for (k, value) in (0..parts).zip(given) {
            let (at, part) = (first + 2 * k, (u64::from(k * bytes), bytes));
            if op != AtomOp::Cas {
                self.accesses(Kind::Read, doing, part, value)?.tags |= tags::RMW;
            }
            if !write.done {
                continue;
            }
            let mut data = write.source.clone();
            if !matches!(op, AtomOp::Exch | AtomOp::Cas) {
                data.join(&Taint::read(at, value.is_some()));
            }
            let stored = write.value.or_else(|| Some(self.on.get(doing.at(part.0), bytes)));
            let event = self.accesses(Kind::Write, doing, part, stored.filter(|_| !data.unknown))?;
            event.tags |= tags::RMW;
            (event.rmw, event.data) = (Some(at), data.from);
            unite(&mut event.ctrl, &write.on);
        }
        if matches!(rq.op, MemOp::Atom(..)) {
            self.loaded(i, class, d, read);
        }
        Ok(())
    }

    /// Whether a `cas` finds what it compares with: otherwise it writes nothing. One that succeeds has read what it compares with.
    fn succeeds(
        &mut self,
        doing: &Doing<'_>,
        bytes: u32,
        read: &mut Taint,
        (class, b): (Class, Slot),
    ) -> Result<bool, Halt> {
        let compared = self.value(class, b).map(|value| low(value, bytes));
        let mut on = self.shadow.of(class, b);
        on.join(read);
        let found = compared.filter(|_| !read.unknown).map(|value| u64::from(value == self.on.get(doing.at, bytes)));
        let done = self.decide(&on.from, found, &[1, 0], false)? == 1;
        if let (true, true, Some(compared)) = (done, read.unknown, compared) {
            self.on.put(doing.at, bytes, compared);
            read.unknown = false;
        }
        Ok(done)
    }
}

/// What an atomic operation writes.
struct Written {
    /// What the value depends on, besides what was read.
    source: Taint,
    /// The value, where the instruction's own may be made of what is not known.
    value: Option<u64>,
    /// What it depends on whether it is written.
    on: Sources,
    /// Whether it is.
    done: bool,
}

/// The low bytes of a number.
const fn low(value: u64, bytes: u32) -> u64 {
    value & u64::MAX >> (64 - 8 * bytes)
}

//! Every memory action but the plain 32-bit ones: all spaces, widths, vectors, generic addresses and atomics.

use super::Arena;
use super::place::{addresses, bounds, fault, lane_address, locate, stack};
use crate::alu::atom;
use crate::base::{Frame, LANES, LaneMask, lanes_of, number};
use crate::memory::{Cx, Fault, Hint, Issuer, Near, Taken};
use crate::program::instr::{MemOp, NO_SLOT, Slot, Space, WarpRequest};
use crate::program::ops::{AtomOp, AtomTy};
use crate::verdict::{Access, AccessId, Contents, Event, Sink, Stride};
use std::cell::Cell;

/// Carries out a request at once, lanes in ascending order. The observer has been told.
#[inline(never)]
pub(in crate::memory) fn carry_out(
    arena: &mut Arena,
    mask: LaneMask,
    rq: &WarpRequest,
    regs: &mut Frame,
    near: &mut Near<'_>,
    hint: &mut Hint,
) -> Taken {
    if rq.space == Space::Local && same_row(rq, mask, regs, near) {
        return Ok(());
    }
    let addresses = addresses(rq, regs);
    if words(arena, mask, rq, &addresses, regs, near, hint) {
        return Ok(());
    }
    for lane in lanes_of(mask) {
        let Some(place) = locate(arena, rq, (addresses[lane], stack(regs, lane)), near, hint) else {
            return Err(fault(arena, mask, rq, regs, near));
        };
        match rq.op {
            MemOp::Load => load(arena, near, rq, lane, place, regs),
            MemOp::Store => store(arena, near, rq, lane, place, regs),
            MemOp::Atom(op, ty) | MemOp::Red(op, ty) => atomic(arena, near, rq, (op, ty), (lane, place), regs),
        }
    }
    Ok(())
}

/// Local accesses of one offset by all lanes, 4 or 8 bytes at a time: whole rows.
fn same_row(rq: &WarpRequest, mask: LaneMask, regs: &mut Frame, near: &mut Near<'_>) -> bool {
    let lead = lanes_of(mask).next().unwrap_or(0);
    let first = lane_address(rq, regs, lead);
    let end = first.saturating_add(rq.bytes().into());
    let (from, size) = bounds(near, Space::Local, stack(regs, lead));
    let plain = matches!(rq.op, MemOp::Load | MemOp::Store) && rq.width == 4 && !rq.wide;
    if !plain || !first.is_multiple_of(4) || first < from || end > from + size || !alike(rq, mask, regs, lead) {
        return false;
    }
    for (k, slot) in rq.regs.iter().take(rq.elems.into()).enumerate().filter(|(_, s)| **s != NO_SLOT) {
        let Some(row) = near.local.row_mut(first + 4 * k as u64) else { return false };
        let reg = &mut regs.w[slot.index()];
        let (to, from) = if rq.op == MemOp::Load { (&mut reg.0, &row.0) } else { (&mut row.0, &reg.0) };
        for lane in lanes_of(mask) {
            to[lane] = from[lane];
        }
    }
    true
}

/// Whether all lanes have one address.
fn alike(rq: &WarpRequest, mask: LaneMask, regs: &Frame, lead: usize) -> bool {
    if rq.addr_wide {
        let values = &regs.q[rq.addr.index()].0;
        return lanes_of(mask).all(|l| values[l] == values[lead]);
    }
    let values = &regs.w[rq.addr.index()].0;
    lanes_of(mask).all(|l| values[l] == values[lead])
}

/// The commonest atomics — 32-bit integers in global or shared memory — with the operation decided once. False when it is
/// none of those or an address is wrong: nothing has been done then.
fn words(
    arena: &mut Arena,
    mask: LaneMask,
    rq: &WarpRequest,
    addresses: &[u64; LANES],
    regs: &mut Frame,
    near: &mut Near<'_>,
    hint: &mut Hint,
) -> bool {
    let (MemOp::Atom(op, ty) | MemOp::Red(op, ty), Space::Global | Space::Shared) = (rq.op, rq.space) else {
        return false;
    };
    let integer = matches!(ty, AtomTy::B32 | AtomTy::U32 | AtomTy::S32);
    if !integer || rq.elems != 1 || rq.wide || rq.regs[1] == NO_SLOT {
        return false;
    }
    let signed = ty == AtomTy::S32;
    // All lanes are checked before the first one writes.
    let (mut low, mut high, mut all) = (u64::MAX, 0, 0);
    for l in lanes_of(mask) {
        let a = addresses[l & (LANES - 1)];
        low = low.min(a);
        high = high.max(a);
        all |= a;
    }
    let Some(len) = (high - low).checked_add(4).filter(|_| all.is_multiple_of(4)) else { return false };
    let (bytes, first): (&mut [u8], usize) = if rq.space == Space::Global {
        let Some(first) = arena.index(hint, low, len, Hint::WRITE) else { return false };
        (&mut arena.bytes, first)
    } else {
        let (first, size) = bounds(near, Space::Shared, 0);
        let inside = low.wrapping_sub(first);
        if inside >= size || len > size - inside {
            return false;
        }
        (near.shared, low as usize)
    };
    let Some(bytes) = bytes.get_mut(first..).and_then(|b| b.get_mut(..len as usize)) else { return false };
    let [d, b, c, ..] = rq.regs;
    let c = if c == NO_SLOT { b } else { c };
    let returns = matches!(rq.op, MemOp::Atom(..)) && d != NO_SLOT;
    let (operand, other) = (&regs.w[b.index()].0, &regs.w[c.index()].0);
    let words = Words { bytes, low, mask, addresses, operand, other };
    let olds = match (op, signed) {
        (AtomOp::Add, _) => words.each(|old, b, _| old.wrapping_add(b)),
        (AtomOp::And, _) => words.each(|old, b, _| old & b),
        (AtomOp::Or, _) => words.each(|old, b, _| old | b),
        (AtomOp::Xor, _) => words.each(|old, b, _| old ^ b),
        (AtomOp::Exch, _) => words.each(|_, b, _| b),
        (AtomOp::Cas, _) => words.each(|old, b, c| if old == b { c } else { old }),
        (AtomOp::Min, false) => words.each(|old, b, _| old.min(b)),
        (AtomOp::Max, false) => words.each(|old, b, _| old.max(b)),
        _ => return false,
    };
    if returns {
        let to = &mut regs.w[d.index()].0;
        lanes_of(mask).for_each(|l| to[l] = olds[l]);
    }
    true
}

/// The words that lanes operate on, and with what.
struct Words<'a> {
    /// All of them, checked.
    bytes: &'a mut [u8],
    /// The lowest address.
    low: u64,
    mask: LaneMask,
    addresses: &'a [u64; LANES],
    operand: &'a [u32; LANES],
    other: &'a [u32; LANES],
}

impl Words<'_> {
    /// Operates lane by lane, in ascending order; gives what the lanes found.
    #[inline(always)]
    fn each(self, f: impl Fn(u32, u32, u32) -> u32) -> [u32; LANES] {
        let Self { bytes, low, mask, addresses, operand, other } = self;
        let mut olds = [0; LANES];
        for l in lanes_of(mask).map(|l| l & (LANES - 1)) {
            let place = addresses[l].wrapping_sub(low) as usize;
            // They were checked before the first one writes.
            if let Some(word) = bytes.get_mut(place..).and_then(|b| b.first_chunk_mut::<4>()) {
                olds[l] = u32::from_le_bytes(*word);
                *word = f(olds[l], operand[l], other[l]).to_le_bytes();
            }
        }
        olds
    }
}

/// What [`locate`] gives.
type Place = (Space, usize);

/// Bytes of an access: how far they are from its place, and how many.
type Bytes = (usize, u32);

/// Reads so many bytes at an offset from a lane's place.
fn read(arena: &Arena, near: &Near<'_>, lane: usize, (space, first): Place, (at, width): Bytes) -> u64 {
    let (w, at) = (width as usize, first + at);
    match space {
        Space::Shared => near.shared.get(at..at + w).map_or(0, number),
        Space::Local => near.local.read(lane, at as u64, width),
        Space::Param => near.param.get(at..at + w).map_or(0, number),
        Space::Global | Space::Const | Space::Generic => match (w, arena.part(at..at + w)) {
            (4, Some(b)) => b.first_chunk().map_or(0, |c| u32::from_le_bytes(*c).into()),
            (8, Some(b)) => b.first_chunk().map_or(0, |c| u64::from_le_bytes(*c)),
            (_, b) => b.map_or(0, number),
        },
    }
}

/// Writes them.
fn write(arena: &mut Arena, near: &mut Near<'_>, lane: usize, (space, first): Place, (at, width): Bytes, value: u64) {
    let (w, at) = (width as usize, first + at);
    let put = |bytes: Option<&mut [u8]>| {
        if let Some(b) = bytes {
            b.copy_from_slice(&value.to_le_bytes()[..w]);
        }
    };
    match space {
        Space::Shared => put(near.shared.get_mut(at..at + w)),
        Space::Local => near.local.write(lane, at as u64, width, value),
        Space::Param => {}
        Space::Global | Space::Const | Space::Generic => put(arena.part_mut(at..at + w)),
    }
}

fn load(arena: &Arena, near: &Near<'_>, rq: &WarpRequest, lane: usize, place: Place, regs: &mut Frame) {
    let width = u32::from(rq.width).min(8);
    for (k, slot) in rq.regs.iter().take(rq.elems.into()).enumerate().filter(|(_, s)| **s != NO_SLOT) {
        let value = read(arena, near, lane, place, (k * usize::from(rq.width), width));
        if rq.width == 16 {
            let high = read(arena, near, lane, place, (k * 16 + 8, 8));
            regs.q[slot.index()].0[lane] = value;
            regs.q[slot.index() + 1].0[lane] = high;
            continue;
        }
        let value = if rq.signed { extend(value, width * 8, rq.ext) } else { value };
        set(regs, rq.wide, *slot, lane, value);
    }
}

/// Sign-extends the low `bits` of a value to `to` bits.
pub(in crate::memory) fn extend(value: u64, bits: u32, to: u8) -> u64 {
    let unused = 64 - bits;
    let wide = ((value << unused).cast_signed() >> unused).cast_unsigned();
    if to >= 64 { wide } else { wide & ((1 << to) - 1) }
}

fn store(arena: &mut Arena, near: &mut Near<'_>, rq: &WarpRequest, lane: usize, place: Place, regs: &Frame) {
    let width = u32::from(rq.width).min(8);
    for (k, slot) in rq.regs.iter().take(rq.elems.into()).enumerate().filter(|(_, s)| **s != NO_SLOT) {
        let value = get(regs, rq.wide, *slot, lane);
        write(arena, near, lane, place, (k * usize::from(rq.width), width), value);
        if rq.width == 16 {
            write(arena, near, lane, place, (k * 16 + 8, 8), regs.q[slot.index() + 1].0[lane]);
        }
    }
}

fn get(regs: &Frame, wide: bool, slot: Slot, lane: usize) -> u64 {
    if wide { regs.q[slot.index()].0[lane] } else { regs.w[slot.index()].0[lane].into() }
}

fn set(regs: &mut Frame, wide: bool, slot: Slot, lane: usize, value: u64) {
    if wide {
        regs.q[slot.index()].0[lane] = value;
    } else {
        regs.w[slot.index()].0[lane] = value as u32;
    }
}

/// One lane's atomic operation: read, apply, write.
fn atomic(
    arena: &mut Arena,
    near: &mut Near<'_>,
    rq: &WarpRequest,
    (op, ty): (AtomOp, AtomTy),
    (lane, place): (usize, Place),
    regs: &mut Frame,
) {
    if ty == AtomTy::B128 {
        let [d, b, c, ..] = rq.regs;
        let pair = |slot: Slot| (regs.q[slot.index()].0[lane], regs.q[slot.index() + 1].0[lane]);
        let old = (read(arena, near, lane, place, (0, 8)), read(arena, near, lane, place, (8, 8)));
        let new = match op {
            AtomOp::Cas if old != pair(b) => old,
            AtomOp::Cas => pair(c),
            _ => pair(b),
        };
        write(arena, near, lane, place, (0, 8), new.0);
        write(arena, near, lane, place, (8, 8), new.1);
        if d != NO_SLOT {
            regs.q[d.index()].0[lane] = old.0;
            regs.q[d.index() + 1].0[lane] = old.1;
        }
        return;
    }
    let width = ty.bytes();
    let returns = matches!(rq.op, MemOp::Atom(..));
    // A vector's elements are atomic one by one.
    for k in 0..usize::from(rq.elems.max(1)) {
        let [d, b, c] = rq.atomic_slots(k);
        let operand = |slot: Slot| if slot == NO_SLOT { 0 } else { get(regs, rq.wide, slot, lane) };
        let at = (k * width as usize, width);
        let old = read(arena, near, lane, place, at);
        let new = atom::apply(op, ty, old, operand(b), operand(c));
        write(arena, near, lane, place, at, new);
        if returns && d != NO_SLOT {
            set(regs, rq.wide, d, lane, old);
        }
    }
}

/// What an observer is told of a request beside the request itself.
pub(in crate::memory) struct Told<'a> {
    pub memory: Contents<'a>,
    /// See [`Access::together`].
    pub together: LaneMask,
    /// See [`Access::element`].
    pub element: u8,
    /// See [`Access::access_id`].
    pub access_id: Option<&'a Cell<AccessId>>,
}

/// Tells the observer of an access. Out of line, and by reference, so that the way of an access that it need not hear of
/// stays short.
#[inline(never)]
pub(super) fn hand_on<S: Sink>(at: Issuer, access: &Access<'_>, cx: &mut Cx<'_, S>) -> Taken {
    cx.sink.event(at.who, Event::Access(access)).map_err(|stop| Box::new(Fault::Stop(stop)))
}

/// Tells the observer of a request.
pub(in crate::memory) fn tell<S: Sink>(
    told: Told<'_>,
    at: Issuer,
    mask: LaneMask,
    rq: &WarpRequest,
    regs: &Frame,
    near: &Near<'_>,
    cx: &mut Cx<'_, S>,
) -> Taken {
    let (bytes, kind, window) = (rq.bytes(), rq.op.kind(), near.map.window_of(rq.space));
    let addresses = addresses(rq, regs).map(|x| x.wrapping_add(window));
    let strides = [Stride::Mixed; 2];
    let (quiet, Told { memory, together, element, access_id }) = (cx.sink.quiet(at.pc), told);
    // Where memory acts later, each access has a name.
    if quiet.bytes != 0 && !memory.later && quiet.outside((&addresses, strides, bytes), mask) == 0 {
        return Ok(());
    }
    let (pc, lanes, addresses) = (at.pc, mask, &addresses);
    let access = Access { pc, lanes, together, element, kind, addresses, strides, bytes, regs, memory, access_id };
    hand_on(at, &access, cx)
}

/// Tells the observer of an access by lanes that is about to be taken in, whole.
pub(in crate::memory) fn tell_of<S: Sink>(
    arena: &Arena,
    (at, mask): (Issuer, LaneMask),
    rq: &WarpRequest,
    regs: &Frame,
    near: &Near<'_>,
    cx: &mut Cx<'_, S>,
) -> Taken {
    let told = Told { memory: arena.contents(near), together: mask, element: 0, access_id: None };
    tell(told, at, mask, rq, regs, near, cx)
}

//! Every memory action but the plain 32-bit ones: all spaces, widths, vectors, generic addresses and atomics.

use super::Arena;
use super::plain::{beyond, shared_fault, shared_of};
use crate::alu::atom;
use crate::base::{Frame, LANES, LaneMask, lanes_of, number};
use crate::memory::{Active, Cx, Fault, Hint, Issuer, Near};
use crate::program::instr::{MemOp, NO_SLOT, STACK_BASE, Slot, Space, WarpRequest};
use crate::program::ops::{AtomOp, AtomTy};
use crate::verdict::{Access, AccessId, AccessKind, AllocKind, BugKind, Contents, Event, Sink, Stride};
use std::cell::Cell;

/// Where an address points, once its space is known.
#[derive(Clone, Copy)]
enum Target {
    /// Index in the bytes of device memory.
    Device(usize),
    /// Offset in shared memory.
    Shared(usize),
    /// Offset in the thread's local memory.
    Local(u64),
    /// Offset in the parameter area.
    Param(usize),
}

/// Where a lane's checked access leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::memory) enum Place {
    /// An address of global memory.
    Global(u64),
    /// An address of constant memory.
    Const(u64),
    /// An offset in the block's shared memory.
    Shared(u64),
    /// An offset in the thread's local memory.
    Local(u64),
    /// An offset in the parameter area.
    Param(u64),
}

/// Checks a request and tells the observer of it, without carrying it out: where each lane of `on` leads, and what the
/// observer calls it.
///
/// # Errors
/// As for a request that is carried out.
pub(in crate::memory) fn check<S: Sink>(
    arena: &Arena,
    at: Issuer,
    mask: LaneMask,
    rq: &WarpRequest,
    regs: &Frame,
    near: &Near<'_>,
    cx: &mut Cx<'_, S>,
) -> Result<([Place; LANES], AccessId), Box<Fault>> {
    let access_id = Cell::new(AccessId::NONE);
    if S::ON {
        let memory = Contents { later: true, ..arena.contents(near) };
        tell(Told { memory, together: mask, element: 0, access_id: Some(&access_id) }, at, mask, rq, regs, near, cx)?;
    }
    Ok((places(arena, at, mask, rq, regs, near, cx)?, access_id.get()))
}

/// The same without telling the observer.
///
/// # Errors
/// As for a request that is carried out.
pub(in crate::memory) fn places<S>(
    arena: &Arena,
    at: Issuer,
    mask: LaneMask,
    rq: &WarpRequest,
    regs: &Frame,
    near: &Near<'_>,
    cx: &mut Cx<'_, S>,
) -> Result<[Place; LANES], Box<Fault>> {
    let addresses = addresses(rq, regs);
    let bytes = u32::from(rq.width) * u32::from(rq.elems);
    let mut places = [Place::Global(0); LANES];
    for lane in lanes_of(mask) {
        let Some(target) = locate(arena, at, rq, addresses[lane], stack(regs, lane), bytes, near, cx) else {
            return Err(fault(arena, mask, rq, bytes, &addresses, regs, near));
        };
        let (space, address) = resolve(rq.space, addresses[lane], near);
        let constant = || arena.kind_of(address) == Some(AllocKind::Const);
        places[lane] = match target {
            Target::Shared(o) => Place::Shared(o as u64),
            Target::Local(o) => Place::Local(o),
            Target::Param(o) => Place::Param(o as u64),
            Target::Device(_) if space == Space::Const || space == Space::Generic && constant() => {
                Place::Const(address)
            }
            Target::Device(_) => Place::Global(address),
        };
    }
    Ok(places)
}

/// Carries out a request at once, lanes in ascending order.
#[inline(never)]
pub(super) fn issue<S: Sink>(
    arena: &mut Arena,
    at: Issuer,
    on: Active<'_>,
    rq: &WarpRequest,
    regs: &mut Frame,
    near: &mut Near<'_>,
    cx: &mut Cx<'_, S>,
) -> Result<(), Box<Fault>> {
    let addresses = addresses(rq, regs);
    let bytes = u32::from(rq.width) * u32::from(rq.elems);
    if S::ON {
        let told = Told { memory: arena.contents(near), together: on.mask, element: 0, access_id: None };
        tell(told, at, on.mask, rq, regs, near, cx)?;
    }
    if rq.space == Space::Local && same_row(rq, on.mask, &addresses, regs, near) {
        return Ok(());
    }
    if let (MemOp::Atom(op, ty) | MemOp::Red(op, ty), Space::Global | Space::Shared) = (rq.op, rq.space)
        && words(arena, at, on.mask, rq, op, ty, &addresses, regs, near, cx)
    {
        return Ok(());
    }
    for lane in lanes_of(on.mask) {
        let address = addresses[lane];
        let Some(target) = locate(arena, at, rq, address, stack(regs, lane), bytes, near, cx) else {
            return Err(fault(arena, on.mask, rq, bytes, &addresses, regs, near));
        };
        match rq.op {
            MemOp::Load => load(arena, near, rq, lane, target, regs),
            MemOp::Store => store(arena, near, rq, lane, target, regs),
            MemOp::Atom(op, ty) => atomic(arena, near, rq, op, ty, lane, target, regs),
            MemOp::Red(op, ty) => atomic(arena, near, rq, op, ty, lane, target, regs),
        }
    }
    Ok(())
}

/// Each lane's address in the request's space.
fn addresses(rq: &WarpRequest, regs: &Frame) -> [u64; LANES] {
    let mut addresses = [0; LANES];
    if rq.addr_wide {
        let values = &regs.q[rq.addr.index()].0;
        for (k, address) in addresses.iter_mut().enumerate() {
            *address = values[k].wrapping_add(rq.offset.cast_unsigned());
        }
    } else {
        // A 32-bit address wraps in its space.
        let values = &regs.w[rq.addr.index()].0;
        for (k, address) in addresses.iter_mut().enumerate() {
            *address = values[k].wrapping_add(rq.offset as u32).into();
        }
    }
    addresses
}

/// Local accesses of one offset by all lanes, 4 or 8 bytes at a time: whole rows.
fn same_row(rq: &WarpRequest, mask: LaneMask, addresses: &[u64; LANES], regs: &mut Frame, near: &mut Near<'_>) -> bool {
    let lead = lanes_of(mask).next().unwrap_or(0);
    let first = addresses[lead];
    let end = first.saturating_add(u64::from(rq.width) * u64::from(rq.elems));
    let (from, size) = bounds(near, AllocKind::Local, near.local.extent().into(), stack(regs, lead));
    let plain = matches!(rq.op, MemOp::Load | MemOp::Store) && rq.width == 4 && !rq.wide;
    if !plain
        || !first.is_multiple_of(4)
        || first < from
        || end > from + size
        || lanes_of(mask).any(|l| addresses[l] != first)
    {
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

/// The commonest atomics — 32-bit integers in global or shared memory — with the operation decided once. False when it is
/// none of those or an address is wrong: nothing has been done then.
#[expect(clippy::too_many_arguments, reason = "the memories and the registers are separate borrows")]
fn words<S>(
    arena: &mut Arena,
    at: Issuer,
    mask: LaneMask,
    rq: &WarpRequest,
    op: AtomOp,
    ty: AtomTy,
    addresses: &[u64; LANES],
    regs: &mut Frame,
    near: &mut Near<'_>,
    cx: &mut Cx<'_, S>,
) -> bool {
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
        let Some(first) = arena.index(&mut cx.hints, at.pc, low, len, Hint::WRITE) else { return false };
        (&mut arena.bytes, first)
    } else {
        let (first, size) = shared_of(near);
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

/// Where the bytes of a memory of `size` begin that an instruction may access, and how many there are: those of the variable
/// that its address was made from, where the code says so. `stack` is where the lane's stack frame begins.
#[inline(always)]
fn bounds(near: &Near<'_>, kind: AllocKind, size: u64, stack: u32) -> (u64, u64) {
    match near.root.object() {
        Some(own) if own.kind == kind => own.within(size, stack),
        _ => (0, size),
    }
}

/// Where a lane's stack frame begins in its local memory.
fn stack(regs: &Frame, lane: usize) -> u32 {
    regs.w.get(STACK_BASE.index()).map_or(0, |base| base.0[lane])
}

/// Where a lane's access goes; `None` when it is wrong.
#[inline]
#[expect(clippy::too_many_arguments, reason = "the memories and the registers are separate borrows")]
fn locate<S>(
    arena: &Arena,
    at: Issuer,
    rq: &WarpRequest,
    address: u64,
    stack: u32,
    bytes: u32,
    near: &Near<'_>,
    cx: &mut Cx<'_, S>,
) -> Option<Target> {
    // Alignment is to the whole access: PTX ISA, "Addresses as Operands".
    if !address.is_multiple_of(u64::from(bytes.next_power_of_two())) {
        return None;
    }
    let (space, address) = resolve(rq.space, address, near);
    let len = u64::from(bytes);
    let inside = |kind, size: u64| {
        let (first, size) = bounds(near, kind, size, stack);
        let at = address.wrapping_sub(first);
        at < size && len <= size - at
    };
    let write = rq.op != MemOp::Load;
    match space {
        Space::Global | Space::Const | Space::Generic => {
            let need = if write { Hint::WRITE } else { Hint::READ };
            let first = if space == Space::Const { Hint::CONST } else { need };
            // A generic load may read constant memory as well.
            let mut index = |need| arena.index(&mut cx.hints, at.pc, address, len, need);
            let generic = space == Space::Generic && !write;
            index(first).or_else(|| if generic { index(Hint::CONST) } else { None }).map(Target::Device)
        }
        Space::Shared => {
            inside(AllocKind::Shared, near.shared.len() as u64).then_some(Target::Shared(address as usize))
        }
        Space::Local => inside(AllocKind::Local, near.local.extent().into()).then_some(Target::Local(address)),
        Space::Param => {
            (!write && inside(AllocKind::Param, near.param.len() as u64)).then_some(Target::Param(address as usize))
        }
    }
}

/// Generic addresses belong to a window, or else to global memory (PTX ISA 6.4.1.1).
fn resolve(space: Space, address: u64, near: &Near<'_>) -> (Space, u64) {
    if space != Space::Generic {
        return (space, address);
    }
    let map = near.map;
    for (window, space) in [(map.shared, Space::Shared), (map.local, Space::Local), (map.param, Space::Param)] {
        if address.wrapping_sub(window) < map.window {
            return (space, address - window);
        }
    }
    (Space::Generic, address)
}

/// The window of another state space that a generic address lies in.
pub(super) fn window_of(address: u64, near: &Near<'_>) -> Option<AllocKind> {
    let map = near.map;
    let windows = [(map.shared, AllocKind::Shared), (map.local, AllocKind::Local), (map.param, AllocKind::Param)];
    windows.into_iter().find(|(window, _)| address.wrapping_sub(*window) < map.window).map(|(_, kind)| kind)
}

fn read(arena: &Arena, near: &Near<'_>, lane: usize, target: Target, at: usize, width: u32) -> u64 {
    let w = width as usize;
    match target {
        Target::Device(o) => match (w, arena.bytes.get(o + at..o + at + w)) {
            (4, Some(b)) => b.first_chunk().map_or(0, |c| u32::from_le_bytes(*c).into()),
            (8, Some(b)) => b.first_chunk().map_or(0, |c| u64::from_le_bytes(*c)),
            (_, b) => b.map_or(0, number),
        },
        Target::Shared(o) => near.shared.get(o + at..o + at + w).map_or(0, number),
        Target::Local(o) => near.local.read(lane, o + at as u64, width),
        Target::Param(o) => near.param.get(o + at..o + at + w).map_or(0, number),
    }
}

fn write(arena: &mut Arena, near: &mut Near<'_>, lane: usize, target: Target, at: usize, width: u32, value: u64) {
    let w = width as usize;
    let put = |bytes: Option<&mut [u8]>| {
        if let Some(b) = bytes {
            b.copy_from_slice(&value.to_le_bytes()[..w]);
        }
    };
    match target {
        Target::Device(o) => put(arena.bytes.get_mut(o + at..o + at + w)),
        Target::Shared(o) => put(near.shared.get_mut(o + at..o + at + w)),
        Target::Local(o) => near.local.write(lane, o + at as u64, width, value),
        Target::Param(_) => {}
    }
}

fn load(arena: &Arena, near: &Near<'_>, rq: &WarpRequest, lane: usize, target: Target, regs: &mut Frame) {
    let width = u32::from(rq.width).min(8);
    for (k, slot) in rq.regs.iter().take(rq.elems.into()).enumerate().filter(|(_, s)| **s != NO_SLOT) {
        let value = read(arena, near, lane, target, k * usize::from(rq.width), width);
        if rq.width == 16 {
            let high = read(arena, near, lane, target, k * 16 + 8, 8);
            regs.q[slot.index()].0[lane] = value;
            regs.q[slot.index() + 1].0[lane] = high;
            continue;
        }
        let value = if rq.signed { extend(value, width * 8, rq.ext) } else { value };
        set(regs, rq.wide, *slot, lane, value);
    }
}

/// Sign-extends the low `bits` of a value to `to` bits.
fn extend(value: u64, bits: u32, to: u8) -> u64 {
    let unused = 64 - bits;
    let wide = ((value << unused).cast_signed() >> unused).cast_unsigned();
    if to >= 64 { wide } else { wide & ((1 << to) - 1) }
}

fn store(arena: &mut Arena, near: &mut Near<'_>, rq: &WarpRequest, lane: usize, target: Target, regs: &Frame) {
    let width = u32::from(rq.width).min(8);
    for (k, slot) in rq.regs.iter().take(rq.elems.into()).enumerate().filter(|(_, s)| **s != NO_SLOT) {
        write(arena, near, lane, target, k * usize::from(rq.width), width, get(regs, rq.wide, *slot, lane));
        if rq.width == 16 {
            write(arena, near, lane, target, k * 16 + 8, 8, regs.q[slot.index() + 1].0[lane]);
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
#[expect(clippy::too_many_arguments, reason = "the memories and the registers are separate borrows")]
fn atomic(
    arena: &mut Arena,
    near: &mut Near<'_>,
    rq: &WarpRequest,
    op: AtomOp,
    ty: AtomTy,
    lane: usize,
    target: Target,
    regs: &mut Frame,
) {
    let [d, b, c, ..] = rq.regs;
    if ty == AtomTy::B128 {
        let pair = |slot: Slot| (regs.q[slot.index()].0[lane], regs.q[slot.index() + 1].0[lane]);
        let old = (read(arena, near, lane, target, 0, 8), read(arena, near, lane, target, 8, 8));
        let new = match op {
            AtomOp::Cas if old != pair(b) => old,
            AtomOp::Cas => pair(c),
            _ => pair(b),
        };
        write(arena, near, lane, target, 0, 8, new.0);
        write(arena, near, lane, target, 8, 8, new.1);
        if d != NO_SLOT {
            regs.q[d.index()].0[lane] = old.0;
            regs.q[d.index() + 1].0[lane] = old.1;
        }
        return;
    }
    let width = ty.bytes();
    let returns = matches!(rq.op, MemOp::Atom(..));
    // A vector's elements are atomic one by one: destinations in the first half of `regs`, operands in the second.
    let half = rq.regs.len() / 2;
    for k in 0..usize::from(rq.elems.max(1)) {
        let (d, b, c) = if rq.elems > 1 { (rq.regs[k % half], rq.regs[half + k % half], NO_SLOT) } else { (d, b, c) };
        let operand = |slot: Slot| if slot == NO_SLOT { 0 } else { get(regs, rq.wide, slot, lane) };
        let at = k * width as usize;
        let old = read(arena, near, lane, target, at, width);
        let new = atom::apply(op, ty, old, operand(b), operand(c));
        write(arena, near, lane, target, at, width, new);
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

/// Tells the observer of a request.
pub(in crate::memory) fn tell<S: Sink>(
    told: Told<'_>,
    at: Issuer,
    mask: LaneMask,
    rq: &WarpRequest,
    regs: &Frame,
    near: &Near<'_>,
    cx: &mut Cx<'_, S>,
) -> Result<(), Box<Fault>> {
    let bytes = u32::from(rq.width) * u32::from(rq.elems);
    let window = match rq.space {
        Space::Shared => near.map.shared,
        Space::Local => near.map.local,
        Space::Param => near.map.param,
        Space::Global | Space::Const | Space::Generic => 0,
    };
    let kind = match rq.op {
        MemOp::Load => AccessKind::Read,
        MemOp::Store => AccessKind::Write,
        MemOp::Atom(..) | MemOp::Red(..) => AccessKind::Atomic,
    };
    let strides = [Stride::Mixed; 2];
    let generic = addresses(rq, regs).map(|x| x.wrapping_add(window));
    let Told { memory, together, element, access_id } = told;
    let (pc, lanes, addresses) = (at.pc, mask, &generic);
    let quiet = cx.sink.quiet(pc);
    // Where memory acts later, each access has a name.
    if quiet.bytes != 0 && !memory.later && quiet.outside((addresses, strides, bytes), lanes) == 0 {
        return Ok(());
    }
    let access = Access { pc, lanes, together, element, kind, addresses, strides, bytes, regs, memory, access_id };
    cx.sink.event(at.who, Event::Access(&access)).map_err(|stop| Box::new(Fault::Stop(stop)))
}

/// Finds the lanes whose addresses are wrong, and why the first one is.
#[cold]
fn fault(
    arena: &Arena,
    mask: LaneMask,
    rq: &WarpRequest,
    bytes: u32,
    addresses: &[u64; LANES],
    regs: &Frame,
    near: &Near<'_>,
) -> Box<Fault> {
    let mut scratch = |_: &[u8]| ();
    let mut oracle = crate::choice::Fair;
    let mut cx = Cx {
        sink: crate::verdict::Silent,
        oracle: &mut oracle,
        hints: crate::memory::SiteHints::default(),
        tables: crate::base::LaneTables::new(),
        out: &mut scratch,
    };
    let at = Issuer { who: crate::verdict::Who::default(), pc: crate::base::Pc(0), depth: 0, sm: 0 };
    let bad = lanes_of(mask)
        .filter(|&l| locate(arena, at, rq, addresses[l], stack(regs, l), bytes, near, &mut cx).is_none())
        .fold(0, |m, l| m | 1 << l);
    let lead = lanes_of(bad).next().unwrap_or(0);
    let address = addresses[lead];
    let write = rq.op != MemOp::Load;
    let name = match rq.space {
        Space::Global => "global",
        Space::Shared => "shared",
        Space::Local => "local",
        Space::Const => "const",
        Space::Param => "param",
        Space::Generic => "generic",
    };
    let bug = |kind| Box::new(Fault::Bug(kind, bad));
    if !address.is_multiple_of(u64::from(bytes.next_power_of_two())) {
        return bug(BugKind::Misaligned { address, bytes, write, space: name });
    }
    let (space, offset) = resolve(rq.space, address, near);
    let outside = |kind, size: u64| {
        let nearest = Some(beyond(near.root.object(), kind, bounds(near, kind, size, stack(regs, lead)), offset));
        bug(BugKind::OutOfBounds { address, bytes, write, space: name, nearest })
    };
    match space {
        Space::Shared => shared_fault(offset, bytes, write, near, bad),
        Space::Local => outside(AllocKind::Local, near.local.extent().into()),
        Space::Param if write => bug(BugKind::WriteToReadOnly { address, bytes, write, actual: AllocKind::Param }),
        Space::Param => outside(AllocKind::Param, near.param.len() as u64),
        Space::Global | Space::Const | Space::Generic => {
            if space == Space::Generic
                && let Some(own) = near.root.object()
            {
                let (window, size) = match own.kind {
                    AllocKind::Shared => (near.map.shared, near.shared.len() as u64),
                    AllocKind::Local => (near.map.local, near.local.extent().into()),
                    _ => (near.map.param, near.param.len() as u64),
                };
                let (first, size) = own.within(size, stack(regs, lead));
                let nearest = Some(beyond(near.root.object(), own.kind, (window + first, size), address));
                return bug(BugKind::OutOfBounds { address, bytes, write, space: name, nearest });
            }
            if let Some(actual) = window_of(address, near) {
                return bug(BugKind::WrongSpace { address, bytes, write, space: name, actual });
            }
            arena.explain(address, bytes, write, name, bad)
        }
    }
}

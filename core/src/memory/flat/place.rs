//! Where the accesses of a request lead, and what is wrong with one that leads nowhere.

use super::Arena;
use crate::base::{Frame, LANES, LaneMask, lanes_of};
use crate::memory::{Fault, Hint, Near};
use crate::program::instr::{MemOp, STACK_BASE, Space, WarpRequest, value};
use crate::verdict::{AllocKind, BugKind, Nearest, Relation};

/// Each lane's address in the request's space.
pub(in crate::memory) fn addresses(rq: &WarpRequest, regs: &Frame) -> [u64; LANES] {
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

/// One lane's.
pub(crate) fn lane_address(rq: &WarpRequest, regs: &Frame, lane: usize) -> u64 {
    let base = value(regs, rq.address_class(), rq.addr, lane).unwrap_or(0);
    let sum = base.wrapping_add_signed(rq.offset);
    if rq.addr_wide { sum } else { (sum as u32).into() }
}

/// Where a lane's stack frame begins in its local memory.
pub(super) fn stack(regs: &Frame, lane: usize) -> u32 {
    regs.w.get(STACK_BASE.index()).map_or(0, |base| base.0[lane])
}

/// Where the bytes of a memory of the warp's begin that an instruction may access, and how many there are: those of the variable
/// that its address was made from, where the code says so. `stack` is where the lane's stack frame begins.
#[inline(always)]
pub(super) fn bounds(near: &Near<'_>, space: Space, stack: u32) -> (u64, u64) {
    let size = match space {
        Space::Shared => near.shared.len() as u64,
        Space::Local => near.local.extent().into(),
        _ => near.param.len() as u64,
    };
    match near.root.object() {
        Some(own) if own.kind == space.kind() => own.within(size, stack),
        _ => (0, size),
    }
}

/// The memory of the warp's that an address leads to, and where it leads there; none where it leads to device memory.
#[inline(always)]
fn own(space: Space, address: u64, near: &Near<'_>) -> Option<(Space, u64)> {
    match space {
        Space::Shared | Space::Local | Space::Param => Some((space, address)),
        Space::Global | Space::Const => None,
        // Generic addresses belong to a window, or else to global memory (PTX ISA 6.4.1.1).
        Space::Generic => near.map.inside(address),
    }
}

/// Where the access of a lane goes that has this address, and whose stack frame begins at `stack`: an offset in a memory of the
/// warp's, or an index in the bytes of device memory, whose space is [`Space::Global`]. `None` when it is wrong.
#[inline]
pub(super) fn locate(
    arena: &Arena,
    rq: &WarpRequest,
    (address, stack): (u64, u32),
    near: &Near<'_>,
    hint: &mut Hint,
) -> Option<(Space, usize)> {
    let (bytes, write) = (rq.bytes(), rq.op != MemOp::Load);
    let len = u64::from(bytes);
    // Alignment is to the whole access: PTX ISA, "Addresses as Operands".
    if !address.is_multiple_of(u64::from(bytes.next_power_of_two())) {
        return None;
    }
    let Some((space, offset)) = own(rq.space, address, near) else {
        let need = if write { Hint::WRITE } else { Hint::READ };
        let first = if rq.space == Space::Const { Hint::CONST } else { need };
        // A generic load may read constant memory as well.
        let mut index = |need| arena.index(hint, address, len, need);
        let generic = rq.space == Space::Generic && !write;
        let found = index(first).or_else(|| if generic { index(Hint::CONST) } else { None });
        return found.map(|at| (Space::Global, at));
    };
    let (first, size) = bounds(near, space, stack);
    let at = offset.wrapping_sub(first);
    let right = at < size && len <= size - at && !(write && space == Space::Param);
    right.then_some((space, offset as usize))
}

/// Where the accesses of lanes lead: their spaces, none of them generic, and their addresses or offsets there.
///
/// # Errors
/// Some lead nowhere.
pub(crate) fn places(
    arena: &Arena,
    mask: LaneMask,
    rq: &WarpRequest,
    regs: &Frame,
    near: &Near<'_>,
    hint: &mut Hint,
) -> Result<[(Space, u64); LANES], Box<Fault>> {
    let addresses = addresses(rq, regs);
    let mut places = [(Space::Global, 0); LANES];
    for lane in lanes_of(mask) {
        let address = addresses[lane];
        if locate(arena, rq, (address, stack(regs, lane)), near, hint).is_none() {
            return Err(fault(arena, mask, rq, regs, near));
        }
        places[lane] = own(rq.space, address, near).unwrap_or_else(|| {
            let found = || arena.kind_of(address) == Some(AllocKind::Const);
            let constant = rq.space == Space::Const || rq.space == Space::Generic && found();
            (if constant { Space::Const } else { Space::Global }, address)
        });
    }
    Ok(places)
}

/// Finds the lanes whose addresses are wrong, and why the first one is.
#[cold]
#[inline(never)]
pub(super) fn fault(arena: &Arena, mask: LaneMask, rq: &WarpRequest, regs: &Frame, near: &Near<'_>) -> Box<Fault> {
    let (addresses, mut hint) = (addresses(rq, regs), Hint::default());
    let mut wrong = |l: &usize| locate(arena, rq, (addresses[*l], stack(regs, *l)), near, &mut hint).is_none();
    let bad = lanes_of(mask).filter(|l| wrong(l)).fold(0, |m, l| m | 1 << l);
    let lead = lanes_of(bad).next().unwrap_or(0);
    let (address, bytes, write) = (addresses[lead], rq.bytes(), rq.op != MemOp::Load);
    let space = rq.space.name();
    let bounds = |space| bounds(near, space, stack(regs, lead));
    let bug = |kind| Box::new(Fault::Bug(kind, bad));
    if !address.is_multiple_of(u64::from(bytes.next_power_of_two())) {
        return bug(BugKind::Misaligned { address, bytes, write, space });
    }
    match own(rq.space, address, near) {
        Some((Space::Shared, at)) => {
            let nearest = Some(beyond(near, AllocKind::Shared, bounds(Space::Shared), at));
            return bug(BugKind::OutOfBounds { address: at, bytes, write, space: "shared", nearest });
        }
        Some((Space::Param, _)) if write => {
            return bug(BugKind::WriteToReadOnly { address, bytes, write, actual: AllocKind::Param });
        }
        Some((own, at)) => {
            let nearest = Some(beyond(near, own.kind(), bounds(own), at));
            return bug(BugKind::OutOfBounds { address, bytes, write, space, nearest });
        }
        None => {}
    }
    if rq.space == Space::Generic
        && let Some(object) = near.root.object()
    {
        let spaces = [Space::Shared, Space::Local];
        let own = spaces.into_iter().find(|s| s.kind() == object.kind).unwrap_or(Space::Param);
        let (first, size) = bounds(own);
        let nearest = Some(beyond(near, object.kind, (near.map.window_of(own) + first, size), address));
        return bug(BugKind::OutOfBounds { address, bytes, write, space, nearest });
    }
    match near.map.inside(address) {
        Some((actual, _)) => bug(BugKind::WrongSpace { address, bytes, write, space, actual: actual.kind() }),
        None => bug(arena.explain(address, bytes, write, space)),
    }
}

/// What an access in a memory of the warp's goes beyond: the bytes that it may touch are given by their first and their number.
fn beyond(near: &Near<'_>, kind: AllocKind, (first, bytes): (u64, u64), address: u64) -> Nearest {
    // What is far below has wrapped around, in 32 bits or in 64.
    let at = address.wrapping_sub(first).cast_signed();
    let at = if address >> 32 == 0 && first >> 32 == 0 { i64::from((at as u32).cast_signed()) } else { at };
    let relation = match u64::try_from(at) {
        Err(_) => Relation::Before(at.unsigned_abs()),
        Ok(at) if at >= bytes => Relation::After(at - bytes),
        Ok(at) => Relation::Inside(at),
    };
    let own = near.root.object().filter(|own| own.kind == kind);
    let name = own.map(|own| own.name.clone()).unwrap_or_default();
    Nearest { name, kind, bytes, relation, freed: false, life: None }
}

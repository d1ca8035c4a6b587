//! Instructions as the program has them, before promotion gave the commonest ones a loop of their own; and what they do to
//! one lane, which shadows of registers and memory follow.

use crate::base::{Frame, lanes_of};
pub(super) use crate::machine::thread::by_lane::{apply, carry_slot, data_op, value};
use crate::program::env::{AddressMap, ProgEnv};
use crate::program::instr::{Instr, MemOp, NO_SLOT, STACK_TOP, Slot, WarpRequest};
use crate::program::ops::{AtomOp, AtomTy, Class};
use crate::verdict::Access;

/// The memory action of an instruction, if it is one.
pub(super) fn request(env: &ProgEnv, i: &Instr) -> Option<WarpRequest> {
    env.request(i)
}

/// The elements that an access is about: all of its request's, or the one that memory accesses at this time. An element's
/// number comes with its offset from the access's address.
pub(super) fn elements(rq: &WarpRequest, access: &Access<'_>, map: AddressMap) -> Vec<(usize, u64)> {
    let (count, width) = (usize::from(rq.elems.max(1)), u64::from(access.bytes));
    let element = match rq.op {
        MemOp::Load | MemOp::Store => u64::from(rq.width),
        MemOp::Atom(_, ty) | MemOp::Red(_, ty) => u64::from(ty.bytes()),
    };
    if count == 1 || width != element {
        return (0..count).map(|k| (k, k as u64 * element)).collect();
    }
    let Some(lane) = lanes_of(access.lanes).next() else { return Vec::new() };
    let register = value(access.regs, rq.address_class(), rq.addr, lane);
    let first = register.wrapping_add(rq.offset.cast_unsigned()).wrapping_add(map.window_of(rq.space));
    let k = access.addresses[lane].wrapping_sub(first) / element.max(1);
    vec![(usize::try_from(k).unwrap_or(0).min(count - 1), 0)]
}

/// The data slots of an access with their offsets in memory; a 16-byte element has two.
pub(super) fn pieces<'a>(rq: &'a WarpRequest, of: &'a [(usize, u64)]) -> impl Iterator<Item = (Slot, u64, u32)> + 'a {
    let (width, twice) = if rq.width == 16 { (8, 2) } else { (u32::from(rq.width), 1) };
    let slots = of.iter().filter_map(|(k, offset)| Some((*rq.regs.get(*k)?, *offset)));
    slots.filter(|(slot, _)| *slot != NO_SLOT).flat_map(move |(slot, offset)| {
        (0..twice).map(move |half| (Slot(slot.0.saturating_add(half)), offset + 8 * u64::from(half), width))
    })
}

/// What each lane's atomic operation does to a location: an element, or half of one of 128 bits.
pub(super) struct AtomicPart {
    /// Where the result goes, or [`NO_SLOT`].
    pub result: Slot,
    /// The operand, or what is compared; and what is stored where these compare equal, or [`NO_SLOT`].
    pub operands: [Slot; 2],
    /// From the access's address.
    pub offset: u64,
    /// In bytes.
    pub width: u32,
}

/// The parts of an atomic operation's access, and the class of its slots.
pub(super) fn atomic_parts(
    rq: &WarpRequest,
    (op, ty): (AtomOp, AtomTy),
    of: &[(usize, u64)],
) -> (Class, Vec<AtomicPart>) {
    let bytes = ty.bytes();
    let returns = matches!(rq.op, MemOp::Atom(..));
    let parts = of.iter().flat_map(|&(k, start)| {
        let [d, b, c] = rq.atomic_slots(k);
        let c = if op == AtomOp::Cas { c } else { NO_SLOT };
        // A 128-bit operand is two slots.
        (0..bytes.div_ceil(8)).map(move |part| {
            let slot = |s: Slot| if s == NO_SLOT { s } else { Slot(s.0.saturating_add(part as u16)) };
            let result = if returns { slot(d) } else { NO_SLOT };
            AtomicPart {
                result,
                operands: [slot(b), slot(c)],
                offset: start + u64::from(part) * 8,
                width: bytes.min(8),
            }
        })
    });
    (rq.class(), parts.collect())
}

/// The top of a lane's stack, in bytes of its local memory.
pub(super) fn stack_top(regs: &Frame, lane: usize) -> u64 {
    regs.w.get(STACK_TOP.index()).map_or(0, |w| w.0[lane].into())
}

/// The element of a number; those that are missing before it are made.
pub(super) fn at<T: Default>(all: &mut Vec<T>, number: u32) -> &mut T {
    let number = number as usize;
    if all.len() <= number {
        all.resize_with(number + 1, T::default);
    }
    &mut all[number]
}

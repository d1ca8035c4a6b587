//! Bulk copies begin: what they may access is looked at, and memory takes them in (D-bulk).

use super::begin::tell_barrier;
use super::copy::{Bulk as How, Copy, Kind, Part, Source};
use crate::base::{Frame, LANES, LaneMask, lanes_of};
use crate::memory::flat::{Arena, places, tell_of};
use crate::memory::{Active, Cx, Fault, Memory, Taken};
use crate::program::bulk::Bulk;
use crate::program::instr::{MemOp, NO_SLOT, Slot, Space, WarpRequest, value};
use crate::verdict::{AccessId, BugKind, Sink};

/// The bytes that each lane copies: what the register says, or all of an access of registers.
fn sizes(size: Slot, one: &WarpRequest, on: &Active<'_, '_>) -> [u32; LANES] {
    on.regs.w.get(size.index()).filter(|_| size != NO_SLOT).map_or([one.bytes(); LANES], |sizes| sizes.0)
}

/// A side of bulk copies is looked at, and told, a piece after the other: each lane may access all its bytes there.
///
/// # Errors
/// The program must not access them; the size is no multiple of a piece's.
pub fn look_at_bulk<S: Sink>(
    arena: &Arena,
    on: Active<'_, '_>,
    (rq, size): (&WarpRequest, Slot),
    cx: &mut Cx<'_, S>,
) -> Taken {
    let all = sizes(size, rq, &on);
    let Active { at, mask, regs, near, .. } = on;
    for lane in lanes_of(mask) {
        let (bytes, lanes) = (all[lane], 1 << lane);
        if !bytes.is_multiple_of(rq.bytes()) {
            return Err(Box::new(Fault::Bug(BugKind::BulkSize { bytes }, lanes)));
        }
        for at_byte in (0..bytes).step_by(rq.bytes() as usize) {
            let piece = WarpRequest { offset: rq.offset.wrapping_add(at_byte.into()), ..*rq };
            places(arena, lanes, &piece, regs, near, cx.hints.at(at.pc))?;
            if S::ON {
                tell_of(arena, (at, lanes), &piece, regs, near, cx)?;
            }
        }
    }
    Ok(())
}

/// Takes in the bulk copies of lanes, whose sides were looked at.
///
/// # Errors
/// The program must not access the barrier's bytes.
pub fn begin_bulk<S: Sink>(
    memory: &mut impl Memory,
    on: Active<'_, '_>,
    (bulk, size): (&Bulk, Slot),
    cx: &mut Cx<'_, S>,
) -> Taken {
    let all = sizes(size, &bulk.to, &on);
    let Active { at, mask, regs, near, .. } = on;
    elsewhere(bulk.blocks, mask, regs)?;
    let arena = memory.arena();
    let mut side = |rq: &Option<WarpRequest>| {
        let Some(rq) = rq else { return Ok([(Space::Global, 0); LANES]) };
        // What copies nothing may name any place.
        let lanes = lanes_of(mask).filter(|l| all[*l] > 0).fold(0, |m, l| m | 1 << l);
        places(arena, lanes, rq, regs, near, cx.hints.at(at.pc))
    };
    let (from, to) = (side(&bulk.from)?, side(&Some(bulk.to))?);
    let (barriers, access_id) = match &bulk.barrier {
        Some(barrier) => (
            places(arena, mask, barrier, regs, near, cx.hints.at(at.pc))?,
            tell_barrier(memory, (at, mask), barrier, (regs, near), cx)?,
        ),
        None => ([(Space::Global, 0); LANES], AccessId::NONE),
    };
    let first = mask.trailing_zeros() as usize & (LANES - 1);
    let how = How {
        from: match &bulk.from {
            None => Source::Registers,
            Some(_) if from[first].0 == Space::Shared => Source::Shared,
            Some(_) => Source::Device,
        },
        to_device: bulk.barrier.is_none(),
        combines: match bulk.to.op {
            MemOp::Red(op, ty) | MemOp::Atom(op, ty) => Some((op, ty)),
            MemOp::Load | MemOp::Store => None,
        },
    };
    let part = |l: usize| {
        let held = if bulk.from.is_none() { registers(&bulk.to, regs, l) } else { Vec::new() };
        Part {
            lane: u8::try_from(l).unwrap_or(0),
            bytes: all[l],
            taken: all[l],
            from: from[l].1,
            to: to[l].1,
            barrier: barriers[l].1,
            held,
            access_id: access_id.of_lane(l),
        }
    };
    // Where no barrier is told, copying nothing is nothing to wait for.
    let parts: Vec<Part> = lanes_of(mask).filter(|l| all[*l] > 0 || !how.to_device).map(part).collect();
    if !parts.is_empty() {
        memory.begin(Copy::new(at, Kind::Bulk(how), parts.into_iter()));
    }
    Ok(())
}

/// A cluster is one block (D-cluster): a copy to several goes to that one and no other.
fn elsewhere(blocks: Slot, mask: LaneMask, regs: &Frame) -> Taken {
    let Some(sets) = regs.w.get(blocks.index()).filter(|_| blocks != NO_SLOT) else { return Ok(()) };
    let set = |lane: usize| sets.0[lane] & 0xffff;
    let Some(first) = lanes_of(mask).find(|lane| set(*lane) != 1) else { return Ok(()) };
    let lanes = lanes_of(mask).filter(|lane| set(*lane) == set(first)).fold(0, |m: LaneMask, lane| m | 1 << lane);
    Err(Box::new(Fault::Bug(BugKind::BulkBlocks { blocks: set(first) }, lanes)))
}

/// The bytes of a lane's registers that an access stores, or combines with what is there.
fn registers(rq: &WarpRequest, regs: &Frame, lane: usize) -> Vec<u8> {
    let slots = match rq.op {
        MemOp::Load | MemOp::Store => rq.regs,
        MemOp::Atom(..) | MemOp::Red(..) => [rq.atomic_slots(0)[1]; 8],
    };
    let bytes = |slot: &Slot| value(regs, rq.class(), *slot, lane).unwrap_or(0).to_le_bytes();
    slots.iter().take(rq.elems.max(1).into()).flat_map(|slot| bytes(slot).into_iter().take(rq.width.into())).collect()
}

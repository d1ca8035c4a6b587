//! Asynchronous copies begin: what they may access is looked at, and memory takes them in (D-async).

use super::copy::{Copy, Kind, Part};
use super::side::Place;
use crate::base::{Frame, LANES, LaneMask, lanes_of};
use crate::memory::flat::{Arena, Told, addresses, lane_address, places, tell, tell_of};
use crate::memory::{Active, Cx, Fault, Issuer, Memory, Near, Taken};
use crate::program::instr::{CacheOp, NO_SLOT, Slot, WarpRequest};
use crate::verdict::{AccessId, Contents, Sink};
use std::cell::Cell;

/// How many bytes of its source each lane takes: what the register says, at most all.
fn taken(size: Slot, bytes: u32, on: &Active<'_, '_>) -> [u32; LANES] {
    if size == NO_SLOT {
        return [bytes; LANES];
    }
    on.regs.w.get(size.index()).map_or([bytes; LANES], |sizes| sizes.0.map(|size| size.min(bytes)))
}

/// The source of copies is looked at: each lane that takes bytes from it may read them. They are not read yet.
///
/// # Errors
/// The program must not access it.
pub fn look_at_source<S: Sink>(
    arena: &Arena,
    on: Active<'_, '_>,
    (from, size): (&WarpRequest, Slot),
    cx: &mut Cx<'_, S>,
) -> Taken {
    let all = taken(size, from.bytes(), &on);
    let Active { at, mask, regs, near, .. } = on;
    let mut left = lanes_of(mask).filter(|l| all[*l] > 0).fold(0, |m: LaneMask, l| m | 1 << l);
    // Lanes that take as many bytes are told together.
    while left != 0 {
        let bytes = all[left.trailing_zeros() as usize];
        let lanes = lanes_of(left).filter(|l| all[*l] == bytes).fold(0, |m: LaneMask, l| m | 1 << l);
        left &= !lanes;
        // The address is a multiple of the whole, though fewer bytes are read.
        let apart = |l: &usize| !lane_address(from, regs, *l).is_multiple_of(from.bytes().into());
        let wrong = lanes_of(lanes).filter(apart).fold(0, |m: LaneMask, l| m | 1 << l);
        if bytes == from.bytes() || wrong != 0 {
            let lanes = if wrong == 0 { lanes } else { wrong };
            places(arena, lanes, from, regs, near, cx.hints.at(at.pc))?;
        } else {
            let byte = WarpRequest { width: 1, elems: 1, ..*from };
            places(arena, lanes, &byte, regs, near, cx.hints.at(at.pc))?;
            let last = WarpRequest { offset: from.offset + i64::from(bytes) - 1, ..byte };
            places(arena, lanes, &last, regs, near, cx.hints.at(at.pc))?;
        }
        if S::ON && bytes >= 4 {
            let words = WarpRequest { elems: u8::try_from(bytes / 4).unwrap_or(1), ..*from };
            tell_of(arena, (at, lanes), &words, regs, near, cx)?;
        }
    }
    Ok(())
}

/// Takes in the copies of lanes.
///
/// # Errors
/// The program must not write to their destinations.
pub fn take_in<S: Sink>(
    memory: &mut impl Memory,
    on: Active<'_, '_>,
    (from, to, size): (&WarpRequest, &WarpRequest, Slot),
    cx: &mut Cx<'_, S>,
) -> Taken {
    let all = taken(size, from.bytes(), &on);
    let Active { at, mask, regs, near, .. } = on;
    let arena = memory.arena();
    let goals = places(arena, mask, to, regs, near, cx.hints.at(at.pc))?;
    if S::ON {
        tell_of(arena, (at, mask), to, regs, near, cx)?;
    }
    let sources = addresses(from, regs);
    let part = |l: usize| Part {
        lane: u8::try_from(l).unwrap_or(0),
        bytes: to.bytes(),
        taken: all[l],
        from: if all[l] == 0 { 0 } else { sources[l] },
        to: goals[l].1,
        ..Part::default()
    };
    let place = if from.cache == CacheOp::Cg { Place::Far } else { Place::Near };
    memory.begin(Copy::new(at, Kind::Small(place), lanes_of(mask).map(part)));
    Ok(())
}

/// Tells the observer that barriers will be told; gives what it calls the first lane's access, where accesses of shared memory have names.
///
/// # Errors
/// It stopped the run.
pub(super) fn tell_barrier<S: Sink>(
    memory: &impl Memory,
    (at, mask): (Issuer, LaneMask),
    barrier: &WarpRequest,
    (regs, near): (&Frame, &Near<'_>),
    cx: &mut Cx<'_, S>,
) -> Result<AccessId, Box<Fault>> {
    let name = Cell::new(AccessId::NONE);
    if S::ON {
        let contents = memory.arena().contents(near);
        let (memory, access_id) = match memory.names_shared() {
            true => (Contents { later: true, ..contents }, Some(&name)),
            false => (contents, None),
        };
        tell(Told { memory, together: mask, element: 0, access_id }, at, mask, barrier, regs, near, cx)?;
    }
    Ok(name.get())
}

/// Takes in the arrivals of lanes at barriers, which come once their copies so far have landed.
///
/// # Errors
/// The program must not access a barrier's bytes.
pub fn arrive_later<S: Sink>(
    memory: &mut impl Memory,
    on: Active<'_, '_>,
    at: &WarpRequest,
    cx: &mut Cx<'_, S>,
) -> Taken {
    let Active { at: issuer, mask, regs, near, .. } = on;
    let places = places(memory.arena(), mask, at, regs, near, cx.hints.at(issuer.pc))?;
    let access_id = tell_barrier(memory, (issuer, mask), at, (regs, near), cx)?;
    let part = |l: usize| {
        let (lane, access_id) = (u8::try_from(l).unwrap_or(0), access_id.of_lane(l));
        Part { lane, to: places[l].1, access_id, ..Part::default() }
    };
    memory.begin(Copy::new(issuer, Kind::Arrival, lanes_of(mask).map(part)));
    Ok(())
}

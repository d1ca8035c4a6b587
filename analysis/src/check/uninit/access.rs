//! Definedness through memory actions.

use super::cause::Cause;
use super::memory::{Fresh, Local, all};
use super::origin::Device;
use super::shadow::{Bytes, DEFINED, Regs, to_lane};
use crate::base::{LaneMask, Pc, lanes_of};
use crate::check::plain::{AtomicPart, atomic_parts, elements, pieces};
use crate::program::env::AddressMap;
use crate::program::instr::{MemOp, NO_SLOT, Slot, Space, WarpRequest};
use crate::program::ops::{AtomOp, AtomTy, Class};
use crate::verdict::Access;

/// The memories that a warp sees.
pub(super) struct Memories<'a> {
    pub device: &'a mut Device,
    pub shared: &'a mut Fresh,
    pub local: &'a mut Local,
    pub map: AddressMap,
}

/// An undefined value was stored where others see it.
pub(super) struct Stored {
    /// The lanes that did.
    pub lanes: LaneMask,
    /// The slot that held it.
    pub slot: (Class, Slot),
    /// Why that is not defined.
    pub cause: Cause,
    /// The first undefined byte's address.
    pub address: u64,
}

impl Memories<'_> {
    /// The shadow of the memory that a lane's address lies in, of the block's or the thread's, and where it lies there.
    fn own(&mut self, lane: usize, address: u64) -> Option<(&mut Fresh, u64)> {
        match self.map.inside(address)? {
            (Space::Shared, at) => Some((self.shared, at)),
            (Space::Local, at) => Some((&mut self.local[lane], at)),
            _ => None,
        }
    }

    /// Whether an address is one of device memory.
    fn is_device(&self, address: u64) -> bool {
        self.map.inside(address).is_none()
    }

    fn get(&mut self, lane: usize, address: u64, len: u32) -> u32 {
        if self.is_device(address) {
            return self.device.global.get(address, len);
        }
        self.own(lane, address).map_or(all(len), |(memory, at)| memory.get(at, len))
    }

    fn put(&mut self, lane: usize, address: u64, len: u32, defined: u32) {
        if self.is_device(address) {
            // Stores of undefined values to global memory are refused, so only definedness comes here.
            self.device.define(address, len);
        } else if let Some((memory, at)) = self.own(lane, address) {
            memory.put(at, len, defined);
        }
    }

    /// A word becomes what another one is in its first bytes, and zero in the rest; or what both are together, where they are combined.
    pub fn copy(&mut self, lane: usize, from: u64, to: u64, (bytes, combines): (u32, bool), read: Pc) {
        let taken = if bytes == 0 { all(4) } else { self.get(lane, from, bytes) | !all(bytes) & all(4) };
        let defined = if combines { taken & self.get(lane, to, 4) } else { taken };
        self.put(lane, to, 4, defined);
        if defined != all(4) {
            let cause = self.cause(lane, from, defined, read);
            if let Some((memory, at)) = self.own(lane, to) {
                memory.blame(at, 4, defined, cause);
            }
        }
    }

    /// Why the first byte at an address that is not defined in a lane is not, for an instruction that reads it.
    fn cause(&mut self, lane: usize, address: u64, defined: u32, read: Pc) -> Cause {
        let address = address.wrapping_add((!defined).trailing_zeros().into());
        let known = self.own(lane, address).and_then(|(memory, at)| memory.cause(at));
        known.unwrap_or(Cause::Memory { address, read })
    }
}

/// One lane's bytes of a slot as a mask, byte 0 lowest.
fn of_lane(bytes: &Bytes, lane: usize) -> u32 {
    bytes.iter().enumerate().fold(0, |m, (k, b)| m | (b >> lane & 1) << k)
}

/// Carries definedness through a memory action.
pub(super) fn run(
    rq: &WarpRequest,
    access: &Access<'_>,
    shadow: &mut Regs,
    memories: &mut Memories<'_>,
) -> Result<(), Stored> {
    memories.device.read(access);
    match rq.op {
        MemOp::Load => {
            load(rq, access, shadow, memories);
            Ok(())
        }
        MemOp::Store => store(rq, access, shadow, memories),
        MemOp::Atom(op, ty) | MemOp::Red(op, ty) => atomic(rq, (op, ty), access, shadow, memories),
    }
}

fn load(rq: &WarpRequest, access: &Access<'_>, shadow: &mut Regs, memories: &mut Memories<'_>) {
    let class = rq.class();
    for (slot, offset, width) in pieces(rq, &elements(rq, access, memories.map)) {
        let (mut result, mut causes) = (DEFINED, Vec::new());
        let mut fresh = |lane| memories.own(lane, access.addresses[lane]).is_some();
        if lanes_of(access.lanes).any(&mut fresh) || !memories.device.global.complete() {
            for lane in lanes_of(access.lanes) {
                let address = access.addresses[lane].wrapping_add(offset);
                let mut defined = memories.get(lane, address, width);
                if defined != all(width) {
                    causes.push((lane, memories.cause(lane, address, defined, access.pc)));
                }
                // Bytes beyond the loaded ones are zero, or copies of its sign.
                if !rq.signed || defined >> (width - 1) & 1 == 1 {
                    defined |= !all(width);
                }
                to_lane(&mut result, lane, defined);
            }
        }
        shadow.put(class, slot, access.lanes, &result);
        shadow.blame(class, slot, causes);
    }
}

fn store(rq: &WarpRequest, access: &Access<'_>, shadow: &Regs, memories: &mut Memories<'_>) -> Result<(), Stored> {
    let class = rq.class();
    for (slot, offset, width) in pieces(rq, &elements(rq, access, memories.map)) {
        let bytes = shadow.get(class, slot);
        let mut bad: Option<Stored> = None;
        for lane in lanes_of(access.lanes) {
            let address = access.addresses[lane].wrapping_add(offset);
            let defined = of_lane(&bytes, lane) & all(width);
            if defined != all(width) && memories.is_device(address) {
                let address = address.wrapping_add((!defined).trailing_zeros().into());
                let cause = shadow.cause(class, slot, lane, access.pc);
                bad.get_or_insert(Stored { lanes: 0, slot: (class, slot), cause, address }).lanes |= 1 << lane;
            } else {
                memories.put(lane, address, width, defined);
                if defined != all(width)
                    && let Some((memory, at)) = memories.own(lane, address)
                {
                    memory.blame(at, width, defined, shadow.cause(class, slot, lane, access.pc));
                }
            }
        }
        if let Some(bad) = bad {
            return Err(bad);
        }
    }
    Ok(())
}

fn atomic(
    rq: &WarpRequest,
    of: (AtomOp, AtomTy),
    access: &Access<'_>,
    shadow: &mut Regs,
    memories: &mut Memories<'_>,
) -> Result<(), Stored> {
    let (class, parts) = atomic_parts(rq, of, &elements(rq, access, memories.map));
    for AtomicPart { result, operands, offset, width } in parts {
        for slot in operands.into_iter().filter(|s| *s != NO_SLOT) {
            let defined = shadow.get(class, slot);
            let good = defined.iter().take(width as usize).fold(!0, |m, b| m & b);
            let lanes = access.lanes & !good;
            if let Some(lane) = lanes_of(lanes).next() {
                let (cause, address) = (shadow.cause(class, slot, lane, access.pc), access.addresses[lane]);
                return Err(Stored { lanes, slot: (class, slot), cause, address: address.wrapping_add(offset) });
            }
        }
        let (mut found, mut causes) = (DEFINED, Vec::new());
        for lane in lanes_of(access.lanes) {
            let address = access.addresses[lane].wrapping_add(offset);
            let defined = memories.get(lane, address, width) | !all(width);
            if defined != !0 {
                causes.push((lane, memories.cause(lane, address, defined, access.pc)));
            }
            to_lane(&mut found, lane, defined);
            if of.0 == AtomOp::Exch {
                memories.put(lane, address, width, all(width));
            }
        }
        shadow.put(class, result, access.lanes, &found);
        shadow.blame(class, result, causes);
    }
    Ok(())
}

//! Definedness through memory actions.

use super::cause::Cause;
use super::memory::{Fresh, Local, all};
use super::origin::Device;
use super::shadow::{Bytes, DEFINED, Regs};
use crate::base::{LaneMask, Pc, lanes_of};
use crate::check::plain::{AtomicPart, atomic_parts, class, elements, pieces};
use crate::program::env::AddressMap;
use crate::program::instr::{MemOp, NO_SLOT, Slot, WarpRequest};
use crate::program::ops::{AtomOp, AtomTy};
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
    pub slot: Slot,
    /// The first undefined byte's address.
    pub address: u64,
}

/// Where an address points.
#[derive(Clone, Copy)]
enum Target {
    Global(u64),
    Shared(u64),
    Local(u64),
    Param,
}

impl Memories<'_> {
    fn target(&self, address: u64) -> Target {
        let inside = |window: u64| Some(address.wrapping_sub(window)).filter(|o| *o < self.map.window);
        if let Some(offset) = inside(self.map.shared) {
            Target::Shared(offset)
        } else if let Some(offset) = inside(self.map.local) {
            Target::Local(offset)
        } else if inside(self.map.param).is_some() {
            Target::Param
        } else {
            Target::Global(address)
        }
    }

    fn get(&self, lane: usize, address: u64, len: u32) -> u32 {
        match self.target(address) {
            Target::Global(a) => self.device.global.get(a, len),
            Target::Shared(o) => self.shared.get(o, len),
            Target::Local(o) => self.local[lane].get(o, len),
            Target::Param => all(len),
        }
    }

    fn put(&mut self, lane: usize, address: u64, len: u32, defined: u32) {
        match self.target(address) {
            // Stores of undefined values to global memory are refused, so only definedness comes here.
            Target::Global(a) => self.device.define(a, len),
            Target::Shared(o) => self.shared.put(o, len, defined),
            Target::Local(o) => self.local[lane].put(o, len, defined),
            Target::Param => {}
        }
    }

    /// Why a byte is not defined in a lane, for an instruction that reads it.
    fn cause(&self, lane: usize, address: u64, read: Pc) -> Cause {
        let known = match self.target(address) {
            Target::Shared(o) => self.shared.cause(o),
            Target::Local(o) => self.local[lane].cause(o),
            Target::Global(_) | Target::Param => None,
        };
        known.unwrap_or(Cause::Memory { address, read })
    }

    /// Says why those of `len` bytes that are not defined are not.
    fn blame(&mut self, lane: usize, address: u64, len: u32, defined: u32, cause: Cause) {
        match self.target(address) {
            Target::Shared(o) => self.shared.blame(o, len, defined, cause),
            Target::Local(o) => self.local[lane].blame(o, len, defined, cause),
            Target::Global(_) | Target::Param => {}
        }
    }
}

/// One lane's bytes of a slot as a mask, byte 0 lowest.
fn of_lane(bytes: &Bytes, lane: usize) -> u32 {
    bytes.iter().enumerate().fold(0, |m, (k, b)| m | (b >> lane & 1) << k)
}

/// Sets one lane's bytes from a mask.
fn to_lane(bytes: &mut Bytes, lane: usize, defined: u32) {
    for (k, b) in bytes.iter_mut().enumerate() {
        *b = *b & !(1 << lane) | (defined >> k & 1) << lane;
    }
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

fn load(rq: &WarpRequest, access: &Access<'_>, shadow: &mut Regs, memories: &Memories<'_>) {
    let class = class(rq.wide);
    for (slot, offset, width) in pieces(rq, &elements(rq, access, memories.map)) {
        let (mut result, mut causes) = (DEFINED, Vec::new());
        let plain = |l| matches!(memories.target(access.addresses[l]), Target::Global(_) | Target::Param);
        if !(memories.device.global.complete() && lanes_of(access.lanes).all(plain)) {
            for lane in lanes_of(access.lanes) {
                let address = access.addresses[lane].wrapping_add(offset);
                let mut defined = memories.get(lane, address, width);
                if defined != all(width) {
                    let first = address.wrapping_add((!defined).trailing_zeros().into());
                    causes.push((lane, memories.cause(lane, first, access.pc)));
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
    let class = class(rq.wide);
    for (slot, offset, width) in pieces(rq, &elements(rq, access, memories.map)) {
        let bytes = shadow.get(class, slot);
        let mut bad: Option<Stored> = None;
        for lane in lanes_of(access.lanes) {
            let address = access.addresses[lane].wrapping_add(offset);
            let defined = of_lane(&bytes, lane) & all(width);
            let lasting = matches!(memories.target(address), Target::Global(_));
            if lasting && defined != all(width) {
                let address = address.wrapping_add((!defined).trailing_zeros().into());
                bad.get_or_insert(Stored { lanes: 0, slot, address }).lanes |= 1 << lane;
            } else {
                memories.put(lane, address, width, defined);
                if defined != all(width) {
                    let cause = shadow.cause(class, slot, lane, access.pc);
                    memories.blame(lane, address, width, defined, cause);
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
                return Err(Stored { lanes, slot, address: access.addresses[lane].wrapping_add(offset) });
            }
        }
        let (mut found, mut causes) = (DEFINED, Vec::new());
        for lane in lanes_of(access.lanes) {
            let address = access.addresses[lane].wrapping_add(offset);
            let defined = memories.get(lane, address, width) | !all(width);
            if defined != !0 {
                let first = address.wrapping_add((!defined).trailing_zeros().into());
                causes.push((lane, memories.cause(lane, first, access.pc)));
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

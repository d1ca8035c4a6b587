//! Origins through memory: what loads find, what stores and atomic operations leave.

use super::ground::Ground;
use super::shadow::{Rows, Words};
use crate::base::{Frame, lanes_of, number};
use crate::check::plain::{AtomicPart, atomic_parts, elements, pieces, value};
use crate::check::provenance::objects::{Id, LOST, NONE, Objects, both};
use crate::check::provenance::plan::{AccessSite, Plan, State};
use crate::program::env::AddressMap;
use crate::program::instr::{MemOp, NO_SLOT, Slot, Space, WarpRequest};
use crate::program::ops::{AtomOp, AtomTy, Class};
use crate::verdict::{Access, Contents};
use std::cell::RefCell;

/// The memories that a warp sees.
pub(super) struct Memories<'a> {
    pub objects: &'a RefCell<Objects>,
    pub global: &'a mut Words,
    pub shared: &'a mut Words,
    pub local: &'a mut Words,
    pub params: &'a [u8],
    pub map: AddressMap,
    /// Bytes of an address.
    pub pointer: u32,
}

/// The registers of lanes that access memory.
pub(super) struct Registers<'a> {
    pub plan: &'a Plan,
    pub ground: &'a Ground,
    pub rows: &'a mut Rows,
    pub regs: &'a Frame,
    pub function: u32,
}

impl Registers<'_> {
    /// What a lane's slot is derived from.
    fn get(&self, class: Class, slot: Slot, lane: usize) -> Id {
        self.ground.id(self.plan.state(self.function, class, slot), self.rows, self.regs, lane)
    }

    /// Says what a lane's slot is derived from.
    fn put(&mut self, class: Class, slot: Slot, lane: usize, id: Id) {
        if let State::Varies(row) = self.plan.state(self.function, class, slot) {
            self.rows.put(row, lane, id);
        }
    }
}

/// An address of local memory, of which each lane has its own; windows end below 2^56.
pub(super) const fn in_lane(lane: usize, address: u64) -> u64 {
    address | (lane as u64) << 56
}

impl Memories<'_> {
    /// The memory of an address, and the address in it.
    fn target(&mut self, lane: usize, address: u64) -> (&mut Words, u64) {
        match self.map.inside(address) {
            Some((Space::Shared, _)) => (self.shared, address),
            Some((Space::Local, _)) => (self.local, in_lane(lane, address)),
            _ => (self.global, address),
        }
    }

    /// What is loaded is derived from what was stored there; where nobody saw it being stored, the host did, and the value
    /// says which object it points into.
    fn load(&mut self, lane: usize, address: u64, len: u32, memory: &Contents<'_>) -> Id {
        let (words, at) = self.target(lane, address);
        let known = words.get(at, len);
        let window = self.map.inside(address);
        match window {
            Some((Space::Local, _)) => return known,
            Some((Space::Shared, _)) if known == NONE => return known,
            _ => {}
        }
        // What caches hold by then may be older than what was stored last.
        if memory.later && (known != NONE || len == self.pointer) {
            return LOST;
        }
        if known != NONE || len != self.pointer {
            return known;
        }
        let value = match window {
            Some((Space::Param, at)) => self.params.get(at as usize..at as usize + len as usize).map(number),
            _ => memory.number(address, len),
        };
        value.map_or(NONE, |value| self.objects.borrow().of_value(value))
    }

    fn store(&mut self, lane: usize, address: u64, len: u32, id: Id) {
        let (words, at) = self.target(lane, address);
        words.put(at, len, id);
    }
}

/// Carries origins through a memory action.
pub(super) fn run(site: &AccessSite, access: &Access<'_>, regs: &mut Registers<'_>, memories: &mut Memories<'_>) {
    let rq = &site.request;
    match rq.op {
        MemOp::Atom(op, ty) | MemOp::Red(op, ty) => atomic(rq, (op, ty), access, regs, memories),
        MemOp::Load | MemOp::Store => {
            let class = rq.class();
            for (slot, offset, width) in pieces(rq, &elements(rq, access, memories.map)) {
                for lane in lanes_of(access.lanes) {
                    let address = access.addresses[lane].wrapping_add(offset);
                    if rq.op == MemOp::Load {
                        let id = memories.load(lane, address, width, &access.memory);
                        regs.put(class, slot, lane, id);
                    } else {
                        let id = if site.stores { regs.get(class, slot, lane) } else { NONE };
                        memories.store(lane, address, width, id);
                    }
                }
            }
        }
    }
}

fn atomic(
    rq: &WarpRequest,
    of: (AtomOp, AtomTy),
    access: &Access<'_>,
    regs: &mut Registers<'_>,
    memories: &mut Memories<'_>,
) {
    let (class, parts) = atomic_parts(rq, of, &elements(rq, access, memories.map));
    for AtomicPart { result, operands: [b, c], offset, width } in parts {
        for lane in lanes_of(access.lanes) {
            let address = access.addresses[lane].wrapping_add(offset);
            let old = memories.load(lane, address, width, &access.memory);
            let new = match of.0 {
                AtomOp::Exch => regs.get(class, b, lane),
                AtomOp::Cas => {
                    let alone = lanes_of(access.lanes).filter(|l| access.addresses[*l] == access.addresses[lane]);
                    let found = access.memory.number(address, width).filter(|_| alone.count() == 1);
                    let mask = if width == 8 { u64::MAX } else { (1 << (8 * width)) - 1 };
                    let stored = regs.get(class, c, lane);
                    match found {
                        Some(v) if v == value(access.regs, class, b, lane) & mask => stored,
                        Some(_) => old,
                        None if stored == old => old,
                        None => LOST,
                    }
                }
                _ => both(old, regs.get(class, b, lane)),
            };
            memories.store(lane, address, width, new);
            if result != NO_SLOT {
                regs.put(class, result, lane, old);
            }
        }
    }
}

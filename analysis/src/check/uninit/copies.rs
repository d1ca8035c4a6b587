//! Definedness through asynchronous copies: bytes are defined where those are that they are taken from. It is the source as it is when the copy
//! begins; one that is written until it lands is a race.

use super::access::Memories;
use crate::base::lanes_of;
use crate::program::env::{AddressMap, ProgEnv};
use crate::program::instr::{BulkPart, Instr, MemOp, NO_SLOT, Op, Slot, WarpRequest, value};
use crate::program::ops::Class;
use crate::verdict::Access;

/// Where copies read and write, and how much.
pub(super) struct Copied<'a> {
    from: &'a WarpRequest,
    to: &'a WarpRequest,
    /// The bytes that are taken; all where it is none. Of a bulk copy all are taken that it is told of.
    size: Slot,
}

impl<'a> Copied<'a> {
    /// The copies whose destination an instruction accesses.
    pub(super) fn of(instr: &Instr, env: &'a ProgEnv) -> Option<Self> {
        if let Some((from, to)) = env.copy(instr) {
            return Some(Self { from, to, size: instr.b });
        }
        let bulk = env.bulk(instr).filter(|_| instr.op == Op::Bulk(BulkPart::To))?;
        Some(Self { from: bulk.from.as_ref()?, to: &bulk.to, size: NO_SLOT })
    }

    /// Carries definedness from their source to their destination: `access`.
    pub(super) fn run(&self, access: &Access<'_>, memories: &mut Memories<'_>) {
        let Self { from, to, size } = *self;
        for lane in lanes_of(access.lanes) {
            let taken = if size == NO_SLOT { None } else { value(access.regs, Class::W, size, lane) };
            let taken = taken.map_or(access.bytes, |size| access.bytes.min(u32::try_from(size).unwrap_or(u32::MAX)));
            // A bulk copy is told a piece after the other.
            let further = access.addresses[lane].wrapping_sub(first(to, lane, access, memories.map));
            let source = first(from, lane, access, memories.map).wrapping_add(further);
            let combines = matches!(to.op, MemOp::Red(..));
            for word in (0..access.bytes).step_by(4) {
                let left = taken.saturating_sub(word).min(4);
                let [from, to] = [source, access.addresses[lane]].map(|at| at.wrapping_add(word.into()));
                memories.copy(lane, from, to, (left, combines), access.pc);
            }
        }
    }
}

/// The first address that a lane names.
fn first(request: &WarpRequest, lane: usize, access: &Access<'_>, map: AddressMap) -> u64 {
    let base = value(access.regs, request.address_class(), request.addr, lane).unwrap_or(0);
    let address = base.wrapping_add_signed(request.offset);
    let address = if request.addr_wide { address } else { u64::from(address as u32) };
    address.wrapping_add(map.window_of(request.space))
}

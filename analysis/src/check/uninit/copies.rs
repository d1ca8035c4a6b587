//! Definedness through asynchronous copies: bytes are defined where those are that they are taken from. It is the source as it is when the copy
//! begins; one that is written until it lands is a race.

use super::access::Memories;
use crate::base::lanes_of;
use crate::program::instr::{NO_SLOT, Slot, WarpRequest, value};
use crate::program::ops::Class;
use crate::verdict::Access;

/// Carries definedness from the source of copies to their destination: `access`; `size` has the bytes that are taken, all where it is none.
pub(super) fn run(from: &WarpRequest, size: Slot, access: &Access<'_>, memories: &mut Memories<'_>) {
    for lane in lanes_of(access.lanes) {
        let number = |class, slot| value(access.regs, class, slot, lane);
        let taken = if size == NO_SLOT { None } else { number(Class::W, size) };
        let taken = taken.map_or(access.bytes, |size| access.bytes.min(u32::try_from(size).unwrap_or(u32::MAX)));
        let source = number(from.address_class(), from.addr).unwrap_or(0).wrapping_add_signed(from.offset);
        let source = if from.addr_wide { source } else { u64::from(source as u32) };
        for word in (0..access.bytes).step_by(4) {
            let left = taken.saturating_sub(word).min(4);
            let [from, to] = [source, access.addresses[lane]].map(|at| at.wrapping_add(word.into()));
            memories.copy(lane, from, to, left, access.pc);
        }
    }
}

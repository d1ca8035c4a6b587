//! Bytes that lanes of one instruction write: where they are, and which of several stores a byte keeps.

use super::element;
use super::pending::Instruction;
use crate::base::Frame;
use crate::choice::{Site, one_of};
use crate::memory::flat::{Arena, lane_address};
use crate::memory::{Cx, Issuer, Stores};
use crate::program::env::AddressMap;
use crate::program::instr::{MemOp, Space, WarpRequest};
use crate::verdict::{Rule, Sink, Stop, Who};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// A byte: of a block's shared memory, or of device memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(super) struct Byte {
    /// Whose shared memory: launch and block.
    shared: Option<(u32, u64)>,
    address: u64,
}

/// The bytes of an access.
pub(super) type Bytes = SmallVec<[Byte; 8]>;

/// Whether a request is a plain store.
pub(super) const fn stores_plainly(request: &WarpRequest) -> bool {
    matches!(request.op, MemOp::Store)
}

/// The bytes that an access of one lane and element writes; none of loads.
pub(super) fn written(instruction: &Instruction, (lane, k): (usize, usize), regs: &Frame, map: &AddressMap) -> Bytes {
    let Instruction { at, request, .. } = instruction;
    if request.op == MemOp::Load {
        return Bytes::new();
    }
    let request = element(request, k);
    let first = lane_address(&request, regs, lane);
    let bytes = u64::from(request.width);
    (0..bytes).filter_map(|k| home(&request, *at, first.wrapping_add(k), map)).collect()
}

/// Where a byte is that nobody has for himself.
fn home(request: &WarpRequest, at: Issuer, address: u64, map: &AddressMap) -> Option<Byte> {
    let shared = |address| Some(Byte { shared: Some((at.who.launch, at.who.block)), address });
    match request.space {
        Space::Shared => shared(address),
        Space::Global => Some(Byte { shared: None, address }),
        Space::Generic => match map.inside(address) {
            Some((Space::Shared, offset)) => shared(offset),
            Some(_) => None,
            None => Some(Byte { shared: None, address }),
        },
        Space::Local | Space::Param | Space::Const => None,
    }
}

impl Byte {
    /// What it holds, to be changed.
    pub(super) fn content<'a>(self, arena: &'a mut Arena, stores: &'a mut dyn Stores) -> Option<&'a mut u8> {
        match self.shared {
            Some((launch, block)) => {
                stores.shared(launch, block)?.get_mut(usize::try_from(self.address).unwrap_or(usize::MAX))
            }
            None => arena.bytes_at_mut(self.address, 1)?.first_mut(),
        }
    }
}

/// Of two stores of one instruction: a byte that held `old` by the one was just written by the other one, and keeps either.
///
/// Rule: lsc.bytes (D-lsc-bytes)
pub(super) fn either<S: Sink>(
    (byte, old): (Byte, u8),
    who: Who,
    arena: &mut Arena,
    stores: &mut dyn Stores,
    cx: &mut Cx<'_, S>,
) -> Result<(), Stop> {
    let Some(now) = byte.content(arena, stores).filter(|now| **now != old) else { return Ok(()) };
    cx.sink.fire(who, Rule::LscBytes)?;
    if one_of(cx.oracle, Site::Winner, 2)? == 0 {
        *now = old;
    }
    Ok(())
}

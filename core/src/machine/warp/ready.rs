//! Whether lanes may go on, as far as memory decides it (D-ready).

use crate::base::{LaneMask, Pc};
use crate::machine::control::{Control, Flow};
use crate::machine::warp::state::Warp;
use crate::memory::{Issuer, Memory, Uses};
use crate::verdict::Who;

/// The lanes of `flow` that may not execute its instruction yet, because of what memory has not done.
pub(super) fn blocked<M: Memory>(mem: &M, who: Who, sm: u32, uses: &[Uses], flow: Flow) -> LaneMask {
    let at = Issuer { who, pc: Pc(flow.pc), depth: flow.depth, sm };
    uses.get(flow.pc as usize).map_or(0, |uses| mem.blocked(at, uses, flow.mask))
}

/// Whether some lanes of a warp can be scheduled (report, 5.7.1, `canBeScheduled`; D-ready), as far as memory decides it.
pub fn can_be_scheduled<C: Control, M: Memory>(warp: &mut Warp<C>, who: Who, sm: u32, uses: &[Uses], mem: &M) -> bool {
    M::IMMEDIATE || warp.control.any(|flow| blocked(mem, who, sm, uses, flow) == 0)
}

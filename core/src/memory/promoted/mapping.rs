//! What PTX instructions are on this machine (D-rsp-ptx-mapping): rows of table 3, and what is ours for fences.

use crate::base::mutant::{Mutant, on};
use crate::memory::rsp::{Kind, Level, Reach, Row, Scheme, Step, Width};
use crate::program::instr::{MemOp, Order, Scope, WarpRequest};

/// How far a scope reaches. The machine has one device, which is all there is (D-rsp-ptx-device).
const fn reach(scope: Scope) -> Reach {
    match scope {
        Scope::Cta => Reach::Group,
        Scope::Lane | Scope::Cluster | Scope::Gpu | Scope::Sys => Reach::Device,
    }
}

/// The row of an access.
pub(super) fn row(rq: &WarpRequest) -> Row {
    let kind = match rq.op {
        MemOp::Load => Kind::Load,
        MemOp::Store => Kind::Store,
        MemOp::Atom(..) | MemOp::Red(..) => Kind::Update,
    };
    let remote = rq.remote && !on(Mutant::RspPtxRemoteIgnored);
    let width = match rq.order {
        Order::Weak => Width::Narrow,
        // As relaxed accesses whose scope is the system (PTX ISA, "volatile").
        Order::Volatile | Order::Mmio => Width::of(Reach::Device, remote),
        Order::Relaxed | Order::Acquire | Order::Release | Order::AcqRel | Order::Sc => {
            Width::of(reach(rq.scope), remote)
        }
    };
    Row { kind, width }
}

/// The steps of an access, by a scheme.
pub(super) fn steps(scheme: &Scheme, row: Row) -> &[Step] {
    // Both schemes have all rows that are asked for.
    scheme.row(row).unwrap_or(&[Step::Access])
}

const FLUSH: Step = Step::Flush(Level::L1, Reach::Group);
const INVALIDATE: Step = Step::Invalidate(Level::L1, Reach::Group);

/// The steps of a fence; its own, which does nothing, waits for the markers as every instruction does. Threads of a block have
/// one cache, in which everything is in order (D-rsp-ptx-fence).
pub(super) fn fence(scope: Scope, order: Order) -> &'static [Step] {
    match (reach(scope), order) {
        (Reach::Group, _) => &[],
        _ if on(Mutant::RspPtxFenceIgnored) => &[],
        (_, Order::Acquire) => &[INVALIDATE],
        (_, Order::Release) => &[FLUSH, Step::Access],
        _ => &[FLUSH, INVALIDATE],
    }
}

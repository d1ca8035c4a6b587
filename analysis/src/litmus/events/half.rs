//! Halves of atomic operations.

use crate::program::instr::Order;

/// What a memory instruction does to memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    Load,
    Store,
}

impl Half {
    /// The set of its order; `weaker` where it is neither acquire nor release. Of an atomic operation the load is an acquire only
    /// where the operation is one, the store a release likewise.
    pub(super) const fn order(self, order: Order, weaker: &'static str) -> &'static str {
        match (order, self) {
            (Order::Weak, _) => "WEAK",
            (Order::Acquire | Order::AcqRel, Self::Load) => "ACQ",
            (Order::Release | Order::AcqRel, Self::Store) => "REL",
            _ => weaker,
        }
    }
}

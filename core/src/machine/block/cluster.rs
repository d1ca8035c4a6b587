//! The barrier of a cluster (PTX ISA 9.7.13.4, `barrier.cluster`; D-cluster).
//!
//! A cluster is one block, so that its barrier is the block's own, beside the sixteen that have numbers. To arrive and to wait are two
//! instructions here: a phase is complete when all threads that have not exited have arrived in it, and the next one is open
//! at once, though some may not have waited yet. No thread arrives in the next phase before it has waited for this one, so
//! that there are never more than these two.

use crate::base::LaneMask;
use crate::machine::control::{Control, Wait};
use crate::verdict::CLUSTER;

/// What the lanes of a warp have to do with the barrier of their cluster. Lanes that have exited are in neither.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Arrivals {
    /// Those that have arrived in the phase that is open.
    pub open: LaneMask,
    /// Those that arrived in the one that is complete, and have not waited for it.
    pub past: LaneMask,
}

impl Arrivals {
    /// Lanes exit: gives how many of them had arrived in the phase that is open.
    pub const fn exit(&mut self, lanes: LaneMask) -> u32 {
        let counted = (self.open & lanes).count_ones();
        self.open &= !lanes;
        self.past &= !lanes;
        counted
    }

    /// The phase is complete: lanes of the warp with this control that wait for it go on. Gives them.
    pub(super) fn complete(&mut self, control: &mut impl Control) -> LaneMask {
        let at = |(lanes, _, wait): (LaneMask, u32, Wait)| if wait == Wait::Barrier(CLUSTER) { lanes } else { 0 };
        let waiting = control.waiting().into_iter().map(at).fold(0, |all, lanes| all | lanes);
        let open = std::mem::take(&mut self.open);
        self.past |= open & !waiting;
        if waiting & open != 0 {
            control.release(CLUSTER, waiting & open);
        }
        waiting & open
    }
}

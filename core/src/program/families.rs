//! Families of instructions.

use super::instr::Op;

impl Op {
    /// Whether threads of a block meet by it: `bar`, `barrier`, `barrier.cluster`.
    #[must_use]
    pub const fn is_barrier(self) -> bool {
        matches!(self, Self::Bar | Self::ClusterArrive { .. } | Self::ClusterWait { .. })
    }

    /// Whether it is about asynchronous copies.
    #[must_use]
    pub const fn copies(self) -> bool {
        let small =
            matches!(self, Self::CopyFrom | Self::CopyTo | Self::CopyCommit | Self::CopyArrive | Self::CopyWait);
        small || matches!(self, Self::Bulk(_) | Self::BulkCommit | Self::BulkWait { .. })
    }
}

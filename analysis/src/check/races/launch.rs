//! What a launch fixes for the race check.

use crate::verdict::Shape;

/// What a launch fixes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Launch {
    pub shape: Shape,
    pub program: u32,
    /// The number of its first warp.
    pub first: u32,
    /// Warps in a block.
    pub warps: u32,
    /// Whether the lanes of a warp execute in lockstep, one instruction after another (D-race-lockstep).
    pub lockstep: bool,
    /// Whether there is one block only.
    pub one_block: bool,
    /// Whether accesses and fences take effect later than they are issued.
    pub later: bool,
}

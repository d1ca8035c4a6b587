//! Where the warps were when a run was ended from outside.

use super::{Place, WaitingFor};

/// Live lanes that stand at one instruction, of all warps of a launch.
#[derive(Clone, PartialEq, Debug)]
pub struct Standing {
    /// The instruction, and those of the first warp that stand there.
    pub place: Place,
    /// What they wait for.
    pub on: Option<WaitingFor>,
    /// How many lanes there are, of how many warps, of how many blocks.
    pub lanes: u64,
    /// See `lanes`.
    pub warps: u64,
    /// See `lanes`.
    pub blocks: u64,
}

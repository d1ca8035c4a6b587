//! Who acts, and where.

use crate::base::{LaneMask, Pc};
use serde::{Deserialize, Serialize};

/// A warp of a grid.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Who {
    /// Number of the launch in its context, from 0.
    pub launch: u32,
    /// Linear index of the block in its grid.
    pub block: u64,
    /// Warp in its block.
    pub warp: u32,
}

/// An instruction as executed by a thread.
///
/// As data it is marked by [`Place::KEY`]: who knows the sources puts there what is to be told of it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "@thread")]
pub struct Place {
    /// The number that the host gave to the program.
    pub program: u32,
    /// The kernel.
    pub entry: String,
    /// The instruction.
    pub pc: Pc,
    /// The block's index in the grid.
    pub block: [u32; 3],
    /// The thread's index in its block.
    pub thread: [u32; 3],
    /// The warp in its block.
    pub warp: u32,
    /// The thread's lane.
    pub lane: u32,
    /// All lanes of the warp that did the same thing wrong.
    pub lanes: LaneMask,
    /// The call instructions on the thread's stack, innermost first.
    pub calls: Vec<Pc>,
}

impl Place {
    /// The key that marks it in data.
    pub const KEY: &str = "@thread";
}

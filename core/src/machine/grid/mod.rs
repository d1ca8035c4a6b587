//! The grid (report, 5.6): blocks are issued, and their warps take turns.

pub mod launch;
pub mod loaded;
pub mod state;
pub(in crate::machine) mod turns;

//! The thread (report, 5.3): what an instruction computes, for all lanes of a warp at once.

pub mod by_lane;
pub(in crate::machine) mod data;
pub(in crate::machine) mod dispatch;
pub(in crate::machine) mod format;
pub(in crate::machine) mod hot;

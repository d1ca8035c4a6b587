//! The block (report, 5.5): its warps, its shared memory, its barriers, and the step that every run and search makes.

pub mod barrier;
pub mod cluster;
pub mod state;
pub(in crate::machine) mod step;
pub(in crate::machine) mod turns;

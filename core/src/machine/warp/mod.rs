//! The warp (report, 5.4): its state, and the loop that executes its instructions.

pub(in crate::machine) mod arrive;
mod cluster;
mod copy;
pub(in crate::machine) mod exchange;
pub(in crate::machine) mod frames;
pub(in crate::machine) mod guarded;
mod image;
mod instructions;
mod lanes;
mod matrix;
mod mbarrier;
pub(crate) mod mistakes;
pub(in crate::machine) mod place;
mod product;
pub(in crate::machine) mod ready;
pub mod run;
mod runtime;
pub(in crate::machine) mod slow_path;
mod special;
pub mod state;
mod transfer;

pub use exchange::{Sources, shuffle_sources};

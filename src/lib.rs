//! warpstep: an executable semantics of CUDA/PTX.

pub mod alu;
pub mod base;
pub mod program;
pub mod ptx;

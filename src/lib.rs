//! warpstep: an executable semantics of CUDA/PTX.

pub mod base;
pub mod ptx;

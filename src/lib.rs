//! warpstep: an executable semantics of CUDA/PTX.

pub mod alu;
pub mod base;
pub mod check;
pub mod choice;
pub mod cli;
pub mod launch;
pub mod machine;
pub mod memory;
pub mod program;
pub mod ptx;
pub mod report;
pub mod verdict;

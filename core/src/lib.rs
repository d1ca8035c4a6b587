//! The lower layers of warpstep: what PTX means, and the machines that run it. The crate `warpstep` exports all of it again and is
//! the one to depend on. This one is apart so that an edit of a check, of a search or of a message does not compile it again.

pub mod alu;
pub mod base;
pub mod choice;
pub mod machine;
pub mod memory;
pub mod program;
pub mod ptx;
pub mod verdict;

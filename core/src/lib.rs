//! The layers of warpstep below its reports: what PTX means, the machines that run it, the checks that watch runs and the
//! searches through them. The crate `warpstep` exports all of it again and is the one to depend on: it adds messages
//! ([`Kernel`](https://docs.rs/warpstep), the command). This one is apart so that an edit of a message compiles in seconds.

pub mod alu;
pub mod axiom;
pub mod base;
pub mod check;
pub mod choice;
pub mod explore;
pub mod launch;
pub mod litmus;
pub mod machine;
pub mod memory;
pub mod program;
pub mod ptx;
pub mod verdict;

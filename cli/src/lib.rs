//! The text that warpstep makes of what happened ([`report`]) and its command ([`cli`]). The crate `warpstep` exports both again and
//! is the one to depend on. This one is apart because nothing in it is worth optimising: it is compiled without, in a fifth of the
//! time (benches/README.md, "Build time").

pub mod cli;
pub mod report;

// The layers below by the names that they have in `warpstep`.
use warpstep_analysis::{axiom, check, explore, launch, litmus};
use warpstep_core::{alu, base, choice, machine, memory, program, ptx, verdict};

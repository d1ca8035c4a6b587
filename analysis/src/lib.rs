//! What is asked of the machines of `warpstep-core`: checks that watch runs, launches with their expectations, searches through
//! schedules and states, and axioms and litmus tests beside them. The crate `warpstep` exports all of it again and is the one to
//! depend on. This one is apart so that both are compiled at the same time (benches/README.md, "Build time").

pub mod axiom;
pub mod check;
pub mod explore;
pub mod launch;
pub mod litmus;

// A rule of a grammar is a method of the cursor, and methods have to be in the crate of their type: so this crate has its own.
#[path = "../../core/src/base/cursor.rs"]
mod cursor;

/// The base layer, with the cursor of this crate.
mod base {
    pub(crate) use crate::cursor;
    pub(crate) use warpstep_core::base::*;
}

// The layers below by the names that they have in `warpstep`.
use warpstep_core::{alu, choice, machine, memory, program, ptx, verdict};

//! Every state of a machine with remote-scope promotion ([`crate::memory::rsp`]), once.
//!
//! The machine is not a [`crate::machine::walk::Walk`]: a walk has a PTX program, warps whose lanes have addresses in it, registers by slot,
//! and a state that can be set free under control model `thread`; what runs here has none of them. So this loop is one of its own,
//! with the same table of states ([`super::space`]). It goes breadth first, so that the way to what it finds is a shortest one.
//!
//! [`Grain::Every`] leaves nothing out. [`Grain::Needed`] leaves out what changes neither the outcomes nor the execution graphs of
//! complete executions (D-rsp-reduced); what can be left waiting for ever is looked for with the former.

mod ahead;
mod grain;
mod graph;
mod pack;
mod reduce;
mod search;
mod settle;
mod step;

pub use grain::Grain;
pub use graph::{End, Graph};
pub use reduce::l2_is_memory;
pub use search::{Found, Options, Space, explore, follow};
pub use step::Step;

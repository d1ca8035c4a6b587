//! Every state of a machine with remote-scope promotion ([`crate::memory::rsp`]), once.
//!
//! The loop is `explore::breadth`'s.
//!
//! [`Grain::Every`] leaves nothing out. [`Grain::Needed`] leaves out what changes neither the outcomes nor the execution graphs of
//! complete executions (D-rsp-reduced); what can be left waiting for ever is looked for with the former.

mod ahead;
mod grain;
mod graph;
mod pack;
mod reduce;
mod rows;
mod search;
mod settle;
mod step;

pub use grain::Grain;
pub use graph::{End, Graph};
pub use reduce::l2_is_memory;
pub use search::{Found, Options, Space, explore, follow};
pub use step::Step;

//! Control flow of one function: its graph, dominators, reconvergence regions, CRS injection and liveness.
//!
//! Source: the report's step 6 (5.1.3), whose injection it leaves abstract, and conditions (1)–(6) of 6.2. Decision
//! D-inject says how the instructions are placed.

mod breaks;
mod cycles;
pub mod dominators;
pub mod dot;
pub mod graph;
pub mod inject;
pub mod liveness;
mod merges;
mod regions;
#[cfg(test)]
mod trial;

pub use dominators::{Dominators, post_dominators};
pub use dot::dot;
pub use graph::{Block, Edge, EdgeKind, Ending, Graph};
pub use inject::{Injected, inject, inject_code};
pub use liveness::undefined_at_entry;

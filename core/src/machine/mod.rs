//! Layer 6: the machine, one folder for each level of the report's hierarchy (chapter 5).
//!
//! A warp executes an instruction for all its active lanes at once ([`warp`], `thread`); its control model says which lanes
//! those are ([`control`]); barriers belong to the [`block`]; a [`grid`] issues blocks and its warps take turns; a
//! [`context`] holds memory, programs and grids; the [`device`] holds contexts, exchanges messages with the host, and has
//! the only loop that steps. A [`Context`] of one program is what most hosts need; a [`walk`] steps for a search. Knows
//! nothing of files, of text or of many runs.

mod ahead;
mod alike;
mod alone;
pub mod block;
mod books;
mod bounds;
mod config;
pub mod context;
pub mod control;
pub mod device;
pub mod grid;
pub mod images;
#[cfg(all(feature = "native", target_arch = "x86_64"))]
mod native;
#[cfg(not(all(feature = "native", target_arch = "x86_64")))]
#[path = "native/none.rs"]
mod native;
mod observer;
mod one_program;
mod packed;
mod runner;
pub mod thread;
pub mod walk;
pub mod warp;

pub use crate::memory::MemoryModel;
pub use alone::{Alone, Apart};
pub use books::Stats;
pub use bounds::{Bounds, Host, Interrupted, Stopwatch};
pub use config::{Capacity, Config, ControlModel, DeviceShape, Engine, HeapConfig};
pub use device::Unnoticed;
pub use device::state::{Device, Order, Ran};
pub use grid::launch::Launch;
pub use observer::{Heard, Listen, Tell, again};
pub use one_program::{Context, Course};
pub use runner::{Machine, Run, machine};
pub use warp::mistakes::nothing_steps;
pub use warp::{Sources, shuffle_sources};

//! Layer 6: the machine, one module per level of the report's hierarchy (chapter 5).
//!
//! A warp executes an instruction for all its active lanes at once ([`warp`]); its control model says which lanes those
//! are ([`control`]); barriers belong to the block ([`block`], [`barrier`]); a [`grid`] issues blocks and its warps take
//! turns; a [context](context_state) holds memory, programs and grids; the [`device`] holds contexts, exchanges
//! [messages](message) with the host, and has the only loop that steps. A [`context`] of one program is what most hosts
//! need. Knows nothing of files, of text or of many runs.

mod apart;
mod arrive;
pub mod barrier;
pub mod block;
mod books;
mod bounds;
pub(crate) mod by_lane;
mod config;
pub mod context;
pub mod context_state;
pub mod control;
mod data;
pub mod device;
mod exchange;
mod fingerprint;
mod format;
pub mod grid;
mod hot;
pub mod loaded;
pub mod macro_step;
pub mod message;
mod mistakes;
pub(crate) mod observed;
mod overlap;
pub mod processors;
mod rare;
mod runner;
mod stack;
mod standing;
mod step;
mod syscall;
mod unnoticed;
mod visible;
pub mod walk;
pub mod warp;
mod watch;
mod watched;

pub use books::Stats;
pub use bounds::{Bounds, Host, Stopwatch};
pub use config::{Config, ControlModel, DeviceShape, HeapConfig, MemoryModel};
pub(crate) use context::nothing_steps;
pub use context::{Context, Course, Launch};
pub use device::{Device, Order, Ran};
pub use exchange::{Sources, shuffle_sources};
pub use observed::{Heard, Listen, Tell, again};
pub use processors::Capacity;
pub use runner::{Machine, Run, machine};
pub use unnoticed::Unnoticed;

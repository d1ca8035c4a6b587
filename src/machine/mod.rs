//! Layer 6: the machine, one module per level of the report's hierarchy (chapter 5).
//!
//! A warp executes an instruction for all its active lanes at once ([`warp`]); its control model says which lanes those
//! are ([`control`]); barriers belong to the block ([`block`], [`barrier`]); the [`device`] issues blocks and schedules
//! warps; a [`context`] holds memory and runs launches in order. Knows nothing of files, of text or of many runs.

mod apart;
pub mod barrier;
pub mod block;
pub mod context;
pub mod control;
mod data;
pub mod device;
mod exchange;
mod format;
mod hot;
pub mod loaded;
pub mod macro_step;
mod overlap;
mod rare;
mod stack;
mod syscall;
pub mod warp;
mod watch;

pub use context::{Config, Context, ControlModel, Launch, MemoryModel};
pub use device::Stats;
pub use exchange::shuffle_sources;

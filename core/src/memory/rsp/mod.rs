//! The GPU hardware of remote-scope promotion: Wickerson, Batty, Beckmann, Donaldson, "Remote-Scope Promotion: Clarified, Rectified,
//! and Verified" (OOPSLA 2015), sections 5.1 to 5.3 and, for the ghost state, 6.2. "The paper" here.
//!
//! A [`System`] is devices with an L2 cache and a lock file each, work-groups with an L1 cache and an rmw lock each, threads with
//! registers, and global memory. It makes two kinds of steps: a thread executes an instruction of a small assembly language
//! ([`Instruction`], table 1, `instructions`), or the environment moves an entry of a cache ([`Move`], table 2, `environment`). A
//! step that is blocked gives nothing. The rules are over [`Hardware`], which the memory of PTX kernels is, too. Who steps is not decided here, and what a program is compiled from is not known.
//!
//! Departures from the paper: control flow and arithmetic on registers, which it leaves out; read-modify-writes beside increments
//! (D-rsp-update); instructions for scope ALL, which its tables have no counterpart of (D-rsp-all). Decisions where it is silent
//! are in spec-notes/rsp-machine.md.

mod assembly;
mod bound;
mod control;
pub(super) mod environment;
mod hardware;
pub(super) mod instructions;
mod scheme;
mod state;

pub use assembly::{
    Event, Function, Instruction, Level, Location, Operand, Program, Reach, Register, Thread, TooBig, Update,
};
pub use bound::Move;
pub use hardware::{Cache as CacheAt, CacheOf, Hardware, MarkOf};
pub use instructions::Fired;
pub use scheme::{Kind, Row, Scheme, SchemeName, Step, Width};
pub use state::{Cache, Entry, Fifo, Ghost, Hygiene, Lock, Mark, Place, Source, System};

/// Devices at most.
pub const DEVICES: usize = 4;
/// Work-groups at most, of all devices together.
pub const GROUPS: usize = 6;
/// Threads at most, of all work-groups together.
pub const THREADS: usize = 8;
/// Locations at most.
pub const LOCATIONS: usize = 8;
/// Registers at most, of all threads together.
pub const REGISTERS: usize = 24;
/// Accesses to memory at most, of all threads together.
pub const EVENTS: usize = 24;
/// Elements of a synchronisation fifo at most.
pub const FIFO: usize = 26;

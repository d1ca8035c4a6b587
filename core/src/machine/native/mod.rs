//! Kernels as machine code: an optimisation that no result can be told from the interpreter by.
//!
//! A kernel that has run for a while is compiled: whole warps at a time, registers that lie on a line over the lanes
//! (D-affine) as numbers, the others in strips of four lanes. Native code is entered between instructions and leaves there; it
//! does nothing that it has not checked before. Faults, branches that part lanes, barriers, ends of turns and everything that is
//! not compiled are left to the interpreter or to the control model, from the state that the interpreter would be in: `go` goes
//! back and forth, and `phases` runs the warps of a block one after the other. `plan` says what is compiled how, `emit` makes it,
//! `code` has it in memory. Functions that are called have code of their own (`nested`). Checks that take accesses as rows observe native code (`watch`, `tell`).

mod apart;
mod callees;
mod calls;
mod code;
mod context;
mod each;
mod emit;
mod forms;
mod functions;
mod go;
mod groups;
mod host;
mod lines;
mod moded;
mod nest;
mod nested;
mod ops;
mod parted;
mod phases;
mod plan;
mod regions;
mod session;
mod stacked;
mod tell;
mod visit;
mod watch;

pub(in crate::machine) use go::{go, settle};
pub(in crate::machine) use lines::Lines;
pub(in crate::machine) use phases::phases;
pub(in crate::machine) use session::{Session, session};
pub(in crate::machine) use visit::Went;

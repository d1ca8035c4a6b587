//! The context (report, 5.7): memory, programs and grids, and how memory and warps step together.

pub(in crate::machine) mod fault;
mod launch;
pub mod macro_step;
mod overlap;
pub mod processors;
pub(in crate::machine) mod resident;
mod standing;
pub mod state;
pub(in crate::machine) mod step;
pub(in crate::machine) mod visible;

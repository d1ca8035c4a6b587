//! Who is like whom in a launch: threads, warps and blocks that differ in nothing that the program can tell (D-symmetry).
//!
//! Two threads are alike if the program comes to the same for both once what follows from their indices is put in
//! ([`follows`]): the same registers follow from an index where an instruction is about to be executed, guards come out the
//! same, and what goes into memory, into addresses or into other registers has the same value. Exchanged are then lanes of one
//! such kind within a block, warps whose lanes are alike each to each, blocks whose threads are (scalarsets, C. N. Ip and
//! D. Dill, "Better Verification Through Symmetry", 1996).

mod classes;
mod follows;
mod level;

pub(super) use classes::Alike;
pub(super) use follows::{Follow, Steady, put_value};
pub(super) use level::Within;
pub use level::{Exchanged, Likeness, Unlike};

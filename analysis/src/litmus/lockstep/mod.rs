//! Tests for wavefronts, after Puthoor, Lipasti, "Systems-on-Chip with Strong Ordering" (TACO 2021): a row is one instruction of each
//! wavefront, whose lanes execute it in lockstep. Read by [`parse`](super::parse()), written by [`print()`]; what axioms are asked
//! about is [`Waves`], and [`machine`] goes through all that the three models' own machines do.

mod bytes;
mod check;
mod column;
pub mod machine;
mod print;
mod runner;
mod tree;
mod wave;
mod waves;

pub(super) use check::check;
pub use column::{Column, FIRST, LANES};
pub use print::print;
pub use tree::{Cell, LOCATION, Op, Program, Size, Spot, Test};
pub use waves::Waves;

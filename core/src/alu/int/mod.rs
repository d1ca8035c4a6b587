//! Integers, bits and predicates (PTX ISA, "Integer Arithmetic Instructions", "Extended-Precision Integer Arithmetic
//! Instructions", "Comparison and Selection Instructions", "Logic and Shift Instructions", and the integer parts of
//! "Data Movement and Conversion Instructions").
//!
//! The table of operations (`ops`) has their formulas; the other files what takes more than a line. Where PTX leaves a
//! result open, the choice is what the hardware does: division by zero gives all ones, its remainder, too (D-div0).
//!
//! Branches are avoided where a select serves, so that a loop over lanes becomes vector code.

mod arith;
mod bits;
mod carry;
mod convert;
mod dot;
mod ops;
mod packed;
#[cfg(test)]
pub(crate) mod spec;
#[cfg(test)]
mod spec_bits;
#[cfg(test)]
mod spec_video;
#[cfg(test)]
mod tests;
mod video;

pub use convert::IntCvt;
pub(super) use convert::{extend, range};
pub(crate) use ops::int_ops;
pub use ops::*;
pub use video::{Second, Video};

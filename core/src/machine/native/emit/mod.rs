//! A kernel's machine code: one function for warps all of whose lanes run, one for some of them.
//!
//! A block is cut into segments wherever the order of accesses between lanes could matter, and around what goes by way of the
//! machine. Of a segment come first what is computed once for all lanes, and all checks: while one can still fail nothing has
//! been done, so that it is exact to leave at the segment's first instruction. Then come eight strips of four lanes, each
//! straight through. What is alive at its end is in the frame (vectors) or in variables (lines, predicates).

mod access;
mod ahead;
mod atomic;
mod bits;
mod builder;
mod compute;
mod double;
mod each;
mod ends;
mod frame;
mod function;
mod groups;
mod halves;
mod idle;
mod inside;
mod modes;
mod nans;
mod order;
mod region;
mod segment;
mod strips;
mod told;
mod values;
mod within;
mod words;

pub(super) use builder::{Helpers, Made, Setting};
pub(super) use function::emit;

//! Selection: the operation that an instruction's opcode and modifiers name.
//!
//! Works on instructions that were checked to be well-formed; an answer of `None` means that the vertical does not know
//! the instruction. Operands keep PTX's order after the destination.

pub mod atom;
mod convert;
pub mod float;
pub mod int;
pub mod int_cvt;
#[cfg(test)]
mod int_tests;

use super::int_ops::IntOp;
use super::ops::AluOp;

/// What an instruction computes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Selected {
    /// The operation.
    pub op: AluOp,
    /// Its mode word; zero where the operation has none.
    pub mode: u32,
}

impl From<IntOp> for Selected {
    fn from(op: IntOp) -> Self {
        Self { op: AluOp::Int(op), mode: 0 }
    }
}

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
use crate::ptx::{Modifier, Opcode};

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

/// The operation of a checked instruction from either vertical; see [`int::select`] and [`float::select`].
#[must_use]
pub fn select(opcode: Opcode, mods: &[Modifier]) -> Option<Selected> {
    int::select(opcode, mods).or_else(|| float::select(opcode, mods))
}

/// The comparison of two values of a type, of shape `(x x) -> p`; see [`int::compare`] and [`float::compare`].
#[must_use]
pub fn compare(cmp: Modifier, ty: Modifier, ftz: bool) -> Option<AluOp> {
    int::compare(cmp, ty, ftz).or_else(|| float::compare(cmp, ty, ftz))
}

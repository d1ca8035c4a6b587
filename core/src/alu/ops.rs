//! The operations of instructions, with their types resolved.

use crate::base::words;
use serde::{Deserialize, Serialize};

pub use super::float::FloatOp;
pub use super::int::IntOp;
pub use super::table::{Class, Shape};

/// An operation on integers or on floating-point numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AluOp {
    /// Integers, bits, predicates.
    Int(IntOp),
    /// Floating-point numbers and their conversions.
    Float(FloatOp),
}

impl AluOp {
    /// The operation that the tables of forms call so.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        IntOp::named(name).map(Self::Int).or_else(|| FloatOp::named(name).map(Self::Float))
    }

    /// What the operation reads and writes.
    #[must_use]
    pub fn shape(self) -> Shape {
        match self {
            Self::Int(op) => op.shape(),
            Self::Float(op) => op.shape(),
        }
    }
}

impl From<IntOp> for AluOp {
    fn from(op: IntOp) -> Self {
        Self::Int(op)
    }
}

impl From<FloatOp> for AluOp {
    fn from(op: FloatOp) -> Self {
        Self::Float(op)
    }
}

words! {
    /// The operations of `atom` and `red` (PTX ISA, "Parallel Synchronization and Communication Instructions: atom").
    #[derive(Serialize, Deserialize)]
    pub enum AtomOp {
        /// Bitwise and.
        And = "and",
        /// Bitwise or.
        Or = "or",
        /// Bitwise exclusive or.
        Xor = "xor",
        /// Addition.
        Add = "add",
        /// Increment, back to zero at the bound.
        Inc = "inc",
        /// Decrement, from zero to the bound.
        Dec = "dec",
        /// Minimum.
        Min = "min",
        /// Maximum.
        Max = "max",
        /// Exchange.
        Exch = "exch",
        /// Compare and swap.
        Cas = "cas",
        /// What `mbarrier` does to a barrier ([`super::mbarrier::perform`]); no name that `atom` has.
        Barrier = "mbarrier",
    }
}

words! {
    /// The types of atomic operations. A vector is several scalars, each atomic by itself.
    #[derive(Serialize, Deserialize)]
    #[allow(missing_docs, reason = "named as PTX names them")]
    pub enum AtomTy {
        B16 = "b16",
        B32 = "b32",
        B64 = "b64",
        B128 = "b128",
        U32 = "u32",
        U64 = "u64",
        S32 = "s32",
        S64 = "s64",
        F16 = "f16",
        F16x2 = "f16x2",
        Bf16 = "bf16",
        Bf16x2 = "bf16x2",
        F32 = "f32",
        /// f32 in a state space whose atomic addition flushes subnormal numbers (global memory on today's hardware).
        F32Ftz = "f32.ftz",
        F64 = "f64",
        /// f64 in a state space whose atomic addition leaves NaN as it is (global memory on today's hardware).
        F64Raw = "f64.raw",
    }
}

impl AtomTy {
    /// Whether an element is a floating-point number, or two.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(
            self,
            Self::F16 | Self::F16x2 | Self::Bf16 | Self::Bf16x2 | Self::F32 | Self::F32Ftz | Self::F64 | Self::F64Raw
        )
    }

    /// The size of one element in bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::B16 | Self::F16 | Self::Bf16 => 2,
            Self::B32 | Self::U32 | Self::S32 | Self::F16x2 | Self::Bf16x2 | Self::F32 | Self::F32Ftz => 4,
            Self::B64 | Self::U64 | Self::S64 | Self::F64 | Self::F64Raw => 8,
            Self::B128 => 16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_keeps_the_tables_rules() {
        let all = IntOp::ALL.iter().map(|op| AluOp::Int(*op)).chain(FloatOp::ALL.iter().map(|op| AluOp::Float(*op)));
        for op in all {
            let shape = op.shape();
            assert!(
                !(shape.mode && (shape.carry_out || shape.sources.len() == 4)),
                "{op:?} has a mode and no room for it"
            );
        }
    }
}

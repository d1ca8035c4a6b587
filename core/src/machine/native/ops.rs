//! The operations that native code has instructions for. All others go by way of the machine's own, on the frame.

use super::moded::Moded;
use crate::alu::float::FloatOp;
use crate::alu::int::IntOp;
use crate::program::instr::{Instr, Op};
use crate::program::ops::Shape;

/// A data operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ops {
    Int(IntOp),
    Float(FloatOp),
}

impl Ops {
    /// That of an instruction.
    pub const fn of(i: &Instr) -> Option<Self> {
        match i.op {
            Op::Int(op) => Some(Self::Int(op)),
            Op::Float(op) => Some(Self::Float(op)),
            _ => None,
        }
    }

    /// What it reads and writes.
    pub fn shape(self) -> Shape {
        match self {
            Self::Int(op) => op.shape(),
            Self::Float(op) => op.shape(),
        }
    }

    /// Whether it combines predicates, all lanes at once.
    pub const fn is_logic(self) -> bool {
        use IntOp as I;
        matches!(self, Self::Int(I::NotP | I::AndP | I::OrP | I::XorP | I::MovP | I::SelP))
    }
}

/// Whether there are vector instructions for it whatever its operands are held as.
const fn vectors(op: Ops) -> bool {
    match op {
        Ops::Int(op) => integers(op) || compares(op),
        Ops::Float(op) => singles(op) || doubles(op),
    }
}

/// Those on integers and bits.
const fn integers(op: IntOp) -> bool {
    use IntOp as I;
    matches!(
        op,
        I::MovW
            | I::MovQ
            | I::Add32
            | I::Add64
            | I::Sub32
            | I::Sub64
            | I::MulLo32
            | I::MulLo64
            | I::MadLo32
            | I::MadLo64
            | I::MulWideS32
            | I::MulWideU32
            | I::MadWideS32
            | I::MadWideU32
            | I::And32
            | I::And64
            | I::Or32
            | I::Or64
            | I::Xor32
            | I::Xor64
            | I::Not32
            | I::Not64
            | I::Neg32
            | I::Neg64
            | I::AbsS32
            | I::MinS32
            | I::MaxS32
            | I::MinU32
            | I::MaxU32
            | I::SelW
            | I::SelQ
            | I::ZextWQ
            | I::SextWQ
            | I::TruncQW
            | I::Hi32
            | I::Pack32x2
            | I::MulHiU32
            | I::MulHiS32
            | I::Lop3
            | I::Lo16
            | I::Hi16
            | I::Zx16
            | I::Zx8
            | I::Sx16W
            | I::Sx8W
            | I::Pack16x2
    )
}

/// Comparisons of integers.
const fn compares(op: IntOp) -> bool {
    use IntOp as I;
    matches!(
        op,
        I::EqW
            | I::NeW
            | I::LtS32
            | I::LeS32
            | I::GtS32
            | I::GeS32
            | I::LtU32
            | I::LeU32
            | I::GtU32
            | I::GeU32
            | I::EqQ
            | I::NeQ
            | I::LtS64
            | I::LeS64
            | I::GtS64
            | I::GeS64
            | I::LtU64
            | I::LeU64
            | I::GtU64
            | I::GeU64
    )
}

/// Those on floating-point numbers of 32 bits.
const fn singles(op: FloatOp) -> bool {
    use FloatOp as F;
    matches!(
        op,
        F::AddF32
            | F::SubF32
            | F::MulF32
            | F::FmaF32
            | F::DivF32
            | F::RcpF32
            | F::SqrtF32
            | F::RsqrtF32
            | F::NegF32
            | F::AbsF32
            | F::MinF32
            | F::MaxF32
            | F::F32OfS32
            | F::F32OfU32
            | F::S32OfF32
            | F::U32OfF32
            | F::EqF32
            | F::NeF32
            | F::LtF32
            | F::LeF32
            | F::GtF32
            | F::GeF32
            | F::EquF32
            | F::NeuF32
            | F::LtuF32
            | F::LeuF32
            | F::GtuF32
            | F::GeuF32
            | F::NumF32
            | F::NanF32
    )
}

/// Those that read or write floating-point numbers of 64 bits.
const fn doubles(op: FloatOp) -> bool {
    use FloatOp as F;
    matches!(
        op,
        F::AddF64
            | F::SubF64
            | F::MulF64
            | F::FmaF64
            | F::DivF64
            | F::RcpF64
            | F::SqrtF64
            | F::NegF64
            | F::AbsF64
            | F::MinF64
            | F::MaxF64
            | F::F64OfF32
            | F::F32OfF64
            | F::F64OfS32
            | F::F64OfU32
            | F::EqF64
            | F::NeF64
            | F::LtF64
            | F::LeF64
            | F::GtF64
            | F::GeF64
            | F::EquF64
            | F::NeuF64
            | F::LtuF64
            | F::LeuF64
            | F::GtuF64
            | F::GeuF64
            | F::NumF64
            | F::NanF64
    )
}

/// Whether it shifts by its second operand.
pub(super) const fn shifts(op: Ops) -> bool {
    use IntOp as I;
    matches!(op, Ops::Int(I::Shl32 | I::ShrU32 | I::ShrS32 | I::Shl64 | I::ShrU64 | I::ShrS64))
}

/// Whether it is computed lane by lane in strips; `one`: whether a shift is by the same amount in all lanes.
pub(super) const fn by_lane(op: Ops, one: bool) -> bool {
    use IntOp as I;
    let Ops::Int(op) = op else { return false };
    match op {
        I::ShrU32 | I::ShrS32 | I::Shl64 | I::ShrU64 | I::ShrS64 => !one,
        _ => matches!(
            op,
            I::Popc32
                | I::Popc64
                | I::Clz32
                | I::Clz64
                | I::Brev32
                | I::BfindU32
                | I::BfindS32
                | I::BfindShiftamtU32
                | I::MulHiU64
                | I::MulHiS64
                | I::DivU32
                | I::DivS32
                | I::RemU32
                | I::RemS32
                | I::BfeU32
                | I::BfeS32
                | I::Bfi32
                | I::ShfLWrap
                | I::ShfRWrap
        ),
    }
}

/// Whether this computer has the instructions: without them a NaN would be that of a library.
fn possible(op: Ops) -> bool {
    op != Ops::Float(FloatOp::FmaF64) || is_x86_feature_detected!("fma") && is_x86_feature_detected!("avx")
}

/// Whether there are scalar instructions for it.
pub(super) fn scalar_op(op: Ops) -> bool {
    strip_op(op, 0) && moded(op, 0).is_none() || op.is_logic()
}

/// Whether it can be computed in strips with its mode, whatever its operands are held as.
pub(super) fn strip_op(op: Ops, mode: u32) -> bool {
    possible(op) && (vectors(op) || shifts(op) || by_lane(op, false) || moded(op, mode).is_some())
}

/// What an operation with its mode is, if there are instructions for that.
pub(super) fn moded(op: Ops, mode: u32) -> Option<Moded> {
    match op {
        Ops::Float(op) => Moded::of(op, mode),
        Ops::Int(_) => None,
    }
}

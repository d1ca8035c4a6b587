//! Selection of the functions of `atom` and `red` (PTX ISA, "Parallel Synchronization and Communication Instructions").

use crate::program::ops::{AtomOp, AtomTy};
use crate::ptx::Modifier as M;

/// The function and the element type of an atomic operation; `None` for a pair that PTX does not have.
///
/// A bit-size operation takes any type of its width, since old compilers write `atom.exch.u32` and `atom.cas.u64`.
/// `.f32` is given without flushing: whether the state space flushes is known only with the address
/// ([`AtomTy::F32Ftz`]).
#[must_use]
pub fn atom(op: M, ty: M) -> Option<(AtomOp, AtomTy)> {
    let bits = match ty {
        M::B16 => Some(AtomTy::B16),
        M::B32 | M::U32 | M::S32 | M::F32 => Some(AtomTy::B32),
        M::B64 | M::U64 | M::S64 | M::F64 => Some(AtomTy::B64),
        M::B128 => Some(AtomTy::B128),
        _ => None,
    };
    let integer = match ty {
        M::U32 => Some(AtomTy::U32),
        M::S32 => Some(AtomTy::S32),
        M::U64 => Some(AtomTy::U64),
        M::S64 => Some(AtomTy::S64),
        _ => None,
    };
    let half = match ty {
        M::F16 => Some(AtomTy::F16),
        M::F16X2 => Some(AtomTy::F16x2),
        M::BF16 => Some(AtomTy::Bf16),
        M::BF16X2 => Some(AtomTy::Bf16x2),
        _ => None,
    };
    let float = match ty {
        M::F32 => Some(AtomTy::F32),
        M::F64 => Some(AtomTy::F64),
        _ => half,
    };
    let wordwise = bits.filter(|ty| matches!(ty, AtomTy::B32 | AtomTy::B64));
    Some(match op {
        M::AND => (AtomOp::And, wordwise?),
        M::OR => (AtomOp::Or, wordwise?),
        M::XOR => (AtomOp::Xor, wordwise?),
        M::EXCH => (AtomOp::Exch, bits.filter(|ty| *ty != AtomTy::B16)?),
        M::CAS => (AtomOp::Cas, bits?),
        M::ADD => (AtomOp::Add, integer.or(float)?),
        M::INC => (AtomOp::Inc, integer.filter(|ty| *ty == AtomTy::U32)?),
        M::DEC => (AtomOp::Dec, integer.filter(|ty| *ty == AtomTy::U32)?),
        M::MIN => (AtomOp::Min, integer.or(half)?),
        M::MAX => (AtomOp::Max, integer.or(half)?),
        _ => return None,
    })
}

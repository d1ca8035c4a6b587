//! Sizes and kinds of PTX types as lowering needs them (PTX ISA 5.2).

use crate::program::consts::Value;
use crate::program::ops::Class;
use crate::ptx::Modifier as M;

/// Bits of a value of a type, 1 for predicates; `None` for words that are not types.
pub(in crate::program) fn bits_of(ty: M) -> Option<u32> {
    Some(match ty {
        M::PRED => 1,
        M::U8 | M::S8 | M::B8 | M::E4M3 | M::E5M2 | M::E2M1X2 => 8,
        M::U16 | M::S16 | M::B16 | M::F16 | M::BF16 => 16,
        M::E4M3X2 | M::E5M2X2 | M::E2M3X2 | M::E3M2X2 | M::UE8M0X2 => 16,
        M::U32 | M::S32 | M::B32 | M::F32 | M::TF32 => 32,
        M::F16X2 | M::BF16X2 | M::U16X2 | M::S16X2 | M::B16X2 | M::U8X4 | M::S8X4 | M::E4M3X4 | M::E5M2X4 => 32,
        M::U64 | M::S64 | M::B64 | M::F64 | M::F32X2 => 64,
        M::B128 => 128,
        // References to textures and the like are handles.
        M::TEXREF | M::SAMPLERREF | M::SURFREF => 64,
        _ => return None,
    })
}

/// Whether a type is a signed integer.
pub(in crate::program) fn is_signed(ty: M) -> bool {
    matches!(ty, M::S8 | M::S16 | M::S32 | M::S64)
}

/// The slot class of a value of so many bits.
pub(in crate::program) fn class_of(bits: u32) -> Class {
    match bits {
        1 => Class::P,
        0..=32 => Class::W,
        _ => Class::Q,
    }
}

/// The bits of a constant as a value of a type; `None` where it is none (an address, a fraction as an integer).
pub(in crate::program) fn constant_bits(value: Value, ty: M) -> Option<u64> {
    let bits = bits_of(ty)?;
    let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
    Some(match value {
        Value::Int { bits: value, unsigned } => match ty {
            M::PRED => u64::from(value != 0),
            // An integer where a number with a fraction is meant is converted, as ptxas does in initialisers.
            M::F16 | M::BF16 | M::F32 | M::F64 => float_bits(integer(value, unsigned), ty),
            _ => value & mask,
        },
        Value::F32(value) => match ty {
            M::F64 | M::B64 => f64::from(f32::from_bits(value)).to_bits(),
            M::F16 | M::BF16 => float_bits(f64::from(f32::from_bits(value)), ty),
            _ => u64::from(value) & mask,
        },
        Value::F64(value) => match ty {
            M::F64 | M::B64 | M::F32 | M::B32 | M::F16 | M::BF16 => float_bits(value, ty),
            _ => return None,
        },
        Value::Address(_) => return None,
    })
}

#[expect(clippy::cast_precision_loss, reason = "the nearest number is meant")]
fn integer(bits: u64, unsigned: bool) -> f64 {
    if unsigned { bits as f64 } else { bits.cast_signed() as f64 }
}

#[expect(clippy::cast_possible_truncation, reason = "rounding to the type is meant (PTX ISA 4.5.2)")]
fn float_bits(value: f64, ty: M) -> u64 {
    match ty {
        M::F16 => u64::from(half::f16::from_f64(value).to_bits()),
        M::BF16 => u64::from(half::bf16::from_f64(value).to_bits()),
        M::F32 | M::B32 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    }
}

//! The slots and constants of PTX types (PTX ISA 5.2).

use crate::program::consts::Value;
use crate::program::ops::Class;
use crate::program::types::bits_of;
use crate::ptx::Modifier as M;

/// The slot class of a value of so many bits.
pub(in crate::program) fn class_of(bits: u32) -> Class {
    match bits {
        1 => Class::P,
        0..=32 => Class::W,
        _ => Class::Q,
    }
}

/// The class of a type's values.
pub(super) fn class_of_type(ty: M) -> Class {
    class_of(bits_of(ty).unwrap_or(32))
}

/// The untyped bits of a size.
pub(super) fn bits_type(bits: u32) -> M {
    match bits {
        1 => M::PRED,
        0..=8 => M::B8,
        9..=16 => M::B16,
        17..=32 => M::B32,
        _ => M::B64,
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

//! Rounding to a side (`.rz`, `.rm`, `.rp`) in single precision by the host's arithmetic: these vectorise.
//!
//! A sum in double precision that is rounded to odd is on its own side of every single, so the nearest single needs one step at most.

use super::fused::add_to_odd;
use super::single::SIGN32;
use crate::alu::mode::Rounding;
use crate::alu::table::Bits;

/// A number that is exact or rounded to odd, as the single on a side of it.
#[inline(always)]
pub(super) fn to_side(value: f64, to: Rounding) -> u32 {
    let near = value as f32;
    let (wide, bits) = (f64::from(near), near.put());
    let (beyond, outwards) = match to {
        Rounding::Down => (wide > value, bits & SIGN32 != 0),
        Rounding::Up => (wide < value, bits & SIGN32 == 0),
        _ => (wide.abs() > value.abs(), false),
    };
    let stepped = if outwards { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    if beyond { stepped } else { bits }
}

/// `fma` to a side. A sum of zero that is exact has a sign of its own: only downwards one minus will do.
#[inline(always)]
pub(super) fn fused_to_side(a: f32, b: f32, c: f32, to: Rounding) -> u32 {
    let sum = add_to_odd(f64::from(a) * f64::from(b), f64::from(c));
    let minus = (a.to_bits() ^ b.to_bits() | c.to_bits()) & SIGN32;
    to_side(sum, to) | if matches!(to, Rounding::Down) & (sum == 0.0) { minus } else { 0 }
}

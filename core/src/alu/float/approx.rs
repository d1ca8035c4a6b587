//! Approximate instructions (decision D-approx in the folder's header).
//!
//! PTX bounds their errors; the results here are within half a unit in the last place of the f64 result, except where
//! said, and obey PTX's tables of special values.

use super::double::SIGN64;
use super::single::{UP, flush_if, flush_tiny};
use crate::alu::mode::FMode;
use crate::alu::table::Bits;

/// `div.approx`: PTX's quotient is `a · (1/b)`, and for 2^126 < |b| < 2^128 it is zero, or NaN where `a` is infinite.
#[inline]
pub(super) fn approximate_quotient(a: u32, b: u32, mode: FMode) -> u32 {
    let (a, b) = (flush_if(a, mode), flush_if(b, mode));
    let divisor = f32::from_bits(b & 0x7fff_ffff);
    // The reciprocal is subnormal and taken as zero.
    let tiny = (divisor > 8.507_059e37) & (divisor < f32::INFINITY);
    let zero = b & 0x8000_0000;
    let quotient = |a: f32| if tiny { a * f32::from_bits(zero) } else { a / f32::from_bits(b) };
    flush_tiny(quotient(f32::from_bits(a)), quotient(f32::from_bits(a) * UP), mode.has(FMode::FTZ))
}

/// An f64 function of a single, rounded once.
#[inline]
pub(super) fn through_double(a: u32, mode: FMode, function: impl Fn(f64) -> f64) -> u32 {
    let value = f64::from(f32::from_bits(flush_if(a, mode)));
    flush_if((function(value) as f32).put(), mode)
}

const INFINITY: u64 = 0x7ff0_0000_0000_0000;
const UPPER: u64 = 0xffff_ffff_0000_0000;
/// Theirs: the canonical one of 32 bits, in the half that is computed.
const NAN: u64 = 0x7fff_ffff_0000_0000;

/// The gross approximations, of 20 bits of fraction from 20 bits of fraction: the upper half of the source is used, and
/// only that half of the result is computed.
#[inline]
pub(super) fn gross(a: u64, function: impl Fn(f64) -> f64) -> u64 {
    let flush = |x: u64| if x & INFINITY == 0 { x & SIGN64 } else { x };
    let result = function(f64::from_bits(flush(a & UPPER))).to_bits();
    // To nearest; the carry may reach the exponent, and never infinity's, which no quotient comes near.
    let rounded = result.wrapping_add(0x7fff_ffff + (result >> 32 & 1)) & UPPER;
    let result = if result & INFINITY == INFINITY { result } else { flush(rounded) };
    // Also of a NaN whose upper half alone is infinity's: PTX's tables say so.
    if (a & !SIGN64 > INFINITY) | (result & !SIGN64 > INFINITY) { NAN } else { result }
}

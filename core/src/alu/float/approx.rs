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

/// 2ⁿ / n! times powers of the logarithm of 2: what 2ˣ is near zero, without the first, which is 1; the last one first.
const POWERS: [f64; 13] = [
    1.369_148_885_390_412_9e-12,
    2.567_843_599_348_820_5e-11,
    4.445_538_271_870_811_5e-10,
    7.054_911_620_801_123e-9,
    1.017_808_600_923_97e-7,
    1.321_548_679_014_431e-6,
    1.525_273_380_405_984e-5,
    1.540_353_039_338_161e-4,
    1.333_355_814_642_844_3e-3,
    9.618_129_107_628_477e-3,
    5.550_410_866_482_158e-2,
    2.402_265_069_591_007e-1,
    std::f64::consts::LN_2,
];
/// Beyond it, and below its negation, 2ˣ is infinite or zero in single precision.
const FAR: f64 = 200.0;
/// Added to a smaller number it leaves the nearest integer in the lowest bits.
const TO_INTEGER: f64 = 6_755_399_441_055_744.0;

/// 2ˣ of a single, near enough to be rounded to the single that the `libm` crate's result gives (all of them were compared). It
/// vectorises.
#[inline(always)]
pub(super) fn power_of_two(x: f64) -> f64 {
    let x = if x > FAR { FAR } else { x };
    let x = if x < -FAR { -FAR } else { x };
    let near = x + TO_INTEGER;
    let rest = x - (near - TO_INTEGER);
    let series = POWERS[1..].iter().fold(POWERS[0], |sum, factor| sum * rest + factor);
    let value = 1.0 + series * rest;
    // The exponent; of a NaN nothing is added.
    f64::from_bits(value.to_bits().wrapping_add(near.to_bits() << 52))
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

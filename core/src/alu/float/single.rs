//! `.f32` and `.f32x2` arithmetic.

use super::fused::fused32;
use super::soft::{F32, Value};
use crate::alu::mode::{FMode, Property, Rounding};
use crate::alu::table::{Bits, NAN32};

pub(super) const SIGN32: u32 = 1 << 31;
const INFINITY: u32 = 0x7f80_0000;

/// Subnormal numbers become zeros of the same sign.
#[inline(always)]
pub(super) const fn flush32(a: u32) -> u32 {
    if a & INFINITY == 0 { a & SIGN32 } else { a }
}

#[inline(always)]
pub(super) fn flush_if(a: u32, mode: FMode) -> u32 {
    if mode.has(FMode::FTZ) { flush32(a) } else { a }
}

/// Clamps to [+0, 1]; NaN becomes +0.
#[inline(always)]
pub(super) fn saturate32(a: u32) -> u32 {
    let value = f32::from_bits(a);
    // False for NaN and for both zeros, which leaves +0.
    let positive = if value > 0.0 { a } else { 0 };
    if value > 1.0 { 1.0f32.to_bits() } else { positive }
}

/// What `.ftz` and `.sat` do to a result.
#[inline(always)]
pub(super) fn finish32(result: u32, mode: FMode) -> u32 {
    let result = flush_if(result, mode);
    if mode.has(FMode::SAT) { saturate32(result) } else { result }
}

pub(super) fn decode32(a: u32) -> Value {
    F32.decode(u64::from(a))
}

pub(super) fn encode32(value: Value, rounding: Rounding) -> u32 {
    F32.encode(value, rounding, false, None) as u32
}

#[inline(always)]
fn f(a: u32) -> f32 {
    f32::from_bits(a)
}

/// A sum with any rounding, `.ftz`, `.sat`.
#[inline]
pub(super) fn sum32(a: u32, b: u32, mode: FMode) -> u32 {
    let (a, b) = (flush_if(a, mode), flush_if(b, mode));
    let result = match mode.rounding() {
        Rounding::NearestEven => (f(a) + f(b)).put(),
        rounding => add_soft(a, b, rounding),
    };
    finish32(result, mode)
}

/// A product with any rounding, `.ftz`, `.sat`.
#[inline]
pub(super) fn product32(a: u32, b: u32, mode: FMode) -> u32 {
    let (a, b) = (flush_if(a, mode), flush_if(b, mode));
    let result = match mode.rounding() {
        Rounding::NearestEven => (f(a) * f(b)).put(),
        rounding => mul_soft(a, b, rounding),
    };
    finish32(result, mode)
}

/// `fma` and `mad` with any rounding, `.ftz`, `.sat`.
#[inline]
pub(super) fn fused_mode32(a: u32, b: u32, c: u32, mode: FMode) -> u32 {
    let (a, b, c) = (flush_if(a, mode), flush_if(b, mode), flush_if(c, mode));
    let result = match mode.rounding() {
        Rounding::NearestEven => fused32(f(a), f(b), f(c)).put(),
        rounding => fma_soft(a, b, c, rounding),
    };
    finish32(result, mode)
}

/// A quotient with any rounding, `.ftz`.
#[inline]
pub(super) fn quotient32(a: u32, b: u32, mode: FMode) -> u32 {
    finish32(div_soft(flush_if(a, mode), flush_if(b, mode), mode.rounding()), mode)
}

/// A square root with any rounding, `.ftz`.
#[inline]
pub(super) fn root32(a: u32, mode: FMode) -> u32 {
    finish32(sqrt_soft(flush_if(a, mode), mode.rounding()), mode)
}

// The slow paths are kept out of the callers' loops.
#[inline(never)]
fn add_soft(a: u32, b: u32, rounding: Rounding) -> u32 {
    encode32(decode32(a).plus(decode32(b), rounding), rounding)
}

#[inline(never)]
fn mul_soft(a: u32, b: u32, rounding: Rounding) -> u32 {
    encode32(decode32(a).times(decode32(b)), rounding)
}

#[inline(never)]
fn fma_soft(a: u32, b: u32, c: u32, rounding: Rounding) -> u32 {
    encode32(decode32(a).times(decode32(b)).plus(decode32(c), rounding), rounding)
}

#[inline(never)]
fn div_soft(a: u32, b: u32, rounding: Rounding) -> u32 {
    encode32(decode32(a).over(decode32(b)), rounding)
}

#[inline(never)]
fn sqrt_soft(a: u32, rounding: Rounding) -> u32 {
    encode32(decode32(a).sqrt(), rounding)
}

/// A function on both halves of 64-bit registers.
#[inline(always)]
pub(super) fn both<const N: usize>(sources: [u64; N], f: impl Fn([u32; N]) -> u32) -> u64 {
    let low = f(sources.map(|s| s as u32));
    let high = f(sources.map(|s| (s >> 32) as u32));
    u64::from(high) << 32 | u64::from(low)
}

/// The minimum: −0 is less than +0; the other operand where one is NaN.
#[inline]
pub(super) fn least(a: u32, b: u32) -> u32 {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    // Equal numbers have equal bits, or are zeros, of which a negative one wins.
    let ordered = if x < y { a } else { b };
    let result = if x == y { a | b } else { ordered };
    let result = if x.is_nan() { b } else { result };
    let result = if y.is_nan() { a } else { result };
    if x.is_nan() & y.is_nan() { NAN32 } else { result }
}

/// The maximum: +0 is greater than −0; the other operand where one is NaN.
#[inline]
pub(super) fn greatest(a: u32, b: u32) -> u32 {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    let ordered = if x > y { a } else { b };
    let result = if x == y { a & b } else { ordered };
    let result = if x.is_nan() { b } else { result };
    let result = if y.is_nan() { a } else { result };
    if x.is_nan() & y.is_nan() { NAN32 } else { result }
}

/// A minimum or maximum with `.ftz`, `.NaN`, `.xorsign.abs`, `.abs`.
#[inline(always)]
pub(super) fn choose32(a: u32, b: u32, mode: FMode, pick: impl Fn(u32, u32) -> u32) -> u32 {
    let (a, b) = (flush_if(a, mode), flush_if(b, mode));
    let sign = if mode.has(FMode::XORSIGN) { (a ^ b) & SIGN32 } else { 0 };
    let bare = |x: u32| if mode.has(FMode::ABS) { x & !SIGN32 } else { x };
    let either = f32::from_bits(a).is_nan() | f32::from_bits(b).is_nan();
    let result = if mode.has(FMode::NAN) & either { NAN32 } else { pick(bare(a), bare(b)) };
    if f32::from_bits(result).is_nan() { NAN32 } else { result | sign }
}

/// Whether a number has a property; zeros are normal. Given are its bits without the sign, those of infinity and of the least normal number.
#[inline]
pub(super) fn has_property(magnitude: u64, infinity: u64, normal: u64, property: Property) -> bool {
    let subnormal = magnitude.wrapping_sub(1) < normal - 1;
    match property {
        Property::Finite => magnitude < infinity,
        Property::Infinite => magnitude == infinity,
        Property::Number => magnitude <= infinity,
        Property::NotANumber => magnitude > infinity,
        Property::Normal => magnitude < infinity && !subnormal,
        Property::Subnormal => subnormal,
    }
}

#[inline]
pub(super) fn has_property32(a: u32, property: Property) -> bool {
    has_property(u64::from(a & !SIGN32), u64::from(INFINITY), 1 << 23, property)
}

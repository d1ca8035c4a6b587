//! `.f32` and `.f32x2` arithmetic.

use super::fused::fused32;
use super::soft::{F32, Value};
use crate::program::mode::{FMode, Property, Rounding};

/// The canonical NaN.
pub const NAN32: u32 = 0x7fff_ffff;
const SIGN: u32 = 1 << 31;
const INFINITY: u32 = 0x7f80_0000;

/// The bits of a result, NaN being canonical.
#[inline(always)]
pub(super) fn bits32(value: f32) -> u32 {
    if value.is_nan() { NAN32 } else { value.to_bits() }
}

/// Subnormal numbers become zeros of the same sign.
#[inline(always)]
pub(super) const fn flush32(a: u32) -> u32 {
    if a & INFINITY == 0 { a & SIGN } else { a }
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

/// `add.rn.f32`
#[inline]
pub fn add_f32(a: u32, b: u32) -> u32 {
    bits32(f32::from_bits(a) + f32::from_bits(b))
}

/// `sub.rn.f32`
#[inline]
pub fn sub_f32(a: u32, b: u32) -> u32 {
    bits32(f32::from_bits(a) - f32::from_bits(b))
}

/// `mul.rn.f32`
#[inline]
pub fn mul_f32(a: u32, b: u32) -> u32 {
    bits32(f32::from_bits(a) * f32::from_bits(b))
}

/// `fma.rn.f32`: the product is not rounded.
#[inline]
pub fn fma_f32(a: u32, b: u32, c: u32) -> u32 {
    bits32(fused32(f32::from_bits(a), f32::from_bits(b), f32::from_bits(c)))
}

/// `div.rn.f32`
#[inline]
pub fn div_f32(a: u32, b: u32) -> u32 {
    bits32(f32::from_bits(a) / f32::from_bits(b))
}

/// `rcp.rn.f32`, `rcp.approx.f32`
#[inline]
pub fn rcp_f32(a: u32) -> u32 {
    bits32(1.0 / f32::from_bits(a))
}

/// `sqrt.rn.f32`, `sqrt.approx.f32`
#[inline]
pub fn sqrt_f32(a: u32) -> u32 {
    bits32(f32::from_bits(a).sqrt())
}

/// `add.rn.ftz.f32`
#[inline]
pub fn add_ftz_f32(a: u32, b: u32) -> u32 {
    flush32(add_f32(flush32(a), flush32(b)))
}

/// `sub.rn.ftz.f32`
#[inline]
pub fn sub_ftz_f32(a: u32, b: u32) -> u32 {
    flush32(sub_f32(flush32(a), flush32(b)))
}

/// `mul.rn.ftz.f32`
#[inline]
pub fn mul_ftz_f32(a: u32, b: u32) -> u32 {
    flush32(mul_f32(flush32(a), flush32(b)))
}

/// `fma.rn.ftz.f32`
#[inline]
pub fn fma_ftz_f32(a: u32, b: u32, c: u32) -> u32 {
    flush32(fma_f32(flush32(a), flush32(b), flush32(c)))
}

/// `div.rn.ftz.f32`, `div.full.ftz.f32`
#[inline]
pub fn div_ftz_f32(a: u32, b: u32) -> u32 {
    flush32(div_f32(flush32(a), flush32(b)))
}

/// `rcp.rn.ftz.f32`, `rcp.approx.ftz.f32`
#[inline]
pub fn rcp_ftz_f32(a: u32) -> u32 {
    flush32(rcp_f32(flush32(a)))
}

/// `sqrt.rn.ftz.f32`, `sqrt.approx.ftz.f32`
#[inline]
pub fn sqrt_ftz_f32(a: u32) -> u32 {
    sqrt_f32(flush32(a))
}

/// `add` with any rounding, `.ftz`, `.sat`.
#[inline]
pub fn add_mode_f32(a: u32, b: u32, mode: u32) -> u32 {
    let mode = FMode(mode);
    let (a, b) = (flush_if(a, mode), flush_if(b, mode));
    let result = match mode.rounding() {
        Rounding::NearestEven => add_f32(a, b),
        rounding => add_soft(a, b, rounding),
    };
    finish32(result, mode)
}

/// `sub` with any rounding, `.ftz`, `.sat`.
#[inline]
pub fn sub_mode_f32(a: u32, b: u32, mode: u32) -> u32 {
    add_mode_f32(a, b ^ SIGN, mode)
}

/// `mul` with any rounding, `.ftz`, `.sat`.
#[inline]
pub fn mul_mode_f32(a: u32, b: u32, mode: u32) -> u32 {
    let mode = FMode(mode);
    let (a, b) = (flush_if(a, mode), flush_if(b, mode));
    let result = match mode.rounding() {
        Rounding::NearestEven => mul_f32(a, b),
        rounding => mul_soft(a, b, rounding),
    };
    finish32(result, mode)
}

/// `fma` and `mad` with any rounding, `.ftz`, `.sat`.
#[inline]
pub fn fma_mode_f32(a: u32, b: u32, c: u32, mode: u32) -> u32 {
    let mode = FMode(mode);
    let (a, b, c) = (flush_if(a, mode), flush_if(b, mode), flush_if(c, mode));
    let result = match mode.rounding() {
        Rounding::NearestEven => fma_f32(a, b, c),
        rounding => fma_soft(a, b, c, rounding),
    };
    finish32(result, mode)
}

/// `div` with any rounding, `.ftz`.
#[inline]
pub fn div_mode_f32(a: u32, b: u32, mode: u32) -> u32 {
    let mode = FMode(mode);
    finish32(div_soft(flush_if(a, mode), flush_if(b, mode), mode.rounding()), mode)
}

/// `rcp` with any rounding, `.ftz`.
#[inline]
pub fn rcp_mode_f32(a: u32, mode: u32) -> u32 {
    div_mode_f32(1.0f32.to_bits(), a, mode)
}

/// `sqrt` with any rounding, `.ftz`.
#[inline]
pub fn sqrt_mode_f32(a: u32, mode: u32) -> u32 {
    let mode = FMode(mode);
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
fn both<const N: usize>(sources: [u64; N], f: impl Fn([u32; N]) -> u32) -> u64 {
    let low = f(sources.map(|s| s as u32));
    let high = f(sources.map(|s| (s >> 32) as u32));
    u64::from(high) << 32 | u64::from(low)
}

/// `add.f32x2`
#[inline]
pub fn add_f32x2(a: u64, b: u64, mode: u32) -> u64 {
    both([a, b], |[a, b]| add_mode_f32(a, b, mode))
}

/// `sub.f32x2`
#[inline]
pub fn sub_f32x2(a: u64, b: u64, mode: u32) -> u64 {
    both([a, b], |[a, b]| sub_mode_f32(a, b, mode))
}

/// `mul.f32x2`
#[inline]
pub fn mul_f32x2(a: u64, b: u64, mode: u32) -> u64 {
    both([a, b], |[a, b]| mul_mode_f32(a, b, mode))
}

/// `fma.f32x2`
#[inline]
pub fn fma_f32x2(a: u64, b: u64, c: u64, mode: u32) -> u64 {
    both([a, b, c], |[a, b, c]| fma_mode_f32(a, b, c, mode))
}

/// `neg.f32`
#[inline]
pub fn neg_f32(a: u32) -> u32 {
    if f32::from_bits(a).is_nan() { NAN32 } else { a ^ SIGN }
}

/// `neg.ftz.f32`
#[inline]
pub fn neg_ftz_f32(a: u32) -> u32 {
    neg_f32(flush32(a))
}

/// `abs.f32`
#[inline]
pub fn abs_f32(a: u32) -> u32 {
    if f32::from_bits(a).is_nan() { NAN32 } else { a & !SIGN }
}

/// `abs.ftz.f32`
#[inline]
pub fn abs_ftz_f32(a: u32) -> u32 {
    abs_f32(flush32(a))
}

/// `copysign.f32`: the second source with the sign of the first.
#[inline]
pub fn copysign_f32(a: u32, b: u32) -> u32 {
    a & SIGN | b & !SIGN
}

/// `min.f32`: −0 is less than +0; the other operand where one is NaN.
#[inline]
pub fn min_f32(a: u32, b: u32) -> u32 {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    // Equal numbers have equal bits, or are zeros, of which a negative one wins.
    let ordered = if x < y { a } else { b };
    let result = if x == y { a | b } else { ordered };
    let result = if x.is_nan() { b } else { result };
    let result = if y.is_nan() { a } else { result };
    if x.is_nan() & y.is_nan() { NAN32 } else { result }
}

/// `max.f32`: +0 is greater than −0; the other operand where one is NaN.
#[inline]
pub fn max_f32(a: u32, b: u32) -> u32 {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    let ordered = if x > y { a } else { b };
    let result = if x == y { a & b } else { ordered };
    let result = if x.is_nan() { b } else { result };
    let result = if y.is_nan() { a } else { result };
    if x.is_nan() & y.is_nan() { NAN32 } else { result }
}

/// `min.ftz.f32`
#[inline]
pub fn min_ftz_f32(a: u32, b: u32) -> u32 {
    min_f32(flush32(a), flush32(b))
}

/// `max.ftz.f32`
#[inline]
pub fn max_ftz_f32(a: u32, b: u32) -> u32 {
    max_f32(flush32(a), flush32(b))
}

/// A minimum or maximum with `.ftz`, `.NaN`, `.xorsign.abs`, `.abs`.
#[inline(always)]
fn select_f32(a: u32, b: u32, mode: FMode, pick: impl Fn(u32, u32) -> u32) -> u32 {
    let (a, b) = (flush_if(a, mode), flush_if(b, mode));
    let sign = if mode.has(FMode::XORSIGN) { (a ^ b) & SIGN } else { 0 };
    let bare = |x: u32| if mode.has(FMode::ABS) { x & !SIGN } else { x };
    let either = f32::from_bits(a).is_nan() | f32::from_bits(b).is_nan();
    let result = if mode.has(FMode::NAN) & either { NAN32 } else { pick(bare(a), bare(b)) };
    if f32::from_bits(result).is_nan() { NAN32 } else { result | sign }
}

/// `min` with any modifiers.
#[inline]
pub fn min_mode_f32(a: u32, b: u32, mode: u32) -> u32 {
    select_f32(a, b, FMode(mode), min_f32)
}

/// `max` with any modifiers.
#[inline]
pub fn max_mode_f32(a: u32, b: u32, mode: u32) -> u32 {
    select_f32(a, b, FMode(mode), max_f32)
}

/// `min` of three sources.
#[inline]
pub fn min3_f32(a: u32, b: u32, c: u32, mode: u32) -> u32 {
    min_mode_f32(min_mode_f32(a, b, mode), c, mode)
}

/// `max` of three sources.
#[inline]
pub fn max3_f32(a: u32, b: u32, c: u32, mode: u32) -> u32 {
    max_mode_f32(max_mode_f32(a, b, mode), c, mode)
}

/// `testp.f32`; zeros are normal.
#[inline]
pub fn testp_f32(a: u32, mode: u32) -> bool {
    let magnitude = a & !SIGN;
    let subnormal = magnitude.wrapping_sub(1) < 0x007f_ffff;
    match FMode(mode).property() {
        Property::Finite => magnitude < INFINITY,
        Property::Infinite => magnitude == INFINITY,
        Property::Number => magnitude <= INFINITY,
        Property::NotANumber => magnitude > INFINITY,
        Property::Normal => magnitude < INFINITY && !subnormal,
        Property::Subnormal => subnormal,
    }
}

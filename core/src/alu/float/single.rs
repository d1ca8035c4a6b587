//! `.f32` and `.f32x2` arithmetic.

use super::soft::{F32, Value};
use crate::alu::mode::{FMode, Num, Property, Rounding};
use crate::alu::table::{Bits, NAN32};

pub(super) const SIGN32: u32 = 1 << 31;
pub(super) const INFINITY32: u32 = 0x7f80_0000;

/// Subnormal numbers become zeros of the same sign.
#[inline(always)]
pub(super) const fn flush32(a: u32) -> u32 {
    if a & INFINITY32 == 0 { a & SIGN32 } else { a }
}

/// What results are multiplied by to see whether they are tiny, as all 24 bits of a subnormal one are kept then.
pub const UP: f32 = 16_777_216.0;
/// The smallest normal number times `UP`.
pub const LEAST_UP: f32 = f32::MIN_POSITIVE * UP;

/// The tie between the smallest normal number and the one below it in 24 bits, which rounds up.
pub(super) const TIE: f64 = f32::MIN_POSITIVE as f64 * (1.0 - f32::EPSILON as f64 / 4.0);

/// A result that becomes a zero of its sign where it is tiny and flushed (D-ftz). `scaled` is the rounded result of the same
/// operation times [`UP`]; where that overflows, or NaN comes of it, the result is none of the smallest.
#[inline(always)]
pub(super) fn flush_tiny(result: f32, scaled: f32, ftz: bool) -> u32 {
    zero_if(result.put(), ftz & (scaled.abs() < LEAST_UP))
}

/// Zero of the same sign.
#[inline(always)]
pub(super) fn zero_if(result: u32, tiny: bool) -> u32 {
    if tiny { result & SIGN32 } else { result }
}

/// A source of an operation with `.ftz`.
#[inline(always)]
pub(super) fn single_ftz(a: u32) -> f32 {
    f32::from_bits(flush32(a))
}

/// The product, flushed if asked.
#[inline(always)]
pub(super) fn product(a: f32, b: f32, ftz: bool) -> u32 {
    flush_tiny(a * b, a * UP * b, ftz)
}

/// The quotient, flushed if asked.
#[inline(always)]
pub(super) fn quotient(a: f32, b: f32, ftz: bool) -> u32 {
    flush_tiny(a / b, a * UP / b, ftz)
}

/// The sum, flushed if asked: it is exact where it is tiny.
#[inline(always)]
pub(super) fn sum(a: f32, b: f32, ftz: bool) -> u32 {
    let sum = (a + b).put();
    if ftz { flush32(sum) } else { sum }
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

/// Whether a conversion is `cvt.sat.f32.f32`, flushed or not.
#[inline(always)]
pub(super) fn clamps32(mode: u32) -> bool {
    let plain = FMode::SAT.to(Num::F32).from(Num::F32);
    // There is nothing to round.
    FMode(mode).rounded(Rounding::NearestEven).with(FMode::FTZ) == plain.with(FMode::FTZ)
}

/// An operation with any rounding, `.ftz` and `.sat`: by the host's arithmetic to nearest, flushed if asked, and to a side where
/// nothing is flushed; otherwise by parts.
#[inline]
pub(super) fn sided32<const N: usize>(
    sources: [u32; N],
    mode: u32,
    nearest: impl Fn([f32; N], bool) -> u32,
    aside: impl Fn([f32; N], Rounding) -> u32,
    exact: impl Fn([Value; N], Rounding) -> Value,
) -> u32 {
    let to = FMode(mode).rounding();
    if to.is_to_side() & !FMode(mode).has(FMode::FTZ) {
        let result = aside(sources.map(f32::from_bits), to);
        return if FMode(mode).has(FMode::SAT) { saturate32(result) } else { result };
    }
    rounded32(sources, mode, nearest, exact)
}

/// The same, to a side by parts as well.
#[inline]
pub(super) fn rounded32<const N: usize>(
    sources: [u32; N],
    mode: u32,
    nearest: impl Fn([f32; N], bool) -> u32,
    exact: impl Fn([Value; N], Rounding) -> Value,
) -> u32 {
    let mode = FMode(mode);
    let sources = sources.map(|a| flush_if(a, mode));
    let result = match mode.rounding() {
        Rounding::NearestEven => nearest(sources.map(f32::from_bits), mode.has(FMode::FTZ)),
        _ => slow32(sources, mode, exact),
    };
    if mode.has(FMode::SAT) { saturate32(result) } else { result }
}

// Kept out of the callers' loops.
#[inline(never)]
fn slow32<const N: usize>(sources: [u32; N], mode: FMode, exact: impl Fn([Value; N], Rounding) -> Value) -> u32 {
    let value = exact(sources.map(|a| F32.decode(a.into())), mode.rounding());
    encode32(value, mode, None)
}

/// The code of a value, rounded and flushed as the mode says.
pub(super) fn encode32(value: Value, mode: FMode, random: Option<(u32, u32)>) -> u32 {
    let code = F32.encode(value, mode.rounding(), mode.has(FMode::SATFINITE), random) as u32;
    if mode.has(FMode::FTZ) && F32.is_tiny(value, mode.rounding()) { code & SIGN32 } else { code }
}

/// A function on both halves of 64-bit registers.
#[inline(always)]
pub(super) fn both<const N: usize>(sources: [u64; N], f: impl Fn([u32; N]) -> u32) -> u64 {
    let low = f(sources.map(|s| s as u32));
    let high = f(sources.map(|s| (s >> 32) as u32));
    u64::from(high) << 32 | u64::from(low)
}

/// The operand that comes first: a minimum or maximum. Equal numbers have equal bits, or are zeros, whose bits `equal`
/// settles; the other operand wins where one is NaN.
#[inline]
pub(super) fn extreme32(a: u32, b: u32, first: impl Fn(f32, f32) -> bool, equal: u32) -> u32 {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    let ordered = if first(x, y) { a } else { b };
    let result = if x == y { equal } else { ordered };
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

/// Whether a number has the property of a `testp`; zeros are normal. Given are its bits without the sign, those of infinity
/// and of the least normal number.
#[inline]
pub(super) fn has_property(magnitude: u64, infinity: u64, normal: u64, mode: u32) -> bool {
    let subnormal = magnitude.wrapping_sub(1) < normal - 1;
    match FMode(mode).property() {
        Property::Finite => magnitude < infinity,
        Property::Infinite => magnitude == infinity,
        Property::Number => magnitude <= infinity,
        Property::NotANumber => magnitude > infinity,
        Property::Normal => magnitude < infinity && !subnormal,
        Property::Subnormal => subnormal,
    }
}

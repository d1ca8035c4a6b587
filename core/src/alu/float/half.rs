//! `.f16`, `.bf16` and their packed forms, and the operations that mix them with `.f32`.
//!
//! The mode word's destination type says which of the two formats, its flag `PACKED` whether a register holds two
//! values. Sums and products are computed in single precision, which rounds harmlessly: it has at least twice as many
//! bits and two more, and its own subnormal range is reached by bf16 products only where they are certain to vanish.

use super::convert::{narrow_brain, narrow16, widen_brain, widen16};
use super::fused::add_to_odd;
use crate::alu::mode::{FMode, Num};

/// The canonical NaN of both formats.
const NAN16: u32 = 0x7fff;
pub(super) const SIGN16: u32 = 0x8000;
/// The NaN of both formats that stands for a number out of a tensor's bounds (D-oob).
const OOB16: u32 = 0x7ff7;

#[inline]
fn is_brain(mode: FMode) -> bool {
    matches!(mode.dest(), Num::Bf16)
}

/// The code of infinity.
#[inline]
fn infinity(mode: FMode) -> u32 {
    if is_brain(mode) { 0x7f80 } else { 0x7c00 }
}

#[inline]
fn widen_bits(a: u32, mode: FMode) -> u32 {
    if is_brain(mode) { widen_brain(a) } else { widen16(a) }
}

#[inline]
fn widen(a: u32, mode: FMode) -> f32 {
    f32::from_bits(widen_bits(a, mode))
}

#[inline]
fn narrow(a: f32, mode: FMode) -> u32 {
    if is_brain(mode) { narrow_brain(a.to_bits()) } else { narrow16(a.to_bits()) }
}

/// A result rounded, and flushed if the mode says so. It is exact, or rounded to odd, or none of the smallest.
#[inline]
fn round(value: f32, mode: FMode) -> u32 {
    // The ties between the smallest normal number of each format and the one below it in as many bits, which go up (D-ftz).
    const TIE16: f32 = 1.0 / 16384.0 * (1.0 - 1.0 / 4096.0);
    const TIE_BRAIN: f32 = f32::MIN_POSITIVE * (1.0 - 1.0 / 512.0);
    let tiny = value.abs() < if is_brain(mode) { TIE_BRAIN } else { TIE16 };
    let code = narrow(value, mode);
    if mode.has(FMode::FTZ) & tiny { code & SIGN16 } else { code }
}

/// A double rounded once, to nearest.
#[inline]
fn round_double(value: f64, mode: FMode) -> u32 {
    round(narrow_to_odd(value), mode)
}

/// A double rounded to single precision, to odd; see [`add_to_odd`].
#[inline]
fn narrow_to_odd(value: f64) -> f32 {
    let near = value as f32;
    let wide = f64::from(near);
    let bits = near.to_bits();
    let away = value.abs() > wide.abs();
    let stepped = if away { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    let odd = if bits & 1 == 0 { stepped } else { bits };
    f32::from_bits(if (wide < value) | (wide > value) { odd } else { bits })
}

#[inline]
fn flush(a: u32, mode: FMode) -> u32 {
    let flushed = if is_brain(mode) { if a & 0x7f80 == 0 { a & SIGN16 } else { a } } else { flush16(a) };
    if mode.has(FMode::FTZ) { flushed } else { a }
}

/// What `.sat` and `.relu` do to a result.
#[inline]
fn finish(result: u32, mode: FMode) -> u32 {
    let nan = result & !SIGN16 > infinity(mode);
    let negative = result & SIGN16 != 0;
    let one = if is_brain(mode) { 0x3f80 } else { 0x3c00 };
    let clamped = if negative | nan { 0 } else { result.min(one) };
    let rectified = if negative & !nan { 0 } else { result };
    let result = if mode.has(FMode::RELU) { rectified } else { result };
    if mode.has(FMode::SAT) { clamped } else { result }
}

/// A function on the value in a register, or on both values.
#[inline]
fn each<const N: usize>(sources: [u32; N], mode: FMode, f: impl Fn([u32; N]) -> u32) -> u32 {
    let one = |sources: [u32; N]| finish(f(sources.map(|a| flush(a, mode))), mode);
    let low = one(sources.map(|a| a & 0xffff));
    if mode.has(FMode::PACKED) { one(sources.map(|a| a >> 16)) << 16 | low } else { low }
}

/// A sum, difference or product.
#[inline]
pub(super) fn arithmetic(sources: [u32; 2], mode: FMode, f: impl Fn([f32; 2]) -> f32) -> u32 {
    each(sources, mode, |sources| round(f(sources.map(|a| widen(a, mode))), mode))
}

/// Whether a number stands for one that is out of a tensor's bounds.
#[inline]
fn is_outside(a: u32) -> bool {
    a & !SIGN16 == OOB16
}

/// `fma`
#[inline]
pub(super) fn fused_half(sources: [u32; 3], mode: FMode) -> u32 {
    each(sources, mode, |[a, b, c]| {
        if mode.has(FMode::OOB) & (is_outside(a) | is_outside(b)) {
            return 0;
        }
        let product = f64::from(widen(a, mode)) * f64::from(widen(b, mode));
        round_double(add_to_odd(product, f64::from(widen(c, mode))), mode)
    })
}

/// An operation on the sign.
#[inline]
pub(super) fn sign_half(a: u32, mode: FMode, f: impl Fn(u32) -> u32) -> u32 {
    each([a], mode, |[a]| if a & !SIGN16 > infinity(mode) { NAN16 } else { f(a) })
}

/// A minimum or maximum, by the one of single precision.
#[inline]
pub(super) fn choose_half(a: u32, b: u32, mode: FMode, f: impl Fn(u32, u32, u32) -> u32) -> u32 {
    // A sign is also that of NaN, which a wider number has no more.
    let bare = |a: u32| widen_bits(if mode.has(FMode::ABS) { a & !SIGN16 } else { a }, mode);
    each([a, b], mode, |[a, b]| {
        let sign = if mode.has(FMode::XORSIGN) { (a ^ b) & SIGN16 } else { 0 };
        let result = narrow(f32::from_bits(f(bare(a), bare(b), mode.0 & FMode::NAN.0)), mode);
        if result == NAN16 { NAN16 } else { result | sign }
    })
}

/// An approximation: the f64 result rounded once.
#[inline]
pub(super) fn approximate_half(a: u32, mode: FMode, f: impl Fn(f64) -> f64) -> u32 {
    each([a], mode, |[a]| round_double(f(f64::from(widen(a, mode))), mode))
}

/// The single-precision value of a mixed operation's narrow source.
#[inline]
pub(super) fn widen_source(a: u32, mode: u32) -> u32 {
    if matches!(FMode(mode).source(), Num::Bf16) { widen_brain(a & 0xffff) } else { widen16(a & 0xffff) }
}

/// Subnormal f16 numbers become zeros of the same sign.
#[inline(always)]
pub(super) const fn flush16(a: u32) -> u32 {
    if a & 0x7c00 == 0 { a & 0x8000 } else { a }
}

/// Whether two numbers are related as one of the bits of a comparison's mode says: less (1), equal (2), greater (4),
/// unordered (8).
#[inline(always)]
pub(super) fn related(a: u32, b: u32, mode: u32) -> bool {
    let (a, b) = (f32::from_bits(a), f32::from_bits(b));
    let ordered = u32::from(a < b) | u32::from(a == b) << 1 | u32::from(a > b) << 2;
    (if ordered == 0 { 8 } else { ordered }) & mode != 0
}

//! `.f16`, `.bf16` and their packed forms, and the operations that mix them with `.f32`.
//!
//! The mode word's destination type says which of the two formats, its flag `PACKED` whether a register holds two
//! values. Sums and products are computed in single precision, which rounds harmlessly: it has at least twice as many
//! bits and two more, and its own subnormal range is reached by bf16 products only where they are certain to vanish.

use super::compare::flush16;
use super::convert::{bf16_of_f32, f16_of_f32, f32_of_bf16, f32_of_f16};
use super::fused::add_to_odd;
use super::single::{add_mode_f32, fma_mode_f32, max_mode_f32, min_mode_f32, sub_mode_f32};
use crate::program::mode::{FMode, Num};

/// The canonical NaN of both formats.
const NAN16: u32 = 0x7fff;
const SIGN: u32 = 0x8000;

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
    if is_brain(mode) { f32_of_bf16(a) } else { f32_of_f16(a) }
}

#[inline]
fn widen(a: u32, mode: FMode) -> f32 {
    f32::from_bits(widen_bits(a, mode))
}

#[inline]
fn narrow(a: f32, mode: FMode) -> u32 {
    if is_brain(mode) { bf16_of_f32(a.to_bits()) } else { f16_of_f32(a.to_bits()) }
}

/// A double rounded once, to nearest.
#[inline]
fn narrow_double(value: f64, mode: FMode) -> u32 {
    narrow(narrow_to_odd(value), mode)
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
    let flushed = if is_brain(mode) { if a & 0x7f80 == 0 { a & SIGN } else { a } } else { flush16(a) };
    if mode.has(FMode::FTZ) { flushed } else { a }
}

/// What `.ftz`, `.sat` and `.relu` do to a result.
#[inline]
fn finish(result: u32, mode: FMode) -> u32 {
    let result = flush(result, mode);
    let nan = result & !SIGN > infinity(mode);
    let negative = result & SIGN != 0;
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

/// `add`
#[inline]
pub fn add_half(a: u32, b: u32, mode: u32) -> u32 {
    let mode = FMode(mode);
    each([a, b], mode, |[a, b]| narrow(widen(a, mode) + widen(b, mode), mode))
}

/// `sub`
#[inline]
pub fn sub_half(a: u32, b: u32, mode: u32) -> u32 {
    let mode = FMode(mode);
    each([a, b], mode, |[a, b]| narrow(widen(a, mode) - widen(b, mode), mode))
}

/// `mul`
#[inline]
pub fn mul_half(a: u32, b: u32, mode: u32) -> u32 {
    let mode = FMode(mode);
    each([a, b], mode, |[a, b]| narrow(widen(a, mode) * widen(b, mode), mode))
}

/// `fma`
#[inline]
pub fn fma_half(a: u32, b: u32, c: u32, mode: u32) -> u32 {
    let mode = FMode(mode);
    each([a, b, c], mode, |[a, b, c]| {
        let product = f64::from(widen(a, mode)) * f64::from(widen(b, mode));
        narrow_double(add_to_odd(product, f64::from(widen(c, mode))), mode)
    })
}

/// `neg`
#[inline]
pub fn neg_half(a: u32, mode: u32) -> u32 {
    let mode = FMode(mode);
    each([a], mode, |[a]| if a & !SIGN > infinity(mode) { NAN16 } else { a ^ SIGN })
}

/// `abs`
#[inline]
pub fn abs_half(a: u32, mode: u32) -> u32 {
    let mode = FMode(mode);
    each([a], mode, |[a]| if a & !SIGN > infinity(mode) { NAN16 } else { a & !SIGN })
}

/// The flags of a minimum or maximum that do not depend on the format.
#[inline]
const fn order(mode: FMode) -> u32 {
    mode.0 & (FMode::NAN.0 | FMode::XORSIGN.0 | FMode::ABS.0)
}

/// `min`
#[inline]
pub fn min_half(a: u32, b: u32, mode: u32) -> u32 {
    let mode = FMode(mode);
    each([a, b], mode, |[a, b]| {
        narrow(f32::from_bits(min_mode_f32(widen_bits(a, mode), widen_bits(b, mode), order(mode))), mode)
    })
}

/// `max`
#[inline]
pub fn max_half(a: u32, b: u32, mode: u32) -> u32 {
    let mode = FMode(mode);
    each([a, b], mode, |[a, b]| {
        narrow(f32::from_bits(max_mode_f32(widen_bits(a, mode), widen_bits(b, mode), order(mode))), mode)
    })
}

/// `ex2.approx`: the f64 result rounded once.
#[inline]
pub fn ex2_half(a: u32, mode: u32) -> u32 {
    let mode = FMode(mode);
    each([a], mode, |[a]| narrow_double(libm::exp2(f64::from(widen(a, mode))), mode))
}

/// `tanh.approx`: the f64 result rounded once.
#[inline]
pub fn tanh_half(a: u32, mode: u32) -> u32 {
    let mode = FMode(mode);
    each([a], mode, |[a]| narrow_double(libm::tanh(f64::from(widen(a, mode))), mode))
}

/// The single-precision value of a mixed operation's narrow source.
#[inline]
fn widen_source(a: u32, mode: u32) -> u32 {
    if matches!(FMode(mode).source(), Num::Bf16) { f32_of_bf16(a & 0xffff) } else { f32_of_f16(a & 0xffff) }
}

/// `add.f32.f16`, `add.f32.bf16`: the first source is narrow.
#[inline]
pub fn add_mixed(a: u32, b: u32, mode: u32) -> u32 {
    add_mode_f32(widen_source(a, mode), b, mode)
}

/// `sub.f32.f16`, `sub.f32.bf16`: the first source is narrow.
#[inline]
pub fn sub_mixed(a: u32, b: u32, mode: u32) -> u32 {
    sub_mode_f32(widen_source(a, mode), b, mode)
}

/// `fma.f32.f16`, `fma.f32.bf16`: the factors are narrow.
#[inline]
pub fn fma_mixed(a: u32, b: u32, c: u32, mode: u32) -> u32 {
    fma_mode_f32(widen_source(a, mode), widen_source(b, mode), c, mode)
}

//! Approximate instructions (decision D-approx in the folder's header).
//!
//! PTX bounds their errors; the results here are within half a unit in the last place of the f64 result, except where
//! said, and obey PTX's tables of special values.

use super::double::{NAN64, div_f64, sqrt_f64};
use super::single::{bits32, div_f32, flush_if, flush32};
use crate::program::mode::FMode;

/// `div.approx`: PTX's quotient is `a · (1/b)`, and for 2^126 < |b| < 2^128 it is zero, or NaN where `a` is infinite.
#[inline]
pub fn div_approx_f32(a: u32, b: u32, mode: u32) -> u32 {
    let mode = FMode(mode);
    let (a, b) = (flush_if(a, mode), flush_if(b, mode));
    let divisor = f32::from_bits(b & 0x7fff_ffff);
    // The reciprocal is subnormal and taken as zero.
    let tiny = (divisor > 8.507_059e37) & (divisor < f32::INFINITY);
    let zero = f32::from_bits(b & 0x8000_0000);
    let result = if tiny { bits32(f32::from_bits(a) * zero) } else { div_f32(a, b) };
    flush_if(result, mode)
}

/// `rsqrt.approx.f32`: two roundings, relative error at most 2^-23 (PTX allows 2^-22.9).
#[inline]
pub fn rsqrt_f32(a: u32) -> u32 {
    bits32(1.0 / f32::from_bits(a).sqrt())
}

/// `rsqrt.approx.ftz.f32`
#[inline]
pub fn rsqrt_ftz_f32(a: u32) -> u32 {
    rsqrt_f32(flush32(a))
}

/// An f64 function of a single, rounded once.
#[inline]
fn through_double(a: u32, mode: u32, function: impl Fn(f64) -> f64) -> u32 {
    let mode = FMode(mode);
    let value = f64::from(f32::from_bits(flush_if(a, mode)));
    flush_if(bits32(function(value) as f32), mode)
}

/// `sin.approx.f32`, for arguments of any size.
#[inline]
pub fn sin_f32(a: u32, mode: u32) -> u32 {
    through_double(a, mode, libm::sin)
}

/// `cos.approx.f32`, for arguments of any size.
#[inline]
pub fn cos_f32(a: u32, mode: u32) -> u32 {
    through_double(a, mode, libm::cos)
}

/// `lg2.approx.f32`
#[inline]
pub fn lg2_f32(a: u32, mode: u32) -> u32 {
    through_double(a, mode, libm::log2)
}

/// `ex2.approx.f32`
#[inline]
pub fn ex2_f32(a: u32, mode: u32) -> u32 {
    through_double(a, mode, libm::exp2)
}

/// `tanh.approx.f32`
#[inline]
pub fn tanh_f32(a: u32, mode: u32) -> u32 {
    through_double(a, mode, libm::tanh)
}

const SIGN: u64 = 1 << 63;
const INFINITY: u64 = 0x7ff0_0000_0000_0000;
const UPPER: u64 = 0xffff_ffff_0000_0000;

/// The gross approximations: the upper half of the source is used, and only that half of the result is computed.
#[inline]
fn gross(a: u64, function: impl Fn(f64) -> f64) -> u64 {
    let flush = |x: u64| if x & INFINITY == 0 { x & SIGN } else { x };
    let result = function(f64::from_bits(flush(a & UPPER))).to_bits();
    // To nearest; the carry may reach the exponent, and never infinity's, which no quotient comes near.
    let rounded = result.wrapping_add(0x7fff_ffff + (result >> 32 & 1)) & UPPER;
    let result = if result & INFINITY == INFINITY { result } else { flush(rounded) };
    let invalid = if result & !SIGN > INFINITY { NAN64 } else { result };
    if a & !SIGN > INFINITY { (a | 1 << 51) & UPPER } else { invalid }
}

/// `rcp.approx.ftz.f64`: 20 bits of fraction, from 20 bits of fraction.
#[inline]
pub fn rcp_gross_f64(a: u64) -> u64 {
    gross(a, |x| 1.0 / x)
}

/// `rsqrt.approx.ftz.f64`: 20 bits of fraction, from 20 bits of fraction.
#[inline]
pub fn rsqrt_gross_f64(a: u64) -> u64 {
    gross(a, |x| if x == 0.0 { 1.0 / x } else { 1.0 / x.sqrt() })
}

/// `rsqrt.approx.f64`: two roundings.
#[inline]
pub fn rsqrt_f64(a: u64) -> u64 {
    div_f64(1.0f64.to_bits(), sqrt_f64(a))
}

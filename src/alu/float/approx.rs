//! Approximate instructions (decision D-approx in the folder's header).
//!
//! PTX bounds their errors; the results here are within half a unit in the last place of the f64 result, except where
//! said, and obey PTX's tables of special values.

use super::single::{bits32, div_f32, flush_if, flush32};
use crate::program::mode::FMode;

/// `div.approx`: PTX's quotient is `a · (1/b)`, and for 2^126 < |b| < 2^128 it is zero, or NaN where `a` is infinite.
#[inline(always)]
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
#[inline(always)]
pub fn rsqrt_f32(a: u32) -> u32 {
    bits32(1.0 / f32::from_bits(a).sqrt())
}

/// `rsqrt.approx.ftz.f32`
#[inline(always)]
pub fn rsqrt_ftz_f32(a: u32) -> u32 {
    rsqrt_f32(flush32(a))
}

//! Multiply-add with one rounding, with and without the host's instruction for it.
//!
//! Both give the same bits. Code compiled for a processor that has the instruction takes `mul_add`; elsewhere that
//! would be a call of the platform's library, which the crate never uses, so the exact product in f64 is added with
//! rounding to odd, which vectorises as well.

use super::single::{TIE, UP, flush_tiny, zero_if};
use crate::alu::table::Bits;

/// The fused operation without hardware for it.
#[inline(always)]
pub fn fused32_soft(a: f32, b: f32, c: f32) -> f32 {
    // A product of 24-bit significands fits f64's 53 bits, and its exponent fits too.
    add_to_odd(f64::from(a) * f64::from(b), f64::from(c)) as f32
}

/// The fused operation as the compiled instruction set allows.
#[inline(always)]
pub fn fused32(a: f32, b: f32, c: f32) -> f32 {
    if cfg!(target_feature = "fma") { a.mul_add(b, c) } else { fused32_soft(a, b, c) }
}

/// The fused operation, flushed if asked.
#[inline(always)]
pub(super) fn fused32_ftz(a: f32, b: f32, c: f32, ftz: bool) -> u32 {
    if cfg!(target_feature = "fma") {
        flush_tiny(a.mul_add(b, c), (a * UP).mul_add(b, c * UP), ftz)
    } else {
        // A sum that is rounded to odd is on its own side of any number of fewer bits.
        let sum = add_to_odd(f64::from(a) * f64::from(b), f64::from(c));
        zero_if((sum as f32).put(), ftz & (sum.abs() < TIE))
    }
}

/// The fused operation in double precision as the compiled instruction set allows.
#[inline(always)]
pub fn fused64(a: f64, b: f64, c: f64) -> f64 {
    if cfg!(target_feature = "fma") { a.mul_add(b, c) } else { libm::fma(a, b, c) }
}

/// `fma.rn.f32` by the host's instruction. Use it only where the instruction set is known to have one: elsewhere the platform's
/// library is called.
#[inline(always)]
pub fn fma_f32_hard(a: u32, b: u32, c: u32) -> u32 {
    f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c)).put()
}

/// The sum rounded to odd: an inexact result has its lowest bit set, so that rounding it again to a format shorter by
/// two bits or more rounds the exact sum.
#[inline(always)]
pub(super) fn add_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // Knuth's two-sum: `error` is what rounding took away, exactly. It is NaN where the sum is not finite.
    let part = sum - a;
    let error = (a - (sum - part)) + (b - part);
    let bits = sum.to_bits();
    let away = (error > 0.0) == (sum > 0.0);
    let odd = if bits & 1 == 0 { if away { bits.wrapping_add(1) } else { bits.wrapping_sub(1) } } else { bits };
    f64::from_bits(if (error > 0.0) | (error < 0.0) { odd } else { bits })
}

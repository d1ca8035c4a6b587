//! `.f64` arithmetic. NaN results follow D-nan64 (see the folder's header).

use super::fused::fused64;
use super::soft::{F64, Value};
use crate::program::mode::{FMode, Property, Rounding};

/// The NaN of an invalid operation.
pub const NAN64: u64 = 0xfff8_0000_0000_0000;
const SIGN: u64 = 1 << 63;
const QUIET: u64 = 1 << 51;
const INFINITY: u64 = 0x7ff0_0000_0000_0000;

#[inline(always)]
const fn is_nan(a: u64) -> bool {
    a & !SIGN > INFINITY
}

/// The bits of the result of an operation on `sources`.
#[inline(always)]
fn settle<const N: usize>(sources: [u64; N], result: u64) -> u64 {
    let mut nan = NAN64;
    for source in sources.into_iter().rev() {
        nan = if is_nan(source) { source | QUIET } else { nan };
    }
    if is_nan(result) { nan } else { result }
}

#[inline(always)]
fn f(a: u64) -> f64 {
    f64::from_bits(a)
}

/// `add.rn.f64`
#[inline(always)]
pub fn add_f64(a: u64, b: u64) -> u64 {
    settle([a, b], (f(a) + f(b)).to_bits())
}

/// `sub.rn.f64`
#[inline(always)]
pub fn sub_f64(a: u64, b: u64) -> u64 {
    settle([a, b], (f(a) - f(b)).to_bits())
}

/// `mul.rn.f64`
#[inline(always)]
pub fn mul_f64(a: u64, b: u64) -> u64 {
    settle([a, b], (f(a) * f(b)).to_bits())
}

/// `fma.rn.f64`
#[inline(always)]
pub fn fma_f64(a: u64, b: u64, c: u64) -> u64 {
    settle([a, b, c], fused64(f(a), f(b), f(c)).to_bits())
}

/// `fma.rn.f64` by the host's instruction; only where the instruction set is known to have one.
#[inline(always)]
pub fn fma_f64_hard(a: u64, b: u64, c: u64) -> u64 {
    settle([a, b, c], f(a).mul_add(f(b), f(c)).to_bits())
}

/// `div.rn.f64`
#[inline(always)]
pub fn div_f64(a: u64, b: u64) -> u64 {
    settle([a, b], (f(a) / f(b)).to_bits())
}

/// `rcp.rn.f64`
#[inline(always)]
pub fn rcp_f64(a: u64) -> u64 {
    settle([a], (1.0 / f(a)).to_bits())
}

/// `sqrt.rn.f64`
#[inline(always)]
pub fn sqrt_f64(a: u64) -> u64 {
    settle([a], f(a).sqrt().to_bits())
}

fn encode(value: Value, rounding: Rounding) -> u64 {
    F64.encode(value, rounding, false, None)
}

/// `add` with any rounding.
#[inline(never)]
pub fn add_mode_f64(a: u64, b: u64, mode: u32) -> u64 {
    let rounding = FMode(mode).rounding();
    settle([a, b], encode(F64.decode(a).plus(F64.decode(b), rounding), rounding))
}

/// `sub` with any rounding.
#[inline(never)]
pub fn sub_mode_f64(a: u64, b: u64, mode: u32) -> u64 {
    let rounding = FMode(mode).rounding();
    settle([a, b], encode(F64.decode(a).plus(F64.decode(b).negated(), rounding), rounding))
}

/// `mul` with any rounding.
#[inline(never)]
pub fn mul_mode_f64(a: u64, b: u64, mode: u32) -> u64 {
    settle([a, b], encode(F64.decode(a).times(F64.decode(b)), FMode(mode).rounding()))
}

/// `fma` and `mad` with any rounding.
#[inline(never)]
pub fn fma_mode_f64(a: u64, b: u64, c: u64, mode: u32) -> u64 {
    let rounding = FMode(mode).rounding();
    let sum = F64.decode(a).times(F64.decode(b)).plus(F64.decode(c), rounding);
    settle([a, b, c], encode(sum, rounding))
}

/// `div` with any rounding.
#[inline(never)]
pub fn div_mode_f64(a: u64, b: u64, mode: u32) -> u64 {
    settle([a, b], encode(F64.decode(a).over(F64.decode(b)), FMode(mode).rounding()))
}

/// `rcp` with any rounding.
#[inline(never)]
pub fn rcp_mode_f64(a: u64, mode: u32) -> u64 {
    div_mode_f64(1.0f64.to_bits(), a, mode)
}

/// `sqrt` with any rounding.
#[inline(never)]
pub fn sqrt_mode_f64(a: u64, mode: u32) -> u64 {
    settle([a], encode(F64.decode(a).sqrt(), FMode(mode).rounding()))
}

/// `neg.f64`
#[inline(always)]
pub fn neg_f64(a: u64) -> u64 {
    a ^ SIGN
}

/// `abs.f64`
#[inline(always)]
pub fn abs_f64(a: u64) -> u64 {
    a & !SIGN
}

/// `copysign.f64`: the second source with the sign of the first.
#[inline(always)]
pub fn copysign_f64(a: u64, b: u64) -> u64 {
    a & SIGN | b & !SIGN
}

/// `min.f64`: −0 is less than +0; the other operand where one is NaN.
#[inline(always)]
pub fn min_f64(a: u64, b: u64) -> u64 {
    let ordered = if f(a) < f(b) { a } else { b };
    let result = if f(a) == f(b) { a | b } else { ordered };
    choose(a, b, result)
}

/// `max.f64`: +0 is greater than −0; the other operand where one is NaN.
#[inline(always)]
pub fn max_f64(a: u64, b: u64) -> u64 {
    let ordered = if f(a) > f(b) { a } else { b };
    let result = if f(a) == f(b) { a & b } else { ordered };
    choose(a, b, result)
}

#[inline(always)]
fn choose(a: u64, b: u64, result: u64) -> u64 {
    let result = if is_nan(a) { b } else { result };
    let result = if is_nan(b) { a } else { result };
    if is_nan(a) & is_nan(b) { a | QUIET } else { result }
}

/// `testp.f64`; zeros are normal.
#[inline]
pub fn testp_f64(a: u64, mode: u32) -> bool {
    let magnitude = a & !SIGN;
    let subnormal = magnitude.wrapping_sub(1) < (1 << 52) - 1;
    match FMode(mode).property() {
        Property::Finite => magnitude < INFINITY,
        Property::Infinite => magnitude == INFINITY,
        Property::Number => magnitude <= INFINITY,
        Property::NotANumber => magnitude > INFINITY,
        Property::Normal => magnitude < INFINITY && !subnormal,
        Property::Subnormal => subnormal,
    }
}

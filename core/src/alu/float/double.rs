//! `.f64` arithmetic. NaN results follow D-nan64 (see the folder's header).

use super::soft::{F64, Value};
use crate::alu::mode::{FMode, Rounding};

/// The NaN of an invalid operation.
pub const NAN64: u64 = 0xfff8_0000_0000_0000;
pub(super) const SIGN64: u64 = 1 << 63;
const QUIET: u64 = 1 << 51;
pub(super) const INFINITY64: u64 = 0x7ff0_0000_0000_0000;

#[inline(always)]
const fn is_nan(a: u64) -> bool {
    a & !SIGN64 > INFINITY64
}

/// A NaN made quiet; other numbers as `otherwise` has them.
#[inline(always)]
pub(super) const fn quiet_or(a: u64, otherwise: u64) -> u64 {
    if is_nan(a) { a | QUIET } else { otherwise }
}

/// The bits of the result of an operation on `sources`: a NaN among these is taken from the second, else from the third, else
/// from the first.
#[inline(always)]
pub(super) fn settle<const N: usize>(sources: [u64; N], result: u64) -> u64 {
    // The last one that is looked at counts.
    let nan = (1..=N).rev().fold(NAN64, |nan, i| quiet_or(sources[i % N], nan));
    if is_nan(result) { nan } else { result }
}

#[inline(always)]
pub(super) fn double(a: u64) -> f64 {
    f64::from_bits(a)
}

/// The sum as atomic operations in global memory make it: a NaN comes out as it went in, the second one first.
pub(in crate::alu) fn add_f64_raw(a: u64, b: u64) -> u64 {
    let sum = if is_nan(a) { a } else { settle([a, b], (double(a) + double(b)).to_bits()) };
    if is_nan(b) { b } else { sum }
}

/// `fma.rn.f64` by the host's instruction; only where the instruction set is known to have one.
#[inline(always)]
pub fn fma_f64_hard(a: u64, b: u64, c: u64) -> u64 {
    settle([a, b, c], double(a).mul_add(double(b), double(c)).to_bits())
}

/// An operation with any rounding.
#[inline(never)]
pub(super) fn rounded64<const N: usize>(
    sources: [u64; N],
    mode: u32,
    exact: impl Fn([Value; N], Rounding) -> Value,
) -> u64 {
    let rounding = FMode(mode).rounding();
    let value = exact(sources.map(|a| F64.decode(a)), rounding);
    settle(sources, F64.encode(value, rounding, false, None))
}

/// The operand that comes first, as [`extreme32`](super::single::extreme32) has it.
#[inline(always)]
pub(super) fn extreme64(a: u64, b: u64, first: impl Fn(f64, f64) -> bool, equal: u64) -> u64 {
    let ordered = if first(double(a), double(b)) { a } else { b };
    let result = if double(a) == double(b) { equal } else { ordered };
    let result = if is_nan(a) { b } else { result };
    let result = if is_nan(b) { a } else { result };
    if is_nan(a) { quiet_or(b, result) } else { result }
}

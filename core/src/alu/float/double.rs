//! `.f64` arithmetic. NaN results follow D-nan64 (see the folder's header).

use super::single::has_property;
use super::soft::{F64, Value};
use crate::alu::mode::{Property, Rounding};

/// The NaN of an invalid operation.
pub const NAN64: u64 = 0xfff8_0000_0000_0000;
pub(super) const SIGN64: u64 = 1 << 63;
const QUIET: u64 = 1 << 51;
const INFINITY: u64 = 0x7ff0_0000_0000_0000;

#[inline(always)]
const fn is_nan(a: u64) -> bool {
    a & !SIGN64 > INFINITY
}

/// The bits of the result of an operation on `sources`.
#[inline(always)]
pub(super) fn settle<const N: usize>(sources: [u64; N], result: u64) -> u64 {
    let mut nan = NAN64;
    for source in sources.into_iter().rev() {
        nan = if is_nan(source) { source | QUIET } else { nan };
    }
    if is_nan(result) { nan } else { result }
}

#[inline(always)]
pub(super) fn double(a: u64) -> f64 {
    f64::from_bits(a)
}

/// `fma.rn.f64` by the host's instruction; only where the instruction set is known to have one.
#[inline(always)]
pub fn fma_f64_hard(a: u64, b: u64, c: u64) -> u64 {
    settle([a, b, c], double(a).mul_add(double(b), double(c)).to_bits())
}

fn encode(value: Value, rounding: Rounding) -> u64 {
    F64.encode(value, rounding, false, None)
}

/// `add` with any rounding.
#[inline(never)]
pub(super) fn sum64(a: u64, b: u64, rounding: Rounding) -> u64 {
    settle([a, b], encode(F64.decode(a).plus(F64.decode(b), rounding), rounding))
}

/// `sub` with any rounding.
#[inline(never)]
pub(super) fn difference64(a: u64, b: u64, rounding: Rounding) -> u64 {
    settle([a, b], encode(F64.decode(a).plus(F64.decode(b).negated(), rounding), rounding))
}

/// `mul` with any rounding.
#[inline(never)]
pub(super) fn product64(a: u64, b: u64, rounding: Rounding) -> u64 {
    settle([a, b], encode(F64.decode(a).times(F64.decode(b)), rounding))
}

/// `fma` and `mad` with any rounding.
#[inline(never)]
pub(super) fn fused_mode64(a: u64, b: u64, c: u64, rounding: Rounding) -> u64 {
    let sum = F64.decode(a).times(F64.decode(b)).plus(F64.decode(c), rounding);
    settle([a, b, c], encode(sum, rounding))
}

/// `div` with any rounding.
#[inline(never)]
pub(super) fn quotient64(a: u64, b: u64, rounding: Rounding) -> u64 {
    settle([a, b], encode(F64.decode(a).over(F64.decode(b)), rounding))
}

/// `sqrt` with any rounding.
#[inline(never)]
pub(super) fn root64(a: u64, rounding: Rounding) -> u64 {
    settle([a], encode(F64.decode(a).sqrt(), rounding))
}

/// The minimum: −0 is less than +0; the other operand where one is NaN.
#[inline(always)]
pub(super) fn least64(a: u64, b: u64) -> u64 {
    let ordered = if double(a) < double(b) { a } else { b };
    let result = if double(a) == double(b) { a | b } else { ordered };
    choose(a, b, result)
}

/// The maximum: +0 is greater than −0; the other operand where one is NaN.
#[inline(always)]
pub(super) fn greatest64(a: u64, b: u64) -> u64 {
    let ordered = if double(a) > double(b) { a } else { b };
    let result = if double(a) == double(b) { a & b } else { ordered };
    choose(a, b, result)
}

#[inline(always)]
fn choose(a: u64, b: u64, result: u64) -> u64 {
    let result = if is_nan(a) { b } else { result };
    let result = if is_nan(b) { a } else { result };
    if is_nan(a) & is_nan(b) { a | QUIET } else { result }
}

/// Whether a number has a property; zeros are normal.
#[inline]
pub(super) fn has_property64(a: u64, property: Property) -> bool {
    has_property(a & !SIGN64, INFINITY, 1 << 52, property)
}

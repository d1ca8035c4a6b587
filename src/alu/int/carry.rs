//! Extended-precision arithmetic: the condition code's carry is a predicate, read as the last source and written as a
//! second result. Subtraction's carry is the borrow, as PTX says, and not its complement.

use super::scalar;
use super::{mul_hi_s32, mul_hi_s64, mul_hi_u32, mul_hi_u64};

scalar! {
    add_cc32(a: u32, b: u32) -> (u32, bool) = a.overflowing_add(b);
    add_cc64(a: u64, b: u64) -> (u64, bool) = a.overflowing_add(b);
    addc32(a: u32, b: u32, cc: bool) -> u32 = a.wrapping_add(b).wrapping_add(u32::from(cc));
    addc64(a: u64, b: u64, cc: bool) -> u64 = a.wrapping_add(b).wrapping_add(u64::from(cc));
    addc_cc32(a: u32, b: u32, cc: bool) -> (u32, bool) = carrying_add32(a, b, cc);
    addc_cc64(a: u64, b: u64, cc: bool) -> (u64, bool) = carrying_add64(a, b, cc);
    sub_cc32(a: u32, b: u32) -> (u32, bool) = a.overflowing_sub(b);
    sub_cc64(a: u64, b: u64) -> (u64, bool) = a.overflowing_sub(b);
    subc32(a: u32, b: u32, cc: bool) -> u32 = a.wrapping_sub(b).wrapping_sub(u32::from(cc));
    subc64(a: u64, b: u64, cc: bool) -> u64 = a.wrapping_sub(b).wrapping_sub(u64::from(cc));
    subc_cc32(a: u32, b: u32, cc: bool) -> (u32, bool) = borrowing_sub32(a, b, cc);
    subc_cc64(a: u64, b: u64, cc: bool) -> (u64, bool) = borrowing_sub64(a, b, cc);

    mad_lo_cc32(a: u32, b: u32, c: u32) -> (u32, bool) = a.wrapping_mul(b).overflowing_add(c);
    mad_lo_cc64(a: u64, b: u64, c: u64) -> (u64, bool) = a.wrapping_mul(b).overflowing_add(c);
    mad_hi_cc_u32(a: u32, b: u32, c: u32) -> (u32, bool) = mul_hi_u32(a, b).overflowing_add(c);
    mad_hi_cc_s32(a: u32, b: u32, c: u32) -> (u32, bool) = mul_hi_s32(a, b).overflowing_add(c);
    mad_hi_cc_u64(a: u64, b: u64, c: u64) -> (u64, bool) = mul_hi_u64(a, b).overflowing_add(c);
    mad_hi_cc_s64(a: u64, b: u64, c: u64) -> (u64, bool) = mul_hi_s64(a, b).overflowing_add(c);
    madc_lo32(a: u32, b: u32, c: u32, cc: bool) -> u32 = addc32(a.wrapping_mul(b), c, cc);
    madc_lo64(a: u64, b: u64, c: u64, cc: bool) -> u64 = addc64(a.wrapping_mul(b), c, cc);
    madc_hi_u32(a: u32, b: u32, c: u32, cc: bool) -> u32 = addc32(mul_hi_u32(a, b), c, cc);
    madc_hi_s32(a: u32, b: u32, c: u32, cc: bool) -> u32 = addc32(mul_hi_s32(a, b), c, cc);
    madc_hi_u64(a: u64, b: u64, c: u64, cc: bool) -> u64 = addc64(mul_hi_u64(a, b), c, cc);
    madc_hi_s64(a: u64, b: u64, c: u64, cc: bool) -> u64 = addc64(mul_hi_s64(a, b), c, cc);
    madc_lo_cc32(a: u32, b: u32, c: u32, cc: bool) -> (u32, bool) = carrying_add32(a.wrapping_mul(b), c, cc);
    madc_lo_cc64(a: u64, b: u64, c: u64, cc: bool) -> (u64, bool) = carrying_add64(a.wrapping_mul(b), c, cc);
    madc_hi_cc_u32(a: u32, b: u32, c: u32, cc: bool) -> (u32, bool) = carrying_add32(mul_hi_u32(a, b), c, cc);
    madc_hi_cc_s32(a: u32, b: u32, c: u32, cc: bool) -> (u32, bool) = carrying_add32(mul_hi_s32(a, b), c, cc);
    madc_hi_cc_u64(a: u64, b: u64, c: u64, cc: bool) -> (u64, bool) = carrying_add64(mul_hi_u64(a, b), c, cc);
    madc_hi_cc_s64(a: u64, b: u64, c: u64, cc: bool) -> (u64, bool) = carrying_add64(mul_hi_s64(a, b), c, cc);
}

/// The sum of three and its carry; at most one of the two additions can carry.
#[inline(always)]
const fn carrying_add32(a: u32, b: u32, cc: bool) -> (u32, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(cc as u32);
    (sum, first | second)
}

/// As [`carrying_add32`].
#[inline(always)]
const fn carrying_add64(a: u64, b: u64, cc: bool) -> (u64, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(cc as u64);
    (sum, first | second)
}

/// `a - (b + cc)` and its borrow.
#[inline(always)]
const fn borrowing_sub32(a: u32, b: u32, cc: bool) -> (u32, bool) {
    let (difference, first) = a.overflowing_sub(b);
    let (difference, second) = difference.overflowing_sub(cc as u32);
    (difference, first | second)
}

/// As [`borrowing_sub32`].
#[inline(always)]
const fn borrowing_sub64(a: u64, b: u64, cc: bool) -> (u64, bool) {
    let (difference, first) = a.overflowing_sub(b);
    let (difference, second) = difference.overflowing_sub(cc as u64);
    (difference, first | second)
}

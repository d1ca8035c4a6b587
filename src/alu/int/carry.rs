//! Extended-precision arithmetic (PTX ISA 9.7.2): the condition code's carry is a predicate, read as the last source and
//! written as a second result.
//!
//! Departs from PTX's text in one thing (D-carry): a subtraction leaves the carry that hardware leaves, which is set when
//! there was *no* borrow, since it adds the complement. Chains of one kind compute the same either way; `sub.cc` followed by
//! `addc`, or `add.cc` by `subc`, does not.

use super::scalar;
use super::{mul_hi_s32, mul_hi_s64, mul_hi_u32, mul_hi_u64};

scalar! {
    add_cc32(a: u32, b: u32) -> (u32, bool) = a.overflowing_add(b);
    add_cc64(a: u64, b: u64) -> (u64, bool) = a.overflowing_add(b);
    addc32(a: u32, b: u32, cc: bool) -> u32 = a.wrapping_add(b).wrapping_add(u32::from(cc));
    addc64(a: u64, b: u64, cc: bool) -> u64 = a.wrapping_add(b).wrapping_add(u64::from(cc));
    addc_cc32(a: u32, b: u32, cc: bool) -> (u32, bool) = carrying_add32(a, b, cc);
    addc_cc64(a: u64, b: u64, cc: bool) -> (u64, bool) = carrying_add64(a, b, cc);
    sub_cc32(a: u32, b: u32) -> (u32, bool) = carrying_add32(a, !b, true);
    sub_cc64(a: u64, b: u64) -> (u64, bool) = carrying_add64(a, !b, true);
    subc32(a: u32, b: u32, cc: bool) -> u32 = addc32(a, !b, cc);
    subc64(a: u64, b: u64, cc: bool) -> u64 = addc64(a, !b, cc);
    subc_cc32(a: u32, b: u32, cc: bool) -> (u32, bool) = carrying_add32(a, !b, cc);
    subc_cc64(a: u64, b: u64, cc: bool) -> (u64, bool) = carrying_add64(a, !b, cc);

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

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers at which additions and subtractions do and do not carry.
    const EDGES: [u32; 8] = [0, 1, 2, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, u32::MAX - 1, u32::MAX];

    fn wide(low: u32, high: u32) -> u64 {
        u64::from(high) << 32 | u64::from(low)
    }

    #[test]
    fn two_halves_are_subtracted_as_a_whole() {
        for (a, b) in EDGES.into_iter().flat_map(|a| EDGES.map(|b| (a, b))) {
            for (c, d) in EDGES.into_iter().flat_map(|c| EDGES.map(|d| (c, d))) {
                let (low, cc) = sub_cc32(a, c);
                let (high, out) = subc_cc32(b, d, cc);
                let (whole, borrow) = wide(a, b).overflowing_sub(wide(c, d));
                assert_eq!((wide(low, high), out), (whole, !borrow), "{b:x}:{a:x} - {d:x}:{c:x}");
                assert_eq!(subc32(b, d, cc), high);
                let (low, cc) = sub_cc64(wide(a, b), wide(c, d));
                assert_eq!((low, cc), (whole, !borrow));
                assert_eq!(subc_cc64(7, 3, cc), (4 - u64::from(borrow), true));
                assert_eq!(subc64(7, 3, cc), 4 - u64::from(borrow));
            }
        }
    }

    /// What ptxas makes of `sub.cc` and `addc` adds one exactly when there was no borrow.
    #[test]
    fn a_subtraction_leaves_the_carry_of_hardware() {
        assert_eq!(addc32(0, 0, sub_cc32(5, 3).1), 1);
        assert_eq!(addc32(0, 0, sub_cc32(3, 5).1), 0);
        assert_eq!(subc32(9, 0, add_cc32(u32::MAX, 1).1), 9);
        assert_eq!(subc32(9, 0, add_cc32(1, 1).1), 8);
    }
}

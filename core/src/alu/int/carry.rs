//! Extended-precision arithmetic (PTX ISA 9.7.2): the condition code's carry is a predicate, read as the last source and
//! written as a second result.
//!
//! Departs from PTX's text in one thing (D-carry): a subtraction leaves the carry that hardware leaves, which is set when
//! there was *no* borrow, since it adds the complement. Chains of one kind compute the same either way; `sub.cc` followed by
//! `addc`, or `add.cc` by `subc`, does not.

/// The sum of three and its carry; at most one of the two additions can carry.
#[inline(always)]
pub(super) const fn carrying_add32(a: u32, b: u32, cc: bool) -> (u32, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(cc as u32);
    (sum, first | second)
}

/// As [`carrying_add32`].
#[inline(always)]
pub(super) const fn carrying_add64(a: u64, b: u64, cc: bool) -> (u64, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(cc as u64);
    (sum, first | second)
}

#[cfg(test)]
mod tests {
    use crate::alu::int::*;

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

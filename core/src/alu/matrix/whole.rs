//! Products that are exact or a chain: integers, single bits, and numbers of 64 bits.

use super::Size;
use crate::alu::float::fma_f64;

/// Types of small integers that are multiplied.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the types of the PTX ISA")]
pub enum Small {
    S8,
    U8,
    S4,
    U4,
}

impl Small {
    /// Bits of an element.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::S8 | Self::U8 => 8,
            Self::S4 | Self::U4 => 4,
        }
    }

    /// The value of a bit pattern.
    #[must_use]
    pub const fn value(self, bits: u32) -> i32 {
        match self {
            Self::U8 => (bits & 0xff).cast_signed(),
            Self::U4 => (bits & 15).cast_signed(),
            Self::S8 => (bits << 24).cast_signed() >> 24,
            Self::S4 => (bits << 28).cast_signed() >> 28,
        }
    }
}

/// Calls `dot` for each row of `A`, column of `B` and element of `C`.
fn each<T, S>(size: Size, a: &[T], b: &[T], c: &mut [S], mut dot: impl FnMut(&[T], &[T], &mut S)) {
    let (k, n) = (size.k.max(1), size.n.max(1));
    for (row, sums) in a.chunks_exact(k).zip(c.chunks_exact_mut(n)) {
        b.chunks_exact(k).zip(sums).for_each(|(column, sum)| dot(row, column, sum));
    }
}

/// `C` becomes `A·B + C` in integers of 32 bits, which wrap around, or, where `saturate` says so (`.satfinite`), the exact
/// sum's nearest one.
pub fn integers(size: Size, saturate: bool, a: &[i32], b: &[i32], c: &mut [u32]) {
    each(size, a, b, c, |row, column, sum| {
        // Up to 64 products of 16 bits.
        let dot = row.iter().zip(column).map(|(a, b)| a.wrapping_mul(*b)).fold(0, i32::wrapping_add);
        let old = sum.cast_signed();
        *sum = if saturate { old.saturating_add(dot) } else { old.wrapping_add(dot) }.cast_unsigned();
    });
}

/// The same of vectors of bits in words: the number of bits that are set in both, or in just one (`xor`).
pub fn bits(size: Size, xor: bool, a: &[u32], b: &[u32], c: &mut [u32]) {
    each(size, a, b, c, |row, column, sum| {
        let count = |(a, b): (&u32, &u32)| if xor { a ^ b } else { a & b }.count_ones();
        *sum = row.iter().zip(column).map(count).fold(*sum, u32::wrapping_add);
    });
}

/// The same of numbers of 64 bits: a chain of fused operations in the order of the elements, each rounded to nearest even
/// (Fasi and others, 2021, of the A100).
pub fn doubles(size: Size, a: &[u64], b: &[u64], c: &mut [u64]) {
    each(size, a, b, c, |row, column, sum| {
        *sum = row.iter().zip(column).fold(*sum, |sum, (a, b)| fma_f64(*a, *b, sum));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOT: Size = Size { m: 1, n: 1, k: 2 };

    #[test]
    fn integers_wrap_around_or_stay_at_the_ends() {
        for (saturate, is) in [(false, i32::MIN + 31), (true, i32::MAX)] {
            let mut c = [i32::MAX.cast_unsigned()];
            integers(DOT, saturate, &[4, 4], &[4, 4], &mut c);
            assert_eq!(c[0].cast_signed(), is);
        }
        let is = [(Small::S8, -1), (Small::U8, 255), (Small::S4, -1), (Small::U4, 15)];
        is.iter().for_each(|(small, value)| assert_eq!(small.value(0xff), *value));
    }

    #[test]
    fn rows_meet_columns() {
        let mut c = [0, 0, 0, 100];
        integers(Size { m: 2, n: 2, k: 2 }, false, &[1, 2, 3, 4], &[1, 0, 0, 1], &mut c);
        assert_eq!(c, [1, 2, 3, 104]);
    }

    #[test]
    fn bits_are_counted() {
        for (xor, is) in [(false, 1 + 2 + 7), (true, 5 + 1 + 7)] {
            let mut c = [7];
            bits(DOT, xor, &[0b1111_0000, 0b110], &[0b0001_1100, 0b111], &mut c);
            assert_eq!(c[0], is, "{xor}");
        }
    }

    #[test]
    fn numbers_of_64_bits_are_a_chain() {
        let mut c = [1f64.to_bits()];
        let of = |values: [f64; 2]| values.map(f64::to_bits);
        doubles(DOT, &of([1e16, -1e16]), &of([1.0, 1.0]), &mut c);
        // The one is lost in the first sum.
        assert_eq!(f64::from_bits(c[0]), 0.0);
    }
}

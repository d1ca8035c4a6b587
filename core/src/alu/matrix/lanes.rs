//! The same products for many rows at once, on vector units: bit for bit what [`super::floats`] and [`super::integers`] compute.
//!
//! Matrices lie so that the rows of `A` are neighbours: element (row, x) of `A` is at `x · m + row`, element (x, column) of `B`
//! at `x · n + column`, element (row, column) of `C` at `column · m + row`. All loops are over arrays of a fixed length, and
//! without branches.
//!
//! What is rare is left to the definition, element by element: NaN and infinity, and sums that are no normal number of 32 bits.

#![expect(
    clippy::needless_range_loop,
    reason = "adaptors are compiled for the common instruction set before they are inlined"
)]

use super::decoded::{Column, Sums};
use super::float::by_blocks;
use super::number::{POINT, SUM_POINT};
use super::{Accumulator, Blocks, Floats, Size};
use crate::base::{Best, Tier};
use pulp::{Simd, WithSimd};
use smallvec::SmallVec;

/// Columns of `B` that are decoded together: their number is a multiple of it.
const EIGHT: usize = 8;
/// The longest dot product of floating-point numbers, that of sparse `m16n8k64`, and the most groups of eight elements of `B`.
const DEEP: usize = 64;
/// Bits of an addend below the binary point, before it is shifted: products fill 31 bits.
const WIDE: u32 = 29;
/// Products whose sum surely fits 32 bits: each is below four, with at most 25 bits below the point.
const GROUP: usize = 8;

/// Elements of `D` that the definition has to compute, by row and column.
pub(super) type Rare = SmallVec<[(usize, usize); 4]>;

/// `C` becomes `A·B + C`, rounded block by block. Rows and columns are multiples of 8.
pub(super) fn blocks_by_rows(size: Size, types: Floats, blocks: Blocks, a: &[u32], b: &[u32], c: &mut [u32]) {
    let Size { m, n, k } = size;
    for (row, column) in floats_but_rare(size, types, blocks, a, b, c) {
        let gathered = |from: &[u32], wide: usize, at: usize| -> SmallVec<[u32; 64]> {
            (0..k).map(|x| from.get(x * wide + at).copied().unwrap_or(0)).collect()
        };
        let (row_of_a, column_of_b) = (gathered(a, m, row), gathered(b, n, column));
        if let Some(sum) = c.get_mut(column * m + row) {
            *sum = by_blocks(types, blocks, &row_of_a, &column_of_b, *sum);
        }
    }
}

/// Every element of `D`.
pub(super) fn all(size: Size) -> Rare {
    (0..size.m).flat_map(|row| (0..size.n).map(move |column| (row, column))).collect()
}

/// The same, but for what is rare: elements that are left as they are.
pub(super) fn floats_but_rare(size: Size, types: Floats, blocks: Blocks, a: &[u32], b: &[u32], c: &mut [u32]) -> Rare {
    Best::run(Product { size, types, blocks, a, b, c })
}

struct Product<'a> {
    size: Size,
    types: Floats,
    blocks: Blocks,
    a: &'a [u32],
    b: &'a [u32],
    c: &'a mut [u32],
}

impl WithSimd for Product<'_> {
    type Output = Rare;

    #[inline(always)]
    fn with_simd<V: Simd>(self, _: V) -> Rare {
        match (self.size.m.is_multiple_of(16), self.size.k <= 16) {
            (true, true) => self.go::<16, 16>(),
            (true, false) => self.go::<16, DEEP>(),
            (false, true) => self.go::<8, 16>(),
            (false, false) => self.go::<8, DEEP>(),
        }
    }
}

impl Product<'_> {
    /// The product, `L` rows at a time, of at most `K` elements each: arrays that are larger than need be take time to clear, and
    /// containers are moved. Elements of `C` stay as they are where the definition has to compute them.
    #[inline(always)]
    fn go<const L: usize, const K: usize>(self) -> Rare {
        let Self { size: Size { m, n, k }, types, blocks, a, b, c } = self;
        let ((a, _), (b, _), (c, _)) = (a.as_chunks::<L>(), b.as_chunks::<EIGHT>(), c.as_chunks_mut::<L>());
        let mut rare = Rare::new();
        let mut columns = [Column::<EIGHT>::ZERO; DEEP];
        let mut odd_columns = [0u32; 32];
        for (at, (bits, column)) in b.iter().zip(columns.iter_mut()).enumerate() {
            let mut odds = [0; EIGHT];
            column.decode(types.b, bits, 0, &mut odds);
            for (all, odd) in odd_columns.iter_mut().skip(at * EIGHT % n.max(1)).zip(odds) {
                *all |= odd;
            }
        }
        let chunks = m / L;
        for chunk in 0..chunks {
            let mut rows = [Column::<L>::ZERO; K];
            let mut odd_rows = [0u32; L];
            for (bits, row) in a.iter().skip(chunk).step_by(chunks).zip(rows.iter_mut()) {
                row.decode(types.a, bits, WIDE - 2 * POINT, &mut odd_rows);
            }
            for (column, sums) in c.iter_mut().skip(chunk).step_by(chunks).enumerate().take(n.min(32)) {
                let mut odd = odd_rows;
                for one in &mut odd {
                    *one |= odd_columns[column];
                }
                let mut new = Sums { bits: *sums, odd };
                let (from, lane, wide) = (column / EIGHT, column % EIGHT, (n / EIGHT).max(1));
                let (mut ty, mut done) = (types.c, 0);
                for part in rows[..k.min(K)].chunks(blocks.products.max(1)) {
                    let first = (done * wide + from).min(columns.len());
                    block(part, (&columns[first..], wide, lane), blocks, (ty, types.d), &mut new);
                    (ty, done) = (types.d, done + part.len());
                }
                let mut any = 0;
                for l in 0..L {
                    any |= new.odd[l];
                    sums[l] = if new.odd[l] == 0 { new.bits[l] } else { sums[l] };
                }
                if any != 0 {
                    rare.extend(
                        new.odd.iter().enumerate().filter(|(_, odd)| **odd != 0).map(|(l, _)| (chunk * L + l, column)),
                    );
                }
            }
        }
        rare
    }
}

/// Adds a block of products to the sums of `L` rows in one column: columns of `A`; rows of `B`, so many entries apart, with the
/// column's place in them.
#[inline(always)]
fn block<const L: usize>(
    a: &[Column<L>],
    (b, wide, lane): (&[Column<EIGHT>], usize, usize),
    blocks: Blocks,
    (from, to): (Accumulator, Accumulator),
    sums: &mut Sums<L>,
) {
    let old = sums.decode(from, WIDE - SUM_POINT);
    let mut largest = old.exponent;
    for (a, b) in a.iter().zip(b.iter().step_by(wide)) {
        let exponent = b.exponent[lane];
        for l in 0..L {
            largest[l] = largest[l].max(a.exponent[l] + exponent);
        }
    }
    // How far an addend with exponent zero is shifted to the right.
    let mut shift = largest;
    for one in &mut shift {
        *one += (WIDE - blocks.fraction.min(WIDE)).cast_signed();
    }
    let mut total = [0f64; L];
    for l in 0..L {
        let size = old.significand[l] >> (shift[l] - old.exponent[l]).cast_unsigned().min(31);
        total[l] = f64::from((size.cast_signed() ^ old.sign[l]) - old.sign[l]);
    }
    let mut b = b.iter().step_by(wide);
    for group in a.chunks(GROUP) {
        let mut sum = [0i32; L];
        for (a, b) in group.iter().zip(&mut b) {
            let (exponent, significand, sign) = (b.exponent[lane], b.significand[lane], b.sign[lane]);
            for l in 0..L {
                // Not negative: the shift is that of the largest one.
                let by = (shift[l] - exponent - a.exponent[l]).cast_unsigned().min(31);
                let size = (a.significand[l].wrapping_mul(significand) >> by).cast_signed();
                let sign = a.sign[l] ^ sign;
                sum[l] = sum[l].wrapping_add((size ^ sign).wrapping_sub(sign));
            }
        }
        for l in 0..L {
            // Both are whole numbers below 2^53.
            total[l] += f64::from(sum[l]);
        }
    }
    for one in &mut largest {
        *one -= blocks.fraction.cast_signed();
    }
    sums.round(to, &total, &largest, blocks.kept);
}

/// `C` becomes `A·B + C` in integers of 32 bits, as [`super::integers`] says; elements are given as unsigned ones.
pub fn integers_by_rows(size: Size, saturate: bool, a: &[u32], b: &[u32], c: &mut [u32]) {
    Best::run(Whole { size, times: Times::Whole { saturate }, a, b, c });
}

/// The same of vectors of bits in words, as [`super::bits`] says.
pub fn bits_by_rows(size: Size, xor: bool, a: &[u32], b: &[u32], c: &mut [u32]) {
    Best::run(Whole { size, times: if xor { Times::Xor } else { Times::And }, a, b, c });
}

/// What two elements give that a sum is made of.
#[derive(Clone, Copy)]
enum Times {
    Whole { saturate: bool },
    And,
    Xor,
}

struct Whole<'a> {
    size: Size,
    times: Times,
    a: &'a [u32],
    b: &'a [u32],
    c: &'a mut [u32],
}

impl WithSimd for Whole<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, _: V) {
        let Self { size: Size { m, n, .. }, times, a, b, c } = self;
        let ((a, _), (c, _)) = (a.as_chunks::<EIGHT>(), c.as_chunks_mut::<EIGHT>());
        let chunks = (m / EIGHT).max(1);
        for (at, sums) in c.iter_mut().enumerate() {
            let (chunk, column) = (at % chunks, at / chunks);
            let mut dots = [0u32; EIGHT];
            for (a, b) in a.iter().skip(chunk).step_by(chunks).zip(b.iter().skip(column).step_by(n.max(1))) {
                for l in 0..EIGHT {
                    let product = match times {
                        Times::Whole { .. } => a[l].wrapping_mul(*b),
                        Times::And => (a[l] & *b).count_ones(),
                        Times::Xor => (a[l] ^ *b).count_ones(),
                    };
                    dots[l] = dots[l].wrapping_add(product);
                }
            }
            let saturate = matches!(times, Times::Whole { saturate: true });
            for l in 0..EIGHT {
                let (old, dot) = (sums[l].cast_signed(), dots[l].cast_signed());
                let sum = if saturate { old.saturating_add(dot) } else { old.wrapping_add(dot) };
                sums[l] = sum.cast_unsigned();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Element, Rounding, bits, floats, floats_by_rows, integers};
    use super::*;
    use chacha20::ChaCha8Rng;
    use rand::{Rng, RngExt, SeedableRng};

    /// The other way round.
    fn turned(from: &[u32], wide: usize) -> Vec<u32> {
        let high = from.len() / wide;
        (0..from.len()).map(|at| from[at % high * wide + at / high]).collect()
    }

    /// A bit pattern with so many bits of exponent and fraction. Styles: anything; near one; small; now and then something
    /// special; all bits of the exponent random, so that sums overflow.
    fn any(random: &mut ChaCha8Rng, style: u32, exponents: u32, fraction: u32) -> u32 {
        let bits = random.next_u32();
        let (top, pick) = ((1u32 << exponents) - 1, random.random_range(0..40));
        let exponent = match (style, pick) {
            (0 | 3, 0) => return (bits >> 31) << (exponents + fraction),
            (3, 1) => top,
            (1, _) => top / 2 - 2 + pick % 4,
            (2, _) => pick % 3,
            (4, _) => top - 1 - pick % 4,
            _ => random.random_range(0..top),
        };
        let fractions = if pick == 2 { 0 } else { bits & ((1 << fraction) - 1) };
        ((bits >> 31) << exponents | exponent) << fraction | fractions
    }

    fn element(random: &mut ChaCha8Rng, style: u32, element: Element) -> u32 {
        match element {
            Element::F16 => any(random, style, 5, 10),
            Element::Bf16 => any(random, style, 8, 7),
            Element::Tf32 => any(random, style, 8, 23),
            Element::E4m3 => any(random, style, 4, 3),
            Element::E5m2 => any(random, style, 5, 2),
        }
    }

    #[test]
    fn many_rows_at_once_are_the_same_bits() {
        use Accumulator::{F16, F32};
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let kinds = [Element::F16, Element::Bf16, Element::Tf32, Element::E4m3, Element::E5m2];
        let sizes =
            [(16, 8, 16), (16, 8, 8), (8, 32, 16), (32, 8, 16), (16, 16, 8), (16, 8, 32), (8, 8, 4), (16, 8, 64)];
        for round in 0..2_000u32 {
            let (a, sm) = (kinds[round as usize % 5], [70, 80, 89, 90][round as usize % 4]);
            let b = if a == Element::E4m3 && round % 3 == 0 { Element::E5m2 } else { a };
            let (c, d) = [(F32, F32), (F16, F16), (F16, F32), (F32, F16)][round as usize / 4 % 4];
            let (types, rounding) = (Floats { a, b, c, d }, Rounding::of_target(sm, a));
            let (m, n, k) = sizes[round as usize / 7 % sizes.len()];
            let (size, style) = (Size { m, n, k }, random.random_range(0..5));
            let matrix_a: Vec<u32> = (0..m * k).map(|_| element(&mut random, style, a)).collect();
            let matrix_b: Vec<u32> = (0..k * n).map(|_| element(&mut random, style, b)).collect();
            let (exponents, fraction) = if c == F16 { (5, 10) } else { (8, 23) };
            let other = random.random_range(0..5);
            let mut wanted: Vec<u32> = (0..m * n).map(|_| any(&mut random, other, exponents, fraction)).collect();
            let mut is = turned(&wanted, n);
            floats(size, types, rounding, &matrix_a, &matrix_b, &mut wanted);
            floats_by_rows(size, types, rounding, &turned(&matrix_a, k), &turned(&matrix_b, k), &mut is);
            let is = turned(&is, m);
            let wrong = (0..m * n).find(|at| is[*at] != wanted[*at]);
            assert_eq!(wrong.map(|at| (at, is[at], wanted[at])), None, "{types:?} {size:?} {rounding:?} {style}");
        }
    }

    #[test]
    fn integers_of_many_rows_are_the_same() {
        let mut random = ChaCha8Rng::seed_from_u64(8);
        for (m, n, k) in [(16, 8, 32), (8, 8, 16), (8, 32, 16), (32, 8, 16), (16, 8, 128)] {
            for saturate in [false, true] {
                let a: Vec<i32> = (0..m * k).map(|_| random.random_range(-128..256)).collect();
                let b: Vec<i32> = (0..k * n).map(|_| random.random_range(-128..256)).collect();
                let mut wanted: Vec<u32> = (0..m * n).map(|_| random.next_u32() | 0x7fff_0000).collect();
                let mut is = turned(&wanted, n);
                let unsigned = |of: &[i32]| of.iter().map(|x| x.cast_unsigned()).collect::<Vec<u32>>();
                integers(Size { m, n, k }, saturate, &a, &b, &mut wanted);
                let (a, b) = (turned(&unsigned(&a), k), turned(&unsigned(&b), k));
                integers_by_rows(Size { m, n, k }, saturate, &a, &b, &mut is);
                assert_eq!(turned(&is, m), wanted, "{m} {n} {k}");
                // The same words as vectors of bits.
                let (mut wanted, words) = (turned(&is, m), [turned(&a, m), turned(&b, n)]);
                bits(Size { m, n, k }, saturate, &words[0], &words[1], &mut wanted);
                bits_by_rows(Size { m, n, k }, saturate, &a, &b, &mut is);
                assert_eq!(turned(&is, m), wanted, "{m} {n} {k} bits");
            }
        }
    }
}

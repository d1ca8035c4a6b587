//! `mma` and `mma.sp` of elements of 8 bits on targets whose tensor cores do not have them in these instructions, as ptxas
//! compiles them (D-mma-rounding): elements become `f16`, which is exact; a register of four is split into its lower and its
//! upper two, so that there are two products of half the depth, of the columns 0 and 1 of each four and of 2 and 3. The sums
//! begin at zero, and the accumulator is added last, rounded to nearest even.

use super::float;
use super::lanes::blocks_by_rows;
use super::number::{Number, POINT};
use super::sparse::{Stored, stored_by_rows};
use super::{Accumulator, Blocks, Element, Floats, Size};
use crate::alu::float::{narrow16, widen16};
use crate::alu::table::NAN32;
use smallvec::SmallVec;

/// Elements of one of the two products.
type Half = SmallVec<[u32; 512]>;

/// An element as `f16`.
fn half(element: Element, bits: u32) -> u32 {
    match element.number(bits) {
        Number::Finite(f) => {
            Accumulator::F16.nearest(f.negative, f.significand.into(), f.exponent - POINT.cast_signed(), false)
        }
        Number::Infinite(negative) => Accumulator::F16.infinity(negative),
        Number::Nan => Accumulator::F16.nan(),
    }
}

/// The types of the two products.
const fn types_of(types: Floats) -> Floats {
    Floats { a: Element::F16, b: Element::F16, c: types.d, d: types.d }
}

/// The sum of both products, and the accumulator.
fn total(types: Floats, sum: u32, c: u32) -> u32 {
    let single = |ty: Accumulator, bits: u32| match ty {
        Accumulator::F16 => f32::from_bits(widen16(bits)),
        Accumulator::F32 => f32::from_bits(bits),
    };
    // A sum of two `f16` that is rounded to 24 bits first is rounded to 11 as if at once.
    let sum = single(types.d, sum) + single(types.c, c);
    let bits = if sum.is_nan() { NAN32 } else { sum.to_bits() };
    match types.d {
        Accumulator::F16 => narrow16(bits),
        Accumulator::F32 => bits,
    }
}

/// A dot product and an accumulator. Of a sparse product the elements are those that are stored.
pub(super) fn dot(types: Floats, blocks: Blocks, a: &[u32], b: &[u32], c: u32) -> u32 {
    let of = |half_number: usize, element: Element, from: &[u32]| -> Half {
        let mine = from.iter().enumerate().filter(|(x, _)| x / 2 % 2 == half_number);
        mine.map(|(_, bits)| half(element, *bits)).collect()
    };
    let sum = (0..2).fold(0, |sum, number| {
        let (a, b) = (of(number, types.a, a), of(number, types.b, b));
        float::by_blocks(types_of(types), blocks, &a, &b, sum)
    });
    total(types, sum, c)
}

/// The columns of `A`, or rows of `B`, that one of the products has: `group` neighbours of twice as many.
fn rows_of(element: Element, from: &[u32], wide: usize, group: usize, number: usize) -> Half {
    let mine = from.chunks(wide.max(1)).enumerate().filter(|(x, _)| x / group % 2 == number);
    mine.flat_map(|(_, row)| row.iter().map(|bits| half(element, *bits))).collect()
}

/// `C` becomes `A·B + C`; matrices lie as for [`super::floats_by_rows`].
pub(super) fn by_rows(size: Size, types: Floats, blocks: Blocks, a: &[u32], b: &[u32], c: &mut [u32]) {
    let (mut sums, size) = (Half::from_elem(0, c.len()), Size { k: size.k / 2, ..size });
    for number in 0..2 {
        let (a, b) = (rows_of(types.a, a, size.m, 2, number), rows_of(types.b, b, size.n, 2, number));
        blocks_by_rows(size, types_of(types), blocks, &a, &b, &mut sums);
    }
    c.iter_mut().zip(sums).for_each(|(c, sum)| *c = total(types, sum, *c));
}

/// The same with a sparse `A`: two elements are stored of four columns, so that these go to one product.
pub(super) fn sparse(size: Size, types: Floats, blocks: Blocks, a: Stored<'_>, b: &[u32], c: &mut [u32]) {
    let (mut sums, size) = (Half::from_elem(0, c.len()), Size { k: size.k / 2, ..size });
    for number in 0..2 {
        let elements = rows_of(types.a, a.elements, size.m, 2, number);
        let mine = a.columns.iter().filter(|column| usize::from(**column) / 4 % 2 == number);
        let columns: SmallVec<[u8; 512]> = mine.map(|column| column / 8 * 4 + column % 4).collect();
        let b = rows_of(types.b, b, size.n, 4, number);
        let stored = Stored { elements: &elements, columns: &columns };
        stored_by_rows(size, types_of(types), blocks, stored, &b, &mut sums);
    }
    c.iter_mut().zip(sums).for_each(|(c, sum)| *c = total(types, sum, *c));
}

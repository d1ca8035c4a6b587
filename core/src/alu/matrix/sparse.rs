//! Products with a sparse `A`, of which the elements that are stored are multiplied, and no others: NaN and infinities of `B` that
//! meet none of them do not matter. Blocks have as many products as those of dense matrices (D-mma-sparse).

use super::float::by_blocks;
use super::lanes::{floats_but_rare, integers_by_rows};
use super::{Blocks, Floats, Size};
use smallvec::SmallVec;

/// Elements of a row or a column.
type Line = SmallVec<[u32; 64]>;

/// Half of the elements of `A`, and the column that each has. Element (row, x) of them is at `x · m + row`.
#[derive(Clone, Copy, Debug)]
pub struct Stored<'a> {
    /// The elements.
    pub elements: &'a [u32],
    /// Their columns.
    pub columns: &'a [u8],
}

impl Stored<'_> {
    /// The whole matrix, with zeros.
    fn whole(&self, m: usize, k: usize) -> SmallVec<[u32; 1024]> {
        let mut all = SmallVec::from_elem(0, m * k);
        for (at, (element, column)) in self.elements.iter().zip(self.columns).enumerate() {
            if let Some(place) = all.get_mut(usize::from(*column) * m + at % m.max(1)) {
                *place = *element;
            }
        }
        all
    }
}

/// `C` becomes `A·B + C`, rounded block by block; matrices lie as for [`super::floats_by_rows`].
pub(super) fn stored_by_rows(size: Size, types: Floats, blocks: Blocks, a: Stored<'_>, b: &[u32], c: &mut [u32]) {
    // Half of the places of a block are zeros, which change nothing.
    let twice = Blocks { products: 2 * blocks.products, ..blocks };
    for (row, column) in floats_but_rare(size, types, twice, &a.whole(size.m, size.k), b, c) {
        let (of_a, of_b) = rows_and_columns(size, a, b, row, column);
        if let Some(sum) = c.get_mut(column * size.m + row) {
            *sum = by_blocks(types, blocks, &of_a, &of_b, *sum);
        }
    }
}

/// The elements of a row that are stored, and those of a column that they meet.
pub(super) fn rows_and_columns(size: Size, a: Stored<'_>, b: &[u32], row: usize, column: usize) -> (Line, Line) {
    let stored = a.elements.iter().zip(a.columns).skip(row).step_by(size.m.max(1));
    stored.map(|(element, x)| (*element, b.get(usize::from(*x) * size.n + column).copied().unwrap_or(0))).unzip()
}

/// The same of integers, as for [`integers_by_rows`].
pub fn sparse_integers(size: Size, saturate: bool, a: Stored<'_>, b: &[u32], c: &mut [u32]) {
    integers_by_rows(size, saturate, &a.whole(size.m, size.k), b, c);
}

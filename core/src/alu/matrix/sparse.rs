//! Products with a sparse `A`, of which the elements that are stored are multiplied, and no others: NaN and infinities of `B` that
//! meet none of them do not matter. Blocks have as many products as those of dense matrices (D-mma-sparse).

use super::float::dot;
use super::lanes::{all, floats_but_rare, integers_by_rows};
use super::{Blocks, Floats, Rounding, Size, halves};
use smallvec::SmallVec;

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

/// `C` becomes `A·B + C`; matrices lie as for [`super::floats_by_rows`].
pub fn sparse_floats(size: Size, types: Floats, rounding: Rounding, a: Stored<'_>, b: &[u32], c: &mut [u32]) {
    let Size { m, n, k } = size;
    let rare = match rounding {
        Rounding::Blocks(blocks) => {
            // Half of the places of a block are zeros, which change nothing.
            let twice = Blocks { products: 2 * blocks.products, ..blocks };
            floats_but_rare(size, types, twice, &a.whole(m, k), b, c)
        }
        Rounding::Halves(blocks) => return halves::sparse(size, types, blocks, a, b, c),
        Rounding::Chain | Rounding::Once => all(size),
    };
    for (row, column) in rare {
        let stored = a.elements.iter().zip(a.columns).skip(row).step_by(m.max(1));
        let pairs = stored.map(|(element, x)| (*element, b.get(usize::from(*x) * n + column).copied().unwrap_or(0)));
        let (row_of_a, column_of_b): (SmallVec<[u32; 64]>, SmallVec<[u32; 64]>) = pairs.unzip();
        if let Some(sum) = c.get_mut(column * m + row) {
            *sum = dot(types, rounding, &row_of_a, &column_of_b, *sum);
        }
    }
}

/// The same of integers, as for [`integers_by_rows`].
pub fn sparse_integers(size: Size, saturate: bool, a: Stored<'_>, b: &[u32], c: &mut [u32]) {
    integers_by_rows(size, saturate, &a.whole(size.m, size.k), b, c);
}

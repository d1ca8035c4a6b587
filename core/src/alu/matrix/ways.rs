//! Products of matrices of floating-point numbers, in each way that sums are rounded.

use super::lanes::{self, all};
use super::sparse::{Stored, rows_and_columns, stored_by_rows};
use super::{Floats, Rounding, Size, chain, float, halves};
use smallvec::SmallVec;

/// A dot product and an accumulator.
fn dot(types: Floats, rounding: Rounding, a: &[u32], b: &[u32], c: u32) -> u32 {
    match rounding {
        Rounding::Blocks(blocks) => float::by_blocks(types, blocks, a, b, c),
        Rounding::Halves(blocks) => halves::dot(types, blocks, a, b, c),
        Rounding::Chain => chain::dot(types, a, b, c),
        Rounding::Once => float::once(types, a, b, c),
    }
}

/// `C` becomes `A·B + C`. Elements that are not there count as nothing.
pub fn floats(size: Size, types: Floats, rounding: Rounding, a: &[u32], b: &[u32], c: &mut [u32]) {
    let (k, n) = (size.k.max(1), size.n.max(1));
    for (row, sums) in a.chunks_exact(k).zip(c.chunks_exact_mut(n)) {
        for (column, sum) in b.chunks_exact(k).zip(sums) {
            *sum = dot(types, rounding, row, column, *sum);
        }
    }
}

/// `C` becomes `A·B + C`. Matrices lie as `lanes.rs` says; rows and columns are multiples of 8.
pub fn floats_by_rows(size: Size, types: Floats, rounding: Rounding, a: &[u32], b: &[u32], c: &mut [u32]) {
    match rounding {
        Rounding::Blocks(blocks) => lanes::blocks_by_rows(size, types, blocks, a, b, c),
        Rounding::Halves(blocks) => halves::by_rows(size, types, blocks, a, b, c),
        Rounding::Chain | Rounding::Once => {
            for (row, column) in all(size) {
                let gathered = |from: &[u32], wide: usize, at: usize| -> SmallVec<[u32; 64]> {
                    from.iter().skip(at).step_by(wide.max(1)).copied().collect()
                };
                let (of_a, of_b) = (gathered(a, size.m, row), gathered(b, size.n, column));
                if let Some(sum) = c.get_mut(column * size.m + row) {
                    *sum = dot(types, rounding, &of_a, &of_b, *sum);
                }
            }
        }
    }
}

/// The same with a sparse `A`.
pub fn sparse_floats(size: Size, types: Floats, rounding: Rounding, a: Stored<'_>, b: &[u32], c: &mut [u32]) {
    match rounding {
        Rounding::Blocks(blocks) => stored_by_rows(size, types, blocks, a, b, c),
        Rounding::Halves(blocks) => halves::sparse(size, types, blocks, a, b, c),
        Rounding::Chain | Rounding::Once => {
            for (row, column) in all(size) {
                let (of_a, of_b) = rows_and_columns(size, a, b, row, column);
                if let Some(sum) = c.get_mut(column * size.m + row) {
                    *sum = dot(types, rounding, &of_a, &of_b, *sum);
                }
            }
        }
    }
}

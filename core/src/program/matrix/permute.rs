//! What `ldmatrix`, `stmatrix` and `movmatrix` do between lanes (PTX ISA 9.7.14.5.15 to 17): matrices of 8 by 8 elements of
//! 16 bits, as rows or as fragments.

use super::MatrixKind;
use crate::base::LANES;

/// Words of lanes.
pub type Words = [u32; LANES];

/// What a register of the result holds, by its number, from registers of the source; nothing of a product. A fragment has two
/// neighbours of a row in each lane: row `lane / 4`, columns `lane % 4 · 2` and the next.
#[must_use]
pub fn permuted(kind: MatrixKind, number: usize, from: &[Words]) -> Words {
    let word = |register: usize, lane: usize| from.get(register).map_or(0, |words| words[lane % LANES]);
    let half = |register: usize, lane: usize, which: usize| word(register, lane) >> (16 * (which & 1)) & 0xffff;
    // The element of a matrix that is given as fragments, and one that is given as rows.
    let held = |matrix: usize, row: usize, column: usize| half(matrix, 4 * row + column / 2, column);
    let along = |matrix: usize, row: usize, column: usize| half(column / 2, 8 * matrix + row, column);
    let both =
        |of: &dyn Fn(usize, usize) -> u32, row: usize, column: usize| of(row, column) | of(row, column + 1) << 16;
    std::array::from_fn(|lane| {
        let (row, column) = (lane / 4, lane % 4 * 2);
        match kind {
            MatrixKind::Multiply(_) => 0,
            MatrixKind::Transpose => both(&|r, c| held(0, c, r), row, column),
            MatrixKind::Spread { transposed: true } => both(&|r, c| along(number, c, r), row, column),
            MatrixKind::Spread { transposed: false } => both(&|r, c| along(number, r, c), row, column),
            // Lanes have rows here, register `number` two columns of them.
            MatrixKind::Gather { transposed: true } => both(&|r, c| held(lane / 8, c, r), lane % 8, 2 * number),
            MatrixKind::Gather { transposed: false } => both(&|r, c| held(lane / 8, r, c), lane % 8, 2 * number),
        }
    })
}

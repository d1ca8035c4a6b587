//! Products of matrices that all lanes hold together (PTX ISA 9.7.14), on vector units, and those with a sparse `A`.

use super::matrix::words;
use super::slow_path::{Trouble, bug};
use crate::alu::matrix::{
    Rounding, Stored, bits_by_rows, floats_by_rows, integers_by_rows, sparse_floats, sparse_integers,
};
use crate::base::Frame;
use crate::program::instr::NO_SLOT;
use crate::program::matrix::sparse::Sparse;
use crate::program::matrix::tiles::{Eights, gathered, register};
use crate::program::matrix::{Matrix, MatrixKind, Multiply, Part, Registers, Types, Words};
use crate::verdict::BugKind;
use smallvec::SmallVec;

/// A product with an accumulator rounded block by block. False: it cannot be done so.
pub(super) fn quick(of: &Multiply, matrix: &Matrix, regs: &mut Frame) -> bool {
    if matches!(of.types, Types::Doubles) {
        return false;
    }
    let (mut a, mut b, mut d) = (Eights::new(), Eights::new(), Eights::new());
    factors(of, matrix, regs, [&mut a, &mut b]);
    elements(of, Part::C, &matrix.sources[2], regs, &mut d);
    let (a, b, sums) = (a.as_flattened(), b.as_flattened(), d.as_flattened_mut());
    match of.types {
        Types::Integers { saturate, .. } => integers_by_rows(of.size, saturate, a, b, sums),
        Types::Floats(types) => floats_by_rows(of.size, types, of.blocks, a, b, sums),
        Types::Bits { xor } => bits_by_rows(of.size, xor, a, b, sums),
        Types::Doubles => {}
    }
    write(of, matrix, &d, regs);
    true
}

/// A product with a sparse `A` (PTX ISA 9.7.14.6); `exact`: the exact sum is rounded once.
pub(super) fn sparse_product(matrix: &Matrix, sparse: Sparse, exact: bool, regs: &mut Frame) -> Result<(), Trouble> {
    let MatrixKind::Multiply(of) = &matrix.kind else { return Ok(()) };
    if sparse.selector >= of.selectors() {
        let kind = BugKind::SparsitySelector { selector: sparse.selector, selectors: of.selectors() };
        return Err(bug(kind, !0));
    }
    let metadata = words(regs, &matrix.sources[3], 0);
    let columns = of.columns(sparse, &metadata).map_err(|wrong| {
        let kind = BugKind::SparsityMetadata {
            metadata: metadata[wrong.lane],
            bit: wrong.shift,
            indices: wrong.indices,
            ordered: sparse.ordered,
        };
        bug(kind, 1 << wrong.lane)
    })?;
    let (mut a, mut b, mut d) = (Eights::new(), Eights::new(), Eights::new());
    factors(of, matrix, regs, [&mut a, &mut b]);
    elements(of, Part::C, &matrix.sources[2], regs, &mut d);
    let stored = Stored { elements: a.as_flattened(), columns: &columns };
    let (b, sums) = (b.as_flattened(), d.as_flattened_mut());
    match of.types {
        Types::Integers { saturate, .. } => sparse_integers(of.size, saturate, stored, b, sums),
        Types::Floats(types) => {
            let rounding = if exact { Rounding::Once } else { Rounding::Blocks(of.blocks) };
            sparse_floats(of.size, types, rounding, stored, b, sums);
        }
        Types::Bits { .. } | Types::Doubles => {}
    }
    write(of, matrix, &d, regs);
    Ok(())
}

/// The elements of a matrix, eight neighbouring rows together.
fn elements(of: &Multiply, part: Part, from: &Registers, regs: &Frame, all: &mut Eights) {
    let words: SmallVec<[Words; 8]> = (0..of.registers(part)).map(|register| words(regs, from, register)).collect();
    gathered(of, part, &words, all);
}

/// Both matrices that are multiplied; small integers as numbers.
fn factors(of: &Multiply, matrix: &Matrix, regs: &Frame, [left, right]: [&mut Eights; 2]) {
    elements(of, Part::A, &matrix.sources[0], regs, left);
    elements(of, Part::B, &matrix.sources[1], regs, right);
    if let Types::Integers { a, b, .. } = of.types {
        for (all, small) in [(left, a), (right, b)] {
            all.as_flattened_mut().iter_mut().for_each(|x| *x = small.value(*x).cast_unsigned());
        }
    }
}

/// Writes `D` to its registers.
fn write(of: &Multiply, matrix: &Matrix, d: &Eights, regs: &mut Frame) {
    for (number, slot) in matrix.d.slots.iter().enumerate().filter(|(_, slot)| **slot != NO_SLOT) {
        regs.w[slot.index()].0 = register(of, Part::D, number, d);
    }
}

//! Products of matrices that all lanes hold together (PTX ISA 9.7.14), on vector units, and those with a sparse `A`.

use super::matrix::words;
use super::slow_path::{Trouble, bug};
use crate::alu::matrix::{Rounding, Small, Stored, floats_by_rows, integers_by_rows, sparse_floats, sparse_integers};
use crate::base::Frame;
use crate::program::instr::NO_SLOT;
use crate::program::matrix::sparse::Sparse;
use crate::program::matrix::tiles::{Eights, gathered, register};
use crate::program::matrix::{Matrix, MatrixKind, Multiply, Part, Registers, Types};
use crate::verdict::BugKind;

/// A product with an accumulator rounded block by block. False: it cannot be done so.
pub(super) fn quick(of: &Multiply, matrix: &Matrix, regs: &mut Frame) -> bool {
    let [a, b, c, _] = &matrix.sources;
    let (a, b) = match of.types {
        Types::Floats(_) => (elements(of, Part::A, a, regs), elements(of, Part::B, b, regs)),
        Types::Integers { a: left, b: right, .. } => {
            (whole(of, Part::A, a, left, regs), whole(of, Part::B, b, right, regs))
        }
        Types::Bits { .. } | Types::Doubles => return false,
    };
    let mut d = elements(of, Part::C, c, regs);
    let (a, b, sums) = (a.as_flattened(), b.as_flattened(), d.as_flattened_mut());
    match of.types {
        Types::Integers { saturate, .. } => integers_by_rows(of.size, saturate, a, b, sums),
        Types::Floats(types) => floats_by_rows(of.size, types, of.blocks, a, b, sums),
        Types::Bits { .. } | Types::Doubles => {}
    }
    write(of, matrix, &d, regs);
    true
}

/// A product with a sparse `A` (PTX ISA 9.7.14.6); `exact`: the exact sum is rounded once.
pub(super) fn sparse_product(matrix: &Matrix, sparse: Sparse, exact: bool, regs: &mut Frame) -> Result<(), Trouble> {
    let MatrixKind::Multiply(of) = &matrix.kind else { return Ok(()) };
    let [a, b, c, metadata] = &matrix.sources;
    if sparse.selector >= of.selectors() {
        let kind = BugKind::SparsitySelector { selector: sparse.selector, selectors: of.selectors() };
        return Err(bug(kind, !0));
    }
    let metadata = words(regs, metadata, 0);
    let columns = of.columns(sparse, &metadata).map_err(|wrong| {
        let kind = BugKind::SparsityMetadata {
            metadata: metadata[wrong.lane],
            bit: wrong.shift,
            indices: wrong.indices,
            ordered: sparse.ordered,
        };
        bug(kind, 1 << wrong.lane)
    })?;
    let mut d = elements(of, Part::C, c, regs);
    match of.types {
        Types::Integers { a: left, b: right, saturate } => {
            let (a, b) = (whole(of, Part::A, a, left, regs), whole(of, Part::B, b, right, regs));
            let stored = Stored { elements: a.as_flattened(), columns: &columns };
            sparse_integers(of.size, saturate, stored, b.as_flattened(), d.as_flattened_mut());
        }
        Types::Floats(types) => {
            let (a, b) = (elements(of, Part::A, a, regs), elements(of, Part::B, b, regs));
            let rounding = if exact { Rounding::Once } else { Rounding::Blocks(of.blocks) };
            let stored = Stored { elements: a.as_flattened(), columns: &columns };
            sparse_floats(of.size, types, rounding, stored, b.as_flattened(), d.as_flattened_mut());
        }
        Types::Bits { .. } | Types::Doubles => {}
    }
    write(of, matrix, &d, regs);
    Ok(())
}

/// The elements of a matrix, eight neighbouring rows together.
fn elements(of: &Multiply, part: Part, from: &Registers, regs: &Frame) -> Eights {
    gathered(of, part, |register| words(regs, from, register))
}

/// The same, as numbers.
fn whole(of: &Multiply, part: Part, from: &Registers, small: Small, regs: &Frame) -> Eights {
    let mut all = elements(of, part, from, regs);
    all.as_flattened_mut().iter_mut().for_each(|x| *x = small.value(*x).cast_unsigned());
    all
}

/// Writes `D` to its registers.
fn write(of: &Multiply, matrix: &Matrix, d: &Eights, regs: &mut Frame) {
    for (number, slot) in matrix.d.slots.iter().enumerate().filter(|(_, slot)| **slot != NO_SLOT) {
        regs.w[slot.index()].0 = register(of, Part::D, number, d);
    }
}

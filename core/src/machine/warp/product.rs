//! Products of matrices that all lanes hold together (PTX ISA 9.7.14), on vector units, and those with a sparse `A`.

use super::slow_path::{Trouble, bug};
use crate::alu::matrix::{
    Rounding, Stored, bits_by_rows, floats_by_rows, integers_by_rows, sparse_floats, sparse_integers,
};
use crate::base::{Frame, LANES};
use crate::program::instr::NO_SLOT;
use crate::program::matrix::sparse::Sparse;
use crate::program::matrix::tiles::{gather, register};
use crate::program::matrix::{Matrix, MatrixKind, Multiply, Part, Registers, Types, Words};
use crate::verdict::BugKind;

/// The most eights of elements of a matrix: `B` of `mma.sp.m16n8k128`.
const MOST: usize = 128;

/// The slot of a fragment's register, and the words there.
pub(super) fn words(regs: &Frame, of: &Registers, register: usize) -> Words {
    of.slots.get(register).and_then(|slot| regs.w.get(slot.index())).map_or([0; LANES], |words| words.0)
}

/// A product with an accumulator rounded block by block. False: it cannot be done so.
pub(super) fn quick(of: &Multiply, matrix: &Matrix, regs: &mut Frame) -> bool {
    // Most matrices are small, and larger arrays take time to clear.
    match (of.types, of.elements(Part::A).max(of.elements(Part::B))) {
        (Types::Doubles, _) => return false,
        (_, ..=8) => dense::<32>(of, matrix, regs),
        _ => dense::<MOST>(of, matrix, regs),
    }
    true
}

/// A product of matrices of at most `N` times eight elements.
fn dense<const N: usize>(of: &Multiply, matrix: &Matrix, regs: &mut Frame) {
    let (mut a, mut b, mut d) = ([[0; 8]; N], [[0; 8]; N], [[0; 8]; 32]);
    factors(of, matrix, regs, [&mut a, &mut b]);
    let (a, b) = (eights(of, Part::A, &mut a), eights(of, Part::B, &mut b));
    elements(of, Part::C, &matrix.sources[2], regs, &mut d);
    let (a, b, sums) = (a.as_flattened(), b.as_flattened(), eights(of, Part::C, &mut d).as_flattened_mut());
    match of.types {
        Types::Integers { saturate, .. } => integers_by_rows(of.size, saturate, a, b, sums),
        Types::Floats(types) => floats_by_rows(of.size, types, of.rounding, a, b, sums),
        Types::Bits { xor } => bits_by_rows(of.size, xor, a, b, sums),
        Types::Doubles => {}
    }
    write(of, matrix, &d, regs);
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
    let (mut a, mut b, mut d) = ([[0; 8]; MOST], [[0; 8]; MOST], [[0; 8]; 32]);
    factors(of, matrix, regs, [&mut a, &mut b]);
    elements(of, Part::C, &matrix.sources[2], regs, &mut d);
    let stored = Stored { elements: eights(of, Part::A, &mut a).as_flattened(), columns: &columns };
    let (b, sums) = (eights(of, Part::B, &mut b).as_flattened(), eights(of, Part::C, &mut d).as_flattened_mut());
    match of.types {
        Types::Integers { saturate, .. } => sparse_integers(of.size, saturate, stored, b, sums),
        Types::Floats(types) => {
            let rounding = if exact { Rounding::Once } else { of.rounding };
            sparse_floats(of.size, types, rounding, stored, b, sums);
        }
        Types::Bits { .. } | Types::Doubles => {}
    }
    write(of, matrix, &d, regs);
    Ok(())
}

/// The elements of a matrix, eight neighbouring rows together.
fn elements(of: &Multiply, part: Part, from: &Registers, regs: &Frame, all: &mut [[u32; 8]]) {
    let (mut all_words, count) = ([[0; LANES]; 8], of.registers(part).min(8));
    for (register, to) in all_words[..count].iter_mut().enumerate() {
        *to = words(regs, from, register);
    }
    gather(of, part, &all_words[..count], all);
}

/// As many as a matrix has.
fn eights<'a>(of: &Multiply, part: Part, all: &'a mut [[u32; 8]]) -> &'a mut [[u32; 8]] {
    let count = (4 * of.elements(part)).min(all.len());
    &mut all[..count]
}

/// Both matrices that are multiplied; small integers as numbers.
fn factors(of: &Multiply, matrix: &Matrix, regs: &Frame, [left, right]: [&mut [[u32; 8]]; 2]) {
    elements(of, Part::A, &matrix.sources[0], regs, left);
    elements(of, Part::B, &matrix.sources[1], regs, right);
    if let Types::Integers { a, b, .. } = of.types {
        for (all, part, small) in [(left, Part::A, a), (right, Part::B, b)] {
            eights(of, part, all).as_flattened_mut().iter_mut().for_each(|x| *x = small.value(*x).cast_unsigned());
        }
    }
}

/// Writes `D` to its registers.
fn write(of: &Multiply, matrix: &Matrix, d: &[[u32; 8]], regs: &mut Frame) {
    for (number, slot) in matrix.d.slots.iter().enumerate().filter(|(_, slot)| **slot != NO_SLOT) {
        regs.w[slot.index()].0 = register(of, Part::D, number, d);
    }
}

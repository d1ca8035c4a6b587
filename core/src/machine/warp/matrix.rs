//! Matrix instructions (PTX ISA 9.7.14): registers of all lanes become matrices, and matrices become registers.

use super::product::{quick, sparse_product, words};
use crate::alu::matrix::{Rounding, Size, bits, doubles, floats, integers};
use crate::base::{Frame, LANES};
use crate::machine::control::{Control, Wait};
use crate::machine::warp::slow_path::{Did, Rare, Trouble, bug};
use crate::memory::Memory;
use crate::program::instr::NO_SLOT;
use crate::program::matrix::layout::{place, quad};
use crate::program::matrix::{Matrix, MatrixKind, Multiply, Part, Registers, Types, Words, permuted};
use crate::verdict::{BugKind, Sink};
use smallvec::SmallVec;

/// The most elements that a matrix has: `A` of `mma.m16n8k64` of `s4`.
const MOST: usize = 16 * 64;

impl<C: Control, M: Memory, S: Sink> Rare<'_, '_, '_, C, M, S> {
    /// A matrix instruction: all lanes of the warp, together.
    ///
    /// Rule: D-mma-lanes
    pub fn matrix(&mut self) -> Result<Did, Trouble> {
        let (m, live) = (self.m, self.control.live());
        let Some(matrix) = self.sh.env.matrix(self.i) else { return Ok(Did::Next) };
        if self.sh.loaded.warp_size < 32 {
            return Err(Trouble::Unsupported("matrix instructions on warps of fewer than 32 lanes".to_owned()));
        }
        if m != !0 {
            if C::WAITS && live == !0 {
                return Ok(Did::Control(self.control.wait(self.flow, m, Wait::Members(!0))));
            }
            return Err(bug(BugKind::PartialWarp { missing: !m, gone: !live }, m));
        }
        self.tell_exchange(m)?;
        let exact = self.sh.loaded.mma_exact;
        match matrix.kind {
            MatrixKind::Multiply(Multiply { sparse: Some(sparse), .. }) => {
                sparse_product(matrix, sparse, exact, self.regs)?
            }
            _ => run(matrix, exact, self.regs),
        }
        Ok(Did::Next)
    }
}

/// Executes a matrix instruction for all lanes; `exact`: the exact sum is rounded once.
fn run(matrix: &Matrix, exact: bool, regs: &mut Frame) {
    match matrix.kind {
        MatrixKind::Multiply(Multiply { types: Types::Doubles, .. }) => doubled(matrix, regs),
        MatrixKind::Multiply(of) if of.quads.is_some() => {
            (0..4).for_each(|q| multiply(&of, matrix, exact, regs, |lane| quad(lane) == q));
        }
        MatrixKind::Multiply(of) if !exact && quick(&of, matrix, regs) => {}
        MatrixKind::Multiply(of) => multiply(&of, matrix, exact, regs, |_| true),
        kind => {
            let from: SmallVec<[Words; 4]> = matrix.sources[0].all().map(|(_, slot)| regs.w[slot.index()].0).collect();
            for (number, slot) in matrix.d.slots.iter().enumerate().filter(|(_, slot)| **slot != NO_SLOT) {
                regs.w[slot.index()].0 = permuted(kind, number, &from);
            }
        }
    }
}

/// Where an element is in the slice of its matrix.
const fn at(of: &Multiply, part: Part, lane: usize, index: usize) -> usize {
    let (Size { n, k, .. }, (row, column)) = (of.size, place(of, part, lane, index));
    match part {
        Part::A => row * k + column,
        Part::B => column * k + row,
        Part::C | Part::D => row * n + column,
    }
}

/// Calls `see` for each element of a matrix that the chosen lanes hold: where it is, its lane, its register, and its first bit
/// there.
fn each(of: &Multiply, part: Part, chosen: impl Fn(usize) -> bool, mut see: impl FnMut(usize, usize, usize, u32)) {
    let per = of.per_register(part);
    for register in 0..of.registers(part) {
        for lane in (0..LANES).filter(|lane| chosen(*lane)) {
            let mut shift = 0;
            for index in register * per..(register + 1) * per {
                see(at(of, part, lane, index), lane, register, shift);
                shift += of.element_bits(part);
            }
        }
    }
}

/// The elements of a matrix.
fn gather(
    of: &Multiply,
    part: Part,
    from: &Registers,
    regs: &Frame,
    chosen: impl Fn(usize) -> bool,
    value: impl Fn(u32) -> u32,
) -> [u32; MOST] {
    let mut elements = [0; MOST];
    let mask = u32::MAX >> (32 - of.element_bits(part).min(32));
    let words: SmallVec<[Words; 8]> = (0..of.registers(part)).map(|register| words(regs, from, register)).collect();
    each(of, part, chosen, |at, lane, register, shift| {
        if let Some(element) = elements.get_mut(at) {
            *element = value(words[register][lane] >> shift & mask);
        }
    });
    elements
}

/// A product of elements of at most 32 bits, which the chosen lanes hold.
fn multiply(of: &Multiply, matrix: &Matrix, exact: bool, regs: &mut Frame, chosen: impl Fn(usize) -> bool + Copy) {
    let [a, b, c, _] = &matrix.sources;
    let Size { m, n, k } = of.size;
    let bounded = |count: usize| count.min(MOST);
    let (rows, columns, sums) = (bounded(m * k), bounded(k * n), bounded(m * n));
    let gathered = |part, from| gather(of, part, from, regs, chosen, |bits| bits);
    let mut d = gathered(Part::C, c);
    match of.types {
        Types::Floats(types) => {
            let (a, b) = (gathered(Part::A, a), gathered(Part::B, b));
            let rounding = if exact { Rounding::Once } else { of.rounding };
            floats(of.size, types, rounding, &a[..rows], &b[..columns], &mut d[..sums]);
        }
        Types::Integers { a: left, b: right, saturate } => {
            let value = |part, from, small: crate::alu::matrix::Small| {
                gather(of, part, from, regs, chosen, |bits| small.value(bits).cast_unsigned()).map(u32::cast_signed)
            };
            let (a, b) = (value(Part::A, a, left), value(Part::B, b, right));
            integers(of.size, saturate, &a[..rows], &b[..columns], &mut d[..sums]);
        }
        Types::Bits { xor } => {
            let (a, b) = (gathered(Part::A, a), gathered(Part::B, b));
            bits(of.size, xor, &a[..rows], &b[..columns], &mut d[..sums]);
        }
        Types::Doubles => {}
    }
    let per = of.per_register(Part::D);
    each(of, Part::D, chosen, |at, lane, register, shift| {
        let Some(slot) = matrix.d.slots.get(register).filter(|slot| **slot != NO_SLOT) else { return };
        let value = d.get(at).copied().unwrap_or(0) << shift;
        let word = &mut regs.w[slot.index()].0[lane];
        *word = if per == 1 || shift == 0 { value } else { *word | value };
    });
}

/// A product of numbers of 64 bits.
fn doubled(matrix: &Matrix, regs: &mut Frame) {
    let MatrixKind::Multiply(of) = matrix.kind else { return };
    let [a, b, c, _] = &matrix.sources;
    let gathered = |part, from: &Registers| {
        let mut elements = [0u64; 256];
        each(
            &of,
            part,
            |_| true,
            |at, lane, register, _| {
                let value = from.slots.get(register).and_then(|slot| regs.q.get(slot.index())).map_or(0, |q| q.0[lane]);
                if let Some(element) = elements.get_mut(at) {
                    *element = value;
                }
            },
        );
        elements
    };
    let (a, b, mut d) = (gathered(Part::A, a), gathered(Part::B, b), gathered(Part::C, c));
    let Size { m, n, k } = of.size;
    doubles(of.size, &a[..(m * k).min(256)], &b[..(k * n).min(256)], &mut d[..(m * n).min(256)]);
    each(
        &of,
        Part::D,
        |_| true,
        |at, lane, register, _| {
            if let Some(slot) = matrix.d.slots.get(register).filter(|slot| **slot != NO_SLOT) {
                regs.q[slot.index()].0[lane] = d.get(at).copied().unwrap_or(0);
            }
        },
    );
}

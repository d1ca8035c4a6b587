//! Matrix instructions: what they do, which there are ([`form`]), and who holds which element ([`layout`]).
//!
//! Follows the PTX ISA, "Warp Level Matrix Instructions" (9.7.14). All lanes of a warp execute one together; the elements of a
//! matrix are spread over their registers, a *fragment* each.

pub mod form;
pub mod layout;
mod permute;
pub mod sparse;
pub mod tiles;
pub mod wmma;

pub use permute::{Words, permuted};
pub use sparse::Sparse;

use super::instr::{NO_SLOT, Slot};
use super::ops::Class;
use crate::alu::matrix::{Element, Floats, Rounding, Size, Small};

/// A matrix instruction, or the part of one that lanes do together; `Op::Matrix` names it by its number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Matrix {
    /// What it does.
    pub kind: MatrixKind,
    /// What it writes: `D`.
    pub d: Registers,
    /// What it reads: `A`, `B`, `C`, and the metadata of a sparse `A`; one only, where nothing is multiplied.
    pub sources: [Registers; 4],
}

/// Registers that hold a fragment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Registers {
    /// Their class.
    pub class: Class,
    /// The slots in order; [`NO_SLOT`] is `_`.
    pub slots: Box<[Slot]>,
}

impl Default for Registers {
    fn default() -> Self {
        Self { class: Class::W, slots: Box::default() }
    }
}

impl Registers {
    /// Those that are there, by class.
    pub fn all(&self) -> impl Iterator<Item = (Class, Slot)> {
        self.slots.iter().filter(|slot| **slot != NO_SLOT).map(|slot| (self.class, *slot))
    }
}

/// What a matrix instruction does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MatrixKind {
    /// `mma`, `wmma.mma`.
    Multiply(Multiply),
    /// `movmatrix`: `A` transposed.
    Transpose,
    /// The second part of `ldmatrix`: rows, which lanes have read, are given to who holds them. The first source has four
    /// registers, a row of eight elements of 16 bits; rows of matrix `i` are with lanes `8 i` and the next seven.
    Spread {
        /// `.trans`
        transposed: bool,
    },
    /// The first part of `stmatrix`: rows are given to who writes them, the other way round.
    Gather {
        /// `.trans`
        transposed: bool,
    },
}

/// A product of matrices.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Multiply {
    /// The shape. Of `b1` the columns of `A` are counted in words of 32 bits.
    pub size: Size,
    /// The types.
    pub types: Types,
    /// `mma.m8n8k4` of `f16`, which is four products, of eight lanes each; how `A` and `B` lie.
    pub quads: Option<Quads>,
    /// `mma.sp`: half of the elements of `A` are stored, and which.
    pub sparse: Option<Sparse>,
    /// How the target adds.
    pub rounding: Rounding,
}

/// How the matrices of `mma.m8n8k4` of `f16` lie.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Quads {
    /// `A` by rows.
    pub a_rows: bool,
    /// `B` by rows.
    pub b_rows: bool,
}

/// The types of a product.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Types {
    /// Floating-point numbers of at most 32 bits.
    Floats(Floats),
    /// `f64`.
    Doubles,
    /// Integers.
    Integers {
        /// Elements of `A`.
        a: Small,
        /// Elements of `B`.
        b: Small,
        /// `.satfinite`
        saturate: bool,
    },
    /// `b1`.
    Bits {
        /// `.xor`, else `.and`.
        xor: bool,
    },
}

/// A matrix of a product.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "D = A·B + C")]
pub enum Part {
    A,
    B,
    C,
    D,
}

impl Multiply {
    /// Bits of an element of a matrix in a register.
    #[must_use]
    pub const fn element_bits(&self, part: Part) -> u32 {
        use crate::alu::matrix::Accumulator as Sum;
        match (self.types, part) {
            (Types::Floats(Floats { a: element, .. }), Part::A)
            | (Types::Floats(Floats { b: element, .. }), Part::B) => Element::bits(element),
            (Types::Floats(Floats { c: Sum::F16, .. }), Part::C)
            | (Types::Floats(Floats { d: Sum::F16, .. }), Part::D) => 16,
            (Types::Doubles, _) => 64,
            (Types::Integers { a: small, .. }, Part::A) | (Types::Integers { b: small, .. }, Part::B) => small.bits(),
            _ => 32,
        }
    }

    /// The class of the registers of a matrix.
    #[must_use]
    pub const fn class(&self, part: Part) -> Class {
        if self.element_bits(part) == 64 { Class::Q } else { Class::W }
    }

    /// Elements of a matrix that a lane holds; of a sparse one those that are stored.
    #[must_use]
    pub const fn elements(&self, part: Part) -> usize {
        let Size { m, n, k } = self.size;
        let all = match part {
            Part::A if self.sparse.is_some() => m * k / 2,
            Part::A => m * k,
            Part::B => k * n,
            Part::C | Part::D => m * n,
        };
        if self.quads.is_some() { all / 8 } else { all / 32 }
    }

    /// Elements of a matrix that a register holds.
    #[must_use]
    pub const fn per_register(&self, part: Part) -> usize {
        match self.element_bits(part) {
            64 => 1,
            bits => 32 / bits as usize,
        }
    }

    /// Registers of a matrix that a lane needs.
    #[must_use]
    pub const fn registers(&self, part: Part) -> usize {
        self.elements(part).div_ceil(self.per_register(part))
    }
}

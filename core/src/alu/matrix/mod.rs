//! Matrix products with accumulation, as tensor cores compute them: `D = A·B + C` (PTX ISA, "Warp Level Matrix
//! Instructions", 9.7.14).
//!
//! Matrices are slices: `A` row by row, `B` column by column, so that a dot product runs along both; `C` row by row, which
//! becomes `D`. Which register of which lane holds an element is not known here. The functions whose names end in `by_rows` do the
//! same much faster; theirs lie the other way round ([`floats_by_rows`]).
//!
//! PTX leaves open how sums of products are rounded. What is computed follows measurements of the hardware (D-mma-rounding):
//! products are exact; the addends of a block, the accumulator among them, are aligned to the largest exponent and cut off
//! below a fixed number of bits; the sum of what is left is rounded, and is the accumulator of the next block.

mod chain;
mod decoded;
mod exact;
mod float;
mod halves;
mod lanes;
mod number;
mod sparse;
mod ways;
mod whole;

pub use lanes::{bits_by_rows, integers_by_rows};
pub use number::{Accumulator, Element};
pub use sparse::{Stored, sparse_integers};
pub use ways::{floats, floats_by_rows, sparse_floats};
pub use whole::{Small, bits, doubles, integers};

/// Rows and columns of the result, and the length of the dot products.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Size {
    /// Rows of `A`.
    pub m: usize,
    /// Columns of `B`.
    pub n: usize,
    /// Columns of `A`.
    pub k: usize,
}

/// The types of a product of floating-point numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Floats {
    /// Elements of `A`.
    pub a: Element,
    /// Elements of `B`.
    pub b: Element,
    /// Elements of `C`.
    pub c: Accumulator,
    /// Elements of `D`.
    pub d: Accumulator,
}

/// How the sum of products is rounded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rounding {
    /// Block by block, as a generation of tensor cores does it.
    Blocks(Blocks),
    /// Elements of 8 bits in two products of `f16`, block by block and from zero; the accumulator is added last.
    Halves(Blocks),
    /// Operations on numbers of 32 bits, one after the other.
    Chain,
    /// The exact sum once, to nearest even.
    Once,
}

impl Rounding {
    /// That of a target (70 for `sm_70`) for elements of a type (D-mma-rounding).
    #[must_use]
    pub const fn of_target(sm: u32, element: Element) -> Self {
        match (element.bits(), sm) {
            (8, 90..120) => Self::Halves(Blocks::of_target(sm, Element::F16)),
            _ => Self::Blocks(Blocks::of_target(sm, element)),
        }
    }

    /// The same of `mma.m8n8k4` of `f16`, for which tensor cores from sm_80 on have nothing.
    #[must_use]
    pub const fn of_quads(sm: u32) -> Self {
        if sm < 80 { Self::Blocks(Blocks::of_target(sm, Element::F16)) } else { Self::Chain }
    }

    /// The same of `wmma` of `tf32`, which is two products of half the depth.
    #[must_use]
    pub const fn of_shallow(sm: u32) -> Self {
        Self::Blocks(Blocks { products: 4, ..Blocks::of_target(sm, Element::Tf32) })
    }
}

/// How a generation of tensor cores adds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Blocks {
    /// Products that are added at once, beside the accumulator.
    pub products: usize,
    /// Bits of an addend below the binary point of the one with the largest exponent; what lies below is cut off.
    pub fraction: u32,
    /// Bits of a 32-bit result below its leading one.
    pub kept: u32,
}

impl Blocks {
    /// Those of a target (70 for `sm_70`) for elements of a type (D-mma-rounding).
    ///
    /// Sources: M. Fasi, N. Higham, M. Mikaitis, S. Pranesh, "Numerical behavior of NVIDIA tensor cores", 2021 (V100, T4,
    /// A100); X. Li and others, "FTTN", 2024 (V100 to H100); P. Xie and others, "MMA-Sim", 2025 (Volta to Blackwell, by
    /// comparison with the hardware bit by bit), whose numbers these are; F. Khattak, M. Mikaitis, "Accurate models of NVIDIA
    /// tensor cores", 2025.
    #[must_use]
    pub const fn of_target(sm: u32, element: Element) -> Self {
        let bytes = element.bytes();
        let eight = element.bits() == 8;
        let (at_once, fraction) = match sm {
            0..75 => (8, 23),
            75..90 => (16, 24),
            _ => (32, 25),
        };
        if eight && sm < 90 {
            Self { products: 16, fraction: 13, kept: 13 }
        } else {
            Self { products: at_once / bytes, fraction, kept: 23 }
        }
    }
}

//! Which `wmma` there are (PTX ISA 9.7.14.4, tables of shapes and types), and how many registers their fragments have.

use super::form::{kinds, size};
use super::{Multiply, Part, Types};
use crate::alu::matrix::{Accumulator, Element, Floats, Rounding, Size};
use crate::program::forms::Need;
use crate::ptx::Modifier as M;
use crate::ptx::tree::Names;

/// The product that a `wmma` of this shape is about, with elements of these types of `D`, `A`, `B` and `C`. `None`: there is
/// none, or it is not known here.
#[must_use]
pub fn product(mods: &[M], [d, a, b, c]: [M; 4], names: &Names, sm: u32) -> Option<Multiply> {
    let (size, types) = (size(mods, names)?, kinds(mods, &[d, a, b, c])?);
    let element = if let Types::Floats(Floats { a, .. }) = types { a } else { Element::F16 };
    let mut multiply = Multiply { size, types, quads: None, sparse: None, rounding: Rounding::of_target(sm, element) };
    let Size { m, n, k } = size;
    let sixteen = matches!((m, n, k), (16, 16, 16) | (8, 32, 16) | (32, 8, 16));
    let fits = match types {
        Types::Floats(Floats { a: Element::F16, b: Element::F16, .. }) => sixteen,
        Types::Floats(Floats { a, b, c: Accumulator::F32, d: Accumulator::F32 }) if a == b => match a {
            Element::Bf16 => sixteen,
            Element::Tf32 => {
                multiply.rounding = Rounding::of_shallow(sm);
                (m, n, k) == (16, 16, 8)
            }
            _ => false,
        },
        Types::Floats(_) => false,
        Types::Doubles => (m, n, k) == (8, 8, 4),
        Types::Integers { a, b, .. } if a == b => {
            if a.bits() == 8 {
                sixteen
            } else {
                (m, n, k) == (8, 8, 32)
            }
        }
        Types::Integers { .. } => false,
        Types::Bits { .. } => {
            multiply.size.k /= 32;
            (m, n, k) == (8, 8, 128)
        }
    };
    fits.then_some(multiply)
}

/// A product whose matrix `part` a `wmma.load` or `wmma.store` moves, from the type of its elements.
#[must_use]
pub fn moved(mods: &[M], element: M, part: Part, names: &Names, sm: u32) -> Option<Multiply> {
    let types = |factor: M| match factor {
        M::F16 if element == M::F32 => [M::F32, M::F16, M::F16, M::F32],
        M::F16 => [M::F16, M::F16, M::F16, M::F16],
        M::BF16 | M::TF32 => [M::F32, factor, factor, M::F32],
        M::F64 => [M::F64, M::F64, M::F64, M::F64],
        _ => [M::S32, factor, factor, M::S32],
    };
    // Elements of `A` with which there are sums of this type.
    let factors: &[M] = match (element, part) {
        (M::F32, Part::C | Part::D) => &[M::F16, M::TF32],
        (M::S32, Part::C | Part::D) => &[M::S8, M::S4, M::B1],
        (M::F16, _) => &[M::F16],
        (M::F64, _) => &[M::F64],
        (M::BF16 | M::TF32 | M::S8 | M::U8 | M::S4 | M::U4 | M::B1, Part::A | Part::B) => {
            std::slice::from_ref(&element)
        }
        _ => return None,
    };
    factors.iter().find_map(|factor| product(mods, types(*factor), names, sm))
}

/// Registers of a fragment. Those of `f16` `A` and `B` hold their elements twice where eight are more than are needed.
#[must_use]
pub const fn registers(of: &Multiply, part: Part) -> usize {
    match (of.types, part) {
        (Types::Floats(Floats { a: Element::F16, .. }), Part::A | Part::B) => 8,
        _ => of.registers(part),
    }
}

/// Whether a matrix may lie by rows, or by columns: elements below a byte lie along the dot product.
#[must_use]
pub const fn may_lie(of: &Multiply, part: Part, rows: bool) -> bool {
    let small = match of.types {
        Types::Integers { a, .. } => a.bits() < 8,
        Types::Bits { .. } => true,
        _ => false,
    };
    match part {
        Part::A => !small || rows,
        Part::B => !small || !rows,
        Part::C | Part::D => true,
    }
}

/// The first PTX version and target that have it.
#[must_use]
pub const fn need(of: &Multiply) -> Need {
    let (ptx, sm) = match of.types {
        Types::Floats(Floats { a: Element::F16, .. }) => (if of.size.m == 16 { (6, 0) } else { (6, 1) }, 70),
        Types::Floats(_) | Types::Doubles => ((7, 0), 80),
        Types::Integers { a, .. } => ((6, 3), if a.bits() == 8 { 72 } else { 75 }),
        Types::Bits { xor } => {
            if xor {
                ((6, 3), 75)
            } else {
                ((7, 1), 80)
            }
        }
    };
    Need::new(ptx, sm)
}

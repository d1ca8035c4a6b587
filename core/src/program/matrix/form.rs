//! Which `mma` there are (PTX ISA 9.7.14, tables of shapes and types).

use super::{Multiply, Quads, Sparse, Types};
use crate::alu::matrix::{Accumulator, Element, Floats, Rounding, Size, Small};
use crate::program::forms::Need;
use crate::ptx::Modifier as M;
use crate::ptx::tree::Names;

/// Rows, columns and depth of `.m16n8k16`.
#[must_use]
pub fn size(mods: &[M], names: &Names) -> Option<Size> {
    mods.iter().find_map(|word| {
        let (m, rest) = word.text(names).strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        Some(Size { m: m.parse().ok()?, n: n.parse().ok()?, k: k.parse().ok()? })
    })
}

/// The product that an `mma` for a target (70 for `sm_70`) names, and the first PTX version and target that have it. `None`: there is none of this shape and
/// these types, or it is not known here.
#[must_use]
pub fn mma(mods: &[M], types: &[M], names: &Names, sm: u32) -> Option<(Multiply, Need)> {
    let (size, types) = (size(mods, names)?, kinds(mods, types)?);
    let element = if let Types::Floats(Floats { a, .. }) = types { a } else { Element::F16 };
    let mut multiply = Multiply { size, types, quads: None, sparse: None, rounding: Rounding::of_target(sm, element) };
    let Size { m, n, k } = size;
    let mut layouts = mods.iter().filter(|word| matches!(**word, M::ROW | M::COL)).map(|word| *word == M::ROW);
    let (a_rows, b_rows) = (layouts.next()?, layouts.next()?);
    let saturates = mods.contains(&M::SATFINITE);
    let at = |wanted: &[M]| mods.iter().position(|word| wanted.contains(word));
    let combines = at(&[M::XOR, M::AND]);
    let logical = combines.is_some();
    if combines > at(&[M::POPC]) {
        return None;
    }
    if logical != matches!(multiply.types, Types::Bits { .. }) {
        return None;
    }
    let among = |all: &[(usize, usize, usize)]| all.contains(&(m, n, k));
    let need = Need::new;
    let need = match multiply.types {
        Types::Floats(Floats { a: Element::F16, b: Element::F16, c, d }) => match (m, n, k) {
            (8, 8, 4) => {
                multiply.quads = Some(Quads { a_rows, b_rows });
                multiply.rounding = Rounding::of_quads(sm);
                // The other way round is in no table.
                (c == d || d == Accumulator::F32).then_some(need((6, 4), 70))?
            }
            (16, 8, 8) if c == d => need((6, 5), 75),
            (16, 8, 16) if c == d => need((7, 0), 80),
            _ => return None,
        },
        Types::Floats(Floats { a, b, c, d }) => match (a, b) {
            _ if (c, d) != (Accumulator::F32, Accumulator::F32) && a.bits() != 8 || c != d => return None,
            (Element::Bf16, Element::Bf16) if among(&[(16, 8, 8), (16, 8, 16)]) => need((7, 0), 80),
            (Element::Tf32, Element::Tf32) if among(&[(16, 8, 4), (16, 8, 8)]) => need((7, 0), 80),
            (Element::E4m3 | Element::E5m2, Element::E4m3 | Element::E5m2) => match (m, n, k) {
                (16, 8, 32) if d == Accumulator::F32 => need((8, 4), 89),
                (16, 8, 16 | 32) => need((8, 7), 89),
                _ => return None,
            },
            _ => return None,
        },
        Types::Doubles if among(&[(8, 8, 4)]) => need((7, 0), 80),
        Types::Doubles if among(&[(16, 8, 4), (16, 8, 8), (16, 8, 16)]) => need((7, 8), 90),
        Types::Integers { a, b, .. } if a.bits() == b.bits() => match (a.bits(), m, n, k) {
            (8, 8, 8, 16) | (4, 8, 8, 32) => need((6, 5), 75),
            (8, 16, 8, 16 | 32) | (4, 16, 8, 32 | 64) => need((7, 0), 80),
            _ => return None,
        },
        Types::Bits { xor } if among(&[(8, 8, 128), (16, 8, 128), (16, 8, 256)]) => {
            multiply.size.k /= 32;
            match (xor, m) {
                (true, 8) => need((7, 0), 75),
                (true, _) => need((7, 0), 80),
                (false, _) => need((7, 1), 80),
            }
        }
        _ => return None,
    };
    let layouts = multiply.quads.is_some() || a_rows && !b_rows;
    let saturation = !saturates || matches!(multiply.types, Types::Integers { .. });
    (layouts && saturation).then_some((multiply, need))
}

/// Whether an `mma` is one with a sparse `A`; if so, whether its metadata are ordered.
#[must_use]
pub fn sparse_ordered(mods: &[M], names: &Names) -> Option<bool> {
    mods.iter().find_map(|word| match word.text(names) {
        "sp" => Some(false),
        "sp::ordered_metadata" => Some(true),
        _ => None,
    })
}

/// The same of an `mma.sp` (PTX ISA 9.7.14.6.3); its selector is an operand. Those of sm_120 are not known here.
#[must_use]
pub fn sparse(mods: &[M], types: &[M], names: &Names, sm: u32) -> Option<(Multiply, Need)> {
    let ordered = sparse_ordered(mods, names)?;
    let (size, types) = (size(mods, names)?, kinds(mods, types)?);
    let mut layouts = mods.iter().filter(|word| matches!(**word, M::ROW | M::COL));
    if size.m != 16 || size.n != 8 || (layouts.next(), layouts.next()) != (Some(&M::ROW), Some(&M::COL)) {
        return None;
    }
    let saturates = mods.contains(&M::SATFINITE);
    let wide = |c, d| (c, d) == (Accumulator::F32, Accumulator::F32);
    let (element, first) = match (types, size.k) {
        (Types::Floats(Floats { a: Element::F16, b: Element::F16, c, d }), 16 | 32) if c == d => (Element::F16, (7, 1)),
        (Types::Floats(Floats { a: Element::Bf16, b: Element::Bf16, c, d }), 16 | 32) if wide(c, d) => {
            (Element::Bf16, (7, 1))
        }
        (Types::Floats(Floats { a: Element::Tf32, b: Element::Tf32, c, d }), 8 | 16) if wide(c, d) => {
            (Element::Tf32, (7, 1))
        }
        (Types::Floats(Floats { a, b, c, d }), 64) if wide(c, d) && a.bits() == 8 && b.bits() == 8 => (a, (8, 4)),
        (Types::Integers { a, b, .. }, k) if a.bits() == b.bits() => match (a.bits(), k) {
            (8, 32 | 64) | (4, 64 | 128) => (Element::F16, (7, 1)),
            _ => return None,
        },
        _ => return None,
    };
    if saturates && !matches!(types, Types::Integers { .. }) {
        return None;
    }
    let ptx = if ordered { first.max((8, 5)) } else { first };
    let need = Need::new(ptx, if element.bits() == 8 { 89 } else { 80 });
    let sparse = Some(Sparse { selector: 0, ordered });
    Some((Multiply { size, types, quads: None, sparse, rounding: Rounding::of_target(sm, element) }, need))
}

/// The types of a product, from those of `D`, `A`, `B` and `C`.
pub(super) fn kinds(mods: &[M], types: &[M]) -> Option<Types> {
    let [d, a, b, c] = *types else { return None };
    let sum = |ty| match ty {
        M::F16 => Some(Accumulator::F16),
        M::F32 => Some(Accumulator::F32),
        _ => None,
    };
    let element = |ty| match ty {
        M::F16 => Some(Element::F16),
        M::BF16 => Some(Element::Bf16),
        M::TF32 => Some(Element::Tf32),
        M::E4M3 => Some(Element::E4m3),
        M::E5M2 => Some(Element::E5m2),
        _ => None,
    };
    let small = |ty| match ty {
        M::S8 => Some(Small::S8),
        M::U8 => Some(Small::U8),
        M::S4 => Some(Small::S4),
        M::U4 => Some(Small::U4),
        _ => None,
    };
    Some(match (d, a, b, c) {
        (M::F64, M::F64, M::F64, M::F64) => Types::Doubles,
        (M::S32, M::B1, M::B1, M::S32) => Types::Bits { xor: mods.contains(&M::XOR) },
        (M::S32, _, _, M::S32) => {
            Types::Integers { a: small(a)?, b: small(b)?, saturate: mods.contains(&M::SATFINITE) }
        }
        _ => Types::Floats(Floats { a: element(a)?, b: element(b)?, c: sum(c)?, d: sum(d)? }),
    })
}

//! Selection of conversions between integers.
//!
//! The result depends on the destination register, not only on the types: it is extended by the destination type's
//! sign to the register's width (PTX ISA, "Operand Size Exceeding Instruction-Type Size").

use super::Selected;
use crate::alu::int::IntCvt;
use crate::alu::ops::{Class, IntOp};
use crate::program::types::{is_signed, type_info};
use crate::ptx::Modifier as M;
use crate::ptx::tree::Names;

/// An integer type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Int {
    bits: u32,
    signed: bool,
}

/// The integer that a word names; bit types count as unsigned.
fn int(word: M) -> Option<Int> {
    let info = type_info(word).filter(|_| (M::U8..=M::S64).contains(&word) || (M::B8..=M::B64).contains(&word))?;
    Some(Int { bits: info.bits.into(), signed: is_signed(word) })
}

/// The operation for `cvt{.sat}.TO.FROM d, a` between integer types.
///
/// `register_bits` is the width of the register `d` (16, 32 or 64: 8-bit types live in any of them), `source` the class
/// of the register `a`, which may be wider than its type too. `None` if either type is not an integer's or does not fit
/// its register.
#[must_use]
pub fn convert(to: M, from: M, sat: bool, register_bits: u32, source: Class) -> Option<Selected> {
    let (to, from) = (int(to)?, int(from)?);
    // No integer's bits are those of a predicate.
    if !matches!(register_bits, 16 | 32 | 64) || to.bits > register_bits || from.bits > source.bits().into() {
        return None;
    }
    // Clamping changes nothing when every number of the source type is one of the destination type.
    let contains =
        if from.signed { to.signed && to.bits >= from.bits } else { to.bits >= from.bits + u32::from(to.signed) };
    let direct = if sat && !contains {
        None
    } else if to.bits <= from.bits {
        extension(to, register_bits, source)
    } else if from.signed && !to.signed && to.bits < register_bits {
        // The sign fills the destination type but not its register.
        None
    } else {
        extension(from, register_bits, source)
    };
    Some(direct.unwrap_or_else(|| {
        let op = match (source, register_bits) {
            (Class::Q, 64) => IntOp::CvtQQ,
            (Class::Q, _) => IntOp::CvtQW,
            (_, 64) => IntOp::CvtWQ,
            (_, _) => IntOp::CvtWW,
        };
        let cvt = IntCvt {
            from_bits: from.bits,
            from_signed: from.signed,
            to_bits: to.bits,
            to_signed: to.signed,
            sat,
            register_bits,
        };
        Selected { op: op.into(), mode: cvt.mode() }
    }))
}

/// The operation that extends the low bits of a slot to a register's width, where there is one.
fn extension(low: Int, register_bits: u32, source: Class) -> Option<Selected> {
    use IntOp::{
        Lo8OfQ, Lo16OfQ, MovQ, MovW, SextWQ, Sx8H, Sx8Q, Sx8W, Sx16Q, Sx16W, TruncQW, ZextWQ, Zx8, Zx8Q, Zx16, Zx16Q,
    };
    // A value as wide as its register has nothing to extend.
    let signed = low.signed && low.bits < register_bits;
    let op = match (source, low.bits, signed, register_bits) {
        (Class::W, 8, false, 16 | 32) => Zx8,
        (Class::W, 8, false, 64) => Zx8Q,
        (Class::W, 8, true, 16) => Sx8H,
        (Class::W, 8, true, 32) => Sx8W,
        (Class::W, 8, true, 64) => Sx8Q,
        (Class::W, 16, false, 16 | 32) => Zx16,
        (Class::W, 16, false, 64) => Zx16Q,
        (Class::W, 16, true, 32) => Sx16W,
        (Class::W, 16, true, 64) => Sx16Q,
        (Class::W, 32, _, 32) => MovW,
        (Class::W, 32, false, 64) => ZextWQ,
        (Class::W, 32, true, 64) => SextWQ,
        (Class::Q, 8, false, 16 | 32) => Lo8OfQ,
        (Class::Q, 16, false, 16 | 32) => Lo16OfQ,
        (Class::Q, 32, _, 32) => TruncQW,
        (Class::Q, 64, _, 64) => MovQ,
        _ => return None,
    };
    Some(op.into())
}

/// `cvt.pack.sat.TO.s32{.b32}`: two clamped values in one word (PTX ISA, "cvt.pack").
pub(super) fn packed(mods: &[M]) -> Option<Selected> {
    let names = Names::default();
    // The type packed to has at most 16 bits, those packed from have 32.
    let (to_bits, to_signed) = mods.iter().find_map(|word| {
        let text = word.text(&names);
        let bits = text.strip_prefix(['u', 's'])?.parse().ok().filter(|bits| *bits <= 16)?;
        Some((bits, text.starts_with('s')))
    })?;
    let cvt = IntCvt { from_bits: 32, from_signed: true, to_bits, to_signed, sat: true, register_bits: 32 };
    let op = if to_bits == 16 { IntOp::CvtPack16 } else { IntOp::CvtPack };
    Some(Selected { op: op.into(), mode: cvt.mode() })
}

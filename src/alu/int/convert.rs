//! Conversions between integers (PTX ISA, "Data Movement and Conversion Instructions: cvt"), and the extensions that
//! loads need.
//!
//! A conversion reads its source by the source type, clamps to the destination type (`.sat`) or keeps its low bits, and
//! extends the result by the destination type's sign to the width of the destination *register* ("Operand Size
//! Exceeding Instruction-Type Size"). The frequent ones have functions of their own, named by type and register:
//! `sx8_w` gives a sign-extended byte in a 32-bit register, `sx8_h` in a 16-bit one (held zero-extended in its slot),
//! `sx8_q` in a 64-bit one. The others go by a mode word, [`IntCvt`].

use super::scalar;
use crate::program::select::int_cvt::IntCvt;

scalar! {
    zx8(a: u8) -> u8 = a;
    zx16(a: u16) -> u16 = a;
    sx8_h(a: i8) -> i16 = i16::from(a);
    sx8_w(a: i8) -> i32 = i32::from(a);
    sx8_q(a: i8) -> i64 = i64::from(a);
    sx16_w(a: i16) -> i32 = i32::from(a);
    sx16_q(a: i16) -> i64 = i64::from(a);
    sx32_q(a: i32) -> i64 = i64::from(a);
    zx8_q(a: u8) -> u64 = u64::from(a);
    zx16_q(a: u16) -> u64 = u64::from(a);
    zx32_q(a: u32) -> u64 = u64::from(a);
    lo8_of_q(a: u64) -> u8 = a as u8;
    lo16_of_q(a: u64) -> u16 = a as u16;
}

/// The destination register's bits for a source slot's bits.
#[inline(always)]
fn convert(source: u64, cvt: IntCvt) -> u64 {
    let mut value = extend(source, cvt.from_bits, cvt.from_signed);
    if cvt.sat {
        let (low, high) = range(cvt.to_bits, cvt.to_signed);
        value = value.clamp(low, high);
    }
    let result = extend(value as u64, cvt.to_bits, cvt.to_signed);
    extend(result as u64, cvt.register_bits, false) as u64
}

/// The number that the low bits mean.
#[inline(always)]
const fn extend(a: u64, bits: u32, signed: bool) -> i128 {
    let unused = 64u32.saturating_sub(bits) & 63;
    let up = a << unused;
    if signed { (up as i64 >> unused) as i128 } else { (up >> unused) as i128 }
}

/// The least and the greatest number of a type.
#[inline(always)]
const fn range(bits: u32, signed: bool) -> (i128, i128) {
    let size = 1i128 << bits;
    if signed { (-(size / 2), size / 2 - 1) } else { (0, size - 1) }
}

/// Any conversion from a 32-bit slot to a 32-bit slot.
#[inline(always)]
#[must_use]
pub fn cvt_ww(a: u32, mode: u32) -> u32 {
    convert(u64::from(a), IntCvt::of(mode)) as u32
}

/// Any conversion from a 32-bit slot to a 64-bit slot.
#[inline(always)]
#[must_use]
pub fn cvt_wq(a: u32, mode: u32) -> u64 {
    convert(u64::from(a), IntCvt::of(mode))
}

/// Any conversion from a 64-bit slot to a 32-bit slot.
#[inline(always)]
#[must_use]
pub fn cvt_qw(a: u64, mode: u32) -> u32 {
    convert(a, IntCvt::of(mode)) as u32
}

/// Any conversion from a 64-bit slot to a 64-bit slot.
#[inline(always)]
#[must_use]
pub fn cvt_qq(a: u64, mode: u32) -> u64 {
    convert(a, IntCvt::of(mode))
}

/// `cvt.pack.sat.{u16,s16}.s32`: `a` above `b`, each clamped to the mode's destination type.
#[inline(always)]
#[must_use]
pub fn cvt_pack16(a: u32, b: u32, mode: u32) -> u32 {
    cvt_pack(a, b, 0, mode)
}

/// `cvt.pack.sat.{u2,…,s8}.s32.b32`: `a` above `b`, each clamped to the mode's destination type, below the low bits of
/// `c`.
#[inline(always)]
#[must_use]
pub fn cvt_pack(a: u32, b: u32, c: u32, mode: u32) -> u32 {
    let cvt = IntCvt::of(mode);
    let (low, high) = range(cvt.to_bits, cvt.to_signed);
    let piece = |x: u32| (i128::from(x as i32).clamp(low, high) as u64) & ((1 << cvt.to_bits) - 1);
    // The shifts are at most 32: in 64 bits nothing is lost before the cut.
    ((u64::from(c) << (2 * cvt.to_bits)) | (piece(a) << cvt.to_bits) | piece(b)) as u32
}

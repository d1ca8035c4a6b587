//! `cvt` between common types, fast: these vectorise.

use super::single::{TIE, flush32};
use crate::alu::table::NAN32;

/// The NaN of `cvt.ftz.f64.f32`: that of 32 bits, widened.
pub(super) const NAN64_FTZ: u64 = 0x7fff_ffff_e000_0000;

/// `cvt.f32.f16`
#[inline(always)]
pub(in crate::alu) fn widen16(a: u32) -> u32 {
    let magnitude = a & 0x7fff;
    let sign = (a & 0x8000) << 16;
    // Moves the fields into place and corrects the exponent's bias by an exact product, which also normalises.
    let scaled = (f32::from_bits(magnitude << 13) * f32::from_bits(0x7780_0000)).to_bits();
    let result = if magnitude >= 0x7c00 { 0x7f80_0000 } else { scaled } | sign;
    if magnitude > 0x7c00 { NAN32 } else { result }
}

/// `cvt.f32.bf16`, of NaN, too (D-cvt-nan)
#[inline(always)]
pub(super) fn widen_brain(a: u32) -> u32 {
    a << 16
}

/// `cvt.rn.f16.f32`
#[inline(always)]
pub(in crate::alu) fn narrow16(a: u32) -> u32 {
    let magnitude = a & 0x7fff_ffff;
    let sign = a >> 16 & 0x8000;
    // Adds just under half of the last kept bit, and one more if that bit is odd; a carry may reach infinity.
    let rounded = magnitude.wrapping_add(0xfff + (magnitude >> 13 & 1));
    let normal = rounded.wrapping_sub(0x3800_0000) >> 13;
    // Adding one half leaves the bits worth 2^-24 and more, rounded, in the lowest places.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
    let finite = if magnitude < 0x3880_0000 { subnormal } else { normal };
    let result = if magnitude >= 0x4780_0000 { 0x7c00 } else { finite } | sign;
    if magnitude > 0x7f80_0000 { 0x7fff } else { result }
}

/// `cvt.rn.bf16.f32`
#[inline(always)]
pub(super) fn narrow_brain(a: u32) -> u32 {
    let rounded = a.wrapping_add(0x7fff + (a >> 16 & 1)) >> 16;
    if a & 0x7fff_ffff > 0x7f80_0000 { 0x7fff } else { rounded }
}

/// `cvt.rn.f32.f64`; NaN keeps its sign and the upper part of its payload (D-cvt-nan).
#[inline(always)]
pub(super) fn narrow64(a: u64) -> u32 {
    let nan = (a >> 32) as u32 & 0x8000_0000 | 0x7fc0_0000 | (a >> 29) as u32 & 0x003f_ffff;
    let value = f64::from_bits(a);
    if value.is_nan() { nan } else { (value as f32).to_bits() }
}

/// `cvt.rn.ftz.f32.f64`
#[inline(always)]
pub(super) fn narrow64_ftz(a: u64) -> u32 {
    let result = narrow64(a);
    if f64::from_bits(a).abs() < TIE { result & 0x8000_0000 } else { result }
}

/// `cvt.f64.f32`; NaN keeps its sign and payload (D-cvt-nan).
#[inline(always)]
pub(super) fn widen32(a: u32) -> u64 {
    let nan = u64::from(a & 0x8000_0000) << 32 | 0x7ff8_0000_0000_0000 | u64::from(a & 0x003f_ffff) << 29;
    let value = f32::from_bits(a);
    if value.is_nan() { nan } else { f64::from(value).to_bits() }
}

/// `cvt.ftz.f64.f32`, which gives one NaN.
#[inline(always)]
pub(super) fn widen32_ftz(a: u32) -> u64 {
    let value = f32::from_bits(flush32(a));
    if value.is_nan() { NAN64_FTZ } else { f64::from(value).to_bits() }
}

// Conversions to integers clamp. NaN gives zero from f32 to 32 bits, and otherwise the integer with only its highest
// bit set (PTX ISA, `cvt`, "Notes"). They are written with shifts, as the language's own casts do not vectorise.

/// Whether a single is negative, its exponent field, and its magnitude truncated to an integer, right below 2^32.
#[inline(always)]
const fn truncate32(a: u32) -> (bool, u32, u32) {
    let field = a >> 23 & 0xff;
    let significand = a & 0x007f_ffff | 0x0080_0000;
    let (up, down) = (field.wrapping_sub(150), 150u32.wrapping_sub(field));
    // A shift by 31 leaves nothing of a significand.
    let (up, down) = (if up > 31 { 31 } else { up }, if down > 31 { 31 } else { down });
    (a >> 31 == 1, field, if field >= 150 { significand << up } else { significand >> down })
}

/// As [`truncate32`] in 64 bits, of a double's pattern.
#[inline(always)]
const fn truncate64(a: u64) -> (bool, u64, u64) {
    let field = a >> 52 & 0x7ff;
    let significand = a & 0x000f_ffff_ffff_ffff | 1 << 52;
    let (up, down) = (field.wrapping_sub(1075), 1075u64.wrapping_sub(field));
    let (up, down) = (if up > 63 { 63 } else { up }, if down > 63 { 63 } else { down });
    (a >> 63 == 1, field, if field >= 1075 { significand << up } else { significand >> down })
}

/// The signed integer of so many bits, 32 or 64, that a double's pattern becomes.
#[inline(always)]
pub(super) const fn clamp_signed<const BITS: u64>(a: u64) -> u64 {
    let (negative, field, magnitude) = truncate64(a);
    let value = if negative { magnitude.wrapping_neg() } else { magnitude };
    let least = 1 << (BITS - 1);
    let limit = if negative { least } else { least - 1 };
    let value = if field >= 1022 + BITS { limit } else { value };
    if a << 1 > 0x7ff << 53 { least } else { value }
}

/// The unsigned one, in its lowest bits.
#[inline(always)]
pub(super) const fn clamp_unsigned<const BITS: u64>(a: u64) -> u64 {
    let (negative, field, magnitude) = truncate64(a);
    let value = if field >= 1023 + BITS { u64::MAX } else { magnitude };
    let value = if negative { 0 } else { value };
    if a << 1 > 0x7ff << 53 { 1 << (BITS - 1) } else { value }
}

/// `cvt.rzi.s32.f32`
#[inline(always)]
pub(super) const fn clamp_s32_f32(a: u32) -> u32 {
    let (negative, field, magnitude) = truncate32(a);
    let value = if negative { magnitude.wrapping_neg() } else { magnitude };
    let limit = if negative { 1 << 31 } else { u32::MAX >> 1 };
    let value = if field >= 127 + 31 { limit } else { value };
    if a << 1 > 0xff << 24 { 0 } else { value }
}

/// `cvt.rzi.u32.f32`
#[inline(always)]
pub(super) const fn clamp_u32_f32(a: u32) -> u32 {
    let (negative, field, magnitude) = truncate32(a);
    let value = if field >= 127 + 32 { u32::MAX } else { magnitude };
    let value = if negative { 0 } else { value };
    if a << 1 > 0xff << 24 { 0 } else { value }
}

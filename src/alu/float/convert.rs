//! `cvt` between common types, fast: these vectorise.

use super::single::{NAN32, bits32, flush32};

/// `cvt.f32.f16`
#[inline(always)]
pub fn f32_of_f16(a: u32) -> u32 {
    let magnitude = a & 0x7fff;
    let sign = (a & 0x8000) << 16;
    // Moves the fields into place and corrects the exponent's bias by an exact product, which also normalises.
    let scaled = (f32::from_bits(magnitude << 13) * f32::from_bits(0x7780_0000)).to_bits();
    let result = if magnitude >= 0x7c00 { 0x7f80_0000 } else { scaled } | sign;
    if magnitude > 0x7c00 { NAN32 } else { result }
}

/// `cvt.f32.bf16`
#[inline(always)]
pub fn f32_of_bf16(a: u32) -> u32 {
    if a & 0x7fff > 0x7f80 { NAN32 } else { a << 16 }
}

/// `cvt.rn.f16.f32`
#[inline(always)]
pub fn f16_of_f32(a: u32) -> u32 {
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
pub fn bf16_of_f32(a: u32) -> u32 {
    let rounded = a.wrapping_add(0x7fff + (a >> 16 & 1)) >> 16;
    if a & 0x7fff_ffff > 0x7f80_0000 { 0x7fff } else { rounded }
}

/// `cvt.f64.f32`; NaN keeps its sign and payload (D-nan64).
#[inline(always)]
pub fn f64_of_f32(a: u32) -> u64 {
    let nan = u64::from(a & 0x8000_0000) << 32 | 0x7ff8_0000_0000_0000 | u64::from(a & 0x003f_ffff) << 29;
    let value = f32::from_bits(a);
    if value.is_nan() { nan } else { f64::from(value).to_bits() }
}

/// `cvt.ftz.f64.f32`
#[inline(always)]
pub fn f64_of_f32_ftz(a: u32) -> u64 {
    f64_of_f32(flush32(a))
}

/// `cvt.rn.f32.f64`
#[inline(always)]
pub fn f32_of_f64(a: u64) -> u32 {
    bits32(f64::from_bits(a) as f32)
}

/// `cvt.rn.ftz.f32.f64`
#[inline(always)]
pub fn f32_of_f64_ftz(a: u64) -> u32 {
    flush32(f32_of_f64(a))
}

/// `cvt.rn.f32.s32`
#[inline(always)]
pub fn f32_of_s32(a: u32) -> u32 {
    (a as i32 as f32).to_bits()
}

/// `cvt.rn.f32.u32`
#[inline(always)]
pub fn f32_of_u32(a: u32) -> u32 {
    (a as f32).to_bits()
}

/// `cvt.rn.f32.s64`
#[inline(always)]
pub fn f32_of_s64(a: u64) -> u32 {
    (a as i64 as f32).to_bits()
}

/// `cvt.rn.f32.u64`
#[inline(always)]
pub fn f32_of_u64(a: u64) -> u32 {
    (a as f32).to_bits()
}

/// `cvt.rn.f64.s32`
#[inline(always)]
pub fn f64_of_s32(a: u32) -> u64 {
    f64::from(a as i32).to_bits()
}

/// `cvt.rn.f64.u32`
#[inline(always)]
pub fn f64_of_u32(a: u32) -> u64 {
    f64::from(a).to_bits()
}

/// `cvt.rn.f64.s64`
#[inline(always)]
pub fn f64_of_s64(a: u64) -> u64 {
    (a as i64 as f64).to_bits()
}

/// `cvt.rn.f64.u64`
#[inline(always)]
pub fn f64_of_u64(a: u64) -> u64 {
    (a as f64).to_bits()
}

// Conversions to integers clamp. NaN gives zero from f32 to 32 bits, and otherwise the integer with only its highest
// bit set (PTX ISA, `cvt`, "Notes").

/// `cvt.rzi.s32.f32`
#[inline(always)]
pub fn s32_of_f32(a: u32) -> u32 {
    f32::from_bits(a) as i32 as u32
}

/// `cvt.rzi.u32.f32`
#[inline(always)]
pub fn u32_of_f32(a: u32) -> u32 {
    f32::from_bits(a) as u32
}

/// `cvt.rzi.s64.f32`
#[inline(always)]
pub fn s64_of_f32(a: u32) -> u64 {
    let value = f32::from_bits(a);
    if value.is_nan() { 1 << 63 } else { value as i64 as u64 }
}

/// `cvt.rzi.u64.f32`
#[inline(always)]
pub fn u64_of_f32(a: u32) -> u64 {
    let value = f32::from_bits(a);
    if value.is_nan() { 1 << 63 } else { value as u64 }
}

/// `cvt.rzi.s32.f64`
#[inline(always)]
pub fn s32_of_f64(a: u64) -> u32 {
    let value = f64::from_bits(a);
    if value.is_nan() { 1 << 31 } else { value as i32 as u32 }
}

/// `cvt.rzi.u32.f64`
#[inline(always)]
pub fn u32_of_f64(a: u64) -> u32 {
    let value = f64::from_bits(a);
    if value.is_nan() { 1 << 31 } else { value as u32 }
}

/// `cvt.rzi.s64.f64`
#[inline(always)]
pub fn s64_of_f64(a: u64) -> u64 {
    let value = f64::from_bits(a);
    if value.is_nan() { 1 << 63 } else { value as i64 as u64 }
}

/// `cvt.rzi.u64.f64`
#[inline(always)]
pub fn u64_of_f64(a: u64) -> u64 {
    let value = f64::from_bits(a);
    if value.is_nan() { 1 << 63 } else { value as u64 }
}

//! Two 16-bit numbers (`.u16x2`, `.s16x2`) or four 8-bit numbers (`.u8x4`, `.s8x4`, PTX ISA 9.2) in one word.

use super::scalar;

scalar! {
    add16x2(a: u32, b: u32) -> u32 = each_u16(a, b, u16::wrapping_add);
    add_sat_u16x2(a: u32, b: u32) -> u32 = each_u16(a, b, u16::saturating_add);
    add_sat_s16x2(a: u32, b: u32) -> u32 = each_s16(a, b, i16::saturating_add);
    min_u16x2(a: u32, b: u32) -> u32 = each_u16(a, b, u16::min);
    max_u16x2(a: u32, b: u32) -> u32 = each_u16(a, b, u16::max);
    min_s16x2(a: u32, b: u32) -> u32 = each_s16(a, b, i16::min);
    max_s16x2(a: u32, b: u32) -> u32 = each_s16(a, b, i16::max);
    min_relu_s16x2(a: u32, b: u32) -> u32 = each_s16(a, b, |x, y| x.min(y).max(0));
    max_relu_s16x2(a: u32, b: u32) -> u32 = each_s16(a, b, |x, y| x.max(y).max(0));

    add8x4(a: u32, b: u32) -> u32 = each_u8(a, b, u8::wrapping_add);
    sub8x4(a: u32, b: u32) -> u32 = each_u8(a, b, u8::wrapping_sub);
    neg8x4(a: u32) -> u32 = each_u8(0, a, u8::wrapping_sub);
    add_sat_u8x4(a: u32, b: u32) -> u32 = each_u8(a, b, u8::saturating_add);
    add_sat_s8x4(a: u32, b: u32) -> u32 = each_s8(a, b, i8::saturating_add);
    sub_sat_u8x4(a: u32, b: u32) -> u32 = each_u8(a, b, u8::saturating_sub);
    sub_sat_s8x4(a: u32, b: u32) -> u32 = each_s8(a, b, i8::saturating_sub);
    min_u8x4(a: u32, b: u32) -> u32 = each_u8(a, b, u8::min);
    max_u8x4(a: u32, b: u32) -> u32 = each_u8(a, b, u8::max);
    min_s8x4(a: u32, b: u32) -> u32 = each_s8(a, b, i8::min);
    max_s8x4(a: u32, b: u32) -> u32 = each_s8(a, b, i8::max);
    min_relu_s8x4(a: u32, b: u32) -> u32 = each_s8(a, b, |x, y| x.min(y).max(0));
    max_relu_s8x4(a: u32, b: u32) -> u32 = each_s8(a, b, |x, y| x.max(y).max(0));
}

#[inline(always)]
fn each_u16(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(f(a as u16, b as u16)) | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

#[inline(always)]
fn each_s16(a: u32, b: u32, f: impl Fn(i16, i16) -> i16) -> u32 {
    each_u16(a, b, |x, y| f(x as i16, y as i16) as u16)
}

#[inline(always)]
fn each_u8(a: u32, b: u32, f: impl Fn(u8, u8) -> u8) -> u32 {
    let at = |i: u32| u32::from(f((a >> i) as u8, (b >> i) as u8)) << i;
    at(0) | at(8) | at(16) | at(24)
}

#[inline(always)]
fn each_s8(a: u32, b: u32, f: impl Fn(i8, i8) -> i8) -> u32 {
    each_u8(a, b, |x, y| f(x as i8, y as i8) as u8)
}

//! Addition, multiplication, division and their relatives.

use super::scalar;

scalar! {
    add16(a: u16, b: u16) -> u16 = a.wrapping_add(b);
    add32(a: u32, b: u32) -> u32 = a.wrapping_add(b);
    add64(a: u64, b: u64) -> u64 = a.wrapping_add(b);
    add_sat_s32(a: i32, b: i32) -> i32 = a.saturating_add(b);
    sub16(a: u16, b: u16) -> u16 = a.wrapping_sub(b);
    sub32(a: u32, b: u32) -> u32 = a.wrapping_sub(b);
    sub64(a: u64, b: u64) -> u64 = a.wrapping_sub(b);
    sub_sat_s32(a: i32, b: i32) -> i32 = a.saturating_sub(b);

    mul_lo16(a: u16, b: u16) -> u16 = a.wrapping_mul(b);
    mul_lo32(a: u32, b: u32) -> u32 = a.wrapping_mul(b);
    mul_lo64(a: u64, b: u64) -> u64 = a.wrapping_mul(b);
    mul_hi_u16(a: u16, b: u16) -> u16 = ((u32::from(a) * u32::from(b)) >> 16) as u16;
    mul_hi_s16(a: i16, b: i16) -> i16 = ((i32::from(a) * i32::from(b)) >> 16) as i16;
    mul_hi_u32(a: u32, b: u32) -> u32 = ((u64::from(a) * u64::from(b)) >> 32) as u32;
    mul_hi_s32(a: i32, b: i32) -> i32 = ((i64::from(a) * i64::from(b)) >> 32) as i32;
    mul_hi_u64(a: u64, b: u64) -> u64 = ((u128::from(a) * u128::from(b)) >> 64) as u64;
    mul_hi_s64(a: i64, b: i64) -> i64 = ((i128::from(a) * i128::from(b)) >> 64) as i64;
    mul_wide_u16(a: u16, b: u16) -> u32 = u32::from(a) * u32::from(b);
    mul_wide_s16(a: i16, b: i16) -> i32 = i32::from(a) * i32::from(b);
    mul_wide_u32(a: u32, b: u32) -> u64 = u64::from(a) * u64::from(b);
    mul_wide_s32(a: i32, b: i32) -> i64 = i64::from(a) * i64::from(b);

    mad_lo16(a: u16, b: u16, c: u16) -> u16 = a.wrapping_mul(b).wrapping_add(c);
    mad_lo32(a: u32, b: u32, c: u32) -> u32 = a.wrapping_mul(b).wrapping_add(c);
    mad_lo64(a: u64, b: u64, c: u64) -> u64 = a.wrapping_mul(b).wrapping_add(c);
    mad_hi_u16(a: u16, b: u16, c: u16) -> u16 = (((u32::from(a) * u32::from(b)) >> 16) as u16).wrapping_add(c);
    mad_hi_s16(a: i16, b: i16, c: i16) -> i16 = (((i32::from(a) * i32::from(b)) >> 16) as i16).wrapping_add(c);
    mad_hi_u32(a: u32, b: u32, c: u32) -> u32 = mul_hi_u32(a, b).wrapping_add(c);
    mad_hi_s32(a: u32, b: u32, c: u32) -> u32 = mul_hi_s32(a, b).wrapping_add(c);
    mad_hi_u64(a: u64, b: u64, c: u64) -> u64 = mul_hi_u64(a, b).wrapping_add(c);
    mad_hi_s64(a: u64, b: u64, c: u64) -> u64 = mul_hi_s64(a, b).wrapping_add(c);
    mad_hi_sat_s32(a: u32, b: u32, c: i32) -> i32 = (mul_hi_s32(a, b) as i32).saturating_add(c);
    mad_wide_u16(a: u32, b: u32, c: u32) -> u32 = mul_wide_u16(a, b).wrapping_add(c);
    mad_wide_s16(a: u32, b: u32, c: u32) -> u32 = mul_wide_s16(a, b).wrapping_add(c);
    mad_wide_u32(a: u32, b: u32, c: u64) -> u64 = mul_wide_u32(a, b).wrapping_add(c);
    mad_wide_s32(a: u32, b: u32, c: u64) -> u64 = mul_wide_s32(a, b).wrapping_add(c);

    mul24_lo_u32(a: u32, b: u32) -> u32 = low24(a).wrapping_mul(low24(b));
    mul24_lo_s32(a: u32, b: u32) -> i32 = signed24(a).wrapping_mul(signed24(b));
    mul24_hi_u32(a: u32, b: u32) -> u32 = ((u64::from(low24(a)) * u64::from(low24(b))) >> 16) as u32;
    mul24_hi_s32(a: u32, b: u32) -> i32 = ((i64::from(signed24(a)) * i64::from(signed24(b))) >> 16) as i32;
    mad24_lo_u32(a: u32, b: u32, c: u32) -> u32 = mul24_lo_u32(a, b).wrapping_add(c);
    mad24_lo_s32(a: u32, b: u32, c: u32) -> u32 = mul24_lo_s32(a, b).wrapping_add(c);
    mad24_hi_u32(a: u32, b: u32, c: u32) -> u32 = mul24_hi_u32(a, b).wrapping_add(c);
    mad24_hi_s32(a: u32, b: u32, c: u32) -> u32 = mul24_hi_s32(a, b).wrapping_add(c);
    mad24_hi_sat_s32(a: u32, b: u32, c: i32) -> i32 = (mul24_hi_s32(a, b) as i32).saturating_add(c);

    sad_u16(a: u16, b: u16, c: u16) -> u16 = a.abs_diff(b).wrapping_add(c);
    sad_s16(a: i16, b: i16, c: u16) -> u16 = a.abs_diff(b).wrapping_add(c);
    sad_u32(a: u32, b: u32, c: u32) -> u32 = a.abs_diff(b).wrapping_add(c);
    sad_s32(a: i32, b: i32, c: u32) -> u32 = a.abs_diff(b).wrapping_add(c);
    sad_u64(a: u64, b: u64, c: u64) -> u64 = a.abs_diff(b).wrapping_add(c);
    sad_s64(a: i64, b: i64, c: u64) -> u64 = a.abs_diff(b).wrapping_add(c);

    div_u16(a: u16, b: u16) -> u16 = a.checked_div(b).unwrap_or(u16::MAX);
    div_s16(a: i16, b: i16) -> i16 = if b == 0 { -1 } else { a.wrapping_div(b) };
    div_u32(a: u32, b: u32) -> u32 = a.checked_div(b).unwrap_or(u32::MAX);
    div_s32(a: i32, b: i32) -> i32 = if b == 0 { -1 } else { a.wrapping_div(b) };
    div_u64(a: u64, b: u64) -> u64 = a.checked_div(b).unwrap_or(u64::MAX);
    div_s64(a: i64, b: i64) -> i64 = if b == 0 { -1 } else { a.wrapping_div(b) };
    rem_u16(a: u16, b: u16) -> u16 = a.checked_rem(b).unwrap_or(a);
    rem_s16(a: i16, b: i16) -> i16 = if b == 0 { a } else { a.wrapping_rem(b) };
    rem_u32(a: u32, b: u32) -> u32 = a.checked_rem(b).unwrap_or(a);
    rem_s32(a: i32, b: i32) -> i32 = if b == 0 { a } else { a.wrapping_rem(b) };
    rem_u64(a: u64, b: u64) -> u64 = a.checked_rem(b).unwrap_or(a);
    rem_s64(a: i64, b: i64) -> i64 = if b == 0 { a } else { a.wrapping_rem(b) };

    abs_s16(a: i16) -> i16 = a.wrapping_abs();
    abs_s32(a: i32) -> i32 = a.wrapping_abs();
    abs_s64(a: i64) -> i64 = a.wrapping_abs();
    neg16(a: u16) -> u16 = a.wrapping_neg();
    neg32(a: u32) -> u32 = a.wrapping_neg();
    neg64(a: u64) -> u64 = a.wrapping_neg();

    min_u16(a: u16, b: u16) -> u16 = a.min(b);
    min_s16(a: i16, b: i16) -> i16 = a.min(b);
    min_u32(a: u32, b: u32) -> u32 = a.min(b);
    min_s32(a: i32, b: i32) -> i32 = a.min(b);
    min_u64(a: u64, b: u64) -> u64 = a.min(b);
    min_s64(a: i64, b: i64) -> i64 = a.min(b);
    max_u16(a: u16, b: u16) -> u16 = a.max(b);
    max_s16(a: i16, b: i16) -> i16 = a.max(b);
    max_u32(a: u32, b: u32) -> u32 = a.max(b);
    max_s32(a: i32, b: i32) -> i32 = a.max(b);
    max_u64(a: u64, b: u64) -> u64 = a.max(b);
    max_s64(a: i64, b: i64) -> i64 = a.max(b);
    min_relu_s32(a: i32, b: i32) -> i32 = a.min(b).max(0);
    max_relu_s32(a: i32, b: i32) -> i32 = a.max(b).max(0);
}

/// The low 24 bits, as `mul24` reads an unsigned operand.
#[inline(always)]
const fn low24(a: u32) -> u32 {
    a & 0x00ff_ffff
}

/// The low 24 bits as a signed number.
#[inline(always)]
const fn signed24(a: u32) -> i32 {
    ((a << 8) as i32) >> 8
}

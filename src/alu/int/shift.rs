//! Shifts. Amounts beyond the width are clamped, not wrapped as a processor's would be.

use super::scalar;

scalar! {
    shl16(a: u16, b: u32) -> u16 = if b > 15 { 0 } else { a << (b & 15) };
    shl32(a: u32, b: u32) -> u32 = if b > 31 { 0 } else { a << (b & 31) };
    shl64(a: u64, b: u32) -> u64 = if b > 63 { 0 } else { a << (b & 63) };
    shr_u16(a: u16, b: u32) -> u16 = if b > 15 { 0 } else { a >> (b & 15) };
    shr_u32(a: u32, b: u32) -> u32 = if b > 31 { 0 } else { a >> (b & 31) };
    shr_u64(a: u64, b: u32) -> u64 = if b > 63 { 0 } else { a >> (b & 63) };
    shr_s16(a: i16, b: u32) -> i16 = a >> b.min(15);
    shr_s32(a: i32, b: u32) -> i32 = a >> b.min(31);
    shr_s64(a: i64, b: u32) -> i64 = a >> b.min(63);

    shf_l_clamp(a: u32, b: u32, c: u32) -> u32 = ((both(a, b) << c.min(32)) >> 32) as u32;
    shf_l_wrap(a: u32, b: u32, c: u32) -> u32 = ((both(a, b) << (c & 31)) >> 32) as u32;
    shf_r_clamp(a: u32, b: u32, c: u32) -> u32 = (both(a, b) >> c.min(32)) as u32;
    shf_r_wrap(a: u32, b: u32, c: u32) -> u32 = (both(a, b) >> (c & 31)) as u32;
}

/// The two words that a funnel shift moves, `b` above `a`.
#[inline(always)]
const fn both(a: u32, b: u32) -> u64 {
    ((b as u64) << 32) | a as u64
}

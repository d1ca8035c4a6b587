//! Two 16-bit numbers (`.u16x2`, `.s16x2`) in one word.

#[inline(always)]
pub(super) fn each_u16(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(f(a as u16, b as u16)) | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

#[inline(always)]
pub(super) fn each_s16(a: u32, b: u32, f: impl Fn(i16, i16) -> i16) -> u32 {
    each_u16(a, b, |x, y| f(x as i16, y as i16) as u16)
}

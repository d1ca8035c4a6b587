//! Moves, and the pieces of vectors that `mov` packs and unpacks. The first element is the lowest piece.

use super::scalar;

scalar! {
    mov_w(a: u32) -> u32 = a;
    mov_q(a: u64) -> u64 = a;
    mov_p(a: bool) -> bool = a;

    /// `mov.b16 d, {a, b}` of two bytes.
    pack8x2(a: u8, b: u8) -> u16 = u16::from_le_bytes([a, b]);
    /// `mov.b32 d, {a, b}` of two half words.
    pack16x2(a: u16, b: u16) -> u32 = u32::from(a) | u32::from(b) << 16;
    /// `mov.b32 d, {a, b, c, d}` of four bytes.
    pack8x4(a: u8, b: u8, c: u8, d: u8) -> u32 = u32::from_le_bytes([a, b, c, d]);
    /// `mov.b64 d, {a, b}` of two words.
    pack32x2(a: u32, b: u32) -> u64 = u64::from(a) | u64::from(b) << 32;
    /// `mov.b64 d, {a, b, c, d}` of four half words.
    pack16x4(a: u16, b: u16, c: u16, d: u16) -> u64 =
        u64::from(a) | u64::from(b) << 16 | u64::from(c) << 32 | u64::from(d) << 48;
    lo16(a: u32) -> u16 = a as u16;
    hi16(a: u32) -> u16 = (a >> 16) as u16;
    lo32(a: u64) -> u32 = a as u32;
    hi32(a: u64) -> u32 = (a >> 32) as u32;
}

/// The byte `index`, 0 to 3, of a word.
#[inline(always)]
#[must_use]
pub const fn byte_of_w(a: u32, index: u32) -> u32 {
    (a >> ((index & 3) * 8)) & 0xff
}

/// The half word `index`, 0 to 3, of a 64-bit value.
#[inline(always)]
#[must_use]
pub const fn half_of_q(a: u64, index: u32) -> u32 {
    (a >> ((index & 3) * 16)) as u32 & 0xffff
}

//! Dot products of bytes and half words, accumulated in 32 bits without saturation.

use super::scalar;

scalar! {
    dp4a_uu(a: u32, b: u32, c: u32) -> u32 = sum4(c, |i| u8_at(a, i).wrapping_mul(u8_at(b, i)));
    dp4a_us(a: u32, b: u32, c: u32) -> u32 = sum4(c, |i| u8_at(a, i).wrapping_mul(s8_at(b, i)));
    dp4a_su(a: u32, b: u32, c: u32) -> u32 = sum4(c, |i| s8_at(a, i).wrapping_mul(u8_at(b, i)));
    dp4a_ss(a: u32, b: u32, c: u32) -> u32 = sum4(c, |i| s8_at(a, i).wrapping_mul(s8_at(b, i)));
    dp2a_lo_uu(a: u32, b: u32, c: u32) -> u32 = sum2(c, |i| u16_at(a, i).wrapping_mul(u8_at(b, i)));
    dp2a_lo_us(a: u32, b: u32, c: u32) -> u32 = sum2(c, |i| u16_at(a, i).wrapping_mul(s8_at(b, i)));
    dp2a_lo_su(a: u32, b: u32, c: u32) -> u32 = sum2(c, |i| s16_at(a, i).wrapping_mul(u8_at(b, i)));
    dp2a_lo_ss(a: u32, b: u32, c: u32) -> u32 = sum2(c, |i| s16_at(a, i).wrapping_mul(s8_at(b, i)));
    dp2a_hi_uu(a: u32, b: u32, c: u32) -> u32 = dp2a_lo_uu(a, b >> 16, c);
    dp2a_hi_us(a: u32, b: u32, c: u32) -> u32 = dp2a_lo_us(a, b >> 16, c);
    dp2a_hi_su(a: u32, b: u32, c: u32) -> u32 = dp2a_lo_su(a, b >> 16, c);
    dp2a_hi_ss(a: u32, b: u32, c: u32) -> u32 = dp2a_lo_ss(a, b >> 16, c);
}

/// `c` and four products, modulo 2³²: signed and unsigned sums have the same bits.
#[inline(always)]
fn sum4(c: u32, product: impl Fn(u32) -> u32) -> u32 {
    sum2(c, &product).wrapping_add(product(2)).wrapping_add(product(3))
}

/// As [`sum4`], with two products.
#[inline(always)]
fn sum2(c: u32, product: impl Fn(u32) -> u32) -> u32 {
    c.wrapping_add(product(0)).wrapping_add(product(1))
}

#[inline(always)]
const fn u8_at(word: u32, i: u32) -> u32 {
    (word >> (8 * i)) & 0xff
}

#[inline(always)]
const fn s8_at(word: u32, i: u32) -> u32 {
    (word >> (8 * i)) as i8 as u32
}

#[inline(always)]
const fn u16_at(word: u32, i: u32) -> u32 {
    (word >> (16 * i)) & 0xffff
}

#[inline(always)]
const fn s16_at(word: u32, i: u32) -> u32 {
    (word >> (16 * i)) as i16 as u32
}

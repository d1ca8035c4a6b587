//! Dot products of bytes and half words, accumulated in 32 bits without saturation.

/// `c` and four products, modulo 2³²: signed and unsigned sums have the same bits.
#[inline(always)]
pub(super) fn sum4(c: u32, product: impl Fn(u32) -> u32) -> u32 {
    sum2(c, &product).wrapping_add(product(2)).wrapping_add(product(3))
}

/// As [`sum4`], with two products.
#[inline(always)]
pub(super) fn sum2(c: u32, product: impl Fn(u32) -> u32) -> u32 {
    c.wrapping_add(product(0)).wrapping_add(product(1))
}

#[inline(always)]
pub(super) const fn u8_at(word: u32, i: u32) -> u32 {
    (word >> (8 * i)) & 0xff
}

#[inline(always)]
pub(super) const fn s8_at(word: u32, i: u32) -> u32 {
    (word >> (8 * i)) as i8 as u32
}

#[inline(always)]
pub(super) const fn u16_at(word: u32, i: u32) -> u32 {
    (word >> (16 * i)) & 0xffff
}

#[inline(always)]
pub(super) const fn s16_at(word: u32, i: u32) -> u32 {
    (word >> (16 * i)) as i16 as u32
}

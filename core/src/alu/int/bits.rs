//! Bitwise logic, shifts, counting, fields and permutations. Amounts of shifts beyond the width are clamped, not wrapped as a
//! processor's would be.

/// Two words as one, `b` above `a`: what a funnel shift moves.
#[inline(always)]
pub(super) const fn both(a: u32, b: u32) -> u64 {
    ((b as u64) << 32) | a as u64
}

/// Any function of three bits, by its table in the low eight bits of `lut`, as a tree of multiplexers.
#[inline(always)]
pub(super) fn multiplex(a: u32, b: u32, c: u32, lut: u32) -> u32 {
    // The table's entry for the bits a b c is its bit 4a + 2b + c.
    let entry = |i: u32| ((lut >> i) & 1).wrapping_neg();
    let by_c = |i: u32| entry(i) ^ (c & (entry(i) ^ entry(i + 1)));
    let by_b = |i: u32| by_c(i) ^ (b & (by_c(i) ^ by_c(i + 2)));
    by_b(0) ^ (a & (by_b(0) ^ by_b(4)))
}

/// The lowest `n` bits set; all of them from 32 on.
#[inline(always)]
pub(super) const fn low_ones32(n: u32) -> u32 {
    if n > 31 { u32::MAX } else { (1 << (n & 31)) - 1 }
}

/// The lowest `n` bits set; all of them from 64 on.
#[inline(always)]
pub(super) const fn low_ones64(n: u32) -> u64 {
    if n > 63 { u64::MAX } else { (1 << (n & 63)) - 1 }
}

/// The low `n` bits, 1 to 32, as a signed number.
#[inline(always)]
pub(super) const fn sign_extend32(a: i32, n: u32) -> i32 {
    let unused = 32u32.wrapping_sub(n) & 31;
    (a << unused) >> unused
}

/// The signed field of `len` bits at `pos`. A field that reaches beyond the number goes on with its
/// sign, so that the 32-bit field is the field of the extended number.
#[inline(always)]
pub(super) const fn field_s64(a: i64, pos: u32, len: u32) -> i64 {
    let shifted = a >> (if pos > 63 { 63 } else { pos });
    let unused = if len > 63 { 0 } else { 64 - len };
    if len == 0 { 0 } else { (shifted << (unused & 63)) >> (unused & 63) }
}

/// `b` with its field of `len` bits at `pos` replaced by the low bits of `a`.
#[inline(always)]
pub(super) const fn insert64(a: u64, b: u64, pos: u32, len: u32) -> u64 {
    let mask = if pos > 63 { 0 } else { low_ones64(len) << (pos & 63) };
    (b & !mask) | ((a << (pos & 63)) & mask)
}

/// The position of the `offset`-th set bit of `mask` from `base` on, upwards or downwards; all ones if there is none.
/// PTX leaves a base beyond 31 open: nothing is found there. The least offset, whose magnitude no
/// integer is, gives zero on an H200.
#[inline(always)]
pub(super) const fn nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    if offset == i32::MIN {
        return 0;
    }
    if base > 31 {
        return u32::MAX;
    }
    let up = offset >= 0;
    // Mirrored, so that the search always goes upwards.
    let (mut rest, base) = if up { (mask, base) } else { (mask.reverse_bits(), 31 - base) };
    if offset == 0 {
        return if mask >> base & 1 == 1 { base } else { u32::MAX };
    }
    rest = (rest >> base) << base;
    let mut left = offset.unsigned_abs() - 1;
    while left > 0 && rest != 0 {
        rest &= rest - 1;
        left -= 1;
    }
    if rest == 0 {
        u32::MAX
    } else if up {
        rest.trailing_zeros()
    } else {
        31 - rest.trailing_zeros()
    }
}

/// The bytes that four numbers select out of the eight of `b` above `a`, modulo eight.
#[inline(always)]
pub(super) fn pick(a: u32, b: u32, select: [u32; 4]) -> u32 {
    let byte = |i: usize| ((both(a, b) >> ((select[i] & 7) * 8)) as u32 & 0xff) << (8 * i);
    byte(0) | byte(1) | byte(2) | byte(3)
}

/// As [`pick`]; a selector's bit 3 replicates the byte's sign.
#[inline(always)]
pub(super) fn permute(a: u32, b: u32, select: [u32; 4]) -> u32 {
    let bytes = pick(a, b, select);
    let flags = (0..4).fold(0, |all, i: usize| all | (((select[i] >> 3) & 1).wrapping_neg() & 0xff) << (8 * i));
    // A byte's 0 or 1 times 0xff fills that byte and no other.
    let signs = ((bytes & 0x8080_8080) >> 7).wrapping_mul(0xff);
    (bytes & !flags) | (signs & flags)
}

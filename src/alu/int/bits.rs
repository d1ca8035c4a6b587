//! Bitwise logic, counting, fields and permutations.

use super::scalar;

scalar! {
    and32(a: u32, b: u32) -> u32 = a & b;
    and64(a: u64, b: u64) -> u64 = a & b;
    or32(a: u32, b: u32) -> u32 = a | b;
    or64(a: u64, b: u64) -> u64 = a | b;
    xor32(a: u32, b: u32) -> u32 = a ^ b;
    xor64(a: u64, b: u64) -> u64 = a ^ b;
    not16(a: u16) -> u16 = !a;
    not32(a: u32) -> u32 = !a;
    not64(a: u64) -> u64 = !a;
    cnot16(a: u16) -> u16 = u16::from(a == 0);
    cnot32(a: u32) -> u32 = u32::from(a == 0);
    cnot64(a: u64) -> u64 = u64::from(a == 0);

    popc32(a: u32) -> u32 = a.count_ones();
    popc64(a: u64) -> u32 = a.count_ones();
    clz32(a: u32) -> u32 = a.leading_zeros();
    clz64(a: u64) -> u32 = a.leading_zeros();
    brev32(a: u32) -> u32 = a.reverse_bits();
    brev64(a: u64) -> u64 = a.reverse_bits();
    bfind_u32(a: u32) -> u32 = 31u32.wrapping_sub(a.leading_zeros());
    bfind_s32(a: i32) -> u32 = 31u32.wrapping_sub((a ^ (a >> 31)).leading_zeros());
    bfind_u64(a: u64) -> u32 = 63u32.wrapping_sub(a.leading_zeros());
    bfind_s64(a: i64) -> u32 = 63u32.wrapping_sub((a ^ (a >> 63)).leading_zeros());
    bfind_shiftamt_u32(a: u32) -> u32 = if a == 0 { u32::MAX } else { a.leading_zeros() };
    bfind_shiftamt_s32(a: i32) -> u32 = bfind_shiftamt_u32((a ^ (a >> 31)) as u32);
    bfind_shiftamt_u64(a: u64) -> u32 = if a == 0 { u32::MAX } else { a.leading_zeros() };
    bfind_shiftamt_s64(a: i64) -> u32 = bfind_shiftamt_u64((a ^ (a >> 63)) as u64);
    fns(mask: u32, base: u32, offset: i32) -> u32 = nth_set(mask, base, offset);

    bfe_u32(a: u32, b: u32, c: u32) -> u32 = (u64::from(a) >> (b & 0xff).min(63)) as u32 & low_ones32(c & 0xff);
    bfe_u64(a: u64, b: u32, c: u32) -> u64 = if b & 0xff > 63 { 0 } else { (a >> (b & 63)) & low_ones64(c & 0xff) };
    bfe_s32(a: i32, b: u32, c: u32) -> i32 = field_s64(i64::from(a), b & 0xff, c & 0xff) as i32;
    bfe_s64(a: i64, b: u32, c: u32) -> i64 = field_s64(a, b & 0xff, c & 0xff);
    bfi32(a: u32, b: u32, c: u32, d: u32) -> u32 = insert64(u64::from(a), u64::from(b), c & 0xff, d & 0xff) as u32;
    bfi64(a: u64, b: u64, c: u32, d: u32) -> u64 = insert64(a, b, c & 0xff, d & 0xff);
    bmsk_clamp(a: u32, b: u32) -> u32 = if a > 31 { 0 } else { low_ones32(b) << (a & 31) };
    bmsk_wrap(a: u32, b: u32) -> u32 = low_ones32(b & 31) << (a & 31);
    szext_clamp_u32(a: u32, b: u32) -> u32 = a & low_ones32(b);
    szext_clamp_s32(a: i32, b: u32) -> i32 = if b == 0 { 0 } else { sign_extend32(a, b.min(32)) };
    szext_wrap_u32(a: u32, b: u32) -> u32 = a & low_ones32(b & 31);
    szext_wrap_s32(a: i32, b: u32) -> i32 = if b & 31 == 0 { 0 } else { sign_extend32(a, b & 31) };

    prmt(a: u32, b: u32, c: u32) -> u32 = permute(a, b, [c, c >> 4, c >> 8, c >> 12]);
    prmt_f4e(a: u32, b: u32, c: u32) -> u32 = pick(a, b, [c & 3, (c & 3) + 1, (c & 3) + 2, (c & 3) + 3]);
    prmt_b4e(a: u32, b: u32, c: u32) -> u32 = pick(a, b, [c & 3, (c & 3) + 7, (c & 3) + 6, (c & 3) + 5]);
    prmt_rc8(a: u32, b: u32, c: u32) -> u32 = pick(a, b, [c & 3; 4]);
    prmt_ecl(a: u32, b: u32, c: u32) -> u32 = pick(a, b, [c & 3, (c & 3).max(1), (c & 3).max(2), 3]);
    prmt_ecr(a: u32, b: u32, c: u32) -> u32 = pick(a, b, [0, (c & 3).min(1), (c & 3).min(2), c & 3]);
    prmt_rc16(a: u32, b: u32, c: u32) -> u32 = pick(a, b, [(c & 1) * 2, (c & 1) * 2 + 1, (c & 1) * 2, (c & 1) * 2 + 1]);
}

/// `lop3`: any function of three bits, by its table in the low eight bits of `lut`, as a tree of multiplexers.
#[inline(always)]
#[must_use]
pub fn lop3(a: u32, b: u32, c: u32, lut: u32) -> u32 {
    // The table's entry for the bits a b c is its bit 4a + 2b + c.
    let entry = |i: u32| ((lut >> i) & 1).wrapping_neg();
    let by_c = |i: u32| entry(i) ^ (c & (entry(i) ^ entry(i + 1)));
    let by_b = |i: u32| by_c(i) ^ (b & (by_c(i) ^ by_c(i + 2)));
    by_b(0) ^ (a & (by_b(0) ^ by_b(4)))
}

/// The lowest `n` bits set; all of them from 32 on.
#[inline(always)]
const fn low_ones32(n: u32) -> u32 {
    if n > 31 { u32::MAX } else { (1 << (n & 31)) - 1 }
}

/// The lowest `n` bits set; all of them from 64 on.
#[inline(always)]
const fn low_ones64(n: u32) -> u64 {
    if n > 63 { u64::MAX } else { (1 << (n & 63)) - 1 }
}

/// The low `n` bits, 1 to 32, as a signed number.
#[inline(always)]
const fn sign_extend32(a: i32, n: u32) -> i32 {
    let unused = 32u32.wrapping_sub(n) & 31;
    (a << unused) >> unused
}

/// The signed field of `len` bits at `pos`, both at most 255. A field that reaches beyond the number goes on with its
/// sign, so that the 32-bit field is the field of the extended number.
#[inline(always)]
const fn field_s64(a: i64, pos: u32, len: u32) -> i64 {
    let shifted = a >> (if pos > 63 { 63 } else { pos });
    let unused = if len > 63 { 0 } else { 64 - len };
    if len == 0 { 0 } else { (shifted << (unused & 63)) >> (unused & 63) }
}

/// `b` with its field of `len` bits at `pos` replaced by the low bits of `a`.
#[inline(always)]
const fn insert64(a: u64, b: u64, pos: u32, len: u32) -> u64 {
    let mask = if pos > 63 { 0 } else { low_ones64(len) << (pos & 63) };
    (b & !mask) | ((a << (pos & 63)) & mask)
}

/// The position of the `offset`-th set bit of `mask` from `base` on, upwards or downwards; all ones if there is none.
/// PTX leaves a base beyond 31 open: nothing is found there.
#[inline(always)]
const fn nth_set(mask: u32, base: u32, offset: i32) -> u32 {
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
fn pick(a: u32, b: u32, select: [u32; 4]) -> u32 {
    let source = (u64::from(b) << 32) | u64::from(a);
    let byte = |i: usize| ((source >> ((select[i] & 7) * 8)) as u32 & 0xff) << (8 * i);
    byte(0) | byte(1) | byte(2) | byte(3)
}

/// As [`pick`]; a selector's bit 3 replicates the byte's sign.
#[inline(always)]
fn permute(a: u32, b: u32, select: [u32; 4]) -> u32 {
    let bytes = pick(a, b, select);
    let flags = (0..4).fold(0, |all, i: usize| all | (((select[i] >> 3) & 1).wrapping_neg() & 0xff) << (8 * i));
    // A byte's 0 or 1 times 0xff fills that byte and no other.
    let signs = ((bytes & 0x8080_8080) >> 7).wrapping_mul(0xff);
    (bytes & !flags) | (signs & flags)
}

//! Comparisons, predicate logic and selection.
//!
//! Equality and the unsigned orders of 16-bit values are those of the 32-bit slots that hold them.

use super::scalar;

scalar! {
    eq32(a: u32, b: u32) -> bool = a == b;
    ne32(a: u32, b: u32) -> bool = a != b;
    eq64(a: u64, b: u64) -> bool = a == b;
    ne64(a: u64, b: u64) -> bool = a != b;
    lt_u32(a: u32, b: u32) -> bool = a < b;
    le_u32(a: u32, b: u32) -> bool = a <= b;
    gt_u32(a: u32, b: u32) -> bool = a > b;
    ge_u32(a: u32, b: u32) -> bool = a >= b;
    lt_s32(a: i32, b: i32) -> bool = a < b;
    le_s32(a: i32, b: i32) -> bool = a <= b;
    gt_s32(a: i32, b: i32) -> bool = a > b;
    ge_s32(a: i32, b: i32) -> bool = a >= b;
    lt_s16(a: i16, b: i16) -> bool = a < b;
    le_s16(a: i16, b: i16) -> bool = a <= b;
    gt_s16(a: i16, b: i16) -> bool = a > b;
    ge_s16(a: i16, b: i16) -> bool = a >= b;
    lt_u64(a: u64, b: u64) -> bool = a < b;
    le_u64(a: u64, b: u64) -> bool = a <= b;
    gt_u64(a: u64, b: u64) -> bool = a > b;
    ge_u64(a: u64, b: u64) -> bool = a >= b;
    lt_s64(a: i64, b: i64) -> bool = a < b;
    le_s64(a: i64, b: i64) -> bool = a <= b;
    gt_s64(a: i64, b: i64) -> bool = a > b;
    ge_s64(a: i64, b: i64) -> bool = a >= b;

    and_p(a: bool, b: bool) -> bool = a & b;
    or_p(a: bool, b: bool) -> bool = a | b;
    xor_p(a: bool, b: bool) -> bool = a ^ b;
    not_p(a: bool) -> bool = !a;
    /// The predicate of `lop3.and`.
    nonzero_and(d: u32, q: bool) -> bool = (d != 0) & q;
    /// The predicate of `lop3.or`.
    nonzero_or(d: u32, q: bool) -> bool = (d != 0) | q;

    sel_w(a: u32, b: u32, c: bool) -> u32 = if c { a } else { b };
    sel_q(a: u64, b: u64, c: bool) -> u64 = if c { a } else { b };
    sel_p(a: bool, b: bool, c: bool) -> bool = (a & c) | (b & !c);
}

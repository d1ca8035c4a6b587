//! The functions of atomic operations (PTX ISA, "Parallel Synchronization and Communication Instructions: atom").
//!
//! An element in memory goes from its old bits to new ones; the old bits are what `atom` returns. Elements are given in
//! the low bits of a `u64`, 128-bit ones have [`apply128`].

use super::mode::{FMode, Num};
use super::ops::{AtomOp, AtomTy};
use super::{float, int, mbarrier};

/// The new bits of an element of type `ty` with bits `old`, for operands `b` and (for `cas`) `c`.
///
/// Bits above the type's width are ignored and come out zero. A pair that PTX does not have (`inc` of a
/// floating-point number) leaves the element unchanged.
#[must_use]
pub fn apply(op: AtomOp, ty: AtomTy, old: u64, b: u64, c: u64) -> u64 {
    // Elements of 128 bits, which have their own function, are taken as ones of 64.
    let unused = 64u32.saturating_sub(8 * ty.bytes());
    let low = |x: u64| x << unused >> unused;
    let signed = |x: u64| (x << unused).cast_signed() >> unused;
    let is_signed = matches!(ty, AtomTy::S32 | AtomTy::S64);
    let (old, b, c) = (low(old), low(b), low(c));
    let less = if is_signed { signed(old) < signed(b) } else { old < b };
    low(match op {
        _ if ty.is_float() => floating(op, ty, old, b),
        AtomOp::And => old & b,
        AtomOp::Or => old | b,
        AtomOp::Xor => old ^ b,
        AtomOp::Exch => b,
        AtomOp::Cas => int::sel_q(c, old, old == b),
        AtomOp::Add => int::add64(old, b),
        AtomOp::Inc => int::sel_q(0, old.wrapping_add(1), old >= b),
        AtomOp::Dec => int::sel_q(b, old.wrapping_sub(1), old == 0 || old > b),
        AtomOp::Min => int::sel_q(old, b, less),
        AtomOp::Max => int::sel_q(b, old, less),
        // What may not be done leaves the barrier as it is; the machine says so afterwards.
        AtomOp::Barrier => mbarrier::perform(old, b).unwrap_or(old),
    })
}

/// As [`apply`], for elements of 128 bits (`exch` and `cas`; other operations leave the element unchanged).
#[must_use]
pub const fn apply128(op: AtomOp, old: u128, b: u128, c: u128) -> u128 {
    match op {
        AtomOp::Exch => b,
        AtomOp::Cas if old == b => c,
        _ => old,
    }
}

/// Floating-point elements: rounded to nearest; `.noftz` is implied but for [`AtomTy::F32Ftz`].
fn floating(op: AtomOp, ty: AtomTy, old: u64, b: u64) -> u64 {
    let (x, y) = (old as u32, b as u32);
    let half = |ty, flags: FMode| flags.to(ty).0;
    let mode = match ty {
        AtomTy::F16 => half(Num::F16, FMode::default()),
        AtomTy::F16x2 => half(Num::F16, FMode::PACKED),
        AtomTy::Bf16 => half(Num::Bf16, FMode::default()),
        _ => half(Num::Bf16, FMode::PACKED),
    };
    match (op, ty) {
        (AtomOp::Exch, _) => b,
        // The hardware's loop adds the old number to the new one, which says whose NaN it is (D-nan64).
        (AtomOp::Add, AtomTy::F64) => float::add_f64(b, old),
        (AtomOp::Add, AtomTy::F64Raw) => float::add_f64_raw(old, b),
        (AtomOp::Min, AtomTy::F64 | AtomTy::F64Raw) => float::min_f64(old, b),
        (AtomOp::Max, AtomTy::F64 | AtomTy::F64Raw) => float::max_f64(old, b),
        (AtomOp::Add, AtomTy::F32Ftz) => float::add_ftz_f32(x, y).into(),
        (AtomOp::Add, AtomTy::F32) => float::add_f32(x, y).into(),
        (AtomOp::Min, AtomTy::F32 | AtomTy::F32Ftz) => float::min_f32(x, y).into(),
        (AtomOp::Max, AtomTy::F32 | AtomTy::F32Ftz) => float::max_f32(x, y).into(),
        (AtomOp::Add, _) => float::add_half(x, y, mode).into(),
        (AtomOp::Min, _) => float::min_half(x, y, mode).into(),
        (AtomOp::Max, _) => float::max_half(x, y, mode).into(),
        _ => old,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn increments_and_decrements_wrap_at_the_bound() {
        let inc = |old, bound| apply(AtomOp::Inc, AtomTy::U32, old, bound, 0);
        let dec = |old, bound| apply(AtomOp::Dec, AtomTy::U32, old, bound, 0);
        assert_eq!([inc(0, 3), inc(2, 3), inc(3, 3), inc(4, 3), inc(0, 0)], [1, 3, 0, 0, 0]);
        assert_eq!([dec(0, 3), dec(1, 3), dec(3, 3), dec(4, 3), dec(0, 0)], [3, 0, 2, 3, 0]);
        assert_eq!(inc(0xffff_ffff, 0xffff_ffff), 0);
    }

    #[test]
    fn minimum_and_maximum_follow_the_type() {
        let minus = u64::from(u32::MAX);
        assert_eq!(apply(AtomOp::Min, AtomTy::S32, 1, minus, 0), minus);
        assert_eq!(apply(AtomOp::Min, AtomTy::U32, 1, minus, 0), 1);
        assert_eq!(apply(AtomOp::Max, AtomTy::S64, 1, u64::MAX, 0), 1);
        assert_eq!(apply(AtomOp::Max, AtomTy::U64, 1, u64::MAX, 0), u64::MAX);
    }

    #[test]
    fn compare_and_swap_looks_at_the_type_s_bits_only() {
        let cas = |ty, old, b, c| apply(AtomOp::Cas, ty, old, b, c);
        assert_eq!(cas(AtomTy::B32, 5, 5, 9), 9);
        assert_eq!(cas(AtomTy::B32, 5, 6, 9), 5);
        assert_eq!(cas(AtomTy::B16, 0x1_0005, 0x7_0005, 0x1_0009), 9);
        assert_eq!(cas(AtomTy::B64, 1 << 40, 1 << 40, 2), 2);
        assert_eq!(apply128(AtomOp::Cas, 1 << 100, 1 << 100, 3), 3);
        assert_eq!(apply128(AtomOp::Exch, 1, 2, 0), 2);
    }

    #[test]
    fn results_have_no_bits_above_the_type() {
        let ones = u64::MAX;
        for op in [AtomOp::And, AtomOp::Or, AtomOp::Xor, AtomOp::Add, AtomOp::Exch, AtomOp::Min, AtomOp::Max] {
            assert_eq!(apply(op, AtomTy::U32, ones, ones, ones) >> 32, 0, "{op:?}");
        }
    }

    #[test]
    fn floating_point_sums_round_to_the_type() {
        let add = |ty, old, b| apply(AtomOp::Add, ty, old, b, 0);
        assert_eq!(add(AtomTy::F32, 0x3f80_0000, 0x4000_0000), 0x4040_0000);
        assert_eq!(add(AtomTy::F64, 1.5f64.to_bits(), 2.5f64.to_bits()), 4f64.to_bits());
        let (one, quiet, signalling) = (1f64.to_bits(), 0x7ff8_0000_0000_0005, 0xfff0_0000_0000_0007);
        let made_quiet = signalling | 1 << 51;
        assert_eq!([add(AtomTy::F64, one, signalling), add(AtomTy::F64, signalling, quiet)], [made_quiet; 2]);
        assert_eq!([add(AtomTy::F64Raw, one, signalling), add(AtomTy::F64Raw, quiet, signalling)], [signalling; 2]);
        assert_eq!(add(AtomTy::F64Raw, signalling, one), signalling);
        // The smallest subnormal number twice; in a space that flushes, zero.
        assert_eq!(add(AtomTy::F32, 1, 1), 2);
        assert_eq!(add(AtomTy::F32Ftz, 1, 1), 0);
        // 2048 + 1 lies between two neighbours and goes to the even one; 2048 + 3 to 2052.
        assert_eq!(add(AtomTy::F16, 0x6800, 0x3c00), 0x6800);
        assert_eq!(add(AtomTy::F16, 0x6800, 0x4200), 0x6802);
        assert_eq!(add(AtomTy::F16x2, 0x3c00_6800, 0x3c00_4200), 0x4000_6802);
        assert_eq!(add(AtomTy::Bf16, 0x3f80, 0x3f80), 0x4000);
        assert_eq!(apply(AtomOp::Min, AtomTy::F16, 0x7e00, 0x3c00, 0), 0x3c00);
        assert_eq!(apply(AtomOp::Max, AtomTy::Bf16x2, 0x8000_3f80, 0x0000_4000, 0), 0x0000_4000);
    }
}

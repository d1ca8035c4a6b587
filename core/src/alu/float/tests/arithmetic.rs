use super::{DOUBLES, ROUNDINGS, SINGLES, Samples};
use crate::alu::float::soft::F64;
use crate::alu::float::*;
use crate::alu::mode::{FMode, Property, Rounding};
use crate::alu::table::Bits;
use rustc_apfloat::ieee::{Double, Single};
use rustc_apfloat::{Float, Round, StatusAnd};

fn single(bits: u32) -> Single {
    Single::from_bits(bits.into())
}

fn bits32(result: StatusAnd<Single>) -> u32 {
    if result.value.is_nan() { NAN32 } else { result.value.to_bits() as u32 }
}

fn pairs32() -> impl Iterator<Item = (u32, u32)> {
    let grid = SINGLES.iter().flat_map(|a| SINGLES.iter().map(|b| (*a, *b)));
    let mut samples = Samples(1);
    grid.chain((0..20_000).map(move |_| (samples.single(), samples.single())))
}

fn pairs64() -> impl Iterator<Item = (u64, u64)> {
    let grid = DOUBLES.iter().flat_map(|a| DOUBLES.iter().map(|b| (*a, *b)));
    let mut samples = Samples(2);
    grid.chain((0..20_000).map(move |_| (samples.double(), samples.double())))
}

fn flush(a: u32) -> u32 {
    if f32::from_bits(a).is_subnormal() { a & 1 << 31 } else { a }
}

#[test]
fn single_precision_in_every_rounding() {
    for (a, b) in pairs32() {
        let (x, y) = (single(a), single(b));
        for (rounding, round) in ROUNDINGS {
            let mode = FMode::default().rounded(rounding).0;
            let show = format!("{a:#x} {b:#x} {rounding:?}");
            assert_eq!(add_mode_f32(a, b, mode), bits32(x.add_r(y, round)), "add {show}");
            assert_eq!(sub_mode_f32(a, b, mode), bits32(x.sub_r(y, round)), "sub {show}");
            assert_eq!(mul_mode_f32(a, b, mode), bits32(x.mul_r(y, round)), "mul {show}");
            assert_eq!(div_mode_f32(a, b, mode), bits32(x.div_r(y, round)), "div {show}");
            let one = single(1f32.to_bits());
            assert_eq!(rcp_mode_f32(b, mode), bits32(one.div_r(y, round)), "rcp {show}");
        }
        let round = Round::NearestTiesToEven;
        assert_eq!(add_f32(a, b), bits32(x.add_r(y, round)));
        assert_eq!(sub_f32(a, b), bits32(x.sub_r(y, round)));
        assert_eq!(mul_f32(a, b), bits32(x.mul_r(y, round)));
        assert_eq!(div_f32(a, b), bits32(x.div_r(y, round)));
        let (p, q) = (single(flush(a)), single(flush(b)));
        assert_eq!(add_ftz_f32(a, b), flush(bits32(p.add_r(q, round))));
        assert_eq!(sub_ftz_f32(a, b), flush(bits32(p.sub_r(q, round))));
        // What becomes the smallest normal number by rounding alone may be zero: see `flushing`.
        let alike = |found: u32, kept: StatusAnd<Single>| {
            let kept = bits32(kept);
            found == flush(kept) || kept << 1 == 0x0100_0000 && found == kept & 1 << 31
        };
        assert!(alike(mul_ftz_f32(a, b), p.mul_r(q, round)), "{a:#x} {b:#x}");
        assert!(alike(div_ftz_f32(a, b), p.div_r(q, round)), "{a:#x} {b:#x}");
        let mode = FMode::FTZ.rounded(Rounding::Up).0;
        assert!(alike(mul_mode_f32(a, b, mode), p.mul_r(q, Round::TowardPositive)), "{a:#x} {b:#x}");
    }
}

#[test]
fn single_precision_fused() {
    let grid = SINGLES.iter().flat_map(|a| SINGLES.iter().flat_map(|b| SINGLES.iter().map(|c| (*a, *b, *c))));
    let mut samples = Samples(3);
    let sampled = (0..40_000).map(move |i| {
        let (a, b) = (samples.single(), samples.single());
        // Half of the addends nearly cancel the product.
        let product = (f32::from_bits(a) * -f32::from_bits(b)).to_bits();
        (a, b, if i % 2 == 0 { samples.single() } else { product.wrapping_add(samples.next() as u32 % 5) })
    });
    for (a, b, c) in grid.chain(sampled) {
        for (rounding, round) in ROUNDINGS {
            let expected = bits32(single(a).mul_add_r(single(b), single(c), round));
            let found = fma_mode_f32(a, b, c, FMode::default().rounded(rounding).0);
            assert_eq!(found, expected, "{a:#x} {b:#x} {c:#x} {rounding:?}");
        }
        let expected = bits32(single(a).mul_add(single(b), single(c)));
        assert_eq!(
            fused32_soft(f32::from_bits(a), f32::from_bits(b), f32::from_bits(c)).put(),
            expected,
            "{a:#x} {b:#x} {c:#x}"
        );
        assert_eq!(fma_f32(a, b, c), expected, "{a:#x} {b:#x} {c:#x}");
    }
}

/// The result of an f64 operation as D-nan64 wants it, of sources in the order in which their NaN count.
fn bits64(sources: &[u64], result: StatusAnd<Double>) -> u64 {
    if !result.value.is_nan() {
        return result.value.to_bits() as u64;
    }
    let nan = sources.iter().find(|a| f64::from_bits(**a).is_nan());
    nan.map_or(0xfff8_0000_0000_0000, |a| a | 0x0008_0000_0000_0000)
}

#[test]
fn double_precision_in_every_rounding() {
    let double = |a: u64| Double::from_bits(a.into());
    let mut samples = Samples(4);
    for (a, b) in pairs64() {
        let (x, y) = (double(a), double(b));
        let c = samples.double();
        for (rounding, round) in ROUNDINGS {
            let mode = FMode::default().rounded(rounding).0;
            let show = format!("{a:#x} {b:#x} {rounding:?}");
            assert_eq!(add_mode_f64(a, b, mode), bits64(&[b, a], x.add_r(y, round)), "add {show}");
            assert_eq!(sub_mode_f64(a, b, mode), bits64(&[b, a], x.sub_r(y, round)), "sub {show}");
            assert_eq!(mul_mode_f64(a, b, mode), bits64(&[b, a], x.mul_r(y, round)), "mul {show}");
            assert_eq!(div_mode_f64(a, b, mode), bits64(&[a, b], x.div_r(y, round)), "div {show}");
            let fused = bits64(&[b, c, a], x.mul_add_r(y, double(c), round));
            assert_eq!(fma_mode_f64(a, b, c, mode), fused, "fma {show} {c:#x}");
        }
        let round = Round::NearestTiesToEven;
        assert_eq!(add_f64(a, b), bits64(&[b, a], x.add_r(y, round)));
        assert_eq!(sub_f64(a, b), bits64(&[b, a], x.sub_r(y, round)));
        assert_eq!(mul_f64(a, b), bits64(&[b, a], x.mul_r(y, round)));
        assert_eq!(div_f64(a, b), bits64(&[a, b], x.div_r(y, round)));
        assert_eq!(rcp_f64(a), bits64(&[a], double(1f64.to_bits()).div_r(x, round)));
        let product = (f64::from_bits(a) * -f64::from_bits(b)).to_bits().wrapping_add(samples.next() % 5);
        let fused = bits64(&[b, product, a], x.mul_add_r(y, double(product), round));
        assert_eq!(fma_f64(a, b, product), fused, "fma {a:#x} {b:#x} {product:#x}");
    }
}

#[test]
fn square_roots_are_the_nearest_in_their_direction() {
    let (mut samples, mut doubles) = (Samples(5), Samples(6));
    for a in SINGLES.into_iter().chain((0..20_000).map(|_| samples.single())) {
        let value = f32::from_bits(a);
        for (rounding, _) in ROUNDINGS {
            let found = sqrt_mode_f32(a, FMode::default().rounded(rounding).0);
            if value.is_nan() || value < 0.0 {
                assert_eq!(found, NAN32);
                continue;
            }
            if value == 0.0 || value.is_infinite() {
                assert_eq!(found, a);
                continue;
            }
            // Squares of singles are exact doubles.
            let square = |bits: u32| f64::from(f32::from_bits(bits)).powi(2);
            let exact = f64::from(value);
            match rounding {
                Rounding::Up => assert!(square(found) >= exact && square(found - 1) < exact, "{a:#x}"),
                Rounding::NearestEven => assert_eq!(found, sqrt_f32(a)),
                _ => assert!(square(found) <= exact && square(found + 1) > exact, "{a:#x}"),
            }
        }
        let a = doubles.double() & !(1 << 63);
        let value = F64.decode(a);
        for (rounding, _) in ROUNDINGS {
            let found = sqrt_mode_f64(a, FMode::default().rounded(rounding).0);
            if f64::from_bits(a).is_nan() || f64::from_bits(a).is_infinite() || a == 0 {
                continue;
            }
            // The sign of the square minus the argument, exactly.
            let above = |bits: u64| {
                let root = F64.decode(bits);
                let rest = root.times(root).plus(value.negated(), Rounding::Zero);
                f64::from_bits(F64.encode(rest, Rounding::NearestEven, false, None))
            };
            match rounding {
                Rounding::NearestEven => assert_eq!(found, sqrt_f64(a)),
                Rounding::Up => assert!(above(found) >= 0.0 && above(found - 1) <= 0.0, "{a:#x}"),
                _ => assert!(above(found) <= 0.0 && above(found + 1) >= 0.0, "{a:#x}"),
            }
        }
    }
}

#[test]
fn clamping_follows_the_table() {
    let sat = FMode::SAT.0;
    let add_zero = |a: f32| f32::from_bits(add_mode_f32(a.to_bits(), 0, sat));
    assert_eq!(add_mode_f32(NAN32, 0, sat), 0);
    assert_eq!(add_mode_f32((-0.0f32).to_bits(), (-0.0f32).to_bits(), sat), 0);
    assert_eq!((add_zero(-1.0), add_zero(0.25), add_zero(1.5)), (0.0, 0.25, 1.0));
    assert_eq!((add_zero(f32::INFINITY), add_zero(f32::NEG_INFINITY)), (1.0, 0.0));
}

#[test]
fn minimum_and_maximum() {
    for (a, b) in pairs32() {
        let (x, y) = (f32::from_bits(a), f32::from_bits(b));
        let least = match (x.is_nan(), y.is_nan()) {
            (true, true) => NAN32,
            (true, false) => b,
            (false, true) => a,
            _ => {
                if x.total_cmp(&y).is_le() {
                    a
                } else {
                    b
                }
            }
        };
        let greatest = if x.is_nan() || y.is_nan() {
            least
        } else if least == a {
            b
        } else {
            a
        };
        assert_eq!((min_f32(a, b), max_f32(a, b)), (least, greatest), "{a:#x} {b:#x}");
        assert_eq!(min_mode_f32(a, b, 0), least);
        let nan = if x.is_nan() || y.is_nan() { NAN32 } else { greatest };
        assert_eq!(max_mode_f32(a, b, FMode::NAN.0), nan);
        assert_eq!(min_ftz_f32(a, b), min_f32(flush(a), flush(b)));
        let bare = max_f32(a & !(1 << 31), b & !(1 << 31));
        let signed = if f32::from_bits(bare).is_nan() { NAN32 } else { bare | (a ^ b) & 1 << 31 };
        assert_eq!(max_mode_f32(a, b, FMode::XORSIGN.with(FMode::ABS).0), signed);
        let (wide, high) = (u64::from(a) << 32, u64::from(b) << 32 | 0x1234);
        let (x, y) = (f64::from_bits(wide), f64::from_bits(high));
        if !x.is_nan() && !y.is_nan() {
            assert_eq!(min_f64(wide, high), if x.total_cmp(&y).is_le() { wide } else { high });
            assert_eq!(max_f64(wide, high), if x.total_cmp(&y).is_le() { high } else { wide });
        }
    }
    assert_eq!(min_f64(f64::NAN.to_bits(), 5), 5);
    assert_eq!(max_f64(5, f64::NAN.to_bits()), 5);
    assert_eq!(min_f64(f64::NAN.to_bits(), 0xfff4_0000_0000_0007), 0xfffc_0000_0000_0007);
    assert_eq!(max_f64(0xfff4_0000_0000_0007, 0x7ff0_0000_0000_0001), 0x7ff8_0000_0000_0001);
}

#[test]
fn comparisons_with_and_without_order() {
    for (a, b) in pairs32() {
        let order = f32::from_bits(a).partial_cmp(&f32::from_bits(b));
        let is = |test: fn(std::cmp::Ordering) -> bool, unordered: bool| order.map_or(unordered, test);
        use std::cmp::Ordering as O;
        assert_eq!((eq_f32(a, b), equ_f32(a, b)), (is(O::is_eq, false), is(O::is_eq, true)));
        assert_eq!((ne_f32(a, b), neu_f32(a, b)), (is(O::is_ne, false), is(O::is_ne, true)));
        assert_eq!((lt_f32(a, b), ltu_f32(a, b)), (is(O::is_lt, false), is(O::is_lt, true)));
        assert_eq!((le_f32(a, b), leu_f32(a, b)), (is(O::is_le, false), is(O::is_le, true)));
        assert_eq!((gt_f32(a, b), gtu_f32(a, b)), (is(O::is_gt, false), is(O::is_gt, true)));
        assert_eq!((ge_f32(a, b), geu_f32(a, b)), (is(O::is_ge, false), is(O::is_ge, true)));
        assert_eq!((num_f32(a, b), nan_f32(a, b)), (order.is_some(), order.is_none()));
        assert_eq!(eq_ftz_f32(a, b), eq_f32(flush(a), flush(b)));
        let (wide, high) = (f64_of_f32(a), f64_of_f32(b));
        assert_eq!((lt_f64(wide, high), geu_f64(wide, high)), (lt_f32(a, b), geu_f32(a, b)));
        assert_eq!((eq_f64(wide, high), neu_f64(wide, high)), (eq_f32(a, b), neu_f32(a, b)));
    }
}

#[test]
fn properties() {
    let test = |a: u32, property| testp_f32(a, FMode::testing(property).0);
    for a in SINGLES {
        let value = f32::from_bits(a);
        assert_eq!(test(a, Property::Finite), value.is_finite());
        assert_eq!(test(a, Property::Infinite), value.is_infinite());
        assert_eq!(test(a, Property::Number), !value.is_nan());
        assert_eq!(test(a, Property::NotANumber), value.is_nan());
        assert_eq!(test(a, Property::Normal), value.is_normal() || value == 0.0);
        assert_eq!(test(a, Property::Subnormal), value.is_subnormal());
    }
    let test = |a: u64, property| testp_f64(a, FMode::testing(property).0);
    for a in DOUBLES {
        let value = f64::from_bits(a);
        assert_eq!(test(a, Property::Finite), value.is_finite());
        assert_eq!(test(a, Property::Infinite), value.is_infinite());
        assert_eq!(test(a, Property::Number), !value.is_nan());
        assert_eq!(test(a, Property::NotANumber), value.is_nan());
        assert_eq!(test(a, Property::Normal), value.is_normal() || value == 0.0);
        assert_eq!(test(a, Property::Subnormal), value.is_subnormal());
    }
}

#[test]
fn signs() {
    assert_eq!(copysign_f32(0x8000_0000, 0x3f80_0000), 0xbf80_0000);
    assert_eq!((neg_f32(0xffc0_0000), abs_f32(0xffc0_0000)), (NAN32, NAN32));
    assert_eq!((neg_ftz_f32(1), abs_ftz_f32(0x8000_0001)), (0x8000_0000, 0));
    // A NaN keeps its sign and is made quiet.
    assert_eq!((neg_f64(0x7ff4_0000_0000_0000), abs_f64(0xfff0_0000_0000_0001)), (0x7ffc << 48, 0xfff8 << 48 | 1));
    assert_eq!((neg_f64(1), abs_f64(0xfff0 << 48)), (1 << 63 | 1, 0x7ff0 << 48));
    assert_eq!(copysign_f64(1 << 63, 1), 1 << 63 | 1);
    let mode = FMode::FTZ.0;
    assert_eq!(add_f32x2(0x3f80_0000_0000_0001, 0x3f80_0000_0000_0001, mode), 0x4000_0000_0000_0000);
}

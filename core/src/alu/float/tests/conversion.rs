use super::{DOUBLES, ROUNDINGS, SINGLES, Samples};
use crate::alu::float::*;
use crate::alu::mode::{FMode, Num, Rounding};
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert};

fn convert<A: FloatConvert<B>, B: Float>(bits: u128, round: rustc_apfloat::Round, nan: u64) -> u64 {
    let mut lossy = false;
    let result: B = A::from_bits(bits).convert_r(round, &mut lossy).value;
    if result.is_nan() { nan } else { result.to_bits() as u64 }
}

#[test]
fn halves_widen() {
    for a in 0..=0xffffu32 {
        let expected = convert::<Half, Single>(a.into(), ROUNDINGS[0].1, 0x7fff_ffff) as u32;
        assert_eq!(f32_of_f16(a), expected, "{a:#x}");
        assert_eq!(cvt_ww(a, FMode::default().to(Num::F32).from(Num::F16).0), expected, "{a:#x}");
        // NaN, too, is only moved (D-cvt-nan).
        let expected = convert::<BFloat, Single>(a.into(), ROUNDINGS[0].1, u64::from(a) << 16) as u32;
        assert_eq!(f32_of_bf16(a), expected, "{a:#x}");
        assert_eq!(cvt_ww(a, FMode::default().to(Num::F32).from(Num::Bf16).0), expected, "{a:#x}");
    }
}

#[test]
fn singles_narrow() {
    let mut samples = Samples(7);
    // Every pattern of the upper half with lower halves around the ties.
    let ties = (0..=0xffffu32)
        .flat_map(|high| [0, 0x1000, 0x0fff, 0x1001, 0x8000, 0x7fff, 0x8001].map(|low| high << 16 | low));
    for a in ties.chain((0..50_000).map(|_| samples.single())) {
        let half = convert::<Single, Half>(a.into(), ROUNDINGS[0].1, 0x7fff) as u32;
        assert_eq!(f16_of_f32(a), half, "{a:#x}");
        let brain = convert::<Single, BFloat>(a.into(), ROUNDINGS[0].1, 0x7fff) as u32;
        assert_eq!(bf16_of_f32(a), brain, "{a:#x}");
    }
    for a in SINGLES.into_iter().chain((0..50_000).map(|_| samples.single())) {
        for (rounding, round) in ROUNDINGS {
            let mode = FMode::default().rounded(rounding).from(Num::F32);
            let half = convert::<Single, Half>(a.into(), round, 0x7fff) as u32;
            assert_eq!(cvt_ww(a, mode.to(Num::F16).0), half, "{a:#x} {rounding:?}");
            let brain = convert::<Single, BFloat>(a.into(), round, 0x7fff) as u32;
            assert_eq!(cvt_ww(a, mode.to(Num::Bf16).0), brain, "{a:#x} {rounding:?}");
        }
    }
}

/// A double's NaN in a format of fewer bits, as D-cvt-nan wants it: the sign and the first bits of the payload, quiet.
fn nan(a: u64, exponent: u32, fraction: u32) -> u64 {
    let payload = a << 12 >> (64 - fraction) | 1 << (fraction - 1);
    (a >> 63) << (exponent + fraction) | ((1 << exponent) - 1) << fraction | payload
}

#[test]
fn not_numbers_are_canonical_moved_or_carried_over() {
    let mode = |to, from| FMode::default().to(to).from(from);
    let (ftz, sat) = (FMode::FTZ, FMode::SAT);
    let (single, double) = (0xff80_0001, 0xfff0_0000_0000_0001);
    // Without anything to round, nothing is done.
    assert_eq!(cvt_ww(single, mode(Num::F32, Num::F32).0), single);
    assert_eq!(cvt_qq(double, mode(Num::F64, Num::F64).0), double);
    assert_eq!(cvt_ww(single, mode(Num::F32, Num::F32).with(ftz).0), NAN32);
    assert_eq!(cvt_ww(single, mode(Num::F32, Num::F32).with(FMode::INTEGRAL).0), NAN32);
    assert_eq!(cvt_qq(double, mode(Num::F64, Num::F64).with(FMode::INTEGRAL).0), 0xfff8_0000_0000_0001);
    assert_eq!(cvt_ww(0xff81, mode(Num::F32, Num::Bf16).with(ftz).0), NAN32);
    // Wider ones keep all bits, but for one way.
    assert_eq!(cvt_wq(0xfc01, mode(Num::F64, Num::F16).0), 0xfff8_0400_0000_0000);
    assert_eq!(cvt_wq(0xff81, mode(Num::F64, Num::Bf16).0), 0xfff8_2000_0000_0000);
    assert_eq!((f64_of_f32(single), f64_of_f32_ftz(single)), (0xfff8_0000_2000_0000, 0x7fff_ffff_e000_0000));
    assert_eq!(cvt_wq(single, mode(Num::F64, Num::F32).with(ftz).0), 0x7fff_ffff_e000_0000);
    // Clamped, it is zero everywhere.
    for (to, from) in [(Num::F32, Num::F32), (Num::F32, Num::Bf16), (Num::F16, Num::F32)] {
        assert_eq!(cvt_ww(u32::MAX, mode(to, from).with(sat).0), 0, "{to:?} {from:?}");
    }
    assert_eq!(
        (cvt_qq(double, mode(Num::F64, Num::F64).with(sat).0), cvt_qw(double, mode(Num::F32, Num::F64).with(sat).0)),
        (0, 0)
    );
}

#[test]
fn doubles_and_singles() {
    let mut samples = Samples(8);
    for a in DOUBLES.into_iter().chain((0..50_000).map(|_| samples.double())) {
        for (rounding, round) in ROUNDINGS {
            let nan = |exponent, fraction| nan(a, exponent, fraction);
            let expected = convert::<Double, Single>(a.into(), round, nan(8, 23)) as u32;
            let mode = FMode::default().rounded(rounding).from(Num::F64).to(Num::F32).0;
            assert_eq!(cvt_qw(a, mode), expected, "{a:#x} {rounding:?}");
            let half = convert::<Double, Half>(a.into(), round, nan(5, 10)) as u32;
            assert_eq!(cvt_qw(a, FMode(mode).to(Num::F16).0), half, "{a:#x} {rounding:?}");
            let brain = convert::<Double, BFloat>(a.into(), round, nan(8, 7)) as u32;
            assert_eq!(cvt_qw(a, FMode(mode).to(Num::Bf16).0), brain, "{a:#x} {rounding:?}");
        }
        assert_eq!(f32_of_f64(a), cvt_qw(a, FMode::default().from(Num::F64).to(Num::F32).0));
    }
    for a in SINGLES {
        let wide = f64_of_f32(a);
        assert_eq!(cvt_wq(a, FMode::default().from(Num::F32).to(Num::F64).0), wide);
        assert_eq!(f32_of_f64(wide), if f32::from_bits(a).is_nan() { a | 1 << 22 } else { a });
    }
    assert_eq!(f64_of_f32(0xff80_0001), 0xfff8_0000_2000_0000);
    assert_eq!((f64_of_f32_ftz(0x8000_0001), f32_of_f64_ftz(0x3690_0000_0000_0000)), (1 << 63, 0));
}

const INTEGERS: [Num; 8] = [Num::U8, Num::U16, Num::U32, Num::U64, Num::S8, Num::S16, Num::S32, Num::S64];

#[test]
fn floats_to_integers_clamp() {
    let mut samples = Samples(9);
    let roundings = [Rounding::NearestEven, Rounding::Zero, Rounding::Down, Rounding::Up];
    let edges =
        (0..=66).flat_map(|e| [-1.5, -0.5, 0.0, 0.5, 1.0, 1.5].map(|d| f64::from(e).exp2() + d)).flat_map(|v| [v, -v]);
    let doubles = edges.map(f64::to_bits).chain(DOUBLES).chain((0..5_000).map(|_| samples.double()));
    for a in doubles {
        let value = f64::from_bits(a);
        for dest in INTEGERS {
            let (low, high) = if dest.is_signed_integer() {
                (-(1i128 << (dest.bits() - 1)), (1i128 << (dest.bits() - 1)) - 1)
            } else {
                (0, (1i128 << dest.bits()) - 1)
            };
            let mask = u64::MAX >> (64 - dest.bits());
            for rounding in roundings {
                let rounded = match rounding {
                    Rounding::NearestEven => value.round_ties_even(),
                    Rounding::Zero => value.trunc(),
                    Rounding::Down => value.floor(),
                    _ => value.ceil(),
                };
                let mode = FMode::INTEGRAL.rounded(rounding).from(Num::F64).to(dest).0;
                let found = if dest.bits() == 64 { cvt_qq(a, mode) } else { cvt_qw(a, mode).into() };
                let expected = (rounded as i128).clamp(low, high) as u64 & mask;
                let expected = if value.is_nan() { 1 << (dest.bits() - 1) } else { expected };
                assert_eq!(found, expected, "{value} {a:#x} {dest:?} {rounding:?}");
                let single = value as f32;
                if f64::from(single) == value || value.is_nan() {
                    let expected = if value.is_nan() && dest.bits() < 64 { 0 } else { expected };
                    let mode = FMode(mode).from(Num::F32).0;
                    let bits = single.to_bits();
                    let found = if dest.bits() == 64 { cvt_wq(bits, mode) } else { cvt_ww(bits, mode).into() };
                    assert_eq!(found, expected, "{value} {dest:?} {rounding:?}");
                }
            }
        }
        let mode = |dest, from| FMode::INTEGRAL.rounded(Rounding::Zero).to(dest).from(from).0;
        assert_eq!(s32_of_f64(a), cvt_qw(a, mode(Num::S32, Num::F64)));
        assert_eq!(u32_of_f64(a), cvt_qw(a, mode(Num::U32, Num::F64)));
        assert_eq!(s64_of_f64(a), cvt_qq(a, mode(Num::S64, Num::F64)));
        assert_eq!(u64_of_f64(a), cvt_qq(a, mode(Num::U64, Num::F64)));
        let b = (value as f32).to_bits();
        assert_eq!(s32_of_f32(b), cvt_ww(b, mode(Num::S32, Num::F32)));
        assert_eq!(u32_of_f32(b), cvt_ww(b, mode(Num::U32, Num::F32)));
        assert_eq!(s64_of_f32(b), cvt_wq(b, mode(Num::S64, Num::F32)));
        assert_eq!(u64_of_f32(b), cvt_wq(b, mode(Num::U64, Num::F32)));
    }
}

#[test]
fn integers_to_floats_round_once() {
    let mut samples = Samples(10);
    let edges = (0..64u32).flat_map(|e| [-2i64, -1, 0, 1, 2].map(|d| (1i64 << e).wrapping_add(d) as u64));
    let ties = (24..64u32).flat_map(|e| [0x0080_0000u64, 0x0080_0001].map(|m| m << (e - 24) | 1 << (e - 24) >> 1));
    for a in edges.chain(ties).chain((0..5_000).map(|i| samples.next() >> (i % 64))) {
        for (rounding, round) in ROUNDINGS {
            for from in [Num::S64, Num::U64, Num::S32, Num::U32] {
                let value = match from {
                    Num::S64 => i128::from(a as i64),
                    Num::U64 => i128::from(a),
                    Num::S32 => i128::from(a as i32),
                    _ => i128::from(a as u32),
                };
                let mode = |dest| FMode::default().rounded(rounding).from(from).to(dest).0;
                let narrow =
                    |dest| if from.bits() == 64 { cvt_qw(a, mode(dest)) } else { cvt_ww(a as u32, mode(dest)) };
                let wide = if from.bits() == 64 { cvt_qq(a, mode(Num::F64)) } else { cvt_wq(a as u32, mode(Num::F64)) };
                assert_eq!(u128::from(narrow(Num::F32)), Single::from_i128_r(value, round).value.to_bits(), "{value}");
                assert_eq!(u128::from(narrow(Num::F16)), Half::from_i128_r(value, round).value.to_bits(), "{value}");
                assert_eq!(u128::from(narrow(Num::Bf16)), BFloat::from_i128_r(value, round).value.to_bits(), "{value}");
                assert_eq!(u128::from(wide), Double::from_i128_r(value, round).value.to_bits(), "{value}");
            }
        }
        let single = |value: i128| Single::from_i128(value).value.to_bits() as u32;
        let double = |value: i128| Double::from_i128(value).value.to_bits() as u64;
        assert_eq!(f32_of_s32(a as u32), single((a as i32).into()));
        assert_eq!(f32_of_u32(a as u32), single((a as u32).into()));
        assert_eq!(f32_of_s64(a), single((a as i64).into()));
        assert_eq!(f32_of_u64(a), single(a.into()));
        assert_eq!(f64_of_s32(a as u32), double((a as i32).into()));
        assert_eq!(f64_of_u32(a as u32), double((a as u32).into()));
        assert_eq!(f64_of_s64(a), double((a as i64).into()));
        assert_eq!(f64_of_u64(a), double(a.into()));
    }
}

//! Formats of fewer than 16 bits, `tf32`, and the modifiers of `cvt`.

use super::{ROUNDINGS, SINGLES, Samples};
use crate::alu::float::*;
use crate::alu::mode::{FMode, Num, Rounding};

/// The finite magnitudes of a format with the given exponent and fraction bits, in the order of their codes.
fn magnitudes(exponent: i32, fraction: i32, codes: u32) -> Vec<f64> {
    let bias = (1 << (exponent - 1)) - 1;
    let value = |code: u32| {
        let (field, rest) = ((code >> fraction) as i32, f64::from(code & ((1 << fraction) - 1)));
        let step = 2f64.powi(field.max(1) - bias - fraction);
        if field == 0 { rest * step } else { (rest + f64::from(1 << fraction)) * step }
    };
    (0..codes).map(value).collect()
}

/// The code of the nearest magnitude, the even one of two.
fn nearest(all: &[f64], value: f64) -> u32 {
    let above = all.partition_point(|m| *m < value);
    if above == all.len() {
        return above as u32 - 1;
    }
    if all[above] == value {
        return above as u32;
    }
    let (low, high) = (value - all[above - 1], all[above] - value);
    let up = high < low || high == low && above % 2 == 0;
    (if up { above } else { above - 1 }) as u32
}

#[test]
fn narrow_formats_round_to_the_nearest_code_and_saturate() {
    let formats = [
        // Type, exponent and fraction bits, finite codes, sign bit, NaN.
        (Num::E4m3, 4, 3, 0x7f, 0x80, 0x7f),
        (Num::E5m2, 5, 2, 0x7c, 0x80, 0x7f),
        (Num::E2m1, 2, 1, 0x8, 0x8, 0x7),
        (Num::E2m3, 2, 3, 0x20, 0x20, 0x1f),
        (Num::E3m2, 3, 2, 0x20, 0x20, 0x1f),
    ];
    for (format, exponent, fraction, codes, sign, nan) in formats {
        let all = magnitudes(exponent, fraction, codes);
        let ties = all.windows(2).map(|w| f64::midpoint(w[0], w[1]));
        let edges: Vec<f32> = all.iter().copied().chain(ties).map(|v| v as f32).collect();
        let near = edges.iter().flat_map(|v| [v.to_bits(), v.to_bits() + 1, v.to_bits().saturating_sub(1)]);
        let mut samples = Samples(40);
        let inputs: Vec<u32> = near.chain(SINGLES).chain((0..5_000).map(|_| samples.single())).collect();
        for a in inputs.iter().flat_map(|a| [*a, a ^ 1 << 31]) {
            let value = f32::from_bits(a);
            let expected = if value.is_nan() {
                nan
            } else {
                nearest(&all, f64::from(value.abs())) | if value.is_sign_negative() { sign } else { 0 }
            };
            let mode = FMode::SATFINITE.to(format).from(Num::F32);
            let shift = if format == Num::E2m1 { 4 } else { 8 };
            assert_eq!(cvt_pack(a, 0, mode.0), expected << shift, "{format:?} {value}");
            let relu = if value.is_sign_negative() && !value.is_nan() { 0 } else { expected };
            assert_eq!(cvt_pack(0, a, mode.with(FMode::RELU).0), relu, "{format:?} {value}");
        }
        // Back: every code is an f16, exactly.
        for code in 0..sign << 1 {
            let value = all.get((code & (sign - 1)) as usize);
            let expected = match value {
                Some(v) => (f16_of_f32((*v as f32).to_bits())) | if code & sign != 0 { 0x8000 } else { 0 },
                None if format == Num::E5m2 && code & 0x7f == 0x7c => 0x7c00 | (code & sign) << 8,
                None => 0x7fff,
            };
            let shift = if format == Num::E2m1 { 4 } else { 8 };
            let mode = FMode::PACKED.to(Num::F16).from(format).0;
            assert_eq!(cvt_pair(code << shift, mode), expected << 16, "{format:?} {code:#x}");
            assert_eq!(cvt_pair(code, mode), expected, "{format:?} {code:#x}");
        }
    }
}

#[test]
fn packed_halves_narrow_like_singles() {
    for a in 0..=0xffffu32 {
        for format in [Num::E4m3, Num::E5m2] {
            let mode = FMode::SATFINITE.to(format);
            let through = cvt_pack(f32_of_f16(a), f32_of_f16(a ^ 0x8000), mode.from(Num::F32).0);
            assert_eq!(cvt_pair(a << 16 | a ^ 0x8000, mode.from(Num::F16).0), through);
        }
    }
}

#[test]
fn exponents_only() {
    let code = |value: f32, mode: FMode| cvt_pack(0, value.to_bits(), mode.to(Num::Ue8m0).0);
    let (down, up) = (FMode::default().rounded(Rounding::Zero), FMode::default().rounded(Rounding::Up));
    assert_eq!((code(1.0, down), code(1.5, down), code(1.5, up), code(0.0, up)), (127, 127, 128, 0));
    assert_eq!((code(1e-45, down), code(f32::from_bits(0x0040_0001), up)), (0, 1));
    assert_eq!((code(f32::MAX, up), code(f32::MAX, up.with(FMode::SATFINITE))), (255, 254));
    assert_eq!((code(f32::NAN, down), code(f32::INFINITY, down.with(FMode::SATFINITE))), (255, 254));
    let back = FMode::PACKED.to(Num::Bf16).from(Num::Ue8m0).0;
    assert_eq!(cvt_pair(0x7f00, back), 0x3f80_0040);
    assert_eq!(cvt_pair(0xff80, back), 0x7fff_4000);
}

#[test]
fn tensor_float() {
    let to = |a: u32, rounding| cvt_ww(a, FMode::default().rounded(rounding).from(Num::F32).to(Num::Tf32).0);
    for a in (0..=0xffffu32).flat_map(|high| [0, 1, 0xfff, 0x1000, 0x1001, 0x3000, 0xffff].map(|low| high << 16 | low))
    {
        let finite = FMode::SATFINITE.rounded(Rounding::NearestAway).from(Num::F32).to(Num::Tf32);
        if f32::from_bits(a).is_nan() {
            assert_eq!((to(a, Rounding::Zero), to(a, Rounding::NearestEven)), (0x7fff_e000, 0x7fff_e000));
            assert_eq!((to(a, Rounding::NearestAway), cvt_ww(a, finite.0)), (a & !0x1fff, (a & !0x1fff) - 0x2000));
            continue;
        }
        // Rounding is addition in the pattern, as the next larger pattern is the next larger magnitude.
        let away = (a + 0x1000) & !0x1fff;
        assert_eq!(to(a, Rounding::NearestAway), away, "{a:#x}");
        let infinite = away << 1 >= 0xff00_0000;
        assert_eq!(cvt_ww(a, finite.0), if infinite { away - 0x2000 } else { away }, "{a:#x}");
        assert_eq!(to(a, Rounding::Zero), a & !0x1fff, "{a:#x}");
        assert_eq!(to(a, Rounding::NearestEven), (a + 0xfff + (a >> 13 & 1)) & !0x1fff, "{a:#x}");
    }
}

#[test]
fn singles_round_to_integral_values() {
    let mut samples = Samples(41);
    for a in SINGLES.into_iter().chain((0..20_000).map(|_| samples.single())) {
        let value = f32::from_bits(a);
        for (rounding, _) in ROUNDINGS {
            let expected = match rounding {
                Rounding::NearestEven => value.round_ties_even(),
                Rounding::Zero => value.trunc(),
                Rounding::Down => value.floor(),
                _ => value.ceil(),
            };
            let expected = if value.is_nan() { NAN32 } else { expected.to_bits() };
            let mode = FMode::INTEGRAL.rounded(rounding).from(Num::F32).to(Num::F32);
            assert_eq!(cvt_ww(a, mode.0), expected, "{value} {rounding:?}");
            let clamped = if value.is_nan() { 0.0 } else { f32::from_bits(expected).clamp(0.0, 1.0) + 0.0 };
            assert_eq!(cvt_ww(a, mode.with(FMode::SAT).0), clamped.to_bits(), "{value} {rounding:?}");
        }
    }
    let mode = FMode::FTZ.from(Num::F32);
    assert_eq!(cvt_ww(0x8000_0001, mode.to(Num::F32).0), 0x8000_0000);
    let up = FMode::INTEGRAL.rounded(Rounding::Up).from(Num::F32).to(Num::S32);
    assert_eq!((cvt_ww(1, up.0), cvt_ww(1, up.with(FMode::FTZ).0)), (1, 0));
    let sat = FMode::SAT.from(Num::S32).to(Num::F32);
    assert_eq!((cvt_ww(u32::MAX, sat.0), cvt_ww(7, sat.0)), (0, 0x3f80_0000));
}

#[test]
fn modifiers_of_narrowing() {
    let half = FMode::default().from(Num::F32).to(Num::F16);
    let to = |value: f32, mode: FMode| cvt_ww(value.to_bits(), mode.0);
    assert_eq!((to(1e6, half), to(1e6, half.with(FMode::SATFINITE))), (0x7c00, 0x7bff));
    assert_eq!(to(f32::NEG_INFINITY, half.with(FMode::SATFINITE)), 0xfbff);
    assert_eq!((to(-1.0, half.with(FMode::RELU)), to(f32::NAN, half.with(FMode::RELU))), (0, 0x7fff));
    assert_eq!(to(1e6, half.rounded(Rounding::Zero)), 0x7bff);
    assert_eq!(cvt_pack(0x3f80_0000, 0xbf80_0000, half.0), 0x3c00_bc00);
    assert_eq!(cvt_pack(0x3f80_0000, 0xbf80_0000, FMode::default().to(Num::Bf16).0), 0x3f80_bf80);
    // 1 + 3/4 of a unit in the last place, rounded up by random numbers of a quarter and more.
    let random = FMode::default().rounded(Rounding::Stochastic);
    let a = 0x3f80_1800;
    assert_eq!(cvt_pack_random(a, a, 0x0800_07ff, random.to(Num::F16).0), 0x3c01_3c00);
    assert_eq!(cvt_pack_random(0x3f80_c000, 0x3f80_c000, 0x4000_3fff, random.to(Num::Bf16).0), 0x3f81_3f80);
}

use super::{DOUBLES, SINGLES, Samples};
use crate::alu::float::*;
use crate::alu::mode::FMode;

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;
/// A subnormal number.
const TINY: f32 = 1e-40;

/// Compares bits, NaN with canonical NaN.
fn table(function: fn(u32, u32) -> u32, mode: FMode, rows: &[(f32, f32)]) {
    for (a, expected) in rows {
        let expected = if expected.is_nan() { NAN32 } else { expected.to_bits() };
        assert_eq!(function(a.to_bits(), mode.0), expected, "{a}");
    }
}

#[test]
fn special_values_are_those_of_the_tables() {
    let (ftz, keep) = (FMode::FTZ, FMode::default());
    table(sin_f32, ftz, &[(-INF, NAN), (-TINY, -0.0), (-0.0, -0.0), (0.0, 0.0), (TINY, 0.0), (INF, NAN), (NAN, NAN)]);
    table(sin_f32, keep, &[(-TINY, -TINY), (TINY, TINY)]);
    table(cos_f32, ftz, &[(-INF, NAN), (-TINY, 1.0), (-0.0, 1.0), (0.0, 1.0), (TINY, 1.0), (INF, NAN), (NAN, NAN)]);
    let zeros =
        [(-INF, NAN), (-TINY, -INF), (-0.0, -INF), (0.0, -INF), (TINY, -INF), (INF, INF), (NAN, NAN), (-1.0, NAN)];
    table(lg2_f32, ftz, &zeros);
    table(lg2_f32, keep, &[(-TINY, NAN), (f32::from_bits(1), -149.0), (8.0, 3.0)]);
    table(ex2_f32, ftz, &[(-INF, 0.0), (-TINY, 1.0), (0.0, 1.0), (TINY, 1.0), (INF, INF), (NAN, NAN), (-127.0, 0.0)]);
    table(ex2_f32, keep, &[(-127.0, f32::from_bits(0x0040_0000)), (-150.0, 0.0), (10.0, 1024.0), (128.0, INF)]);
    table(tanh_f32, keep, &[(-INF, -1.0), (-0.0, -0.0), (TINY, TINY), (INF, 1.0), (NAN, NAN)]);
    let root = |a, _| rsqrt_f32(a);
    table(root, keep, &[(-INF, NAN), (-1.0, NAN), (-TINY, NAN), (-0.0, -INF), (0.0, INF), (INF, 0.0), (4.0, 0.5)]);
    table(|a, _| rsqrt_ftz_f32(a), keep, &[(-TINY, -INF), (TINY, INF), (NAN, NAN)]);
    table(|a, _| rcp_ftz_f32(a), keep, &[(-INF, -0.0), (-TINY, -INF), (0.0, INF), (INF, 0.0), (NAN, NAN), (2e38, 0.0)]);
    table(
        |a, _| sqrt_ftz_f32(a),
        keep,
        &[(-INF, NAN), (-1.0, NAN), (-TINY, -0.0), (-0.0, -0.0), (TINY, 0.0), (INF, INF)],
    );
}

/// All singles with `POWERS_FULL=1`, one in some thousand otherwise.
#[test]
fn powers_of_two_are_those_of_the_library() {
    let step = if std::env::var_os("POWERS_FULL").is_some() { 1 } else { 4_099 };
    for a in (0..=u32::MAX).step_by(step) {
        let value = f32::from_bits(a);
        let expected = if value.is_nan() { NAN32 } else { (libm::exp2(f64::from(value)) as f32).to_bits() };
        assert_eq!(ex2_f32(a, 0), expected, "{a:08x}");
    }
}

#[test]
fn the_approximate_quotient_has_its_documented_hole() {
    let div = |a: f32, b: f32| f32::from_bits(div_approx_f32(a.to_bits(), b.to_bits(), 0));
    assert_eq!(div(7.0, 2.0), 3.5);
    assert_eq!(div(1e38, 2e38), 0.0);
    assert!(div(INF, 2e38).is_nan() && div(INF, 8e37).is_infinite());
    assert_eq!(div(1e38, 8.507_059e37), 1e38 / 8.507_059e37);
    assert_eq!((div(1.0, INF), div(1.0, 0.0)), (0.0, INF));
}

#[test]
fn errors_are_below_the_documented_ones() {
    let mut samples = Samples(30);
    for a in SINGLES.into_iter().chain((0..20_000).map(|_| samples.single())) {
        let value = f32::from_bits(a & 0x7fff_ffff);
        if value.is_nan() || value.is_infinite() || value == 0.0 {
            continue;
        }
        let root = f64::from(f32::from_bits(rsqrt_f32(value.to_bits())));
        let exact = 1.0 / f64::from(value).sqrt();
        assert!(((root - exact) / exact).abs() < 2f64.powf(-22.9), "{value}");
    }
}

#[test]
fn gross_approximations() {
    let mut samples = Samples(31);
    for a in DOUBLES.into_iter().chain((0..20_000).map(|_| samples.double())) {
        let value = f64::from_bits(a);
        for (found, exact) in [
            (rcp_gross_f64(a), 1.0 / value),
            (rsqrt_gross_f64(a), 1.0 / value.sqrt()),
            (rsqrt_f64(a), 1.0 / value.sqrt()),
        ] {
            if value.is_normal() && exact.is_normal() {
                let error = ((f64::from_bits(found) - exact) / exact).abs();
                assert!(error < 2f64.powi(-19), "{value}: {error}");
            }
        }
        assert_eq!(rcp_gross_f64(a) as u32, 0);
    }
    let cases = [(-f64::INFINITY, -0.0), (-1e-310, -f64::INFINITY), (-0.0, -f64::INFINITY), (1e-310, f64::INFINITY)];
    for (a, expected) in cases {
        assert_eq!(rcp_gross_f64(a.to_bits()), f64::to_bits(expected), "{a}");
    }
    assert_eq!(rcp_gross_f64(f64::MAX.to_bits()), 0);
    assert_eq!(rsqrt_gross_f64((-1e-310f64).to_bits()), f64::NEG_INFINITY.to_bits());
    for nan in [0x7ff0_0000_0000_0001, 0xfff8_1234_5678_9abc] {
        assert_eq!((rcp_gross_f64(nan), rsqrt_gross_f64(nan)), (0x7fff_ffff << 32, 0x7fff_ffff << 32));
    }
    assert_eq!(rsqrt_gross_f64((-1.0f64).to_bits()), 0x7fff_ffff << 32);
    assert_eq!(rsqrt_f64((-0.0f64).to_bits()), f64::NEG_INFINITY.to_bits());
}

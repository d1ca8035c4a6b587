use super::{ROUNDINGS, Samples};
use crate::alu::float::*;
use crate::alu::mode::{FMode, Num};
use rustc_apfloat::Float;
use rustc_apfloat::ieee::{BFloat, Half};

/// Results as apfloat has them, NaN being canonical.
fn bits<F: Float>(value: F) -> u32 {
    if value.is_nan() { 0x7fff } else { value.to_bits() as u32 }
}

fn samples() -> impl Iterator<Item = (u32, u32, u32)> {
    let mut samples = Samples(20);
    let edges = [0u32, 1, 2, 0x3ff, 0x400, 0x7f, 0x80, 0x3c00, 0x3f80, 0x7bff, 0x7c00, 0x7f7f, 0x7f80, 0x7fff, 0x0401];
    let edges: Vec<u32> = edges.iter().flat_map(|e| [*e, *e | 0x8000]).collect();
    let all = edges.clone();
    let grid = edges.into_iter().flat_map(move |a| {
        let all = all.clone();
        all.clone().into_iter().flat_map(move |b| all.clone().into_iter().map(move |c| (a, b, c)))
    });
    grid.chain((0..150_000).map(move |_| {
        let r = samples.next();
        (r as u32 & 0xffff, (r >> 16) as u32 & 0xffff, (r >> 32) as u32 & 0xffff)
    }))
}

fn check<F: Float>(format: Num) {
    let mode = FMode::default().to(format);
    let value = |a: u32| F::from_bits(a.into());
    for (a, b, c) in samples() {
        let show = format!("{a:#x} {b:#x} {c:#x}");
        assert_eq!(add_half(a, b, mode.0), bits(value(a).add_r(value(b), ROUNDINGS[0].1).value), "add {show}");
        assert_eq!(sub_half(a, b, mode.0), bits(value(a).sub_r(value(b), ROUNDINGS[0].1).value), "sub {show}");
        assert_eq!(mul_half(a, b, mode.0), bits(value(a).mul_r(value(b), ROUNDINGS[0].1).value), "mul {show}");
        let fused = bits(value(a).mul_add_r(value(b), value(c), ROUNDINGS[0].1).value);
        assert_eq!(fma_half(a, b, c, mode.0), fused, "fma {show}");
        let nan = value(fused).is_nan();
        let relu = if fused & 0x8000 != 0 && !nan { 0 } else { fused };
        assert_eq!(fma_half(a, b, c, mode.with(FMode::RELU).0), relu, "relu {show}");
        let one = value(if format == Num::F16 { 0x3c00 } else { 0x3f80 });
        let sat = if nan || fused & 0x8000 != 0 {
            0
        } else if value(fused) > one {
            bits(one)
        } else {
            fused
        };
        assert_eq!(fma_half(a, b, c, mode.with(FMode::SAT).0), sat, "sat {show}");
    }
}

#[test]
fn half_precision() {
    check::<Half>(Num::F16);
}

#[test]
fn brain_precision() {
    check::<BFloat>(Num::Bf16);
}

#[test]
fn packed_values_are_independent() {
    let packed = |format| FMode::PACKED.to(format).0;
    for format in [Num::F16, Num::Bf16] {
        let alone = FMode::default().to(format).0;
        for (a, b, c) in samples().step_by(7) {
            let (x, y) = (a << 16 | c, b << 16 | a);
            let pair = |high: u32, low: u32| high << 16 | low;
            assert_eq!(add_half(x, y, packed(format)), pair(add_half(a, b, alone), add_half(c, a, alone)));
            assert_eq!(min_half(x, y, packed(format)), pair(min_half(a, b, alone), min_half(c, a, alone)));
            assert_eq!(neg_half(x, packed(format)), pair(neg_half(a, alone), neg_half(c, alone)));
        }
    }
}

#[test]
fn every_half() {
    let half = FMode::default().to(Num::F16);
    let brain = FMode::default().to(Num::Bf16);
    for a in 0..=0xffffu32 {
        let value = Half::from_bits(a.into());
        let expected = if value.is_nan() { 0x7fff } else { a ^ 0x8000 };
        assert_eq!(neg_half(a, half.0), expected);
        assert_eq!(abs_half(a, half.0), if value.is_nan() { 0x7fff } else { a & 0x7fff });
        let flushed = if value.is_denormal() { a & 0x8000 } else { expected ^ 0x8000 };
        let flushed = if value.is_nan() { 0x7fff } else { flushed };
        assert_eq!(add_half(a, 0x8000, half.with(FMode::FTZ).0), flushed);
        let value = BFloat::from_bits(a.into());
        assert_eq!(neg_half(a, brain.0), if value.is_nan() { 0x7fff } else { a ^ 0x8000 });
        // The f64 function and the exact rounding of `cvt` agree with the fast way down.
        let wide = |format| f64::from(f32::from_bits(cvt_ww(a, FMode::default().from(format).to(Num::F32).0)));
        let down = |value: f64, format| {
            if value.is_nan() { 0x7fff } else { cvt_qw(value.to_bits(), FMode::default().from(Num::F64).to(format).0) }
        };
        assert_eq!(ex2_half(a, half.0), down(libm::exp2(wide(Num::F16)), Num::F16), "{a:#x}");
        assert_eq!(tanh_half(a, half.0), down(libm::tanh(wide(Num::F16)), Num::F16), "{a:#x}");
        assert_eq!(ex2_half(a, brain.0), down(libm::exp2(wide(Num::Bf16)), Num::Bf16), "{a:#x}");
        assert_eq!(tanh_half(a, brain.0), down(libm::tanh(wide(Num::Bf16)), Num::Bf16), "{a:#x}");
    }
    assert_eq!(ex2_half(0xc300, brain.with(FMode::FTZ).0), 0);
}

#[test]
fn extremes_of_halves() {
    let mode = FMode::default().to(Num::F16);
    assert_eq!((min_half(0x8000, 0, mode.0), max_half(0x8000, 0, mode.0)), (0x8000, 0));
    assert_eq!((min_half(0x7e01, 0x3c00, mode.0), max_half(0xbc00, 0xfe00, mode.0)), (0x3c00, 0xbc00));
    assert_eq!(min_half(0x7e01, 0x3c00, mode.with(FMode::NAN).0), 0x7fff);
    assert_eq!(max_half(0xc000, 0x3c00, mode.with(FMode::XORSIGN).with(FMode::ABS).0), 0xc000);
    // The sign is that of both, also where one of them is NaN.
    let signed = mode.with(FMode::XORSIGN).with(FMode::ABS);
    assert_eq!((min_half(0xfe01, 0x3c00, signed.0), max_half(0xbc00, 0x7c01, signed.0)), (0xbc00, 0xbc00));
    assert_eq!((min_half(0xfe01, 0xbc00, signed.0), min_half(0xfe01, 0x7e00, signed.0)), (0x3c00, 0x7fff));
    assert_eq!(max_half(0xfe01, 0x3c00, signed.with(FMode::NAN).0), 0x7fff);
    let brains = signed.to(Num::Bf16).with(FMode::PACKED);
    assert_eq!(min_half(0xff81_4000, 0x3f80_bf80, brains.0), 0xbf80_bf80);
    assert_eq!(min_half(1, 0x3c00, mode.with(FMode::FTZ).0), 0);
    assert!(cmp_f16(0x1234_8000, 0, 2));
    assert_eq!((cmp_ftz_f16(0x8001, 0, 1), cmp_f16(0x8001, 0, 1)), (false, true));
    assert!(cmp_bf16(0x7fc0, 0, 8) && !cmp_bf16(0x7fc0, 0x7fc0, 7) && cmp_bf16(0xff80, 0x3f80, 1));
}

#[test]
fn narrow_sources_of_single_operations() {
    let mode = FMode::SAT.from(Num::F16).0;
    assert_eq!(add_mixed(0x3800, 0x3e80_0000, mode), 0x3f40_0000);
    assert_eq!(fma_mixed(0x3f80, 0x4000, 0x3f80_0000, FMode::default().from(Num::Bf16).0), 0x4040_0000);
    assert_eq!(sub_mixed(0x3f80, 0x4000_0000, FMode::default().from(Num::Bf16).0), 0xbf80_0000);
}

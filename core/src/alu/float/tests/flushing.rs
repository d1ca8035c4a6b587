//! What `.ftz` does to results (D-ftz), against formats with the same significand and exponents without end in sight.

use super::{ROUNDINGS, Samples};
use crate::alu::float::*;
use crate::alu::mode::{FMode, Num};
use rustc_apfloat::ieee::{Double, Half, IeeeFloat, Semantics, Single};
use rustc_apfloat::{Float, FloatConvert, Round, StatusAnd};

/// As many significant bits as `f32`.
struct Long24;

impl Semantics for Long24 {
    const BITS: usize = 40;
    const EXP_BITS: usize = 16;
}

/// As many as `f16`.
struct Long11;

impl Semantics for Long11 {
    const BITS: usize = 27;
    const EXP_BITS: usize = 16;
}

fn to<A: FloatConvert<B>, B: Float>(a: A) -> B {
    a.convert_r(Round::NearestTiesToEven, &mut false).value
}

/// An operation's result in a format, flushed: zero where the same operation is below the smallest normal number in the longer one.
fn flushed<S, L>(sources: &[S], round: Round, f: impl Fn(&[S], Round) -> S, g: impl Fn(&[L], Round) -> L) -> u64
where
    S: Float + FloatConvert<L>,
    L: Float,
{
    let zero = |a: S| if a.is_denormal() { S::ZERO.copy_sign(a) } else { a };
    let sources: Vec<S> = sources.iter().map(|a| zero(*a)).collect();
    let result = f(&sources, round);
    let long: Vec<L> = sources.iter().map(|a| to(*a)).collect();
    let tiny = g(&long, round).abs() < to(S::smallest_normalized());
    let result = if tiny { S::ZERO.copy_sign(result) } else { result };
    result.to_bits() as u64
}

/// Numbers whose products, quotients by small powers of two and sums are near a format's smallest normal one, with significands
/// that are nearly full, nearly empty, or of any bits.
fn near(samples: &mut Samples, exponent: u32, fraction: u32) -> [u64; 3] {
    let bias = (1 << (exponent - 1)) - 1;
    let split = samples.next() % (bias - 1);
    let part = |samples: &mut Samples, field: u64| {
        let (ones, any) = ((1u64 << fraction) - 1, samples.next());
        let bits = [0, ones, 1 << ((any >> 32) % u64::from(fraction)), ones & !(any & 7), any & 7, any & ones]
            [samples.next() as usize % 6];
        field << fraction | bits | (samples.next() & 1) << (exponent + fraction)
    };
    // Fields of factors of the smallest number, and of ones beside them.
    let (a, b) = (bias - split + samples.next() % 3 - 1, 1 + split + samples.next() % 3);
    let c = [0, 1, 1, 2, samples.next() % u64::from(fraction)][samples.next() as usize % 5];
    [part(samples, a), part(samples, b), part(samples, c)]
}

#[test]
fn results_are_flushed_as_if_exponents_had_no_lower_end() {
    type Long = IeeeFloat<Long24>;
    let mut samples = Samples(60);
    let (mut tiny, mut up) = (0, 0);
    for _ in 0..60_000 {
        let [a, b, c] = near(&mut samples, 8, 23).map(|x| x as u32);
        let [x, y, z] = [a, b, c].map(|x| Single::from_bits(x.into()));
        let one = Single::from_bits(0x3f80_0000);
        for (rounding, round) in ROUNDINGS {
            let mode = FMode::FTZ.rounded(rounding).0;
            let add =
                flushed::<_, Long>(&[x, z], round, |s, r| s[0].add_r(s[1], r).value, |s, r| s[0].add_r(s[1], r).value);
            let mul =
                flushed::<_, Long>(&[x, y], round, |s, r| s[0].mul_r(s[1], r).value, |s, r| s[0].mul_r(s[1], r).value);
            let fused = |s: &[Single], r| s[0].mul_add_r(s[1], s[2], r).value;
            let fma = flushed::<_, Long>(&[x, y, z], round, fused, |s, r| s[0].mul_add_r(s[1], s[2], r).value);
            let div =
                flushed::<_, Long>(&[z, x], round, |s, r| s[0].div_r(s[1], r).value, |s, r| s[0].div_r(s[1], r).value);
            let rcp = flushed::<_, Long>(
                &[one, y],
                round,
                |s, r| s[0].div_r(s[1], r).value,
                |s, r| s[0].div_r(s[1], r).value,
            );
            let show = format!("{a:#x} {b:#x} {c:#x} {rounding:?}");
            assert_eq!(u64::from(add_mode_f32(a, c, mode)), add, "add {show}");
            assert_eq!(u64::from(mul_mode_f32(a, b, mode)), mul, "mul {show}");
            assert_eq!(u64::from(fma_mode_f32(a, b, c, mode)), fma, "fma {show}");
            assert_eq!(u64::from(div_mode_f32(c, a, mode)), div, "div {show}");
            assert_eq!(u64::from(rcp_mode_f32(b, mode)), rcp, "rcp {show}");
            if round == Round::NearestTiesToEven {
                assert_eq!([add_ftz_f32(a, c), mul_ftz_f32(a, b)].map(u64::from), [add, mul], "{show}");
                assert_eq!([fma_ftz_f32(a, b, c), div_ftz_f32(c, a)].map(u64::from), [fma, div], "{show}");
                assert_eq!(u64::from(rcp_ftz_f32(b)), rcp, "{show}");
                assert_eq!(u64::from(div_approx_f32(c, a, FMode::FTZ.0)), div, "{show}");
                tiny += usize::from(mul << 33 == 0);
                up += usize::from(mul << 33 == 0 && mul_f32(a, b) << 1 == 0x0100_0000);
            }
        }
    }
    // There were enough that only the shorter significand rounds up.
    assert!(tiny > 3_000 && up > 300, "{tiny} {up}");
}

#[test]
fn halves_are_flushed_alike() {
    type Long = IeeeFloat<Long11>;
    let (mut samples, mut up) = (Samples(61), 0);
    let mode = FMode::FTZ.to(Num::F16).0;
    let near_even = Round::NearestTiesToEven;
    for _ in 0..100_000 {
        let [a, b, c] = near(&mut samples, 5, 10).map(|x| x as u32);
        let [x, y, z] = [a, b, c].map(|x| Half::from_bits(x.into()));
        let add =
            flushed::<_, Long>(&[x, z], near_even, |s, r| s[0].add_r(s[1], r).value, |s, r| s[0].add_r(s[1], r).value);
        let mul =
            flushed::<_, Long>(&[x, y], near_even, |s, r| s[0].mul_r(s[1], r).value, |s, r| s[0].mul_r(s[1], r).value);
        let fused = |s: &[Half], r| s[0].mul_add_r(s[1], s[2], r).value;
        let fma = flushed::<_, Long>(&[x, y, z], near_even, fused, |s, r| s[0].mul_add_r(s[1], s[2], r).value);
        assert_eq!(u64::from(add_half(a, c, mode)), add, "{a:#x} {c:#x}");
        assert_eq!(u64::from(mul_half(a, b, mode)), mul, "{a:#x} {b:#x}");
        assert_eq!(u64::from(fma_half(a, b, c, mode)), fma, "{a:#x} {b:#x} {c:#x}");
        up += usize::from(mul << 49 == 0 && mul_half(a, b, FMode::default().to(Num::F16).0) << 1 & 0xffff == 0x800);
    }
    assert!(up > 50, "{up}");
}

#[test]
fn doubles_are_flushed_where_they_narrow() {
    type Long = IeeeFloat<Long24>;
    let least = f64::from(f32::MIN_POSITIVE).to_bits();
    let mut samples = Samples(62);
    let inputs = (0..64).flat_map(|by| [least - (1 << by >> 6), least + (1 << by >> 6)]);
    for a in inputs.chain((0..20_000).map(|_| least - samples.next() % (1 << 31))).flat_map(|a| [a, a | 1 << 63]) {
        let value = Double::from_bits(a.into());
        for (rounding, round) in ROUNDINGS {
            let mut lossy = false;
            let result: StatusAnd<Single> = value.convert_r(round, &mut lossy);
            let long: StatusAnd<Long> = value.convert_r(round, &mut lossy);
            let tiny = long.value.abs() < to(Single::smallest_normalized());
            let expected = if tiny { (a >> 32) as u32 & 1 << 31 } else { result.value.to_bits() as u32 };
            let mode = FMode::FTZ.rounded(rounding).from(Num::F64).to(Num::F32);
            assert_eq!(cvt_qw(a, mode.0), expected, "{a:#x} {rounding:?}");
            if round == Round::NearestTiesToEven {
                assert_eq!(f32_of_f64_ftz(a), expected, "{a:#x}");
            }
        }
    }
}

#[test]
fn singles_are_not_flushed_on_their_way_to_halves() {
    let to = |a, rounding| cvt_ww(a, FMode::FTZ.rounded(rounding).from(Num::F32).to(Num::F16).0);
    use crate::alu::mode::Rounding::{Down, NearestEven, Up, Zero};
    assert_eq!((to(1, Up), to(1, Down), to(0x8000_0001, Up), to(0x8000_0001, Down)), (1, 0, 0x8000, 0x8001));
    assert_eq!((to(0x007f_ffff, NearestEven), to(0x807f_ffff, Zero)), (0, 0x8000));
}

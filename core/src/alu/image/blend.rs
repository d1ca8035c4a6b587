//! What a linear filter makes of numbers and their weights, as an H200 does it (D-texture-sum).

use super::Channel;

/// A number, and how many 256ths of it are taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<T> {
    pub weight: u32,
    pub number: T,
}

/// What texels of floating-point numbers are blended to.
struct Form {
    /// Bits of a significand.
    bits: i32,
    /// Bits of a texel that are kept behind those of the largest one.
    behind: i32,
    /// The exponent of the smallest number.
    least: i32,
}

/// Halves are blended to halves.
const HALF: Form = Form { bits: 11, behind: 4, least: -24 };
/// Singles, too. Those that are subnormal are zeros.
const SINGLE: Form = Form { bits: 24, behind: 4, least: i32::MIN / 2 };

/// The power of two: of exponents for which it is a normal number.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023).clamp(1, 2046) as u64) << 52)
}

/// The exponent of a number's first bit, one more than usual, so that the number is less than that power of two.
const fn size(number: f64) -> i32 {
    ((number.to_bits() >> 52 & 0x7ff) as i32) - 1022
}

/// A blend of floating-point numbers of a channel's type.
///
/// The texels of a slice are cut off behind the bits of its largest one, the sums of slices are cut off, downwards, one bit behind
/// those of the larger one, and the sum of these is rounded to nearest, ties away from 0. Where one is infinite or no number, so is the blend, even if it
/// weighs nothing.
pub(super) fn floats(channel: Channel, parts: impl Iterator<Item = Part<f32>> + Clone) -> f64 {
    let form = if channel == Channel::F16 { HALF } else { SINGLE };
    if parts.clone().any(|part| !part.number.is_finite()) {
        // Infinities of both signs are no number.
        return parts.filter(|part| !part.number.is_finite()).fold(-0.0, |sum, part| sum + f64::from(part.number));
    }
    let flushed = |number: f32| if number.is_subnormal() { 0f32.copysign(number) } else { number };
    let parts = parts.map(|Part { weight, number }| Part { weight, number: flushed(number) });
    let mut slices = [(0i64, i32::MIN); 2];
    for (number, slice) in slices.iter_mut().enumerate() {
        *slice = sum(&form, parts.clone().skip(4 * number).take(4));
    }
    let unit = slices[0].1.max(slices[1].1);
    if unit == i32::MIN {
        // Nothing but zeros: a sign is that of all of them.
        let mut weighty = parts.filter(|part| part.weight > 0);
        return if weighty.all(|part| part.number.is_sign_negative()) { -0.0 } else { 0.0 };
    }
    let total: i64 = slices.iter().map(|(sum, own)| (sum << 1) >> unit.saturating_sub(*own).min(63)).sum();
    let blend = rounded(&form, total, unit - 1);
    if blend.abs() < f64::from(f32::MIN_POSITIVE) { 0f64.copysign(blend) } else { blend }
}

/// The sum of a slice, and the exponent of its unit; the least one where nothing but zeros is in it.
fn sum(form: &Form, parts: impl Iterator<Item = Part<f32>> + Clone) -> (i64, i32) {
    let parts = parts.filter(|part| part.weight > 0 && part.number != 0.0);
    let Some(largest) = parts.clone().map(|part| size(part.number.into())).max() else { return (0, i32::MIN) };
    let unit = largest - form.bits - form.behind;
    // Powers of two are exact, and conversions cut off towards 0.
    let cut = |number: f32| (f64::from(number) * power(-unit)) as i64;
    // 28 bits of each, and weights of 256 at most in all.
    (parts.map(|part| i64::from(part.weight) * cut(part.number)).sum(), unit - 8)
}

/// A sum of so many powers of two, rounded to a form.
fn rounded(form: &Form, sum: i64, unit: i32) -> f64 {
    let magnitude = sum.unsigned_abs();
    let bits = 64 - magnitude.leading_zeros() as i32;
    let drop = (bits - form.bits).max(form.least - unit).clamp(0, 63);
    let kept = (magnitude + (1 << drop >> 1)) >> drop;
    let value = kept as f64 * power(unit + drop);
    if sum < 0 { -value } else { value }
}

/// A blend of integers of a channel's type, as the fraction that it is: `sum` is that of weights times numbers.
///
/// Such channels are 16 bits wide in the filter, those of 8 bits stretched. Blends are rounded to 16 bits, ties up.
pub(super) fn fraction(channel: Channel, sum: i32) -> f64 {
    let whole = match channel {
        Channel::U8 => (257 * sum + 128) >> 8,
        Channel::S8 => sum + ((sum + (sum >> 12 << 4) + 64) >> 7),
        _ => (sum + 128) >> 8,
    };
    match channel {
        // The least number of two's complement counts as the one after it.
        Channel::S8 | Channel::S16 => f64::from(whole.max(-0x7fff)) / f64::from(0x7fff),
        _ => f64::from(whole) / f64::from(0xffff),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts<T: Copy>(all: &[(u32, T)]) -> impl Iterator<Item = Part<T>> + Clone {
        all.iter().map(|(weight, number)| Part { weight: *weight, number: *number })
    }

    /// The values are those of an H200.
    #[test]
    fn halves_are_cut_off_behind_the_largest() {
        let blend = |all: &[(u32, f32)]| floats(Channel::F16, parts(all)) as f32;
        assert_eq!(blend(&[(255, 0.000_927_448_3), (1, -1.856_445_3)]), -0.006_340_027);
        assert_eq!(blend(&[(255, -0.000_235_795_97), (1, -0.428_955_08)]), -0.001_903_533_9);
        // What weighs nothing is not the largest.
        assert_eq!(blend(&[(0, 1.0), (256, 0.000_927_448_3)]), 0.000_927_448_3);
    }

    /// Four texels of each of two slices.
    #[test]
    fn slices_are_cut_off_each_by_itself() {
        let slice = [(3, 1.686_523_4), (3, 0.003_465_652_5), (65, 0.007_686_615), (56, -0.196_899_41)];
        let other = [(3, 0.271_972_66), (3, -0.002_372_741_7), (67, 0.000_608_444_2), (56, -0.844_238_3)];
        assert_eq!(floats(Channel::F16, parts(&[slice, other].concat())) as f32, -0.202_636_72);
        let slice = [(35, -0.000_365_734_1), (5, 0.326_416_02), (15, 0.000_274_181_37), (2, -0.870_117_2)];
        let other = [(124, 1.025_199_9e-5), (17, -0.001_385_688_8), (51, -3.421_306_6e-5), (7, -0.014_984_131)];
        assert_eq!(floats(Channel::F16, parts(&[slice, other].concat())) as f32, -0.000_957_965_85);
    }

    #[test]
    fn zeros_have_a_sign_if_all_have_it() {
        let blend = |all: &[(u32, f32)]| floats(Channel::F32, parts(all)).to_bits();
        assert_eq!(blend(&[(0, 1.0), (100, -0.0), (156, -0.0)]), (-0.0f64).to_bits());
        assert_eq!(blend(&[(100, -0.0), (156, 0.0)]), 0);
        assert_eq!(blend(&[(128, -1.0), (128, 1.0)]), 0);
    }

    #[test]
    fn ties_of_singles_go_away_from_0() {
        let blend = |all: &[(u32, f32)]| floats(Channel::F32, parts(all)) as f32;
        let next = f32::from_bits(1f32.to_bits() + 1);
        assert_eq!([blend(&[(128, 1.0), (128, next)]), blend(&[(128, -1.0), (128, -next)])], [next, -next]);
        assert_eq!(blend(&[(129, 1.0), (127, next)]), 1.0);
        assert_eq!(blend(&[(128, f32::MAX), (128, f32::MAX)]), f32::MAX);
        assert_eq!(blend(&[(1, f32::INFINITY), (255, 1.0)]), f32::INFINITY);
        assert!(blend(&[(1, f32::NAN), (255, 1.0)]).is_nan());
        assert!(blend(&[(1, f32::NAN), (255, 1.0)]).is_nan());
    }

    /// The values are those of an H200.
    #[test]
    fn singles_are_cut_off_behind_the_largest() {
        let blend = |all: &[(u32, u32)]| {
            let numbers = parts(all).map(|Part { weight, number }| Part { weight, number: f32::from_bits(number) });
            (floats(Channel::F32, numbers) as f32).to_bits()
        };
        assert_eq!(blend(&[(11, 0x4000_0000), (245, 0x3a7f_ffff)]), 0x3db1_e9fe);
        assert_eq!(blend(&[(143, 0x36ff_ffff), (89, 0x4000_0000), (15, 0xb59e_1b08), (9, 0xc100_2362)]), 0x3ed3_d8bd);
        // What weighs nothing is not the largest, but it can be infinite or no number.
        assert_eq!(blend(&[(223, 0x5500_0001), (32, 0xbb7f_ffff), (1, 0xb897_d320), (0, 0xdc98_d411)]), 0x54df_0002);
        assert_eq!(blend(&[(9, 0x412c_ed53), (0, 0x7f80_0000), (246, 0xbf12_ca31), (1, 0xbf55_6617)]), 0x7f80_0000);
        assert!(f32::from_bits(blend(&[(1, 0x02bf_b314), (0, 0x7fc6_751a)])).is_nan());
        // Subnormal numbers are zeros.
        assert_eq!([0x8052_5138, 0x007f_ffff].map(|number| blend(&[(256, number)])), [1 << 31, 0]);
    }

    #[test]
    fn integers_are_16_bits_in_the_filter() {
        let whole = |channel, sum| {
            (fraction(channel, sum) * if channel == Channel::U8 { 65535.0 } else { 32767.0 }).round() as i32
        };
        assert_eq!([0, 1, 255].map(|n| whole(Channel::U8, 256 * n)), [0, 257, 65535]);
        // The half of 182 and 183.
        assert_eq!(whole(Channel::U8, 128 * 365), 46903);
        assert_eq!(
            [-128, -65, -64, 63, 64, 127].map(|n| whole(Channel::S8, 256 * n)),
            [-32767, -16771, -16512, 16254, 16513, 32767]
        );
        assert_eq!([-6180, 11160, 12062, 30536].map(|sum| whole(Channel::S8, sum)), [-6229, 11247, 12156, 30775]);
        assert_eq!([-32768 * 256, -128, 127, 128].map(|sum| whole(Channel::S16, sum)), [-32767, 0, 0, 1]);
        assert_eq!(fraction(Channel::U16, 256 * 65535), 1.0);
    }
}

//! What an element of the result is, from the studies that D-mma-rounding names: in numbers of 64 bits, which hold all products
//! and all sums of a block exactly, and in whole numbers where a sum is rounded once.

use chacha20::ChaCha8Rng;
use half::{bf16, f16};
use rand::RngExt;

/// Types of elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    F16,
    Bf16,
    Tf32,
    E4m3,
    E5m2,
    F32,
    F64,
    S8,
    U8,
    S4,
    U4,
    B1,
    S32,
}

/// How sums are rounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Adds {
    /// Products at a time, bits of fraction, bits that are kept of a result of 32 bits.
    Blocks { products: usize, fraction: u32, kept: u32 },
    /// Of every four products the first two, then the others, each half a product of `f16` from zero on an H200; the accumulator last.
    Halves,
    /// A chain of fused operations on `f32` from zero, and the accumulator last; for `f16` by two products at a time.
    Chain,
    /// The exact sum; of `f64` a chain; of bits those that are set in both.
    Once,
    /// Bits that differ.
    Differing,
}

impl Kind {
    pub const fn bits(self) -> usize {
        match self {
            Self::F64 => 64,
            Self::Tf32 | Self::F32 | Self::S32 => 32,
            Self::F16 | Self::Bf16 => 16,
            Self::E4m3 | Self::E5m2 | Self::S8 | Self::U8 => 8,
            Self::S4 | Self::U4 => 4,
            Self::B1 => 1,
        }
    }

    const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::Tf32 | Self::E4m3 | Self::E5m2 | Self::F32 | Self::F64)
    }

    /// Bits of exponent and of fraction.
    const fn format(self) -> (u32, u32) {
        match self {
            Self::F16 => (5, 10),
            Self::Bf16 => (8, 7),
            Self::Tf32 => (8, 10),
            Self::E4m3 => (4, 3),
            Self::E5m2 => (5, 2),
            Self::F64 => (11, 52),
            _ => (8, 23),
        }
    }

    /// A bit pattern. Styles: near one; anything; anything with special values; few bits, so that sums cancel; very small.
    pub fn random(self, random: &mut ChaCha8Rng, style: usize, sum: bool) -> u64 {
        let all: u64 = random.random();
        let bits = all & (u64::MAX >> (64 - self.bits()));
        if self == Self::S32 {
            // Near the ends, so that sums leave them.
            return if style == 0 { bits } else { (0x7fff_ff00 ^ (bits & 0x8000_01ff)) & 0xffff_ffff };
        }
        if !self.is_float() {
            return bits;
        }
        let (exponents, fraction) = self.format();
        let shift = if self == Self::Tf32 { 13 } else { 0 };
        let top = (1 << exponents) - 1;
        let middle = top / 2;
        let pick = random.random_range(0..8u64);
        let exponent = match style {
            0 => middle - 2 + pick % 4,
            3 => middle + pick % 2,
            4 => pick % 2 + if sum { 0 } else { middle / 2 },
            _ => random.random_range(0..top),
        };
        let mantissa = match style {
            3 => (bits & 1) << (fraction - 1),
            _ => bits & ((1 << fraction) - 1),
        };
        let sign = all >> 63 << (exponents + fraction);
        let low = if self == Self::Tf32 { bits & 0x1fff } else { 0 };
        let special = match pick {
            // Infinity (or what stands in its place), NaN, zeros.
            0 if style == 2 && random.random_range(0..12) == 0 => Some(top << fraction),
            1 if style == 2 && random.random_range(0..20) == 0 => Some((top << fraction) | ((1 << fraction) - 1)),
            2 => Some(0),
            _ => None,
        };
        (special.unwrap_or(exponent << fraction | mantissa) | sign) << shift | low
    }

    /// The value; that of `tf32` without its low bits.
    fn value(self, bits: u64) -> f64 {
        match self {
            Self::F16 => f16::from_bits(bits as u16).to_f64(),
            Self::Bf16 => bf16::from_bits(bits as u16).to_f64(),
            Self::Tf32 => f64::from(f32::from_bits(bits as u32 & !0x1fff)),
            Self::F32 => f64::from(f32::from_bits(bits as u32)),
            Self::F64 => f64::from_bits(bits),
            // Half of a half.
            Self::E5m2 => f16::from_bits((bits as u16) << 8).to_f64(),
            Self::E4m3 => {
                let size = match (bits >> 3 & 15, (bits & 7) as f64) {
                    (15, 7.0) => f64::NAN,
                    (0, m) => m * 2f64.powi(-9),
                    (e, m) => (1.0 + m / 8.0) * 2f64.powi(e as i32 - 7),
                };
                if bits >> 7 == 1 { -size } else { size }
            }
            Self::S8 => f64::from(bits as u8 as i8),
            Self::S4 => f64::from(((bits as u8) << 4) as i8 >> 4),
            Self::S32 => f64::from(bits as u32 as i32),
            _ => bits as f64,
        }
    }

    /// The exponent of a value that is not zero; subnormal ones have the least.
    fn exponent(self, value: f64) -> i32 {
        let least = 2 - (1 << (self.format().0 - 1));
        ((value.abs().to_bits() >> 52) as i32 - 1023).max(least)
    }
}

/// An element of the result.
pub fn element(kinds: [Kind; 4], adds: Adds, saturates: bool, a: &[u64], b: &[u64], c: u64) -> u64 {
    match (kinds[3], adds) {
        (Kind::S32, _) => whole(kinds, adds, saturates, a, b, c),
        (Kind::F64, _) => {
            let chain = |sum: f64, (a, b): (&u64, &u64)| f64::from_bits(*a).mul_add(f64::from_bits(*b), sum);
            let sum = a.iter().zip(b).fold(f64::from_bits(c), chain);
            // Which NaN comes out is another decision's (D-nan64).
            if sum.is_nan() { u64::MAX } else { sum.to_bits() }
        }
        (_, Adds::Blocks { products, fraction, kept }) => {
            let (mut sum, mut kind) = (c, kinds[2]);
            for (a, b) in a.chunks(products).zip(b.chunks(products)) {
                sum = block(kinds, (fraction, kept), a, b, (kind, sum));
                kind = kinds[3];
            }
            sum
        }
        (_, Adds::Halves) => {
            let half = |of: Kind, all: &[u64], first: usize| -> Vec<u64> {
                let mine = all.iter().enumerate().filter(|(x, _)| x % 4 / 2 == first);
                mine.map(|(_, bits)| f16::from_f64(of.value(*bits)).to_bits().into()).collect()
            };
            let kinds_of = [Kind::F16, Kind::F16, kinds[3], kinds[3]];
            let blocks = Adds::Blocks { products: 16, fraction: 25, kept: 23 };
            let sum = (0..2).fold(0, |sum, first| {
                element(kinds_of, blocks, false, &half(kinds[0], a, first), &half(kinds[1], b, first), sum)
            });
            added(kinds[3], kinds[3].value(sum) as f32 + kinds[2].value(c) as f32)
        }
        (_, Adds::Chain) => {
            let value = |bits: &u64| kinds[0].value(*bits) as f32;
            let chain = |a: &[u64], b: &[u64]| a.iter().zip(b).fold(0.0, |sum, (a, b)| value(a).mul_add(value(b), sum));
            let c = kinds[2].value(c) as f32;
            let sum = match kinds[3] {
                Kind::F32 => chain(a, b) + c,
                _ => c + chain(&a[..2], &b[..2]) + chain(&a[2..], &b[2..]),
            };
            added(kinds[3], sum)
        }
        _ => once(kinds, a, b, c),
    }
}

/// A sum of `f32` as an element.
fn added(kind: Kind, sum: f32) -> u64 {
    match kind {
        _ if sum.is_nan() => {
            if kind == Kind::F16 {
                0x7fff
            } else {
                0x7fff_ffff
            }
        }
        Kind::F16 => f16::from_f32(sum).to_bits().into(),
        _ => sum.to_bits().into(),
    }
}

fn whole(kinds: [Kind; 4], adds: Adds, saturates: bool, a: &[u64], b: &[u64], c: u64) -> u64 {
    let pairs = a.iter().zip(b);
    let dot: i64 = match (kinds[0], adds) {
        (Kind::B1, Adds::Differing) => pairs.filter(|(a, b)| a != b).count() as i64,
        (Kind::B1, _) => pairs.filter(|(a, b)| **a == 1 && **b == 1).count() as i64,
        _ => pairs.map(|(a, b)| (kinds[0].value(*a) * kinds[1].value(*b)) as i64).sum(),
    };
    let sum = dot + i64::from(c as u32 as i32);
    let sum = if saturates { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum };
    u64::from(sum as u32)
}

/// NaN and infinity, if that is what a sum is.
fn special(to: Kind, values: &[f64]) -> Option<u64> {
    let sum: f64 = values.iter().filter(|v| !v.is_finite()).sum();
    let (nan, infinity) = if to == Kind::F16 { (0x7fff, 0x7c00) } else { (0x7fff_ffff, 0x7f80_0000) };
    let sign = if to == Kind::F16 { 0x8000 } else { 0x8000_0000 };
    match sum {
        s if s.is_nan() => Some(nan),
        s if s.is_infinite() => Some(infinity | if s < 0.0 { sign } else { 0 }),
        _ => None,
    }
}

fn block(kinds: [Kind; 4], (fraction, kept): (u32, u32), a: &[u64], b: &[u64], (kind, c): (Kind, u64)) -> u64 {
    let mut addends = Vec::new();
    let accumulator = kind.value(c);
    // An accumulator that is zero has the least exponent of 32 bits.
    addends.push((accumulator, if accumulator == 0.0 { -126 } else { kind.exponent(accumulator) }));
    for (a, b) in a.iter().zip(b) {
        let (x, y) = (kinds[0].value(*a), kinds[1].value(*b));
        let exponent = if x * y == 0.0 { -126 } else { kinds[0].exponent(x) + kinds[1].exponent(y) };
        addends.push((x * y, exponent));
    }
    let values: Vec<f64> = addends.iter().map(|(value, _)| *value).collect();
    if let Some(special) = special(kinds[3], &values) {
        return special;
    }
    let largest = addends.iter().map(|(_, exponent)| *exponent).max().unwrap();
    let unit = 2f64.powi(largest - fraction as i32);
    // Dividing by a power of two and summing whole numbers are exact.
    let sum = values.iter().map(|value| (value / unit).trunc()).sum::<f64>() * unit;
    if sum == 0.0 {
        return 0;
    }
    match kinds[3] {
        Kind::F16 => nearest_half(sum),
        _ => u64::from(toward_zero(sum, kept)),
    }
}

/// To nearest even; conversions by way of 32 bits round twice.
fn nearest_half(sum: f64) -> u64 {
    let last = 2f64.powi(Kind::F16.exponent(sum) - 10);
    f16::from_f64((sum / last).round_ties_even() * last).to_bits().into()
}

fn toward_zero(sum: f64, kept: u32) -> u32 {
    if sum.abs() >= 2f64.powi(128) {
        return if sum < 0.0 { 0xff80_0000 } else { 0x7f80_0000 };
    }
    let nearest = sum as f32;
    let down = if f64::from(nearest.abs()) > sum.abs() { nearest.to_bits() - 1 } else { nearest.to_bits() };
    down >> (23 - kept) << (23 - kept)
}

/// The exact sum of products of halves, rounded once.
fn once(kinds: [Kind; 4], a: &[u64], b: &[u64], c: u64) -> u64 {
    let value = |k: usize, bits: u64| kinds[k].value(bits);
    let mut values: Vec<f64> = a.iter().zip(b).map(|(a, b)| value(0, *a) * value(1, *b)).collect();
    values.push(value(2, c));
    if let Some(special) = special(kinds[3], &values) {
        return special;
    }
    let exact = sum(&values);
    match kinds[3] {
        _ if exact == 0.0 => 0,
        Kind::F16 => nearest_half(exact),
        _ => u64::from((exact as f32).to_bits()),
    }
}

/// The exact sum, rounded to odd, so that it can be rounded to 24 bits or fewer (Boldo and Melquiond, 2008). Expansions
/// of Shewchuk, 1997: a list of numbers whose exact sum never changes.
fn sum(values: &[f64]) -> f64 {
    let mut parts: Vec<f64> = Vec::new();
    for value in values {
        let mut carried = *value;
        let mut next = Vec::new();
        for part in parts {
            let (high, low) = two_sum(carried, part);
            if low != 0.0 {
                next.push(low);
            }
            carried = high;
        }
        next.push(carried);
        parts = next;
    }
    let Some(mut high) = parts.pop() else { return 0.0 };
    // The rest has the sign of its largest part, and is below half a unit of the first.
    while let Some(rest) = parts.pop() {
        let (sum, low) = two_sum(high, rest);
        high = sum;
        let below = if low == 0.0 { parts.iter().rev().find(|p| **p != 0.0).copied().unwrap_or(0.0) } else { low };
        if low != 0.0 || high.to_bits() & 1 == 0 && parts.is_empty() && below != 0.0 {
            let odd = high.to_bits() & 1 == 1;
            return match odd {
                true => high,
                false if (below > 0.0) == (high > 0.0) => f64::from_bits(high.to_bits() + 1),
                false => f64::from_bits(high.to_bits() - 1),
            };
        }
    }
    high
}

fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let back = sum - a;
    (sum, (a - (sum - back)) + (b - back))
}

//! Products of matrices of floating-point numbers.

use super::exact::Exact;
use super::number::{Accumulator, Finite, Number, POINT, SUM_POINT};
use super::{Blocks, Floats};

/// A dot product and an accumulator, block by block.
pub(super) fn by_blocks(types: Floats, blocks: Blocks, a: &[u32], b: &[u32], c: u32) -> u32 {
    let size = blocks.products.max(1);
    let (mut sum, mut ty) = (c, types.c);
    for (a, b) in a.chunks(size).zip(b.chunks(size)) {
        let mut found = Found::default();
        products(types, a, b, |addend| found.see(&addend));
        let accumulator = ty.number(sum);
        found.see(&Addend(accumulator, SUM_POINT));
        sum = match found.special(types.d) {
            Some(special) => special,
            None => block(types, blocks, (a, b), accumulator),
        };
        ty = types.d;
    }
    // A product of no elements: the accumulator alone.
    sum
}

/// A number with so many bits below the binary point.
struct Addend(Number, u32);

/// The products of the elements of two vectors.
fn products(types: Floats, a: &[u32], b: &[u32], mut see: impl FnMut(Addend)) {
    for (a, b) in a.iter().zip(b) {
        see(Addend(product(types.a.number(*a), types.b.number(*b)), 2 * POINT));
    }
}

/// A product, exact.
const fn product(a: Number, b: Number) -> Number {
    match (a, b) {
        (Number::Finite(a), Number::Finite(b)) => Number::Finite(Finite {
            negative: a.negative != b.negative,
            significand: a.significand * b.significand,
            exponent: a.exponent + b.exponent,
        }),
        (Number::Infinite(sign), Number::Infinite(other)) => Number::Infinite(sign != other),
        (Number::Infinite(sign), Number::Finite(f)) | (Number::Finite(f), Number::Infinite(sign))
            if f.significand != 0 =>
        {
            Number::Infinite(sign != f.negative)
        }
        _ => Number::Nan,
    }
}

/// What is not finite among addends.
#[derive(Default)]
struct Found {
    nan: bool,
    infinite: [bool; 2],
}

impl Found {
    const fn see(&mut self, addend: &Addend) {
        match addend.0 {
            Number::Nan => self.nan = true,
            Number::Infinite(negative) => self.infinite[negative as usize] = true,
            Number::Finite(_) => {}
        }
    }

    /// The sum, if it is not a number.
    const fn special(&self, ty: Accumulator) -> Option<u32> {
        match (self.nan, self.infinite) {
            (true, _) | (_, [true, true]) => Some(ty.nan()),
            (_, [false, false]) => None,
            (_, [_, negative]) => Some(ty.infinity(negative)),
        }
    }
}

/// The sum of a block of finite addends. Each is cut off at a fixed number of bits below the largest exponent, which is that of
/// a product before it is normalised; the least that there is is the accumulator's.
fn block(types: Floats, blocks: Blocks, (a, b): (&[u32], &[u32]), accumulator: Number) -> u32 {
    let Number::Finite(accumulator) = accumulator else { return types.d.nan() };
    let mut largest = if accumulator.significand == 0 { -126 } else { accumulator.exponent };
    products(types, a, b, |addend| {
        if let Number::Finite(f) = addend.0
            && f.significand != 0
        {
            largest = largest.max(f.exponent);
        }
    });
    let cut = |f: Finite, point: u32| {
        let below = (largest - f.exponent).cast_unsigned().min(64);
        // The point is moved far to the left first, so that all shifts are to the right.
        let wide = u64::from(f.significand) << (32 - point);
        let size = wide.checked_shr((32 - blocks.fraction.min(32)).saturating_add(below)).unwrap_or(0).cast_signed();
        if f.negative { -size } else { size }
    };
    let mut sum = cut(accumulator, SUM_POINT);
    products(types, a, b, |Addend(number, point)| {
        if let Number::Finite(f) = number {
            sum += if f.significand == 0 { 0 } else { cut(f, point) };
        }
    });
    let (negative, magnitude, unit) = (sum < 0, sum.unsigned_abs(), largest - blocks.fraction.cast_signed());
    match types.d {
        Accumulator::F16 => types.d.nearest(negative, magnitude, unit, false),
        Accumulator::F32 => types.d.toward_zero(negative, magnitude, unit, blocks.kept),
    }
}

/// The same, rounded once to nearest even.
pub(super) fn once(types: Floats, a: &[u32], b: &[u32], c: u32) -> u32 {
    let (mut found, mut sum) = (Found::default(), Exact::default());
    let mut add = |addend: Addend| {
        found.see(&addend);
        if let Addend(Number::Finite(f), point) = addend {
            sum.add(f.negative, f.significand, f.exponent - point.cast_signed());
        }
    };
    products(types, a, b, &mut add);
    add(Addend(types.c.number(c), SUM_POINT));
    found.special(types.d).unwrap_or_else(|| {
        let (negative, magnitude, unit, more) = sum.leading();
        types.d.nearest(negative, magnitude, unit, more)
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Element, Rounding, Size, floats};
    use super::*;
    use chacha20::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    const HALVES: Floats = Floats { a: Element::F16, b: Element::F16, c: Accumulator::F32, d: Accumulator::F32 };
    const ONE: u32 = 0x3c00;

    fn dot(rounding: Rounding, a: &[u32], b: &[u32], c: f32) -> f32 {
        let mut sum = [c.to_bits()];
        floats(Size { m: 1, n: 1, k: a.len() }, HALVES, rounding, a, b, &mut sum);
        f32::from_bits(sum[0])
    }

    fn on(sm: u32, a: &[u32], b: &[u32], c: f32) -> f32 {
        dot(Rounding::Blocks(Blocks::of_target(sm, Element::F16)), a, b, c)
    }

    /// Fasi and others, 2021, 3: small products beside a one are lost one by one, and how many bits are kept tells the targets apart.
    #[test]
    fn what_is_cut_off_tells_the_targets_apart() {
        let small = |exponent: u32| ((15 - exponent) << 10, [ONE; 4]);
        let dots = |sm, exponent| {
            let (value, ones) = small(exponent);
            // The product of two small ones.
            let a = [value; 4];
            let b = if exponent == 12 { [value; 4] } else { ones };
            on(sm, &a, &b, 1.0)
        };
        // Four times 2^-24: below the last bit of sm_70, in the extra bit of sm_80.
        assert_eq!(dots(70, 12), 1.0);
        assert_eq!(dots(80, 12), 1.0 + 2f32.powi(-22));
        assert_eq!(dots(90, 12), 1.0 + 2f32.powi(-22));
        // A sum between two numbers goes toward zero, whatever its sign.
        let (half, one) = ([0x0c00], [0x0c00]);
        assert_eq!(on(80, &half, &one, 1.0), 1.0);
        assert_eq!(on(80, &[0x8c00], &one, -1.0), -1.0);
        assert_eq!(dot(Rounding::Once, &[0x0c00, 0x0c00], &[0x0c00, 0x0c00], 1.0), 1.0 + 2f32.powi(-23));
    }

    #[test]
    fn blocks_are_added_one_after_the_other() {
        // Large ones cancel within a block, with a small one beside them cut off; in the next block it is whole.
        let large = 0x7800;
        let (a, b) = ([large, large, 0x0001, 0], [large, 0xf800, ONE, 0]);
        assert_eq!(on(70, &a, &b, 0.0), 0.0);
        let (a, b) = ([large, large, 0, 0, 0x0001], [large, 0xf800, 0, 0, ONE]);
        assert_eq!(on(70, &a, &b, 0.0), 2f32.powi(-24));
        assert_eq!(on(80, &a, &b, 0.0), 0.0);
    }

    #[test]
    fn what_is_no_number_is_told() {
        let infinite = 0x7c00;
        for rounding in [Rounding::Once, Rounding::Blocks(Blocks::of_target(80, Element::F16))] {
            assert_eq!(dot(rounding, &[infinite], &[ONE], 1.0), f32::INFINITY);
            assert_eq!(dot(rounding, &[infinite], &[ONE], f32::NEG_INFINITY).to_bits(), 0x7fff_ffff);
            assert_eq!(dot(rounding, &[infinite], &[0], 1.0).to_bits(), 0x7fff_ffff);
            assert_eq!(dot(rounding, &[0x8000], &[ONE], -0.0).to_bits(), 0);
        }
    }

    /// Whole numbers of 2^-48 stand for products of halves, which the host rounds.
    #[test]
    fn a_sum_rounded_once_is_the_one_of_whole_numbers() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..20_000 {
            let k = random.random_range(0..20);
            let mut half = || {
                let bits: u32 = random.random_range(0..0x7c00);
                bits | u32::from(random.random::<bool>()) << 15
            };
            let (a, b): (Vec<u32>, Vec<u32>) = (0..k).map(|_| (half(), half())).unzip();
            let c = half::f16::from_bits(half() as u16).to_f32();
            let whole = |bits: u32| (half::f16::from_bits(bits as u16).to_f64() * 2f64.powi(24)) as i128;
            let sum = a.iter().zip(&b).map(|(a, b)| whole(*a) * whole(*b)).sum::<i128>();
            let sum = sum + ((f64::from(c) * 2f64.powi(24)) as i128) * (1 << 24);
            assert_eq!(dot(Rounding::Once, &a, &b, c), sum as f32 * 2f32.powi(-48), "{a:x?} {b:x?} {c}");
        }
    }
}

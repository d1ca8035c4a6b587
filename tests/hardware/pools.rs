//! Operands: words of 64 bits, by kind of type and place of the operand.

use chacha20::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// What sort of numbers an operand is taken from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Sort {
    Int,
    F16,
    Bf16,
    F32,
    F64,
}

impl Sort {
    /// The sort of a type's operands.
    pub fn of(ty: &str) -> Self {
        match ty {
            "f16" | "f16x2" => Self::F16,
            "bf16" | "bf16x2" => Self::Bf16,
            "f32" => Self::F32,
            "f64" => Self::F64,
            _ => Self::Int,
        }
    }
}

/// A format of floating-point numbers: bits of its exponent and of its fraction.
type Format = (u32, u32);

const SPECIAL: [u64; 24] = [
    0,
    1,
    2,
    3,
    7,
    8,
    15,
    16,
    31,
    32,
    33,
    63,
    64,
    65,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
];

fn integer(random: &mut ChaCha8Rng) -> u64 {
    match random.random_range(0..8) {
        0 | 1 => SPECIAL[random.random_range(0..SPECIAL.len())],
        2 => !SPECIAL[random.random_range(0..SPECIAL.len())],
        3 => (1 << random.random_range(0..64)) - u64::from(random.random::<bool>()),
        4 => random.random::<u64>() >> random.random_range(0..64),
        5 => random.random_range(0..40),
        _ => random.random(),
    }
}

/// Zeros, infinities, NaNs of both kinds, the smallest and largest numbers, small integers and halves, any bits, and numbers near one.
fn float(random: &mut ChaCha8Rng, (exponent, fraction): Format) -> u64 {
    let one = ((1 << (exponent - 1)) - 1) << fraction;
    let infinity = ((1 << exponent) - 1) << fraction;
    let low = (1 << fraction) - 1;
    let sign = u64::from(random.random::<bool>()) << (exponent + fraction);
    let magnitude = match random.random_range(0..20) {
        0 => 0,
        1 => infinity,
        2 => infinity | 1 << (fraction - 1) | random.random::<u64>() & low,
        3 => infinity | (random.random::<u64>() & low >> 1).max(1),
        4 => [1, low, low + 1, infinity - 1, one, one + 1, one - 1, low + 2][random.random_range(0..8)],
        5 => random.random::<u64>() & low,
        6 => small(random.random_range(0..40), one, fraction, random.random::<bool>()),
        7..=9 => random.random::<u64>() & (infinity | low),
        // One of few exponents, and few bits set, so that sums cancel and products are halfway.
        10..=12 => {
            let near = one.wrapping_add_signed((random.random_range(-4i64..5)) << fraction);
            near & infinity | random.random::<u64>() & low & random.random::<u64>() & random.random::<u64>()
        }
        _ => {
            let distance = 1i64 << random.random_range(1..exponent - 1);
            let shifted = (one >> fraction).wrapping_add_signed(random.random_range(-distance..distance));
            shifted << fraction & infinity | random.random::<u64>() & low
        }
    };
    sign | magnitude
}

/// A small integer, or half of one.
fn small(value: u64, one: u64, fraction: u32, half: bool) -> u64 {
    if value == 0 {
        return 0;
    }
    let log = u64::from(value.ilog2());
    let rest = (value << fraction >> log) & ((1 << fraction) - 1);
    one + (log << fraction) + rest - (u64::from(half) << fraction)
}

/// A number whose product with one of the place beside it, or which itself, is near the smallest numbers of a format.
fn edge(random: &mut ChaCha8Rng, (exponent, fraction): Format, place: usize) -> u64 {
    let bias = (1i64 << (exponent - 1)) - 1;
    let half = (1 - bias) / 2;
    let smallest = [-14, -24, -25, -126, -127, -133, -134, -149, -150, 1 - bias, 1 - bias - i64::from(fraction)];
    let near = match place {
        0 | 1 if random.random_range(0..3) > 0 => half,
        0 | 3 => smallest[random.random_range(0..smallest.len())],
        1 => random.random_range(-2..3),
        _ => 1 - bias - random.random_range(0..i64::from(fraction) + 3),
    };
    let power = (near + random.random_range(-1..2)).clamp(1 - bias, bias);
    let low = (1u64 << fraction) - 1;
    // Also as long as the fraction of a narrower format.
    let narrow = [9, 10, 11, 12, 22, 23, 24, 25].map(|bits| fraction.saturating_sub(bits));
    let at = if random.random() { random.random_range(0..fraction) } else { narrow[random.random_range(0..8)] };
    let bit = 1u64 << at;
    let rest = match random.random_range(0..8) {
        0 => 0,
        1 => low,
        2 => bit,
        3 => low ^ (bit - 1),
        4 => low - random.random_range(0..4),
        5 => random.random_range(0..4),
        _ => random.random::<u64>() & low,
    };
    let sign = u64::from(random.random::<bool>()) << (exponent + fraction);
    let subnormal = place != 1 && random.random_range(0..6) == 0;
    let biased = if subnormal { 0 } else { (power + bias) as u64 };
    sign | biased << fraction | rest
}

/// Which operands: of all kinds, or near the smallest numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Any,
    Edge,
}

/// `count` words for the operand at `place`. The first ones are the same whatever the count.
pub fn words(sort: Sort, style: Style, place: usize, count: usize) -> Vec<u64> {
    let mut random = ChaCha8Rng::seed_from_u64(1000 * style as u64 + 100 * place as u64 + sort as u64);
    let float = |random: &mut ChaCha8Rng, format| match style {
        Style::Any => float(random, format),
        Style::Edge => edge(random, format, place),
    };
    let one = |random: &mut ChaCha8Rng| match sort {
        Sort::Int => integer(random),
        Sort::F16 => (0..4).fold(0, |all, _| all << 16 | float(random, (5, 10))),
        Sort::Bf16 => (0..4).fold(0, |all, _| all << 16 | float(random, (8, 7))),
        Sort::F32 => (0..2).fold(0, |all, _| all << 32 | float(random, (8, 23))),
        Sort::F64 => float(random, (11, 52)),
    };
    (0..count).map(|_| one(&mut random)).collect()
}

//! What textures hold, and where they are fetched.

use chacha20::ChaCha8Rng;
use rand::RngExt;

/// A coordinate, in texels: anywhere, near the middles and the edges of texels, at steps of the weights, far away, no number.
pub fn coordinate(random: &mut ChaCha8Rng, size: f32) -> f32 {
    let texel = random.random_range(-2..size as i32 + 3) as f32;
    match random.random_range(0..16) {
        0 => texel,
        1 => texel + 0.5,
        2 => texel + 0.5 + [1.0, -1.0, 0.5, -0.5, 1.5, 0.499, 0.501][random.random_range(0..7)] / 256.0,
        3..=5 => texel + random.random_range(0..1025) as f32 / 1024.0,
        6 => f32::from_bits((texel + 0.5).to_bits().wrapping_add_signed(random.random_range(-3..4))),
        7 => f32::from_bits(texel.to_bits().wrapping_add_signed(random.random_range(-3..4))),
        8 => size * random.random_range(-20.0..20.0f32),
        9 => [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e30, -1e30, 1e-40, 3e9, -1e-20]
            [random.random_range(0..10)],
        _ => random.random_range(-0.5..size + 0.5),
    }
}

/// Texels of numbers that do not differ much, or of any integers.
pub fn plain(random: &mut ChaCha8Rng, element: &str, count: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..count {
        match element {
            "f32" => {
                let value: f32 = random.random_range(-4.0..4.0);
                let few = (value * 16.0).round() / 16.0;
                bytes.extend((if random.random() { value } else { few }).to_le_bytes());
            }
            "f16" => bytes.extend((random.random::<u16>() & 0xbfff).to_le_bytes()),
            "u8" | "i8" => bytes.push(random.random()),
            _ => bytes.extend(random.random::<u16>().to_le_bytes()),
        }
    }
    bytes
}

/// A number with a point of any size and sign: often a zero, an end, or no number.
fn number(random: &mut ChaCha8Rng, significand: u32, exponents: u32) -> u32 {
    let width = exponents.trailing_ones();
    let sign = random.random_range(0..2) << (significand + width);
    let exponent = match random.random_range(0..32) {
        0 => 0,
        1 => exponents,
        2 => exponents - 1,
        3..=10 => random.random_range(0..exponents),
        // Around 1, and so near that sums keep something of most texels.
        _ => exponents / 2 + 4 - random.random_range(0..significand + 4),
    };
    let last = (1 << significand) - 1;
    let rest = match random.random_range(0..8) {
        0 => 0,
        1 => last,
        2 => 1,
        _ => random.random_range(0..=last),
    };
    sign | exponent << significand | rest
}

/// Texels of numbers of all sizes, and of integers that are often at an end.
pub fn wide(random: &mut ChaCha8Rng, element: &str, count: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..count {
        let any: u32 = random.random();
        let integer = match random.random_range(0..12) {
            0 => 0,
            1 => u32::MAX,
            2 => 0x8080_8080,
            3 => 0x7f7f_ff7f,
            4 => 0x8000_0000,
            5 => 0x8000_8001,
            _ => any,
        };
        match element {
            "f32" => bytes.extend(number(random, 23, 255).to_le_bytes()),
            "f16" => bytes.extend((number(random, 10, 31) as u16).to_le_bytes()),
            "u8" | "i8" => bytes.push(integer as u8),
            "u16" | "i16" => bytes.extend((integer as u16).to_le_bytes()),
            _ => bytes.extend(integer.to_le_bytes()),
        }
    }
    bytes
}

/// A direction that meets a face of a cube with so many texels in a row: anywhere, at the edges and middles of texels, at the edges and
/// corners of the cube, along axes, nowhere.
pub fn direction(random: &mut ChaCha8Rng, size: f32) -> [f32; 3] {
    let axis = random.random_range(0..3);
    let far = if random.random() { 1.0 } else { -1.0 };
    let scale = [1.0, 1.0, 3.0, 0.1, 1e-20, 1e20][random.random_range(0..6)];
    [0, 1, 2].map(|i| {
        let place = match random.random_range(0..8) {
            0 => [-1.0, 1.0, 0.0, -0.0][random.random_range(0..4)],
            1 => f32::from_bits(1f32.to_bits() - random.random_range(0..3)),
            2..=3 => coordinate(random, size) * 2.0 / size - 1.0,
            4 if random.random_range(0..6) == 0 => {
                [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0][random.random_range(0..4)]
            }
            _ => random.random_range(-1.0..1.0f32),
        };
        if i == axis { far * scale } else { place * scale }
    })
}

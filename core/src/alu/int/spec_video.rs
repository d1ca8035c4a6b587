//! What video instructions mean, written a second time for the tests: after the pseudo-code of the PTX ISA, on unbounded
//! numbers, with none of the tricks of the functions under test.

use super::spec_bits::{put, s, u};
use crate::alu::int::{Second, Video};
use crate::alu::ops::IntOp;

/// The bits of a part of a word and its number, from the right.
fn shape(part: u32) -> (u32, u32) {
    match part {
        0 | 1 => (32, 0),
        2 | 3 => (16, part - 2),
        _ => (8, part - 4),
    }
}

fn extract(word: u64, (bits, index): (u32, u32), signed: bool) -> i128 {
    let shifted = word >> (bits * index);
    if signed { s(shifted, bits) } else { u(shifted, bits) }
}

/// The nearest number of a type.
fn saturate(value: i128, bits: u32, signed: bool) -> i128 {
    match (signed, 1i128 << bits) {
        (true, size) => value.max(-size / 2).min(size / 2 - 1),
        (false, size) => value.max(0).min(size - 1),
    }
}

/// A number as it is held in a signed one of some bits.
fn held(value: i128, bits: u32) -> i128 {
    let size = 1i128 << bits;
    let low = value.rem_euclid(size);
    if low < size / 2 { low } else { low - size }
}

/// The primary operation.
fn primary(op: IntOp, a: i128, b: i128, video: Video) -> i128 {
    use IntOp::*;
    let shift = if video.wrap { b.rem_euclid(32) } else { b.clamp(0, 32) };
    match op {
        Vadd | Vadd2 | Vadd4 => a + b,
        Vsub | Vsub2 | Vsub4 => a - b,
        Vabsdiff | Vabsdiff2 | Vabsdiff4 => (a - b).abs(),
        Vmin | Vmin2 | Vmin4 => a.min(b),
        Vmax | Vmax2 | Vmax4 => a.max(b),
        Vshl => a * (1 << shift),
        Vshr => a.div_euclid(1 << shift),
        Vavrg2 | Vavrg4 if a + b >= 0 => (a + b + 1) / 2,
        Vavrg2 | Vavrg4 => (a + b).div_euclid(2),
        _ => {
            let holds = match video.relation {
                1 => a < b,
                2 => a == b,
                3 => a <= b,
                4 => a > b,
                5 => a != b,
                6 => a >= b,
                all => all == 7,
            };
            i128::from(holds)
        }
    }
}

/// A scalar instruction.
pub fn scalar(op: IntOp, [a, b, c, _]: [u64; 4], video: Video) -> u64 {
    let (bits, index) = shape(video.d);
    let ta = extract(a, shape(video.a), video.a_signed);
    let tb = extract(b, shape(video.b), video.b_signed);
    let mut tmp = held(primary(op, ta, tb, video), 34);
    tmp = if video.sat { saturate(tmp, bits, video.d_signed) } else { held(tmp, 33) };
    let third = extract(c, (32, 0), video.d_signed);
    tmp = match video.second {
        Second::None => tmp,
        Second::Add => tmp + third,
        Second::Min => tmp.min(third),
        Second::Max => tmp.max(third),
    };
    let kept: u64 = (0..32).filter(|i| i / bits != index).map(|i| c & 1 << i).sum();
    put(tmp, bits) << (bits * index) | kept
}

/// `vmad`
pub fn product(video: Video, [a, b, c, _]: [u64; 4]) -> u64 {
    let ta = extract(a, shape(video.a), video.a_signed);
    let tb = extract(b, shape(video.b), video.b_signed);
    let signed = video.a_signed || video.b_signed || video.minus_product || video.minus_addend;
    let (mut tmp, mut lsb, mut c) = (ta * tb, i128::from(video.plus_one), c);
    if video.minus_product {
        (tmp, lsb) = (!tmp, lsb + 1);
    }
    if video.minus_addend {
        (c, lsb) = (!c, lsb + 1);
    }
    tmp += lsb + if signed { s(c, 32) } else { u(c, 32) };
    tmp = tmp.div_euclid(1 << video.scale);
    put(if video.sat { saturate(tmp, 32, signed) } else { tmp }, 32)
}

/// A SIMD instruction on values of some bits.
pub fn simd(op: IntOp, bits: u32, [a, b, c, _]: [u64; 4], video: Video) -> u64 {
    let (mut sum, mut merged) = (u(c, 32), 0);
    for index in 0..32 / bits {
        let ta = extract(a, (bits, index), video.a_signed);
        let tb = extract(b, (bits, index), video.b_signed);
        let mut tmp = primary(op, ta, tb, video);
        if video.sat {
            tmp = saturate(tmp, bits, video.d_signed);
        }
        let counts = video.d & 1 << index != 0;
        sum += if counts { tmp } else { 0 };
        let own = if counts { put(tmp, bits) } else { put(extract(c, (bits, index), false), bits) };
        merged |= own << (bits * index);
    }
    if video.second == Second::Add { put(sum, 32) } else { merged }
}

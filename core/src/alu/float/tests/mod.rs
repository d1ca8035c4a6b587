//! Floating-point operations against `rustc_apfloat`, an implementation that shares nothing with ours.

mod approximate;
mod arithmetic;
mod conversion;
mod flushing;
mod half;
mod narrow;
mod total;

use crate::alu::mode::Rounding;
use rustc_apfloat::Round;

/// A small generator with a fixed stream, for samples.
pub struct Samples(pub u64);

impl Samples {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A single of any kind, small exponents and short significands being frequent.
    pub fn single(&mut self) -> u32 {
        let r = self.next();
        let bits = r as u32;
        match r >> 60 {
            0..4 => bits,
            4..8 => bits & 0x807f_ffff | (120 + (r >> 32 & 15) as u32) << 23,
            8..10 => bits & 0x83ff_ffff,
            10..12 => bits & 0xfff8_0000,
            12..14 => bits | 0x007f_ff80,
            _ => SINGLES[(r >> 32) as usize % SINGLES.len()],
        }
    }

    /// A double of any kind.
    pub fn double(&mut self) -> u64 {
        let r = self.next();
        let s = self.next();
        match s % 8 {
            0..2 => r,
            2..4 => r & 0x800f_ffff_ffff_ffff | (1020 + (s >> 32 & 15)) << 52,
            4 => r & 0x803f_ffff_ffff_ffff,
            5 => r & 0xffff_ff00_0000_0000,
            6 => r | 0x000f_ffff_ffff_f000,
            _ => DOUBLES[(s >> 32) as usize % DOUBLES.len()],
        }
    }
}

pub const SINGLES: [u32; 34] = [
    0,
    0x8000_0000,
    1,
    0x8000_0001,
    2,
    0x007f_ffff,
    0x0080_0000,
    0x8080_0000,
    0x0080_0001,
    0x00ff_ffff,
    0x3f80_0000,
    0xbf80_0000,
    0x3f7f_ffff,
    0x3f80_0001,
    0x3f00_0000,
    0x3f00_0001,
    0x3fc0_0000,
    0x4020_0000,
    0x4f00_0000,
    0x4eff_ffff,
    0x4f7f_ffff,
    0x4f80_0000,
    0xcf00_0000,
    0xcf00_0001,
    0x5f00_0000,
    0x5f80_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffc0_1234,
    0x7f80_0001,
    0x7fff_ffff,
];

pub const DOUBLES: [u64; 24] = [
    0,
    1 << 63,
    1,
    0x000f_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x0010_0000_0000_0001,
    0x8010_0000_0000_0000,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x3fef_ffff_ffff_ffff,
    0x3fe0_0000_0000_0000,
    0x4004_0000_0000_0000,
    0x41e0_0000_0000_0000,
    0x41ef_ffff_ffe0_0000,
    0x43e0_0000_0000_0000,
    0x47ef_ffff_e000_0000,
    0x47ef_ffff_f000_0000,
    0x3690_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0xffef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0xfff4_0000_0000_1234,
];

pub const ROUNDINGS: [(Rounding, Round); 4] = [
    (Rounding::NearestEven, Round::NearestTiesToEven),
    (Rounding::Zero, Round::TowardZero),
    (Rounding::Down, Round::TowardNegative),
    (Rounding::Up, Round::TowardPositive),
];

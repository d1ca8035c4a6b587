//! Inputs, arguments and results of kernels.

use super::Shape;
use crate::launch::{Arg, Device, Meaning, Scalar};

/// A generator of inputs.
pub(super) struct Xorshift(u32);

impl Xorshift {
    /// That of all inputs.
    pub const fn new() -> Self {
        Self(12345)
    }

    /// That of the places where results are looked at.
    pub const fn places() -> Self {
        Self(99)
    }

    pub const fn word(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    /// Less than `n`.
    pub const fn below(&mut self, n: usize) -> usize {
        self.word() as usize % n
    }

    #[expect(clippy::cast_precision_loss, reason = "24 bits fit")]
    pub fn float(&mut self) -> f32 {
        (self.word() >> 8) as f32 / 16_777_216.0
    }

    pub fn words(&mut self, n: usize) -> Vec<u32> {
        (0..n).map(|_| self.word()).collect()
    }

    pub fn floats(&mut self, n: usize) -> Vec<f32> {
        (0..n).map(|_| self.float()).collect()
    }
}

pub(super) fn bytes_u32(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_le_bytes).collect()
}

pub(super) fn bytes_f32(values: &[f32]) -> Vec<u8> {
    bytes_u32(values.iter().map(|v| v.to_bits()))
}

pub(super) fn bytes_f64(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn bytes_of<'d>(device: &'d Device, name: &str) -> &'d [u8] {
    device.contents(name).map_or(&[], |(_, bytes)| bytes)
}

pub(super) fn words_of(device: &Device, name: &str) -> Vec<u32> {
    bytes_of(device, name).as_chunks().0.iter().map(|c| u32::from_le_bytes(*c)).collect()
}

pub(super) fn halfwords_of(device: &Device, name: &str) -> Vec<u16> {
    bytes_of(device, name).as_chunks().0.iter().map(|c| u16::from_le_bytes(*c)).collect()
}

pub(super) fn floats_of(device: &Device, name: &str) -> Vec<f32> {
    words_of(device, name).into_iter().map(f32::from_bits).collect()
}

pub(super) fn doubles_of(device: &Device, name: &str) -> Vec<f64> {
    bytes_of(device, name).as_chunks().0.iter().map(|c| f64::from_le_bytes(*c)).collect()
}

pub(super) fn buffer(name: &str) -> Arg {
    Arg::Buffer { name: name.to_owned(), offset: 0 }
}

pub(super) fn int(n: usize) -> Arg {
    let ty = Scalar { meaning: Meaning::Signed, bytes: 4 };
    Arg::Scalar(ty, u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes().to_vec())
}

pub(super) fn float(x: f32) -> Arg {
    let ty = Scalar { meaning: Meaning::Float, bytes: 4 };
    Arg::Scalar(ty, x.to_le_bytes().to_vec())
}

pub(super) fn double(x: f64) -> Arg {
    let ty = Scalar { meaning: Meaning::Float, bytes: 8 };
    Arg::Scalar(ty, x.to_le_bytes().to_vec())
}

/// Blocks of `per` threads for `n` of them.
pub(super) fn blocks(n: usize, per: usize) -> u32 {
    u32::try_from(n.div_ceil(per)).unwrap_or(u32::MAX).max(1)
}

/// Blocks of 256 threads for `n` elements.
pub(super) fn line(n: usize) -> Shape {
    ([blocks(n, 256), 1, 1], [256, 1, 1])
}

/// Whether a result is right up to an error; one that is no number is not.
pub(super) fn close(got: impl Into<f64>, wanted: f64, error: f64) -> bool {
    (got.into() - wanted).abs() <= error
}

//! `mma.m8n8k4` of `f16` on targets without tensor cores for it, as ptxas compiles it: operations on `f32` (D-mma-rounding).

use super::{Accumulator, Floats};
use crate::alu::float::{narrow16, widen16};
use crate::alu::table::NAN32;

fn single(half: u32) -> f32 {
    f32::from_bits(widen16(half))
}

/// A dot product and an accumulator, which is added last.
pub(super) fn dot(types: Floats, a: &[u32], b: &[u32], c: u32) -> u32 {
    let fused = |sum: f32, (a, b): (&u32, &u32)| single(*a).mul_add(single(*b), sum);
    let product = |a: &[u32], b: &[u32]| a.iter().zip(b).fold(0.0, fused);
    let c = match types.c {
        Accumulator::F16 => single(c),
        Accumulator::F32 => f32::from_bits(c),
    };
    let sum = match types.d {
        Accumulator::F32 => c + product(a, b),
        // By two products at a time.
        Accumulator::F16 => a.chunks(2).zip(b.chunks(2)).fold(c, |sum, (a, b)| sum + product(a, b)),
    };
    let bits = if sum.is_nan() { NAN32 } else { sum.to_bits() };
    match types.d {
        Accumulator::F16 => narrow16(bits),
        Accumulator::F32 => bits,
    }
}

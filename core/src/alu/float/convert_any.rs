//! `cvt` between any two types with any modifiers (PTX ISA, "Data Movement and Conversion Instructions: cvt").
//!
//! An input is taken apart exactly, flushed, rounded to an integral value if asked, clamped and rounded once to the
//! destination. Integers narrower than 32 bits are given and taken zero-extended.

use super::convert_nan;
use super::soft::{self, Format, Magnitude, Value};
use crate::alu::int::{extend, range};
use crate::alu::mode::{FMode, Num, Rounding};

/// The format of a floating-point type; `ue8m0` is handled apart.
const fn format(number: Num) -> Format {
    match number {
        Num::F16 => soft::F16,
        Num::Bf16 => soft::BF16,
        Num::F64 => soft::F64,
        Num::Tf32 => soft::TF32,
        Num::E4m3 => soft::E4M3,
        Num::E5m2 => soft::E5M2,
        Num::E2m1 => soft::E2M1,
        Num::E2m3 => soft::E2M3,
        Num::E3m2 => soft::E3M2,
        _ => soft::F32,
    }
}

/// The value of a source.
fn decode(number: Num, bits: u64, ftz: bool) -> Value {
    match number {
        integer if integer.is_integer() => Value::of_integer(extend(bits, integer.bits(), integer.is_signed_integer())),
        Num::Ue8m0 => match bits as u8 {
            255 => Value::NAN,
            code => Value { negative: false, of: Magnitude::Number(1, i32::from(code) - 127) },
        },
        Num::S2f6 => {
            let code = bits as u8 as i8;
            Value { negative: code < 0, of: Magnitude::Number(code.unsigned_abs().into(), -6) }
        }
        Num::Tf32 => soft::F32.decode(bits & !0x1fff),
        Num::F32 if ftz => soft::F32.decode(u64::from(super::single::flush32(bits as u32))),
        _ => format(number).decode(bits),
    }
}

/// Rounds and clamps to an integer type, zero-extended.
fn to_integer(number: Num, value: Value, rounding: Rounding, from_f64: bool) -> u64 {
    let bits = number.bits();
    let (low, high) = range(bits, number.is_signed_integer());
    // What NaN becomes: see the ISA's notes on `cvt`.
    let nan = if from_f64 || bits == 64 { 1 << (bits - 1) } else { 0 };
    let result = value.round_integral(rounding).clamp_integer(low, high).unwrap_or(nan);
    result as u64 & (u64::MAX >> (64 - bits))
}

/// An exponent without sign or fraction: the magnitude rounded to a power of two, at least 2^-127.
fn to_ue8m0(value: Value, rounding: Rounding, finite: bool) -> u64 {
    let largest = if finite { 0xfe } else { 0xff };
    match (value.of, value.leading()) {
        (Magnitude::Nan, _) => 0xff,
        (Magnitude::Number(significand, _), Some(leading)) => {
            let above = rounding == Rounding::Up && !significand.is_power_of_two();
            match leading + i32::from(above) + 127 {
                code @ 0..=254 => code as u64,
                code if code < 0 => 0,
                _ => largest,
            }
        }
        // Zero is below the least value.
        (Magnitude::Number(..), None) => 0,
        (Magnitude::Infinite, _) => largest,
    }
}

/// A signed number of two bits and six below the point, as far from zero as another may be (D-s2f6).
fn to_s2f6(value: Value, rounding: Rounding) -> u64 {
    let code = power(value, 6).round_integral(rounding).clamp_integer(-127, 127).unwrap_or(127);
    code as u64 & 0xff
}

/// A value times a power of two.
fn power(value: Value, by: i32) -> Value {
    match value.of {
        Magnitude::Number(significand, exponent) => {
            Value { of: Magnitude::Number(significand, exponent + by), ..value }
        }
        _ => value,
    }
}

/// The scale factors of a conversion that has none: one and one.
pub(super) const ONES: u32 = 0x7f7f;

/// A value times or, towards fewer bits, divided by a scale factor.
fn scaled(value: Value, factor: u32, to: Num) -> Value {
    match factor & 0xff {
        0xff => Value::NAN,
        code if to == Num::Bf16 => power(value, code as i32 - 127),
        code => power(value, 127 - code as i32),
    }
}

/// Clamps as `.sat` and `.relu` say.
fn clamp(value: Value, mode: FMode) -> Value {
    if value.negative && (mode.has(FMode::SAT) || mode.has(FMode::RELU)) {
        return Value::of_integer(0);
    }
    if !mode.has(FMode::SAT) {
        return value;
    }
    match value.of {
        Magnitude::Nan => Value::of_integer(0),
        Magnitude::Number(..) if value.leading().is_none_or(|leading| leading < 0) => value,
        Magnitude::Infinite | Magnitude::Number(..) => Value::of_integer(1),
    }
}

/// Clamps and rounds to a floating-point type.
fn to_float(number: Num, value: Value, mode: FMode, random: Option<(u32, u32)>) -> u64 {
    let rounding = mode.rounding();
    let value = clamp(value, mode);
    let finite = mode.has(FMode::SATFINITE);
    match number {
        Num::Ue8m0 => to_ue8m0(value, rounding, finite),
        Num::S2f6 => to_s2f6(value, rounding),
        // The canonical NaN has none of the unused bits either.
        Num::Tf32 => format(number).encode(value, rounding, finite, random) << 13,
        Num::F32 => super::single::encode32(value, mode, random).into(),
        _ => format(number).encode(value, rounding, finite, random),
    }
}

/// Any conversion of one value.
#[inline(never)]
pub(super) fn any(source: u64, mode: FMode) -> u64 {
    let (dest, from) = (mode.dest(), mode.source());
    // The hardware rounds a subnormal number to `f16` as it is, also with `.ftz`: up or down that is the smallest one there.
    let value = decode(from, source, mode.has(FMode::FTZ) && dest != Num::F16);
    if dest.is_integer() {
        return to_integer(dest, value, mode.rounding(), from == Num::F64);
    }
    if value == Value::NAN
        && !mode.has(FMode::SAT)
        && let Some(nan) = convert_nan::of(source, mode)
    {
        return nan;
    }
    let value = if mode.has(FMode::INTEGRAL) { value.round_integral(mode.rounding()) } else { value };
    to_float(dest, value, mode, None)
}

/// The distance between packed values.
const fn stride(number: Num) -> u32 {
    match number {
        Num::E2m1 => 4,
        Num::F16 | Num::Bf16 => 16,
        _ => 8,
    }
}

/// `cvt` of two f32 values to a packed type; the first source goes to the upper half. `scale` has a factor for each.
#[inline(never)]
pub(super) fn packed(a: u32, b: u32, scale: u32, mode: FMode) -> u32 {
    let to = mode.dest();
    let one = |x: u32, factor: u32| {
        // One, but for `.s2f6`.
        to_float(to, scaled(decode(Num::F32, u64::from(x), false), factor, to), mode, None) as u32
    };
    one(a, scale >> 8) << stride(to) | one(b, scale)
}

/// `cvt.rs` of two f32 values to two of a packed type. The third source has the random numbers: for `.f16` and `.bf16` in the
/// low 13 and 16 bits of its halves, for `.e2m1` in the upper bytes of its halves, for other types in its upper half, which
/// the first value takes in reverse order (D-random).
#[inline(never)]
pub(super) fn packed_random(a: u32, b: u32, random: u32, mode: FMode) -> u32 {
    let (width, of_a, of_b) = match mode.dest() {
        Num::F16 => (13, random >> 16, random),
        Num::Bf16 => (16, random >> 16, random),
        Num::E2m1 => (8, random >> 24, random >> 8),
        _ => (16, (random >> 16).reverse_bits() >> 16, random >> 16),
    };
    let one = |x: u32, bits: u32| {
        let random = Some((bits & ((1 << width) - 1), width));
        to_float(mode.dest(), decode(Num::F32, u64::from(x), false), mode, random) as u32
    };
    one(a, of_a) << stride(mode.dest()) | one(b, of_b)
}

/// `cvt` between packed types. `scale` has a factor for each value.
#[inline(never)]
pub(super) fn pair(a: u32, scale: u32, mode: FMode) -> u32 {
    let one = |x: u32, factor: u32| {
        let value = scaled(decode(mode.source(), u64::from(x), false), factor, mode.dest());
        to_float(mode.dest(), value, mode, None) as u32
    };
    let low = a & ((1 << stride(mode.source())) - 1);
    let high = a >> stride(mode.source());
    one(high, scale >> 8) << stride(mode.dest()) | one(low, scale)
}

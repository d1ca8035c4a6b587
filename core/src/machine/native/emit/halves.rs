//! Halves: numbers of 16 bits, one or two in a register, computed in single precision.

use super::super::moded::Half;
use super::builder::Emit;
use super::modes::{INFINITY, SIGN};
use crate::alu::float::FloatOp as F;
use crate::base::mutant::{Mutant, on};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};

/// The sign of a half, and the canonical NaN.
const SIGN16: i64 = 0x8000;
const NAN16: i64 = 0x7fff;

impl Emit<'_, '_> {
    fn words(&mut self, value: i64) -> Value {
        self.number(types::I32X4, value)
    }

    /// The lower half of each word.
    pub(super) fn low_half(&mut self, bits: Value) -> Value {
        let low = self.words(0xffff);
        self.b.ins().band(bits, low)
    }

    /// An operation on halves: the bits.
    pub(super) fn of_halves(&mut self, how: Half, words: &[Value]) -> Value {
        let low: Vec<Value> = words.iter().map(|bits| self.low_half(*bits)).collect();
        let low = self.half(how, &low);
        if !how.packed || on(Mutant::NativeHalf) {
            return low;
        }
        let high: Vec<Value> = words.iter().map(|bits| self.b.ins().ushr_imm(*bits, 16)).collect();
        let high = self.half(how, &high);
        let high = self.b.ins().ishl_imm(high, 16);
        self.b.ins().bor(low, high)
    }

    /// One half of each word.
    fn half(&mut self, how: Half, x: &[Value]) -> Value {
        if matches!(how.op, F::NegF32 | F::AbsF32) {
            return self.signed_half(how, x[0]);
        }
        let reals: Vec<Value> = x.iter().map(|bits| self.widened_half(how.brain, *bits)).collect();
        let value = if let (F::FmaF32, [a, b, c]) = (how.op, &reals[..]) {
            // The product is exact, and the sum has bits enough to be rounded again.
            let product = self.b.ins().fmul(*a, *b);
            self.sum_to_odd(product, *c)
        } else {
            self.real_value(how.op, types::F32X4, &reals)
        };
        let bits = self.reinterpret(types::I32X4, value);
        self.narrowed_half(how.brain, bits)
    }

    /// A half with its sign changed or taken off; a NaN is the canonical one.
    fn signed_half(&mut self, how: Half, bits: Value) -> Value {
        let (sign, canonical) = (self.words(SIGN16), self.words(NAN16));
        let magnitude = self.b.ins().band_not(bits, sign);
        let infinity = self.words(if how.brain { 0x7f80 } else { 0x7c00 });
        let nan = self.b.ins().icmp(IntCC::SignedGreaterThan, magnitude, infinity);
        let value = if how.op == F::NegF32 { self.b.ins().bxor(bits, sign) } else { magnitude };
        self.b.ins().bitselect(nan, canonical, value)
    }

    /// Halves as singles; a NaN is any.
    pub(super) fn widened_half(&mut self, brain: bool, bits: Value) -> Value {
        if brain {
            let value = self.b.ins().ishl_imm(bits, 16);
            return self.reinterpret(types::F32X4, value);
        }
        let sign = self.words(SIGN16);
        let magnitude = self.b.ins().band_not(bits, sign);
        let sign = self.b.ins().band(bits, sign);
        let sign = self.b.ins().ishl_imm(sign, 16);
        let moved = self.b.ins().ishl_imm(magnitude, 13);
        // Corrects the exponent's bias, exactly, and normalises.
        let power = self.words(0x7780_0000);
        let [real, power] = [moved, power].map(|x| self.reinterpret(types::F32X4, x));
        let scaled = self.b.ins().fmul(real, power);
        let scaled = self.reinterpret(types::I32X4, scaled);
        let (most, infinity) = (self.words(0x7bff), self.words(INFINITY));
        let beyond = self.b.ins().icmp(IntCC::SignedGreaterThan, magnitude, most);
        let infinite = self.b.ins().bor(moved, infinity);
        let value = self.b.ins().bitselect(beyond, infinite, scaled);
        let value = self.b.ins().bor(value, sign);
        self.reinterpret(types::F32X4, value)
    }

    /// Singles as halves, rounded to nearest.
    pub(super) fn narrowed_half(&mut self, brain: bool, bits: Value) -> Value {
        let (sign, infinity) = (self.words(SIGN), self.words(INFINITY));
        let magnitude = self.b.ins().band_not(bits, sign);
        let nan = self.b.ins().icmp(IntCC::SignedGreaterThan, magnitude, infinity);
        let canonical = self.words(NAN16);
        let value = if brain { self.rounded_off(bits, 16, 0x7fff) } else { self.narrowed_to_f16(bits, magnitude) };
        self.b.ins().bitselect(nan, canonical, value)
    }

    /// Without so many bits, to nearest: just under half of the last one that is kept is added, and one more if that is odd.
    fn rounded_off(&mut self, bits: Value, less: i64, half: i64) -> Value {
        let (one, half) = (self.words(1), self.words(half));
        let last = self.b.ins().ushr_imm(bits, less);
        let odd = self.b.ins().band(last, one);
        let more = self.b.ins().iadd(half, odd);
        let sum = self.b.ins().iadd(bits, more);
        if less == 16 { self.b.ins().ushr_imm(sum, less) } else { sum }
    }

    fn narrowed_to_f16(&mut self, bits: Value, magnitude: Value) -> Value {
        let rounded = self.rounded_off(magnitude, 13, 0xfff);
        let bias = self.words(0x3800_0000);
        let normal = self.b.ins().isub(rounded, bias);
        let normal = self.b.ins().ushr_imm(normal, 13);
        // One half more leaves the bits worth 2⁻²⁴ and above in the lowest places.
        let (real, half) = (self.reinterpret(types::F32X4, magnitude), self.float_number(0.5));
        let sum = self.b.ins().fadd(real, half);
        let (sum, half) = (self.reinterpret(types::I32X4, sum), self.words(0x3f00_0000));
        let subnormal = self.b.ins().isub(sum, half);
        let (least, most, infinite) = (self.words(0x3880_0000), self.words(0x477f_ffff), self.words(0x7c00));
        let small = self.b.ins().icmp(IntCC::SignedLessThan, magnitude, least);
        let value = self.b.ins().bitselect(small, subnormal, normal);
        let beyond = self.b.ins().icmp(IntCC::SignedGreaterThan, magnitude, most);
        let value = self.b.ins().bitselect(beyond, infinite, value);
        let sign = self.words(SIGN16);
        let upper = self.b.ins().ushr_imm(bits, 16);
        let sign = self.b.ins().band(upper, sign);
        self.b.ins().bor(value, sign)
    }
}

//! Operations with a mode: flushed, clamped, rounded to a side; coarse quotients.

use super::super::moded::{Moded, Single};
use super::builder::{Emit, NAN, Strip, Word};
use crate::alu::float::{FloatOp as F, LEAST_UP, UP};
use crate::alu::mode::Rounding;
use crate::base::mutant::{Mutant, on};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};

/// The sign of a single, the bits of infinity, and 1.
pub(super) const SIGN: i64 = 1 << 31;
pub(super) const INFINITY: i64 = 0x7f80_0000;
const ONE: i64 = 0x3f80_0000;
/// Words with even numbers of two vectors: the first two of each.
pub(super) const PAIRS: [u8; 4] = [0, 1, 4, 5];

impl Emit<'_, '_> {
    /// An operation with its mode on four lanes.
    pub(super) fn moded(&mut self, how: Moded, x: &[Strip]) -> Strip {
        if let (Moded::Gross(root), [Strip::Q(pairs), ..]) = (how, x) {
            return Strip::Q(pairs.map(|pair| self.gross(root, pair)));
        }
        let mut words = Vec::new();
        for strip in x {
            let Strip::W(word) = strip else { return x[0] };
            words.push(self.integers(*word));
        }
        let Some(first) = words.first().copied() else { return Strip::P(self.context) };
        let ints = match how {
            Moded::Single(single) => return self.single(single, words),
            Moded::Half(half) => self.of_halves(half, &words),
            Moded::Widen(brain) => {
                let low = self.low_half(first);
                let value = self.widened_half(brain, low);
                return Strip::W(Word { value, float: true, loose: !brain });
            }
            Moded::Narrow(brain) => self.narrowed_half(brain, first),
            Moded::Clamp(ftz) => {
                let flushed = if ftz { self.flushed(first) } else { first };
                self.clamped(flushed)
            }
            Moded::Gross(_) => first,
        };
        Strip::W(Word { value: ints, float: false, loose: false })
    }

    /// A floating-point number in all lanes.
    pub(super) fn float_number(&mut self, value: f32) -> Value {
        let bits = self.number(types::I32X4, i64::from(value.to_bits().cast_signed()));
        self.reinterpret(types::F32X4, bits)
    }

    fn wide_number(&mut self, value: f64) -> Value {
        let bits = self.number(types::I64X2, value.to_bits().cast_signed());
        self.reinterpret(types::F64X2, bits)
    }

    /// Numbers whose exponents are zero become zeros of their sign.
    pub(super) fn flushed(&mut self, bits: Value) -> Value {
        let (infinity, sign) = (self.number(types::I32X4, INFINITY), self.number(types::I32X4, SIGN));
        let none = self.number(types::I32X4, 0);
        let exponent = self.b.ins().band(bits, infinity);
        let tiny = self.b.ins().icmp(IntCC::Equal, exponent, none);
        let zero = self.b.ins().band(bits, sign);
        self.b.ins().bitselect(tiny, zero, bits)
    }

    /// Numbers clamped to [+0, 1]; those of NaN are +0.
    fn clamped(&mut self, bits: Value) -> Value {
        let real = self.reinterpret(types::F32X4, bits);
        let (none, one) = (self.float_number(0.0), self.float_number(1.0));
        let positive = self.b.ins().fcmp(FloatCC::GreaterThan, real, none);
        let above = self.b.ins().fcmp(FloatCC::GreaterThan, real, one);
        let kept = self.b.ins().band(positive, bits);
        let one = self.number(types::I32X4, ONE);
        self.b.ins().bitselect(above, one, kept)
    }

    /// An operation of single precision.
    fn single(&mut self, how: Single, mut words: Vec<Value>) -> Strip {
        if how.ftz && !on(Mutant::NativeFlush) {
            words = words.into_iter().map(|bits| self.flushed(bits)).collect();
        }
        let plain = |value| Strip::W(Word { value, float: false, loose: false });
        if how.to != Rounding::NearestEven {
            let bits = self.rounded_to_side(how, &words);
            return plain(if how.sat { self.clamped(bits) } else { bits });
        }
        let strips: Vec<Strip> = words.iter().map(|bits| plain(*bits)).collect();
        let strip = self.strip_float(how.op, &strips);
        let Strip::W(word) = strip else { return strip };
        let mut bits = self.integers(word);
        if how.nan {
            let reals = [words[0], words[1]].map(|bits| self.reinterpret(types::F32X4, bits));
            let none = self.b.ins().fcmp(FloatCC::Unordered, reals[0], reals[1]);
            let nan = self.number(types::I32X4, NAN);
            bits = self.b.ins().bitselect(none, nan, bits);
        }
        if how.ftz {
            bits = self.tiny_flushed(how.op, &words, bits);
        }
        plain(if how.sat { self.clamped(bits) } else { bits })
    }

    /// A result, flushed where it is tiny as if exponents had no lower end.
    fn tiny_flushed(&mut self, op: F, words: &[Value], bits: Value) -> Value {
        if !matches!(op, F::MulF32 | F::DivF32 | F::FmaF32) {
            return self.flushed(bits);
        }
        let up = self.float_number(UP);
        let mut reals: Vec<Value> = words.iter().map(|bits| self.reinterpret(types::F32X4, *bits)).collect();
        reals[0] = self.b.ins().fmul(reals[0], up);
        if let Some(third) = reals.get(2).copied() {
            reals[2] = self.b.ins().fmul(third, up);
        }
        let scaled = self.real_value(op, types::F32X4, &reals);
        let (size, least) = (self.b.ins().fabs(scaled), self.float_number(LEAST_UP));
        let tiny = self.b.ins().fcmp(FloatCC::LessThan, size, least);
        let sign = self.number(types::I32X4, SIGN);
        let zero = self.b.ins().band(bits, sign);
        self.b.ins().bitselect(tiny, zero, bits)
    }

    /// Four singles as two times two doubles.
    pub(super) fn widened_reals(&mut self, bits: Value) -> [Value; 2] {
        let high = self.mix(bits, bits, [2, 3, 2, 3]);
        [bits, high].map(|words| {
            let reals = self.reinterpret(types::F32X4, words);
            self.b.ins().fvpromote_low(reals)
        })
    }

    /// Two times two doubles as four singles.
    pub(super) fn narrowed_reals(&mut self, pairs: [Value; 2]) -> Value {
        let [low, high] = pairs.map(|pair| self.b.ins().fvdemote(pair));
        self.mix(low, high, PAIRS)
    }

    /// Sums, products and both, rounded to a side: the bits.
    fn rounded_to_side(&mut self, how: Single, words: &[Value]) -> Value {
        let mut words = words.to_vec();
        if how.op == F::SubF32 {
            let sign = self.number(types::I32X4, SIGN);
            words[1] = self.b.ins().bxor(words[1], sign);
        }
        let wide: Vec<[Value; 2]> = words.iter().map(|bits| self.widened_reals(*bits)).collect();
        let sums = [0, 1].map(|pair| match how.op {
            F::AddF32 | F::SubF32 => self.sum_and_rest(wide[0][pair], wide[1][pair]),
            op => {
                let product = self.b.ins().fmul(wide[0][pair], wide[1][pair]);
                if op == F::FmaF32 {
                    self.sum_and_rest(product, wide[2][pair])
                } else {
                    (product, self.wide_number(0.0))
                }
            }
        });
        let bits = self.stepped(how.to, sums);
        if how.to != Rounding::Down || how.op == F::MulF32 {
            return bits;
        }
        // A sum of zero that is exact: minus, if any of its parts is.
        let none = self.wide_number(0.0);
        let zeros = sums.map(|(sum, _)| self.b.ins().fcmp(FloatCC::Equal, sum, none));
        let zero = self.narrowed(zeros);
        let signs = match words[..] {
            [a, b, c] => {
                let product = self.b.ins().bxor(a, b);
                self.b.ins().bor(product, c)
            }
            _ => self.b.ins().bor(words[0], words[1]),
        };
        let sign = self.number(types::I32X4, SIGN);
        let minus = self.b.ins().band(signs, sign);
        let minus = self.b.ins().band(minus, zero);
        self.b.ins().bor(bits, minus)
    }

    /// Doubles and what they lack to be exact, less than half of their last digit, as the singles on a side of them: the nearest ones to
    /// the doubles, or those a step further. How far a single is from the double that it is nearest to is exact, and so is which of
    /// both distances is the larger one; where the single is the double, what it lacks decides.
    fn stepped(&mut self, to: Rounding, sums: [(Value, Value); 2]) -> Value {
        let beyond = sums.map(|(sum, rest)| {
            let near = self.b.ins().fvdemote(sum);
            let wide = self.b.ins().fvpromote_low(near);
            let (mut above, mut rest) = (self.b.ins().fsub(wide, sum), rest);
            if to == Rounding::Up {
                return self.b.ins().fcmp(FloatCC::LessThan, above, rest);
            }
            if to != Rounding::Down {
                // Seen from zero.
                let sign = self.number(types::I64X2, i64::MIN);
                let wide = self.reinterpret(types::I64X2, wide);
                let sign = self.b.ins().band(wide, sign);
                [above, rest] = [above, rest].map(|x| {
                    let bits = self.reinterpret(types::I64X2, x);
                    let bits = self.b.ins().bxor(bits, sign);
                    self.reinterpret(types::F64X2, bits)
                });
            }
            self.b.ins().fcmp(FloatCC::GreaterThan, above, rest)
        });
        let sums = sums.map(|(sum, _)| sum);
        let (beyond, value) = (self.narrowed(beyond), self.narrowed_reals(sums));
        let value = self.reinterpret(types::F32X4, value);
        let bits = self.integers(Word { value, float: true, loose: true });
        // Away from zero by one, or towards it.
        let (sign, minus) = (self.b.ins().sshr_imm(bits, 31), self.number(types::I32X4, -1));
        let twice = self.b.ins().ishl_imm(sign, 1);
        let step = match to {
            Rounding::Down => self.b.ins().isub(minus, twice),
            Rounding::Up => {
                let one = self.number(types::I32X4, 1);
                self.b.ins().iadd(one, twice)
            }
            _ => minus,
        };
        let step = if on(Mutant::NativeSide) { minus } else { step };
        let step = self.b.ins().band(step, beyond);
        self.b.ins().iadd(bits, step)
    }

    /// A sum, and what it lacks to be exact.
    fn sum_and_rest(&mut self, a: Value, b: Value) -> (Value, Value) {
        let sum = self.b.ins().fadd(a, b);
        let part = self.b.ins().fsub(sum, a);
        let rest = self.b.ins().fsub(sum, part);
        let (of_a, of_b) = (self.b.ins().fsub(a, rest), self.b.ins().fsub(b, part));
        (sum, self.b.ins().fadd(of_a, of_b))
    }

    /// Sums that, where they are inexact, have their lowest bit set: of two doubles, or of four singles.
    pub(super) fn sum_to_odd(&mut self, a: Value, b: Value) -> Value {
        let reals = self.b.func.dfg.value_type(a);
        let ints = if reals == types::F64X2 { types::I64X2 } else { types::I32X4 };
        let (sum, error) = self.sum_and_rest(a, b);
        let none = self.number(ints, 0);
        let zero = self.reinterpret(reals, none);
        let above = self.b.ins().fcmp(FloatCC::GreaterThan, error, zero);
        let below = self.b.ins().fcmp(FloatCC::LessThan, error, zero);
        let positive = self.b.ins().fcmp(FloatCC::GreaterThan, sum, zero);
        let bits = self.reinterpret(ints, sum);
        let (one, minus) = (self.number(ints, 1), self.number(ints, -1));
        let odd = self.b.ins().band(bits, one);
        let even = self.b.ins().icmp(IntCC::Equal, odd, none);
        // What was taken away has the sum's sign: one up; the other: one down.
        let towards = self.b.ins().bxor(above, positive);
        let step = self.b.ins().bitselect(towards, minus, one);
        let inexact = self.b.ins().bor(above, below);
        let due = self.b.ins().band(even, inexact);
        let step = self.b.ins().band(step, due);
        let bits = self.b.ins().iadd(bits, step);
        self.reinterpret(reals, bits)
    }

    /// The quotient of one by a double, or by its root, of the upper half only.
    fn gross(&mut self, root: bool, bits: Value) -> Value {
        const UPPER: i64 = -1 << 32;
        let ty = types::I64X2;
        let (upper, sign) = (self.number(ty, UPPER), self.number(ty, i64::MIN));
        let (infinity, none) = (self.number(ty, 0x7ff << 52), self.number(ty, 0));
        let flush = |emit: &mut Self, x: Value| {
            let exponent = emit.b.ins().band(x, infinity);
            let tiny = emit.b.ins().icmp(IntCC::Equal, exponent, none);
            let zero = emit.b.ins().band(x, sign);
            emit.b.ins().bitselect(tiny, zero, x)
        };
        let half = self.b.ins().band(bits, upper);
        let half = flush(self, half);
        let mut divisor = self.reinterpret(types::F64X2, half);
        if root {
            divisor = self.b.ins().sqrt(divisor);
        }
        let one = self.wide_number(1.0);
        let quotient = self.b.ins().fdiv(one, divisor);
        let result = self.reinterpret(ty, quotient);
        let (one, almost) = (self.number(ty, 1), self.number(ty, 0x7fff_ffff));
        let last = self.b.ins().ushr_imm(result, 32);
        let last = self.b.ins().band(last, one);
        let rounded = self.b.ins().iadd(result, almost);
        let rounded = self.b.ins().iadd(rounded, last);
        let rounded = self.b.ins().band(rounded, upper);
        let rounded = flush(self, rounded);
        let exponent = self.b.ins().band(result, infinity);
        let beyond = self.b.ins().icmp(IntCC::Equal, exponent, infinity);
        let result = self.b.ins().bitselect(beyond, result, rounded);
        let source = self.reinterpret(types::F64X2, bits);
        let nans = [source, quotient].map(|x| self.b.ins().fcmp(FloatCC::Unordered, x, x));
        let nan = self.b.ins().bor(nans[0], nans[1]);
        let canonical = self.number(ty, 0x7fff_ffff << 32);
        self.b.ins().bitselect(nan, canonical, result)
    }
}

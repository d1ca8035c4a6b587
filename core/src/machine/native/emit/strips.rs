//! What is computed in strips of four lanes.

use super::super::ops::{Ops, moded};
use super::builder::{Emit, Strip, Word};
use super::compute::{float_condition, integer_condition};
use super::words::EVEN;
use crate::alu::float::FloatOp as F;
use crate::alu::int::IntOp as I;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};

fn word(value: Value) -> Strip {
    Strip::W(Word { value, float: false, loose: false })
}

impl Emit<'_, '_> {
    /// An operation on four lanes, with its mode; `amount`: what it shifts by, if that is the same in all.
    pub(super) fn compute(&mut self, op: Ops, x: &[Strip], amount: Option<Value>, mode: u32) -> Strip {
        if op.is_logic() {
            let masks: Vec<Value> =
                x.iter().map(|s| if let Strip::P(mask) = s { *mask } else { self.context }).collect();
            return Strip::P(self.logic(op, &masks));
        }
        match op {
            Ops::Float(of) => match moded(op, mode) {
                Some(how) => self.moded(how, x),
                None => self.strip_float(of, x),
            },
            Ops::Int(I::MovW | I::MovQ) => x[0],
            Ops::Int(I::SelW | I::SelQ) => match x {
                [a, b, Strip::P(mask)] => self.choose(*mask, *a, *b),
                _ => x[0],
            },
            Ops::Int(op) => match x {
                [Strip::Q(a), rest @ ..] => self.strip_wide(op, *a, rest, amount),
                [Strip::W(a), rest @ ..] => {
                    let a = self.integers(*a);
                    self.strip_bits(op, a, rest, mode).unwrap_or_else(|| self.strip_integer(op, a, rest, amount))
                }
                _ => x[0],
            },
        }
    }

    /// One of two by a mask.
    pub(super) fn choose(&mut self, mask: Value, yes: Strip, no: Strip) -> Strip {
        match (yes, no) {
            (Strip::W(a), Strip::W(b)) => {
                let (a, b) = (self.integers(a), self.integers(b));
                word(self.b.ins().bitselect(mask, a, b))
            }
            (Strip::Q(a), Strip::Q(b)) => {
                let masks = self.wide_mask(mask);
                Strip::Q([0, 1].map(|k| self.b.ins().bitselect(masks[k], a[k], b[k])))
            }
            (Strip::P(a), Strip::P(b)) => Strip::P(self.b.ins().bitselect(mask, a, b)),
            _ => yes,
        }
    }

    /// What is the same for one word and for four.
    fn strip_bits(&mut self, op: I, a: Value, rest: &[Strip], mode: u32) -> Option<Strip> {
        let mut words = vec![a];
        for strip in rest {
            let Strip::W(word) = strip else { return None };
            words.push(self.integers(*word));
        }
        self.word_bits(op, &words, mode).map(word)
    }

    fn strip_integer(&mut self, op: I, a: Value, rest: &[Strip], amount: Option<Value>) -> Strip {
        let ty = types::I32X4;
        if let (I::Shl32 | I::ShrU32 | I::ShrS32, Some(amount)) = (op, amount) {
            return word(self.shifted(op, ty, a, amount));
        }
        let b = match rest.first() {
            Some(Strip::W(b)) => self.integers(*b),
            _ => a,
        };
        if let Some(condition) = integer_condition(op) {
            return Strip::P(self.b.ins().icmp(condition, a, b));
        }
        match op {
            I::Add32 => word(self.b.ins().iadd(a, b)),
            I::Sub32 => word(self.b.ins().isub(a, b)),
            I::MulLo32 => word(self.b.ins().imul(a, b)),
            I::MadLo32 => {
                let c = match rest.get(1) {
                    Some(Strip::W(c)) => self.integers(*c),
                    _ => a,
                };
                let product = self.b.ins().imul(a, b);
                word(self.b.ins().iadd(product, c))
            }
            I::And32 => word(self.b.ins().band(a, b)),
            I::Or32 => word(self.b.ins().bor(a, b)),
            I::Xor32 => word(self.b.ins().bxor(a, b)),
            I::Not32 => word(self.b.ins().bnot(a)),
            I::Neg32 => word(self.b.ins().ineg(a)),
            I::AbsS32 => word(self.b.ins().iabs(a)),
            I::MinS32 => word(self.b.ins().smin(a, b)),
            I::MaxS32 => word(self.b.ins().smax(a, b)),
            I::MinU32 => word(self.b.ins().umin(a, b)),
            I::MaxU32 => word(self.b.ins().umax(a, b)),
            I::Shl32 => word(self.shifted_left(a, b)),
            I::Pack32x2 => Strip::Q(self.interleaved(a, b)),
            I::MulHiS32 | I::MulHiU32 => {
                let signed = op == I::MulHiS32;
                let (a, b) = (self.widened(a, signed), self.widened(b, signed));
                let product = [0, 1].map(|k| self.b.ins().imul(a[k], b[k]));
                word(self.upper(product))
            }
            I::ZextWQ => Strip::Q(self.widened(a, false)),
            I::SextWQ => Strip::Q(self.widened(a, true)),
            I::MulWideS32 | I::MulWideU32 | I::MadWideS32 | I::MadWideU32 => {
                let signed = matches!(op, I::MulWideS32 | I::MadWideS32);
                let (a, b) = (self.widened(a, signed), self.widened(b, signed));
                let product = [0, 1].map(|k| self.b.ins().imul(a[k], b[k]));
                match rest.get(1) {
                    Some(Strip::Q(c)) => Strip::Q([0, 1].map(|k| self.b.ins().iadd(product[k], c[k]))),
                    _ => Strip::Q(product),
                }
            }
            _ => word(a),
        }
    }

    /// Four numbers of 32 bits as two times two of 64.
    pub(super) fn widened(&mut self, a: Value, signed: bool) -> [Value; 2] {
        if signed {
            [self.b.ins().swiden_low(a), self.b.ins().swiden_high(a)]
        } else {
            [self.b.ins().uwiden_low(a), self.b.ins().uwiden_high(a)]
        }
    }

    /// The low halves of two times two numbers of 64 bits.
    pub(super) fn narrowed(&mut self, pairs: [Value; 2]) -> Value {
        self.mix(pairs[0], pairs[1], EVEN)
    }

    fn strip_wide(&mut self, op: I, a: [Value; 2], rest: &[Strip], amount: Option<Value>) -> Strip {
        let ty = types::I64X2;
        if let (I::Shl64 | I::ShrU64 | I::ShrS64, Some(amount)) = (op, amount) {
            return Strip::Q(a.map(|pair| self.shifted(op, ty, pair, amount)));
        }
        let b = match rest.first() {
            Some(Strip::Q(b)) => *b,
            _ => a,
        };
        if let Some(condition) = integer_condition(op) {
            // Unsigned numbers with the upper half first compare as signed ones.
            let (mut a, mut b) = (a, b);
            if matches!(op, I::LtU64 | I::LeU64 | I::GtU64 | I::GeU64) {
                let top = self.b.ins().iconst(types::I64, i64::MIN);
                let top = self.b.ins().splat(ty, top);
                a = a.map(|pair| self.b.ins().bxor(pair, top));
                b = b.map(|pair| self.b.ins().bxor(pair, top));
            }
            let condition = match condition {
                IntCC::UnsignedLessThan => IntCC::SignedLessThan,
                IntCC::UnsignedLessThanOrEqual => IntCC::SignedLessThanOrEqual,
                IntCC::UnsignedGreaterThan => IntCC::SignedGreaterThan,
                IntCC::UnsignedGreaterThanOrEqual => IntCC::SignedGreaterThanOrEqual,
                other => other,
            };
            let masks = [0, 1].map(|k| self.b.ins().icmp(condition, a[k], b[k]));
            return Strip::P(self.narrowed(masks));
        }
        let each = |emit: &mut Self, f: &mut dyn FnMut(&mut Self, Value, Value) -> Value| {
            Strip::Q([0, 1].map(|k| f(emit, a[k], b[k])))
        };
        match op {
            I::Add64 => each(self, &mut |emit, a, b| emit.b.ins().iadd(a, b)),
            I::Sub64 => each(self, &mut |emit, a, b| emit.b.ins().isub(a, b)),
            I::MulLo64 => each(self, &mut |emit, a, b| emit.b.ins().imul(a, b)),
            I::MadLo64 => {
                let Some(Strip::Q(c)) = rest.get(1) else { return Strip::Q(a) };
                Strip::Q([0, 1].map(|k| {
                    let product = self.b.ins().imul(a[k], b[k]);
                    self.b.ins().iadd(product, c[k])
                }))
            }
            I::And64 => each(self, &mut |emit, a, b| emit.b.ins().band(a, b)),
            I::Or64 => each(self, &mut |emit, a, b| emit.b.ins().bor(a, b)),
            I::Xor64 => each(self, &mut |emit, a, b| emit.b.ins().bxor(a, b)),
            I::Neg64 => each(self, &mut |emit, a, _| emit.b.ins().ineg(a)),
            I::Not64 => each(self, &mut |emit, a, _| emit.b.ins().bnot(a)),
            I::TruncQW => word(self.narrowed(a)),
            I::Hi32 => word(self.upper(a)),
            _ => Strip::Q(a),
        }
    }

    pub(super) fn strip_float(&mut self, op: F, x: &[Strip]) -> Strip {
        let ty = types::F32X4;
        match (op, x) {
            (F::F32OfS32 | F::F32OfU32, [Strip::W(a)]) => {
                let (a, signed) = (self.integers(*a), op == F::F32OfS32);
                let value =
                    if signed { self.b.ins().fcvt_from_sint(ty, a) } else { self.b.ins().fcvt_from_uint(ty, a) };
                return Strip::W(Word { value, float: true, loose: false });
            }
            (F::S32OfF32 | F::U32OfF32, [Strip::W(a)]) => {
                let real = self.floats(*a);
                return word(self.truncated(op, types::I32X4, real));
            }
            (F::F64OfF32 | F::F64OfS32 | F::F64OfU32, [Strip::W(a)]) => return self.widened_real(op, *a),
            (_, [Strip::Q(_), ..]) => return self.strip_double(op, x),
            _ => {}
        }
        let mut reals = Vec::new();
        for strip in x {
            let Strip::W(word) = strip else { return x[0] };
            reals.push(self.floats(*word));
        }
        if let (Some((condition, not)), [a, b]) = (float_condition(op), &reals[..]) {
            let mask = if condition == FloatCC::Unordered {
                // One of them is not equal to itself.
                let (a, b) = (self.b.ins().fcmp(condition, *a, *a), self.b.ins().fcmp(condition, *b, *b));
                self.b.ins().bor(a, b)
            } else {
                self.b.ins().fcmp(condition, *a, *b)
            };
            return Strip::P(if not { self.b.ins().bnot(mask) } else { mask });
        }
        if matches!(op, F::NeF32 | F::EquF32) {
            let less = self.b.ins().fcmp(FloatCC::LessThan, reals[0], reals[1]);
            let greater = self.b.ins().fcmp(FloatCC::GreaterThan, reals[0], reals[1]);
            let mask = self.b.ins().bor(less, greater);
            return Strip::P(if op == F::EquF32 { self.b.ins().bnot(mask) } else { mask });
        }
        let value = self.real_value(op, ty, &reals);
        Strip::W(Word { value, float: true, loose: true })
    }
}

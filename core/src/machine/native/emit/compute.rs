//! What is computed once for all lanes.

use super::super::ops::Ops;
use super::builder::{Emit, NAN, Numbers, STRIPS, Strip};
use crate::alu::float::FloatOp as F;
use crate::alu::int::IntOp as I;
use crate::base::mutant::{Mutant, on};
use crate::program::affine::Line;
use crate::program::instr::Slot;
use crate::program::ops::Class;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Type, Value, types};

/// The condition of a comparison of integers, with the class of what is compared.
pub(super) const fn integer_condition(op: I) -> Option<IntCC> {
    use IntCC as C;
    Some(match op {
        I::EqW | I::EqQ => C::Equal,
        I::NeW | I::NeQ => C::NotEqual,
        I::LtS32 | I::LtS64 => C::SignedLessThan,
        I::LeS32 | I::LeS64 => C::SignedLessThanOrEqual,
        I::GtS32 | I::GtS64 => C::SignedGreaterThan,
        I::GeS32 | I::GeS64 => C::SignedGreaterThanOrEqual,
        I::LtU32 | I::LtU64 => C::UnsignedLessThan,
        I::LeU32 | I::LeU64 => C::UnsignedLessThanOrEqual,
        I::GtU32 | I::GtU64 => C::UnsignedGreaterThan,
        I::GeU32 | I::GeU64 => C::UnsignedGreaterThanOrEqual,
        _ => return None,
    })
}

/// The condition of a comparison of floating-point numbers that holds, or, with `true`, that does not.
pub(super) const fn float_condition(op: F) -> Option<(FloatCC, bool)> {
    use FloatCC as C;
    Some(match op {
        F::EqF32 | F::EqF64 => (C::Equal, false),
        F::NeuF32 | F::NeuF64 => (C::Equal, true),
        F::LtF32 | F::LtF64 => (C::LessThan, false),
        F::LeF32 | F::LeF64 => (C::LessThanOrEqual, false),
        F::GtF32 | F::GtF64 => (C::GreaterThan, false),
        F::GeF32 | F::GeF64 => (C::GreaterThanOrEqual, false),
        F::GeuF32 | F::GeuF64 => (C::LessThan, true),
        F::GtuF32 | F::GtuF64 => (C::LessThanOrEqual, true),
        F::LeuF32 | F::LeuF64 => (C::GreaterThan, true),
        F::LtuF32 | F::LtuF64 => (C::GreaterThanOrEqual, true),
        F::NumF32 | F::NumF64 => (C::Unordered, true),
        F::NanF32 | F::NanF64 => (C::Unordered, false),
        _ => return None,
    })
}

impl Emit<'_, '_> {
    /// The numbers that an instruction leaves in a register.
    pub(super) fn scalar(&mut self, k: usize, n: usize) {
        let i = self.plan.code[k];
        let (Some(op), Some(line)) = (Ops::of(&i), self.after(k, n)) else { return };
        let (class, _) = self.plan.function.slots.name(n);
        let old = (i.guard.is_some()).then(|| self.numbers(k, n));
        if op == Ops::Int(I::ShrS32) && self.plan.assumptions.contains(&(k as u32)) && !on(Mutant::NativeNegative) {
            self.is_not_negative(k, i.a);
        }
        let numbers = if let Some(value) = line.value(class) {
            let value = self.constant(class, value);
            self.one(class, line, value)
        } else {
            self.line_of(k, op, class, line)
        };
        let numbers = match (i.guard, old) {
            (Some(guard), Some(old)) if line.value(class).is_none() => {
                let holds = self.one_predicate(guard.pred, guard.negated);
                let old = if line.halves { self.lift(old) } else { old };
                let mut values = numbers.values;
                for (half, value) in values.iter_mut().enumerate() {
                    *value = self.b.ins().select(holds, *value, old.values[half]);
                }
                Numbers { values, ..numbers }
            }
            _ => numbers,
        };
        self.set_numbers(n, numbers);
    }

    /// Whether a predicate that is the same in all lanes holds.
    fn one_predicate(&mut self, pred: Slot, negated: bool) -> Value {
        let Some(n) = self.plan.function.slots.number(Class::P, pred) else { return self.who.mask };
        let mut bits = self.mask(n);
        if self.who.some {
            bits = self.b.ins().band(bits, self.who.mask);
        }
        let condition = if negated { IntCC::Equal } else { IntCC::NotEqual };
        self.b.ins().icmp_imm(condition, bits, 0)
    }

    fn line_of(&mut self, k: usize, op: Ops, class: Class, line: Line) -> Numbers {
        let i = self.plan.code[k];
        let shape = op.shape();
        let mut sources: Vec<Result<Numbers, Value>> = Vec::new();
        for (class, slot) in shape.sources.iter().zip([i.a, i.b, i.c, i.e]) {
            if *class == Class::P {
                sources.push(Err(self.one_predicate(slot, false)));
                continue;
            }
            let Some(source) = self.plan.function.slots.number(*class, slot) else { continue };
            let mut numbers = self.numbers(k, source);
            if line.halves {
                numbers = self.lift(numbers);
            }
            sources.push(Ok(numbers));
        }
        if self.plan.assumptions.contains(&(k as u32)) && !on(Mutant::NativeWrap) {
            let checked: Vec<Numbers> = sources.iter().filter_map(|s| s.ok()).collect();
            for numbers in checked.into_iter().filter(|x| x.class == Class::W && x.line.stride != 0) {
                self.does_not_wrap(op, numbers);
            }
        }
        let mut values = [self.context; 2];
        for (half, value) in values.iter_mut().enumerate().take(1 + usize::from(line.halves)) {
            let each: Vec<Value> = sources.iter().map(|s| s.map_or_else(|v| v, |x| x.values[half])).collect();
            *value = self.scalar_value(op, &each, i.imm);
        }
        if !line.halves {
            values[1] = values[0];
        }
        Numbers { values, line, class }
    }

    /// Checks that no value of a line of 32 bits is negative.
    fn is_not_negative(&mut self, k: usize, slot: Slot) {
        let Some(n) = self.plan.function.slots.number(Class::W, slot) else { return };
        let x = self.numbers(k, n);
        let lanes = if x.line.halves { 15 } else { 31 };
        let all = i64::from((x.line.stride as u32).cast_signed()) * lanes;
        for half in 0..1 + usize::from(x.line.halves) {
            let first = self.b.ins().sextend(types::I64, x.values[half]);
            let last = self.b.ins().iadd_imm(first, all);
            // Either has a bit above those of a number that is not, if it is none of these.
            let either = self.b.ins().bor(first, last);
            let holds = self.b.ins().icmp_imm(IntCC::UnsignedLessThanOrEqual, either, i64::from(i32::MAX));
            self.check(holds);
        }
    }

    /// Checks that the values of a line of 32 bits, widened, lie on a line as well.
    fn does_not_wrap(&mut self, op: Ops, x: Numbers) {
        let unsigned = matches!(op, Ops::Int(I::ZextWQ | I::MulWideU32 | I::MadWideU32));
        let lanes = if x.line.halves { 15 } else { 31 };
        let all = i64::from((x.line.stride as u32).cast_signed()) * lanes;
        for half in 0..1 + usize::from(x.line.halves) {
            let widen = |emit: &mut Self, value| {
                if unsigned { emit.b.ins().uextend(types::I64, value) } else { emit.b.ins().sextend(types::I64, value) }
            };
            let first = widen(self, x.values[half]);
            let last = self.b.ins().iadd_imm(first, all);
            let low = self.b.ins().ireduce(types::I32, last);
            let again = widen(self, low);
            let holds = self.b.ins().icmp(IntCC::Equal, again, last);
            self.check(holds);
        }
    }

    /// The bits of a predicate that is computed for all lanes at once.
    pub(super) fn mask_value(&mut self, k: usize) -> Value {
        let i = self.plan.code[k];
        let Some(op) = Ops::of(&i) else { return self.who.mask };
        let slots = [i.a, i.b, i.c];
        if op.is_logic() {
            let mut bits = Vec::new();
            for slot in slots.iter().take(op.shape().sources.len()) {
                let Some(n) = self.plan.function.slots.number(Class::P, *slot) else { return self.who.mask };
                bits.push(self.mask(n));
            }
            return self.logic(op, &bits);
        }
        let mut values = Vec::new();
        for (class, slot) in op.shape().sources.iter().zip(slots) {
            let Some(n) = self.plan.function.slots.number(*class, slot) else { return self.who.mask };
            values.push(self.numbers(k, n).values[0]);
        }
        let holds = self.scalar_value(op, &values, i.imm);
        let wide = self.b.ins().uextend(types::I32, holds);
        self.b.ins().ineg(wide)
    }

    /// Predicates combined, bit by bit or lane by lane.
    pub(super) fn logic(&mut self, op: Ops, x: &[Value]) -> Value {
        match (op, x) {
            (Ops::Int(I::NotP), [a, ..]) => self.b.ins().bnot(*a),
            (Ops::Int(I::AndP), [a, b, ..]) => self.b.ins().band(*a, *b),
            (Ops::Int(I::OrP), [a, b, ..]) => self.b.ins().bor(*a, *b),
            (Ops::Int(I::XorP), [a, b, ..]) => self.b.ins().bxor(*a, *b),
            (Ops::Int(I::SelP), [a, b, c]) => self.b.ins().bitselect(*c, *a, *b),
            (_, [a, ..]) => *a,
            _ => self.who.mask,
        }
    }

    /// A comparison of a line with a number, decided by its first and last lane where these agree.
    pub(super) fn compared_by_ends(&mut self, k: usize, n: usize, (_, to): (usize, usize)) -> bool {
        let i = self.plan.code[k];
        let Some(Ops::Int(op)) = Ops::of(&i) else { return false };
        let signed = matches!(op, I::LtS32 | I::LeS32 | I::GtS32 | I::GeS32);
        let unsigned = matches!(op, I::LtU32 | I::LeU32 | I::GtU32 | I::GeU32);
        let Some(condition) = integer_condition(op).filter(|_| (signed || unsigned) && i.guard.is_none()) else {
            return false;
        };
        let slots = &self.plan.function.slots;
        let (Some(a), Some(b)) = (slots.number(Class::W, i.a), slots.number(Class::W, i.b)) else { return false };
        let (Some(x), Some(y)) = (self.plan.line(k, a), self.plan.line(k, b)) else { return false };
        // Strips that read it need it lane by lane anyway.
        let used = (k + 1..to)
            .any(|j| super::super::forms::sources(&self.plan.code[j], self.env, &self.plan.function).contains(&n));
        if x.halves || y.halves || x.stride != 0 && y.stride != 0 || used {
            return false;
        }
        let (x, y) = (self.numbers(k, a), self.numbers(k, b));
        let ends = |emit: &mut Self, v: Numbers| {
            let widen = |emit: &mut Self, value| {
                if signed { emit.b.ins().sextend(types::I64, value) } else { emit.b.ins().uextend(types::I64, value) }
            };
            let first = widen(emit, v.values[0]);
            let all = i64::from((v.line.stride as u32).cast_signed()) * 31;
            let last = emit.b.ins().iadd_imm(first, all);
            let low = emit.b.ins().ireduce(types::I32, last);
            let again = widen(emit, low);
            let fits = emit.b.ins().icmp(IntCC::Equal, again, last);
            (first, last, fits)
        };
        let ((x0, x1, fits_x), (y0, y1, fits_y)) = (ends(self, x), ends(self, y));
        let (first, last) = (self.b.ins().icmp(condition, x0, y0), self.b.ins().icmp(condition, x1, y1));
        let same = self.b.ins().icmp(IntCC::Equal, first, last);
        let fits = self.b.ins().band(fits_x, fits_y);
        let same = if on(Mutant::NativeEnds) { fits } else { same };
        let decided = self.b.ins().band(same, fits);
        let wide = self.b.ins().uextend(types::I32, first);
        let wide = self.b.ins().ineg(wide);
        let (slow, done) = (self.b.create_block(), self.b.create_block());
        self.b.append_block_param(done, types::I32);
        self.b.ins().brif(decided, done, &[BlockArg::Value(wide)], slow, &[]);
        self.b.switch_to_block(slow);
        let splats = std::mem::take(&mut self.segment.splats);
        let mut bits = None;
        for s in 0..STRIPS {
            let (a, b) = (self.strip_of(x, s), self.strip_of(y, s));
            let Strip::P(mask) = self.compute(Ops::Int(op), &[a, b], None, i.imm) else { continue };
            let high = self.b.ins().vhigh_bits(types::I32, mask);
            let high = self.b.ins().ishl_imm(high, 4 * s as i64);
            bits = Some(bits.map_or(high, |lower| self.b.ins().bor(lower, high)));
        }
        self.segment.splats = splats;
        let bits = bits.unwrap_or(wide);
        self.b.ins().jump(done, &[BlockArg::Value(bits)]);
        self.b.switch_to_block(done);
        let value = self.b.block_params(done)[0];
        self.set_mask(n, value);
        true
    }

    /// An operation on the numbers of one lane, with its mode; of a comparison, whether it holds.
    pub(super) fn scalar_value(&mut self, op: Ops, x: &[Value], mode: u32) -> Value {
        match op {
            Ops::Int(op) => {
                let bits = self.word_bits(op, x, mode).or_else(|| self.lane_bits(op, x));
                bits.unwrap_or_else(|| self.scalar_integer(op, x))
            }
            Ops::Float(op) if op.shape().dest == Class::Q || op.shape().sources.contains(&Class::Q) => {
                self.scalar_double(op, x)
            }
            Ops::Float(op) => self.scalar_float(op, x),
        }
    }

    fn scalar_integer(&mut self, op: I, x: &[Value]) -> Value {
        if let (Some(condition), [a, b]) = (integer_condition(op), x) {
            return self.b.ins().icmp(condition, *a, *b);
        }
        let extend = |emit: &mut Self, value, signed| {
            if signed { emit.b.ins().sextend(types::I64, value) } else { emit.b.ins().uextend(types::I64, value) }
        };
        match (op, x) {
            (I::Add32 | I::Add64, [a, b]) => self.b.ins().iadd(*a, *b),
            (I::Sub32 | I::Sub64, [a, b]) => self.b.ins().isub(*a, *b),
            (I::MulLo32 | I::MulLo64, [a, b]) => self.b.ins().imul(*a, *b),
            (I::MadLo32 | I::MadLo64, [a, b, c]) => {
                let product = self.b.ins().imul(*a, *b);
                self.b.ins().iadd(product, *c)
            }
            (I::MulWideS32 | I::MulWideU32, [a, b]) => {
                let signed = op == I::MulWideS32;
                let (a, b) = (extend(self, *a, signed), extend(self, *b, signed));
                self.b.ins().imul(a, b)
            }
            (I::MadWideS32 | I::MadWideU32, [a, b, c]) => {
                let signed = op == I::MadWideS32;
                let (a, b) = (extend(self, *a, signed), extend(self, *b, signed));
                let product = self.b.ins().imul(a, b);
                self.b.ins().iadd(product, *c)
            }
            (I::And32 | I::And64, [a, b]) => self.b.ins().band(*a, *b),
            (I::Or32 | I::Or64, [a, b]) => self.b.ins().bor(*a, *b),
            (I::Xor32 | I::Xor64, [a, b]) => self.b.ins().bxor(*a, *b),
            (I::Not32 | I::Not64, [a]) => self.b.ins().bnot(*a),
            (I::Hi32, [a]) => {
                let high = self.b.ins().ushr_imm(*a, 32);
                self.b.ins().ireduce(types::I32, high)
            }
            (I::Pack32x2, [a, b]) => {
                let (low, high) = (extend(self, *a, false), extend(self, *b, false));
                let high = self.b.ins().ishl_imm(high, 32);
                self.b.ins().bor(low, high)
            }
            (I::MulHiS32 | I::MulHiU32, [a, b]) => {
                let signed = op == I::MulHiS32;
                let (a, b) = (extend(self, *a, signed), extend(self, *b, signed));
                let product = self.b.ins().imul(a, b);
                let high = self.b.ins().ushr_imm(product, 32);
                self.b.ins().ireduce(types::I32, high)
            }
            (I::Neg32 | I::Neg64, [a]) => self.b.ins().ineg(*a),
            (I::AbsS32, [a]) => self.b.ins().iabs(*a),
            (I::MinS32, [a, b]) => self.b.ins().smin(*a, *b),
            (I::MaxS32, [a, b]) => self.b.ins().smax(*a, *b),
            (I::MinU32, [a, b]) => self.b.ins().umin(*a, *b),
            (I::MaxU32, [a, b]) => self.b.ins().umax(*a, *b),
            (I::ZextWQ, [a]) => extend(self, *a, false),
            (I::SextWQ, [a]) => extend(self, *a, true),
            (I::TruncQW, [a]) => self.b.ins().ireduce(types::I32, *a),
            (I::SelW | I::SelQ, [a, b, c]) => self.b.ins().select(*c, *a, *b),
            (I::Shl32 | I::ShrU32 | I::ShrS32, [a, b]) => self.shifted(op, types::I32, *a, *b),
            (I::Shl64 | I::ShrU64 | I::ShrS64, [a, b]) => self.shifted(op, types::I64, *a, *b),
            (_, [a, ..]) => *a,
            _ => self.who.mask,
        }
    }

    /// A shift; all bits go where it is by more than there are.
    pub(super) fn shifted(&mut self, op: I, ty: Type, a: Value, amount: Value) -> Value {
        let bits = i64::from(ty.lane_bits());
        if matches!(op, I::ShrS32 | I::ShrS64) {
            let most = self.b.ins().iconst(types::I32, bits - 1);
            let amount = self.b.ins().umin(amount, most);
            return self.b.ins().sshr(a, amount);
        }
        let value = match op {
            I::ShrU32 | I::ShrU64 => self.b.ins().ushr(a, amount),
            _ => self.b.ins().ishl(a, amount),
        };
        if on(Mutant::NativeShift) {
            return value;
        }
        let inside = self.b.ins().icmp_imm(IntCC::UnsignedLessThan, amount, bits);
        if ty.is_vector() {
            let keep = self.b.ins().uextend(ty.lane_type(), inside);
            let keep = self.b.ins().ineg(keep);
            let keep = self.b.ins().splat(ty, keep);
            return self.b.ins().band(value, keep);
        }
        let none = self.b.ins().iconst(ty, 0);
        self.b.ins().select(inside, value, none)
    }

    fn scalar_float(&mut self, op: F, x: &[Value]) -> Value {
        if matches!(op, F::F32OfS32 | F::F32OfU32) {
            let signed = op == F::F32OfS32;
            let ty = types::F32;
            let value =
                if signed { self.b.ins().fcvt_from_sint(ty, x[0]) } else { self.b.ins().fcvt_from_uint(ty, x[0]) };
            return self.bits(value);
        }
        if matches!(op, F::S32OfF32 | F::U32OfF32) {
            let real = self.real(x[0]);
            return self.truncated(op, types::I32, real);
        }
        let reals: Vec<Value> = x.iter().map(|v| self.real(*v)).collect();
        if let (Some((condition, not)), [a, b]) = (float_condition(op), &reals[..]) {
            let holds = self.b.ins().fcmp(condition, *a, *b);
            return if not { self.b.ins().bxor_imm(holds, 1) } else { holds };
        }
        if matches!(op, F::NeF32 | F::EquF32) {
            let less = self.b.ins().fcmp(FloatCC::LessThan, reals[0], reals[1]);
            let greater = self.b.ins().fcmp(FloatCC::GreaterThan, reals[0], reals[1]);
            let holds = self.b.ins().bor(less, greater);
            return if op == F::EquF32 { self.b.ins().bxor_imm(holds, 1) } else { holds };
        }
        let value = self.real_value(op, types::F32, &reals);
        let nan = self.b.ins().fcmp(FloatCC::Unordered, value, value);
        let (value, canonical) = (self.bits(value), self.b.ins().iconst(types::I32, NAN));
        self.b.ins().select(nan, canonical, value)
    }

    /// The integers that numbers become, the nearest ones there are; those of NaN are zero.
    pub(super) fn truncated(&mut self, op: F, ty: Type, real: Value) -> Value {
        if op == F::S32OfF32 {
            self.b.ins().fcvt_to_sint_sat(ty, real)
        } else {
            self.b.ins().fcvt_to_uint_sat(ty, real)
        }
    }

    /// An operation on floating-point numbers, of one lane or four; a NaN may be any.
    pub(super) fn real_value(&mut self, op: F, ty: Type, x: &[Value]) -> Value {
        match (op, x) {
            (F::AddF32, [a, b]) => self.b.ins().fadd(*a, *b),
            (F::SubF32, [a, b]) => self.b.ins().fsub(*a, *b),
            (F::MulF32, [a, b]) => self.b.ins().fmul(*a, *b),
            (F::DivF32, [a, b]) => self.b.ins().fdiv(*a, *b),
            (F::FmaF32, [a, b, c]) => self.b.ins().fma(*a, *b, *c),
            (F::SqrtF32, [a]) => self.b.ins().sqrt(*a),
            (F::RcpF32 | F::RsqrtF32, [a]) => {
                let root = if op == F::RsqrtF32 { self.b.ins().sqrt(*a) } else { *a };
                let one = self.b.ins().f32const(1.0);
                let one = if ty.is_vector() { self.b.ins().splat(ty, one) } else { one };
                self.b.ins().fdiv(one, root)
            }
            (F::NegF32, [a]) => self.b.ins().fneg(*a),
            (F::AbsF32, [a]) => self.b.ins().fabs(*a),
            (F::MinF32 | F::MaxF32, [a, b]) => self.extreme(op == F::MinF32, ty, *a, *b),
            (_, [a, ..]) => *a,
            _ => self.context,
        }
    }

    /// The smaller or the larger of two, of which one that is no number is not chosen; of zeros, that of the right sign.
    fn extreme(&mut self, smaller: bool, ty: Type, a: Value, b: Value) -> Value {
        let integers = if ty.is_vector() { types::I32X4 } else { types::I32 };
        let (x, y) = (self.reinterpret(integers, a), self.reinterpret(integers, b));
        let equal = if smaller { self.b.ins().bor(x, y) } else { self.b.ins().band(x, y) };
        let condition = if smaller { FloatCC::LessThan } else { FloatCC::GreaterThan };
        let pick = |emit: &mut Self, holds: Value, yes: Value, no: Value| {
            if ty.is_vector() { emit.b.ins().bitselect(holds, yes, no) } else { emit.b.ins().select(holds, yes, no) }
        };
        let first = self.b.ins().fcmp(condition, a, b);
        let value = pick(self, first, x, y);
        let same = self.b.ins().fcmp(FloatCC::Equal, a, b);
        let value = pick(self, same, equal, value);
        let none = self.b.ins().fcmp(FloatCC::Unordered, a, a);
        let value = pick(self, none, y, value);
        let none = self.b.ins().fcmp(FloatCC::Unordered, b, b);
        let value = pick(self, none, x, value);
        self.reinterpret(ty, value)
    }
}

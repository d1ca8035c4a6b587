//! Floating-point numbers of 64 bits, and conversions to and from them.
//!
//! NaNs keep what they carry (D-nan64): of two sources the second one's comes first, of three the third one's before the first one's.
//! The processor's operations make a NaN of one source quiet as well, and have the same NaN for invalid ones; where several sources
//! are NaNs, theirs depends on which operand an instruction has where. So it is the sources that come first that are looked at; in
//! strips, where a result is a NaN at all (`nans.rs`).

use super::builder::{Emit, Strip, Word};
use super::compute::float_condition;
use crate::alu::float::FloatOp as F;
use crate::base::mutant::{Mutant, on};
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};

/// What makes a NaN quiet.
const QUIET: i64 = 1 << 51;

/// The floating-point type of numbers that are held as integers.
fn real_type(ints: Type) -> Type {
    if ints.is_vector() { types::F64X2 } else { types::F64 }
}

impl Emit<'_, '_> {
    /// A number of an integer type, in all lanes of a vector.
    pub(super) fn number(&mut self, ty: Type, value: i64) -> Value {
        let value = self.b.ins().iconst(ty.lane_type(), value);
        if ty.is_vector() { self.b.ins().splat(ty, value) } else { value }
    }

    /// One of two: by a mask for vectors, by a condition for numbers.
    pub(super) fn pick(&mut self, holds: Value, yes: Value, no: Value) -> Value {
        if self.b.func.dfg.value_type(yes).is_vector() {
            self.b.ins().bitselect(holds, yes, no)
        } else {
            self.b.ins().select(holds, yes, no)
        }
    }

    /// A NaN made quiet; otherwise something else.
    fn quiet_or(&mut self, x: Value, otherwise: Value) -> Value {
        if on(Mutant::NativeNan64) {
            return otherwise;
        }
        let ty = self.b.func.dfg.value_type(x);
        let quiet = self.number(ty, QUIET);
        let quiet = self.b.ins().bor(x, quiet);
        let real = self.reinterpret(real_type(ty), x);
        let nan = self.b.ins().fcmp(FloatCC::Unordered, real, real);
        self.pick(nan, quiet, otherwise)
    }

    /// An operation on numbers as integers hold them, of one lane or two.
    pub(super) fn double(&mut self, op: F, x: &[Value]) -> Value {
        let Some(first) = x.first().copied() else { return self.context };
        let ints = self.b.func.dfg.value_type(first);
        let reals: Vec<Value> = x.iter().map(|v| self.reinterpret(real_type(ints), *v)).collect();
        match (op, &reals[..]) {
            (F::DivF64, [a, b]) => {
                // The dividend's NaN comes first, as the processor has it.
                let value = self.b.ins().fdiv(*a, *b);
                self.reinterpret(ints, value)
            }
            (F::SqrtF64, [a]) => {
                let value = self.b.ins().sqrt(*a);
                self.reinterpret(ints, value)
            }
            (F::RcpF64, [a]) => {
                let one = self.number(ints, 1.0_f64.to_bits().cast_signed());
                let one = self.reinterpret(real_type(ints), one);
                let value = self.b.ins().fdiv(one, *a);
                self.reinterpret(ints, value)
            }
            (F::NegF64 | F::AbsF64, [_]) => {
                let sign = self.number(ints, i64::MIN);
                let bits =
                    if op == F::NegF64 { self.b.ins().bxor(first, sign) } else { self.b.ins().band_not(first, sign) };
                self.quiet_or(first, bits)
            }
            (F::MinF64 | F::MaxF64, [a, b]) => self.extreme_double(op == F::MinF64, (*a, *b), (first, x[1])),
            _ => match self.raw_double(op, x) {
                Some(bits) => self.source_nan(op, bits, x),
                None => first,
            },
        }
    }

    /// A sum, a difference or a product, or both, whose NaN may be that of another source.
    fn raw_double(&mut self, op: F, x: &[Value]) -> Option<Value> {
        let ints = self.b.func.dfg.value_type(*x.first()?);
        let reals: Vec<Value> = x.iter().map(|v| self.reinterpret(real_type(ints), *v)).collect();
        let value = match (op, &reals[..]) {
            (F::AddF64, [a, b]) => self.b.ins().fadd(*a, *b),
            (F::SubF64, [a, b]) => self.b.ins().fsub(*a, *b),
            (F::MulF64, [a, b]) => self.b.ins().fmul(*a, *b),
            (F::FmaF64, [a, b, c]) => self.b.ins().fma(*a, *b, *c),
            _ => return None,
        };
        Some(self.reinterpret(ints, value))
    }

    /// A result of [`Emit::raw_double`], or the NaN of the source that comes first.
    fn source_nan(&mut self, op: F, bits: Value, x: &[Value]) -> Value {
        match (op, x) {
            (F::FmaF64, [_, b, c]) => {
                let bits = self.quiet_or(*c, bits);
                self.quiet_or(*b, bits)
            }
            (_, [_, b, ..]) => self.quiet_or(*b, bits),
            _ => bits,
        }
    }

    /// The smaller or the larger of two; one that is no number is not chosen, and of two that are none the second is.
    fn extreme_double(&mut self, smaller: bool, (a, b): (Value, Value), (x, y): (Value, Value)) -> Value {
        let equal = if smaller { self.b.ins().bor(x, y) } else { self.b.ins().band(x, y) };
        let condition = if smaller { FloatCC::LessThan } else { FloatCC::GreaterThan };
        let first = self.b.ins().fcmp(condition, a, b);
        let value = self.pick(first, x, y);
        let same = self.b.ins().fcmp(FloatCC::Equal, a, b);
        let value = self.pick(same, equal, value);
        let (none_a, none_b) =
            (self.b.ins().fcmp(FloatCC::Unordered, a, a), self.b.ins().fcmp(FloatCC::Unordered, b, b));
        let value = self.pick(none_b, x, value);
        // Where both are none that is the second one, made quiet.
        let second = self.quiet_or(y, y);
        self.pick(none_a, second, value)
    }

    /// An operation on four lanes of 64 bits.
    pub(super) fn strip_double(&mut self, op: F, x: &[Strip]) -> Strip {
        let mut halves: [Vec<Value>; 2] = [Vec::new(), Vec::new()];
        for strip in x {
            let Strip::Q(pairs) = strip else { return x[0] };
            halves.iter_mut().zip(pairs).for_each(|(half, pair)| half.push(*pair));
        }
        if op == F::F32OfF64 {
            let pairs = halves.map(|pair| self.reinterpret(types::F64X2, pair[0]));
            let value = self.narrowed_reals(pairs);
            return Strip::W(Word { value, float: false, loose: false });
        }
        if float_condition(op).is_some() || matches!(op, F::NeF64 | F::EquF64) {
            let masks = halves.map(|pair| self.compared(op, &pair));
            return Strip::P(self.narrowed(masks));
        }
        if !self.is_raw() {
            return Strip::Q(halves.map(|pair| self.double(op, &pair)));
        }
        let pairs = halves.map(|pair| self.raw_double(op, &pair).unwrap_or_else(|| self.double(op, &pair)));
        if !matches!(op, F::NegF64 | F::AbsF64 | F::MinF64 | F::MaxF64) {
            self.look_at(pairs);
        }
        Strip::Q(pairs)
    }

    /// A comparison of numbers of 64 bits.
    pub(super) fn compared(&mut self, op: F, x: &[Value]) -> Value {
        let [a, b] = x else { return self.context };
        let ints = self.b.func.dfg.value_type(*a);
        let [a, b] = [*a, *b].map(|v| self.reinterpret(real_type(ints), v));
        let (holds, not) = match float_condition(op) {
            Some((FloatCC::Unordered, not)) => {
                let nans = [a, b].map(|v| self.b.ins().fcmp(FloatCC::Unordered, v, v));
                (self.b.ins().bor(nans[0], nans[1]), not)
            }
            Some((condition, not)) => (self.b.ins().fcmp(condition, a, b), not),
            None => {
                let less = self.b.ins().fcmp(FloatCC::LessThan, a, b);
                let greater = self.b.ins().fcmp(FloatCC::GreaterThan, a, b);
                (self.b.ins().bor(less, greater), op == F::EquF64)
            }
        };
        match (not, ints.is_vector()) {
            (false, _) => holds,
            (true, true) => self.b.ins().bnot(holds),
            (true, false) => self.b.ins().bxor_imm(holds, 1),
        }
    }

    /// Four numbers of 32 bits as numbers of 64 bits.
    pub(super) fn widened_real(&mut self, op: F, word: Word) -> Strip {
        let words = self.integers(word);
        let pairs = match op {
            F::F64OfS32 => self.widened(words, true).map(|wide| self.b.ins().fcvt_from_sint(types::F64X2, wide)),
            F::F64OfU32 => self.widened(words, false).map(|wide| self.b.ins().fcvt_from_uint(types::F64X2, wide)),
            _ => self.widened_reals(words),
        };
        Strip::Q(pairs.map(|pair| self.reinterpret(types::I64X2, pair)))
    }

    /// An operation on one lane that reads or writes a number of 64 bits.
    pub(super) fn scalar_double(&mut self, op: F, x: &[Value]) -> Value {
        let value = match op {
            F::F64OfS32 => self.b.ins().fcvt_from_sint(types::F64, x[0]),
            F::F64OfU32 => self.b.ins().fcvt_from_uint(types::F64, x[0]),
            F::F64OfF32 => {
                let real = self.real(x[0]);
                self.b.ins().fpromote(types::F64, real)
            }
            F::F32OfF64 => {
                let real = self.reinterpret(types::F64, x[0]);
                let value = self.b.ins().fdemote(types::F32, real);
                return self.bits(value);
            }
            op if float_condition(op).is_some() || matches!(op, F::NeF64 | F::EquF64) => return self.compared(op, x),
            op => return self.double(op, x),
        };
        self.reinterpret(types::I64, value)
    }
}

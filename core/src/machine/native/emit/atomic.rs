//! Atomic operations on words of 32 bits: lane after lane, each finds what the one before has left.

use super::super::each::Each;
use super::builder::{Emit, NAN, Strip, Word, anywhere};
use crate::program::instr::NO_SLOT;
use crate::program::ops::{AtomOp, AtomTy, Class};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use rustc_hash::FxHashMap;

impl Emit<'_, '_> {
    /// An atomic operation of four lanes; gives what they found, if that is wanted.
    pub(super) fn operate(
        &mut self,
        k: usize,
        each: Each,
        (op, ty): (AtomOp, AtomTy),
        s: usize,
        now: &mut FxHashMap<usize, Strip>,
    ) -> Option<Strip> {
        let mut operands = Vec::new();
        for slot in each.data.iter().skip(1).filter(|slot| **slot != NO_SLOT).take(2) {
            let n = self.plan.function.slots.number(Class::W, *slot)?;
            let strip = self.read(k, n, s, now);
            operands.push((n, strip));
        }
        let mut olds = vec![self.context; 4];
        for (lane, (place, at)) in self.lane_places(k, each, s) {
            let old = self.b.ins().load(types::I32, anywhere(), place, at);
            let mut values = [old; 2];
            for (value, (n, strip)) in values.iter_mut().zip(&operands) {
                *value = self.lane_of(k, *n, *strip, lane);
            }
            let new = self.operated(op, ty, old, values);
            let new = self.kept(lane, new, (place, at));
            self.b.ins().store(anywhere(), new, place, at);
            olds[lane % 4] = old;
        }
        (each.data[0] != NO_SLOT).then(|| {
            let value = self.gathered(types::I32X4, &olds);
            Strip::W(Word { value, float: false, loose: false })
        })
    }

    /// A lane of what an instruction reads.
    pub(super) fn lane_of(&mut self, k: usize, n: usize, strip: Strip, lane: usize) -> Value {
        if let Some(x) = self.segment.read.get(&(k, n)).copied() {
            let (half, lane) = if x.line.halves { (lane / 16, lane % 16) } else { (0, lane) };
            let more = self.step(x, lane as i64);
            return if more == 0 { x.values[half] } else { self.b.ins().iadd_imm(x.values[half], more) };
        }
        match strip {
            Strip::W(word) => {
                let value = self.integers(word);
                self.b.ins().extractlane(value, (lane % 4) as u8)
            }
            Strip::Q(pairs) => self.b.ins().extractlane(pairs[lane % 4 / 2], (lane % 2) as u8),
            Strip::P(mask) => self.b.ins().extractlane(mask, (lane % 4) as u8),
        }
    }

    /// What becomes of a word.
    fn operated(&mut self, op: AtomOp, ty: AtomTy, old: Value, [b, c]: [Value; 2]) -> Value {
        use AtomOp as O;
        let signed = ty == AtomTy::S32;
        match op {
            O::Add if ty.is_float() => self.added(old, b, ty == AtomTy::F32Ftz),
            O::Add => self.b.ins().iadd(old, b),
            O::And => self.b.ins().band(old, b),
            O::Or => self.b.ins().bor(old, b),
            O::Xor => self.b.ins().bxor(old, b),
            O::Exch => b,
            O::Cas => {
                let same = self.b.ins().icmp(IntCC::Equal, old, b);
                self.b.ins().select(same, c, old)
            }
            O::Min if signed => self.b.ins().smin(old, b),
            O::Min => self.b.ins().umin(old, b),
            O::Max if signed => self.b.ins().smax(old, b),
            O::Max => self.b.ins().umax(old, b),
            O::Inc => {
                let (end, more) = (self.b.ins().iconst(types::I32, 0), self.b.ins().iadd_imm(old, 1));
                let at_end = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, old, b);
                self.b.ins().select(at_end, end, more)
            }
            O::Dec => {
                let fewer = self.b.ins().iadd_imm(old, -1);
                // Zero minus one is the largest of all.
                let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, fewer, b);
                self.b.ins().select(inside, fewer, b)
            }
            O::Barrier => old,
        }
    }

    /// A sum of floating-point numbers, with one NaN; `flush`: subnormal numbers are zeros of their signs.
    fn added(&mut self, old: Value, more: Value, flush: bool) -> Value {
        let flushed = |emit: &mut Self, bits: Value| {
            let exponent = emit.b.ins().band_imm(bits, 0x7f80_0000);
            let sign = emit.b.ins().band_imm(bits, i64::from(i32::MIN));
            emit.b.ins().select(exponent, bits, sign)
        };
        let [mut a, mut b] = [old, more];
        if flush {
            (a, b) = (flushed(self, a), flushed(self, b));
        }
        let (a, b) = (self.real(a), self.real(b));
        let sum = self.b.ins().fadd(a, b);
        let nan = self.b.ins().fcmp(FloatCC::Unordered, sum, sum);
        let (bits, canonical) = (self.bits(sum), self.b.ins().iconst(types::I32, NAN));
        let bits = if flush { flushed(self, bits) } else { bits };
        self.b.ins().select(nan, canonical, bits)
    }
}

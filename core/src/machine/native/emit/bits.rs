//! Bits: tables, halves, fields, counts, quotients. What has no vector instructions is computed lane by lane.

use super::super::ops::Ops;
use super::builder::{Emit, Strip, Word};
use crate::alu::int::IntOp as I;
use crate::base::mutant::{Mutant, on};
use crate::program::ops::Class;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};

/// A function of bits: a constant one, bits, or their negation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Table {
    All(bool),
    Is(Value),
    Not(Value),
}

impl Emit<'_, '_> {
    /// The function that is one where a bit is not set, and another where it is.
    fn chosen(&mut self, bit: Value, zero: Table, one: Table) -> Table {
        use Table::{All, Is, Not};
        match (zero, one) {
            (zero, one) if zero == one => zero,
            (All(false), All(_)) => Is(bit),
            (All(true), All(_)) => Not(bit),
            (Is(x), Not(y)) if x == y => Is(self.b.ins().bxor(bit, x)),
            (Not(x), Is(y)) if x == y => Not(self.b.ins().bxor(bit, x)),
            (All(false), Is(x)) => Is(self.b.ins().band(bit, x)),
            (Is(x), All(false)) => Is(self.b.ins().band_not(x, bit)),
            (Is(x), All(true)) => Is(self.b.ins().bor(x, bit)),
            (zero, one) => {
                let (zero, one) = (self.table(bit, zero), self.table(bit, one));
                let differ = self.b.ins().bxor(zero, one);
                let differ = self.b.ins().band(differ, bit);
                Is(self.b.ins().bxor(zero, differ))
            }
        }
    }

    /// The value of a function, of the type of another value.
    fn table(&mut self, like: Value, table: Table) -> Value {
        let ty = self.b.func.dfg.value_type(like);
        match table {
            Table::All(set) => self.number(ty, if set { -1 } else { 0 }),
            Table::Is(x) => x,
            Table::Not(x) => self.b.ins().bnot(x),
        }
    }

    /// Any function of three bits, by its table.
    fn multiplexed(&mut self, [a, b, c]: [Value; 3], lut: u32) -> Value {
        let entry = |i: u32| Table::All(lut >> i & 1 == 1);
        let pairs: Vec<Table> = (0..4).map(|i| self.chosen(c, entry(2 * i), entry(2 * i + 1))).collect();
        let (low, high) = (self.chosen(b, pairs[0], pairs[1]), self.chosen(b, pairs[2], pairs[3]));
        let all = self.chosen(a, low, high);
        self.table(a, all)
    }

    /// An operation on 32-bit words that is the same for one and for four.
    pub(super) fn word_bits(&mut self, op: I, x: &[Value], mode: u32) -> Option<Value> {
        let ty = self.b.func.dfg.value_type(*x.first()?);
        let extended = |emit: &mut Self, x: Value, bits: i64| {
            let up = emit.b.ins().ishl_imm(x, 32 - bits);
            emit.b.ins().sshr_imm(up, 32 - bits)
        };
        Some(match (op, x) {
            (I::Lop3, [a, b, c]) => self.multiplexed([*a, *b, *c], mode),
            (I::Lo16 | I::Zx16, [a]) => {
                let low = self.number(ty, 0xffff);
                self.b.ins().band(*a, low)
            }
            (I::Zx8, [a]) => {
                let low = self.number(ty, 0xff);
                self.b.ins().band(*a, low)
            }
            (I::Sx16W, [a]) => extended(self, *a, 16),
            (I::Sx8W, [a]) => extended(self, *a, 8),
            (I::Hi16, [a]) => self.b.ins().ushr_imm(*a, 16),
            (I::Pack16x2, [a, b]) => {
                let low = self.number(ty, 0xffff);
                let (low, high) = (self.b.ins().band(*a, low), self.b.ins().ishl_imm(*b, 16));
                self.b.ins().bor(low, high)
            }
            _ => return None,
        })
    }

    /// Words shifted to the left, each by its own amount: times a power of two, which is made as a floating-point number.
    pub(super) fn shifted_left(&mut self, a: Value, amount: Value) -> Value {
        let exponent = self.b.ins().ishl_imm(amount, 23);
        let one = self.number(types::I32X4, 0x3f80_0000);
        let power = self.b.ins().iadd(exponent, one);
        let power = self.reinterpret(types::F32X4, power);
        // 2³¹, which is no such integer, becomes the one with its highest bit set.
        let power = self.b.ins().x86_cvtt2dq(types::I32X4, power);
        let value = self.b.ins().imul(a, power);
        if on(Mutant::NativeShift) {
            return value;
        }
        let bits = self.number(types::I32X4, 32);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, amount, bits);
        self.b.ins().band(value, inside)
    }

    /// An operation on four lanes, one after the other; the operands with the numbers of their registers.
    pub(super) fn lane_by_lane(&mut self, k: usize, op: Ops, x: &[(usize, Strip)], s: usize) -> Strip {
        let mut values = Vec::new();
        for lane in 4 * s..4 * s + 4 {
            let each: Vec<Value> = x.iter().map(|(n, strip)| self.lane_of(k, *n, *strip, lane)).collect();
            values.push(self.scalar_value(op, &each, self.plan.code[k].imm));
        }
        if op.shape().dest == Class::Q {
            let (low, high) = values.split_at(2);
            return Strip::Q([low, high].map(|two| self.gathered(types::I64X2, two)));
        }
        let value = self.gathered(types::I32X4, &values);
        Strip::W(Word { value, float: false, loose: false })
    }

    /// An operation on one lane that has no vector instructions.
    pub(super) fn lane_bits(&mut self, op: I, x: &[Value]) -> Option<Value> {
        let narrow = |emit: &mut Self, x| emit.b.ins().ireduce(types::I32, x);
        let zeros = |emit: &mut Self, x| {
            let zeros = emit.b.ins().clz(x);
            let most = emit.b.ins().iconst(types::I32, 31);
            emit.b.ins().isub(most, zeros)
        };
        Some(match (op, x) {
            (I::Popc32, [a]) => self.b.ins().popcnt(*a),
            (I::Popc64, [a]) => {
                let count = self.b.ins().popcnt(*a);
                narrow(self, count)
            }
            (I::Clz32, [a]) => self.b.ins().clz(*a),
            (I::Clz64, [a]) => {
                let count = self.b.ins().clz(*a);
                narrow(self, count)
            }
            (I::Brev32, [a]) => self.b.ins().bitrev(*a),
            (I::BfindU32, [a]) => zeros(self, *a),
            (I::BfindS32, [a]) => {
                let sign = self.b.ins().sshr_imm(*a, 31);
                let bits = self.b.ins().bxor(*a, sign);
                zeros(self, bits)
            }
            (I::BfindShiftamtU32, [a]) => {
                let (count, none) = (self.b.ins().clz(*a), self.b.ins().iconst(types::I32, -1));
                self.b.ins().select(*a, count, none)
            }
            (I::MulHiU64, [a, b]) => self.b.ins().umulhi(*a, *b),
            (I::MulHiS64, [a, b]) => self.b.ins().smulhi(*a, *b),
            (I::DivU32 | I::RemU32 | I::DivS32 | I::RemS32, [a, b]) => self.quotient(op, *a, *b),
            (I::BfeU32 | I::BfeS32 | I::Bfi32, _) => return self.field(op, x),
            (I::ShfLWrap | I::ShfRWrap, [a, b, c]) => {
                let (low, high) = (self.b.ins().uextend(types::I64, *a), self.b.ins().uextend(types::I64, *b));
                let high = self.b.ins().ishl_imm(high, 32);
                let both = self.b.ins().bor(low, high);
                let by = self.b.ins().band_imm(*c, 31);
                let moved = if op == I::ShfRWrap {
                    self.b.ins().ushr(both, by)
                } else {
                    let up = self.b.ins().ishl(both, by);
                    self.b.ins().ushr_imm(up, 32)
                };
                narrow(self, moved)
            }
            _ => return None,
        })
    }

    /// A quotient or what is left of one; all bits are set where the divisor is zero.
    fn quotient(&mut self, op: I, a: Value, b: Value) -> Value {
        let ones = self.b.ins().iconst(types::I32, -1);
        let one = self.b.ins().iconst(types::I32, 1);
        let none = self.b.ins().icmp_imm(IntCC::Equal, b, 0);
        let safe = self.b.ins().select(none, one, b);
        let value = match op {
            I::DivU32 => self.b.ins().udiv(a, safe),
            I::RemU32 => self.b.ins().urem(a, safe),
            _ => {
                // The least number has no negation; by one it is divided without a fault.
                let minus = self.b.ins().icmp_imm(IntCC::Equal, b, -1);
                let safe = self.b.ins().select(minus, one, safe);
                if op == I::RemS32 {
                    self.b.ins().srem(a, safe)
                } else {
                    let (value, negated) = (self.b.ins().sdiv(a, safe), self.b.ins().ineg(a));
                    self.b.ins().select(minus, negated, value)
                }
            }
        };
        self.b.ins().select(none, ones, value)
    }

    /// A field taken out of a word, or put into one; its place and its length are a byte each.
    fn field(&mut self, op: I, x: &[Value]) -> Option<Value> {
        let (a, [place, length]) = match x {
            [a, place, length] => (*a, [*place, *length]),
            [a, _, place, length] => (*a, [*place, *length]),
            _ => return None,
        };
        let [place, length] = [place, length].map(|x| self.b.ins().band_imm(x, 0xff));
        if op == I::BfeS32 {
            let wide = self.b.ins().sextend(types::I64, a);
            let (most, all) = (self.b.ins().iconst(types::I32, 63), self.b.ins().iconst(types::I32, 64));
            let place = self.b.ins().umin(place, most);
            let wide = self.b.ins().sshr(wide, place);
            let kept = self.b.ins().umin(length, all);
            let unused = self.b.ins().isub(all, kept);
            let up = self.b.ins().ishl(wide, unused);
            let down = self.b.ins().sshr(up, unused);
            let (field, none) = (self.b.ins().ireduce(types::I32, down), self.b.ins().iconst(types::I32, 0));
            return Some(self.b.ins().select(length, field, none));
        }
        let one = self.b.ins().iconst(types::I32, 1);
        let end = self.shifted(I::Shl32, types::I32, one, length);
        let ones = self.b.ins().iadd_imm(end, -1);
        if op == I::BfeU32 {
            let field = self.shifted(I::ShrU32, types::I32, a, place);
            return Some(self.b.ins().band(field, ones));
        }
        let mask = self.shifted(I::Shl32, types::I32, ones, place);
        let field = self.shifted(I::Shl32, types::I32, a, place);
        let (field, rest) = (self.b.ins().band(field, mask), self.b.ins().band_not(x[1], mask));
        Some(self.b.ins().bor(field, rest))
    }
}

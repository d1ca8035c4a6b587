//! Whether addresses that lie anywhere are right, all lanes' at once.

use super::super::each::{Each, What};
use super::builder::{Emit, Rows, STRIPS, Strip, offset, trusted};
use crate::base::mutant::{Mutant, on};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};

impl Emit<'_, '_> {
    /// Looks whether addresses of 64 bits are those of rows, where all lanes load or store one word.
    pub(super) fn rows(&mut self, each: Each, n: usize) -> Option<Rows> {
        if self.who.some || each.words != 1 || each.bytes < 4 || matches!(each.what, What::Atomic(..)) {
            return None;
        }
        let (from, slot) = self.slot_of(n);
        let first = [0, 16].map(|lane| self.b.ins().load(types::I64, trusted(), from, offset(slot + 8 * lane)));
        let differ = [0, 1].map(|half| {
            let begin = self.b.ins().splat(types::I64X2, first[half]);
            let mut all = None;
            for s in 0..STRIPS / 2 {
                let Strip::Q(pairs) = self.frame_strip(n, 4 * half + s) else { continue };
                for (k, pair) in (0..).zip(pairs) {
                    let step = |lane: usize| ((4 * s + 2 * k + lane) as u64 * u64::from(each.bytes)).to_le_bytes();
                    let steps = self.vector(types::I64X2, [step(0), step(1)].concat());
                    let row = self.b.ins().iadd(begin, steps);
                    let differ = self.b.ins().bxor(row, pair);
                    all = Some(all.map_or(differ, |all| self.b.ins().bor(all, differ)));
                }
            }
            let all = all.unwrap_or(begin);
            let (a, b) = (self.b.ins().extractlane(all, 0), self.b.ins().extractlane(all, 1));
            self.b.ins().bor(a, b)
        });
        Some(Rows { differ, first })
    }

    /// Whether all addresses are right: see `all_inside`. Of rows, the first and the last ones are looked at.
    pub(super) fn inside(&mut self, rows: Option<Rows>, n: usize, (less, last): (Value, Value), unit: u32) -> Value {
        let Some(rows) = rows else { return self.all_inside(n, (less, last), unit) };
        let (ends, all, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let holds = self.b.append_block_param(done, types::I8);
        let differ = self.b.ins().bor(rows.differ[0], rows.differ[1]);
        self.b.ins().brif(differ, all, &[], ends, &[]);
        self.b.switch_to_block(ends);
        let first = rows.first.map(|first| self.b.ins().isub(first, less));
        let beyond = first.map(|first| {
            let end = self.b.ins().iadd_imm(first, 15 * i64::from(unit));
            let rest = self.b.ins().isub(last, end);
            let signs = self.b.ins().bor(first, rest);
            self.b.ins().bor(signs, end)
        });
        let signs = self.b.ins().bor(beyond[0], beyond[1]);
        let firsts = self.b.ins().bor(first[0], first[1]);
        let right = self.right(firsts, signs, unit);
        self.b.ins().jump(done, &[BlockArg::Value(right)]);
        self.b.switch_to_block(all);
        let right = self.all_inside(n, (less, last), unit);
        self.b.ins().jump(done, &[BlockArg::Value(right)]);
        self.b.switch_to_block(done);
        holds
    }

    /// Whether offsets are multiples of a unit and numbers have no sign.
    fn right(&mut self, offsets: Value, numbers: Value, unit: u32) -> Value {
        let signs = self.b.ins().band_imm(numbers, i64::MIN);
        let wrong = self.b.ins().band_imm(offsets, i64::from(unit - 1));
        let wrong = self.b.ins().bor(wrong, signs);
        self.b.ins().icmp_imm(IntCC::Equal, wrong, 0)
    }

    /// Strips whose addresses are looked at.
    fn looked_at() -> usize {
        if on(Mutant::NativeLast) { STRIPS - 1 } else { STRIPS }
    }

    /// Whether all addresses, of 64 bits, are multiples of a unit and `last` more than `less` at most. None are where `last` is less
    /// than zero by no more than the unit.
    fn all_inside(&mut self, n: usize, (less, last): (Value, Value), unit: u32) -> Value {
        // A sum takes what it adds to from memory, a difference does not.
        let less = self.b.ins().ineg(less);
        let (less, last) = (self.b.ins().splat(types::I64X2, less), self.b.ins().splat(types::I64X2, last));
        let mut sums: Option<(Value, Value)> = None;
        for s in 0..Self::looked_at() {
            let Strip::Q(pairs) = self.frame_strip(n, s) else { continue };
            let lanes = self.who.some.then(|| {
                let lanes = self.lanes(s);
                self.wide_mask(lanes)
            });
            for (half, pair) in pairs.into_iter().enumerate() {
                let mut inside = self.b.ins().iadd(less, pair);
                if let Some(lanes) = lanes {
                    inside = self.b.ins().band(inside, lanes[half]);
                }
                let rest = self.b.ins().isub(last, inside);
                sums = Some(sums.map_or((inside, rest), |(all, rests)| {
                    (self.b.ins().bor(all, inside), self.b.ins().bor(rests, rest))
                }));
            }
        }
        let (all, rests) = sums.unwrap_or((less, last));
        let [all, rests] = [all, rests].map(|pair| {
            let (a, b) = (self.b.ins().extractlane(pair, 0), self.b.ins().extractlane(pair, 1));
            self.b.ins().bor(a, b)
        });
        // Neither the offsets nor what they are below the last one are negative: `last` is no more than half of all numbers.
        let signs = self.b.ins().bor(all, rests);
        self.right(all, signs, unit)
    }

    /// The same of addresses of 32 bits.
    pub(super) fn all_inside_32(&mut self, n: usize, less: Value, last: u32, unit: u32) -> Value {
        let less = self.b.ins().ineg(less);
        let less = self.b.ins().splat(types::I32X4, less);
        let mut sums: Option<(Value, Value)> = None;
        for s in 0..Self::looked_at() {
            let Strip::W(word) = self.frame_strip(n, s) else { continue };
            let mut inside = self.b.ins().iadd(less, word.value);
            if self.who.some {
                let lanes = self.lanes(s);
                inside = self.b.ins().band(inside, lanes);
            }
            sums = Some(sums.map_or((inside, inside), |(all, most)| {
                (self.b.ins().bor(all, inside), self.b.ins().umax(most, inside))
            }));
        }
        let (all, most) = sums.unwrap_or((less, less));
        let ends = [last, unit - 1].map(|value| {
            let value = self.b.ins().iconst(types::I32, i64::from(value.cast_signed()));
            self.b.ins().splat(types::I32X4, value)
        });
        let beyond = self.b.ins().icmp(IntCC::UnsignedGreaterThan, most, ends[0]);
        let low = self.b.ins().band(all, ends[1]);
        let wrong = self.b.ins().bor(beyond, low);
        let wrong = self.b.ins().vany_true(wrong);
        self.b.ins().icmp_imm(IntCC::Equal, wrong, 0)
    }
}

//! The words of lanes: loaded into strips, stored from them, or operated on, lane after lane.

use super::super::each::{Each, What};
use super::builder::{Emit, NAN, Strip, Word, anywhere};
use super::each::Places;
use crate::program::instr::{NO_SLOT, Slot};
use crate::program::ops::{AtomOp, AtomTy, Class};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use rustc_hash::FxHashMap;

/// The first words of two vectors in turn, and the last ones.
const LOW: [u8; 4] = [0, 4, 1, 5];
const HIGH: [u8; 4] = [2, 6, 3, 7];
/// The first halves of two vectors, and the second ones.
const FIRST: [u8; 4] = [0, 1, 4, 5];
const SECOND: [u8; 4] = [2, 3, 6, 7];
/// Words with even numbers, and those with odd ones.
pub(super) const EVEN: [u8; 4] = [0, 2, 4, 6];
const ODD: [u8; 4] = [1, 3, 5, 7];

/// What all words of a lane are accessed as.
const fn whole(each: &Each) -> Type {
    match (each.words, each.bytes) {
        (4, _) => types::I32X4,
        (2, 8) => types::I64X2,
        (2, _) | (_, 8) => types::I64,
        (_, 2) => types::I16,
        _ => types::I32,
    }
}

impl Emit<'_, '_> {
    /// An access in one strip.
    pub(super) fn each_strip(&mut self, k: usize, s: usize, now: &mut FxHashMap<usize, Strip>) {
        let Some(each) = self.each(k) else { return };
        let class = each.data_class();
        let number = |emit: &Self, slot: Slot| emit.plan.function.slots.number(class, slot);
        let data = each.data.iter().take(each.words as usize);
        match each.what {
            What::Load => {
                let strips = self.load_each(k, each, s);
                for (slot, strip) in data.zip(strips) {
                    if let Some(n) = number(self, *slot) {
                        now.insert(n, strip);
                    }
                }
            }
            What::Store => {
                let mut strips = Vec::new();
                for slot in data {
                    let Some(n) = number(self, *slot) else { return };
                    strips.push(self.read(k, n, s, now));
                }
                self.store_each(k, each, s, &strips);
            }
            What::Atomic(op, ty) => {
                let old = self.operate(k, each, (op, ty), s, now);
                if let (Some(n), Some(old)) = (number(self, each.data[0]), old) {
                    now.insert(n, old);
                }
            }
        }
    }

    /// A vector of words of two vectors, by their numbers.
    pub(super) fn mix(&mut self, a: Value, b: Value, words: [u8; 4]) -> Value {
        let [a, b] = [a, b].map(|x| self.reinterpret(types::I8X16, x));
        let lanes: Vec<u8> = words.into_iter().flat_map(|word| 4 * word..4 * word + 4).collect();
        let mask = self.b.func.dfg.immediates.push(lanes.into());
        let mixed = self.b.ins().shuffle(a, b, mask);
        self.reinterpret(types::I32X4, mixed)
    }

    /// The words of two vectors in turn.
    pub(super) fn interleaved(&mut self, a: Value, b: Value) -> [Value; 2] {
        [LOW, HIGH].map(|words| {
            let pairs = self.mix(a, b, words);
            self.reinterpret(types::I64X2, pairs)
        })
    }

    /// The upper words of two times two numbers of 64 bits.
    pub(super) fn upper(&mut self, pairs: [Value; 2]) -> Value {
        self.mix(pairs[0], pairs[1], ODD)
    }

    /// Four vectors of which each has a word of each.
    fn transposed(&mut self, [a, b, c, d]: [Value; 4]) -> [Value; 4] {
        let (ab, cd) = (self.mix(a, b, LOW), self.mix(c, d, LOW));
        let (ef, gh) = (self.mix(a, b, HIGH), self.mix(c, d, HIGH));
        [self.mix(ab, cd, FIRST), self.mix(ab, cd, SECOND), self.mix(ef, gh, FIRST), self.mix(ef, gh, SECOND)]
    }

    /// Pairs of numbers of 64 bits, of which each has the first ones of two pairs, or the second ones.
    fn exchanged(&mut self, a: Value, b: Value) -> [Value; 2] {
        [FIRST, SECOND].map(|words| {
            let pair = self.mix(a, b, words);
            self.reinterpret(types::I64X2, pair)
        })
    }

    /// Numbers as vectors, two or four in each.
    pub(super) fn gathered(&mut self, ty: Type, values: &[Value]) -> Value {
        let Some((first, rest)) = values.split_first() else { return self.context };
        let mut vector = self.b.ins().scalar_to_vector(ty, *first);
        for (value, lane) in rest.iter().zip(1..) {
            vector = self.b.ins().insertlane(vector, *value, lane);
        }
        vector
    }

    /// Whether the words of lanes lie one behind the other.
    fn is_row(&self, k: usize, each: &Each) -> bool {
        let places = self.segment.each.get(&k);
        matches!(places, Some(Places::Line { stride, .. }) if *stride == i64::from(each.unit()))
    }

    fn load_each(&mut self, k: usize, each: Each, s: usize) -> Vec<Strip> {
        let ty = whole(&each);
        let places = self.lane_places(k, each, s);
        let word = |value| Strip::W(Word { value, float: false, loose: false });
        if ty == types::I64 && self.is_row(k, &each) {
            let first = places.iter().step_by(2);
            let pairs: Vec<Value> =
                first.map(|(_, (place, at))| self.b.ins().load(types::I64X2, anywhere(), *place, *at)).collect();
            return self.pairs_loaded(&each, &pairs);
        }
        let mut values = Vec::new();
        for (_, (place, at)) in places {
            let value = self.b.ins().load(ty, anywhere(), place, at);
            values.push(if ty == types::I16 { self.b.ins().uextend(types::I32, value) } else { value });
        }
        match (ty, &values[..]) {
            (types::I32X4, [a, b, c, d]) => self.transposed([*a, *b, *c, *d]).into_iter().map(word).collect(),
            (types::I64X2, [a, b, c, d]) => {
                let (low, high) = (self.exchanged(*a, *b), self.exchanged(*c, *d));
                [0, 1].into_iter().map(|half| Strip::Q([low[half], high[half]])).collect()
            }
            (types::I64, [a, b, c, d]) => {
                let pairs = [[*a, *b], [*c, *d]].map(|pair| self.gathered(types::I64X2, &pair));
                self.pairs_loaded(&each, &pairs)
            }
            _ => vec![word(self.gathered(types::I32X4, &values))],
        }
    }

    /// What lanes loaded that have 64 bits each: one word or two.
    fn pairs_loaded(&mut self, each: &Each, pairs: &[Value]) -> Vec<Strip> {
        let [a, b] = pairs else { return Vec::new() };
        if each.words == 1 {
            return vec![Strip::Q([*a, *b])];
        }
        let words = [EVEN, ODD].map(|words| self.mix(*a, *b, words));
        words.into_iter().map(|value| Strip::W(Word { value, float: false, loose: false })).collect()
    }

    fn store_each(&mut self, k: usize, each: Each, s: usize, strips: &[Strip]) {
        let mut words = Vec::new();
        for strip in strips {
            match strip {
                Strip::W(word) => words.push(self.integers(*word)),
                Strip::Q(pairs) => words.extend(pairs),
                Strip::P(_) => return,
            }
        }
        let ty = whole(&each);
        let lanes: Vec<Value> = match (ty, &words[..]) {
            (types::I32X4, [a, b, c, d]) => self.transposed([*a, *b, *c, *d]).to_vec(),
            (types::I64X2, [a, b, c, d]) => {
                // The first word's pairs stand before the second one's.
                let (low, high) = (self.exchanged(*a, *c), self.exchanged(*b, *d));
                [low, high].concat()
            }
            (types::I64, [a, b]) => {
                let pairs = if each.words == 1 { [*a, *b] } else { self.interleaved(*a, *b) };
                (0..4).map(|lane| self.b.ins().extractlane(pairs[lane / 2], lane as u8 % 2)).collect()
            }
            (_, [a, ..]) => (0..4).map(|lane| self.b.ins().extractlane(*a, lane)).collect(),
            _ => return,
        };
        for (lane, (place, at)) in self.lane_places(k, each, s) {
            let Some(mut value) = lanes.get(lane % 4).copied() else { continue };
            if ty == types::I16 {
                value = self.b.ins().ireduce(ty, value);
            }
            let value = self.kept(lane, value, (place, at));
            self.b.ins().store(anywhere(), value, place, at);
        }
    }

    /// An atomic operation of four lanes; gives what they found, if that is wanted.
    fn operate(
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

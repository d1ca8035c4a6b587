//! The words of lanes: loaded into strips or stored from them, lane after lane, or as the rows that they turn out to be.

use super::super::each::{Each, What};
use super::builder::{Emit, Places, Strip, Word, anywhere, offset};
use crate::program::instr::Slot;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Type, Value, types};
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
                let strips = self.load_strips(k, each, s);
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
                self.store_strips(k, each, s, &strips);
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

    /// The words of four lanes: a part of a row, where their half's addresses are those of one, else one by one.
    fn load_strips(&mut self, k: usize, each: Each, s: usize) -> Vec<Strip> {
        let Some((place, differ)) = self.maybe_row(k, s / 4) else { return self.load_each(k, each, s) };
        let (row, lanes, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let (ty, count) = if each.bytes == 8 { (types::I64X2, 2) } else { (types::I32X4, 1) };
        let loaded: Vec<Value> = (0..count).map(|_| self.b.append_block_param(done, ty)).collect();
        self.b.ins().brif(differ, lanes, &[], row, &[]);
        self.b.switch_to_block(row);
        let at = offset(s % 4 * 4 * each.bytes as usize);
        let parts = (0..count).map(|part| self.b.ins().load(ty, anywhere(), place, at + 16 * part));
        let parts: Vec<BlockArg> = parts.map(BlockArg::Value).collect();
        self.b.ins().jump(done, &parts);
        self.b.switch_to_block(lanes);
        let mut parts = Vec::new();
        for strip in self.load_each(k, each, s) {
            match strip {
                Strip::W(word) => parts.push(BlockArg::Value(word.value)),
                Strip::Q(pairs) => parts.extend(pairs.map(BlockArg::Value)),
                Strip::P(_) => {}
            }
        }
        self.b.ins().jump(done, &parts);
        self.b.switch_to_block(done);
        match loaded[..] {
            [low, high] => vec![Strip::Q([low, high])],
            _ => loaded.into_iter().map(|value| Strip::W(Word { value, float: false, loose: false })).collect(),
        }
    }

    /// The same of a store.
    fn store_strips(&mut self, k: usize, each: Each, s: usize, strips: &[Strip]) {
        let Some((place, differ)) = self.maybe_row(k, s / 4) else { return self.store_each(k, each, s, strips) };
        let mut parts = Vec::new();
        for strip in strips {
            match strip {
                Strip::W(word) => parts.push(self.integers(*word)),
                Strip::Q(pairs) => parts.extend(pairs),
                Strip::P(_) => {}
            }
        }
        let (row, lanes, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.ins().brif(differ, lanes, &[], row, &[]);
        self.b.switch_to_block(row);
        let at = offset(s % 4 * 4 * each.bytes as usize);
        for (part, value) in (0..).zip(parts) {
            self.b.ins().store(anywhere(), value, place, at + 16 * part);
        }
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(lanes);
        self.store_each(k, each, s, strips);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
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
}

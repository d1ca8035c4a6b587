//! What an instruction makes of patterns.

use super::pattern::{Line, MOST, Pattern, Residue};
use super::values::Values;
use crate::alu::apply::{float as apply_float, int as apply_int};
use crate::program::env::ProgEnv;
use crate::program::instr::{Barrier, BarrierKind, Exchange, ExchangeKind, Instr, MemOp, NO_SLOT, Op, Slot, Space};
use crate::program::ops::{Class, IntOp};
use crate::program::uses::{shape, writes};
use fixedbitset::FixedBitSet;
use std::collections::BTreeSet;

/// What is asked of an instruction: the patterns of what it reads, and what is told of what it writes.
pub(super) struct Transfer<'a> {
    pub env: &'a ProgEnv,
    /// Lanes of a warp.
    pub lanes: u32,
    /// It is an entry's: its parameters are in no thread's stack.
    pub entry: bool,
    /// The instructions that take a sign only to divide, and those at which nothing is assumed.
    pub signs: FixedBitSet,
    pub refused: &'a BTreeSet<u32>,
}

/// The pattern of something that all lanes compute from what all of them have, or the lanes of each half.
fn same(sources: &[Pattern]) -> Pattern {
    let mut halves = false;
    for source in sources {
        match source {
            Pattern::Never => return Pattern::Never,
            Pattern::Affine(line) if line.stride == 0 => halves |= line.halves,
            _ => return Pattern::Vector,
        }
    }
    Pattern::Affine(Line { halves, ..Line::uniform(Residue::NONE) })
}

/// Whether a comparison holds of two numbers without a sign.
type Holds = fn(u64, u64) -> bool;

/// A comparison's class, and whether it holds of numbers without a sign.
fn ordered(op: IntOp) -> Option<(Class, Holds)> {
    use IntOp as I;
    let holds: Holds = match op {
        I::LtS32 | I::LtU32 | I::LtS64 | I::LtU64 => |a, b| a < b,
        I::LeS32 | I::LeU32 | I::LeS64 | I::LeU64 => |a, b| a <= b,
        I::GtS32 | I::GtU32 | I::GtS64 | I::GtU64 => |a, b| a > b,
        I::GeS32 | I::GeU32 | I::GeS64 | I::GeU64 => |a, b| a >= b,
        _ => return None,
    };
    Some((op.shape().sources[0], holds))
}

impl Transfer<'_> {
    const fn of(&self, class: Class) -> Values {
        Values { class, lanes: self.lanes }
    }

    /// Tells the patterns of what the instruction at a place in the function writes in the lanes that execute it; gives whether they
    /// hold only as long as numbers of 32 bits that it widens do not wrap around from lane to lane, or that it divides are not
    /// negative.
    pub fn results(
        &self,
        (at, instr): (u32, &Instr),
        read: &dyn Fn(Class, Slot) -> Pattern,
        tell: &mut dyn FnMut(Class, Slot, Pattern),
    ) -> bool {
        let mut all = |pattern| writes(instr, self.env, |class, slot| tell(class, slot, pattern));
        match instr.op {
            Op::Int(_) if self.divides(at, instr, read) => {
                tell(Class::W, instr.d, Pattern::Affine(Line::constant(0, Class::W)));
                return true;
            }
            Op::Int(_) | Op::Float(_) => return self.data((at, instr), read, tell),
            Op::Mem | Op::LdGlobal32 | Op::LdShared32 => {
                let Some(request) = self.env.request(instr) else { return false };
                let shared = match request.space {
                    Space::Global | Space::Shared | Space::Const => true,
                    Space::Param => self.entry,
                    Space::Local | Space::Generic => false,
                };
                let one = request.op == MemOp::Load && shared;
                all(if one { same(&[read(request.address_class(), request.addr)]) } else { Pattern::Vector });
            }
            Op::Bar => {
                let reduces = |b: &Barrier| matches!(b.kind, BarrierKind::Red(_));
                let one = self.env.barriers.get(instr.imm as usize).is_some_and(reduces);
                all(if one { same(&[]) } else { Pattern::Vector });
            }
            Op::Exchange => {
                let one = self.env.exchange(instr).is_some_and(|of| self.agrees(*of, instr, read));
                all(if one { same(&[]) } else { Pattern::Vector });
            }
            _ => all(Pattern::Vector),
        }
        false
    }

    /// Whether an exchange gives all lanes that execute it together the same.
    fn agrees(&self, of: Exchange, instr: &Instr, read: &dyn Fn(Class, Slot) -> Pattern) -> bool {
        use ExchangeKind::{ActiveMask, Redux, VoteAll, VoteAny, VoteBallot, VoteUni};
        let gives = matches!(of.kind, VoteAll | VoteAny | VoteUni | VoteBallot | Redux(_) | ActiveMask);
        let members = if of.sync { read(Class::W, instr.e) } else { same(&[]) };
        gives && matches!(members, Pattern::Affine(line) if line.is_uniform())
    }

    /// Whether the sign that an instruction takes is that of numbers on a line, of which nothing else tells it.
    fn divides(&self, at: u32, instr: &Instr, read: &dyn Fn(Class, Slot) -> Pattern) -> bool {
        if !self.signs.contains(at as usize) || self.refused.contains(&at) {
            return false;
        }
        let (number, by) = (read(Class::W, instr.a), read(Class::W, instr.b));
        let whole = matches!(by, Pattern::Affine(by) if by.value(Class::W) == Some(31));
        let line =
            matches!(number, Pattern::Affine(line) if line.stride != 0) && self.of(Class::W).known(number).is_none();
        let sign = self.shift(IntOp::ShrS32, &[number, by]);
        whole && line && !matches!(sign, Pattern::Affine(sign) if sign.value(Class::W).is_some())
    }

    fn data(
        &self,
        (at, instr): (u32, &Instr),
        read: &dyn Fn(Class, Slot) -> Pattern,
        tell: &mut dyn FnMut(Class, Slot, Pattern),
    ) -> bool {
        let Some(shape) = shape(instr.op) else { return false };
        let mut sources = [Pattern::Never; 4];
        let count = shape.sources.len().min(sources.len());
        for (k, slot) in [instr.a, instr.b, instr.c, instr.e].into_iter().enumerate().take(count) {
            sources[k] = read(shape.sources[k], slot);
        }
        let sources = &sources[..count];
        let carry = |instr: &Instr| {
            let last = u16::try_from(instr.imm & 0xffff).map_or(NO_SLOT, Slot);
            if count == 4 { last } else { instr.e }
        };
        let (pattern, second, assumes) = match self.folded(instr, shape.sources, shape.dest, sources) {
            Some((pattern, second)) => (pattern, second, false),
            None => {
                let (pattern, assumes) = match instr.op {
                    Op::Int(op) => match self.integer(op, sources) {
                        (_, true) if self.refused.contains(&at) => (Pattern::Vector, false),
                        known => known,
                    },
                    _ => (same(sources), false),
                };
                (pattern, same(sources), assumes)
            }
        };
        tell(shape.dest, instr.d, pattern);
        if shape.carry_out {
            tell(Class::P, carry(instr), second);
        }
        assumes
    }

    /// The results of an operation all of whose operands are known in each lane.
    fn folded(&self, instr: &Instr, classes: &[Class], dest: Class, sources: &[Pattern]) -> Option<(Pattern, Pattern)> {
        let mut known = [[0; MOST]; 4];
        for ((values, class), source) in known.iter_mut().zip(classes).zip(sources) {
            *values = self.of(*class).known(*source)?;
        }
        let (mut first, mut second) = ([0; MOST], [0; MOST]);
        for lane in 0..MOST {
            let operands = known.map(|of| of[lane]);
            let (value, carry) = match instr.op {
                Op::Int(op) => apply_int(op, operands, instr.imm),
                Op::Float(op) => apply_float(op, operands, instr.imm),
                _ => return None,
            };
            (first[lane], second[lane]) = (value, carry.into());
        }
        Some((self.of(dest).fit(&first), self.of(Class::P).fit(&second)))
    }

    /// The result of an operation on integers, and whether it holds only if widened operands do not wrap around.
    fn integer(&self, op: IntOp, s: &[Pattern]) -> (Pattern, bool) {
        use IntOp as I;
        let (w, q) = (self.of(Class::W), self.of(Class::Q));
        let constant = |value: u64, class: Class| Pattern::Affine(Line::constant(value, class));
        let sure = |pattern| (pattern, false);
        match op {
            I::MovW | I::MovQ | I::MovP => sure(s[0]),
            I::Add32 => sure(w.add(s[0], s[1])),
            I::Add64 => sure(q.add(s[0], s[1])),
            I::Sub32 => sure(w.subtract(s[0], s[1])),
            I::Sub64 => sure(q.subtract(s[0], s[1])),
            I::Neg32 => sure(w.negated(s[0])),
            I::Neg64 => sure(q.negated(s[0])),
            I::Not32 => sure(w.add(w.negated(s[0]), constant(u64::MAX, Class::W))),
            I::Not64 => sure(q.add(q.negated(s[0]), constant(u64::MAX, Class::Q))),
            I::MulLo32 => sure(w.multiply(s[0], s[1])),
            I::MulLo64 => sure(q.multiply(s[0], s[1])),
            I::MadLo32 => sure(w.add(w.multiply(s[0], s[1]), s[2])),
            I::MadLo64 => sure(q.add(q.multiply(s[0], s[1]), s[2])),
            I::MulWideU32 => self.wide_product(s[0], s[1], false),
            I::MulWideS32 => self.wide_product(s[0], s[1], true),
            I::MadWideU32 | I::MadWideS32 => {
                let (product, assumes) = self.wide_product(s[0], s[1], op == I::MadWideS32);
                (q.add(product, s[2]), assumes)
            }
            I::Shl32 | I::Shl64 | I::ShrU32 | I::ShrS32 | I::ShrU64 | I::ShrS64 => sure(self.shift(op, s)),
            I::And32 => sure(self.and(Class::W, s[0], s[1])),
            I::And64 => sure(self.and(Class::Q, s[0], s[1])),
            I::Zx8 => sure(self.and(Class::W, s[0], constant(0xff, Class::W))),
            I::Zx16 | I::Lo16 => sure(self.and(Class::W, s[0], constant(0xffff, Class::W))),
            I::Or32 => sure(w.bitwise(s[0], s[1], |a, b| a | b)),
            I::Or64 => sure(q.bitwise(s[0], s[1], |a, b| a | b)),
            I::Xor32 => sure(w.bitwise(s[0], s[1], |a, b| a ^ b)),
            I::Xor64 => sure(q.bitwise(s[0], s[1], |a, b| a ^ b)),
            I::ZextWQ => q.widened(s[0], false),
            I::SextWQ => q.widened(s[0], true),
            I::TruncQW => sure(w.narrowed(s[0])),
            I::SelW => sure(self.choice(Class::W, s)),
            I::SelQ => sure(self.choice(Class::Q, s)),
            I::SelP => sure(self.choice(Class::P, s)),
            // Numbers that lie on lines of one stride are the same distance apart in all lanes.
            I::EqW | I::NeW => sure(same(&[w.subtract(s[0], s[1])])),
            I::EqQ | I::NeQ => sure(same(&[q.subtract(s[0], s[1])])),
            _ => sure(match (same(s), ordered(op)) {
                (Pattern::Vector, Some((class, holds))) => self.of(class).compared(s[0], s[1], holds),
                (known, _) => known,
            }),
        }
    }

    fn wide_product(&self, a: Pattern, b: Pattern, sign: bool) -> (Pattern, bool) {
        let values = self.of(Class::Q);
        let ((a, first), (b, second)) = (values.widened(a, sign), values.widened(b, sign));
        let product = values.multiply(a, b);
        (product, (first || second) && product != Pattern::Vector)
    }

    /// By a number of bits that is known; else all lanes shift the same or nothing is known.
    fn shift(&self, op: IntOp, s: &[Pattern]) -> Pattern {
        let (class, left, sign) = match op {
            IntOp::Shl32 => (Class::W, true, false),
            IntOp::Shl64 => (Class::Q, true, false),
            IntOp::ShrU32 => (Class::W, false, false),
            IntOp::ShrU64 => (Class::Q, false, false),
            IntOp::ShrS32 => (Class::W, false, true),
            _ => (Class::Q, false, true),
        };
        let Pattern::Affine(amount) = s[1] else { return same(s) };
        let Some(by) = amount.value(Class::W) else { return same(s) };
        let (values, bits) = (self.of(class), class.bits());
        match u8::try_from(by).ok().filter(|by| *by < bits) {
            Some(by) if left => values.multiply(s[0], Pattern::Affine(Line::constant(1 << by, class))),
            Some(by) => values.shifted(s[0], by),
            None if sign => values.shifted(s[0], bits - 1),
            None => Pattern::Affine(Line::constant(0, class)),
        }
    }

    fn and(&self, class: Class, a: Pattern, b: Pattern) -> Pattern {
        let result = self.of(class).bitwise(a, b, |a, b| a & b);
        let (Pattern::Affine(line), Pattern::Affine(a), Pattern::Affine(b)) = (result, a, b) else { return result };
        // Zeros of a mask are zeros of the result, also where nothing is known of the other.
        let zeros = [a, b].iter().filter(|of| of.stride == 0).map(|of| of.base.zeros()).max().unwrap_or(0);
        let zeros = u8::try_from(zeros).unwrap_or(0).min(class.bits());
        if line.stride == 0 && line.base.known < zeros {
            return Pattern::Affine(Line { base: Residue::new(zeros, 0), ..line });
        }
        result
    }

    /// `selp`: one of two, as a predicate says.
    fn choice(&self, class: Class, s: &[Pattern]) -> Pattern {
        let (values, [a, b, chosen]) = (self.of(class), [s[0], s[1], s[2]]);
        match chosen {
            Pattern::Never => Pattern::Never,
            Pattern::Affine(by) if by.stride == 0 => match (by.value(Class::P), values.join(a, b)) {
                (Some(0), _) => b,
                (Some(_), _) => a,
                (None, Pattern::Affine(line)) if by.halves => Pattern::Affine(line.halved(self.lanes)),
                (None, other) => other,
            },
            _ => values.either(a, b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chacha20::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    /// A pattern at random, and values of 32 lanes that it admits.
    fn random(rng: &mut ChaCha8Rng, class: Class, lanes: u32) -> (Pattern, [u64; MOST]) {
        const NUMBERS: [u64; 12] = [0, 1, 2, 3, 4, 31, 32, 0xff, 0xffff_ffe0, 0x7fff_fff0, u64::MAX, 1 << 63];
        let mask = if class.bits() >= 64 { u64::MAX } else { (1 << class.bits()) - 1 };
        let mut number = || {
            let near = NUMBERS[rng.random_range(0..NUMBERS.len())];
            (if rng.random_bool(0.2) { rng.random() } else { near }) & mask
        };
        let (first, second, stride) = (number(), number(), number());
        if rng.random_bool(0.1) {
            return (Pattern::Vector, std::array::from_fn(|_| rng.random::<u64>() & mask));
        }
        let known = if rng.random_bool(0.5) { class.bits() } else { rng.random_range(0..=class.bits()) };
        let halves = rng.random_bool(0.3);
        let stride = if class == Class::P || rng.random_bool(0.4) { 0 } else { stride };
        let base = Residue::new(known, first);
        // Another half begins with the same low bits.
        let low = if known >= 64 { u64::MAX } else { (1 << known) - 1 };
        let other = (second & !low | base.low) & mask;
        let first = [first, if halves { other } else { first }];
        let span = if halves { lanes / 2 } else { lanes } as usize;
        let value =
            |lane: usize| first[(lane / span).min(1)].wrapping_add(stride.wrapping_mul((lane % span) as u64)) & mask;
        (Pattern::Affine(Line { stride, halves, base }), std::array::from_fn(value))
    }

    /// Whether the lanes' numbers of 32 bits lie on the line of a pattern as wider ones, too.
    fn fits(pattern: Pattern, values: &[u64; MOST], lanes: u32, sign: bool) -> bool {
        let Pattern::Affine(line) = pattern else { return true };
        let stride = super::super::pattern::signed(line.stride, 32).cast_unsigned();
        let wide = Pattern::Affine(Line { stride, base: Residue::NONE, ..line });
        let value = |lane: usize| {
            if sign { super::super::pattern::signed(values[lane], 32).cast_unsigned() } else { values[lane] }
        };
        Values { class: Class::Q, lanes }.admits(wide, active(lanes), value)
    }

    const fn active(lanes: u32) -> u32 {
        if lanes >= 32 { !0 } else { (1 << lanes) - 1 }
    }

    /// For each operation on integers, and some on other numbers, the pattern of its results admits what lanes compute.
    #[test]
    fn results_are_admitted() {
        let env = ProgEnv::default();
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let (mut told, mut assumed) = (0, 0);
        for round in 0..400 {
            for op in IntOp::ALL {
                let lanes = [32, 32, 16, 8][round % 4];
                let shape = op.shape();
                let drawn: Vec<_> = shape.sources.iter().map(|class| random(&mut rng, *class, lanes)).collect();
                let instr = Instr {
                    d: Slot(9),
                    a: Slot(0),
                    b: Slot(1),
                    c: Slot(2),
                    e: Slot(3),
                    imm: rng.random_range(0..4),
                    ..Instr::new(Op::Int(*op))
                };
                let transfer =
                    Transfer { env: &env, lanes, entry: true, signs: FixedBitSet::new(), refused: &BTreeSet::new() };
                let mut results = Vec::new();
                let read = |_, slot: Slot| drawn[usize::from(slot.0)].0;
                let assumes =
                    transfer.results((0, &instr), &read, &mut |class, _, pattern| results.push((class, pattern)));
                let sign = matches!(op, IntOp::SextWQ | IntOp::MulWideS32 | IntOp::MadWideS32);
                if assumes
                    && !drawn
                        .iter()
                        .zip(shape.sources)
                        .all(|((pattern, values), class)| *class != Class::W || fits(*pattern, values, lanes, sign))
                {
                    assumed += 1;
                    continue;
                }
                let each: [(u64, bool); MOST] = std::array::from_fn(|lane| {
                    let operands = std::array::from_fn(|k| drawn.get(k).map_or(0, |(_, values)| values[lane]));
                    apply_int(*op, operands, instr.imm)
                });
                for (k, (class, pattern)) in results.into_iter().enumerate() {
                    let value = |lane: usize| if k == 0 { each[lane].0 } else { each[lane].1.into() };
                    let values = Values { class, lanes };
                    assert!(values.admits(pattern, active(lanes), value), "{op:?} {drawn:x?}: {pattern:x?} {each:x?}");
                    told += u32::from(pattern != Pattern::Vector);
                }
            }
        }
        assert!(told > 20_000 && assumed > 100, "{told} {assumed}");
    }
}

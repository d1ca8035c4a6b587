//! Arithmetic of patterns.

use super::pattern::{Line, MOST, Pattern, Residue, cut, signed};
use crate::base::mutant::{Mutant, on};
use crate::program::ops::Class;

/// Values of registers of a class in a warp of so many lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Values {
    pub class: Class,
    pub lanes: u32,
}

impl Values {
    const fn bits(self) -> u8 {
        self.class.bits()
    }

    /// The line of a stride from a first value.
    fn line(self, stride: u64, halves: bool, base: Residue) -> Pattern {
        let halves = halves && self.lanes.is_multiple_of(2);
        let base = Residue::new(base.known.min(self.bits()), base.low);
        Pattern::Affine(Line { stride: cut(stride, self.bits()), halves, base })
    }

    /// What holds of both: of a register that one or the other is in.
    pub fn join(self, a: Pattern, b: Pattern) -> Pattern {
        match (a, b) {
            (Pattern::Never, other) | (other, Pattern::Never) => other,
            (Pattern::Affine(a), Pattern::Affine(b)) if a.stride == b.stride => {
                let (a, b) = a.alike(b, self.lanes);
                Pattern::Affine(Line { base: a.base.join(b.base), ..a })
            }
            _ => Pattern::Vector,
        }
    }

    /// The pattern of values that are known of each lane, the first of which are in use.
    pub fn fit(self, values: &[u64; MOST]) -> Pattern {
        let lanes = (self.lanes as usize).clamp(1, MOST);
        let stride = |part: &[u64]| {
            let step = |pair: &[u64]| cut(pair[1].wrapping_sub(pair[0]), self.bits());
            let first = part.get(..2).map_or(0, step);
            part.windows(2).all(|pair| step(pair) == first).then_some(first)
        };
        let exact = |value| Residue::new(self.bits(), value);
        if let Some(stride) = stride(&values[..lanes]) {
            return self.line(stride, false, exact(values[0]));
        }
        let (low, high) = values[..lanes].split_at(lanes / 2);
        match (lanes.is_multiple_of(2), stride(low), stride(high)) {
            (true, Some(a), Some(b)) if a == b => self.line(a, true, exact(low[0]).join(exact(high[0]))),
            _ => Pattern::Vector,
        }
    }

    pub fn add(self, a: Pattern, b: Pattern) -> Pattern {
        self.both(a, b, |values, a, b| values.line(a.stride.wrapping_add(b.stride), a.halves, a.base.add(b.base)))
    }

    pub fn negated(self, a: Pattern) -> Pattern {
        let Pattern::Affine(a) = a else { return a };
        self.line(a.stride.wrapping_neg(), a.halves, a.base.negated())
    }

    pub fn subtract(self, a: Pattern, b: Pattern) -> Pattern {
        self.add(a, self.negated(b))
    }

    pub fn multiply(self, a: Pattern, b: Pattern) -> Pattern {
        self.both(a, b, |values, a, b| {
            let base = a.base.multiply(b.base, values.bits());
            let stride = match (a.value(values.class), b.value(values.class)) {
                _ if a.stride == 0 && b.stride == 0 => 0,
                (Some(factor), _) => factor.wrapping_mul(b.stride),
                (_, Some(factor)) => a.stride.wrapping_mul(factor),
                _ => return Pattern::Vector,
            };
            values.line(stride, a.halves, base)
        })
    }

    /// Something of two lines.
    fn both(self, a: Pattern, b: Pattern, of: impl Fn(Self, Line, Line) -> Pattern) -> Pattern {
        match (a, b) {
            (Pattern::Never, _) | (_, Pattern::Never) => Pattern::Never,
            (Pattern::Affine(a), Pattern::Affine(b)) => {
                // A constant stays one beside halves.
                let (left, right) = (a.is_uniform(), b.is_uniform());
                let halves = a.halves || b.halves;
                let keep = |line: Line, uniform| if uniform { line } else { line.halved(self.lanes) };
                let (a, b) = if halves { (keep(a, left), keep(b, right)) } else { (a, b) };
                match of(self, a, b) {
                    Pattern::Affine(line) if halves => Pattern::Affine(Line { halves, ..line }),
                    other => other,
                }
            }
            _ => Pattern::Vector,
        }
    }

    /// An operation each bit of whose result depends on the same bit of both.
    pub fn bitwise(self, a: Pattern, b: Pattern, of: impl Fn(u64, u64) -> u64) -> Pattern {
        self.both(a, b, |values, a, b| {
            let known = a.base.known.min(b.base.known);
            let narrow = |line: Line| Line { base: Residue::new(known, line.base.low), ..line };
            values.low_bits(narrow(a), narrow(b), 0, &of)
        })
    }

    /// A comparison of numbers that lie on lines: of the low bits in which neither carries over, unless the upper bits decide, which
    /// are the same in all lanes. The predicate's pattern.
    pub fn compared(self, a: Pattern, b: Pattern, holds: impl Fn(u64, u64) -> bool) -> Pattern {
        self.both(a, b, |values, a, b| {
            let known = a.base.known.min(b.base.known);
            let [a, b] = [a, b].map(|line| Line { base: Residue::new(known, line.base.low), ..line });
            let within = |line: Line| line.carries_beyond(values.class, values.lanes).is_some();
            let both = within(a) && within(b) || on(Mutant::AffineOrder);
            let low = |line: Line, lane: u32| line.base.low.wrapping_add(line.stride.wrapping_mul(lane.into()));
            let at = |lane: u32| holds(cut(low(a, lane), known), cut(low(b, lane), known));
            let span = Line { halves: a.halves || b.halves, ..a }.span(values.lanes).max(1);
            // Where all bits are known, the highest one may be a sign.
            if !both || known >= values.bits() || (1..span).any(|lane| at(lane) != at(0)) {
                return Pattern::Vector;
            }
            Pattern::Affine(Line { halves: a.halves, ..Line::uniform(Residue::NONE) })
        })
    }

    /// A shift to the right by a known number of bits.
    pub fn shifted(self, a: Pattern, by: u8) -> Pattern {
        let Pattern::Affine(line) = a else { return a };
        self.low_bits(line, Line::uniform(line.base), by, &|value, _| value >> by)
    }

    /// The lines of low bits in which neither carries over, so that the upper bits of both are the same in all lanes; `fewer` of
    /// them are gone in the result, whose upper bits are to depend on the upper bits alone.
    fn low_bits(self, a: Line, b: Line, fewer: u8, of: &dyn Fn(u64, u64) -> u64) -> Pattern {
        let within = |line: Line| line.carries_beyond(self.class, self.lanes).is_some() || on(Mutant::AffineCarry);
        if !within(a) || !within(b) {
            return Pattern::Vector;
        }
        let (known, halves) = (a.base.known, a.halves || b.halves);
        if known <= fewer {
            return self.line(0, halves, Residue::NONE);
        }
        let (bits, span) = (known - fewer, Line { halves, ..a }.span(self.lanes).max(1));
        let value =
            |line: Line, lane: u32| cut(line.base.low.wrapping_add(line.stride.wrapping_mul(lane.into())), known);
        let at = |lane: u32| cut(of(value(a, lane), value(b, lane)), bits);
        let step = |lane: u32| at(lane + 1).wrapping_sub(at(lane));
        let stride = if span > 1 { step(0) } else { 0 };
        if (1..span - 1).any(|lane| step(lane) != stride) {
            return Pattern::Vector;
        }
        self.line(stride, halves, Residue::new(bits, at(0)))
    }

    /// A number of 32 bits as one of 64. Gives, too, whether that holds only if the values of the lanes do not wrap around.
    pub fn widened(self, a: Pattern, sign: bool) -> (Pattern, bool) {
        const WORD: Class = Class::W;
        let Pattern::Affine(line) = a else { return (a, false) };
        let wide = |value| if sign { signed(value, 32).cast_unsigned() } else { cut(value, 32) };
        if let Some(values) = line.values(WORD, self.lanes) {
            return (self.fit(&values.map(wide)), false);
        }
        let sure = line.carries_beyond(WORD, self.lanes).is_some() || on(Mutant::AffineWrap);
        (self.line(signed(line.stride, 32).cast_unsigned(), line.halves, line.base), !sure)
    }

    /// The low half of a number of 64 bits.
    pub fn narrowed(self, a: Pattern) -> Pattern {
        let Pattern::Affine(line) = a else { return a };
        self.line(line.stride, line.halves, line.base)
    }

    /// One of two, in each lane another one.
    pub fn either(self, a: Pattern, b: Pattern) -> Pattern {
        match (a, b) {
            (Pattern::Never, _) | (_, Pattern::Never) => Pattern::Never,
            _ if a == b && self.known(a).is_some() => a,
            _ => Pattern::Vector,
        }
    }

    /// The values of each lane, where they are known.
    pub fn known(self, a: Pattern) -> Option<[u64; MOST]> {
        match a {
            Pattern::Affine(line) => line.values(self.class, self.lanes),
            _ => None,
        }
    }

    /// Whether the values of lanes that execute an instruction together have the pattern, as far as it says something.
    pub fn admits(self, a: Pattern, active: u32, value: impl Fn(usize) -> u64) -> bool {
        let Pattern::Affine(line) = a else { return a == Pattern::Vector };
        let span = line.span(self.lanes).max(1) as usize;
        let mut first = [None; 2];
        (0..MOST).filter(|lane| active >> lane & 1 == 1).all(|lane| {
            let base = cut(value(lane).wrapping_sub(line.stride.wrapping_mul((lane % span) as u64)), self.bits());
            let of = &mut first[(lane / span).min(1)];
            cut(base, line.base.known) == line.base.low && *of.get_or_insert(base) == base
        })
    }
}

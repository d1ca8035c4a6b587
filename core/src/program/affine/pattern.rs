//! What the lanes of a warp hold in a register, as far as that can be told without running: one value, values that differ by
//! the same amount from lane to lane, or anything.

use crate::base::mutant::{Mutant, on};
use crate::program::ops::Class;

/// Lanes of a warp at most.
pub(super) const MOST: usize = crate::base::LANES;

/// How the values of a register depend on the lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Pattern {
    /// No lane comes here.
    #[default]
    Never,
    /// They lie on a line.
    Affine(Line),
    /// Nothing is known of them.
    Vector,
}

/// Values that grow by `stride` from lane to lane, over the warp or over each half of it; numbers as wide as the register,
/// that wrap around. One value for all lanes is a line of stride 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line {
    /// What a lane has more than the one before.
    pub stride: u64,
    /// Each half of the warp has a line of its own, of the same stride.
    pub halves: bool,
    /// What is known of the value in the first lane, of each half where these have their own.
    pub base: Residue,
}

/// The low bits of a number, as far as they are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Residue {
    /// How many bits are known.
    pub known: u8,
    /// They themselves.
    pub low: u64,
}

/// A number's low bits.
const fn cut(value: u64, bits: u8) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

/// The number that the low bits of another are in two's complement.
pub(super) const fn signed(value: u64, bits: u8) -> i64 {
    let unused = 64 - if bits > 64 || bits == 0 { 64 } else { bits as u32 };
    (value << unused).cast_signed() >> unused
}

impl Residue {
    /// Nothing is known.
    pub const NONE: Self = Self { known: 0, low: 0 };

    /// So many low bits of a value are known.
    #[must_use]
    pub const fn new(known: u8, value: u64) -> Self {
        Self { known, low: cut(value, known) }
    }

    /// What both say.
    fn join(self, other: Self) -> Self {
        let alike = (self.low ^ other.low).trailing_zeros().min(64) as u8;
        Self::new(self.known.min(other.known).min(alike), self.low)
    }

    fn add(self, other: Self) -> Self {
        Self::new(self.known.min(other.known), self.low.wrapping_add(other.low))
    }

    fn negated(self) -> Self {
        Self::new(self.known, self.low.wrapping_neg())
    }

    /// Low bits that are known to be zero.
    pub(super) fn zeros(self) -> u32 {
        if self.low == 0 { self.known.into() } else { self.low.trailing_zeros() }
    }

    /// `(a + 2ᵏx)(b + 2ᵐy)` is `ab` up to the lowest bit in which `x` or `y` has a part.
    fn multiply(self, other: Self, bits: u8) -> Self {
        let known = (u32::from(self.known) + other.zeros()).min(u32::from(other.known) + self.zeros());
        Self::new(known.min(bits.into()) as u8, self.low.wrapping_mul(other.low))
    }
}

impl Line {
    /// One value for all lanes, of which something is known.
    #[must_use]
    pub const fn uniform(base: Residue) -> Self {
        Self { stride: 0, halves: false, base }
    }

    /// A known value for all lanes.
    #[must_use]
    pub const fn constant(value: u64, class: Class) -> Self {
        Self::uniform(Residue::new(class.bits(), value))
    }

    /// Whether all lanes have one value.
    #[must_use]
    pub const fn is_uniform(&self) -> bool {
        self.stride == 0 && !self.halves
    }

    /// The value of all lanes, where it is known.
    #[must_use]
    pub fn value(&self, class: Class) -> Option<u64> {
        (self.is_uniform() && self.base.known >= class.bits()).then_some(self.base.low)
    }

    /// Lanes that have a line.
    const fn span(&self, lanes: u32) -> u32 {
        if self.halves { lanes / 2 } else { lanes }
    }

    /// The same, as of each half.
    pub(super) fn halved(self, lanes: u32) -> Self {
        if self.halves {
            return self;
        }
        let second = self.stride.wrapping_mul((lanes / 2).into());
        let other = Residue::new(self.base.known, self.base.low.wrapping_add(second));
        let base = if on(Mutant::AffineHalves) { self.base } else { self.base.join(other) };
        Self { halves: true, base, ..self }
    }

    /// Both as of the warp, or both as of each half.
    fn alike(self, other: Self, lanes: u32) -> (Self, Self) {
        if self.halves || other.halves { (self.halved(lanes), other.halved(lanes)) } else { (self, other) }
    }

    /// The number of low bits in which no lane carries over, whose upper bits are then the same in all: those that are known of
    /// the first lane, if the steps to the last one stay within them.
    fn carries_beyond(&self, class: Class, lanes: u32) -> Option<u8> {
        let known = self.base.known.min(class.bits());
        let steps = i128::from(signed(self.stride, class.bits())) * i128::from(self.span(lanes).saturating_sub(1));
        let last = i128::from(self.base.low) + steps;
        (self.stride == 0 || (0..1_i128 << known).contains(&last)).then_some(known)
    }

    /// The values of all lanes, where they are known.
    fn values(&self, class: Class, lanes: u32) -> Option<[u64; MOST]> {
        if self.base.known < class.bits() {
            return None;
        }
        let span = self.span(lanes).max(1) as usize;
        let at = |lane: usize| self.base.low.wrapping_add(self.stride.wrapping_mul((lane % span) as u64));
        Some(std::array::from_fn(|lane| cut(at(lane), class.bits())))
    }
}

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

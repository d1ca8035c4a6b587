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
pub(super) const fn cut(value: u64, bits: u8) -> u64 {
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
    pub(super) fn join(self, other: Self) -> Self {
        let alike = (self.low ^ other.low).trailing_zeros().min(64) as u8;
        Self::new(self.known.min(other.known).min(alike), self.low)
    }

    pub(super) fn add(self, other: Self) -> Self {
        Self::new(self.known.min(other.known), self.low.wrapping_add(other.low))
    }

    pub(super) fn negated(self) -> Self {
        Self::new(self.known, self.low.wrapping_neg())
    }

    /// Low bits that are known to be zero.
    pub(super) fn zeros(self) -> u32 {
        if self.low == 0 { self.known.into() } else { self.low.trailing_zeros() }
    }

    /// `(a + 2ᵏx)(b + 2ᵐy)` is `ab` up to the lowest bit in which `x` or `y` has a part.
    pub(super) fn multiply(self, other: Self, bits: u8) -> Self {
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
    pub(super) const fn span(&self, lanes: u32) -> u32 {
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
    pub(super) fn alike(self, other: Self, lanes: u32) -> (Self, Self) {
        if self.halves || other.halves { (self.halved(lanes), other.halved(lanes)) } else { (self, other) }
    }

    /// The number of low bits in which no lane carries over, whose upper bits are then the same in all: those that are known of
    /// the first lane, if the steps to the last one stay within them.
    pub(super) fn carries_beyond(&self, class: Class, lanes: u32) -> Option<u8> {
        let known = self.base.known.min(class.bits());
        let steps = i128::from(signed(self.stride, class.bits())) * i128::from(self.span(lanes).saturating_sub(1));
        let last = i128::from(self.base.low) + steps;
        (self.stride == 0 || (0..1_i128 << known).contains(&last)).then_some(known)
    }

    /// The values of all lanes, where they are known.
    pub(super) fn values(&self, class: Class, lanes: u32) -> Option<[u64; MOST]> {
        if self.base.known < class.bits() {
            return None;
        }
        let span = self.span(lanes).max(1) as usize;
        let at = |lane: usize| self.base.low.wrapping_add(self.stride.wrapping_mul((lane % span) as u64));
        Some(std::array::from_fn(|lane| cut(at(lane), class.bits())))
    }
}

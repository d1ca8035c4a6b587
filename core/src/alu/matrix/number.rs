//! Elements of matrices as numbers, and how sums become elements again.

/// Types of elements that are multiplied.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the types of the PTX ISA, 5.2.3")]
pub enum Element {
    F16,
    Bf16,
    /// In 32 bits, of which the low 13 are not looked at.
    Tf32,
    E4m3,
    E5m2,
}

impl Element {
    /// Bits of an element in a register.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::F16 | Self::Bf16 => 16,
            Self::Tf32 => 32,
            Self::E4m3 | Self::E5m2 => 8,
        }
    }

    /// The same in bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.bits() as usize / 8
    }
}

/// Types of elements that are added up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the types of the PTX ISA, 5.2.2")]
pub enum Accumulator {
    F16,
    F32,
}

/// An element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Number {
    /// ± significand · 2^(exponent - [`POINT`]).
    Finite(Finite),
    /// Infinity; negative or not.
    Infinite(bool),
    Nan,
}

/// A number that is one. It is not normalised: a subnormal one has the least exponent of its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Finite {
    pub negative: bool,
    pub significand: u32,
    pub exponent: i32,
}

/// Bits of the significand of an element below the binary point.
pub(super) const POINT: u32 = 10;
/// The same of an accumulator.
pub(super) const SUM_POINT: u32 = 23;

/// A binary format: bits of exponent and fraction.
#[derive(Clone, Copy)]
struct Format {
    exponent: u32,
    fraction: u32,
}

impl Format {
    const HALF: Self = Self { exponent: 5, fraction: 10 };
    const SINGLE: Self = Self { exponent: 8, fraction: 23 };

    const fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// The number of a bit pattern, with `point` bits of fraction.
    const fn number(self, bits: u32, point: u32) -> Number {
        let negative = bits >> (self.exponent + self.fraction) & 1 == 1;
        let exponent = bits >> self.fraction & ((1 << self.exponent) - 1);
        let fraction = bits & ((1 << self.fraction) - 1);
        if exponent == (1 << self.exponent) - 1 {
            return if fraction == 0 { Number::Infinite(negative) } else { Number::Nan };
        }
        self.finite(negative, exponent, fraction, point)
    }

    const fn finite(self, negative: bool, exponent: u32, fraction: u32, point: u32) -> Number {
        let (leading, exponent) = if exponent == 0 { (0, 1) } else { (1 << self.fraction, exponent) };
        let significand = (fraction | leading) << (point - self.fraction);
        Number::Finite(Finite { negative, significand, exponent: exponent.cast_signed() - self.bias() })
    }
}

impl Element {
    /// The number of a bit pattern.
    pub(super) const fn number(self, bits: u32) -> Number {
        match self {
            Self::F16 => Format::HALF.number(bits, POINT),
            Self::Bf16 => Format { exponent: 8, fraction: 7 }.number(bits, POINT),
            Self::Tf32 => Format { exponent: 8, fraction: 10 }.number(bits >> 13, POINT),
            Self::E5m2 => Format { exponent: 5, fraction: 2 }.number(bits, POINT),
            // No infinity; the largest pattern alone is NaN.
            Self::E4m3 if bits & 0x7f == 0x7f => Number::Nan,
            Self::E4m3 => {
                let format = Format { exponent: 4, fraction: 3 };
                format.finite(bits >> 7 & 1 == 1, bits >> 3 & 15, bits & 7, POINT)
            }
        }
    }
}

impl Accumulator {
    /// The number of a bit pattern.
    pub(super) const fn number(self, bits: u32) -> Number {
        match self {
            Self::F16 => Format::HALF.number(bits, SUM_POINT),
            Self::F32 => Format::SINGLE.number(bits, SUM_POINT),
        }
    }

    /// The canonical NaN.
    pub(super) const fn nan(self) -> u32 {
        match self {
            Self::F16 => 0x7fff,
            Self::F32 => 0x7fff_ffff,
        }
    }

    pub(super) const fn infinity(self, negative: bool) -> u32 {
        match self {
            Self::F16 => 0x7c00 | (negative as u32) << 15,
            Self::F32 => 0x7f80_0000 | (negative as u32) << 31,
        }
    }

    /// A sum of `magnitude · 2^unit`, to nearest even; `more`: a little more than that.
    pub(super) fn nearest(self, negative: bool, magnitude: u64, unit: i32, more: bool) -> u32 {
        let format = self.format();
        self.round(negative, magnitude, unit, format.fraction, |kept, rest, half| {
            kept + u64::from(rest > half || rest == half && (more || kept & 1 == 1))
        })
    }

    /// The same, toward zero, with `kept` bits below the leading one. What is too large becomes infinite all the same.
    pub(super) fn toward_zero(self, negative: bool, magnitude: u64, unit: i32, kept: u32) -> u32 {
        self.round(negative, magnitude, unit, kept.min(self.format().fraction), |kept, _, _| kept)
    }

    const fn format(self) -> Format {
        match self {
            Self::F16 => Format::HALF,
            Self::F32 => Format::SINGLE,
        }
    }

    /// Rounds to `bits` bits below the leading one; `rounded` gets what is kept, what is not, and half of a unit. Zero is
    /// positive.
    fn round(
        self,
        negative: bool,
        magnitude: u64,
        unit: i32,
        bits: u32,
        rounded: impl Fn(u64, u64, u64) -> u64,
    ) -> u32 {
        let format = self.format();
        if magnitude == 0 {
            return 0;
        }
        let sign = u32::from(negative) << (format.exponent + format.fraction);
        let least = 1 - format.bias();
        let leading = magnitude.ilog2().cast_signed() + unit;
        // The exponent of the last bit that is kept, and how far that is from the last bit there is.
        let last = leading.max(least) - bits.cast_signed();
        let kept = match (last - unit).cast_unsigned() {
            shift @ 1..64 => {
                let half = 1 << (shift - 1);
                rounded(magnitude >> shift, magnitude & (half | (half - 1)), half)
            }
            // All of it is below half of a unit.
            64..0x8000_0000 => rounded(0, 0, 1),
            back => magnitude << (back.wrapping_neg() & 63),
        };
        // A leading one adds to the exponent, and so does what was rounded up to the next power of two.
        let kept = kept << (format.fraction - bits);
        let exponent = u64::from((leading.max(least) - least).cast_unsigned());
        let encoded = (exponent << format.fraction) + kept;
        let infinity = u64::from(self.infinity(false));
        sign | if encoded >= infinity { self.infinity(false) } else { encoded as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of a finite number, exactly.
    fn value(number: Number, point: u32) -> f64 {
        match number {
            Number::Finite(f) => {
                let size = f64::from(f.significand) * 2f64.powi(f.exponent - point.cast_signed());
                if f.negative { -size } else { size }
            }
            Number::Infinite(negative) => {
                if negative {
                    f64::NEG_INFINITY
                } else {
                    f64::INFINITY
                }
            }
            Number::Nan => f64::NAN,
        }
    }

    #[test]
    fn elements_are_what_the_formats_say() {
        let known = [
            (Element::F16, 0x3c00, 1.0),
            (Element::F16, 0x8001, -(2f64.powi(-24))),
            (Element::F16, 0x7bff, 65504.0),
            (Element::F16, 0xfc00, f64::NEG_INFINITY),
            (Element::Bf16, 0x3f80, 1.0),
            (Element::Bf16, 0x0001, 2f64.powi(-133)),
            (Element::Tf32, 0x3f80_1fff, 1.0),
            (Element::Tf32, 0xbf80_2000, -1.0 - 2f64.powi(-10)),
            (Element::E4m3, 0x7e, 448.0),
            (Element::E4m3, 0x01, 2f64.powi(-9)),
            (Element::E5m2, 0x7b, 57344.0),
            (Element::E5m2, 0x81, -(2f64.powi(-16))),
            (Element::E5m2, 0x7c, f64::INFINITY),
        ];
        for (element, bits, is) in known {
            assert_eq!(value(element.number(bits), POINT), is, "{element:?} {bits:#x}");
        }
        assert_eq!(Element::E4m3.number(0xff), Number::Nan);
        assert_eq!(Element::Tf32.number(0x7f80_1fff), Number::Infinite(false));
        assert_eq!(Element::Tf32.number(0x7f80_2000), Number::Nan);
    }

    #[test]
    fn every_half_comes_back_from_its_value() {
        for bits in (0..0x7c00).chain(0x8001..0xfc00) {
            let Number::Finite(f) = Accumulator::F16.number(bits) else { panic!("{bits:#x}") };
            let unit = f.exponent - SUM_POINT.cast_signed();
            assert_eq!(Accumulator::F16.nearest(f.negative, f.significand.into(), unit, false), bits);
            assert_eq!(Accumulator::F16.toward_zero(f.negative, f.significand.into(), unit, 23), bits);
        }
    }

    #[test]
    fn sums_are_rounded_as_the_host_rounds() {
        // A number of 53 bits, which the host rounds to 24.
        for (magnitude, unit) in [
            (0x1f_ffff_ffff_ffff, -80),
            (0x10_0000_1000_0000, -10),
            (0x10_0000_1000_0001, -10),
            (0x10_0000_3000_0000, -10),
            (0x1f_ffff_f000_0000, 74),
            (0x1f_ffff_efff_ffff, 75),
            (0x1f_ffff_f000_0000, 75),
            (1, -149),
            (1, -150),
            (3, -150),
            (3, -151),
            (5, -151),
            (1, -400),
        ] {
            let exact = magnitude as f64 * 2f64.powi(unit);
            let nearest = Accumulator::F32.nearest(true, magnitude, unit, false);
            assert_eq!(
                nearest,
                if exact as f32 == 0.0 { 1 << 31 } else { (-exact as f32).to_bits() },
                "{magnitude:#x} {unit}"
            );
            let down = f32::from_bits(Accumulator::F32.toward_zero(false, magnitude, unit, 23));
            assert!(
                down.is_infinite() || f64::from(down) <= exact && f64::from(down.next_up()) > exact,
                "{magnitude:#x} {unit}"
            );
        }
        assert_eq!(Accumulator::F32.nearest(false, 1, -150, true), 1);
        assert_eq!(Accumulator::F32.toward_zero(false, u64::MAX, -63, 13), 0x3fff_fc00);
    }
}

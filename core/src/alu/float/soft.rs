//! Exact arithmetic with one rounding at the end, for every format and rounding mode that PTX knows.
//!
//! A number is a sign, a 128-bit significand and an exponent; operations are exact, or keep a sticky lowest bit that
//! stands for everything below it, so that [`Format::encode`] rounds once and correctly. This is the slow and sure path:
//! directed rounding, the rare conversions, and the yardstick of the fast ones. NaN here is without payload.

use crate::alu::mode::Rounding;

/// What the largest exponent of a format means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Top {
    /// Infinity and NaN, as in IEEE 754.
    Ieee,
    /// Ordinary numbers, but for the code of all ones, which is NaN (`e4m3`).
    OneNan,
    /// Ordinary numbers only.
    Finite,
}

/// A binary floating-point format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// Bits of the exponent field.
    pub exponent: u32,
    /// Bits of the fraction field.
    pub fraction: u32,
    /// The use of the largest exponent.
    pub top: Top,
}

/// `.f16`
pub const F16: Format = Format { exponent: 5, fraction: 10, top: Top::Ieee };
/// `.bf16`
pub const BF16: Format = Format { exponent: 8, fraction: 7, top: Top::Ieee };
/// `.f32`
pub const F32: Format = Format { exponent: 8, fraction: 23, top: Top::Ieee };
/// `.f64`
pub const F64: Format = Format { exponent: 11, fraction: 52, top: Top::Ieee };
/// `.tf32` without the thirteen unused low bits of its register
pub const TF32: Format = Format { exponent: 8, fraction: 10, top: Top::Ieee };
/// `.e4m3`
pub const E4M3: Format = Format { exponent: 4, fraction: 3, top: Top::OneNan };
/// `.e5m2`
pub const E5M2: Format = Format { exponent: 5, fraction: 2, top: Top::Ieee };
/// `.e2m1`
pub const E2M1: Format = Format { exponent: 2, fraction: 1, top: Top::Finite };
/// `.e2m3`
pub const E2M3: Format = Format { exponent: 2, fraction: 3, top: Top::Finite };
/// `.e3m2`
pub const E3M2: Format = Format { exponent: 3, fraction: 2, top: Top::Finite };

/// A value taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// Not a number.
    Nan,
    /// An infinity; `true` is negative.
    Infinite(bool),
    /// `significand · 2^exponent`; zero has significand 0 and any exponent.
    Number {
        /// Whether the value is negative (zeros have signs too).
        negative: bool,
        /// The significand.
        significand: u128,
        /// The exponent of the significand's lowest bit.
        exponent: i32,
    },
}

/// The significand shifted right by `by`; a lost one bit is kept in the lowest bit.
const fn shift_jam(significand: u128, by: u32) -> u128 {
    if by == 0 {
        significand
    } else if by >= 128 {
        (significand != 0) as u128
    } else {
        significand >> by | (significand << (128 - by) != 0) as u128
    }
}

/// Whether a kept part with `rest` below it (of `shift` bits) is rounded away from zero.
fn rounds_up(
    rounding: Rounding,
    negative: bool,
    odd: bool,
    rest: u128,
    shift: u32,
    random: Option<(u32, u32)>,
) -> bool {
    // Past 128 bits the rest is smaller than half of the last kept place, whatever it is.
    let half = if shift <= 128 { 1u128 << (shift - 1) } else { u128::MAX };
    match rounding {
        Rounding::NearestEven => rest > half || rest == half && odd,
        Rounding::NearestAway => rest >= half,
        Rounding::Zero => false,
        Rounding::Down => negative && rest != 0,
        Rounding::Up => !negative && rest != 0,
        Rounding::Stochastic => {
            let (bits, width) = random.unwrap_or((0, 1));
            let top = match shift.checked_sub(width) {
                Some(below) if below >= 128 => 0,
                Some(below) => rest >> below,
                None => rest << (width - shift),
            };
            top + u128::from(bits) >= 1 << width
        }
    }
}

impl Format {
    const fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    const fn sign_bit(self) -> u64 {
        1 << (self.exponent + self.fraction)
    }

    /// The largest finite magnitude's code.
    const fn largest(self) -> u64 {
        match self.top {
            Top::Ieee => self.infinity() - 1,
            Top::OneNan => self.sign_bit() - 2,
            Top::Finite => self.sign_bit() - 1,
        }
    }

    const fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    /// The canonical NaN: all ones but for the sign. A format without one gives its largest value, as `cvt` says.
    #[must_use]
    pub const fn nan(self) -> u64 {
        self.sign_bit() - 1
    }

    /// Whether the code is a subnormal number.
    #[must_use]
    pub const fn is_subnormal(self, code: u64) -> bool {
        code & self.infinity() == 0 && code & (self.sign_bit() - 1) != 0
    }

    /// The value of a code; bits above the format's are ignored.
    #[must_use]
    pub fn decode(self, code: u64) -> Value {
        let negative = code & self.sign_bit() != 0;
        let magnitude = code & (self.sign_bit() - 1);
        let fraction = u128::from(magnitude & ((1 << self.fraction) - 1));
        match self.top {
            Top::Ieee if magnitude == self.infinity() => return Value::Infinite(negative),
            Top::Ieee if magnitude > self.infinity() => return Value::Nan,
            Top::OneNan if magnitude == self.nan() => return Value::Nan,
            _ => {}
        }
        let field = (magnitude >> self.fraction) as i32;
        let (significand, field) = if field == 0 { (fraction, 1) } else { (fraction | 1 << self.fraction, field) };
        Value::Number { negative, significand, exponent: field - self.bias() - self.fraction as i32 }
    }

    /// The code of a value, rounded once. `random` is the random number of `.rs` and its width in bits.
    ///
    /// A value out of range becomes infinity or the largest finite value as the rounding says; in a format without
    /// infinities, or with `finite`, always the latter.
    #[must_use]
    pub fn encode(self, value: Value, rounding: Rounding, finite: bool, random: Option<(u32, u32)>) -> u64 {
        let finite = finite || self.top != Top::Ieee;
        let signed = |negative: bool, magnitude: u64| magnitude | if negative { self.sign_bit() } else { 0 };
        let (negative, significand, exponent) = match value {
            Value::Nan => return self.nan(),
            Value::Infinite(negative) => {
                return signed(negative, if finite { self.largest() } else { self.infinity() });
            }
            Value::Number { negative, significand: 0, .. } => return signed(negative, 0),
            Value::Number { negative, significand, exponent } => (negative, significand, exponent),
        };
        let leading = exponent + 127 - significand.leading_zeros() as i32;
        // The exponent of the last kept bit: subnormal numbers keep fewer.
        let last = leading.max(1 - self.bias()) - self.fraction as i32;
        let kept = match u32::try_from(last - exponent) {
            Ok(0) => significand,
            Ok(shift) => {
                let (kept, rest) = if shift < 128 {
                    (significand >> shift, significand & ((1 << shift) - 1))
                } else {
                    (0, significand)
                };
                kept + u128::from(rounds_up(rounding, negative, kept & 1 != 0, rest, shift, random))
            }
            Err(_) => significand << (exponent - last),
        };
        // The leading bit, when there is one, adds one to the exponent field; a carry out of the fraction does as well.
        let field = (last + self.fraction as i32 + self.bias() - 1) as u64;
        let magnitude = (field << self.fraction) + kept as u64;
        if field < 1 << self.exponent && magnitude <= self.largest() {
            return signed(negative, magnitude);
        }
        let to_largest = match rounding {
            Rounding::Zero | Rounding::Stochastic => true,
            Rounding::Down => !negative,
            Rounding::Up => negative,
            Rounding::NearestEven | Rounding::NearestAway => false,
        };
        signed(negative, if finite || to_largest { self.largest() } else { self.infinity() })
    }
}

impl Value {
    /// A signed integer's value.
    #[must_use]
    pub const fn of_integer(value: i128) -> Self {
        Self::Number { negative: value < 0, significand: value.unsigned_abs(), exponent: 0 }
    }

    /// The value with the other sign.
    #[must_use]
    pub const fn negated(self) -> Self {
        match self {
            Self::Nan => self,
            Self::Infinite(negative) => Self::Infinite(!negative),
            Self::Number { negative, significand, exponent } => {
                Self::Number { negative: !negative, significand, exponent }
            }
        }
    }

    /// The sum, exact but for a sticky lowest bit. Significands have at most 107 bits.
    #[must_use]
    pub fn plus(self, other: Self, rounding: Rounding) -> Self {
        let (a, b) = match (self, other) {
            (Self::Nan, _) | (_, Self::Nan) => return Self::Nan,
            (Self::Infinite(a), Self::Infinite(b)) => return if a == b { self } else { Self::Nan },
            (Self::Infinite(_), _) => return self,
            (_, Self::Infinite(_)) => return other,
            (
                Self::Number { negative: na, significand: sa, exponent: ea },
                Self::Number { negative: nb, significand: sb, exponent: eb },
            ) => ((na, sa, ea), (nb, sb, eb)),
        };
        if a.1 == 0 && b.1 == 0 {
            let negative = if a.0 == b.0 { a.0 } else { rounding == Rounding::Down };
            return Self::Number { negative, significand: 0, exponent: 0 };
        }
        if a.1 == 0 || b.1 == 0 {
            return if a.1 == 0 { other } else { self };
        }
        // Leading bits go to bit 125: there is room for the carry above and, below, for all bits that could matter.
        let high = |(negative, significand, exponent): (bool, u128, i32)| {
            let up = significand.leading_zeros() as i32 - 2;
            (
                negative,
                if up >= 0 { significand << up } else { shift_jam(significand, up.unsigned_abs()) },
                exponent - up,
            )
        };
        let (a, b) = (high(a), high(b));
        let (a, b) = if a.2 >= b.2 { (a, b) } else { (b, a) };
        let low = shift_jam(b.1, a.2.abs_diff(b.2));
        let (negative, significand) = if a.0 == b.0 {
            (a.0, a.1 + low)
        } else if a.1 >= low {
            (a.0, a.1 - low)
        } else {
            (b.0, low - a.1)
        };
        let negative = if significand == 0 { rounding == Rounding::Down } else { negative };
        Self::Number { negative, significand, exponent: a.2 }
    }

    /// The product, exact. Significands have at most 64 bits.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nan, _) | (_, Self::Nan) => Self::Nan,
            (Self::Infinite(a), Self::Infinite(b)) => Self::Infinite(a != b),
            (Self::Infinite(a), Self::Number { negative, significand, .. })
            | (Self::Number { negative, significand, .. }, Self::Infinite(a)) => {
                if significand == 0 {
                    Self::Nan
                } else {
                    Self::Infinite(a != negative)
                }
            }
            (
                Self::Number { negative: na, significand: sa, exponent: ea },
                Self::Number { negative: nb, significand: sb, exponent: eb },
            ) => Self::Number { negative: na != nb, significand: sa * sb, exponent: ea + eb },
        }
    }

    /// The quotient, with a sticky lowest bit. Significands have at most 60 bits.
    #[must_use]
    pub fn over(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nan, _) | (_, Self::Nan) | (Self::Infinite(_), Self::Infinite(_)) => Self::Nan,
            (Self::Infinite(a), Self::Number { negative, .. }) => Self::Infinite(a != negative),
            (Self::Number { negative, .. }, Self::Infinite(b)) => {
                Self::Number { negative: negative != b, significand: 0, exponent: 0 }
            }
            (
                Self::Number { negative: na, significand: sa, exponent: ea },
                Self::Number { negative: nb, significand: sb, exponent: eb },
            ) => {
                let negative = na != nb;
                match (sa, sb) {
                    (0, 0) => Self::Nan,
                    (_, 0) => Self::Infinite(negative),
                    (0, _) => Self::Number { negative, significand: 0, exponent: 0 },
                    _ => {
                        let up = sa.leading_zeros();
                        let high = sa << up;
                        let significand = (high / sb) | u128::from(high % sb != 0);
                        Self::Number { negative, significand, exponent: ea - up as i32 - eb }
                    }
                }
            }
        }
    }

    /// The square root, with a sticky lowest bit.
    #[must_use]
    pub fn sqrt(self) -> Self {
        match self {
            Self::Number { significand: 0, .. } | Self::Infinite(false) => self,
            Self::Number { negative: false, significand, exponent } => {
                let up = significand.leading_zeros();
                let up = if (exponent - up as i32) % 2 == 0 { up } else { up - 1 };
                let high = significand << up;
                let root = high.isqrt();
                let sticky = u128::from(root * root != high);
                Self::Number {
                    negative: false,
                    significand: root << 1 | sticky,
                    exponent: (exponent - up as i32) / 2 - 1,
                }
            }
            Self::Nan | Self::Infinite(true) | Self::Number { negative: true, .. } => Self::Nan,
        }
    }

    /// The value rounded to an integral one; the sign stays, also of a zero result.
    #[must_use]
    pub fn round_integral(self, rounding: Rounding) -> Self {
        match self {
            Self::Number { negative, significand, exponent } if exponent < 0 => {
                let shift = exponent.unsigned_abs();
                let (kept, rest) = if shift < 128 {
                    (significand >> shift, significand & ((1 << shift) - 1))
                } else {
                    (0, significand)
                };
                let kept = kept + u128::from(rounds_up(rounding, negative, kept & 1 != 0, rest, shift, None));
                Self::Number { negative, significand: kept, exponent: 0 }
            }
            _ => self,
        }
    }

    /// The integer a rounded value stands for, clamped to `[low, high]`; `None` for NaN.
    #[must_use]
    pub fn clamp_integer(self, low: i128, high: i128) -> Option<i128> {
        let (negative, magnitude) = match self {
            Self::Nan => return None,
            Self::Infinite(negative) => (negative, i128::MAX),
            Self::Number { negative, significand: 0, .. } => (negative, 0),
            Self::Number { negative, significand, exponent } => {
                let room = significand.leading_zeros() as i32 - 1;
                (negative, if exponent <= room { (significand << exponent.max(0)) as i128 } else { i128::MAX })
            }
        };
        Some((if negative { -magnitude } else { magnitude }).clamp(low, high))
    }
}

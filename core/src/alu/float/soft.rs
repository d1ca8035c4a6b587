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
pub struct Value {
    /// Whether it is negative (zeros have signs too, NaN has none).
    pub negative: bool,
    /// Its magnitude.
    pub of: Magnitude,
}

/// A value without its sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Magnitude {
    /// Not a number.
    Nan,
    /// Infinity.
    Infinite,
    /// `significand · 2^exponent`; zero has significand 0 and any exponent.
    Number(u128, i32),
}

use Magnitude::{Infinite, Nan, Number};

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

/// A significand without its `shift` lowest bits, of which at least one is cut off, rounded. `random` is the random number of
/// `.rs` and its width in bits.
fn round(rounding: Rounding, negative: bool, significand: u128, shift: u32, random: Option<(u32, u32)>) -> u128 {
    let (kept, rest) =
        if shift < 128 { (significand >> shift, significand & ((1 << shift) - 1)) } else { (0, significand) };
    // Past 128 bits the rest is smaller than half of the last kept place, whatever it is.
    let half = if shift <= 128 { 1u128 << (shift - 1) } else { u128::MAX };
    let away = match rounding {
        Rounding::NearestEven => rest > half || rest == half && kept & 1 != 0,
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
    };
    kept + u128::from(away)
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

    /// The value of a code; bits above the format's are ignored.
    #[must_use]
    pub fn decode(self, code: u64) -> Value {
        let negative = code & self.sign_bit() != 0;
        let magnitude = code & (self.sign_bit() - 1);
        let fraction = u128::from(magnitude & ((1 << self.fraction) - 1));
        match self.top {
            Top::Ieee if magnitude == self.infinity() => return Value { negative, of: Infinite },
            Top::Ieee if magnitude > self.infinity() => return Value::NAN,
            Top::OneNan if magnitude == self.nan() => return Value::NAN,
            _ => {}
        }
        let field = (magnitude >> self.fraction) as i32;
        let (significand, field) = if field == 0 { (fraction, 1) } else { (fraction | 1 << self.fraction, field) };
        Value { negative, of: Number(significand, field - self.bias() - self.fraction as i32) }
    }

    /// The code of a value, rounded once. `random` is the random number of `.rs` and its width in bits.
    ///
    /// A value out of range becomes infinity or the largest finite value as the rounding says; in a format without
    /// infinities, or with `finite`, always the latter.
    #[must_use]
    pub fn encode(self, value: Value, rounding: Rounding, finite: bool, random: Option<(u32, u32)>) -> u64 {
        let finite = finite || self.top != Top::Ieee;
        let Value { negative, of } = value;
        let signed = |magnitude: u64| magnitude | if negative { self.sign_bit() } else { 0 };
        let (significand, exponent) = match of {
            Nan => return self.nan(),
            Infinite => return signed(if finite { self.largest() } else { self.infinity() }),
            Number(0, _) => return signed(0),
            Number(significand, exponent) => (significand, exponent),
        };
        let leading = exponent + 127 - significand.leading_zeros() as i32;
        // The exponent of the last kept bit: subnormal numbers keep fewer.
        let last = leading.max(1 - self.bias()) - self.fraction as i32;
        let kept = match u32::try_from(last - exponent) {
            Ok(0) => significand,
            Ok(shift) => round(rounding, negative, significand, shift, random),
            Err(_) => significand << (exponent - last),
        };
        // The leading bit, when there is one, adds one to the exponent field; a carry out of the fraction does as well.
        let field = (last + self.fraction as i32 + self.bias() - 1) as u64;
        let magnitude = (field << self.fraction) + kept as u64;
        if field < 1 << self.exponent && magnitude <= self.largest() {
            return signed(magnitude);
        }
        let to_largest = match rounding {
            Rounding::Zero => true,
            Rounding::Down => !negative,
            Rounding::Up => negative,
            Rounding::NearestEven | Rounding::NearestAway | Rounding::Stochastic => false,
        };
        signed(if finite || to_largest { self.largest() } else { self.infinity() })
    }

    /// Whether a value is below the smallest normal number after it was rounded to all bits of the format's significand, as if
    /// exponents had no lower end (D-ftz). Zero is.
    #[must_use]
    pub fn is_tiny(self, value: Value, rounding: Rounding) -> bool {
        let (Number(significand, exponent), Some(leading)) = (value.of, value.leading()) else {
            return matches!(value.of, Number(..));
        };
        let kept = match u32::try_from(leading - self.fraction as i32 - exponent) {
            Ok(shift @ 1..) => round(rounding, value.negative, significand, shift, None),
            _ => return leading < 1 - self.bias(),
        };
        // A carry out of the significand makes a power of two of it.
        leading + i32::from(kept >> self.fraction > 1) < 1 - self.bias()
    }
}

impl Value {
    /// Not a number.
    pub const NAN: Self = Self { negative: false, of: Nan };

    /// A signed integer's value.
    #[must_use]
    pub const fn of_integer(value: i128) -> Self {
        Self { negative: value < 0, of: Number(value.unsigned_abs(), 0) }
    }

    /// The value with the other sign.
    #[must_use]
    pub fn negated(self) -> Self {
        Self { negative: !self.negative && self.of != Nan, ..self }
    }

    /// The exponent of a number's leading bit; none of zero, infinity and NaN.
    #[must_use]
    pub const fn leading(self) -> Option<i32> {
        match self.of {
            Number(0, _) | Infinite | Nan => None,
            Number(significand, exponent) => Some(exponent + 127 - significand.leading_zeros() as i32),
        }
    }

    /// The sum, exact but for a sticky lowest bit. Significands have at most 107 bits.
    #[must_use]
    pub fn plus(self, other: Self, rounding: Rounding) -> Self {
        let (a, b) = match (self.of, other.of) {
            (Nan, _) | (_, Nan) => return Self::NAN,
            (Infinite, Infinite) if self.negative != other.negative => return Self::NAN,
            (Infinite, _) => return self,
            (_, Infinite) => return other,
            (Number(0, _), Number(0, _)) => {
                let negative = if self.negative == other.negative { self.negative } else { rounding == Rounding::Down };
                return Self { negative, of: Number(0, 0) };
            }
            (Number(0, _), _) => return other,
            (_, Number(0, _)) => return self,
            (Number(a, x), Number(b, y)) => ((self.negative, a, x), (other.negative, b, y)),
        };
        // Leading bits go to bit 125: there is room for the carry above and, below, for all bits that could matter.
        let high = |(negative, significand, exponent): (bool, u128, i32)| {
            let up = significand.leading_zeros() as i32 - 2;
            let moved = if up >= 0 { significand << up } else { shift_jam(significand, up.unsigned_abs()) };
            (negative, moved, exponent - up)
        };
        let (a, b) = (high(a), high(b));
        let (a, b) = if a.2 >= b.2 { (a, b) } else { (b, a) };
        let low = shift_jam(b.1, a.2.abs_diff(b.2));
        let (negative, significand) = match a.0 == b.0 {
            true => (a.0, a.1 + low),
            false if a.1 >= low => (a.0, a.1 - low),
            false => (b.0, low - a.1),
        };
        let negative = if significand == 0 { rounding == Rounding::Down } else { negative };
        Self { negative, of: Number(significand, a.2) }
    }

    /// A product or quotient of a magnitude: its sign is that of both.
    fn joined(self, other: Self, of: Magnitude) -> Self {
        Self { negative: self.negative != other.negative && of != Nan, of }
    }

    /// The product, exact. Significands have at most 64 bits.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        let of = match (self.of, other.of) {
            (Nan, _) | (_, Nan) | (Infinite, Number(0, _)) | (Number(0, _), Infinite) => Nan,
            (Infinite, _) | (_, Infinite) => Infinite,
            (Number(a, x), Number(b, y)) => Number(a * b, x + y),
        };
        self.joined(other, of)
    }

    /// The quotient, with a sticky lowest bit. Significands have at most 60 bits.
    #[must_use]
    pub fn over(self, other: Self) -> Self {
        let of = match (self.of, other.of) {
            (Nan, _) | (_, Nan) | (Infinite, Infinite) | (Number(0, _), Number(0, _)) => Nan,
            (Infinite, Number(..)) | (Number(..), Number(0, _)) => Infinite,
            (Number(..), Infinite) | (Number(0, _), Number(..)) => Number(0, 0),
            (Number(a, x), Number(b, y)) => {
                let up = a.leading_zeros();
                let high = a << up;
                Number((high / b) | u128::from(high % b != 0), x - up as i32 - y)
            }
        };
        self.joined(other, of)
    }

    /// The square root, with a sticky lowest bit.
    #[must_use]
    pub fn sqrt(self) -> Self {
        match self.of {
            Number(0, _) => self,
            Infinite if !self.negative => self,
            Number(significand, exponent) if !self.negative => {
                let up = significand.leading_zeros();
                let up = if (exponent - up as i32) % 2 == 0 { up } else { up - 1 };
                let high = significand << up;
                let root = high.isqrt();
                let sticky = u128::from(root * root != high);
                Self { negative: false, of: Number(root << 1 | sticky, (exponent - up as i32) / 2 - 1) }
            }
            _ => Self::NAN,
        }
    }

    /// The value rounded to an integral one; the sign stays, also of a zero result.
    #[must_use]
    pub fn round_integral(self, rounding: Rounding) -> Self {
        match self.of {
            Number(significand, exponent) if exponent < 0 => {
                let kept = round(rounding, self.negative, significand, exponent.unsigned_abs(), None);
                Self { of: Number(kept, 0), ..self }
            }
            _ => self,
        }
    }

    /// The integer a rounded value stands for, clamped to `[low, high]`; `None` for NaN.
    #[must_use]
    pub fn clamp_integer(self, low: i128, high: i128) -> Option<i128> {
        let magnitude = match self.of {
            Nan => return None,
            Number(0, _) => 0,
            Number(significand, exponent) if exponent < significand.leading_zeros() as i32 => {
                (significand << exponent.max(0)) as i128
            }
            Infinite | Number(..) => i128::MAX,
        };
        Some((if self.negative { -magnitude } else { magnitude }).clamp(low, high))
    }
}

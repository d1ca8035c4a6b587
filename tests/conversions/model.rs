//! Formats of few bits as the list of all their numbers: what a value is rounded to is looked for among them.

/// A format: bits of exponent and fraction, and whether the largest exponent has infinity and NaN, one NaN, or numbers only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    F16,
    Bf16,
    E5m2,
    E4m3,
    E3m2,
    E2m3,
    E2m1,
}

use Format::{Bf16, E2m1, E2m3, E3m2, E4m3, E5m2, F16};

/// How a value between two numbers is rounded.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    Near,
    Zero,
    /// With a random number of so many bits.
    Random(u32, u32),
}

/// Modifiers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clamp {
    pub relu: bool,
    pub finite: bool,
}

impl Format {
    pub fn named(name: &str) -> Self {
        match name.trim_end_matches("x2").trim_end_matches("x4") {
            "f16" => F16,
            "bf16" => Bf16,
            "e5m2" => E5m2,
            "e4m3" => E4m3,
            "e3m2" => E3m2,
            "e2m3" => E2m3,
            "e2m1" => E2m1,
            other => panic!("{other}"),
        }
    }

    const fn fields(self) -> (u32, u32) {
        match self {
            F16 => (5, 10),
            Bf16 => (8, 7),
            E5m2 => (5, 2),
            E4m3 => (4, 3),
            E3m2 => (3, 2),
            E2m3 => (2, 3),
            E2m1 => (2, 1),
        }
    }

    /// The bits between two numbers that are packed.
    pub const fn distance(self) -> u32 {
        match self {
            F16 | Bf16 => 16,
            E2m1 => 4,
            _ => 8,
        }
    }

    const fn has_infinity(self) -> bool {
        matches!(self, F16 | Bf16 | E5m2)
    }

    const fn sign(self) -> u32 {
        let (exponent, fraction) = self.fields();
        1 << (exponent + fraction)
    }

    /// The largest number's code.
    const fn largest(self) -> u32 {
        let (_, fraction) = self.fields();
        match self {
            E4m3 => self.sign() - 2,
            _ if self.has_infinity() => self.sign() - 1 - (1 << fraction),
            _ => self.sign() - 1,
        }
    }

    /// The magnitude of a code, also of the one behind the largest number.
    fn magnitude(self, code: u32) -> f64 {
        let (exponent, fraction) = self.fields();
        let bias = (1i32 << (exponent - 1)) - 1;
        let (e, f) = (code >> fraction, f64::from(code & ((1 << fraction) - 1)) / f64::from(1 << fraction));
        if e == 0 { f * 2f64.powi(1 - bias) } else { (1.0 + f) * 2f64.powi(e as i32 - bias) }
    }

    /// The value of a code.
    pub fn value(self, code: u32) -> f64 {
        let magnitude = code & (self.sign() - 1);
        let value = if magnitude <= self.largest() {
            self.magnitude(magnitude)
        } else if self.has_infinity() && magnitude == self.largest() + 1 {
            f64::INFINITY
        } else {
            f64::NAN
        };
        if code & self.sign() == 0 { value } else { -value }
    }

    /// The code of a value.
    pub fn code(self, value: f64, way: Way, clamp: Clamp) -> u32 {
        if value.is_nan() {
            // All ones but for the sign; without NaN that is the largest number.
            return self.sign() - 1;
        }
        if clamp.relu && value.is_sign_negative() {
            return 0;
        }
        let sign = if value.is_sign_negative() { self.sign() } else { 0 };
        let value = value.abs();
        // The number below, by halving.
        let (mut below, mut above) = (0, self.largest() + 1);
        while above - below > 1 {
            let middle = below.midpoint(above);
            if self.magnitude(middle) <= value { below = middle } else { above = middle }
        }
        let (low, step) = (self.magnitude(below), self.magnitude(below + 1) - self.magnitude(below));
        // Both are exact: the step is a power of two.
        let part = (value - low) / step;
        let up = match way {
            Way::Zero => false,
            Way::Near => part > 0.5 || part == 0.5 && below & 1 == 1,
            Way::Random(random, bits) => {
                let size = 2f64.powi(bits as i32);
                (part * size).floor() + f64::from(random) >= size
            }
        };
        let code = below + u32::from(up);
        let beyond = code > self.largest() || value >= self.magnitude(self.largest() + 1);
        let infinite = self.has_infinity() && !clamp.finite;
        sign | match way {
            Way::Zero if infinite && value.is_infinite() => self.largest() + 1,
            Way::Near | Way::Random(..) if beyond && infinite => self.largest() + 1,
            _ => code.min(self.largest()),
        }
    }
}

/// `.ue8m0`: a power of two at most or, rounded up, at least the magnitude.
pub fn exponent(value: f64, up: bool, finite: bool) -> u32 {
    let beyond = if finite { 0xfe } else { 0xff };
    if value.is_nan() {
        return 0xff;
    }
    if value.is_infinite() {
        return beyond;
    }
    let fits = |code: i32| {
        let power = 2f64.powi(code - 127);
        if up { power >= value.abs() } else { power <= value.abs() }
    };
    if up {
        (0..255).find(|code| fits(*code)).map_or(beyond, |code| code as u32)
    } else {
        (0..255).rev().find(|code| fits(*code)).unwrap_or(0) as u32
    }
}

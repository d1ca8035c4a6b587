//! Element types of buffers and arguments, and their values as bytes.

use half::{bf16, f16};
use serde::{Serialize, Serializer};
use std::fmt::{self, Debug};
use std::ops::RangeInclusive;

/// What an element's bits mean.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Meaning {
    /// `u8` … `u64`
    Unsigned,
    /// `s8` … `s64`
    Signed,
    /// IEEE 754 `f16`, `f32`, `f64`
    Float,
    /// `bf16`
    Brain,
    /// `b8` … `b64`: bits; written as integers, signed or not
    Bits,
}

/// An element type: `u8 … u64 s8 … s64 f16 bf16 f32 f64 b8 … b64` (PTX ISA 5.2.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scalar {
    /// What the bits mean.
    pub meaning: Meaning,
    /// Size in bytes: 1, 2, 4 or 8.
    pub bytes: u8,
}

/// Every element type by name.
pub const SCALARS: [(&str, Scalar); 16] = {
    const fn scalar(meaning: Meaning, bytes: u8) -> Scalar {
        Scalar { meaning, bytes }
    }
    use Meaning::{Bits, Brain, Float, Signed, Unsigned};
    [
        ("u8", scalar(Unsigned, 1)),
        ("u16", scalar(Unsigned, 2)),
        ("u32", scalar(Unsigned, 4)),
        ("u64", scalar(Unsigned, 8)),
        ("s8", scalar(Signed, 1)),
        ("s16", scalar(Signed, 2)),
        ("s32", scalar(Signed, 4)),
        ("s64", scalar(Signed, 8)),
        ("f16", scalar(Float, 2)),
        ("bf16", scalar(Brain, 2)),
        ("f32", scalar(Float, 4)),
        ("f64", scalar(Float, 8)),
        ("b8", scalar(Bits, 1)),
        ("b16", scalar(Bits, 2)),
        ("b32", scalar(Bits, 4)),
        ("b64", scalar(Bits, 8)),
    ]
};

/// An element's value.
///
/// As data a number; NaN and infinities, which JSON lacks, are strings.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[cfg_attr(feature = "schema", schemars(transform = number_or_string))]
pub enum Value {
    /// An unsigned integer.
    Unsigned(u64),
    /// A signed integer.
    Signed(i64),
    /// `f16` and `bf16` widened, exactly, and `f32`.
    #[serde(serialize_with = "finite")]
    F32(f32),
    /// `f64`.
    #[serde(serialize_with = "finite")]
    F64(f64),
    /// Bits, and how many bytes of them.
    #[serde(serialize_with = "bits")]
    Bits(u64, u8),
}

impl fmt::Display for Value {
    /// The value as it can be written in a launch file; floats with as many digits as tell them apart.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned(x) => write!(f, "{x}"),
            Self::Signed(x) => write!(f, "{x}"),
            Self::F32(x) => write!(f, "{x:?}"),
            Self::F64(x) => write!(f, "{x:?}"),
            Self::Bits(x, bytes) => write!(f, "0x{x:0width$x}", width = 2 * usize::from(*bytes)),
        }
    }
}

fn finite<F: Copy + Debug + Into<f64>, S: Serializer>(number: &F, serializer: S) -> Result<S::Ok, S::Error> {
    let wide: f64 = (*number).into();
    if wide.is_finite() { wide.serialize(serializer) } else { format!("{number:?}").serialize(serializer) }
}

fn bits<S: Serializer>(bits: &u64, _: &u8, serializer: S) -> Result<S::Ok, S::Error> {
    bits.serialize(serializer)
}

#[cfg(feature = "schema")]
fn number_or_string(schema: &mut schemars::Schema) {
    *schema = schemars::json_schema!({ "description": "A number; NaN and infinities are strings.", "type": ["number", "string"] });
}

/// A number as somebody wrote it.
#[derive(Clone, PartialEq, Debug)]
pub enum Number {
    /// An integer.
    Int(i128),
    /// Anything else; its text, since the nearest `f32` is not always the nearest `f32` of the nearest `f64`.
    Float(String),
}

impl Scalar {
    /// 8-bit bits: what a buffer of no particular type holds.
    pub const BYTE: Self = Self { meaning: Meaning::Bits, bytes: 1 };

    /// The type of a name such as `u32`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        SCALARS.iter().find(|(n, _)| *n == name).map(|(_, s)| *s)
    }

    /// As data, its name.
    ///
    /// # Errors
    /// Those of the serialiser.
    pub fn as_name<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.name().serialize(serializer)
    }

    /// Its name, such as `u32`.
    #[must_use]
    pub fn name(self) -> &'static str {
        SCALARS.iter().find(|(_, s)| *s == self).map_or("b8", |(n, _)| n)
    }

    /// Its size in bytes.
    #[must_use]
    pub fn size(self) -> usize {
        usize::from(self.bytes)
    }

    /// Whether it holds floating-point numbers.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self.meaning, Meaning::Float | Meaning::Brain)
    }

    /// The little-endian bytes of a number, rounded to nearest even; `None` when an integer does not fit or a fraction
    /// is given for an integer type.
    #[must_use]
    pub fn encode(self, number: &Number) -> Option<Vec<u8>> {
        let bits = match (self.integers(), number) {
            (Some(all), Number::Int(i)) if all.contains(i) => u64::try_from(i & i128::from(u64::MAX)).ok()?,
            (Some(_), _) => return None,
            // The nearest f32 of a text is not always that of its nearest f64.
            (None, number) if self.bytes == 4 => number.to_string().parse::<f32>().ok()?.to_bits().into(),
            (None, number) => self.nearest(number.to_string().parse().ok()?),
        };
        Some(bits.to_le_bytes()[..self.size()].to_vec())
    }

    /// The integers that it holds; `None` of floating-point numbers.
    #[must_use]
    pub fn integers(self) -> Option<RangeInclusive<i128>> {
        let bits = 8 * u32::from(self.bytes);
        let (signed, unsigned) = (1i128 << (bits - 1), 1i128 << bits);
        match self.meaning {
            Meaning::Unsigned => Some(0..=unsigned - 1),
            Meaning::Signed => Some(-signed..=signed - 1),
            Meaning::Bits => Some(-signed..=unsigned - 1),
            Meaning::Float | Meaning::Brain => None,
        }
    }

    /// The bits of its number that is nearest to this one, of a floating-point type.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "it rounds")]
    pub fn nearest(self, number: f64) -> u64 {
        match (self.meaning, self.bytes) {
            (Meaning::Brain, _) => bf16::from_f64(number).to_bits().into(),
            (_, 2) => f16::from_f64(number).to_bits().into(),
            (_, 4) => (number as f32).to_bits().into(),
            _ => number.to_bits(),
        }
    }

    /// The value of an element's little-endian bytes; missing bytes are zero.
    #[must_use]
    pub fn decode(self, bytes: &[u8]) -> Value {
        let mut raw = [0; 8];
        for (to, from) in raw.iter_mut().zip(bytes.iter().take(self.size())) {
            *to = *from;
        }
        let bits = u64::from_le_bytes(raw);
        let low16 = u16::from_le_bytes([raw[0], raw[1]]);
        let low32 = u32::from_le_bytes([raw[0], raw[1], raw[2], raw[3]]);
        match (self.meaning, self.bytes) {
            (Meaning::Unsigned, _) => Value::Unsigned(bits),
            (Meaning::Signed, n) => {
                let unused = 64 - 8 * u32::from(n);
                Value::Signed((bits << unused).cast_signed() >> unused)
            }
            (Meaning::Brain, _) => Value::F32(bf16::from_bits(low16).to_f32()),
            (Meaning::Float, 2) => Value::F32(f16::from_bits(low16).to_f32()),
            (Meaning::Float, 4) => Value::F32(f32::from_bits(low32)),
            (Meaning::Float, _) => Value::F64(f64::from_bits(bits)),
            (Meaning::Bits, n) => Value::Bits(bits, n),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(i) => write!(f, "{i}"),
            Self::Float(text) => f.write_str(text),
        }
    }
}

impl Value {
    /// The value as a real number.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "for differences and tolerances only")]
    pub fn real(self) -> f64 {
        match self {
            Self::Unsigned(x) | Self::Bits(x, _) => x as f64,
            Self::Signed(x) => x as f64,
            Self::F32(x) => x.into(),
            Self::F64(x) => x,
        }
    }
}

impl Number {
    /// Reads a number as PTX, C or TOML write it: `-3`, `0x7f`, `1_000`, `2.5e-3`, `inf`, `nan`.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let plain = text.trim().replace('_', "");
        let (negative, digits) = match plain.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, plain.strip_prefix('+').unwrap_or(&plain)),
        };
        let radix = [("0x", 16), ("0X", 16), ("0b", 2), ("0o", 8)].into_iter().find(|(p, _)| digits.starts_with(p));
        let (digits, radix) = radix.map_or((digits, 10), |(p, r)| (&digits[p.len()..], r));
        if let Ok(n) = i128::from_str_radix(digits, radix)
            && digits.starts_with(|c: char| c.is_ascii_hexdigit())
        {
            return Some(Self::Int(if negative { -n } else { n }));
        }
        (radix == 10 && plain.parse::<f64>().is_ok()).then_some(Self::Float(plain))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(ty: &str, text: &str) -> Option<Vec<u8>> {
        Scalar::named(ty).unwrap().encode(&Number::read(text).unwrap())
    }

    #[test]
    fn integers_keep_their_range() {
        assert_eq!(encode("u8", "255"), Some(vec![255]));
        assert_eq!(encode("u8", "256"), None);
        assert_eq!(encode("u8", "-1"), None);
        assert_eq!(encode("b8", "-1"), Some(vec![255]));
        assert_eq!(encode("s16", "-32768"), Some(vec![0, 0x80]));
        assert_eq!(encode("u64", "18446744073709551615"), Some(vec![255; 8]));
        assert_eq!(encode("u32", "0x7fff_ffff"), Some(vec![255, 255, 255, 127]));
        assert_eq!(encode("u32", "1.5"), None);
        assert_eq!(Number::read("0x"), None);
        assert_eq!(Number::read("--1"), None);
        assert_eq!(Number::read("12q"), None);
    }

    #[test]
    fn floats_round_once() {
        // The nearest f64 of this text lies on the middle between two f32; the text itself lies above it.
        let text = "1.00000005960464477540";
        assert_eq!(encode("f32", text), Some(0x3f80_0001u32.to_le_bytes().to_vec()));
        assert_eq!(encode("f16", "1"), Some(vec![0, 0x3c]));
        assert_eq!(encode("bf16", "-2.0"), Some(vec![0, 0xc0]));
        assert_eq!(encode("f64", "inf"), Some(f64::INFINITY.to_le_bytes().to_vec()));
    }

    #[test]
    fn decode_reads_what_encode_wrote() {
        for (name, scalar) in SCALARS {
            let bytes = scalar.encode(&Number::Int(100)).unwrap();
            assert_eq!(scalar.decode(&bytes).real(), 100.0, "{name}");
            assert_eq!(scalar.name(), name);
        }
        assert_eq!(Scalar::named("s8").unwrap().decode(&[0xff]), Value::Signed(-1));
    }
}

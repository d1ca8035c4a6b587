//! The values of literals (PTX ISA 4.5.1 and 4.5.2).

use super::error::NumberProblem;
use super::error::SyntaxErrorKind::{self, BadNumber};
use super::tree::ExprKind;

/// The value of an integer literal without sign: decimal, octal `017`, hexadecimal or binary, perhaps with suffix `U`.
/// It is unsigned with the suffix or when it does not fit `i64` (PTX ISA 4.5.1).
pub(crate) fn integer(text: &str) -> Result<(u64, bool), SyntaxErrorKind> {
    let suffixed = text.as_bytes().last() == Some(&b'U');
    let digits = &text[..text.len() - usize::from(suffixed)];
    let bits = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => u64::from_str_radix(&digits[2..], 16),
        [b'0', b'b' | b'B', ..] => u64::from_str_radix(&digits[2..], 2),
        [b'0', _, ..] => u64::from_str_radix(&digits[1..], 8),
        short if short.len() < 19 => {
            return Ok((short.iter().fold(0, |n, d| n * 10 + u64::from(d.wrapping_sub(b'0'))), suffixed));
        }
        _ => digits.parse(),
    };
    let bits = bits.map_err(|_| BadNumber(NumberProblem::TooLarge))?;
    Ok((bits, suffixed || i64::try_from(bits).is_err()))
}

/// An integer literal that must fit 32 bits: counts, sizes, line numbers.
pub(crate) fn small(text: &str) -> Result<u32, SyntaxErrorKind> {
    integer(text).and_then(|(bits, _)| u32::try_from(bits).map_err(|_| BadNumber(NumberProblem::TooLarge)))
}

/// A version such as `8.0`.
pub(crate) fn version(text: &str) -> Result<(u16, u16), SyntaxErrorKind> {
    let parts = text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    parts.ok_or(BadNumber(NumberProblem::Malformed))
}

/// A floating-point literal: `0f…` gives an `f32`, `0d…` and decimal ones an `f64` (PTX ISA 4.5.2).
pub(crate) fn float(text: &str) -> Result<ExprKind, SyntaxErrorKind> {
    let malformed = BadNumber(NumberProblem::Malformed);
    match text.as_bytes() {
        [b'0', b'f' | b'F', ..] => u32::from_str_radix(&text[2..], 16).map(ExprKind::F32).map_err(|_| malformed),
        [b'0', b'd' | b'D', ..] => u64::from_str_radix(&text[2..], 16).map(ExprKind::F64).map_err(|_| malformed),
        _ => text.parse::<f64>().map(|v| ExprKind::F64(v.to_bits())).map_err(|_| malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_every_base() {
        assert_eq!(integer("0"), Ok((0, false)));
        assert_eq!(integer("42U"), Ok((42, true)));
        assert_eq!(integer("0X1f"), Ok((31, false)));
        assert_eq!(integer("017"), Ok((15, false)));
        assert_eq!(integer("0b101"), Ok((5, false)));
        assert_eq!(integer("9223372036854775807"), Ok((i64::MAX as u64, false)));
        assert_eq!(integer("9223372036854775808"), Ok((1 << 63, true)));
        assert_eq!(integer("18446744073709551615"), Ok((u64::MAX, true)));
        assert_eq!(integer("18446744073709551616"), Err(BadNumber(NumberProblem::TooLarge)));
        assert_eq!(small("4294967296"), Err(BadNumber(NumberProblem::TooLarge)));
    }

    #[test]
    fn floats() {
        assert_eq!(float("0f3F800000"), Ok(ExprKind::F32(0x3f80_0000)));
        assert_eq!(float("0D3ff0000000000000"), Ok(ExprKind::F64(1.0f64.to_bits())));
        for (text, value) in [(".5", 0.5), ("1.", 1.0), ("1e5", 1e5), ("1.5e+3", 1500.0), ("1e999", f64::INFINITY)] {
            assert_eq!(float(text), Ok(ExprKind::F64(value.to_bits())), "{text}");
        }
    }
}

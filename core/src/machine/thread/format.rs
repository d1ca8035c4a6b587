//! C's `printf` format, as the device runtime has it: the argument buffer holds 4-byte integers, 8-byte integers,
//! pointers and doubles, each aligned to its size (D-printf).

use crate::verdict::{BugKind, FormatProblem};

/// One conversion: flags, width, precision, kind.
#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    long: bool,
}

/// Characters that every host must be able to print by one conversion (C11, 7.21.6.1, paragraph 15).
const WIDEST: u64 = 4095;

/// Why a format cannot be printed: a defect of the program.
type Failed = Box<BugKind>;

/// The arguments of a call: `next(size)` gives the next of 4 or 8 bytes.
type Next<'a> = &'a mut dyn FnMut(u64) -> Result<u64, Failed>;

/// The rest of a format, and where the conversion began that is being read.
struct Rest<'a> {
    format: &'a [u8],
    at: usize,
    from: usize,
}

impl Rest<'_> {
    fn peek(&self) -> Option<u8> {
        self.format.get(self.at).copied()
    }

    fn next_if(&mut self, wanted: impl Fn(u8) -> bool) -> Option<u8> {
        let c = self.peek().filter(|c| wanted(*c))?;
        self.at += 1;
        Some(c)
    }

    /// What is wrong with the conversion.
    fn bad(&self, problem: fn(String) -> FormatProblem) -> Failed {
        let text = String::from_utf8_lossy(&self.format[self.from..self.at.min(self.format.len())]).into_owned();
        Box::new(BugKind::BadFormat { problem: problem(text) })
    }

    /// A width or precision: digits, or `*` and an argument, which is counted.
    fn number(&mut self, next: Next<'_>, count: &mut u64) -> Result<Option<i64>, Failed> {
        if self.next_if(|c| c == b'*').is_some() {
            *count += 1;
            return Ok(Some(i64::from((next(4)? as u32).cast_signed())));
        }
        let mut value = None;
        while let Some(d) = self.next_if(|c| c.is_ascii_digit()) {
            value = Some(i64::from(d - b'0').saturating_add(value.unwrap_or(0i64).saturating_mul(10)));
        }
        Ok(value)
    }

    /// Flags, width, precision and size of a conversion; how often `h` was said.
    fn spec(&mut self, next: Next<'_>, count: &mut u64) -> Result<(Spec, u32), Failed> {
        let mut spec = Spec::default();
        while let Some(flag) = self.next_if(|c| b"-+ #0".contains(&c)) {
            match flag {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                _ => spec.zero = true,
            }
        }
        let width = self.number(next, count)?.unwrap_or(0);
        spec.left |= width < 0;
        spec.width = usize::try_from(width.unsigned_abs().min(WIDEST + 1)).unwrap_or(usize::MAX);
        if self.next_if(|c| c == b'.').is_some() {
            let precision = self.number(next, count)?.unwrap_or(0);
            spec.precision = usize::try_from(precision).ok();
        }
        let mut half = 0;
        while let Some(l) = self.next_if(|c| b"lhjztL".contains(&c)) {
            spec.long |= b"ljztL".contains(&l);
            half += u32::from(l == b'h');
        }
        Ok((spec, half))
    }
}

/// Formats a line. `next(size)` gives the next argument of 4 or 8 bytes, `string` a string in memory of which at most so
/// many bytes are wanted. Returns the bytes and the value of the call: the number of arguments used, as CUDA's `printf`
/// returns it.
///
/// # Errors
/// A conversion that device code does not have, or one that a host need not be able to print; what `next` and `string`
/// cannot read.
pub(in crate::machine) fn printf(
    format: &[u8],
    next: Next<'_>,
    string: &dyn Fn(u64, Option<u64>) -> Result<Vec<u8>, Failed>,
) -> Result<(Vec<u8>, u64), Failed> {
    let (mut out, mut count) = (Vec::new(), 0);
    let mut rest = Rest { format, at: 0, from: 0 };
    while let Some(c) = rest.next_if(|_| true) {
        if c != b'%' {
            out.push(c);
            continue;
        }
        rest.from = rest.at - 1;
        let (mut spec, half) = rest.spec(&mut *next, &mut count)?;
        let Some(kind) = rest.next_if(|_| true) else { return Err(rest.bad(FormatProblem::Cut)) };
        if kind == b'%' {
            out.push(b'%');
            continue;
        }
        let wide = |n: usize| n as u64 > WIDEST;
        if wide(spec.width) || (kind != b's' && spec.precision.is_some_and(wide)) {
            return Err(rest.bad(FormatProblem::Wide));
        }
        count += 1;
        let size = if spec.long { 8 } else { 4 };
        let (sign, body) = match kind {
            b'd' | b'i' => {
                let raw = next(size)?;
                let v = match (spec.long, half) {
                    (true, _) => raw.cast_signed(),
                    (_, 1) => i64::from((raw as u16).cast_signed()),
                    (_, 2..) => i64::from((raw as u8).cast_signed()),
                    _ => i64::from((raw as u32).cast_signed()),
                };
                (sign_of(v < 0, &spec), digits(v.unsigned_abs(), 10, false, &spec))
            }
            b'u' | b'x' | b'X' | b'o' => unsigned(next(size)?, kind, half, &spec),
            b'c' => (String::new(), vec![next(4)? as u8]),
            b's' => {
                let (address, most) = (next(8)?, spec.precision);
                let mut text = if address == 0 { b"(null)".to_vec() } else { string(address, most.map(|n| n as u64))? };
                text.truncate(most.unwrap_or(usize::MAX));
                spec.zero = false;
                (String::new(), text)
            }
            b'p' => (String::from("0x"), format!("{:x}", next(8)?).into_bytes()),
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                let v = f64::from_bits(next(8)?);
                spec.zero &= v.is_finite();
                (sign_of(v.is_sign_negative() && !v.is_nan(), &spec), float(v.abs(), kind, &spec).into_bytes())
            }
            _ => return Err(rest.bad(FormatProblem::Conversion)),
        };
        pad(&mut out, sign.as_bytes(), &body, &spec, b"diuxXo".contains(&kind));
    }
    Ok((out, count))
}

/// Prefix and digits of an unsigned number.
fn unsigned(raw: u64, kind: u8, half: u32, spec: &Spec) -> (String, Vec<u8>) {
    let v = match half {
        1 => raw & 0xffff,
        2.. => raw & 0xff,
        _ => raw,
    };
    let radix = match kind {
        b'u' => 10,
        b'o' => 8,
        _ => 16,
    };
    let prefix = match kind {
        b'x' if spec.alternate && v != 0 => "0x",
        b'X' if spec.alternate && v != 0 => "0X",
        b'o' if spec.alternate => "0",
        _ => "",
    };
    (prefix.to_owned(), digits(v, radix, kind == b'X', spec))
}

fn sign_of(negative: bool, spec: &Spec) -> String {
    let sign = if negative {
        "-"
    } else if spec.plus {
        "+"
    } else if spec.space {
        " "
    } else {
        ""
    };
    sign.to_owned()
}

fn digits(value: u64, radix: u64, upper: bool, spec: &Spec) -> Vec<u8> {
    let text = match radix {
        8 => format!("{value:o}"),
        16 if upper => format!("{value:X}"),
        16 => format!("{value:x}"),
        _ => value.to_string(),
    };
    if value == 0 && spec.precision == Some(0) {
        return Vec::new();
    }
    let zeros = spec.precision.unwrap_or(1).saturating_sub(text.len());
    let mut out = vec![b'0'; zeros];
    out.extend(text.bytes());
    out
}

fn pad(out: &mut Vec<u8>, sign: &[u8], body: &[u8], spec: &Spec, integer: bool) {
    let fill = spec.width.saturating_sub(sign.len() + body.len());
    let zero = spec.zero && !spec.left && !(integer && spec.precision.is_some());
    if !spec.left && !zero {
        out.extend(std::iter::repeat_n(b' ', fill));
    }
    out.extend(sign);
    if zero {
        out.extend(std::iter::repeat_n(b'0', fill));
    }
    out.extend(body);
    if spec.left {
        out.extend(std::iter::repeat_n(b' ', fill));
    }
}

/// A non-negative number by `%f`, `%e`, `%g` or `%a`.
fn float(v: f64, kind: u8, spec: &Spec) -> String {
    let precision = spec.precision.unwrap_or(6);
    let text = if v.is_nan() {
        "nan".to_owned()
    } else if v.is_infinite() {
        "inf".to_owned()
    } else {
        match kind.to_ascii_lowercase() {
            b'e' => exponent(v, precision),
            b'g' => general(v, precision.max(1), spec.alternate),
            b'a' => hexadecimal(v, spec.precision),
            _ => format!("{v:.precision$}"),
        }
    };
    if kind.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text }
}

/// `d.ddde±dd`
fn exponent(v: f64, precision: usize) -> String {
    let text = format!("{v:.precision$e}");
    let (mantissa, exp) = text.split_once('e').unwrap_or((&text, "0"));
    let exp: i32 = exp.parse().unwrap_or(0);
    format!("{mantissa}e{}{:02}", if exp < 0 { '-' } else { '+' }, exp.abs())
}

/// The shorter of the two, trailing zeros removed (C11 7.21.6.1).
fn general(v: f64, precision: usize, keep: bool) -> String {
    let rounded = format!("{v:.*e}", precision - 1);
    let exp: i64 = rounded.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let digits = i64::try_from(precision).unwrap_or(i64::MAX);
    let trim = |s: String| {
        if keep || !s.contains('.') { s } else { s.trim_end_matches('0').trim_end_matches('.').to_owned() }
    };
    if exp < -4 || exp >= digits {
        let text = exponent(v, precision - 1);
        let (mantissa, tail) = text.split_once('e').unwrap_or((&text, "+00"));
        format!("{}e{tail}", trim(mantissa.to_owned()))
    } else {
        let places = usize::try_from(digits - 1 - exp).unwrap_or(0);
        trim(format!("{v:.places$}"))
    }
}

/// `0x1.8p+1`
fn hexadecimal(v: f64, precision: Option<usize>) -> String {
    let bits = v.to_bits();
    let raw = (bits >> 52 & 0x7ff) as i64;
    let (lead, exp) = if raw == 0 { (0, if v == 0.0 { 0 } else { -1022 }) } else { (1, raw - 1023) };
    let mut fraction = format!("{:013x}", bits & ((1 << 52) - 1));
    match precision {
        Some(p) => fraction.truncate(p),
        None => fraction.truncate(fraction.trim_end_matches('0').len()),
    }
    let point = if fraction.is_empty() { "" } else { "." };
    format!("0x{lead}{point}{fraction}p{exp:+}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(format: &str, args: &[u64]) -> String {
        let mut args = args.iter().copied();
        let mut next = |_| Ok(args.next().unwrap_or(0));
        let text = |a: u64, _: Option<u64>| Ok(format!("s{a}").into_bytes());
        match printf(format.as_bytes(), &mut next, &text) {
            Ok((bytes, _)) => String::from_utf8(bytes).unwrap(),
            Err(kind) => format!("{kind:?}"),
        }
    }

    #[test]
    fn what_cannot_be_printed_is_told() {
        assert!(line("a %n", &[]).contains("Conversion(\"%n\")"));
        assert!(line("%-5", &[]).contains("Cut(\"%-5\")"));
        assert!(line("%999999999999999999999d", &[]).contains("Wide("));
        assert!(line("%*d", &[0x7fff_ffff, 1]).contains("Wide(\"%*d\")"));
        assert!(line("%.5000f", &[0]).contains("Wide("));
        assert_eq!(line("%.5000s|%4095d", &[1, 2]).len(), 2 + 1 + 4095);
    }

    #[test]
    fn integers() {
        assert_eq!(line("%d|%5d|%-5d|%05d|%+d", &[1, 2, 3, 4, 5]), "1|    2|3    |00004|+5");
        assert_eq!(line("%d %lld", &[0xffff_ffff, u64::MAX]), "-1 -1");
        assert_eq!(line("%x %#X %o %u %%", &[255, 255, 8, 0xffff_ffff]), "ff 0XFF 10 4294967295 %");
        assert_eq!(line("%.3d|%8.3d|%*d", &[7, 7, 4, 9]), "007|     007|   9");
        assert_eq!(line("%hhd %hu", &[0x1ff, 0x12345]), "-1 9029");
    }

    #[test]
    fn floats() {
        let f = f64::to_bits;
        assert_eq!(
            line("%f %.2f %8.1f|%-8.1f|", &[f(1.5), f(2.345), f(3.25), f(3.25)]),
            "1.500000 2.35      3.2|3.2     |"
        );
        assert_eq!(line("%e %g %g %g", &[f(12345.678), f(0.0001), f(1e-5), f(1e6)]), "1.234568e+04 0.0001 1e-05 1e+06");
        assert_eq!(line("%f %F %a", &[f(f64::INFINITY), f(f64::NAN), f(3.0)]), "inf NAN 0x1.8p+1");
        assert_eq!(line("%08.2f %+.1f", &[f(-1.5), f(1.0)]), "-0001.50 +1.0");
    }

    #[test]
    fn strings_and_pointers() {
        assert_eq!(line("[%s] [%6s] [%.1s] %c %p", &[1, 2, 3, 65, 0x1000]), "[s1] [    s2] [s] A 0x1000");
    }
}

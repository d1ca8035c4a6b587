//! C's `printf` format, as the device runtime has it: the argument buffer holds 4-byte integers, 8-byte integers,
//! pointers and doubles, each aligned to its size.

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

/// Formats a line. `next(size)` gives the next argument of 4 or 8 bytes, `string` a string in memory. Returns the bytes and
/// the value of the call: the number of arguments used, as CUDA's `printf` returns it, or -1 for a broken format.
pub(super) fn printf(
    format: &[u8],
    next: &mut dyn FnMut(u64) -> u64,
    string: &dyn Fn(u64) -> Option<Vec<u8>>,
) -> (Vec<u8>, u64) {
    let mut out = Vec::new();
    let mut count = 0;
    let mut rest = format.iter().copied().peekable();
    while let Some(c) = rest.next() {
        if c != b'%' {
            out.push(c);
            continue;
        }
        let mut spec = Spec::default();
        while let Some(&flag) = rest.peek() {
            match flag {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                _ => break,
            }
            rest.next();
        }
        let mut number = |rest: &mut std::iter::Peekable<_>, next: &mut dyn FnMut(u64) -> u64| -> Option<i64> {
            let rest: &mut std::iter::Peekable<std::iter::Copied<std::slice::Iter<'_, u8>>> = rest;
            if rest.next_if_eq(&b'*').is_some() {
                count += 1;
                return Some(i64::from((next(4) as u32).cast_signed()));
            }
            let mut value = None;
            while let Some(d) = rest.next_if(u8::is_ascii_digit) {
                value = Some((value.unwrap_or(0i64) * 10 + i64::from(d - b'0')).min(1 << 16));
            }
            value
        };
        let width = number(&mut rest, next).unwrap_or(0);
        spec.left |= width < 0;
        spec.width = usize::try_from(width.unsigned_abs()).unwrap_or(0).min(1 << 16);
        if rest.next_if_eq(&b'.').is_some() {
            spec.precision = usize::try_from(number(&mut rest, next).unwrap_or(0)).ok().map(|p| p.min(1 << 12));
        }
        let mut half = 0;
        while let Some(l) = rest.next_if(|c| b"lhjztL".contains(c)) {
            spec.long |= b"ljztL".contains(&l);
            half += u32::from(l == b'h');
        }
        let Some(kind) = rest.next() else { return (out, u64::MAX) };
        let size = if spec.long { 8 } else { 4 };
        if kind == b'%' {
            out.push(b'%');
            continue;
        }
        count += 1;
        let (sign, body) = match kind {
            b'd' | b'i' => {
                let raw = next(size);
                let v = match (spec.long, half) {
                    (true, _) => raw.cast_signed(),
                    (_, 1) => i64::from((raw as u16).cast_signed()),
                    (_, 2..) => i64::from((raw as u8).cast_signed()),
                    _ => i64::from((raw as u32).cast_signed()),
                };
                (sign_of(v < 0, &spec), digits(v.unsigned_abs(), 10, false, &spec))
            }
            b'u' | b'x' | b'X' | b'o' => {
                let raw = next(size);
                let v = match half {
                    1 => raw & 0xffff,
                    2.. => raw & 0xff,
                    _ => raw,
                };
                let radix = if kind == b'u' {
                    10
                } else if kind == b'o' {
                    8
                } else {
                    16
                };
                let prefix = match kind {
                    b'x' if spec.alternate && v != 0 => "0x",
                    b'X' if spec.alternate && v != 0 => "0X",
                    b'o' if spec.alternate => "0",
                    _ => "",
                };
                (prefix.to_owned(), digits(v, radix, kind == b'X', &spec))
            }
            b'c' => (String::new(), char::from(next(4) as u8).to_string().into_bytes()),
            b's' => {
                let address = next(8);
                let mut text = if address == 0 { b"(null)".to_vec() } else { string(address).unwrap_or_default() };
                text.truncate(spec.precision.unwrap_or(usize::MAX));
                spec.zero = false;
                (String::new(), text)
            }
            b'p' => (String::from("0x"), format!("{:x}", next(8)).into_bytes()),
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                let v = f64::from_bits(next(8));
                spec.zero &= v.is_finite();
                (sign_of(v.is_sign_negative() && !v.is_nan(), &spec), float(v.abs(), kind, &spec).into_bytes())
            }
            _ => return (out, u64::MAX),
        };
        pad(&mut out, sign.as_bytes(), &body, &spec, b"diuxXo".contains(&kind));
    }
    (out, count)
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
        let mut next = |_| args.next().unwrap_or(0);
        let text = |a: u64| Some(format!("s{a}").into_bytes());
        String::from_utf8(printf(format.as_bytes(), &mut next, &text).0).unwrap()
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

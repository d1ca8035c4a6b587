//! A strict reader of TOML tables: every key is asked for, every other key is a problem, every problem has its place.

use super::problem::{At, Problem, ProblemKind};
use super::{Number, Scalar};
use crate::base::{FileId, Span};
use toml::de::{DeTable, DeValue};

/// A TOML value where it stands.
pub(super) type Value<'a> = toml::Spanned<DeValue<'a>>;

/// A table, or an inline table, being read.
pub(super) struct Table<'t, 'a> {
    table: &'t DeTable<'a>,
    /// The table itself, for problems with what is not there.
    pub at: At,
    /// Its name in messages.
    pub name: String,
    file: FileId,
}

/// The place of a range of bytes.
pub(super) fn place(file: FileId, range: std::ops::Range<usize>) -> At {
    let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Some((file, Span::new(clamp(range.start), clamp(range.end))))
}

/// The table of a whole text.
///
/// # Errors
/// Everything that makes it no TOML, with its place.
pub(super) fn document(text: &str, file: FileId) -> Result<toml::Spanned<DeTable<'_>>, Vec<Problem>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let of = |e: &toml::de::Error| {
        ProblemKind::Toml(e.message().to_owned()).at(e.span().and_then(|range| place(file, range)))
    };
    if errors.is_empty() { Ok(table) } else { Err(errors.iter().map(of).collect()) }
}

impl<'t, 'a> Table<'t, 'a> {
    /// The table of a whole file.
    pub fn root(table: &'t toml::Spanned<DeTable<'a>>, file: FileId) -> Self {
        Self { table: table.get_ref(), at: place(file, 0..0), name: "the launch file".into(), file }
    }

    /// The place of a value.
    pub fn place(&self, value: &Value<'_>) -> At {
        place(self.file, value.span())
    }

    /// A value that must be a table.
    pub fn sub(&self, key: &str, value: &'t Value<'a>, out: &mut Vec<Problem>) -> Option<Self> {
        let at = self.place(value);
        match value.get_ref() {
            DeValue::Table(table) => Some(Self { table, at, name: format!("[{key}]"), file: self.file }),
            other => {
                out.push(wrong(key, "a table", other).at(at));
                None
            }
        }
    }

    /// Complains of every key but these.
    pub fn only(&self, known: &'static [&'static str], out: &mut Vec<Problem>) {
        for key in self.table.keys().filter(|k| !known.contains(&k.get_ref().as_ref())) {
            let kind = ProblemKind::UnknownKey { key: key.get_ref().to_string(), table: self.name.clone(), known };
            out.push(kind.at(place(self.file, key.span())));
        }
    }

    /// All keys and values; the place is the key's.
    pub fn entries(&self) -> impl Iterator<Item = (String, At, &'t Value<'a>)> {
        let file = self.file;
        // The parser's table is sorted by name; a launch file means its order.
        let mut all: Vec<_> = self.table.iter().collect();
        all.sort_by_key(|(key, _)| key.span().start);
        all.into_iter().map(move |(key, value)| (key.get_ref().to_string(), place(file, key.span()), value))
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&'t Value<'a>> {
        self.table.get(key)
    }

    /// The value of a key that must be there.
    pub fn need(&self, key: &'static str, out: &mut Vec<Problem>) -> Option<&'t Value<'a>> {
        let value = self.get(key);
        if value.is_none() {
            out.push(ProblemKind::MissingKey { key, table: self.name.clone() }.at(self.at));
        }
        value
    }

    /// A text.
    pub fn text(&self, key: &str, value: &'t Value<'a>, out: &mut Vec<Problem>) -> Option<String> {
        self.convert(key, value, "a string", out, |v| v.as_str().map(str::to_owned))
    }

    /// `true` or `false`; absent is false.
    pub fn flag(&self, key: &str, out: &mut Vec<Problem>) -> bool {
        self.get(key).and_then(|v| self.convert(key, v, "true or false", out, DeValue::as_bool)).unwrap_or(false)
    }

    /// A whole number from 0 to `largest`.
    pub fn count(&self, key: &str, value: &'t Value<'a>, largest: u64, out: &mut Vec<Problem>) -> Option<u64> {
        let number = self.convert(key, value, "a whole number", out, integer)?;
        let fits = u64::try_from(number).ok().filter(|n| *n <= largest);
        if fits.is_none() {
            let wanted =
                if largest == u64::MAX { "a number from 0 to 2^64 - 1" } else { "a number from 0 to 2^32 - 1" };
            out.push(ProblemKind::OutOfRange { key: key.into(), wanted }.at(self.place(value)));
        }
        fits
    }

    /// A finite number that may have a fraction, not negative.
    pub fn tolerance(&self, key: &str, out: &mut Vec<Problem>) -> Option<f64> {
        let value = self.get(key)?;
        let number = self.convert(key, value, "a number", out, |v| match number(v)? {
            Number::Int(i) => i.to_string().parse().ok(),
            Number::Float(text) => text.parse::<f64>().ok(),
        })?;
        // An infinite one would accept everything.
        if number >= 0.0 && number.is_finite() {
            return Some(number);
        }
        out.push(
            ProblemKind::OutOfRange { key: key.into(), wanted: "a finite number not below 0" }.at(self.place(value)),
        );
        None
    }

    /// An array.
    pub fn array(&self, key: &str, value: &'t Value<'a>, out: &mut Vec<Problem>) -> Option<&'t [Value<'a>]> {
        self.convert(key, value, "an array", out, |v| v.as_array().map(|a| &**a))
    }

    /// An element type.
    pub fn scalar(&self, key: &str, value: &'t Value<'a>, out: &mut Vec<Problem>) -> Option<Scalar> {
        let text = self.text(key, value, out)?;
        let ty = Scalar::named(&text);
        if ty.is_none() {
            out.push(ProblemKind::UnknownType { text }.at(self.place(value)));
        }
        ty
    }

    /// A number as the bytes of an element.
    pub fn element(&self, key: &str, value: &'t Value<'a>, ty: Scalar, out: &mut Vec<Problem>) -> Option<Vec<u8>> {
        let number = self.convert(key, value, "a number", out, number)?;
        let bytes = ty.encode(&number);
        if bytes.is_none() {
            let text = match number {
                Number::Int(i) => i.to_string(),
                Number::Float(text) => text,
            };
            out.push(ProblemKind::NoFit { text, ty }.at(self.place(value)));
        }
        bytes
    }

    /// Bytes in hexadecimal; blanks and underscores are skipped.
    pub fn hex(&self, key: &str, value: &'t Value<'a>, out: &mut Vec<Problem>) -> Option<Vec<u8>> {
        let text = self.text(key, value, out)?;
        let bytes = hex(&text);
        if bytes.is_none() {
            out.push(ProblemKind::BadHex.at(self.place(value)));
        }
        bytes
    }

    fn convert<T>(
        &self,
        key: &str,
        value: &'t Value<'a>,
        wanted: &'static str,
        out: &mut Vec<Problem>,
        read: impl FnOnce(&'t DeValue<'a>) -> Option<T>,
    ) -> Option<T> {
        let result = read(value.get_ref());
        if result.is_none() {
            out.push(wrong(key, wanted, value.get_ref()).at(self.place(value)));
        }
        result
    }
}

/// The bytes of hexadecimal digits; blanks and underscores are skipped. `None` for anything else.
#[must_use]
pub fn hex(text: &str) -> Option<Vec<u8>> {
    let mut digits = text.chars().filter(|c| !c.is_whitespace() && *c != '_');
    let mut bytes = Vec::with_capacity(text.len() / 2);
    while let Some(high) = digits.next() {
        let byte = high.to_digit(16)? * 16 + digits.next()?.to_digit(16)?;
        bytes.push(u8::try_from(byte).ok()?);
    }
    Some(bytes)
}

fn wrong(key: &str, wanted: &'static str, found: &DeValue<'_>) -> ProblemKind {
    ProblemKind::WrongType { key: key.into(), wanted, found: found.type_str() }
}

fn integer(value: &DeValue<'_>) -> Option<i128> {
    let number = value.as_integer()?;
    i128::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok()
}

fn number(value: &DeValue<'_>) -> Option<Number> {
    match value {
        DeValue::Integer(_) => integer(value).map(Number::Int),
        DeValue::Float(f) => Number::read(f.as_str()),
        _ => None,
    }
}

//! A strict reader of TOML tables: every key is asked for, every other key is a problem, every problem has its place.

use super::problem::{At, Problem, ProblemKind};
use super::{Number, Scalar};
use crate::base::{FileId, SourceMap, Span, sort};
use std::cell::RefCell;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A table, or an inline table, being read.
pub(super) struct Table<'t, 'a> {
    table: &'t DeTable<'a>,
    /// The table itself, for problems with what is not there.
    pub at: At,
    /// Its name in messages.
    pub name: String,
    file: FileId,
    out: &'t RefCell<Vec<Problem>>,
}

/// A value being read, with what it is called in messages.
pub(super) struct Item<'t, 'a> {
    key: String,
    value: &'t Spanned<DeValue<'a>>,
    file: FileId,
    out: &'t RefCell<Vec<Problem>>,
}

/// The place of a range of bytes.
fn place(file: FileId, range: Range<usize>) -> At {
    let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Some((file, Span::new(clamp(range.start), clamp(range.end))))
}

/// Reads the table of a whole file, which is called `name` in messages.
///
/// # Errors
/// Everything that makes it no TOML, or else that `read` complains of, with its place.
pub(super) fn document<T>(
    sources: &SourceMap,
    file: FileId,
    name: &str,
    read: impl FnOnce(&Table<'_, '_>) -> T,
) -> Result<T, Vec<Problem>> {
    let (table, errors) = DeTable::parse_recoverable(sources.get(file).map_or("", |source| &source.text));
    let of = |e: &toml::de::Error| {
        ProblemKind::Toml(e.message().to_owned()).at(e.span().and_then(|range| place(file, range)))
    };
    if !errors.is_empty() {
        return Err(errors.iter().map(of).collect());
    }
    let out = RefCell::default();
    let at = place(file, 0..0);
    let done = read(&Table { table: table.get_ref(), at, name: name.to_owned(), file, out: &out });
    let problems = out.into_inner();
    if problems.is_empty() { Ok(done) } else { Err(problems) }
}

impl<'t, 'a> Table<'t, 'a> {
    /// Complains of something at a place.
    pub fn problem(&self, kind: ProblemKind, at: At) {
        self.out.borrow_mut().push(kind.at(at));
    }

    /// Whether there was nothing to complain of so far, in the whole text.
    pub fn all_is_well(&self) -> bool {
        self.out.borrow().is_empty()
    }

    /// Complains of every key but these; tells whether there is none.
    pub fn only(&self, known: &'static [&'static str]) -> bool {
        let mut all = true;
        for key in self.table.keys().filter(|k| !known.contains(&k.get_ref().as_ref())) {
            let kind = ProblemKind::UnknownKey { key: key.get_ref().to_string(), table: self.name.clone(), known };
            self.problem(kind, place(self.file, key.span()));
            all = false;
        }
        all
    }

    fn item(&self, key: &str, value: &'t Spanned<DeValue<'a>>) -> Item<'t, 'a> {
        Item { key: key.to_owned(), value, file: self.file, out: self.out }
    }

    /// All keys and values; the place is the key's.
    pub fn entries(&self) -> impl Iterator<Item = (String, At, Item<'t, 'a>)> {
        // The parser's table is sorted by name; a launch file means its order.
        let mut all: Vec<_> = self.table.iter().collect();
        sort::sort_by_key(&mut all, |(key, _)| key.span().start);
        all.into_iter().map(|(key, value)| {
            let name = key.get_ref().to_string();
            let item = self.item(&name, value);
            (name, place(self.file, key.span()), item)
        })
    }

    /// What a table of names has: each name with its place, and what should be a table.
    pub fn named(&self, key: &str) -> Vec<(String, At, Item<'t, 'a>)> {
        let Some(table) = self.get(key).and_then(|item| item.table()) else { return Vec::new() };
        let path = |name: &str| format!("{key}.{name}");
        table.entries().map(|(name, at, item)| (name.clone(), at, Item { key: path(&name), ..item })).collect()
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<Item<'t, 'a>> {
        self.table.get(key).map(|value| self.item(key, value))
    }

    /// The value of a key that must be there.
    pub fn need(&self, key: &'static str) -> Option<Item<'t, 'a>> {
        let item = self.get(key);
        if item.is_none() {
            self.problem(ProblemKind::MissingKey { key, table: self.name.clone() }, self.at);
        }
        item
    }

    /// A text, if there is one.
    pub fn text(&self, key: &str) -> Option<String> {
        self.get(key)?.text()
    }

    /// A whole number of 32 bits, if there is one.
    pub fn number(&self, key: &str) -> Option<u32> {
        self.get(key)?.number()
    }

    /// `true` or `false`; absent is false.
    pub fn flag(&self, key: &str) -> bool {
        self.get(key).and_then(|item| item.convert("true or false", DeValue::as_bool)).unwrap_or(false)
    }

    /// What one of some words stands for, if there is one.
    pub fn choice<T: Copy>(&self, key: &'static str, all: &[(&'static str, T)]) -> Option<T> {
        self.get(key)?.word(key, all)
    }

    /// A finite number that may have a fraction, not negative.
    pub fn tolerance(&self, key: &str) -> Option<f64> {
        let item = self.get(key)?;
        let number = item.real()?;
        // An infinite one would accept everything.
        item.checked(Some(number).filter(|n| *n >= 0.0 && n.is_finite()), "a finite number not below 0")
    }
}

impl<'t, 'a> Item<'t, 'a> {
    /// Its place.
    pub fn at(&self) -> At {
        place(self.file, self.value.span())
    }

    /// Complains of it.
    pub fn problem(&self, kind: ProblemKind) {
        self.out.borrow_mut().push(kind.at(self.at()));
    }

    /// What was made of it, or a complaint where that is nothing.
    fn or<T>(&self, made: Option<T>, kind: impl FnOnce() -> ProblemKind) -> Option<T> {
        if made.is_none() {
            self.problem(kind());
        }
        made
    }

    /// The same of a value that does not lie where it must.
    pub fn checked<T>(&self, made: Option<T>, wanted: &'static str) -> Option<T> {
        self.or(made, || ProblemKind::OutOfRange { key: self.key.clone(), wanted })
    }

    /// The same of one of another type.
    pub fn convert<T>(&self, wanted: &'static str, read: impl FnOnce(&'t DeValue<'a>) -> Option<T>) -> Option<T> {
        let value = self.value.get_ref();
        self.or(read(value), || ProblemKind::WrongType { key: self.key.clone(), wanted, found: value.type_str() })
    }

    /// The value itself.
    pub fn value(&self) -> &'t DeValue<'a> {
        self.value.get_ref()
    }

    /// A table.
    pub fn table(&self) -> Option<Table<'t, 'a>> {
        let table = self.convert("a table", DeValue::as_table)?;
        Some(Table { table, at: self.at(), name: format!("[{}]", self.key), file: self.file, out: self.out })
    }

    /// A text.
    pub fn text(&self) -> Option<String> {
        self.convert("a string", |v| v.as_str().map(str::to_owned))
    }

    /// What one of some words stands for; `key` is what they are words of.
    pub fn word<T: Copy>(&self, key: &'static str, all: &[(&'static str, T)]) -> Option<T> {
        let text = self.text()?;
        let found = all.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let known = all.iter().map(|(word, _)| *word).collect();
            self.problem(ProblemKind::UnknownWord { key, text, known });
        }
        found.map(|(_, meaning)| *meaning)
    }

    /// A number that may have a fraction.
    pub fn real(&self) -> Option<f64> {
        self.convert("a number", |v| match number(v)? {
            Number::Int(i) => i.to_string().parse().ok(),
            Number::Float(text) => text.parse().ok(),
        })
    }

    /// A whole number from 0 to `largest`.
    pub fn count(&self, largest: u64) -> Option<u64> {
        let number = self.convert("a whole number", integer)?;
        let wanted = if largest == u64::MAX { "a number from 0 to 2^64 - 1" } else { "a number from 0 to 2^32 - 1" };
        self.checked(u64::try_from(number).ok().filter(|n| *n <= largest), wanted)
    }

    /// One of 32 bits.
    pub fn number(&self) -> Option<u32> {
        self.count(u32::MAX.into()).and_then(|n| u32::try_from(n).ok())
    }

    /// An array.
    pub fn array(&self) -> Option<Vec<Self>> {
        let all = self.convert("an array", DeValue::as_array)?;
        Some(all.iter().map(|value| Item { key: self.key.clone(), value, ..*self }).collect())
    }

    /// The tables of an array, as far as they are tables.
    pub fn tables(&self) -> impl Iterator<Item = Table<'t, 'a>> {
        self.array().into_iter().flatten().filter_map(|item| item.table())
    }

    /// The elements of an array; or the one value that stands in its place.
    pub fn several(self) -> Vec<Self> {
        if self.value().is_array() { self.array().unwrap_or_default() } else { vec![self] }
    }

    /// An element type.
    pub fn scalar(&self) -> Option<Scalar> {
        let text = self.text()?;
        self.or(Scalar::named(&text), || ProblemKind::UnknownType { text })
    }

    /// A number as the bytes of an element.
    pub fn element(&self, ty: Scalar) -> Option<Vec<u8>> {
        let number = self.convert("a number", number)?;
        self.or(ty.encode(&number), || ProblemKind::NoFit { text: number.to_string(), ty })
    }

    /// Bytes in hexadecimal; blanks and underscores are skipped.
    pub fn hex(&self) -> Option<Vec<u8>> {
        self.or(hex(&self.text()?), || ProblemKind::BadHex)
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

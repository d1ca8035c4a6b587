//! Source text and byte spans.

use super::FileId;
use std::fmt::{Display, Formatter};
use std::sync::OnceLock;

/// A half-open range of bytes in one source file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset one past the last byte.
    pub end: u32,
}

impl Span {
    /// The span `start..end`, in bytes.
    #[must_use]
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The bytes of `text` that the span covers; empty where it does not fit.
    #[must_use]
    pub fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or("")
    }
}

/// Something where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Placed<T> {
    /// What it is.
    pub kind: T,
    /// Its place.
    pub span: Span,
}

impl<T: Display> Display for Placed<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.kind.fmt(f)
    }
}

/// One source file: a name for messages and its text.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name shown in messages, as the user wrote it.
    pub name: String,
    /// The whole text.
    pub text: String,
    /// Where its lines end, once somebody has asked.
    ends: OnceLock<Vec<usize>>,
}

impl Source {
    fn new(name: String, text: String) -> Self {
        Self { name, text, ends: OnceLock::new() }
    }

    /// How many lines end before a byte offset.
    #[must_use]
    pub fn line_of(&self, offset: usize) -> usize {
        // A file with thousands of errors is asked for as many lines: it must not be gone through for each.
        let ends = || self.text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at).collect();
        self.ends.get_or_init(ends).partition_point(|end| *end < offset)
    }

    /// The line and column (both from 1, columns in bytes) of a byte offset.
    #[must_use]
    pub fn line_col(&self, offset: u32) -> (u32, u32) {
        let offset = (offset as usize).min(self.text.len());
        let line = self.line_of(offset);
        let start = line.checked_sub(1).and_then(|before| self.ends.get()?.get(before)).map_or(0, |end| end + 1);
        let clamp = |n: usize| u32::try_from(n + 1).unwrap_or(u32::MAX);
        (clamp(line), clamp(offset - start))
    }
}

/// Every source file of one run, by [`FileId`].
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<Source>,
    confined: bool,
    arch: Option<u32>,
}

impl SourceMap {
    /// The same, where whoever wrote the files may not be trusted: those that are named in them must lie beside them.
    #[must_use]
    pub fn confined(self, confined: bool) -> Self {
        Self { confined, ..self }
    }

    /// The same, where of a binary with PTX for several architectures that of one is taken, e.g. 80 for sm_80.
    #[must_use]
    pub fn for_arch(self, arch: Option<u32>) -> Self {
        Self { arch, ..self }
    }

    /// The architecture whose PTX is taken of a binary, if one was named.
    #[must_use]
    pub const fn arch(&self) -> Option<u32> {
        self.arch
    }

    /// Whether files may name others of their own folder only.
    #[must_use]
    pub const fn is_confined(&self) -> bool {
        self.confined
    }

    /// Adds a file and names it.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.files.push(Source::new(name.into(), text.into()));
        FileId(u32::try_from(self.files.len() - 1).unwrap_or(u32::MAX))
    }

    /// All of them, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.files.iter()
    }

    /// A place as `FILE:LINE`.
    #[must_use]
    pub fn file_line(&self, file: FileId, span: Span) -> Option<String> {
        self.get(file).map(|source| format!("{}:{}", source.name, source.line_col(span.start).0))
    }

    /// What stands at a place, on one line.
    #[must_use]
    pub fn words(&self, file: FileId, span: Span) -> String {
        let text = self.get(file).map_or("", |source| span.of(&source.text));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The file of an id.
    #[must_use]
    pub fn get(&self, id: FileId) -> Option<&Source> {
        self.files.get(id.0 as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one() {
        let s = Source::new("x".into(), "ab\ncd\n".into());
        assert_eq!(s.line_col(0), (1, 1));
        assert_eq!(s.line_col(4), (2, 2));
        assert_eq!(s.line_col(99), (3, 1));
    }
}

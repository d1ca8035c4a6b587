//! A message about a place in a source file, as text with an excerpt (ariadne) or as JSON.

use super::terminal::{Text, in_place, inline};
use crate::base::{FileId, Source, SourceMap, Span, Wording};
use ariadne::{Color, Config, IndexType, Label as Mark, Report, ReportKind};
use serde::Serialize;
use std::fmt::Write;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing can be done with the input, or the program has a defect.
    Error,
    /// Something is suspicious.
    Warning,
}

/// A second place that has to do with a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The file.
    pub file: FileId,
    /// The place.
    pub span: Span,
    /// What is there.
    pub text: String,
}

/// A message about a place in a source file.
#[derive(Clone, PartialEq, Eq, Debug)]
#[must_use]
pub struct Diagnostic {
    /// A short fixed name of the kind of message, such as `out-of-bounds`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The file.
    pub file: FileId,
    /// The place.
    pub span: Span,
    /// What is wrong: one line.
    pub message: String,
    /// What is wrong with this very place; may be empty.
    pub label: String,
    /// Other places that have to do with it.
    pub secondary: Vec<Label>,
    /// What to do.
    pub hint: Option<String>,
    /// More about it; may have several lines.
    pub note: Option<String>,
}

/// Lines between two places of one message beyond which they are not shown in one excerpt.
const FAR: usize = 400;
/// Bytes of a line beyond which only the part around the place is shown.
const LONG: usize = 400;

/// Where a message lies that is about no text.
pub(super) const NOWHERE: (FileId, Span) = (FileId(u32::MAX), Span { start: 0, end: 0 });

/// An error: its name, what is wrong, and what is wrong with the very place, which [`Diagnostic::at`] gives.
pub(super) fn said(code: &'static str, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
    let (file, span) = NOWHERE;
    Diagnostic {
        code,
        severity: Severity::Error,
        file,
        span,
        message: message.into(),
        label: label.into(),
        secondary: Vec::new(),
        hint: None,
        note: None,
    }
}

impl From<Wording> for Diagnostic {
    fn from(Wording { code, message, label, hint }: Wording) -> Self {
        said(code, message, label).hint_if(hint)
    }
}

impl Diagnostic {
    /// The same at a place.
    pub fn at(self, file: FileId, span: Span) -> Self {
        Self { file, span, ..self }
    }

    /// The same with a text at the place.
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.label = text.into();
        self
    }

    /// The same with another place.
    pub fn also(mut self, file: FileId, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label { file, span, text: text.into() });
        self
    }

    /// The same with advice.
    pub fn hint(self, text: impl Into<String>) -> Self {
        self.hint_if(Some(text.into()))
    }

    /// With what can be done, if there is something.
    pub fn hint_if(self, hint: Option<String>) -> Self {
        Self { hint, ..self }
    }

    /// The same with more about it.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.note = Some(text.into());
        self
    }

    /// The message as text with an excerpt, ending in a line feed.
    #[must_use]
    pub fn render(&self, sources: &SourceMap, colour: bool) -> Text {
        let excerpt = sources.get(self.file).and_then(|source| Excerpt::of(self, source));
        match (excerpt, sources.get(self.file)) {
            (Some(excerpt), Some(source)) => self.pretty(&excerpt, source, sources, colour),
            (_, source) => self.plain(source, sources),
        }
    }

    fn pretty(&self, excerpt: &Excerpt<'_>, source: &Source, sources: &SourceMap, colour: bool) -> Text {
        let name = inline(&source.name);
        let name = &*name;
        let range = |span: Span| {
            let inside = |n: u32| (n as usize).clamp(excerpt.start, excerpt.start + excerpt.text.len());
            let at = |n: u32| inside(n) - excerpt.start + excerpt.first_line;
            (name, at(span.start)..at(span.end.max(span.start)))
        };
        let main = if self.severity == Severity::Error { Color::Red } else { Color::Yellow };
        let config = Config::default().with_color(colour).with_index_type(IndexType::Byte);
        let kind = if self.severity == Severity::Error { ReportKind::Error } else { ReportKind::Warning };
        let mut report = Report::build(kind, range(self.span))
            .with_config(config)
            .with_code(self.code)
            .with_message(inline(&self.message));
        let mark = Mark::new(range(self.span)).with_color(main).with_priority(1);
        let mark = if self.label.is_empty() { mark } else { mark.with_message(inline(&self.label)) };
        let mut marks = vec![(self.span, mark)];
        for label in &self.secondary {
            if label.file == self.file && excerpt.covers(label.span) {
                let mark = Mark::new(range(label.span)).with_message(inline(&label.text)).with_color(Color::Blue);
                marks.push((label.span, mark));
            } else {
                report.add_note(elsewhere(label, sources));
            }
        }
        // In the order of their lines: else a place before the last one begins an excerpt of its own.
        marks.sort_by_key(|(span, _)| source.line_of(span.end.saturating_sub(1).max(span.start) as usize));
        for (order, (_, mark)) in (0..).zip(marks) {
            report.add_label(mark.with_order(order));
        }
        if let Some(note) = &self.note {
            report.add_note(Text::from(note));
        }
        if let Some(hint) = &self.hint {
            report.add_help(Text::from(hint));
        }
        // Empty lines stand for those before the excerpt: ariadne numbers lines by counting them.
        let text = ariadne::Source::from("\n".repeat(excerpt.first_line) + &in_place(excerpt.text));
        let mut out = Vec::new();
        if report.finish().write((name, text), &mut out).is_err() {
            return self.plain(Some(source), sources);
        }
        let text = String::from_utf8_lossy(&out);
        let mut lines = text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        lines.push('\n');
        Text::ours(lines)
    }

    /// The form for places that make no readable excerpt: very long lines, files that are not there.
    fn plain(&self, source: Option<&Source>, sources: &SourceMap) -> Text {
        let kind = if self.severity == Severity::Error { "Error" } else { "Warning" };
        let mut out = format!("[{}] {kind}: {}\n", self.code, inline(&self.message));
        if let Some(source) = source {
            let (line, column) = source.line_col(self.span.start);
            let _ = writeln!(out, "  at {}:{line}:{column}", inline(&source.name));
            let _ = writeln!(out, "    {}", around(&source.text, self.span));
        }
        if !self.label.is_empty() {
            let _ = writeln!(out, "  {}", inline(&self.label));
        }
        for label in &self.secondary {
            let _ = writeln!(out, "  {}", elsewhere(label, sources));
        }
        for (name, text) in [("note", &self.note), ("help", &self.hint)] {
            if let Some(text) = text {
                let _ = writeln!(out, "  {name}: {}", text.replace('\n', "\n        "));
            }
        }
        out.into()
    }

    /// The message as data.
    #[must_use]
    pub fn message<'a>(&'a self, sources: &'a SourceMap) -> Message<'a> {
        let secondary = |l: &'a Label| Secondary { place: place(l.file, l.span, sources), text: &l.text };
        Message {
            code: self.code,
            severity: self.severity,
            message: &self.message,
            label: &self.label,
            place: place(self.file, self.span, sources),
            secondary: self.secondary.iter().map(secondary).collect(),
            hint: self.hint.as_deref(),
            note: self.note.as_deref(),
        }
    }
}

/// A message about the input: a launch file, PTX, a flag; or about what a program did.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Message<'a> {
    /// The kind of message: a fixed name in kebab-case. Those of defects are listed in docs/reports.md.
    code: &'a str,
    severity: Severity,
    /// What is wrong: one line.
    message: &'a str,
    /// What is wrong with this very place; may be empty.
    label: &'a str,
    /// Where; null when it is nowhere in a file.
    place: Option<SourcePlace<'a>>,
    /// Other places.
    secondary: Vec<Secondary<'a>>,
    /// What to do.
    pub(super) hint: Option<&'a str>,
    /// More about it; may have several lines.
    note: Option<&'a str>,
}

/// Another place that has to do with a message.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Secondary<'a> {
    place: Option<SourcePlace<'a>>,
    /// What is there.
    text: &'a str,
}

/// A range of a file that was read. Lines and columns count from 1, columns in bytes; the end is exclusive.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourcePlace<'a> {
    /// Its name, as the user gave it.
    file: &'a str,
    /// The first line.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    line: u32,
    /// The first column.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    column: u32,
    /// The line of the end.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    end_line: u32,
    /// The column of the end.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    end_column: u32,
    /// Byte offset of the start.
    start: u32,
    /// Byte offset of the end.
    end: u32,
}

/// A place as data.
#[must_use]
pub fn place(file: FileId, span: Span, sources: &SourceMap) -> Option<SourcePlace<'_>> {
    let source = sources.get(file)?;
    let ((line, column), (end_line, end_column)) = (source.line_col(span.start), source.line_col(span.end));
    Some(SourcePlace { file: &source.name, line, column, end_line, end_column, start: span.start, end: span.end })
}

fn elsewhere(label: &Label, sources: &SourceMap) -> String {
    let Some(source) = sources.get(label.file) else { return inline(&label.text).into_owned() };
    let (line, column) = source.line_col(label.span.start);
    format!("{} (at {}:{line}:{column})", inline(&label.text), inline(&source.name))
}

/// The lines of a file that a message needs. Only those are handed on, since splitting a file of megabytes into lines for
/// every message would take longer than checking it.
struct Excerpt<'a> {
    text: &'a str,
    /// Offset of the first byte in the file.
    start: usize,
    /// Lines before it.
    first_line: usize,
}

impl<'a> Excerpt<'a> {
    fn of(diagnostic: &Diagnostic, source: &'a Source) -> Option<Self> {
        let text = source.text.as_str();
        let mut wanted = bounds(text, diagnostic.span);
        for label in diagnostic.secondary.iter().filter(|l| l.file == diagnostic.file) {
            let other = bounds(text, label.span);
            let both = wanted.0.min(other.0)..wanted.1.max(other.1);
            if text.get(both.clone())?.lines().count() <= FAR {
                wanted = (both.start, both.end);
            }
        }
        let text = text.get(wanted.0..wanted.1)?;
        let readable = text.lines().take(FAR + 1).all(|l| l.len() <= LONG) && text.lines().count() <= FAR;
        let first_line = source.line_of(wanted.0);
        readable.then_some(Self { text, start: wanted.0, first_line })
    }

    fn covers(&self, span: Span) -> bool {
        span.start as usize >= self.start && span.end as usize <= self.start + self.text.len()
    }
}

/// The start of the first and the end of the last line of a span.
fn bounds(text: &str, span: Span) -> (usize, usize) {
    let bytes = text.as_bytes();
    let start = (span.start as usize).min(bytes.len());
    let end = (span.end as usize).clamp(start, bytes.len());
    let first = bytes[..start].iter().rposition(|b| *b == b'\n').map_or(0, |p| p + 1);
    let last = bytes[end..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |p| end + p);
    (first, last)
}

/// A few dozen characters around a place, on one line.
fn around(text: &str, span: Span) -> String {
    const BEFORE: usize = 30;
    let start = (span.start as usize).min(text.len());
    let mut from = start.saturating_sub(BEFORE);
    while !text.is_char_boundary(from) {
        from -= 1;
    }
    let line: String = text[from..].chars().take(2 * BEFORE).map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("{}{line}", if from > 0 { "…" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(text: &str) -> (SourceMap, FileId) {
        let mut sources = SourceMap::default();
        let file = sources.add("a.ptx", text);
        (sources, file)
    }

    #[test]
    fn an_excerpt_shows_its_line_number() {
        let (sources, file) = sources("one\ntwo\nthree\nfour\n");
        let text = said("demo", "wrong", "")
            .at(file, Span::new(8, 13))
            .label("here")
            .also(file, Span::new(0, 3), "first")
            .hint("do better")
            .render(&sources, false);
        assert!(text.contains("a.ptx:3:1"), "{text}");
        assert!(text.contains("here") && text.contains("first") && text.contains("do better"), "{text}");
        let far = said("demo", "wrong", "").at(file, Span::new(14, 18)).render(&sources, false);
        assert!(far.contains("a.ptx:4:1") && far.contains("4 │ four"), "{far}");
        assert!(!far.contains('\u{1b}'), "{far}");
    }

    #[test]
    fn places_of_one_file_are_shown_in_the_order_of_their_lines() {
        let (sources, file) = sources("one\ntwo\nthree\nfour\n");
        let text = said("demo", "wrong", "")
            .at(file, Span::new(8, 13))
            .label("here")
            .also(file, Span::new(14, 18), "last")
            .also(file, Span::new(0, 3), "first")
            .render(&sources, false);
        let lines: Vec<usize> = [" 1 │ one", " 3 │ three", " 4 │ four"].iter().filter_map(|l| text.find(l)).collect();
        assert!(lines.len() == 3 && lines.is_sorted(), "{text}");
        assert_eq!(text.matches("a.ptx:").count(), 1, "{text}");
    }

    #[test]
    fn endless_lines_and_wrong_spans_stay_short() {
        let (sources, file) = sources(&"(".repeat(100_000));
        for span in [Span::new(50_000, 50_001), Span::new(99_999, 200_000), Span::new(9, 3)] {
            let text = said("demo", "deep", "").at(file, span).render(&sources, true);
            assert!(text.len() < 500, "{text}");
        }
        let nowhere = said("demo", "lost", "").at(FileId(7), Span::default()).render(&sources, false);
        assert!(nowhere.contains("lost"));
    }

    #[test]
    fn json_has_lines_and_columns() {
        let (sources, file) = sources("one\ntwo\n");
        let said = said("demo", "wrong", "").at(file, Span::new(5, 7));
        let json = serde_json::json!(said.message(&sources));
        assert_eq!((json["place"]["line"].as_u64(), json["place"]["column"].as_u64()), (Some(2), Some(2)));
        assert_eq!(json["hint"], serde_json::Value::Null);
    }
}

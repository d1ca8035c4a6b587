//! Litmus text → syntax tree, with recovery at the end of a cell, of a declaration and of the condition.
//!
//! The frame is herd's: `PTX name` or `VULKAN name`, anything up to `{`, the initial state, a row that names the threads, rows of
//! instructions, and what is asked of the final states. Names are resolved afterwards ([`super::check`]).

mod condition;
mod grammar;
mod head;
mod lockstep;
mod ptx;
mod rsp;
mod token;
mod vulkan;
mod words;

use super::check::check;
use super::error::{Expected, LitmusError, LitmusErrorKind, MAX_ERRORS, MAX_NESTING};
use super::rsp::{Form, Test, threads};
use super::tree::{Arch, Cond, Litmus};
use crate::base::cursor::{Cursor, Source, Wrong, in_order};
use crate::base::{FileId, Span};
use rsp::blank;
use token::{Kind, Token, tokens};

/// The grammar's rules are its methods.
type Reader<'s> = Cursor<'s, Kind, Arch>;

/// All tokens are read at once.
impl Source<Kind> for Arch {
    fn next(&mut self) -> Option<Token> {
        None
    }
}

/// Parses and checks a litmus file. What was understood is returned with all complaints, in the order of the text.
#[must_use]
pub fn parse(file: FileId, text: &str) -> (Litmus, Vec<LitmusError>) {
    let at = |(kind, span)| LitmusError { kind, file, span };
    if u32::try_from(text.len()).is_err() {
        return (Litmus::default(), vec![at((LitmusErrorKind::TooLarge, Span::default()))]);
    }
    let comments = is_rsp(text).then(|| blank(text));
    let code = comments.as_ref().map_or(text, |comments| &*comments.text);
    let (mut litmus, start) = match opening(text, code) {
        Ok(opening) => opening,
        Err(error) => return (Litmus::default(), vec![at(error)]),
    };
    let mut lexed = tokens(code, start, litmus.arch);
    lexed.open = lexed.open.or(comments.as_ref().and_then(|comments| comments.open));
    let tokens = lexed.tokens;
    let mut found: Vec<_> = lexed.garbage.into_iter().map(|span| (LitmusErrorKind::Garbage, span)).collect();
    let closed = tokens.iter().any(|t| t.kind == Kind::RBrace);
    if let Some(span) = lexed.open {
        // What the comment hides would only seem to be missing.
        found.push((LitmusErrorKind::OpenComment, span));
    } else if let Some(brace) = tokens.first().filter(|_| !closed) {
        found.push((LitmusErrorKind::OpenInit, brace.span));
    } else if let Some(span) = too_deep(&tokens, text) {
        found.push((LitmusErrorKind::TooDeep, span));
    } else {
        let mut reader = Reader::new(code, tokens, litmus.arch);
        reader.tell(true);
        let read = match litmus.arch {
            Arch::OpenCl => {
                let mut test = Test { form: form(text), name: litmus.name, about: litmus.about, ..Test::default() };
                let read = reader.rsp(&mut test);
                litmus = threads(test);
                read
            }
            Arch::Lockstep => reader.lockstep(&mut litmus),
            Arch::Ptx | Arch::Vulkan => reader.file(&mut litmus),
        };
        // Of a text that is not read on from somewhere, only that is told.
        let ends = |kind: &LitmusErrorKind| {
            matches!(kind, LitmusErrorKind::Loop | LitmusErrorKind::TooDeep | LitmusErrorKind::Bars)
        };
        if read.is_none() && !reader.errors.iter().any(|(kind, _)| ends(kind)) {
            let wrong = reader.complaint();
            reader.errors.push(wrong);
        }
        found.append(&mut reader.errors);
        // A row in which something else is wrong may have lost cells by that.
        let within =
            |row: Span| found.iter().any(|(_, span)| *span != row && row.start <= span.start && span.end <= row.end);
        let rows: Vec<Span> =
            found.iter().filter(|f| matches!(f.0, LitmusErrorKind::Columns { .. })).map(|f| f.1).collect();
        let lost: Vec<Span> = rows.into_iter().filter(|row| within(*row)).collect();
        found.retain(|f| !lost.contains(&f.1));
    }
    // Names that did not parse seem to be missing: complaints about those would only mislead.
    if found.is_empty() {
        check(&litmus, &mut found);
    }
    let found = in_order(found, MAX_ERRORS, LitmusErrorKind::TooMany);
    (litmus, found.into_iter().map(at).collect())
}

/// Parses a condition that stands alone: `x[0]=1 /\\ ~(y=0)`.
///
/// # Errors
/// What is wrong with it, in the order of the text.
pub fn parse_condition(file: FileId, text: &str) -> Result<Cond, Vec<LitmusError>> {
    let lexed = tokens(text, 0, Arch::Ptx);
    let mut found: Vec<_> = lexed.garbage.into_iter().map(|span| (LitmusErrorKind::Garbage, span)).collect();
    found.extend(lexed.open.map(|span| (LitmusErrorKind::OpenComment, span)));
    found.extend(too_deep(&lexed.tokens, text).map(|span| (LitmusErrorKind::TooDeep, span)));
    if found.is_empty() {
        let mut reader = Reader::new(text, lexed.tokens, Arch::Ptx);
        reader.tell(true);
        match reader.asked().filter(|_| reader.end(None).is_some()) {
            Some(cond) if reader.errors.is_empty() => return Ok(cond),
            Some(_) => {}
            None => {
                let wrong = reader.complaint();
                reader.errors.push(wrong);
            }
        }
        found.append(&mut reader.errors);
    }
    let found = in_order(found, MAX_ERRORS, LitmusErrorKind::TooMany);
    Err(found.into_iter().map(|(kind, span)| LitmusError { kind, file, span }).collect())
}

impl Reader<'_> {
    /// What is told of the furthest token that did not fit.
    fn complaint(&mut self) -> Wrong<Kind> {
        let (at, mut expected) = self.stuck();
        if expected.contains(&Expected::Comparison) {
            expected.retain(|e| *e != Expected::Token("["));
        }
        let token = self.tokens.get(at);
        let before = at.checked_sub(1).and_then(|k| self.tokens.get(k));
        if let (Some(before), Some(token)) = (before, token)
            && self.state != Arch::OpenCl
            && expected.contains(&Expected::Token(";"))
            && Span::new(before.span.end, token.span.start).of(self.text).contains('\n')
        {
            return (LitmusErrorKind::MissingSemicolon, Span::new(before.span.end, before.span.end));
        }
        let end = u32::try_from(self.text.trim_end().len()).unwrap_or(u32::MAX);
        let kind = LitmusErrorKind::Unexpected { expected, end: token.is_none() };
        (kind, token.map_or(Span::new(end, end), |t| t.span))
    }
}

/// Where a text begins, what is there, and its first word. A file may begin with a byte-order mark.
fn first_word(text: &str) -> (usize, &str, &str) {
    let begin = text.len() - text.trim_start_matches('\u{feff}').trim_start().len();
    let body = &text[begin..];
    (begin, body, body.split(|c: char| c.is_whitespace() || c == '{').next().unwrap_or(""))
}

/// How a test for OpenCL is written.
fn form(text: &str) -> Form {
    Form::named(first_word(text).2).unwrap_or_default()
}

/// Whether a text is a test for OpenCL.
fn is_rsp(text: &str) -> bool {
    Arch::named(first_word(text).2) == Some(Arch::OpenCl)
}

/// The text of a test without comments of C, if it may have such, every place being what it is.
#[must_use]
pub fn code(text: &str) -> std::borrow::Cow<'_, str> {
    if is_rsp(text) { blank(text).text.into() } else { text.into() }
}

/// The name and the text before the initial state, and where that begins.
fn opening(text: &str, code: &str) -> Result<(Litmus, usize), (LitmusErrorKind, Span)> {
    let span = |from: usize, to: usize| {
        let narrow = |n| u32::try_from(n).unwrap_or(u32::MAX);
        Span::new(narrow(from), narrow(to))
    };
    let (begin, body, word) = first_word(text);
    let Some(arch) = Arch::named(word) else {
        let shown: String = word.chars().take(20).collect();
        let kind = if shown.is_empty() { LitmusErrorKind::Empty } else { LitmusErrorKind::NotLitmus(shown) };
        return Err((kind, span(begin, begin + word.len())));
    };
    let Some(brace) = code.get(begin..).unwrap_or(body).find('{') else {
        return Err((LitmusErrorKind::NoInit, span(text.trim_end().len(), text.trim_end().len())));
    };
    let head = &body[word.len()..brace];
    let (name, about) = head.split_once('\n').unwrap_or((head, ""));
    if name.trim().is_empty() {
        return Err((LitmusErrorKind::NoName(arch), span(begin, begin + word.len())));
    }
    let (name, about) = (name.trim().to_owned(), about.trim().replace("\r\n", "\n"));
    Ok((Litmus { arch, name, about, ..Litmus::default() }, begin + brace))
}

/// The place where a condition nests beyond the limit: recursion elsewhere need not fear it then.
fn too_deep(tokens: &[Token], text: &str) -> Option<Span> {
    let (mut depth, mut negations) = (0usize, 0usize);
    for token in tokens {
        let negates = token.kind == Kind::Tilde || token.span.of(text) == "not";
        negations = if negates { negations + 1 } else { 0 };
        match token.kind {
            Kind::LParen => depth += 1,
            Kind::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth.max(negations) > MAX_NESTING {
            return Some(token.span);
        }
    }
    None
}

//! What the grammars of the frame and of the question are made of: tokens, names, numbers, threads.

use super::complaint::Complaint;
use super::token::{Kind, Token, number};
use crate::base::Span;
use crate::litmus::error::{Expected, LitmusErrorKind};
use crate::litmus::tree::Ident;
use chumsky::error::LabelError;
use chumsky::input::MapExtra;
use chumsky::prelude::*;

pub(super) type In<'t, 's> = &'t [Token<'s>];
pub(super) type Ex = extra::Err<Complaint>;

/// Short for a cloneable parser of this grammar.
pub(super) trait Rule<'t, 's: 't, O>: Parser<'t, In<'t, 's>, O, Ex> + Clone + 't {}
impl<'t, 's: 't, O, P: Parser<'t, In<'t, 's>, O, Ex> + Clone + 't> Rule<'t, 's, O> for P {}

/// What is wrong with something whose extent is known all the same.
pub(super) type Wrong = (LitmusErrorKind, Span);

/// A token of a kind.
pub(super) fn is<'t, 's: 't>(kind: Kind, name: &'static str) -> impl Rule<'t, 's, Token<'s>> {
    any().filter(move |t: &Token<'_>| t.kind == kind).labelled(Expected::Token(name))
}

/// A keyword.
pub(super) fn word<'t, 's: 't>(name: &'static str) -> impl Rule<'t, 's, Token<'s>> {
    any().filter(move |t: &Token<'_>| t.is(name)).labelled(Expected::Token(name))
}

/// Any name.
pub(super) fn name<'t, 's: 't>(what: Expected) -> impl Rule<'t, 's, Ident> {
    any()
        .filter(|t: &Token<'_>| t.kind == Kind::Word)
        .map(|t: Token<'_>| Ident { name: t.text.to_owned(), span: t.span })
        .labelled(what)
}

/// A complaint that something else was expected.
pub(super) fn unexpected(what: Expected, at: SimpleSpan) -> Complaint {
    LabelError::<In<'_, '_>, Expected>::expected_found([what], None, at)
}

/// A number, perhaps negative.
pub(super) fn integer<'t, 's: 't>() -> impl Rule<'t, 's, (i64, Span)> {
    signed().try_map(|parsed, at| parsed.map_err(|_| unexpected(Expected::Number, at)))
}

/// The same, where one that cannot be read is told as such.
pub(super) fn signed<'t, 's: 't>() -> impl Rule<'t, 's, Result<(i64, Span), Wrong>> {
    is(Kind::Minus, "-")
        .or_not()
        .then(any().filter(|t: &Token<'_>| t.kind == Kind::Number))
        .map(|(minus, t): (Option<Token<'_>>, Token<'_>)| {
            let span = minus.map_or(t.span, |m| m.span.to(t.span));
            number(t.text, minus.is_some()).map(|n| (n, span)).ok_or((LitmusErrorKind::BadNumber, span))
        })
        .labelled(Expected::Number)
}

/// A number of a thread, cta or GPU.
pub(super) fn ordinal<'t, 's: 't>() -> impl Rule<'t, 's, u32> {
    any()
        .filter(|t: &Token<'_>| t.kind == Kind::Number)
        .try_map(|t: Token<'_>, at| t.text.parse().map_err(|_| unexpected(Expected::Number, at)))
        .labelled(Expected::Number)
}

/// `P0`, or `0` where a condition names a thread.
pub(super) fn thread<'t, 's: 't>() -> impl Rule<'t, 's, (u32, Span)> {
    any()
        .try_map(|t: Token<'_>, at| {
            let digits = if t.kind == Kind::Number { Some(t.text) } else { t.text.strip_prefix('P') };
            let number = digits.filter(|d| d.bytes().all(|b| b.is_ascii_digit())).and_then(|d| d.parse().ok());
            number.map(|n| (n, t.span)).ok_or_else(|| unexpected(Expected::Thread, at))
        })
        .labelled(Expected::Thread)
}

/// The bytes of what a parser read.
pub(super) fn here<'t, 's: 't>(e: &mut MapExtra<'t, '_, In<'t, 's>, Ex>) -> Span {
    let tokens: In<'t, 's> = e.slice();
    match (tokens.first(), tokens.last()) {
        (Some(first), Some(last)) => first.span.to(last.span),
        _ => Span::default(),
    }
}

/// Up to one of some tokens, at least one token.
pub(super) fn skip<'t, 's: 't>(stop: &'static [Kind]) -> impl Rule<'t, 's, ()> {
    any().filter(|t: &Token<'_>| !stop.contains(&t.kind)).repeated().at_least(1).ignored()
}

//! From where a statement does not fit to a [`SyntaxError`](super::SyntaxError)'s kind and place.

use super::error::{Context, Expected, NumberProblem, SyntaxErrorKind};
use super::token::{Kind, Token};
use crate::base::Span;

/// What is told of expectations that `found` did not meet, which is absent at the end of the text.
pub(crate) fn explain(
    expected: Vec<Expected>,
    found: Option<Token>,
    within: Context,
    text: &str,
) -> (SyntaxErrorKind, Span) {
    let unexpected = SyntaxErrorKind::Unexpected { expected, end: found.is_none(), within };
    match found {
        None => {
            let end = u32::try_from(text.trim_end().len()).unwrap_or(u32::MAX);
            (unexpected, Span::new(end, end))
        }
        Some(token) => (strange(token, text).unwrap_or(unexpected), token.span),
    }
}

/// The complaint about a token that fits nowhere.
pub(crate) fn strange(token: Token, text: &str) -> Option<SyntaxErrorKind> {
    match token.kind {
        Kind::Garbage if token.span.of(text).starts_with('"') => Some(SyntaxErrorKind::OpenText),
        Kind::Garbage => Some(SyntaxErrorKind::Garbage),
        Kind::BadNumber => Some(SyntaxErrorKind::BadNumber(NumberProblem::Malformed)),
        _ => None,
    }
}

/// Whether a token is the first on its line.
pub(crate) fn first_on_line(previous: Token, token: Token, text: &str) -> bool {
    Span::new(previous.span.end, token.span.start).of(text).contains('\n')
}

/// Whether what was expected at `tokens[at]` is best told as a missing semicolon after the token before.
pub(crate) fn lacks_semicolon(expected: &[Expected], tokens: &[Token], at: usize, text: &str) -> bool {
    if !expected.contains(&Expected::Token(";")) {
        return false;
    }
    let (Some(previous), Some(found)) = (at.checked_sub(1).and_then(|i| tokens.get(i)), tokens.get(at)) else {
        return false;
    };
    match found.kind {
        Kind::RBrace => true,
        Kind::Dotted if !found.span.of(text).starts_with('%') => true,
        Kind::LBrace => first_on_line(*previous, *found, text),
        kind => (kind.starts_statement() || kind.is_dot()) && first_on_line(*previous, *found, text),
    }
}

//! From a parser's complaint to a [`SyntaxError`](super::SyntaxError)'s kind and place.

use super::error::{Context, Expected, Found, NumberProblem, SyntaxErrorKind};
use super::grammar::Complaint;
use super::token::{Kind, Token, cover};
use crate::base::Span;

/// What a complaint about `tokens` means; `found` is the token it is about, absent at the end of the text.
pub(crate) fn explain(
    complaint: Complaint,
    tokens: &[Token],
    found: Option<Token>,
    within: Context,
    text: &str,
) -> (SyntaxErrorKind, Span) {
    let at = tokens.get(complaint.at.start..complaint.at.end).filter(|slice| !slice.is_empty()).map(cover);
    if let Some(kind) = complaint.wrong {
        return (kind, at.or(found.map(Token::span)).unwrap_or_default());
    }
    let mut expected = complaint.expected;
    expected.sort_unstable();
    expected.dedup();
    if within == Context::Instruction {
        // A word after a dot continues the opcode or selects a component: never a type.
        expected.retain(|e| *e != Expected::Type);
    }
    match found {
        None => {
            let end = u32::try_from(text.trim_end().len()).unwrap_or(u32::MAX);
            (SyntaxErrorKind::Unexpected { expected, found: Found::End, within }, Span::new(end, end))
        }
        Some(token) => match strange(token, text) {
            Some(kind) => (kind, token.span()),
            None => (SyntaxErrorKind::Unexpected { expected, found: Found::Token, within }, token.span()),
        },
    }
}

/// The complaint about a token that fits nowhere.
pub(crate) fn strange(token: Token, text: &str) -> Option<SyntaxErrorKind> {
    match token.kind {
        Kind::Garbage if token.text(text).starts_with('"') => Some(SyntaxErrorKind::OpenText),
        Kind::Garbage => Some(SyntaxErrorKind::Garbage),
        Kind::BadNumber => Some(SyntaxErrorKind::BadNumber(NumberProblem::Malformed)),
        _ => None,
    }
}

/// Whether a token is the first on its line.
pub(crate) fn first_on_line(previous: Token, token: Token, text: &str) -> bool {
    Span::new(previous.end, token.start).of(text).contains('\n')
}

/// Whether the complaint is best told as a missing semicolon after `tokens[at - 1]`.
pub(crate) fn lacks_semicolon(complaint: &Complaint, tokens: &[Token], at: usize, text: &str) -> bool {
    if complaint.wrong.is_some() || !complaint.expected.contains(&Expected::Token(";")) {
        return false;
    }
    let (Some(previous), Some(found)) = (at.checked_sub(1).and_then(|i| tokens.get(i)), tokens.get(at)) else {
        return false;
    };
    match found.kind {
        Kind::RBrace => true,
        Kind::Dotted if !found.text(text).starts_with('%') => true,
        Kind::LBrace => first_on_line(*previous, *found, text),
        kind => (kind.starts_statement() || kind.is_dot()) && first_on_line(*previous, *found, text),
    }
}

//! Tokens of memory programs, by logos.

use super::error::MempErrorKind;
use crate::base::Span;
use logos::Logos;

/// The kind of a token.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r\n\x0c]+")]
#[logos(skip r"/\*([^*]|\*+[^*/])*\*+/")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
pub(super) enum Kind {
    /// A keyword, an operation, a preset; with dots the name of an operation of PTX.
    #[regex(r"[A-Za-z_][A-Za-z0-9_.:-]*[A-Za-z0-9_]|[A-Za-z_]")]
    Word,
    #[token(";")]
    Semi,
    #[token(":")]
    Colon,
    #[token(",")]
    Comma,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("!")]
    Bang,
}

/// A token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token<'s> {
    pub(super) kind: Kind,
    pub(super) text: &'s str,
    pub(super) span: Span,
}

impl Token<'_> {
    /// Whether it is this word.
    pub(super) fn is(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text == word
    }
}

/// The tokens of a text of less than 4 GiB, and what is none.
pub(super) fn tokens(text: &str) -> (Vec<Token<'_>>, Vec<(MempErrorKind, Span)>) {
    let mut tokens = Vec::new();
    let mut errors: Vec<(MempErrorKind, Span)> = Vec::new();
    let mut lexer = Kind::lexer(text);
    while let Some(kind) = lexer.next() {
        let range = lexer.span();
        let offset = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let span = Span::new(offset(range.start), offset(range.end));
        match kind {
            Ok(kind) => tokens.push(Token { kind, text: lexer.slice(), span }),
            Err(()) if text.get(range.start..).is_some_and(|rest| rest.starts_with("/*")) => {
                errors.push((MempErrorKind::OpenComment, span));
                break;
            }
            // Neighbours are one complaint.
            Err(()) => match errors.last_mut() {
                Some((MempErrorKind::Garbage, last)) if last.end == span.start => last.end = span.end,
                _ => errors.push((MempErrorKind::Garbage, span)),
            },
        }
    }
    (tokens, errors)
}

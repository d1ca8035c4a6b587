//! The token stream: tokens one by one, and what is wrong with them.
//!
//! Debug sections may be most of a file; they are read here, so that their tokens never pile up: the grammar sees one
//! [`Kind::Section`] in their place.

use super::error::{MAX_ERRORS, MAX_NESTING, SyntaxError, SyntaxErrorKind};
use super::token::{Kind, Token};
use crate::base::{Span, sort};
use logos::{Lexer, Logos};

/// The complaints of a parse, bounded.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    list: Vec<SyntaxError>,
    stopped: bool,
}

impl Errors {
    /// Adds a complaint unless there are too many or the last one was about the same place.
    pub(crate) fn push(&mut self, kind: SyntaxErrorKind, span: Span) {
        if self.list.last().is_some_and(|last| last.span == span) || self.full() {
            return;
        }
        self.list.push(SyntaxError { kind, span });
        if self.list.len() == MAX_ERRORS {
            self.list.push(SyntaxError { kind: SyntaxErrorKind::TooMany, span });
        }
    }

    /// Whether parsing should stop.
    pub(crate) fn full(&self) -> bool {
        self.stopped || self.list.len() > MAX_ERRORS
    }

    /// Makes parsing stop: what follows cannot be understood.
    pub(crate) fn stop(&mut self) {
        self.stopped = true;
    }

    /// The complaints in the order of the text.
    pub(crate) fn finish(mut self) -> Vec<SyntaxError> {
        sort::sort_by_key(&mut self.list, |e| e.span.start);
        self.list
    }
}

/// The tokens of a text, and the complaints about it.
pub(crate) struct Stream<'s> {
    text: &'s str,
    lexer: Lexer<'s, Kind>,
    ahead: Option<Token>,
    /// Operators, parentheses and brackets since the last separator.
    weight: u32,
    pub(crate) errors: Errors,
}

impl<'s> Stream<'s> {
    pub(crate) fn new(text: &'s str) -> Self {
        Self { text, lexer: Kind::lexer(text), ahead: None, weight: 0, errors: Errors::default() }
    }

    fn lex(&mut self) -> Option<Token> {
        let kind = self.lexer.next()?.unwrap_or(Kind::Garbage);
        let span = self.lexer.span();
        let offset = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Some(Token { kind, span: Span::new(offset(span.start), offset(span.end)) })
    }

    /// The next token as it stands there; a run of garbage is one token.
    fn raw(&mut self) -> Option<Token> {
        let mut token = match self.ahead.take() {
            Some(token) => token,
            None => self.lex()?,
        };
        if token.kind == Kind::Garbage {
            while let Some(next) = self.lex() {
                if next.kind != Kind::Garbage || next.span.start != token.span.end {
                    self.ahead = Some(next);
                    break;
                }
                token.span.end = next.span.end;
            }
        }
        Some(token)
    }

    /// Drops tokens up to, not including, the next `;`.
    pub(crate) fn skip_statement(&mut self) {
        self.weight = 0;
        while let Some(token) = self.raw() {
            if token.kind == Kind::Semi {
                self.ahead = Some(token);
                return;
            }
        }
    }

    /// The next token for the grammar.
    pub(crate) fn next(&mut self) -> Option<Token> {
        let token = self.raw()?;
        match token.kind {
            Kind::Comma | Kind::LBrace | Kind::RBrace | Kind::Semi => self.weight = 0,
            Kind::Word | Kind::Dotted | Kind::Int | Kind::Dot | Kind::RParen | Kind::RBracket | Kind::Colon => {}
            Kind::Section => return Some(self.section(token)),
            Kind::Slash if self.open_comment(token) => {
                let span = Span::new(token.span.start, token.span.start + 2);
                self.errors.push(SyntaxErrorKind::OpenComment, span);
                self.lexer.bump(self.lexer.remainder().len());
                self.ahead = None;
                return None;
            }
            _ => {
                self.weight += 1;
                if self.weight > MAX_NESTING {
                    self.errors.push(SyntaxErrorKind::TooDeep { limit: MAX_NESTING }, token.span);
                    self.skip_statement();
                    return Some(Token { kind: Kind::Poison, ..token });
                }
            }
        }
        Some(token)
    }

    /// Whether a `/` begins a comment that never ends: a comment that does would be no token.
    fn open_comment(&self, slash: Token) -> bool {
        self.text.as_bytes().get(slash.span.end as usize) == Some(&b'*')
    }

    /// The token of a `.section .name { … }`, all of it.
    fn section(&mut self, head: Token) -> Token {
        let name = self.raw();
        let open = self.raw();
        let good = name.is_some_and(|t| t.kind.is_dot()) && open.is_some_and(|t| t.kind == Kind::LBrace);
        if !good {
            self.errors.push(SyntaxErrorKind::BadSection, head.span);
            self.skip_statement();
            return Token { kind: Kind::Poison, ..head };
        }
        while let Some(token) = self.raw() {
            if token.kind == Kind::RBrace {
                return Token { span: head.span.to(token.span), ..head };
            }
        }
        self.errors.push(SyntaxErrorKind::OpenBrace, open.unwrap_or(head).span);
        Token { kind: Kind::Poison, ..head }
    }
}

//! The token stream: hands the grammar whole statements in pieces of bounded size.
//!
//! Braced initialisers and debug sections may be most of a file; they are read here, token by token, so that their
//! tokens never pile up: the grammar sees one [`Kind::Table`] or [`Kind::Section`] in their place.

use super::error::{Context, MAX_ERRORS, MAX_NESTING, SyntaxError, SyntaxErrorKind};
use super::explain::explain;
use super::grammar::{Builder, Reader};
use super::number;
use super::token::{Kind, Token};
use super::tree::{Expr, ExprKind, Ident, Initialiser};
use crate::base::Span;
use crate::base::cursor::{Kind as _, cover};
use logos::{Lexer, Logos};

/// Pieces end at the first `;` after this many tokens.
const PIECE: usize = 8192;
/// A piece without `;` ends here. Calls and declarations of compilers stay far below.
pub(crate) const LONGEST: usize = 1 << 17;
/// The most tokens of one element of an initialiser.
const LONGEST_ELEMENT: usize = 1 << 12;

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
        self.list.sort_by_key(|e| e.span.start);
        self.list
    }
}

/// A list of an initialiser that is not closed yet.
#[derive(Default)]
struct Open {
    start: u32,
    /// The elements while all are integers.
    ints: Vec<i64>,
    /// The elements from the first one on that is no integer.
    list: Vec<Initialiser>,
    fields: Vec<(Ident, Expr)>,
}

impl Open {
    fn new(start: u32) -> Self {
        Self { start, ..Self::default() }
    }

    /// Adds an element that is no integer.
    fn push(&mut self, element: Initialiser, at: Span) {
        let ints = std::mem::take(&mut self.ints);
        self.list.extend(ints.into_iter().map(|n| {
            let kind = ExprKind::Int { bits: n.cast_unsigned(), unsigned: false };
            Initialiser::Value(Expr { kind, span: Span::new(self.start, at.end) })
        }));
        self.list.push(element);
    }

    fn close(self, end: u32) -> Initialiser {
        let span = Span::new(self.start, end);
        if !self.fields.is_empty() {
            Initialiser::Fields(self.fields, span)
        } else if self.list.is_empty() {
            Initialiser::Ints(self.ints, span)
        } else {
            Initialiser::List(self.list, span)
        }
    }
}

/// The tokens of a text.
pub(crate) struct Stream<'s> {
    text: &'s str,
    lexer: Lexer<'s, Kind>,
    ahead: Option<Token>,
    /// Operators, parentheses and brackets since the last separator.
    weight: u32,
}

impl<'s> Stream<'s> {
    pub(crate) fn new(text: &'s str) -> Self {
        Self { text, lexer: Kind::lexer(text), ahead: None, weight: 0 }
    }

    fn lex(&mut self) -> Option<Token> {
        let kind = self.lexer.next()?.unwrap_or(Kind::Garbage);
        let span = self.lexer.span();
        let offset = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Some(Token { kind, span: Span::new(offset(span.start), offset(span.end)) })
    }

    /// The next token; a run of garbage is one token.
    fn next(&mut self) -> Option<Token> {
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

    fn peek(&mut self) -> Option<Token> {
        let token = self.next()?;
        self.ahead = Some(token);
        Some(token)
    }

    /// Drops tokens up to, not including, the next `;`.
    pub(crate) fn skip_statement(&mut self) {
        while self.peek().is_some_and(|t| t.kind != Kind::Semi) {
            self.next();
        }
    }

    /// Appends tokens to `piece` up to a `;` after [`PIECE`] tokens. False at the end of the text.
    pub(crate) fn fill(&mut self, piece: &mut Vec<Token>, builder: &mut Builder<'s>, errors: &mut Errors) -> bool {
        let enough = piece.len() + PIECE;
        while let Some(token) = self.next() {
            match token.kind {
                Kind::Comma | Kind::LBrace | Kind::RBrace => self.weight = 0,
                Kind::Semi => {
                    self.weight = 0;
                    if piece.len() >= enough {
                        piece.push(token);
                        return true;
                    }
                }
                Kind::Word | Kind::Dotted | Kind::Int | Kind::Dot | Kind::RParen | Kind::RBracket | Kind::Colon => {}
                Kind::Eq if self.peek().is_some_and(|t| t.kind == Kind::LBrace) => {
                    piece.push(token);
                    piece.push(self.table(builder, errors));
                    continue;
                }
                Kind::Section => {
                    piece.push(self.section(token, errors));
                    continue;
                }
                Kind::Slash if self.open_comment(token) => {
                    errors.push(SyntaxErrorKind::OpenComment, Span::new(token.span.start, token.span.start + 2));
                    return false;
                }
                _ => {
                    self.weight += 1;
                    if self.weight > MAX_NESTING {
                        errors.push(SyntaxErrorKind::TooDeep { limit: MAX_NESTING }, token.span);
                        piece.push(Token { kind: Kind::Poison, ..token });
                        self.skip_statement();
                        continue;
                    }
                }
            }
            piece.push(token);
            if piece.len() >= LONGEST {
                return true;
            }
        }
        false
    }

    /// Whether a `/` begins a comment that never ends: a comment that does would be no token.
    fn open_comment(&self, slash: Token) -> bool {
        self.text.as_bytes().get(slash.span.end as usize) == Some(&b'*')
    }

    /// The token of a `.section .name { … }`, all of it.
    fn section(&mut self, head: Token, errors: &mut Errors) -> Token {
        let name = self.next();
        let open = self.next();
        let good = name.is_some_and(|t| t.kind.is_dot()) && open.is_some_and(|t| t.kind == Kind::LBrace);
        if !good {
            errors.push(SyntaxErrorKind::BadSection, head.span);
            self.skip_statement();
            return Token { kind: Kind::Poison, ..head };
        }
        while let Some(token) = self.next() {
            if token.kind == Kind::RBrace {
                return Token { span: head.span.to(token.span), ..head };
            }
        }
        errors.push(SyntaxErrorKind::OpenBrace, open.unwrap_or(head).span);
        Token { kind: Kind::Poison, ..head }
    }

    /// Reads a braced initialiser, the next token being its `{`; gives the token that stands for it.
    fn table(&mut self, builder: &mut Builder<'s>, errors: &mut Errors) -> Token {
        let Some(open) = self.next() else { return Token { kind: Kind::Poison, span: Span::default() } };
        match self.lists(open, builder) {
            Ok((init, end)) => {
                builder.tables.insert(open.span.start, init);
                Token { kind: Kind::Table, span: Span::new(open.span.start, end) }
            }
            Err((kind, span)) => {
                errors.push(kind, span);
                self.skip_statement();
                Token { kind: Kind::Poison, ..open }
            }
        }
    }

    fn lists(&mut self, open: Token, builder: &mut Builder<'s>) -> Result<(Initialiser, u32), (SyntaxErrorKind, Span)> {
        let mut outer: Vec<Open> = Vec::new();
        let mut list = Open::new(open.span.start);
        let mut element: Vec<Token> = Vec::new();
        let unclosed = |list: &Open| (SyntaxErrorKind::OpenBrace, Span::new(list.start, list.start + 1));
        let mut fresh = true;
        loop {
            let first = self.next().ok_or_else(|| unclosed(&list))?;
            if first.kind == Kind::LBrace {
                if outer.len() as u32 >= MAX_NESTING {
                    return Err((SyntaxErrorKind::TooDeep { limit: MAX_NESTING }, first.span));
                }
                outer.push(std::mem::replace(&mut list, Open::new(first.span.start)));
                fresh = true;
                continue;
            }
            let mut last = if first.kind == Kind::RBrace && fresh {
                first
            } else {
                element.clear();
                element.push(first);
                let end = self.element(&mut element).ok_or_else(|| unclosed(&list))?;
                self.value(&element, end, &mut list, builder)?;
                end
            };
            // One `}` may close several lists, each of which is an element of the next.
            while last.kind == Kind::RBrace {
                let span = Span::new(list.start, last.span.end);
                let done = list.close(last.span.end);
                let Some(next) = outer.pop() else { return Ok((done, last.span.end)) };
                list = next;
                list.push(done, span);
                last = self.next().ok_or_else(|| unclosed(&list))?;
                if !matches!(last.kind, Kind::Comma | Kind::RBrace) {
                    return Err(unexpected(&[Kind::Comma, Kind::RBrace], last));
                }
            }
            fresh = false;
        }
    }

    /// The tokens up to the `,` or `}` that ends an element; gives that one.
    fn element(&mut self, element: &mut Vec<Token>) -> Option<Token> {
        let mut depth = match element.first()?.kind {
            Kind::Comma | Kind::Semi => return element.first().copied(),
            Kind::LParen => 1u32,
            _ => 0,
        };
        loop {
            let token = self.next()?;
            match token.kind {
                Kind::LParen => depth += 1,
                Kind::RParen => depth = depth.saturating_sub(1),
                Kind::Comma if depth == 0 => return Some(token),
                Kind::RBrace | Kind::Semi | Kind::LBrace => return Some(token),
                _ => {}
            }
            if element.len() >= LONGEST_ELEMENT {
                return Some(token);
            }
            element.push(token);
        }
    }

    /// Adds one element, which `end` follows, to a list.
    fn value(
        &mut self,
        element: &[Token],
        end: Token,
        list: &mut Open,
        builder: &mut Builder<'s>,
    ) -> Result<(), (SyntaxErrorKind, Span)> {
        let span = cover(element);
        let bad = |kind| (kind, span);
        match *element {
            [Token { kind: Kind::Int, .. }] | [Token { kind: Kind::Minus, .. }, Token { kind: Kind::Int, .. }]
                if list.list.is_empty() && list.fields.is_empty() =>
            {
                let literal = element[element.len() - 1];
                let (bits, _) = number::integer(literal.span.of(self.text)).map_err(bad)?;
                if let Ok(n) = i64::try_from(bits) {
                    if list.ints.is_empty() {
                        list.ints.reserve(self.commas(end));
                    }
                    list.ints.push(if element.len() == 1 { n } else { -n });
                    return separator(end);
                }
            }
            [t @ Token { kind: Kind::HexF32 | Kind::HexF64 | Kind::Decimal, .. }] if list.fields.is_empty() => {
                let kind = number::float(t.span.of(self.text)).map_err(bad)?;
                list.push(Initialiser::Value(Expr { kind, span }), span);
                return separator(end);
            }
            [] | [Token { kind: Kind::Comma | Kind::Semi, .. }] => return Err(unexpected(&[Kind::Decimal], end)),
            _ => {}
        }
        if element.iter().filter(|t| !matches!(t.kind, Kind::Word | Kind::Int | Kind::RParen)).count() as u32
            > MAX_NESTING
        {
            return Err((SyntaxErrorKind::TooDeep { limit: MAX_NESTING }, span));
        }
        let is_field =
            element.get(1).is_some_and(|t| t.kind == Kind::Eq) && list.list.is_empty() && list.ints.is_empty();
        let mut reader = Reader::new(self.text, element, builder).telling();
        let read = if is_field || !list.fields.is_empty() {
            reader.field().map(|field| (Some(field), None))
        } else {
            reader.value().map(|value| (None, Some(Initialiser::Value(value))))
        };
        let Some((field, value)) = read.filter(|_| reader.end(None).is_some()) else {
            return Err(reader.errors.pop().unwrap_or_else(|| {
                let (at, expected) = reader.stuck();
                let found = element.get(at).copied().unwrap_or(end);
                explain(expected, Some(found), Context::Initialiser, self.text)
            }));
        };
        list.fields.extend(field);
        if let Some(value) = value {
            list.push(value, span);
        }
        separator(end)
    }

    /// How many commas follow before the list ends: the size to reserve, so that growing never doubles a large table.
    fn commas(&self, from: Token) -> usize {
        let rest = self.text.as_bytes().get(from.span.start as usize..).unwrap_or(&[]);
        rest.iter().take_while(|b| **b != b'}').filter(|b| **b == b',').count() + 1
    }
}

/// Whether an element ends as it must.
fn separator(end: Token) -> Result<(), (SyntaxErrorKind, Span)> {
    match end.kind {
        Kind::Comma | Kind::RBrace => Ok(()),
        _ => Err(unexpected(&[Kind::Comma, Kind::RBrace], end)),
    }
}

fn unexpected(expected: &[Kind], found: Token) -> (SyntaxErrorKind, Span) {
    let expected = expected.iter().map(|k| k.expected()).collect();
    let kind =
        SyntaxErrorKind::Unexpected { expected, found: super::error::Found::Token, within: Context::Initialiser };
    (kind, found.span)
}

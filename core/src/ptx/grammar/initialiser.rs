//! Braced initialisers (PTX ISA 5.4.4).
//!
//! They may be most of a file, so their tokens are dropped as they are read: only the outer braces are left of them.

use super::Reader;
use crate::base::Span;
use crate::ptx::error::{Context, MAX_NESTING, SyntaxErrorKind};
use crate::ptx::explain::explain;
use crate::ptx::number;
use crate::ptx::token::{Kind, Token};
use crate::ptx::tree::{Expr, ExprKind, Ident, Initialiser};

/// Tokens of a list that are held before they are dropped: one by one would take twice as long.
const HELD: usize = 1 << 10;

/// The elements of a list.
#[derive(Default)]
struct List {
    /// The elements while all are integers.
    ints: Vec<i64>,
    /// The elements from the first one on that is no integer.
    list: Vec<Initialiser>,
    fields: Vec<(Ident, Expr)>,
}

impl List {
    /// Adds an element that is no integer; `span` covers the list up to here.
    fn push(&mut self, element: Initialiser, span: Span) {
        let ints = std::mem::take(&mut self.ints);
        self.list.extend(ints.into_iter().map(|n| {
            let kind = ExprKind::Int { bits: n.cast_unsigned(), unsigned: false };
            Initialiser::Value(Expr { kind, span })
        }));
        self.list.push(element);
    }

    fn close(self, span: Span) -> Initialiser {
        if !self.fields.is_empty() {
            Initialiser::Fields(self.fields)
        } else if self.list.is_empty() {
            Initialiser::Ints(self.ints, span)
        } else {
            Initialiser::List(self.list, span)
        }
    }
}

impl Reader<'_> {
    /// A braced initialiser. What is wrong with it is told at once, while its tokens are there.
    pub(super) fn table(&mut self) -> Option<Initialiser> {
        let telling = self.tell(true);
        let table = self.braces(0);
        let (at, expected) = self.stuck();
        if table.is_none() && self.errors.is_empty() {
            self.at = at;
            let wrong = explain(expected, self.token(), Context::Initialiser, self.text);
            self.errors.push(wrong);
        }
        self.tell(telling);
        table
    }

    fn braces(&mut self, depth: u32) -> Option<Initialiser> {
        let open = self.is(Kind::LBrace)?;
        if depth > MAX_NESTING {
            return self.wrong(SyntaxErrorKind::TooDeep { limit: MAX_NESTING }, self.at - 1);
        }
        let from = self.at;
        let mut list = List::default();
        let read = self.is(Kind::RBrace).or_else(|| self.elements(&mut list, open.span, depth));
        if read.is_none() && self.token().is_none() && self.errors.is_empty() {
            self.errors.push((SyntaxErrorKind::OpenBrace, open.span));
        }
        let span = open.span.to(read?.span);
        self.at -= 1;
        self.forget(from);
        self.at += 1;
        Some(list.close(span))
    }

    /// The elements of a list that begins at `open`, up to its `}`.
    fn elements(&mut self, list: &mut List, open: Span, depth: u32) -> Option<Token> {
        let from = self.at;
        loop {
            let start = self.at;
            let first = self.kind();
            let empty = list.ints.is_empty() && list.list.is_empty();
            if first == Some(Kind::LBrace) {
                let inner = self.braces(depth + 1)?;
                list.push(inner, open.to(self.since(from)));
            } else if !list.fields.is_empty()
                || first == Some(Kind::Word) && empty && self.peek(1).is_some_and(|t| t.kind == Kind::Eq)
            {
                list.fields.push(self.field()?);
            } else if let Some(int) = self.signed().filter(|_| list.list.is_empty()) {
                if list.ints.is_empty() {
                    list.ints.reserve(self.commas());
                }
                list.ints.push(int);
            } else {
                self.at = start;
                let value = self.value()?;
                list.push(Initialiser::Value(value), open.to(self.since(from)));
            }
            if self.is(Kind::Comma).is_none() {
                return self.is(Kind::RBrace);
            }
            if self.at - from >= HELD {
                self.forget(from);
            }
        }
    }

    /// An integer of 64 bits that is an element by itself.
    fn signed(&mut self) -> Option<i64> {
        let negative = self.kind() == Some(Kind::Minus);
        self.at += usize::from(negative);
        let literal = self.token().filter(|t| t.kind == Kind::Int)?;
        self.at += 1;
        let (bits, _) = number::integer(self.str(literal)).ok()?;
        let int = i64::try_from(bits).ok().filter(|_| matches!(self.kind(), Some(Kind::Comma | Kind::RBrace)))?;
        Some(if negative { -int } else { int })
    }

    /// How many commas follow before the list ends: the size to reserve, so that growing never doubles a large table.
    fn commas(&mut self) -> usize {
        let at = self.token().map_or(self.text.len(), |t| t.span.start as usize);
        let rest = self.text.as_bytes().get(at..).unwrap_or(&[]);
        rest.iter().take_while(|b| **b != b'}').filter(|b| **b == b',').count() + 1
    }
}

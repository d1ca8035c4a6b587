//! Statements and expressions of both forms: a little C. Depths are counted, since braces and conditions nest.

use crate::base::{Placed, Span};
use crate::litmus::error::{Expected, LitmusErrorKind as K, MAX_NESTING};
use crate::litmus::parse::Reader;
use crate::litmus::parse::token::Kind;
use crate::litmus::tree::{Arith, Ident, Relation};

/// A statement as it is written.
pub(super) type Raw = Placed<RawKind>;

/// Statements.
pub(super) enum RawKind {
    /// `r = e`
    Assign(Ident, Term),
    /// `*x = e`
    Store(Ident, Term),
    /// `f(…)`
    Call(Call),
    /// `if (e) … else …`, and the place of its head.
    If(Term, Vec<Raw>, Vec<Raw>, Span),
}

/// An expression as it is written.
pub(super) type Term = Placed<TermKind>;

/// Expressions.
pub(super) enum TermKind {
    Number(i64),
    Name(String),
    /// `*x`
    At(Ident),
    Call(Call),
    /// `r = e` within a condition, as the paper writes it.
    Assign(Ident, Box<Term>),
    Compute(Arith, Box<Term>, Box<Term>),
    Is(Relation, Box<Term>, Box<Term>),
    Not(Box<Term>),
}

/// A call of a function.
pub(super) struct Call {
    pub(super) name: Ident,
    pub(super) arguments: Vec<Term>,
}

const COMPARISONS: [(Kind, Relation); 6] = [
    (Kind::EqEq, Relation::Eq),
    (Kind::Ne, Relation::Ne),
    (Kind::Lt, Relation::Lt),
    (Kind::Le, Relation::Le),
    (Kind::Gt, Relation::Gt),
    (Kind::Ge, Relation::Ge),
];

/// Words that begin a loop.
const LOOPS: [&str; 3] = ["while", "for", "do"];

impl Reader<'_> {
    /// Statements up to a `}`, a bar, or what is asked.
    pub(super) fn statements(&mut self, depth: usize) -> Option<Vec<Raw>> {
        let mut all = Vec::new();
        loop {
            while self.is(Kind::Semi).is_some() {}
            match self.token() {
                None => break,
                Some(token) if matches!(token.kind, Kind::RBrace | Kind::Bar | Kind::Tilde) => break,
                Some(token)
                    if ["locations", "filter", "exists", "forall", "final", "not"].contains(&self.str(token)) =>
                {
                    break;
                }
                Some(_) => self.statement(depth, &mut all)?,
            }
        }
        Some(all)
    }

    /// A statement, or those in braces.
    fn statement(&mut self, depth: usize, all: &mut Vec<Raw>) -> Option<()> {
        self.within(depth)?;
        if self.is(Kind::LBrace).is_some() {
            all.extend(self.statements(depth + 1)?);
            return self.is(Kind::RBrace).map(|_| ());
        }
        if let Some(token) = self.token().filter(|t| LOOPS.contains(&self.str(*t))) {
            self.errors.push((K::Loop, token.span));
            self.at = self.tokens.len();
            return Some(());
        }
        let from = self.at;
        let kind = self.labelled(Expected::Statement, |r| r.simple(depth))?;
        if !matches!(kind, RawKind::If(..)) {
            self.ends_statement()?;
        }
        all.push(Raw { kind, span: self.since(from) });
        Some(())
    }

    /// A `;`, or what makes it needless in lists.
    fn ends_statement(&mut self) -> Option<()> {
        let ends = |kind| matches!(kind, Kind::RBrace | Kind::Bar | Kind::Tilde | Kind::Asking);
        let last = match self.token() {
            None => true,
            Some(token) => ends(token.kind) || ["locations", "filter", "exists", "forall"].contains(&self.str(token)),
        };
        if last { Some(()) } else { self.before_semi() }
    }

    fn before_semi(&mut self) -> Option<()> {
        self.is(Kind::Semi)?;
        self.at -= 1;
        Some(())
    }

    fn simple(&mut self, depth: usize) -> Option<RawKind> {
        let from = self.at;
        if self.word("if").is_some() {
            self.is(Kind::LParen)?;
            let test = self.condition_of(depth + 1)?;
            self.is(Kind::RParen)?;
            let head = self.since(from);
            let (mut then, mut otherwise) = (Vec::new(), Vec::new());
            self.branch(depth + 1, &mut then)?;
            let after = self.at;
            self.is(Kind::Semi);
            if self.word("else").is_some() {
                self.branch(depth + 1, &mut otherwise)?;
            } else {
                self.at = after;
            }
            return Some(RawKind::If(test, then, otherwise, head));
        }
        if self.is(Kind::Star).is_some() {
            let at = self.name(Expected::Location)?;
            self.is(Kind::Eq)?;
            return Some(RawKind::Store(at, self.expression(depth + 1)?));
        }
        let declares = self.word("int").is_some();
        let name = self.called()?;
        if !declares && self.kind() == Some(Kind::LParen) {
            return self.arguments(name, depth).map(RawKind::Call);
        }
        self.is(Kind::Eq)?;
        Some(RawKind::Assign(name, self.expression(depth + 1)?))
    }

    /// What is done one way: a statement, which may be empty.
    fn branch(&mut self, depth: usize, all: &mut Vec<Raw>) -> Option<()> {
        if self.kind() == Some(Kind::Semi) { Some(()) } else { self.statement(depth, all) }
    }

    /// A condition: perhaps one that keeps what it looks at.
    fn condition_of(&mut self, depth: usize) -> Option<Term> {
        let from = self.at;
        if let (Some(name), Some(equal)) = (self.token(), self.peek(1))
            && (name.kind, equal.kind) == (Kind::Word, Kind::Eq)
        {
            self.at += 2;
            let to = Ident { name: self.str(name).to_owned(), span: name.span };
            let of = self.expression(depth + 1)?;
            return Some(Term { kind: TermKind::Assign(to, Box::new(of)), span: self.since(from) });
        }
        self.expression(depth)
    }

    /// That a depth is no deeper than the limit. What is deeper is told once, and nothing after it.
    fn within(&mut self, depth: usize) -> Option<()> {
        if depth > MAX_NESTING {
            let span = self.token().map_or(Span::default(), |t| t.span);
            self.errors.push((K::TooDeep, span));
            self.at = self.tokens.len();
            return None;
        }
        Some(())
    }

    fn expression(&mut self, depth: usize) -> Option<Term> {
        self.within(depth)?;
        let from = self.at;
        let left = self.sum(depth)?;
        let found = COMPARISONS.iter().find(|(kind, _)| self.kind() == Some(*kind));
        let Some((_, relation)) = found else {
            self.miss::<()>(Expected::Comparison);
            return Some(left);
        };
        self.at += 1;
        let right = self.sum(depth)?;
        Some(Term { kind: TermKind::Is(*relation, Box::new(left), Box::new(right)), span: self.since(from) })
    }

    fn sum(&mut self, depth: usize) -> Option<Term> {
        let from = self.at;
        let mut left = self.factor(depth)?;
        // What stands to the left is nested in the tree as deep as there are operators.
        for behind in depth + 1.. {
            let op = match self.kind() {
                Some(Kind::Plus) => Arith::Add,
                Some(Kind::Minus) => Arith::Sub,
                _ => break,
            };
            self.within(behind)?;
            self.at += 1;
            let right = self.factor(depth)?;
            left = Term { kind: TermKind::Compute(op, Box::new(left), Box::new(right)), span: self.since(from) };
        }
        Some(left)
    }

    fn factor(&mut self, depth: usize) -> Option<Term> {
        self.within(depth)?;
        self.labelled(Expected::Value, |r| {
            r.placed(|r| match r.kind() {
                Some(Kind::LParen) => {
                    r.between(Kind::LParen, Kind::RParen, |r| r.expression(depth + 1)).map(|e| e.kind)
                }
                Some(Kind::Star) => {
                    r.at += 1;
                    r.name(Expected::Location).map(TermKind::At)
                }
                Some(Kind::Bang) => {
                    r.at += 1;
                    r.factor(depth + 1).map(|inner| TermKind::Not(Box::new(inner)))
                }
                Some(Kind::Word | Kind::Asking) => {
                    let name = r.called()?;
                    if r.kind() == Some(Kind::LParen) {
                        return r.arguments(name, depth).map(TermKind::Call);
                    }
                    Some(TermKind::Name(name.name))
                }
                _ => r.number().map(|(n, _)| TermKind::Number(n)),
            })
        })
    }

    /// A name, perhaps that of a function.
    fn called(&mut self) -> Option<Ident> {
        let token = self.take(Expected::Name, |_, t| matches!(t.kind, Kind::Word | Kind::Asking))?;
        Some(Ident { name: self.str(token).to_owned(), span: token.span })
    }

    fn arguments(&mut self, name: Ident, depth: usize) -> Option<Call> {
        self.is(Kind::LParen)?;
        let arguments = self.until(Kind::Comma, Kind::RParen, |r| r.expression(depth + 1))?;
        Some(Call { name, arguments })
    }
}

//! Operands of instructions (PTX ISA 6).

use super::Reader;
use super::constant::{named, plus};
use crate::ptx::Modifier;
use crate::ptx::error::{Expected, SyntaxErrorKind};
use crate::ptx::token::Kind;
use crate::ptx::tree::{Address, Expr, ExprKind, Ident, Operand, OperandKind};

/// A literal or constant expression as an operand.
fn constant(expr: Expr) -> Operand {
    let span = expr.span;
    let kind = match expr.kind {
        // The bits of a signed literal are those of an `i64` by construction.
        ExprKind::Int { bits, unsigned: false } => OperandKind::Int(bits.cast_signed()),
        ExprKind::F32(bits) => OperandKind::F32(bits),
        ExprKind::F64(bits) => OperandKind::F64(bits),
        _ => OperandKind::Const(Box::new(expr)),
    };
    Operand { kind, span }
}

fn plain(ident: Ident) -> Operand {
    Operand { kind: OperandKind::Name(ident.name), span: ident.span }
}

impl Reader<'_> {
    /// Any operand but the parenthesised lists of a call.
    pub(super) fn operand(&mut self) -> Option<Operand> {
        let from = self.at;
        self.labelled(Expected::Operand, |r| match r.kind() {
            Some(Kind::Word) if r.is_word("WARP_SZ") => r.number().map(constant),
            Some(Kind::Word) if r.is_word("generic") => r.symbolic().map(constant),
            Some(Kind::Word) => r.named(),
            Some(Kind::LBracket) => r.bracket(),
            Some(Kind::LBrace) => {
                let list = r.vector()?;
                r.paired(list, from)
            }
            Some(Kind::Underscore) => {
                let sink = r.sink()?;
                r.paired(sink, from)
            }
            _ => r.simple(),
        })
    }

    /// An operand that a vector can have, too, and that does not begin with a name.
    fn simple(&mut self) -> Option<Operand> {
        let from = self.at;
        match self.kind() {
            Some(Kind::Dotted) => self.dotted(false),
            Some(Kind::Bang | Kind::Minus) => self.negated().or_else(|| {
                self.at = from;
                self.number().map(constant)
            }),
            _ => self.number().map(constant),
        }
    }

    fn sink(&mut self) -> Option<Operand> {
        self.is(Kind::Underscore).map(|token| Operand { kind: OperandKind::Sink, span: token.span })
    }

    /// An operand that stands there, and perhaps `|q` after it.
    fn paired(&mut self, first: Operand, from: usize) -> Option<Operand> {
        if self.is(Kind::Bar).is_none() {
            return Some(first);
        }
        let second = self.ident().map(plain).or_else(|| self.sink())?;
        Some(Operand { kind: OperandKind::Pair(Box::new((first, second))), span: self.since(from) })
    }

    /// `name`, `a|b`, `name[3]`, `name+4`, `%tid .x`.
    fn named(&mut self) -> Option<Operand> {
        let from = self.at;
        let ident = self.ident()?;
        let kind = if self.is(Kind::LBracket).is_some() {
            let (name, offset) = self.place()?;
            self.is(Kind::RBracket)?;
            OperandKind::Index(ident.name, Box::new(sum(name, offset)?))
        } else if self.is(Kind::Plus).is_some() {
            OperandKind::Const(Box::new(plus(named(ident), Some(self.number()?))))
        } else if let Some(token) = self.token().filter(|t| t.kind == Kind::Dot) {
            self.at += 1;
            self.member(ident.span.of(self.text), self.str(token).trim_start_matches('.'), false)
        } else {
            return self.paired(plain(ident), from);
        };
        Some(Operand { kind, span: self.since(from) })
    }

    /// `%tid.x`, `%r1.b0` written without blanks.
    fn dotted(&mut self, negated: bool) -> Option<Operand> {
        let token = self.is(Kind::Dotted)?;
        match self.str(token).split_once('.') {
            Some((base, what)) if !what.contains(['.', ':', '[']) => {
                Some(Operand { kind: self.member(base, what, negated), span: token.span })
            }
            _ => self.wrong(SyntaxErrorKind::UnknownDirective, self.at - 1),
        }
    }

    /// The selection `name.what`: a component of a vector or special register, or the selector of a video instruction.
    fn member(&mut self, base: &str, what: &str, negated: bool) -> OperandKind {
        let name = self.name(base);
        let component = match what {
            "x" | "r" => Some(0),
            "y" | "g" => Some(1),
            "z" | "b" => Some(2),
            "w" | "a" => Some(3),
            _ => None,
        };
        match component {
            Some(component) if !negated => OperandKind::Member(name, component),
            _ => OperandKind::Select { name, negated, selector: Modifier::of(what, &mut self.state.names) },
        }
    }

    /// `!p`, `-r`, `-r.h1`.
    fn negated(&mut self) -> Option<Operand> {
        self.placed(|r| {
            if r.is(Kind::Bang).is_some() {
                return Some(OperandKind::Not(r.ident()?.name));
            }
            r.is(Kind::Minus)?;
            match r.kind() {
                Some(Kind::Dotted) => r.dotted(true).map(|operand| operand.kind),
                _ => Some(OperandKind::Minus(r.ident()?.name)),
            }
        })
    }

    /// `{a, b}`.
    fn vector(&mut self) -> Option<Operand> {
        let element = |r: &mut Self| match r.kind() {
            Some(Kind::Word) => r.ident().map(plain),
            Some(Kind::Underscore) => r.sink(),
            _ => {
                r.miss::<()>(Expected::Name);
                r.simple()
            }
        };
        let list = |r: &mut Self| r.list(Kind::Comma, element);
        self.placed(|r| Some(OperandKind::Vector(r.between(Kind::LBrace, Kind::RBrace, list)?.into())))
    }

    /// `name`, `name+4` or `4`.
    fn place(&mut self) -> Option<(Option<Ident>, Option<Expr>)> {
        match self.ident() {
            Some(name) => Some((Some(name), self.offset()?)),
            None => Some((None, Some(self.number()?))),
        }
    }

    /// An operand of a list in brackets.
    fn listed(&mut self) -> Option<Operand> {
        if self.kind() == Some(Kind::LBrace) {
            return self.vector();
        }
        match self.place()? {
            (Some(name), None) => Some(plain(name)),
            (name, offset) => sum(name, offset).map(constant),
        }
    }

    /// `[base+offset]`, `[5]`, `[tex, {x, y}]`.
    fn bracket(&mut self) -> Option<Operand> {
        let from = self.at;
        self.is(Kind::LBracket)?;
        let place = if self.is(Kind::LBrace).is_some() { None } else { Some(self.place()?) };
        let single = place.filter(|_| self.is(Kind::RBracket).is_some());
        let kind = match single {
            Some((base, offset)) => {
                let unified = self.is(Kind::Unified).is_some();
                OperandKind::Address(Box::new(Address { base, offset, unified }))
            }
            None => {
                self.at = from + 1;
                let list = self.list(Kind::Comma, Self::listed)?;
                self.is(Kind::RBracket)?;
                self.is(Kind::Unified);
                OperandKind::Bracket(list.into())
            }
        };
        Some(Operand { kind, span: self.since(from) })
    }

    /// `(a, b)` of a call.
    pub(super) fn tuple(&mut self) -> Option<Operand> {
        self.placed(|r| {
            r.is(Kind::LParen)?;
            let list: Vec<_> = r.until(Kind::Comma, Kind::RParen, Self::operand)?;
            Some(OperandKind::Tuple(list.into()))
        })
    }
}

/// A symbol with its offset, or a number alone.
fn sum(name: Option<Ident>, offset: Option<Expr>) -> Option<Expr> {
    match name {
        Some(name) => Some(plus(named(name), offset)),
        None => offset,
    }
}

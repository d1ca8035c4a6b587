//! Constant expressions (PTX ISA 4.5).
//!
//! As in ptxas, arithmetic is over numbers only; a symbol may stand alone or have a number added to it.

use super::Reader;
use crate::ptx::error::Expected;
use crate::ptx::number;
use crate::ptx::token::Kind;
use crate::ptx::tree::{BinaryOp, Expr, ExprKind, Ident, UnaryOp};

/// The binary operators with their tokens and how tightly they bind, in C's order (PTX ISA 4.5.5).
#[rustfmt::skip]
const OPERATORS: [(Kind, BinaryOp, u8); 18] = [
    (Kind::Star, BinaryOp::Mul, 10), (Kind::Slash, BinaryOp::Div, 10), (Kind::Percent, BinaryOp::Rem, 10),
    (Kind::Plus, BinaryOp::Add, 9), (Kind::Minus, BinaryOp::Sub, 9),
    (Kind::Shl, BinaryOp::Shl, 8), (Kind::Shr, BinaryOp::Shr, 8),
    (Kind::Lt, BinaryOp::Lt, 7), (Kind::Le, BinaryOp::Le, 7), (Kind::Gt, BinaryOp::Gt, 7), (Kind::Ge, BinaryOp::Ge, 7),
    (Kind::EqEq, BinaryOp::Eq, 6), (Kind::Ne, BinaryOp::Ne, 6),
    (Kind::Amp, BinaryOp::BitAnd, 5), (Kind::Caret, BinaryOp::BitXor, 4), (Kind::Bar, BinaryOp::BitOr, 3),
    (Kind::AndAnd, BinaryOp::And, 2), (Kind::OrOr, BinaryOp::Or, 1),
];

/// How an operator is written, and how tightly it binds.
pub(crate) fn operator(op: BinaryOp) -> (&'static str, u8) {
    OPERATORS.iter().find(|row| row.1 == op).map_or(("", 0), |row| (row.0.text(), row.2))
}

fn join(left: Expr, op: BinaryOp, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span }
}

/// The sum of a symbol and an offset.
pub(super) fn plus(symbol: Expr, offset: Option<Expr>) -> Expr {
    match offset {
        None => symbol,
        Some(offset) => join(symbol, BinaryOp::Add, offset),
    }
}

/// A name as an expression.
pub(super) fn named(ident: Ident) -> Expr {
    Expr { kind: ExprKind::Name(ident.name), span: ident.span }
}

impl Reader<'_> {
    /// The bits of an integer literal, and whether it is unsigned.
    pub(super) fn integer(&mut self) -> Option<(u64, bool)> {
        let token = self.is(Kind::Int)?;
        self.made(token, number::integer)
    }

    /// An integer literal.
    pub(super) fn int(&mut self) -> Option<Expr> {
        self.placed(|r| r.integer().map(|(bits, unsigned)| ExprKind::Int { bits, unsigned }))
    }

    /// An integer literal that fits 32 bits.
    pub(super) fn small(&mut self) -> Option<u32> {
        let token = self.is(Kind::Int)?;
        self.made(token, number::small)
    }

    /// A number: literals, `WARP_SZ`, and C's operators over them.
    pub(super) fn number(&mut self) -> Option<Expr> {
        let from = self.at;
        let condition = self.binary(0)?;
        if self.is(Kind::Question).is_none() {
            return Some(condition);
        }
        let yes = self.number()?;
        self.is(Kind::Colon)?;
        let no = self.number()?;
        let kind = ExprKind::Ternary(Box::new(condition), Box::new(yes), Box::new(no));
        Some(Expr { kind, span: self.since(from) })
    }

    /// Operands of binary operators that bind more tightly than `level`.
    fn binary(&mut self, level: u8) -> Option<Expr> {
        let mut left = self.unary()?;
        while let Some((_, op, tight)) = OPERATORS.iter().find(|row| self.kind() == Some(row.0) && row.2 > level) {
            self.at += 1;
            left = join(left, *op, self.binary(*tight)?);
        }
        Some(left)
    }

    /// A number with what stands before it: signs, negations, casts. The sign of a signed literal becomes part of it.
    fn unary(&mut self) -> Option<Expr> {
        let first = self.token().filter(|t| !matches!(t.kind, Kind::Int | Kind::Decimal));
        let Some((sign, op)) = first.and_then(|t| Some((t, UnaryOp::named(self.str(t))?))) else {
            return if first.is_some_and(|t| t.kind == Kind::LParen) { self.parenthesis() } else { self.literal() };
        };
        self.at += 1;
        let of = self.unary()?;
        let span = sign.span.to(of.span);
        let kind = match of.kind {
            ExprKind::Int { bits, unsigned: false } if op == UnaryOp::Neg => {
                ExprKind::Int { bits: bits.wrapping_neg(), unsigned: false }
            }
            _ => ExprKind::Unary(op, Box::new(of)),
        };
        Some(Expr { kind, span })
    }

    /// `(number)`, or `(.s64)` or `(.u64)` with what it casts.
    fn parenthesis(&mut self) -> Option<Expr> {
        let open = self.is(Kind::LParen)?;
        let unsigned = match self.token().map(|t| self.str(t)) {
            Some(".s64") => false,
            Some(".u64") => true,
            _ => {
                let inner = self.number()?;
                return self.is(Kind::RParen).map(|_| inner);
            }
        };
        self.at += 1;
        self.is(Kind::RParen)?;
        let of = self.unary()?;
        let span = open.span.to(of.span);
        Some(Expr { kind: ExprKind::Cast { unsigned, of: Box::new(of) }, span })
    }

    /// A literal, or `WARP_SZ`.
    fn literal(&mut self) -> Option<Expr> {
        let Some(token) = self.token() else { return self.miss(Expected::Constant) };
        let kind = match token.kind {
            Kind::Int => return self.int(),
            Kind::HexF32 | Kind::HexF64 | Kind::Decimal => {
                self.at += 1;
                self.made(token, number::float)?
            }
            Kind::Word if self.str(token) == "WARP_SZ" => {
                self.at += 1;
                ExprKind::WarpSize
            }
            _ => return self.miss(Expected::Constant),
        };
        Some(Expr { kind, span: token.span })
    }

    /// `+ number`, perhaps.
    pub(super) fn offset(&mut self) -> Option<Option<Expr>> {
        self.after(Kind::Plus, Self::number)
    }

    /// Whether the next token is a given word.
    pub(super) fn is_word(&mut self, word: &str) -> bool {
        self.token().is_some_and(|t| t.kind == Kind::Word && self.str(t) == word)
    }

    /// `name` or `generic(name)`, perhaps with `+ number`.
    pub(super) fn symbolic(&mut self) -> Option<Expr> {
        let symbol = if self.is_word("generic") {
            self.placed(|r| {
                r.at += 1;
                let name = r.between(Kind::LParen, Kind::RParen, Self::ident)?;
                Some(ExprKind::Generic(Box::new(named(name))))
            })?
        } else {
            named(self.ident()?)
        };
        Some(plus(symbol, self.offset()?))
    }

    /// A value of an initialiser: a number, `name`, `generic(name)`, or `0xFF(name)`.
    pub(crate) fn value(&mut self) -> Option<Expr> {
        let second = self.peek(1).map(|t| t.kind);
        match self.kind() {
            Some(Kind::Word) if !self.is_word("WARP_SZ") => self.symbolic(),
            Some(Kind::Int) if second == Some(Kind::LParen) => self.placed(|r| {
                let (mask, _) = r.integer()?;
                Some(ExprKind::Mask(mask, Box::new(r.between(Kind::LParen, Kind::RParen, Self::symbolic)?)))
            }),
            _ => self.number(),
        }
    }

    /// `filter_mode = nearest`: a field of a sampler's or texture's initialiser.
    pub(crate) fn field(&mut self) -> Option<(Ident, Expr)> {
        let name = self.ident()?;
        self.is(Kind::Eq)?;
        Some((name, self.value()?))
    }
}

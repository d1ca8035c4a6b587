//! Constant expressions (PTX ISA 4.5).
//!
//! As in ptxas, arithmetic is over numbers only; a symbol may stand alone or have a number added to it.

use super::{Fault, Rule, here, ident, is, take, tried, word};
use crate::base::Span;
use crate::ptx::error::Expected;
use crate::ptx::number;
use crate::ptx::token::{Kind, Token};
use crate::ptx::tree::{BinaryOp, Expr, ExprKind, Ident, UnaryOp};
use chumsky::prelude::*;

/// `filter_mode = nearest` in a sampler's initialiser.
pub(crate) type Field = (Ident, Expr);

/// What may stand before a number.
#[derive(Clone, Copy)]
enum Prefix {
    Op(UnaryOp),
    Cast { unsigned: bool },
}

/// The bits of an integer literal, and whether it is unsigned.
pub(super) fn integer<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, (u64, bool), E> {
    tried(is(Kind::Int), |t, b| number::integer(b.str(t)))
}

/// An integer literal.
pub(super) fn int<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Expr, E> {
    integer().map_with(|(bits, unsigned), e| Expr { kind: ExprKind::Int { bits, unsigned }, span: here(e) })
}

/// An integer literal that fits 32 bits.
pub(super) fn small<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, u32, E> {
    tried(is(Kind::Int), |t, b| number::small(b.str(t)))
}

/// A floating-point literal.
fn float<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Expr, E> {
    let literal = select! { t @ Token { kind: Kind::HexF32 | Kind::HexF64 | Kind::Decimal, .. } => t };
    tried(literal, |t, b| number::float(b.str(t)).map(|kind| Expr { kind, span: t.span() }))
}

/// `WARP_SZ`.
fn warp_size<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Expr, E> {
    word("WARP_SZ").map(|t| Expr { kind: ExprKind::WarpSize, span: t.span() })
}

/// `(.s64)` or `(.u64)`.
fn cast<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Prefix, E> {
    let ty = take(|t, b| match b.str(t) {
        ".s64" => Some(Prefix::Cast { unsigned: false }),
        ".u64" => Some(Prefix::Cast { unsigned: true }),
        _ => None,
    });
    is(Kind::LParen).ignore_then(ty).then_ignore(is(Kind::RParen))
}

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

fn precedence(op: BinaryOp) -> u8 {
    operator(op).1
}

/// A number: literals, `WARP_SZ`, and C's operators over them.
pub(super) fn number<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Expr, E> {
    recursive(|number| {
        let parenthesised = is(Kind::LParen).ignore_then(number.clone()).then_ignore(is(Kind::RParen));
        let primary = choice((int(), float(), parenthesised, warp_size()));
        let op = take(|t, _| match t.kind {
            Kind::Minus => Some(Prefix::Op(UnaryOp::Neg)),
            Kind::Plus => Some(Prefix::Op(UnaryOp::Plus)),
            Kind::Bang => Some(Prefix::Op(UnaryOp::Not)),
            Kind::Tilde => Some(Prefix::Op(UnaryOp::BitNot)),
            _ => None,
        });
        let operator = take(|t, _| OPERATORS.iter().find(|row| row.0 == t.kind).map(|row| row.1));
        let prefix = choice((op, cast())).map_with(|p, e| (p, here(e)));
        let unary = prefix
            .repeated()
            .collect::<Vec<_>>()
            .then(primary)
            .map(|(prefixes, of)| prefixes.into_iter().rev().fold(of, apply));
        let binary = unary
            .clone()
            .then(operator.then(unary).repeated().collect::<Vec<_>>())
            .map(|(first, rest)| if rest.is_empty() { first } else { climb(first, rest) });
        let tail = is(Kind::Question).ignore_then(number.clone()).then_ignore(is(Kind::Colon)).then(number).or_not();
        binary.then(tail).map_with(|(condition, tail), e| match tail {
            None => condition,
            Some((yes, no)) => {
                Expr { kind: ExprKind::Ternary(Box::new(condition), Box::new(yes), Box::new(no)), span: here(e) }
            }
        })
    })
    .labelled(Expected::Constant)
}

/// One prefix applied; the sign of a signed literal becomes part of it.
fn apply(of: Expr, (prefix, at): (Prefix, Span)) -> Expr {
    let span = at.to(of.span);
    let kind = match (prefix, &of.kind) {
        (Prefix::Op(UnaryOp::Neg), ExprKind::Int { bits, unsigned: false }) => {
            ExprKind::Int { bits: bits.wrapping_neg(), unsigned: false }
        }
        (Prefix::Op(op), _) => ExprKind::Unary(op, Box::new(of)),
        (Prefix::Cast { unsigned }, _) => ExprKind::Cast { unsigned, of: Box::new(of) },
    };
    Expr { kind, span }
}

/// The tree of `first op a op b …`: a stack of operands that wait for an operator that binds less.
fn climb(first: Expr, rest: Vec<(BinaryOp, Expr)>) -> Expr {
    let join = |left: Expr, op, right: Expr| {
        let span = left.span.to(right.span);
        Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span }
    };
    let mut waiting: Vec<(Expr, BinaryOp)> = Vec::new();
    let mut current = first;
    for (op, right) in rest {
        while let Some((left, before)) = waiting.pop_if(|(_, before)| precedence(*before) >= precedence(op)) {
            current = join(left, before, current);
        }
        waiting.push((current, op));
        current = right;
    }
    while let Some((left, before)) = waiting.pop() {
        current = join(left, before, current);
    }
    current
}

/// `sum` of a symbol and an offset.
pub(super) fn plus(symbol: Expr, offset: Option<Expr>) -> Expr {
    match offset {
        None => symbol,
        Some(offset) => {
            let span = symbol.span.to(offset.span);
            Expr { kind: ExprKind::Binary(BinaryOp::Add, Box::new(symbol), Box::new(offset)), span }
        }
    }
}

/// `generic(name)`.
pub(super) fn generic<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Expr, E> {
    word("generic").then(is(Kind::LParen)).ignore_then(ident()).then_ignore(is(Kind::RParen)).map_with(
        |name: Ident, e| {
            let inner = Expr { kind: ExprKind::Name(name.name), span: name.span };
            Expr { kind: ExprKind::Generic(Box::new(inner)), span: here(e) }
        },
    )
}

/// `name`, `generic(name)`, `0xFF(name)`, each perhaps with `+ number`.
fn symbolic<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Expr, E> {
    let name = ident().map(|i| Expr { kind: ExprKind::Name(i.name), span: i.span });
    let sum = choice((generic(), warp_size().not().ignore_then(name)))
        .then(is(Kind::Plus).ignore_then(number()).or_not())
        .map(|(symbol, offset)| plus(symbol, offset));
    let mask = int().then(is(Kind::LParen).ignore_then(sum.clone()).then_ignore(is(Kind::RParen))).map_with(
        |(mask, of), e| {
            let bits = if let ExprKind::Int { bits, .. } = mask.kind { bits } else { 0 };
            Expr { kind: ExprKind::Mask(bits, Box::new(of)), span: here(e) }
        },
    );
    choice((mask, sum))
}

/// A value of an initialiser.
pub(super) fn value<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Expr, E> {
    choice((symbolic(), number())).labelled(Expected::Constant)
}

/// A field of a sampler's or texture's initialiser.
pub(super) fn field<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Field, E> {
    ident().then_ignore(is(Kind::Eq)).then(value())
}

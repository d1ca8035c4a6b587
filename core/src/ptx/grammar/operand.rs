//! Operands of instructions (PTX ISA 6).

use super::constant::{generic, number, plus};
use super::{Builder, Fault, Rule, here, ident, is, take, tried};
use crate::ptx::error::{Expected, SyntaxErrorKind};
use crate::ptx::token::{Kind, Token};
use crate::ptx::tree::{Address, Expr, ExprKind, Ident, Operand, OperandKind};
use chumsky::prelude::*;

/// What may follow a name.
enum Tail {
    Pair(Operand),
    Index(Expr),
    Plus(Expr),
    Dot(Token),
}

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

fn name_expr(ident: Ident) -> Expr {
    Expr { kind: ExprKind::Name(ident.name), span: ident.span }
}

/// The selection `name.what`: a component of a vector or special register, or the selector of a video instruction.
fn member(b: &mut Builder<'_>, base: &str, what: &str, negated: bool) -> OperandKind {
    let name = b.names.intern(base);
    let component = match what {
        "x" | "r" => Some(0),
        "y" | "g" => Some(1),
        "z" | "b" => Some(2),
        "w" | "a" => Some(3),
        _ => None,
    };
    match component {
        Some(component) if !negated => OperandKind::Member(name, component),
        _ => OperandKind::Select { name, negated, selector: crate::ptx::Modifier::of(what, &mut b.names) },
    }
}

/// `%tid.x`, `%r1.b0` written without blanks.
fn dotted<'t, 's: 't, E: Fault<'t>>(negated: bool) -> impl Rule<'t, 's, Operand, E> {
    tried(is(Kind::Dotted), move |t, b| match b.str(t).split_once('.') {
        Some((base, what)) if !what.contains(['.', ':', '[']) => {
            Ok(Operand { kind: member(b, base, what, negated), span: t.span() })
        }
        _ => Err(SyntaxErrorKind::UnknownDirective),
    })
}

fn sink<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Operand, E> {
    is(Kind::Underscore).map(|t: Token| Operand { kind: OperandKind::Sink, span: t.span() })
}

fn plain<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Operand, E> {
    ident().map(|i| Operand { kind: OperandKind::Name(i.name), span: i.span })
}

/// `name`, `a|b`, `name[3]`, `name+4`, `%tid .x`.
fn named<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Operand, E> {
    let index = choice((
        ident().then(is(Kind::Plus).ignore_then(number()).or_not()).map(|(i, offset)| plus(name_expr(i), offset)),
        number(),
    ));
    let tail = choice((
        is(Kind::Bar).ignore_then(choice((plain(), sink()))).map(Tail::Pair),
        is(Kind::LBracket).ignore_then(index).then_ignore(is(Kind::RBracket)).map(Tail::Index),
        is(Kind::Plus).ignore_then(number()).map(Tail::Plus),
        is(Kind::Dot).map(Tail::Dot),
    ));
    ident().then(tail.or_not()).map_with(|(ident, tail): (Ident, _), e| {
        let Some(tail) = tail else {
            return Operand { kind: OperandKind::Name(ident.name), span: ident.span };
        };
        let span = here(e);
        let kind = match tail {
            Tail::Pair(second) => {
                let first = Operand { kind: OperandKind::Name(ident.name), span: ident.span };
                OperandKind::Pair(Box::new((first, second)))
            }
            Tail::Index(index) => OperandKind::Index(ident.name, Box::new(index)),
            Tail::Plus(offset) => OperandKind::Const(Box::new(plus(name_expr(ident), Some(offset)))),
            Tail::Dot(t) => {
                let b: &mut Builder<'s> = e.state();
                let what = b.str(t).trim_start_matches('.');
                let base = ident.span.of(b.text);
                member(b, base, what, false)
            }
        };
        Operand { kind, span }
    })
}

/// `_` or `_|p`.
fn discarded<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Operand, E> {
    sink().then(is(Kind::Bar).ignore_then(choice((plain(), sink()))).or_not()).map_with(|(first, second), e| {
        match second {
            None => first,
            Some(second) => Operand { kind: OperandKind::Pair(Box::new((first, second))), span: here(e) },
        }
    })
}

/// `!p`, `-r`, `-r.h1`.
fn negated<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Operand, E> {
    let not = is(Kind::Bang).ignore_then(ident()).map(|i: Ident| OperandKind::Not(i.name));
    let minus = is(Kind::Minus)
        .ignore_then(choice((ident().map(|i: Ident| OperandKind::Minus(i.name)), dotted(true).map(|o| o.kind))));
    choice((not, minus)).map_with(|kind, e| Operand { kind, span: here(e) })
}

fn generic_sum<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Operand, E> {
    generic().then(is(Kind::Plus).ignore_then(number()).or_not()).map(|(g, offset)| constant(plus(g, offset)))
}

/// `{a, b}`.
fn vector<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Operand, E> {
    choice((plain(), number().map(constant), sink(), dotted(false), negated()))
        .separated_by(is(Kind::Comma))
        .at_least(1)
        .collect::<Vec<_>>()
        .delimited_by(is(Kind::LBrace), is(Kind::RBrace))
        .map_with(|list, e| Operand { kind: OperandKind::Vector(list.into()), span: here(e) })
}

/// `[base+offset]`, `[5]`, `[tex, {x, y}]`.
fn bracket<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Operand, E> {
    let based = ident().then(is(Kind::Plus).ignore_then(number()).or_not());
    let address = |base, offset| OperandKind::Address(Box::new(Address { base, offset, unified: false }));
    let item = choice((
        vector(),
        based.clone().map(|(i, offset)| match offset {
            None => Operand { kind: OperandKind::Name(i.name), span: i.span },
            offset => constant(plus(name_expr(i), offset)),
        }),
        number().map(constant),
    ));
    let list = item.separated_by(is(Kind::Comma)).at_least(1).collect::<Vec<_>>().then_ignore(is(Kind::RBracket));
    is(Kind::LBracket)
        .ignore_then(choice((
            based.then_ignore(is(Kind::RBracket)).map(move |(base, offset)| address(Some(base), offset)),
            number().then_ignore(is(Kind::RBracket)).map(move |offset| address(None, Some(offset))),
            list.boxed().map(|list| OperandKind::Bracket(list.into())),
        )))
        .then(is(Kind::Unified).or_not())
        .map_with(|(mut kind, unified), e| {
            if let (OperandKind::Address(address), Some(_)) = (&mut kind, unified) {
                address.unified = true;
            }
            Operand { kind, span: here(e) }
        })
}

/// Any operand but the parenthesised lists of a call.
pub(super) fn operand<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Operand, E> {
    let rare = choice((generic_sum(), discarded(), vector())).boxed();
    // A name comes first because most operands are names; `WARP_SZ` and `generic(…)` look like names at first.
    let keyword = take(|t, b| (t.kind == Kind::Word && matches!(b.str(t), "WARP_SZ" | "generic")).then_some(()));
    choice((
        keyword.not().ignore_then(named()),
        bracket(),
        dotted(false),
        negated().boxed(),
        number().map(constant),
        rare,
    ))
    .labelled(Expected::Operand)
}

/// `(a, b)` of a call.
pub(super) fn tuple<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Operand, E> {
    operand()
        .separated_by(is(Kind::Comma))
        .collect::<Vec<_>>()
        .delimited_by(is(Kind::LParen), is(Kind::RParen))
        .map_with(|list, e| Operand { kind: OperandKind::Tuple(list.into()), span: here(e) })
}

//! Declarations of variables, registers and parameters (PTX ISA 5.4, 11.3 to 11.5).

use super::constant::{int, small, value};
use super::{Builder, Fault, Rule, here, is, made, take};
use crate::ptx::Modifier;
use crate::ptx::error::Expected;
use crate::ptx::token::{Kind, Token};
use crate::ptx::tree::{Declarator, Expr, Ident, Initialiser, Linkage, PtrAttribute, StateSpace, Variable};
use chumsky::prelude::*;
use smallvec::SmallVec;

/// The words for linkage.
const LINKAGE: [(Kind, Linkage); 4] = [
    (Kind::Visible, Linkage::Visible),
    (Kind::Extern, Linkage::Extern),
    (Kind::Weak, Linkage::Weak),
    (Kind::Common, Linkage::Common),
];

/// The words for state spaces.
const SPACES: [(Kind, StateSpace); 8] = [
    (Kind::Reg, StateSpace::Reg),
    (Kind::Sreg, StateSpace::Sreg),
    (Kind::Const, StateSpace::Const),
    (Kind::Global, StateSpace::Global),
    (Kind::Local, StateSpace::Local),
    (Kind::Param, StateSpace::Param),
    (Kind::Shared, StateSpace::Shared),
    (Kind::Tex, StateSpace::Tex),
];

/// What a token of a table stands for.
fn one_of<'t, 's: 't, T: Copy, E: Fault<'t>>(words: &'static [(Kind, T)]) -> impl Rule<'t, 's, T, E> {
    take(|t, _| words.iter().find(|row| row.0 == t.kind).map(|row| row.1))
}

/// How a row of a table is written.
fn text<T: Copy + PartialEq>(words: &[(Kind, T)], of: T) -> &'static str {
    words.iter().find(|row| row.1 == of).map_or("", |row| row.0.text())
}

impl Linkage {
    pub(crate) fn text(self) -> &'static str {
        text(&LINKAGE, self)
    }
}

impl StateSpace {
    pub(crate) fn text(self) -> &'static str {
        text(&SPACES, self)
    }
}

/// `.visible` and the like.
pub(super) fn linkage<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Linkage, E> {
    one_of(&LINKAGE)
}

/// A state space and its bank.
fn space<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, (StateSpace, Option<u32>), E> {
    let plain = one_of(&SPACES).map(|space| (space, None));
    let bank = made(Kind::ConstBank, |t, b| {
        let digits = b.str(t).trim_start_matches(".const[").trim_end_matches(']');
        (StateSpace::Const, digits.parse().ok())
    });
    choice((plain, bank)).labelled(Expected::Space)
}

/// `.attribute(.managed)`: the text between the outer parentheses.
pub(super) fn attribute<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, String, E> {
    let word = select! { t @ Token { kind, .. } if kind.is_dot() => t };
    let numbers = is(Kind::Int).separated_by(is(Kind::Comma)).delimited_by(is(Kind::LParen), is(Kind::RParen));
    let list = word.then(numbers.or_not()).separated_by(is(Kind::Comma)).at_least(1);
    is(Kind::Attribute)
        .ignore_then(list.map_with(|_, e| here(e)).delimited_by(is(Kind::LParen), is(Kind::RParen)))
        .map_with(|span, e| {
            let b: &mut Builder<'s> = e.state();
            span.of(b.text).to_owned()
        })
}

fn align<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, u32, E> {
    is(Kind::Align).ignore_then(small())
}

/// What may stand between the state space and the type.
enum Before {
    Align(u32),
    Attribute(String),
}

/// A type and, before it, a vector size.
fn typed<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, (Option<Modifier>, Modifier), E> {
    let vector = take(|t, b| matches!(b.str(t), ".v2" | ".v4" | ".v8").then(|| b.modifier(t)));
    let ty = made(Kind::Dot, |t, b| b.modifier(t)).labelled(Expected::Type);
    vector.or_not().then(ty)
}

/// The name of a declaration; `_` where it does not matter.
pub(super) fn declared<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Ident, E> {
    take(|t, b| matches!(t.kind, Kind::Word | Kind::Underscore).then(|| b.ident(t))).labelled(Expected::Name)
}

fn dims<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, SmallVec<[Option<Expr>; 1]>, E> {
    let dim = is(Kind::LBracket).ignore_then(int().or_not()).then_ignore(is(Kind::RBracket));
    empty().to(()).map(|()| SmallVec::new()).foldl(dim.repeated(), |mut dims: SmallVec<_>, dim| {
        dims.push(dim);
        dims
    })
}

/// One declared name with its range or dimensions and its initialiser.
fn declarator<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Declarator, E> {
    let range = is(Kind::Lt).ignore_then(small()).then_ignore(is(Kind::Gt));
    let table =
        made(Kind::Table, |t, b| b.tables.remove(&t.start).unwrap_or_else(|| Initialiser::List(Vec::new(), t.span())));
    let init = is(Kind::Eq).ignore_then(choice((table, value().boxed().map(Initialiser::Value))));
    declared().then(range.or_not()).then(dims()).then(init.or_not()).map(|(((ident, range), dims), init)| Declarator {
        ident,
        range,
        dims,
        init,
    })
}

/// A declaration with its semicolon.
pub(super) fn variable<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Variable, E> {
    let before = choice((align().map(Before::Align), attribute().map(Before::Attribute)));
    attribute()
        .repeated()
        .collect::<Vec<_>>()
        .then(linkage().or_not())
        .then(space())
        .then(before.repeated().collect::<Vec<_>>())
        .then(typed())
        .then(declarator().separated_by(is(Kind::Comma)).collect::<SmallVec<[Declarator; 1]>>())
        .then_ignore(is(Kind::Semi))
        .map_with(|(((((mut attributes, linkage), (space, bank)), before), (vector, ty)), declarators), e| {
            let mut align = None;
            for part in before {
                match part {
                    Before::Align(n) => align = Some(n),
                    Before::Attribute(text) => attributes.push(text),
                }
            }
            Variable { linkage, space, bank, align, vector, ty, ptr: None, attributes, declarators, span: here(e) }
        })
}

/// `( .param .u64 .ptr .global .align 8 p, … )`: the parameters of a function or prototype.
pub(super) fn parameters<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Vec<Variable>, E> {
    let ptr = is(Kind::Ptr)
        .ignore_then(space().or_not())
        .then(align().or_not())
        .map(|(space, align)| PtrAttribute { space: space.map(|(s, _)| s), align });
    space()
        .then(align().or_not())
        .then(typed())
        .then(ptr.or_not())
        .then(align().or_not())
        .then(declared())
        .then(dims())
        .map_with(|(((((((space, bank), align), (vector, ty)), ptr), late), ident), dims), e| Variable {
            linkage: None,
            space,
            bank,
            align: align.or(late),
            vector,
            ty,
            ptr,
            attributes: Vec::new(),
            declarators: SmallVec::from_elem(Declarator { ident, range: None, dims, init: None }, 1),
            span: here(e),
        })
        .separated_by(is(Kind::Comma))
        .collect::<Vec<_>>()
        .map(|mut list: Vec<Variable>| {
            list.shrink_to_fit();
            list
        })
        .delimited_by(is(Kind::LParen), is(Kind::RParen))
        .boxed()
}

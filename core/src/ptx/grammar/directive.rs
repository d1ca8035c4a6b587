//! Function heads, labelled directives, module directives and debugging directives (PTX ISA 11).

use super::constant::{integer, small};
use super::declaration::{attribute, declared, linkage, parameters};
use super::{Builder, Fault, Rule, here, ident, is, made, tried};
use crate::ptx::error::{Expected, NumberProblem, SyntaxErrorKind};
use crate::ptx::number;
use crate::ptx::token::{Kind, Token};
use crate::ptx::tree::{Debugging, Function, FunctionDirective, Ident, Item, Loc, Prototype, Stmt};
use chumsky::prelude::*;

/// The directives between a function's head and body, and how many numbers each takes (PTX ISA 11.4, 11.7, 11.8).
pub(crate) const FUNCTION_DIRECTIVES: &[(&str, usize, usize)] = &[
    ("maxnreg", 1, 1),
    ("maxntid", 1, 3),
    ("reqntid", 1, 3),
    ("minnctapersm", 1, 1),
    ("maxnctapersm", 1, 1),
    ("noreturn", 0, 0),
    ("explicitcluster", 0, 0),
    ("reqnctapercluster", 1, 3),
    ("maxclusterrank", 1, 1),
    ("blocksareclusters", 0, 0),
    ("abi_preserve", 1, 1),
    ("abi_preserve_control", 1, 1),
];

/// A statement that begins with a label and a directive.
pub(crate) type Labelled = Stmt;

/// The text of a string token without its quotes.
fn text<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, String, E> {
    made(Kind::Text, |t, b| b.str(t).trim_matches('"').to_owned())
}

fn texts<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Vec<String>, E> {
    is(Kind::Pragma)
        .ignore_then(text().separated_by(is(Kind::Comma)).at_least(1).collect::<Vec<_>>())
        .then_ignore(is(Kind::Semi))
}

/// A directive between head and body.
fn function_directive<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, FunctionDirective, E> {
    let pragma = texts().map_with(|texts, e| FunctionDirective {
        name: "pragma".to_owned(),
        values: Vec::new(),
        texts,
        span: here(e),
    });
    let known = |t, b: &mut Builder<'s>| {
        let name = b.str(t).trim_start_matches('.');
        FUNCTION_DIRECTIVES.iter().find(|(n, ..)| *n == name).copied().ok_or(SyntaxErrorKind::UnknownDirective)
    };
    let tuning = tried(is(Kind::Dot), known)
        .labelled(Expected::FunctionDirective)
        .then(small().separated_by(is(Kind::Comma)).collect::<Vec<_>>())
        .try_map_with(|((name, least, most), values): ((&str, usize, usize), Vec<u32>), e| {
            if values.len() < least || values.len() > most {
                let count = NumberProblem::Count { least, most };
                return Err(E::wrong(SyntaxErrorKind::BadNumber(count), e.span()));
            }
            Ok(FunctionDirective { name: name.to_owned(), values, texts: Vec::new(), span: here(e) })
        });
    choice((tuning, pragma))
}

/// The head of a function up to its `{`, its `;`, or the next item; and whether a body follows.
pub(super) fn function<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, (Function, bool), E> {
    let attributes = attribute()
        .map_with(|text, e| FunctionDirective {
            name: "attribute".to_owned(),
            values: Vec::new(),
            texts: vec![text],
            span: here(e),
        })
        .repeated()
        .collect::<Vec<_>>();
    let entry = is(Kind::Entry).ignore_then(attributes.clone()).then(ident()).map(|(a, i)| (true, a, Vec::new(), i));
    let func = is(Kind::Func)
        .ignore_then(attributes)
        .then(parameters().or_not())
        .then(ident())
        .map(|((a, returns), i)| (false, a, returns.unwrap_or_default(), i));
    let next = choice((
        select! { Token { kind, .. } if kind.starts_item() || kind.starts_variable() => () },
        select! { Token { kind: Kind::File | Kind::Loc | Kind::Pragma | Kind::Dwarf, .. } => () },
        end(),
    ));
    let last = choice((is(Kind::LBrace).to(true), is(Kind::Semi).to(false), next.rewind().to(false)));
    linkage()
        .or_not()
        .then(choice((entry, func)))
        .then(parameters().or_not())
        .map_with(|head, e| (head, here(e)))
        .then(function_directive().repeated().collect::<Vec<_>>())
        .then(last)
        .map(|(((((linkage, (entry, mut directives, returns, ident)), params), span), tuning), body)| {
            directives.extend(tuning);
            let params = params.unwrap_or_default();
            (Function { linkage, entry, ident, returns, params, directives, body: None, span }, body)
        })
}

/// `.callprototype`, `.branchtargets` and `.calltargets` with the label before them.
pub(super) fn labelled<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Labelled, E> {
    let label = || ident().then_ignore(is(Kind::Colon));
    let prototype = label()
        .then_ignore(is(Kind::CallPrototype))
        .then(parameters().or_not())
        .then_ignore(declared())
        .then(parameters().or_not())
        .then(function_directive().repeated().collect::<Vec<_>>())
        .then_ignore(is(Kind::Semi))
        .map_with(|(((ident, returns), params), directives), e| {
            Stmt::Prototype(Box::new(Prototype {
                ident,
                returns: returns.unwrap_or_default(),
                params: params.unwrap_or_default(),
                directives,
                span: here(e),
            }))
        });
    let targets = label()
        .then(choice((is(Kind::CallTargets).to(true), is(Kind::BranchTargets).to(false))))
        .then(ident().separated_by(is(Kind::Comma)).at_least(1).collect::<Vec<_>>())
        .then_ignore(is(Kind::Semi))
        .map_with(|((ident, call), targets), e| Stmt::Targets { ident, call, targets, span: here(e) });
    choice((prototype, targets))
}

/// `.version`, `.target`, `.address_size`, `.alias`.
pub(super) fn item<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Item, E> {
    let number = tried(is(Kind::Decimal), |t, b| number::version(b.str(t)));
    let version = is(Kind::Version)
        .ignore_then(number.labelled(Expected::Version))
        .map_with(|(major, minor), e| Item::Version { major, minor, span: here(e) });
    let target = is(Kind::Target)
        .ignore_then(ident().separated_by(is(Kind::Comma)).at_least(1).collect::<Vec<_>>())
        .map_with(|names, e| Item::Target { names, span: here(e) });
    let size = is(Kind::AddressSize).ignore_then(small()).map_with(|bits, e| Item::AddressSize { bits, span: here(e) });
    let alias = is(Kind::Alias)
        .ignore_then(ident())
        .then_ignore(is(Kind::Comma))
        .then(ident())
        .then_ignore(is(Kind::Semi))
        .map_with(|(alias, aliasee), e| Item::Alias { alias, aliasee, span: here(e) });
    choice((version, target, size, alias))
}

/// A given word.
fn keyword<'t, 's: 't, E: Fault<'t>>(word: &'static str) -> impl Rule<'t, 's, (), E> {
    super::word(word).ignored().labelled(Expected::Token(word))
}

/// `.file`, `.loc`, `.pragma`, `@@DWARF`.
pub(super) fn debugging<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, Debugging, E> {
    let file = is(Kind::File)
        .ignore_then(small())
        .then(text())
        .then(is(Kind::Comma).ignore_then(integer().map(|(bits, _)| bits)).repeated().collect::<Vec<_>>())
        .map_with(|((index, path), rest), e| Debugging::File { index, path, rest, span: here(e) });
    let place = || small().then(small()).then(small()).map(|((file, line), column)| (file, line, column));
    let function = is(Kind::Comma)
        .ignore_then(keyword("function_name"))
        .ignore_then(ident())
        .then(is(Kind::Plus).ignore_then(small()).or_not())
        .map(|(label, offset): (Ident, _)| (label.name, offset.unwrap_or(0)));
    let inlined = is(Kind::Comma).ignore_then(keyword("inlined_at")).ignore_then(place());
    let loc = is(Kind::Loc).ignore_then(place()).then(function.or_not()).then(inlined.or_not()).map_with(
        |(((file, line, column), function), inlined_at), e| {
            Debugging::Loc(Loc { file, line, column, function, inlined_at, span: here(e) })
        },
    );
    let pragma = texts().map_with(|texts, e| Debugging::Pragma { texts, span: here(e) });
    let dwarf = made(Kind::Dwarf, |t, b| Debugging::Dwarf { text: b.str(t).trim_end().to_owned(), span: t.span() });
    choice((loc, pragma, file, dwarf))
}

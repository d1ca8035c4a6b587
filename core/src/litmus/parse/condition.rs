//! The grammar of what is asked of final states: `locations`, `filter`, the quantifier and its condition.

use super::pieces::{Rule, here, integer, is, name, thread, unexpected, word};
use super::token::{Kind, Token};
use crate::litmus::error::Expected;
use crate::litmus::tree::{Cond, Condition, Expectation, Quantifier, Relation, Term, TermKind};
use chumsky::prelude::*;

/// A term that is no number: `P0:r0`, `0:r0`, `x`, `[x]`, `x[n]`.
fn place<'t, 's: 't>() -> impl Rule<'t, 's, Term> {
    let register = thread()
        .then_ignore(is(Kind::Colon, ":"))
        .then(name(Expected::Register))
        .map(|((thread, _), name)| TermKind::Register { thread, name: name.name });
    let element = is(Kind::LBracket, "[").ignore_then(integer()).then_ignore(is(Kind::RBracket, "]"));
    let indexed = name(Expected::Location).then(element.or_not()).map(|(name, element)| {
        let element = element.map_or(0, |(n, _)| u64::try_from(n).unwrap_or(u64::MAX));
        TermKind::Location { name: name.name, element }
    });
    let bracketed = is(Kind::LBracket, "[")
        .ignore_then(name(Expected::Location))
        .then_ignore(is(Kind::RBracket, "]"))
        .map(|name| TermKind::Location { name: name.name, element: 0 });
    choice((register, indexed, bracketed)).map_with(|kind, e| Term { kind, span: here(e) })
}

fn term<'t, 's: 't>() -> impl Rule<'t, 's, Term> {
    let number = integer().map(|(n, span)| Term { kind: TermKind::Number(n), span });
    choice((place(), number)).labelled(Expected::Term)
}

fn relation<'t, 's: 't>() -> impl Rule<'t, 's, Relation> {
    any()
        .try_map(|t: Token<'_>, at| {
            let relation = match t.kind {
                Kind::Eq | Kind::EqEq => Relation::Eq,
                Kind::Ne => Relation::Ne,
                Kind::Lt => Relation::Lt,
                Kind::Le => Relation::Le,
                Kind::Gt => Relation::Gt,
                Kind::Ge => Relation::Ge,
                _ => return Err(unexpected(Expected::Comparison, at)),
            };
            Ok(relation)
        })
        .labelled(Expected::Comparison)
}

/// `/\` binds more tightly than `\/`, a negation more tightly than both.
fn cond<'t, 's: 't>() -> impl Rule<'t, 's, Cond> {
    recursive(|whole| {
        let parentheses = is(Kind::LParen, "(").ignore_then(whole).then_ignore(is(Kind::RParen, ")"));
        let compare = term().then(relation()).then(term()).map(|((l, r), right)| Cond::Compare(l, r, right));
        let atom = choice((parentheses, compare)).labelled(Expected::Condition);
        let not = is(Kind::Tilde, "~").or(word("not")).repeated().foldr(atom, |_, inner| Cond::Not(Box::new(inner)));
        let list = |mut list: Vec<Cond>, join: fn(Vec<Cond>) -> Cond| match list.pop() {
            Some(only) if list.is_empty() => only,
            Some(last) => {
                list.push(last);
                join(list)
            }
            None => join(list),
        };
        let and = not.separated_by(is(Kind::And, "/\\")).at_least(1).collect().map(move |l| list(l, Cond::And));
        and.separated_by(is(Kind::Or, "\\/")).at_least(1).collect().map(move |l| list(l, Cond::Or))
    })
}

/// `locations [x; P0:r0; …]`
pub(super) fn locations<'t, 's: 't>() -> impl Rule<'t, 's, Vec<Term>> {
    let terms = place().separated_by(is(Kind::Semi, ";")).allow_trailing().collect();
    word("locations")
        .ignore_then(is(Kind::LBracket, "["))
        .ignore_then(terms)
        .then_ignore(is(Kind::RBracket, "]"))
        .then_ignore(is(Kind::Semi, ";").or_not())
}

/// `filter c`
pub(super) fn filter<'t, 's: 't>() -> impl Rule<'t, 's, Cond> {
    word("filter").ignore_then(cond()).then_ignore(is(Kind::Semi, ";").or_not())
}

/// The quantifier and its condition.
pub(super) fn question<'t, 's: 't>() -> impl Rule<'t, 's, Condition> {
    let not = || is(Kind::Tilde, "~").or(word("not"));
    let quantifier = choice((
        word("exists").to(Quantifier::Exists),
        not().then(word("exists")).to(Quantifier::NotExists),
        word("forall").to(Quantifier::Forall),
    ))
    .labelled(Expected::Quantifier);
    let asked = quantifier.then(cond()).then_ignore(is(Kind::Semi, ";").or_not());
    let expectation = name(Expected::Name)
        .then_ignore(is(Kind::Colon, ":").or(is(Kind::Eq, "=")).or_not())
        .then(not().or_not())
        .then_ignore(word("exists"))
        .then_ignore(is(Kind::Semi, ";").or_not())
        .map(|(model, not)| Expectation { model, exists: not.is_none() });
    let end = word("final")
        .to(Quantifier::Final)
        .labelled(Expected::Quantifier)
        .then(cond())
        .then_ignore(is(Kind::Semi, ";").or_not())
        .then(word("with").ignore_then(expectation.repeated().at_least(1).collect()));
    let asked = asked.map(|(quantifier, cond)| (quantifier, cond, Vec::new()));
    let end = end.map(|((quantifier, cond), expected)| (quantifier, cond, expected));
    choice((asked, end)).map_with(|(quantifier, cond, expected), e| Condition {
        quantifier,
        cond,
        expected,
        span: here(e),
    })
}

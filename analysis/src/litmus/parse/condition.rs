//! The grammar of what is asked of final states: `locations`, `filter`, the quantifier and its condition.

use super::Reader;
use super::token::Kind;
use crate::litmus::error::Expected;
use crate::litmus::tree::{Arch, COMPARISONS, Cond, Condition, Expectation, Quantifier, Relation, Term, TermKind};

impl Reader<'_> {
    /// A term that is no number: `P0:r0`, `0:r0`, `x`, `[x]`, `x[n]`.
    fn place(&mut self) -> Option<TermKind> {
        let from = self.at;
        if let Some((thread, _)) = self.thread().filter(|_| self.is(Kind::Colon).is_some()) {
            return Some(TermKind::Register { thread, name: self.name(Expected::Register)?.name });
        }
        self.at = from;
        let bracketed = self.is(Kind::LBracket).is_some();
        let name = self.name(Expected::Location)?.name;
        let indexed = !bracketed && self.is(Kind::LBracket).is_some();
        let element = if indexed { u64::try_from(self.number()?.0).unwrap_or(u64::MAX) } else { 0 };
        if bracketed || indexed {
            self.is(Kind::RBracket)?;
        }
        Some(TermKind::Location { name, element })
    }

    fn term(&mut self) -> Option<Term> {
        let from = self.at;
        self.labelled(Expected::Term, |r| {
            r.placed(|r| {
                r.place().or_else(|| {
                    r.at = from;
                    r.number().map(|(n, _)| TermKind::Number(n))
                })
            })
        })
    }

    fn relation(&mut self) -> Option<Relation> {
        let known = |text: &str| COMPARISONS.iter().find(|(symbol, _)| *symbol == text).map(|(_, relation)| *relation);
        let token = self.take(Expected::Comparison, |r, t| known(r.str(t)).is_some())?;
        known(self.str(token))
    }

    /// `~` or `not`.
    fn not(&mut self) -> bool {
        self.is(Kind::Tilde).is_some() || self.word("not").is_some()
    }

    /// Some of a kind that bind more tightly, with `mark`s between: joined where there are several.
    fn joined(&mut self, mark: Kind, join: fn(Vec<Cond>) -> Cond, part: fn(&mut Self) -> Option<Cond>) -> Option<Cond> {
        let mut list = self.list(mark, part)?;
        if list.len() > 1 { Some(join(list)) } else { list.pop() }
    }

    /// `/\` binds more tightly than `\/`, a negation more tightly than both.
    fn cond(&mut self) -> Option<Cond> {
        self.joined(Kind::Or, Cond::Or, |r| r.joined(Kind::And, Cond::And, Self::negated))
    }

    fn negated(&mut self) -> Option<Cond> {
        if self.not() {
            return self.negated().map(|inner| Cond::Not(Box::new(inner)));
        }
        self.labelled(Expected::Condition, |r| {
            if r.is(Kind::LParen).is_some() {
                // Tests for OpenCL that are about races ask nothing: `exists ()`.
                if r.state == Arch::OpenCl && r.is(Kind::RParen).is_some() {
                    return Some(Cond::And(Vec::new()));
                }
                let inner = r.cond()?;
                return r.is(Kind::RParen).map(|_| inner);
            }
            Some(Cond::Compare(r.term()?, r.relation()?, r.term()?))
        })
    }

    /// `locations [x; P0:r0; …]`, where that is next.
    pub(super) fn locations(&mut self) -> Option<Vec<Term>> {
        let mut all = Vec::new();
        if self.word("locations").is_some() {
            self.is(Kind::LBracket)?;
            while self.is(Kind::RBracket).is_none() {
                all.push(self.placed(Self::place)?);
                if self.is(Kind::Semi).is_none() {
                    self.is(Kind::RBracket)?;
                    break;
                }
            }
            self.is(Kind::Semi);
        }
        Some(all)
    }

    /// A condition, perhaps with a `;`.
    pub(super) fn asked(&mut self) -> Option<Cond> {
        let cond = self.cond()?;
        self.is(Kind::Semi);
        Some(cond)
    }

    fn quantifier(&mut self) -> Option<Quantifier> {
        let not = self.not();
        if self.word("exists").is_some() {
            return Some(if not { Quantifier::NotExists } else { Quantifier::Exists });
        }
        if not {
            return None;
        }
        let forall = self.word("forall").map(|_| Quantifier::Forall);
        forall.or_else(|| self.word("final").map(|_| Quantifier::Final))
    }

    /// What a model is expected to say: `MODEL: exists`.
    fn expectation(&mut self) -> Option<Expectation> {
        let model = self.name(Expected::Name)?;
        if self.is(Kind::Colon).is_none() {
            self.is(Kind::Eq);
        }
        let not = self.not();
        self.word("exists")?;
        self.is(Kind::Semi);
        Some(Expectation { model, exists: !not })
    }

    /// The quantifier and its condition.
    pub(super) fn question(&mut self) -> Option<Condition> {
        let from = self.at;
        let quantifier = self.labelled(Expected::Quantifier, Self::quantifier)?;
        let cond = self.asked()?;
        let mut expected = Vec::new();
        if quantifier == Quantifier::Final {
            self.word("with")?;
            expected.push(self.expectation()?);
            while self.kind() == Some(Kind::Word) {
                expected.push(self.expectation()?);
            }
        }
        Some(Condition { quantifier, cond, expected, span: self.since(from) })
    }
}

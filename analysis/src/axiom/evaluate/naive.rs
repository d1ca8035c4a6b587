//! A second reading of cat: sets of pairs, by recursion over the syntax tree.

use crate::axiom::cat::{Expr, ExprKind, File, Infix, Let, Postfix, StatementKind};
use crate::axiom::model::{Claim, Role};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

pub(super) type Pairs = BTreeSet<(usize, usize)>;

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Meaning {
    Set(BTreeSet<usize>),
    Relation(Pairs),
    Function(Rc<(Vec<String>, Expr, Scope)>),
}

/// What names stand for.
pub(super) type Scope = BTreeMap<String, Meaning>;

/// What an axiom or flag comes to: its expression, and whether it is one that fails or is raised.
pub(super) type Judged = (Role, Meaning, bool);

fn compose(a: &Pairs, b: &Pairs) -> Pairs {
    a.iter().flat_map(|(x, y)| b.iter().filter(move |(z, _)| y == z).map(move |(_, w)| (*x, *w))).collect()
}

fn closure(a: &Pairs) -> Pairs {
    let mut all = a.clone();
    loop {
        let more: Pairs = &all | &compose(&all, &all);
        if more == all {
            return all;
        }
        all = more;
    }
}

/// Expressions among so many events.
pub(super) struct Naive(pub(super) usize);

impl Naive {
    fn events(&self) -> BTreeSet<usize> {
        (0..self.0).collect()
    }

    fn identity(&self) -> Pairs {
        self.events().into_iter().map(|e| (e, e)).collect()
    }

    fn all(&self) -> Pairs {
        self.events().into_iter().flat_map(|a| self.events().into_iter().map(move |b| (a, b))).collect()
    }

    fn set(&self, expr: &Expr, scope: &Scope) -> Option<BTreeSet<usize>> {
        if let Meaning::Set(set) = self.value(expr, scope)? { Some(set) } else { None }
    }

    fn relation(&self, expr: &Expr, scope: &Scope) -> Option<Pairs> {
        if let Meaning::Relation(relation) = self.value(expr, scope)? { Some(relation) } else { None }
    }

    /// What an expression is; nothing where it mixes sets and relations or names something unknown.
    pub(super) fn value(&self, expr: &Expr, scope: &Scope) -> Option<Meaning> {
        Some(match &expr.kind {
            ExprKind::Name(name) => match scope.get(name)? {
                Meaning::Function(_) => return None,
                value => value.clone(),
            },
            ExprKind::Universe => Meaning::Set(self.events()),
            ExprKind::Call(name, arguments) => return self.call(&name.name, arguments, scope),
            ExprKind::Identity(inner) => {
                Meaning::Relation(self.set(inner, scope)?.into_iter().map(|e| (e, e)).collect())
            }
            ExprKind::Not(inner) => match self.value(inner, scope)? {
                Meaning::Set(set) => Meaning::Set(&self.events() - &set),
                Meaning::Relation(relation) => Meaning::Relation(&self.all() - &relation),
                Meaning::Function(_) => return None,
            },
            ExprKind::Postfix(inner, Postfix::Square) => {
                let of = self.set(inner, scope)?;
                Meaning::Relation(of.iter().flat_map(|a| of.iter().map(move |b| (*a, *b))).collect())
            }
            ExprKind::Postfix(inner, operator) => {
                let of = self.relation(inner, scope)?;
                Meaning::Relation(match operator {
                    Postfix::Star => &closure(&of) | &self.identity(),
                    Postfix::Plus => closure(&of),
                    Postfix::Inverse => of.into_iter().map(|(a, b)| (b, a)).collect(),
                    Postfix::Optional => &of | &self.identity(),
                    Postfix::Square => return None,
                })
            }
            ExprKind::Product(left, right) => {
                let (left, right) = (self.set(left, scope)?, self.set(right, scope)?);
                Meaning::Relation(left.iter().flat_map(|a| right.iter().map(move |b| (*a, *b))).collect())
            }
            ExprKind::Chain(operator, list) => {
                let mut values = list.iter().map(|part| self.value(part, scope));
                let first = values.next()??;
                return values.try_fold(first, |one, two| match (one, two?) {
                    (Meaning::Set(a), Meaning::Set(b)) => Some(Meaning::Set(match operator {
                        Infix::Union => &a | &b,
                        Infix::Intersection => &a & &b,
                        Infix::Difference => &a - &b,
                        Infix::Sequence => return None,
                    })),
                    (Meaning::Relation(a), Meaning::Relation(b)) => Some(Meaning::Relation(match operator {
                        Infix::Union => &a | &b,
                        Infix::Intersection => &a & &b,
                        Infix::Difference => &a - &b,
                        Infix::Sequence => compose(&a, &b),
                    })),
                    _ => None,
                });
            }
            ExprKind::Let(made, inner) => {
                let mut scope = scope.clone();
                self.define(made, &mut scope)?;
                return self.value(inner, &scope);
            }
        })
    }

    fn call(&self, name: &str, arguments: &[Expr], scope: &Scope) -> Option<Meaning> {
        if let Some(Meaning::Function(function)) = scope.get(name) {
            let (parameters, body, around) = &**function;
            if parameters.len() != arguments.len() {
                return None;
            }
            let mut inside = around.clone();
            for (parameter, argument) in parameters.iter().zip(arguments) {
                inside.insert(parameter.clone(), self.value(argument, scope)?);
            }
            return self.value(body, &inside);
        }
        let [argument] = arguments else { return None };
        Some(match name {
            "domain" => Meaning::Set(self.relation(argument, scope)?.into_iter().map(|(a, _)| a).collect()),
            "range" => Meaning::Set(self.relation(argument, scope)?.into_iter().map(|(_, b)| b).collect()),
            "toid" => Meaning::Relation(self.set(argument, scope)?.into_iter().map(|e| (e, e)).collect()),
            _ => return None,
        })
    }

    fn define(&self, made: &Let, scope: &mut Scope) -> Option<()> {
        let names: Vec<&String> = made.definitions.iter().map(|d| &d.name.name).collect();
        if made.recursive {
            for name in &names {
                scope.insert((*name).clone(), Meaning::Relation(Pairs::new()));
            }
        }
        // What grows has an end: each time by a pair at least.
        for _ in 0..=self.0 * self.0 * names.len() {
            let mut values = Vec::new();
            for definition in &made.definitions {
                values.push(match &definition.parameters {
                    Some(parameters) => {
                        let parameters = parameters.iter().map(|p| p.name.clone()).collect();
                        Meaning::Function(Rc::new((parameters, definition.body.clone(), scope.clone())))
                    }
                    None => self.value(&definition.body, scope)?,
                });
            }
            let mut changed = false;
            for (name, value) in names.iter().zip(values) {
                let same = match (scope.get(*name), &value) {
                    (Some(Meaning::Relation(a)), Meaning::Relation(b)) => a == b,
                    _ => false,
                };
                changed |= !same;
                scope.insert((*name).clone(), value);
            }
            if !made.recursive || !changed {
                return Some(());
            }
        }
        None
    }

    /// What the axioms and flags of a file come to; nothing where it has errors.
    pub(super) fn judge(&self, file: &File, scope: &mut Scope) -> Option<Vec<Judged>> {
        let mut judged = Vec::new();
        for statement in &file.statements {
            match &statement.kind {
                StatementKind::Let(made) => self.define(made, scope)?,
                StatementKind::Check(check) => {
                    let value = self.value(&check.of, scope)?;
                    let holds = match (&value, check.claim) {
                        (Meaning::Set(set), Claim::Empty) => set.is_empty(),
                        (Meaning::Relation(relation), Claim::Empty) => relation.is_empty(),
                        (Meaning::Relation(relation), Claim::Irreflexive) => relation.iter().all(|(a, b)| a != b),
                        (Meaning::Relation(relation), Claim::Acyclic) => closure(relation).iter().all(|(a, b)| a != b),
                        _ => return None,
                    };
                    let so = holds != check.negated;
                    judged.push((check.role, value, if check.role == Role::Flag { so } else { !so }));
                }
                StatementKind::Include(_) | StatementKind::Show(_) | StatementKind::Unshow(_) => {}
            }
        }
        Some(judged)
    }
}

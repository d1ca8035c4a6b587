//! Syntax tree → model: what names stand for, sets and relations told apart, functions put in the place of calls.

use super::build::{Builder, Refusal};
use super::error::{CatError, CatErrorKind, MAX_DEPTH, MAX_ERRORS, MAX_NODES};
use super::load::Loaded;
use super::names::{Names, Sort};
use super::scope::{Builtin, Definitions, Function, Scope, Value};
use super::tree::{Check, Definition, Expr, ExprKind, Ident, Infix, Postfix, StatementKind};
use crate::axiom::model::{Axiom, Claim, Model, Node, NodeId};
use crate::base::{Span, suggest};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

/// Definitions among which a misspelt one is looked for: each is compared with it.
const MOST_SUGGESTED: usize = 1000;

/// A call: the function, its arguments, and the recursive group that it is in.
type Called = (usize, Vec<Value>, Option<u32>);

/// A model in the making.
pub(super) struct Lowering<'t> {
    loaded: &'t Loaded,
    pub(super) names: &'t Names,
    pub(super) builder: Builder,
    pub(super) definitions: Definitions<'t>,
    functions: Vec<Function<'t>>,
    /// What calls came to: functions that call each other twice would take exponential time without.
    called: FxHashMap<Called, Value>,
    errors: Vec<CatError>,
    depth: usize,
    steps: usize,
    /// Whether a limit was reached: nothing further is looked at.
    stopped: bool,
    axioms: Vec<Axiom>,
    shows: Vec<(String, NodeId)>,
    defined: IndexMap<&'t str, NodeId>,
}

/// The model that files come to.
pub(super) fn lower(name: &str, loaded: &Loaded, names: &Names) -> Result<Model, Vec<CatError>> {
    let mut lowering = Lowering {
        loaded,
        names,
        builder: Builder::default(),
        definitions: Definitions::default(),
        functions: Vec::new(),
        called: FxHashMap::default(),
        errors: Vec::new(),
        depth: 0,
        steps: 0,
        stopped: false,
        axioms: Vec::new(),
        shows: Vec::new(),
        defined: IndexMap::new(),
    };
    for (file, statement) in loaded.statements() {
        lowering.statement(file, &statement.kind, statement.span);
    }
    if !lowering.errors.is_empty() {
        return Err(lowering.errors);
    }
    let mut model = Model { name: name.to_owned(), fused: names.fused(), ..Model::default() };
    let place = lowering.builder.finish(&mut model);
    let placed = |(name, node): (String, NodeId)| (name, place(node));
    model.axioms = lowering.axioms.into_iter().map(|axiom| Axiom { of: place(axiom.of), ..axiom }).collect();
    model.shows = lowering.shows.into_iter().map(placed).collect();
    model.names = lowering.defined.into_iter().map(|(name, node)| placed((name.to_owned(), node))).collect();
    Ok(model)
}

impl<'t> Lowering<'t> {
    /// Complains of a place.
    pub(super) fn wrong(&mut self, scope: &Scope<'t>, span: Span, kind: CatErrorKind) -> Value {
        let file = self.loaded.files[scope.file].id;
        let known = self.errors.iter().any(|e| e.span == span && e.file == file && e.kind == kind);
        if !known && self.errors.len() <= MAX_ERRORS {
            let kind = if self.errors.len() == MAX_ERRORS { CatErrorKind::TooMany } else { kind };
            self.errors.push(CatError { kind, file, span, call: scope.call });
        }
        Value::Wrong
    }

    /// The words of a place, in one line.
    fn text(&self, file: usize, span: Span) -> String {
        span.of(&self.loaded.files[file].text).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn statement(&mut self, file: usize, statement: &'t StatementKind, span: Span) {
        let mut scope = Scope::top(file, self.definitions.len());
        match statement {
            StatementKind::Include(_) => {}
            StatementKind::Let(made) => {
                self.define(made, &mut scope);
                for definition in &made.definitions {
                    let name = definition.name.name.as_str();
                    self.defined.shift_remove(name);
                    if let Some(node) = self.definitions.lookup(&scope, name).and_then(Value::node) {
                        self.defined.insert(name, node);
                    }
                }
            }
            StatementKind::Check(check) => self.check(check, span, &mut scope),
            StatementKind::Show(shown) => {
                for (expr, name) in shown {
                    let node = self.value(expr, &mut scope).node();
                    let name = name.as_ref().map_or_else(|| self.text(file, expr.span), |n| n.name.clone());
                    self.shows.extend(node.map(|node| (name, node)));
                }
            }
            StatementKind::Unshow(names) => self.shows.retain(|(shown, _)| names.iter().all(|n| n.name != *shown)),
        }
    }

    fn check(&mut self, check: &'t Check, span: Span, scope: &mut Scope<'t>) {
        let of = match check.claim {
            Claim::Acyclic => self.relation(&check.of, scope, "acyclic"),
            Claim::Irreflexive => self.relation(&check.of, scope, "irreflexive"),
            Claim::Empty => self.value(&check.of, scope).node(),
        };
        let text = || self.text(scope.file, check.of.span);
        let name = check.name.as_ref().map_or_else(text, |n| n.name.clone());
        let Check { role, negated, claim, .. } = *check;
        self.axioms.extend(of.map(|of| Axiom { name, role, negated, claim, of, span }));
    }

    /// Notes a function and looks at its body as far as that can be done without arguments.
    pub(super) fn function(&mut self, definition: &'t Definition, scope: &Scope<'t>) -> Value {
        let parameters = definition.parameters.as_deref().unwrap_or_default();
        self.once(parameters, scope);
        let number = self.functions.len();
        let mut inside = Scope { global: false, defining: Some(&definition.name.name), ..scope.clone() };
        self.functions.push(Function { definition, scope: inside.clone() });
        inside.locals.extend(parameters.iter().map(|p| (p.name.as_str(), Value::Wrong)));
        self.value(&definition.body, &mut inside);
        Value::Function(number)
    }

    /// Complains of a name that stands twice in a list.
    pub(super) fn once(&mut self, names: impl IntoIterator<Item = &'t Ident>, scope: &Scope<'t>) {
        let mut first: FxHashMap<&str, Span> = FxHashMap::default();
        for name in names {
            if let Some(before) = first.insert(&name.name, name.span) {
                self.wrong(scope, name.span, CatErrorKind::Twice(before));
            }
        }
    }

    /// What an expression stands for.
    pub(super) fn value(&mut self, expr: &'t Expr, scope: &mut Scope<'t>) -> Value {
        self.steps += 1;
        if self.stopped {
            return Value::Wrong;
        }
        if self.steps > 10 * MAX_NODES {
            return self.stop(scope, expr.span, CatErrorKind::TooManyNodes);
        }
        if self.depth >= MAX_DEPTH {
            return self.stop(scope, expr.span, CatErrorKind::TooDeep);
        }
        self.depth += 1;
        let value = self.inside(expr, scope);
        self.depth -= 1;
        value
    }

    fn stop(&mut self, scope: &Scope<'t>, span: Span, kind: CatErrorKind) -> Value {
        self.stopped = true;
        self.wrong(scope, span, kind)
    }

    fn inside(&mut self, expr: &'t Expr, scope: &mut Scope<'t>) -> Value {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Name(name) => self.named(name, span, scope),
            ExprKind::Universe => self.made(Node::Universe, span, scope, ""),
            ExprKind::Call(name, arguments) => self.call(name, arguments, span, scope),
            ExprKind::Identity(inner) => match self.set(inner, scope, "[ ]") {
                Some(set) => self.identity(set, span, scope),
                None => Value::Wrong,
            },
            ExprKind::Not(inner) => {
                let inner = self.value(inner, scope);
                self.complement(inner, span, scope)
            }
            ExprKind::Postfix(inner, Postfix::Square) => match self.set(inner, scope, Postfix::Square.text()) {
                Some(set) => self.made(Node::Product(set, set), span, scope, ""),
                None => Value::Wrong,
            },
            ExprKind::Postfix(inner, operator) => {
                let Some(inner) = self.relation(inner, scope, operator.text()) else { return Value::Wrong };
                let node = match operator {
                    Postfix::Optional => return self.optional(inner, span, scope),
                    Postfix::Inverse => Node::Inverse(inner),
                    Postfix::Plus | Postfix::Star | Postfix::Square => Node::Plus(inner),
                };
                match (operator, self.made(node, span, scope, "").node()) {
                    (Postfix::Star, Some(plus)) => self.optional(plus, span, scope),
                    (_, made) => made.map_or(Value::Wrong, Value::Relation),
                }
            }
            ExprKind::Product(left, right) => match (self.set(left, scope, "*"), self.set(right, scope, "*")) {
                (Some(left), Some(right)) => self.made(Node::Product(left, right), span, scope, ""),
                _ => Value::Wrong,
            },
            ExprKind::Chain(operator, list) => self.chain(*operator, list, scope),
            ExprKind::Let(made, inner) => {
                let (global, locals) = (std::mem::replace(&mut scope.global, false), scope.locals.len());
                self.define(made, scope);
                let value = self.value(inner, scope);
                scope.locals.truncate(locals);
                scope.global = global;
                value
            }
        }
    }

    /// A node as a value; `by` is the operator, should it take away too much.
    pub(super) fn made(&mut self, node: Node, span: Span, scope: &Scope<'t>, by: &'static str) -> Value {
        let relation = node.is_relation();
        match self.builder.node(node) {
            Ok(node) if relation => Value::Relation(node),
            Ok(node) => Value::Set(node),
            Err(refusal) => self.refused(refusal, span, scope, by),
        }
    }

    /// Complains of a node that cannot be made.
    pub(super) fn refused(&mut self, refusal: Refusal, span: Span, scope: &Scope<'t>, by: &'static str) -> Value {
        match refusal {
            Refusal::NotMonotone => self.wrong(scope, span, CatErrorKind::NotMonotone { by }),
            Refusal::Nested => self.wrong(scope, span, CatErrorKind::NestedRecursion),
            Refusal::TooMany => self.stop(scope, span, CatErrorKind::TooManyNodes),
        }
    }

    fn complement(&mut self, of: Value, span: Span, scope: &Scope<'t>) -> Value {
        let universe = self.made(Node::Universe, span, scope, "~").node();
        match (of, universe) {
            (Value::Set(set), Some(all)) => self.made(Node::SetDifference(all, set), span, scope, "~"),
            (Value::Relation(relation), Some(all)) => match self.made(Node::Product(all, all), span, scope, "~").node()
            {
                Some(all) => self.made(Node::Difference(all, relation), span, scope, "~"),
                None => Value::Wrong,
            },
            _ => Value::Wrong,
        }
    }

    fn chain(&mut self, operator: Infix, list: &'t [Expr], scope: &mut Scope<'t>) -> Value {
        let mut joined: Option<Value> = None;
        let mut sort = None;
        for part in list {
            let value = match operator {
                Infix::Sequence => self.relation(part, scope, ";").map_or(Value::Wrong, Value::Relation),
                _ => self.value(part, scope),
            };
            let this = match value {
                Value::Set(_) => Some(Sort::Set),
                Value::Relation(_) => Some(Sort::Relation),
                _ => None,
            };
            match (sort, this) {
                (Some(before), Some(this)) if before != this => {
                    joined = Some(self.wrong(scope, part.span, CatErrorKind::Mixed { by: operator.text(), before }));
                }
                _ => {
                    sort = sort.or(this);
                    joined = Some(match joined {
                        None => value,
                        Some(before) => self.join(operator, before, value, part.span, scope),
                    });
                }
            }
        }
        joined.unwrap_or(Value::Wrong)
    }

    /// What two are together, by an operator; `span`: the place of the second.
    fn join(&mut self, operator: Infix, one: Value, two: Value, span: Span, scope: &Scope<'t>) -> Value {
        let node = match (one, two) {
            (Value::Set(a), Value::Set(b)) => match operator {
                Infix::Union => Node::SetUnion(a, b),
                Infix::Intersection => Node::SetIntersection(a, b),
                _ => Node::SetDifference(a, b),
            },
            (Value::Relation(a), Value::Relation(b)) => match operator {
                Infix::Union => Node::Union(a, b),
                Infix::Intersection => Node::Intersection(a, b),
                Infix::Difference => Node::Difference(a, b),
                Infix::Sequence => Node::Sequence(a, b),
            },
            _ => return Value::Wrong,
        };
        self.made(node, span, scope, operator.text())
    }

    /// An expression that has to be a relation; who needs it.
    fn relation(&mut self, expr: &'t Expr, scope: &mut Scope<'t>, by: &'static str) -> Option<NodeId> {
        let value = self.value(expr, scope);
        if let Value::Set(_) = value {
            self.wrong(scope, expr.span, CatErrorKind::WantsRelation { by });
            return None;
        }
        value.node()
    }

    /// An expression that has to be a set; who needs it.
    fn set(&mut self, expr: &'t Expr, scope: &mut Scope<'t>, by: &'static str) -> Option<NodeId> {
        let value = self.value(expr, scope);
        if let Value::Relation(_) = value {
            self.wrong(scope, expr.span, CatErrorKind::WantsSet { by });
            return None;
        }
        value.node()
    }

    /// What a name stands for.
    fn lookup(&mut self, name: &str, scope: &Scope<'t>) -> Option<Value> {
        if let Some(value) = self.definitions.lookup(scope, name) {
            return Some(value);
        }
        Some(self.given(name, self.names.sort(name)?, scope))
    }

    /// What executions give.
    pub(super) fn base(&mut self, name: &str, sort: Sort, scope: &Scope<'t>) -> Value {
        let number = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
        let node = match sort {
            Sort::Set => Node::BaseSet(number(self.builder.sets.insert_full(name.to_owned()).0)),
            Sort::Relation => Node::BaseRelation(number(self.builder.relations.insert_full(name.to_owned()).0)),
        };
        self.made(node, Span::default(), scope, "")
    }

    /// Complains of a name that nothing has.
    fn unknown(&mut self, name: &str, span: Span, scope: &Scope<'t>) -> Value {
        let kind = if scope.defining == Some(name) {
            CatErrorKind::CallsItself { name: name.to_owned() }
        } else {
            let locals = scope.locals.iter().map(|(local, _)| *local);
            let known = locals.chain(self.names.iter()).chain(self.definitions.names().take(MOST_SUGGESTED));
            // What is not shown is not looked for.
            let near = suggest(name, known.take(if self.errors.len() < MAX_ERRORS { usize::MAX } else { 0 }));
            CatErrorKind::Unknown { near: near.map(str::to_owned) }
        };
        self.wrong(scope, span, kind)
    }

    fn named(&mut self, name: &str, span: Span, scope: &Scope<'t>) -> Value {
        let parameters = match self.lookup(name, scope) {
            None => return self.unknown(name, span, scope),
            Some(Value::Function(number)) => {
                let parameters = self.functions[number].definition.parameters.as_deref().unwrap_or_default();
                parameters.iter().map(|p| p.name.clone()).collect()
            }
            Some(Value::Builtin(builtin)) => vec![if builtin == Builtin::ToId { "S" } else { "r" }.to_owned()],
            Some(value) => return value,
        };
        self.wrong(scope, span, CatErrorKind::FunctionAsValue { parameters })
    }

    fn call(&mut self, name: &'t Ident, arguments: &'t [Expr], span: Span, scope: &mut Scope<'t>) -> Value {
        let not_one = |found: usize| CatErrorKind::Arguments { name: name.name.clone(), wanted: 1, found };
        match self.lookup(&name.name, scope) {
            Some(Value::Builtin(builtin)) => {
                let [argument] = arguments else { return self.wrong(scope, span, not_one(arguments.len())) };
                let of = match builtin {
                    Builtin::ToId => {
                        let set = self.set(argument, scope, builtin.name());
                        return set.map_or(Value::Wrong, |set| self.identity(set, span, scope));
                    }
                    Builtin::Domain => self.relation(argument, scope, builtin.name()).map(Node::Domain),
                    Builtin::Range => self.relation(argument, scope, builtin.name()).map(Node::Range),
                };
                of.map_or(Value::Wrong, |node| self.made(node, span, scope, ""))
            }
            Some(Value::Function(number)) => {
                let arguments: Vec<Value> = arguments.iter().map(|a| self.value(a, scope)).collect();
                self.apply(number, arguments, span, scope)
            }
            found => {
                for argument in arguments {
                    self.value(argument, scope);
                }
                let not_function = |sort| CatErrorKind::NotFunction { name: name.name.clone(), sort };
                match found {
                    None => self.unknown(&name.name, name.span, scope),
                    Some(Value::Set(_)) => self.wrong(scope, span, not_function(Sort::Set)),
                    Some(Value::Relation(_)) => self.wrong(scope, span, not_function(Sort::Relation)),
                    Some(_) => Value::Wrong,
                }
            }
        }
    }

    /// A function with arguments put in the place of its parameters.
    fn apply(&mut self, number: usize, arguments: Vec<Value>, span: Span, scope: &Scope<'t>) -> Value {
        let Function { definition, scope: inside } = &self.functions[number];
        let (definition, mut inside) = (*definition, inside.clone());
        let parameters = definition.parameters.as_deref().unwrap_or_default();
        if parameters.len() != arguments.len() {
            let (name, wanted, found) = (definition.name.name.clone(), parameters.len(), arguments.len());
            return self.wrong(scope, span, CatErrorKind::Arguments { name, wanted, found });
        }
        inside.call = scope.call.or(Some((self.loaded.files[scope.file].id, span)));
        inside.locals.extend(parameters.iter().map(|p| p.name.as_str()).zip(arguments.iter().copied()));
        let called = (number, arguments, self.builder.group());
        if let Some(value) = self.called.get(&called) {
            return *value;
        }
        let value = self.value(&definition.body, &mut inside);
        self.called.insert(called, value);
        value
    }
}

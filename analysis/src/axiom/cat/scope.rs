//! What names stand for, and where.

use super::tree::Definition;
use crate::axiom::model::NodeId;
use crate::base::{FileId, Span};
use indexmap::IndexMap;

/// A function that every model has: of one argument.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Builtin {
    Domain,
    Range,
    ToId,
}

impl Builtin {
    const ALL: [(&'static str, Self); 3] = [("domain", Self::Domain), ("range", Self::Range), ("toid", Self::ToId)];

    pub(super) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, b)| *b == self).map_or("", |(name, _)| name)
    }
}

/// What a name stands for, or an expression: then it is no function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Value {
    Set(NodeId),
    Relation(NodeId),
    /// A function, by its number.
    Function(usize),
    Builtin(Builtin),
    /// Something that was complained of, or that is not known: an argument of a function that nobody has called yet.
    Wrong,
}

impl Value {
    pub(super) const fn node(self) -> Option<NodeId> {
        match self {
            Self::Set(node) | Self::Relation(node) => Some(node),
            _ => None,
        }
    }
}

/// A function: its definition, and what could be seen there.
#[derive(Debug)]
pub(super) struct Function<'t> {
    pub(super) definition: &'t Definition,
    pub(super) scope: Scope<'t>,
}

/// What can be seen at a place.
#[derive(Clone, Debug)]
pub(super) struct Scope<'t> {
    /// The index of the file.
    pub(super) file: usize,
    /// Definitions outside of functions and expressions: so many from the start.
    pub(super) before: usize,
    /// Whether a definition here is one of those.
    pub(super) global: bool,
    /// Parameters, and definitions inside expressions: the last of a name counts.
    pub(super) locals: Vec<(&'t str, Value)>,
    /// The call, outside of functions, by which this is looked at.
    pub(super) call: Option<(FileId, Span)>,
    /// The function whose definition this is in.
    pub(super) defining: Option<&'t str>,
}

impl Scope<'_> {
    /// Where a statement of a file stands, with so many definitions before it.
    pub(super) const fn top(file: usize, before: usize) -> Self {
        Self { file, before, global: true, locals: Vec::new(), call: None, defining: None }
    }
}

/// The definitions outside of functions and expressions. Each has a number, so that what was defined before another can be found
/// however often a name is defined.
#[derive(Default)]
pub(super) struct Definitions<'t> {
    values: Vec<Value>,
    by_name: IndexMap<&'t str, Vec<usize>>,
}

impl<'t> Definitions<'t> {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// All names.
    pub(super) fn names(&self) -> impl Iterator<Item = &'t str> {
        self.by_name.keys().copied()
    }

    /// Defines a name in a scope. Gives what [`Definitions::change`] needs.
    pub(super) fn bind(&mut self, scope: &mut Scope<'t>, name: &'t str, value: Value) -> usize {
        if !scope.global {
            scope.locals.push((name, value));
            return scope.locals.len() - 1;
        }
        self.by_name.entry(name).or_default().push(self.values.len());
        self.values.push(value);
        scope.before = self.values.len();
        scope.before - 1
    }

    /// Changes what a name stands for.
    pub(super) fn change(&mut self, scope: &mut Scope<'t>, bound: usize, value: Value) {
        if scope.global {
            self.values[bound] = value;
        } else {
            scope.locals[bound].1 = value;
        }
    }

    /// What a name stands for in a scope, if it was defined there.
    pub(super) fn lookup(&self, scope: &Scope<'t>, name: &str) -> Option<Value> {
        if let Some((_, value)) = scope.locals.iter().rev().find(|(local, _)| *local == name) {
            return Some(*value);
        }
        let visible = self.by_name.get(name).and_then(|all| {
            let before = all.partition_point(|number| *number < scope.before);
            before.checked_sub(1).map(|last| self.values[all[last]])
        });
        visible.or_else(|| Builtin::ALL.iter().find(|(word, _)| *word == name).map(|(_, b)| Value::Builtin(*b)))
    }
}

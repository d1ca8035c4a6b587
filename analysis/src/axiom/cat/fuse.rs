//! Models whose atomic read-modify-writes are one event each (D-cat-fused), as those of OpenCL are.
//!
//! Executions have a read and a write for one, which `rmw` relates. Such a model is made to speak of both alike: what is said of either is
//! said of both. Say that two events are the same if they are equal or the two halves of one operation. Then every set that is made here
//! has both halves or neither, and every relation that has a pair has all pairs of what is the same: base sets and relations are made
//! so, `[S]` and `r?` relate what is the same instead of what is equal, and the other operations keep it so. A pair of one event with itself
//! stands for a pair of one operation with itself, so all axioms mean what they say.

use super::lower::Lowering;
use super::names::Sort;
use super::scope::{Scope, Value};
use crate::axiom::model::{Node, NodeId};
use crate::base::Span;

/// Relations of which only what relates different operations is meant, wherever `rmw`'s halves would be related as well.
const APART: &[&str] = &["po", "po-loc", "loc", "vloc", "fr", "addr", "data", "ctrl", "ext"];

impl<'t> Lowering<'t> {
    /// A node that is made of others. What is made here takes nothing away that is recursive: only limits refuse it.
    fn node(&mut self, node: Node, scope: &Scope<'t>) -> Option<NodeId> {
        self.made(node, Span::default(), scope, "").node()
    }

    fn rmw(&mut self, scope: &Scope<'t>) -> Option<NodeId> {
        self.base("rmw", Sort::Relation, scope).node()
    }

    /// Which events are the same.
    fn same(&mut self, scope: &Scope<'t>) -> Option<NodeId> {
        let rmw = self.rmw(scope)?;
        let back = self.node(Node::Inverse(rmw), scope)?;
        let either = self.node(Node::Union(rmw, back), scope)?;
        self.node(Node::Optional(either), scope)
    }

    /// `[S]`.
    pub(super) fn identity(&mut self, set: NodeId, span: Span, scope: &Scope<'t>) -> Value {
        let identity = self.made(Node::Identity(set), span, scope, "");
        if !self.names.fused() {
            return identity;
        }
        let same = self.same(scope);
        match identity.node().zip(same) {
            Some((identity, same)) => self.made(Node::Sequence(identity, same), span, scope, ""),
            None => Value::Wrong,
        }
    }

    /// `r?`.
    pub(super) fn optional(&mut self, of: NodeId, span: Span, scope: &Scope<'t>) -> Value {
        if !self.names.fused() {
            return self.made(Node::Optional(of), span, scope, "");
        }
        match self.same(scope) {
            Some(same) => self.made(Node::Union(of, same), span, scope, ""),
            None => Value::Wrong,
        }
    }

    /// What a name stands for that executions give.
    pub(super) fn given(&mut self, name: &str, sort: Sort, scope: &Scope<'t>) -> Value {
        if !self.names.fused() {
            return self.base(name, sort, scope);
        }
        let made = match (name, sort) {
            ("unv", _) => self.node(Node::Universe, scope).and_then(|all| self.node(Node::Product(all, all), scope)),
            ("id", _) => self.same(scope),
            (_, Sort::Set) => self.whole_set(name, scope),
            (_, Sort::Relation) => self.whole_relation(name, scope),
        };
        match made {
            Some(node) if sort == Sort::Set => Value::Set(node),
            Some(node) => Value::Relation(node),
            None => Value::Wrong,
        }
    }

    /// A base set: an operation reads and writes as its halves do, and is otherwise what its write is. So a compare-exchange has one order where it
    /// succeeds, another one where it fails (D-rsp-update).
    fn whole_set(&mut self, name: &str, scope: &Scope<'t>) -> Option<NodeId> {
        let set = self.base(name, Sort::Set, scope).node()?;
        let rmw = self.rmw(scope)?;
        let these = self.node(Node::Identity(set), scope)?;
        if name == "R" {
            let after = self.node(Node::Sequence(these, rmw), scope)?;
            let writes = self.node(Node::Range(after), scope)?;
            return self.node(Node::SetUnion(set, writes), scope);
        }
        let before = self.node(Node::Sequence(rmw, these), scope)?;
        let reads = self.node(Node::Domain(before), scope)?;
        let halves = self.node(Node::Domain(rmw), scope)?;
        let others = self.node(Node::SetDifference(set, halves), scope)?;
        self.node(Node::SetUnion(others, reads), scope)
    }

    fn whole_relation(&mut self, name: &str, scope: &Scope<'t>) -> Option<NodeId> {
        let relation = self.base(name, Sort::Relation, scope).node()?;
        let same = self.same(scope)?;
        let first = self.node(Node::Sequence(same, relation), scope)?;
        let whole = self.node(Node::Sequence(first, same), scope)?;
        if APART.contains(&name) { self.node(Node::Difference(whole, same), scope) } else { Some(whole) }
    }
}

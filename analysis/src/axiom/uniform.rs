//! A model as it is where no accesses overlap in part: without what it says of their parts.
//!
//! A model that knows parts says in many places that what orders an operation orders all of it. Where every access is one event this says
//! nothing, and would cost time at each step of a search: `parts` and `mixed` are empty, `parts?` is the identity, and what is
//! made of them follows.

use super::model::{Axiom, Claim, Model, Node, NodeId, Role};
use super::program::Program;
use indexmap::IndexSet;
use std::borrow::Cow;

/// What a node comes to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Folded {
    /// Nothing is in it.
    Empty,
    /// Each event with itself.
    Same,
    /// A node of the new model.
    Node(NodeId),
}

/// The model as it is for a program: without what it says of parts, where there are none.
pub(super) fn fitting<'m>(program: &dyn Program, model: &'m Model) -> Cow<'m, Model> {
    if program.in_parts() { Cow::Borrowed(model) } else { Cow::Owned(uniform(model)) }
}

/// The model without what it says of parts. One with recursive definitions is left as it is: that is right, too.
pub(super) fn uniform(model: &Model) -> Model {
    let gone = |name: &String| name == "parts" || name == "mixed";
    let Some(empty) = model.relations.iter().position(gone).filter(|_| model.groups.is_empty()) else {
        return model.clone();
    };
    let mut folder = Folder { empty: u32::try_from(empty).unwrap_or(u32::MAX), nodes: IndexSet::new() };
    let mut all: Vec<Folded> = Vec::with_capacity(model.nodes.len());
    for node in &model.nodes {
        let folded = match node {
            Node::BaseRelation(name) if model.relations.get(*name as usize).is_some_and(gone) => Folded::Empty,
            _ => folder.fold(node, &all),
        };
        all.push(folded);
    }
    let says = |axiom: &&Axiom| {
        let kept = axiom.role == Role::Axiom && axiom.negated || axiom.role == Role::Flag && !axiom.negated;
        kept || match all[axiom.of.index()] {
            Folded::Empty => false,
            Folded::Same => axiom.claim != Claim::Empty || axiom.role == Role::Flag,
            Folded::Node(_) => true,
        }
    };
    let mut axioms: Vec<Axiom> = model.axioms.iter().filter(says).cloned().collect();
    let mut moved = |of: &mut NodeId| *of = folder.node(all[of.index()]);
    axioms.iter_mut().for_each(|axiom| moved(&mut axiom.of));
    let mut named = |list: &[(String, NodeId)]| -> Vec<(String, NodeId)> {
        let one = |(name, of): &(String, NodeId)| (name.clone(), folder.node(all[of.index()]));
        list.iter().map(one).collect()
    };
    let (shows, names) = (named(&model.shows), named(&model.names));
    let nodes: Vec<Node> = folder.nodes.into_iter().collect();
    let is_relation = nodes.iter().map(Node::is_relation).collect();
    Model { nodes, is_relation, axioms, shows, names, ..model.clone() }
}

struct Folder {
    /// The relation that is empty.
    empty: u32,
    nodes: IndexSet<Node>,
}

impl Folder {
    fn add(&mut self, node: Node) -> NodeId {
        NodeId(u32::try_from(self.nodes.insert_full(node).0).unwrap_or(u32::MAX))
    }

    /// As a node.
    fn node(&mut self, folded: Folded) -> NodeId {
        match folded {
            Folded::Empty => self.add(Node::BaseRelation(self.empty)),
            Folded::Same => {
                let all = self.add(Node::Universe);
                self.add(Node::Identity(all))
            }
            Folded::Node(node) => node,
        }
    }

    fn fold(&mut self, node: &Node, all: &[Folded]) -> Folded {
        use Folded as F;
        let of = |id: NodeId| all[id.index()];
        match *node {
            Node::Union(a, b) if of(a) == F::Empty => of(b),
            Node::Union(a, b) if of(b) == F::Empty => of(a),
            Node::Intersection(a, b) if of(a) == F::Empty || of(b) == F::Empty => F::Empty,
            Node::Difference(a, _) if of(a) == F::Empty => F::Empty,
            Node::Difference(a, b) if of(b) == F::Empty => of(a),
            Node::Sequence(a, b) if of(a) == F::Empty || of(b) == F::Empty => F::Empty,
            Node::Sequence(a, b) if of(a) == F::Same => of(b),
            Node::Sequence(a, b) if of(b) == F::Same => of(a),
            Node::Inverse(a) | Node::Plus(a) if !matches!(of(a), F::Node(_)) => of(a),
            Node::Optional(a) if !matches!(of(a), F::Node(_)) => F::Same,
            _ => {
                let mut places = Vec::new();
                for operand in node.operands() {
                    places.push((operand, self.node(of(operand))));
                }
                let to = |id: NodeId| places.iter().find(|(from, _)| *from == id).map_or(id, |(_, to)| *to);
                F::Node(self.add(node.mapped(to)))
            }
        }
    }
}

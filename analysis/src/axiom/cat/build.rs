//! Makes the nodes of a model: equal expressions are one node, and the nodes of a recursive group lie side by side.

use super::error::MAX_NODES;
use crate::axiom::model::{Group, Model, Node, NodeId};
use crate::base::sort;
use indexmap::IndexSet;
use rustc_hash::FxHashMap;

/// Why a node cannot be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refusal {
    /// It would take away what a recursive definition that is being made defines.
    NotMonotone,
    /// It depends on two recursive definitions one of which is inside the other.
    Nested,
    /// There are too many.
    TooMany,
}

/// A recursive group that is being made.
struct Open {
    number: u32,
    names: Vec<NodeId>,
    /// Its nodes so far.
    nodes: Vec<NodeId>,
}

/// A model in the making. Its numbers of nodes are in the order in which they are made; [`Builder::finish`] lays them out.
#[derive(Default)]
pub(super) struct Builder {
    nodes: Vec<Node>,
    /// The group that each node is of: it depends on the group's names and was made while the group was.
    of: Vec<Option<u32>>,
    /// Nodes by what they are and the group they are of.
    known: FxHashMap<(Node, Option<u32>), NodeId>,
    open: Vec<Open>,
    begun: u32,
    /// The nodes as they will lie.
    order: Vec<NodeId>,
    groups: Vec<Group>,
    pub(super) sets: IndexSet<String>,
    pub(super) relations: IndexSet<String>,
}

impl Builder {
    /// The number of the innermost group that is being made.
    pub(super) fn group(&self) -> Option<u32> {
        self.open.last().map(|open| open.number)
    }

    /// The open group that a node is of.
    fn open_group(&self, node: NodeId) -> Option<u32> {
        self.of[node.index()].filter(|g| self.open.iter().any(|open| open.number == *g))
    }

    fn push(&mut self, node: Node, group: Option<u32>) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node);
        self.of.push(group);
        match self.open.iter_mut().find(|open| Some(open.number) == group) {
            Some(open) => open.nodes.push(id),
            None => self.order.push(id),
        }
        id
    }

    /// The node that is this.
    pub(super) fn node(&mut self, node: Node) -> Result<NodeId, Refusal> {
        let node = in_order(node);
        let mut group = None;
        for operand in node.operands() {
            match (group, self.open_group(operand)) {
                (Some(one), Some(other)) if one != other => return Err(Refusal::Nested),
                (_, found) => group = group.or(found),
            }
        }
        if let Node::Difference(_, taken) | Node::SetDifference(_, taken) = node
            && self.open_group(taken).is_some()
        {
            return Err(Refusal::NotMonotone);
        }
        if let Some(id) = self.known.get(&(node.clone(), group)) {
            return Ok(*id);
        }
        if self.nodes.len() >= MAX_NODES {
            return Err(Refusal::TooMany);
        }
        let id = self.push(node.clone(), group);
        self.known.insert((node, group), id);
        Ok(id)
    }

    /// Begins a group of so many names, which are these nodes.
    pub(super) fn begin(&mut self, names: usize) -> Vec<NodeId> {
        let number = self.begun;
        self.begun += 1;
        self.open.push(Open { number, names: Vec::new(), nodes: Vec::new() });
        let names: Vec<NodeId> = (0..u32::try_from(names).unwrap_or(u32::MAX))
            .map(|k| self.push(Node::Recursive(k), Some(number)))
            .collect();
        if let Some(open) = self.open.last_mut() {
            open.names.clone_from(&names);
        }
        names
    }

    /// Ends the innermost group, whose names are equal to these. Gives what the names are: its own nodes, or the bodies where
    /// none of them depends on the group.
    pub(super) fn end(&mut self, bodies: Vec<NodeId>) -> Result<Vec<NodeId>, Refusal> {
        let outer = |builder: &Self, body: NodeId| builder.open_group(body).is_some_and(|g| Some(g) != builder.group());
        let nested = bodies.iter().any(|body| outer(self, *body));
        let depends = bodies.iter().any(|body| self.open_group(*body).is_some());
        let Some(open) = self.open.pop() else { return Ok(bodies) };
        if nested {
            return Err(Refusal::Nested);
        }
        if !depends {
            return Ok(bodies);
        }
        // Any group that is still open stands before this one: it does not depend on that.
        self.order.extend(&open.nodes);
        let (first, last) = (open.nodes[0], open.nodes[open.nodes.len() - 1]);
        self.groups.push(Group { names: open.names.clone(), bodies, first, last });
        Ok(open.names)
    }

    /// Gives up the innermost group.
    pub(super) fn abandon(&mut self) {
        self.open.pop();
    }

    /// The nodes, laid out; and where each node that was made lies.
    pub(super) fn finish(self, model: &mut Model) -> impl Fn(NodeId) -> NodeId + use<> {
        let mut places = vec![NodeId(0); self.nodes.len()];
        for (place, id) in self.order.iter().enumerate() {
            places[id.index()] = NodeId(u32::try_from(place).unwrap_or(u32::MAX));
        }
        let place = move |id: NodeId| places[id.index()];
        model.nodes = self.order.iter().map(|id| self.nodes[id.index()].mapped(&place)).collect();
        model.is_relation = model.nodes.iter().map(Node::is_relation).collect();
        let all = |ids: &[NodeId]| ids.iter().map(|id| place(*id)).collect();
        let group = |g: &Group| Group {
            names: all(&g.names),
            bodies: all(&g.bodies),
            first: place(g.first),
            last: place(g.last),
        };
        model.groups = self.groups.iter().map(group).collect();
        sort::sort_by_key(&mut model.groups, |g| g.first);
        model.sets = self.sets.into_iter().collect();
        model.relations = self.relations.into_iter().collect();
        place
    }
}

/// The same with operands in order where that does not matter.
fn in_order(node: Node) -> Node {
    match node {
        Node::SetUnion(a, b) => Node::SetUnion(a.min(b), a.max(b)),
        Node::SetIntersection(a, b) => Node::SetIntersection(a.min(b), a.max(b)),
        Node::Union(a, b) => Node::Union(a.min(b), a.max(b)),
        Node::Intersection(a, b) => Node::Intersection(a.min(b), a.max(b)),
        other => other,
    }
}

//! Models as data: what a cat file comes to once its names are resolved. A definition that occurs several times is one node.

use crate::base::Span;

/// The number of a node of a [`Model`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    /// As an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node is: a set or a relation, of nodes with smaller numbers. Each operation says what its operands are.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// A set that executions give: the index of its name in [`Model::sets`].
    BaseSet(u32),
    /// A relation that executions give: the index of its name in [`Model::relations`].
    BaseRelation(u32),
    /// A set: all events, `_`.
    Universe,
    /// A set: what is in one of two.
    SetUnion(NodeId, NodeId),
    /// A set: what is in both.
    SetIntersection(NodeId, NodeId),
    /// A set: what is in the first only.
    SetDifference(NodeId, NodeId),
    /// A set: the events that a relation begins with.
    Domain(NodeId),
    /// A set: the events that a relation ends with.
    Range(NodeId),
    /// A relation of two sets: `A * B`.
    Product(NodeId, NodeId),
    /// A relation of a set: `[A]`.
    Identity(NodeId),
    /// A relation: `r | s`.
    Union(NodeId, NodeId),
    /// A relation: `r & s`.
    Intersection(NodeId, NodeId),
    /// A relation: `r \ s`.
    Difference(NodeId, NodeId),
    /// A relation: `r; s`.
    Sequence(NodeId, NodeId),
    /// A relation: `r^-1`.
    Inverse(NodeId),
    /// A relation: `r?`.
    Optional(NodeId),
    /// A relation: `r+`. (`r*` is `(r+)?`, `~r` is `_ * _ \ r`.)
    Plus(NodeId),
    /// A relation: a name of a `let rec` within its definitions: its index in the group. [`Group`] says what it is equal to.
    Recursive(u32),
}

/// A `let rec … and …`: the least relations that are equal to their definitions.
///
/// Its nodes are those from `first` to the largest of `bodies`; the `Recursive` nodes among them come first.
/// To compute: all names empty; the nodes in order; each name becomes its body; again until nothing changes. After that
/// [`Node::Recursive`] nodes hold the fixpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// The names, as `Recursive` nodes.
    pub names: Vec<NodeId>,
    /// What each is equal to.
    pub bodies: Vec<NodeId>,
    /// The first node of the group.
    pub first: NodeId,
    /// The last node of the group.
    pub last: NodeId,
}

/// What an axiom says of a relation or a set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Claim {
    /// A relation has no cycle.
    Acyclic,
    /// No event is related to itself.
    Irreflexive,
    /// Nothing is in it.
    Empty,
}

/// What it means that an axiom's claim does not hold.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// The execution is none of the model's.
    Axiom,
    /// The execution is flagged: `flag`, or `undefined_unless`.
    Flag,
}

/// An axiom or a flag.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Axiom {
    /// Its name: what stands after `as`, otherwise the text of its expression.
    pub name: String,
    /// Axiom or flag.
    pub role: Role,
    /// `~`: that the claim does not hold is what is wanted (of an axiom) or flagged (of a flag).
    pub negated: bool,
    /// What is claimed.
    pub claim: Claim,
    /// Of what.
    pub of: NodeId,
    /// The place in the file that has it.
    pub span: Span,
}

/// A memory model.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Model {
    /// Its name, e.g. `ptx-v7.5`.
    pub name: String,
    /// The names of sets that executions give.
    pub sets: Vec<String>,
    /// The names of relations that executions give.
    pub relations: Vec<String>,
    /// What it computes, in order.
    pub nodes: Vec<Node>,
    /// Whether each node is a relation (`true`) or a set.
    pub is_relation: Vec<bool>,
    /// Groups of recursive definitions, in order; they do not overlap or nest.
    pub groups: Vec<Group>,
    /// Axioms and flags, in the order of the file.
    pub axioms: Vec<Axiom>,
    /// What pictures show besides the base relations: name and node, in the order of the `show` lines.
    pub shows: Vec<(String, NodeId)>,
    /// Top-level definitions by name, the last of each name: for witnesses that tell what an edge is.
    pub names: Vec<(String, NodeId)>,
}

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

impl Node {
    /// The nodes that it is made of.
    pub fn operands(&self) -> impl Iterator<Item = NodeId> + use<> {
        let both = match *self {
            Self::BaseSet(_) | Self::BaseRelation(_) | Self::Universe | Self::Recursive(_) => [None, None],
            Self::Domain(a)
            | Self::Range(a)
            | Self::Identity(a)
            | Self::Inverse(a)
            | Self::Optional(a)
            | Self::Plus(a) => [Some(a), None],
            Self::SetUnion(a, b)
            | Self::SetIntersection(a, b)
            | Self::SetDifference(a, b)
            | Self::Product(a, b)
            | Self::Union(a, b)
            | Self::Intersection(a, b)
            | Self::Difference(a, b)
            | Self::Sequence(a, b) => [Some(a), Some(b)],
        };
        both.into_iter().flatten()
    }

    /// The same of other nodes.
    #[must_use]
    pub fn mapped(&self, to: impl Fn(NodeId) -> NodeId) -> Self {
        match *self {
            Self::BaseSet(_) | Self::BaseRelation(_) | Self::Universe | Self::Recursive(_) => self.clone(),
            Self::SetUnion(a, b) => Self::SetUnion(to(a), to(b)),
            Self::SetIntersection(a, b) => Self::SetIntersection(to(a), to(b)),
            Self::SetDifference(a, b) => Self::SetDifference(to(a), to(b)),
            Self::Domain(a) => Self::Domain(to(a)),
            Self::Range(a) => Self::Range(to(a)),
            Self::Product(a, b) => Self::Product(to(a), to(b)),
            Self::Identity(a) => Self::Identity(to(a)),
            Self::Union(a, b) => Self::Union(to(a), to(b)),
            Self::Intersection(a, b) => Self::Intersection(to(a), to(b)),
            Self::Difference(a, b) => Self::Difference(to(a), to(b)),
            Self::Sequence(a, b) => Self::Sequence(to(a), to(b)),
            Self::Inverse(a) => Self::Inverse(to(a)),
            Self::Optional(a) => Self::Optional(to(a)),
            Self::Plus(a) => Self::Plus(to(a)),
        }
    }

    /// Whether it is a relation; otherwise it is a set.
    #[must_use]
    pub const fn is_relation(&self) -> bool {
        !matches!(
            self,
            Self::BaseSet(_)
                | Self::Universe
                | Self::SetUnion(..)
                | Self::SetIntersection(..)
                | Self::SetDifference(..)
                | Self::Domain(_)
                | Self::Range(_)
        )
    }
}

/// A `let rec … and …`: the least relations that are equal to their definitions.
///
/// Its nodes are those from `first` to `last`; the `Recursive` nodes among them come first. (A body that does not
/// depend on the names lies before `first`; where there is none that does, there is no group.)
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
    /// Whether it speaks of atomic read-modify-writes as one event each, as OpenCL's models do (D-cat-fused); its nodes say of both halves the
    /// same then.
    pub fused: bool,
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

//! What a model says of one execution: the plainest reading of its nodes. Whoever decides faster is compared with this.

use super::model::{Axiom, Claim, Group, Model, Node, NodeId, Role};
use super::relation::{Relation, Set};

pub(super) mod chain;

/// An execution as a model sees it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bases {
    /// How many events there are.
    pub events: usize,
    /// What each set of [`Model::sets`] has, in that order.
    pub sets: Vec<Set>,
    /// What each relation of [`Model::relations`] has, in that order.
    pub relations: Vec<Relation>,
}

impl Bases {
    /// The bases of a model, by their names.
    pub fn named(
        model: &Model,
        events: usize,
        set: impl FnMut(&String) -> Set,
        relation: impl FnMut(&String) -> Relation,
    ) -> Self {
        let (sets, relations) = (model.sets.iter().map(set).collect(), model.relations.iter().map(relation).collect());
        Self { events, sets, relations }
    }
}

/// What a node is in an execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A set.
    Set(Set),
    /// A relation.
    Relation(Relation),
}

/// What shows that an axiom does not hold, or that a flag is raised.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Witness {
    /// Of what should be acyclic: a shortest cycle.
    Cycle(Vec<usize>),
    /// Of a set that should be empty, or of what should be irreflexive: an event.
    Event(usize),
    /// Of a relation that should be empty: a pair.
    Pair(usize, usize),
    /// Of what should not be so: that it is, of which no part can be shown.
    Holds,
}

/// An axiom that does not hold, or a flag that is raised.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding<'m> {
    /// The axiom or flag.
    pub axiom: &'m Axiom,
    /// What shows it.
    pub witness: Witness,
}

/// What the nodes of a model are in an execution.
#[derive(Clone, Debug)]
pub struct Evaluation<'m> {
    model: &'m Model,
    values: Vec<Value>,
}

impl<'m> Evaluation<'m> {
    /// Computes all nodes.
    #[must_use]
    pub fn of(model: &'m Model, bases: &Bases) -> Self {
        let mut this = Self { model, values: Vec::with_capacity(model.nodes.len()) };
        let mut groups = model.groups.iter().peekable();
        while this.values.len() < model.nodes.len() {
            let next = this.values.len();
            match groups.next_if(|group| group.first.index() == next) {
                Some(group) => this.least(group, bases),
                None => this.values.push(this.node(&model.nodes[next], bases)),
            }
        }
        this
    }

    /// Computes a group: its names are empty at first, and grow until they are equal to their definitions.
    fn least(&mut self, group: &Group, bases: &Bases) {
        let nodes = group.first.index()..=group.last.index();
        self.values.resize(group.last.index() + 1, Value::Relation(Relation::new(bases.events)));
        loop {
            for at in nodes.clone() {
                if !matches!(self.model.nodes[at], Node::Recursive(_)) {
                    self.values[at] = self.node(&self.model.nodes[at], bases);
                }
            }
            let bodies: Vec<Value> = group.bodies.iter().map(|body| self.values[body.index()].clone()).collect();
            let grown = group.names.iter().zip(&bodies).any(|(name, body)| self.values[name.index()] != *body);
            if !grown {
                break;
            }
            for (name, body) in group.names.iter().zip(bodies) {
                self.values[name.index()] = body;
            }
        }
    }

    /// A node's value, by those of the nodes that it is made of.
    fn node(&self, node: &Node, bases: &Bases) -> Value {
        let set = |id: NodeId| self.set(id);
        let relation = |id: NodeId| self.relation(id);
        match *node {
            Node::BaseSet(k) => Value::Set(bases.sets[k as usize].clone()),
            Node::BaseRelation(k) => Value::Relation(bases.relations[k as usize].clone()),
            Node::Universe => Value::Set(Set::full(bases.events)),
            Node::SetUnion(a, b) => Value::Set(changed(set(a), |it| it.add(&set(b)))),
            Node::SetIntersection(a, b) => Value::Set(changed(set(a), |it| it.keep(&set(b)))),
            Node::SetDifference(a, b) => Value::Set(changed(set(a), |it| it.take(&set(b)))),
            Node::Domain(a) => Value::Set(relation(a).domain()),
            Node::Range(a) => Value::Set(relation(a).range()),
            Node::Product(a, b) => Value::Relation(Relation::product(&set(a), &set(b))),
            Node::Identity(a) => Value::Relation(Relation::identity(&set(a))),
            Node::Union(a, b) => Value::Relation(changed(relation(a), |it| it.add(&relation(b)))),
            Node::Intersection(a, b) => Value::Relation(changed(relation(a), |it| it.keep(&relation(b)))),
            Node::Difference(a, b) => Value::Relation(changed(relation(a), |it| it.take(&relation(b)))),
            Node::Sequence(a, b) => Value::Relation(relation(a).then(&relation(b))),
            Node::Inverse(a) => Value::Relation(relation(a).inverse()),
            Node::Optional(a) => Value::Relation(relation(a).optional()),
            Node::Plus(a) => Value::Relation(relation(a).plus()),
            // A group begins with its names, which are not computed by themselves.
            Node::Recursive(_) => Value::Relation(Relation::new(bases.events)),
        }
    }

    /// A node's value.
    #[must_use]
    pub fn value(&self, node: NodeId) -> &Value {
        &self.values[node.index()]
    }

    /// The relation that a node is; of a set, each of its events with itself.
    #[must_use]
    pub fn relation(&self, node: NodeId) -> Relation {
        match self.value(node) {
            Value::Relation(relation) => relation.clone(),
            Value::Set(set) => Relation::identity(set),
        }
    }

    /// The set that a node is; of a relation, the events that it begins with.
    #[must_use]
    pub fn set(&self, node: NodeId) -> Set {
        match self.value(node) {
            Value::Set(set) => set.clone(),
            Value::Relation(relation) => relation.domain(),
        }
    }

    /// What a claim is refuted by, if it is.
    fn refuted(&self, claim: Claim, of: NodeId) -> Option<Witness> {
        match (claim, self.value(of)) {
            (Claim::Empty, Value::Set(set)) => set.iter().next().map(Witness::Event),
            (Claim::Empty, Value::Relation(r)) => r.iter().next().map(|(a, b)| Witness::Pair(a, b)),
            (Claim::Irreflexive, _) => self.relation(of).reflexive().next().map(Witness::Event),
            (Claim::Acyclic, _) => self.relation(of).cycle().map(Witness::Cycle),
        }
    }

    /// An axiom that does not hold, or a flag that is raised, with what shows it.
    fn finding(&self, axiom: &'m Axiom) -> Option<Finding<'m>> {
        let refuted = self.refuted(axiom.claim, axiom.of);
        // An axiom wants that its claim holds, a flag warns where it does; `~` turns either round.
        let fine_if_refuted = (axiom.role == Role::Axiom) == axiom.negated;
        let witness = match refuted {
            Some(witness) => (!fine_if_refuted).then_some(witness),
            None => fine_if_refuted.then_some(Witness::Holds),
        };
        witness.map(|witness| Finding { axiom, witness })
    }

    /// The first axiom that does not hold: the execution is none of the model's.
    #[must_use]
    pub fn failed(&self) -> Option<Finding<'m>> {
        self.model.axioms.iter().filter(|a| a.role == Role::Axiom).find_map(|axiom| self.finding(axiom))
    }

    /// The flags that are raised.
    #[must_use]
    pub fn flags(&self) -> Vec<Finding<'m>> {
        self.model.axioms.iter().filter(|a| a.role == Role::Flag).filter_map(|axiom| self.finding(axiom)).collect()
    }
}

/// A value after a change.
fn changed<T>(mut value: T, change: impl FnOnce(&mut T)) -> T {
    change(&mut value);
    value
}

#[cfg(test)]
mod agree;
#[cfg(test)]
mod fused;
#[cfg(test)]
mod naive;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod worlds;

//! Bounds of a model's relations while choices are open: the pairs that each has for certain and those that it may have; and what
//! the axioms then leave of the choices (the relation analysis of the paper's section 6.2, at each step of a search instead of once).
//!
//! Forwards, each node's bounds follow from those of its operands; a difference takes the other bound of its right side. Backwards,
//! pairs that an axiom forbids to a node are forbidden to its operands where the others have theirs for certain, down to the choices;
//! and what the right side of a difference must have, so that an axiom holds, is added there.
//!
//! Where more events may come, one number stands for all of them: it may be related to anything in any way.

use super::choices::{Choices, Conflict};
use super::cone::Cone;
use super::frame::{Base, Choice, Frame, base};
use super::model::{Axiom, Claim, Model, Node, NodeId, Role};
use super::relation::{Relation, Set};
use crate::base::mutant::{Mutant, on};
use std::rc::Rc;

/// The bounds of one kind of all nodes; a node is a set or a relation and leaves the other empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Side {
    pub(super) sets: Vec<Set>,
    pub(super) relations: Vec<Relation>,
}

/// What a model says of an execution.
pub(super) struct Judged {
    /// The first axiom that is broken has a pair, or something else.
    pub(super) failed: Option<Option<(usize, usize)>>,
    /// The flags that are raised.
    pub(super) flags: Vec<String>,
}

/// Certain pairs, or possible ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    Must,
    May,
}

/// The bounds of a model's nodes on the events of a frame.
#[derive(Debug)]
pub(super) struct Bounds<'m> {
    pub(super) model: &'m Model,
    pub(super) cone: &'m Cone,
    pub(super) frame: Rc<Frame>,
    pub(super) must: Side,
    pub(super) may: Side,
    /// Whether coherence orders all writes to a location.
    total: bool,
    /// Whether the possible pairs of flags are wanted.
    flags: bool,
    /// Whether nodes that no choice changes are computed.
    ready: bool,
    /// Whether each node has changed since its users were last computed.
    fresh: Vec<bool>,
}

/// Replaces a value; whether it is another one.
fn renew<T: PartialEq>(old: &mut T, new: T) -> bool {
    let changed = *old != new;
    *old = new;
    changed
}

impl<'m> Bounds<'m> {
    pub(super) fn new(model: &'m Model, cone: &'m Cone, frame: Rc<Frame>, total: bool, flags: bool) -> Self {
        let count = model.nodes.len();
        let empty = Side { sets: vec![Set::default(); count], relations: vec![Relation::default(); count] };
        Self {
            model,
            cone,
            frame,
            must: empty.clone(),
            may: empty,
            total,
            flags,
            ready: false,
            fresh: vec![true; count],
        }
    }

    const fn side(&self, bound: Bound) -> &Side {
        match bound {
            Bound::Must => &self.must,
            Bound::May => &self.may,
        }
    }

    fn wanted(&self, node: usize, bound: Bound) -> bool {
        match bound {
            Bound::Must => self.cone.must[node] || self.flags,
            Bound::May => self.cone.may[node] || (self.flags && self.cone.may_flags[node]),
        }
    }

    /// Whether a node's bounds may differ from those of the last time: it is a choice, or made of what has changed.
    fn changes(&self, node: usize) -> bool {
        !self.ready
            || match self.model.nodes[node] {
                Node::BaseRelation(name) => base(&self.model.relations[name as usize]) != Base::Static,
                _ => self.model.nodes[node].operands().any(|of| self.fresh[of.index()]),
            }
    }

    /// Narrows choices by the axioms until nothing more follows.
    pub(super) fn propagate(&mut self, choices: &mut Choices) -> Result<(), Conflict> {
        let frame = Rc::clone(&self.frame);
        loop {
            choices.settle(&frame, self.total)?;
            self.evaluate(choices);
            let before = choices.sum();
            self.push(choices)?;
            if choices.sum() == before {
                return Ok(());
            }
        }
    }

    /// Computes the bounds of all nodes that are looked at.
    fn evaluate(&mut self, choices: &Choices) {
        let mut node = 0;
        while node < self.model.nodes.len() {
            if let Some(group) = self.cone.groups[node] {
                node = self.evaluate_group(group, choices);
                continue;
            }
            self.fresh[node] = self.changes(node) && self.node(node, choices);
            node += 1;
        }
        self.ready = true;
    }

    /// Computes a node's bounds; whether they are others than before.
    fn node(&mut self, node: usize, choices: &Choices) -> bool {
        let mut changed = false;
        for bound in [Bound::Must, Bound::May] {
            if self.wanted(node, bound) {
                changed |= self.compute(node, bound, choices);
            }
        }
        changed
    }

    /// The least fixpoint of a group; answers the node after it.
    fn evaluate_group(&mut self, group: usize, choices: &Choices) -> usize {
        let group = &self.model.groups[group];
        let (first, last) = (group.first.index(), group.last.index());
        self.fresh[first..=last].fill(false);
        if !(first..=last).any(|node| self.changes(node)) {
            return last + 1;
        }
        self.fresh[first..=last].fill(true);
        let len = self.frame.len();
        for name in &group.names {
            self.must.relations[name.index()] = Relation::new(len);
            self.may.relations[name.index()] = Relation::new(len);
        }
        loop {
            for node in (first..=last).filter(|node| !matches!(self.model.nodes[*node], Node::Recursive(_))) {
                self.node(node, choices);
            }
            let mut changed = false;
            for (name, body) in group.names.iter().zip(&group.bodies) {
                for bound in [Bound::Must, Bound::May] {
                    if !self.wanted(name.index(), bound) {
                        continue;
                    }
                    let grown = self.side(bound).relations[body.index()].clone();
                    let side = if bound == Bound::Must { &mut self.must } else { &mut self.may };
                    changed |= side.relations[name.index()] != grown;
                    side.relations[name.index()] = grown;
                }
            }
            if !changed {
                return last + 1;
            }
        }
    }

    /// All events that a bound speaks of.
    pub(super) fn universe(&self, bound: Bound) -> Set {
        let mut all = Set::full(self.frame.len());
        if bound == Bound::Must && self.frame.open {
            all.remove(self.frame.events.len());
        }
        all
    }

    /// A base relation, to which events to come may be related in any way.
    fn with_later(&self, relation: &Relation, bound: Bound) -> Relation {
        let mut relation = relation.clone();
        if bound == Bound::May && self.frame.open {
            let later = self.frame.events.len();
            for event in 0..=later {
                relation.insert(event, later);
                relation.insert(later, event);
            }
        }
        relation
    }

    fn base_relation(&self, name: u32, bound: Bound, choices: &Choices) -> Relation {
        let chosen = |choice: Choice| {
            let it = choices.get(choice);
            if bound == Bound::Must { &it.must } else { &it.may }
        };
        match base(&self.model.relations[name as usize]) {
            Base::Static => self.with_later(&self.frame.relations[name as usize], bound),
            Base::Choice(choice) => self.with_later(chosen(choice), bound),
            Base::Fr => self.with_later(&chosen(Choice::Rf).inverse().then(chosen(Choice::Co)), bound),
        }
    }

    /// Computes a bound of a node; whether it is another one than before.
    fn compute(&mut self, node: usize, bound: Bound, choices: &Choices) -> bool {
        use Node as N;
        let (this, other) = match bound {
            Bound::Must => (&self.must, &self.may),
            Bound::May => (&self.may, &self.must),
        };
        let set = |id: NodeId| &this.sets[id.index()];
        let relation = |id: NodeId| &this.relations[id.index()];
        let with = |a: NodeId, change: &dyn Fn(&mut Relation)| {
            let mut all = relation(a).clone();
            change(&mut all);
            all
        };
        let with_set = |a: NodeId, change: &dyn Fn(&mut Set)| {
            let mut all = set(a).clone();
            change(&mut all);
            all
        };
        let later = self.frame.open && bound == Bound::May;
        enum Value {
            Set(Set),
            Relation(Relation),
        }
        let value = match self.model.nodes[node] {
            N::BaseSet(name) => {
                let mut all = self.frame.sets[name as usize].clone();
                if later {
                    all.insert(self.frame.events.len());
                }
                Value::Set(all)
            }
            N::Universe => Value::Set(self.universe(bound)),
            N::SetUnion(a, b) => Value::Set(with_set(a, &|all| all.add(set(b)))),
            N::SetIntersection(a, b) => Value::Set(with_set(a, &|all| all.keep(set(b)))),
            N::SetDifference(a, b) => Value::Set(with_set(a, &|all| all.take(&other.sets[b.index()]))),
            N::Domain(a) => Value::Set(relation(a).domain()),
            N::Range(a) => Value::Set(relation(a).range()),
            N::BaseRelation(name) => Value::Relation(self.base_relation(name, bound, choices)),
            N::Product(a, b) => Value::Relation(Relation::product(set(a), set(b))),
            N::Identity(a) => Value::Relation(Relation::identity(set(a))),
            N::Union(a, b) => Value::Relation(with(a, &|all| all.add(relation(b)))),
            N::Intersection(a, b) => Value::Relation(with(a, &|all| all.keep(relation(b)))),
            N::Difference(a, b) => {
                let taken = if on(Mutant::DifferenceOneSided) { this } else { other };
                Value::Relation(with(a, &|all| all.take(&taken.relations[b.index()])))
            }
            N::Sequence(a, b) => Value::Relation(relation(a).then(relation(b))),
            N::Inverse(a) => Value::Relation(relation(a).inverse()),
            N::Optional(a) => {
                let same = Relation::identity(&self.universe(bound));
                Value::Relation(with(a, &|all| all.add(&same)))
            }
            // Coherence is kept closed: what may not be in it is not in its closure either.
            N::Plus(a) if self.is_co(a) => Value::Relation(relation(a).clone()),
            N::Plus(a) => Value::Relation(relation(a).plus()),
            N::Recursive(_) => return false,
        };
        let side = if bound == Bound::Must { &mut self.must } else { &mut self.may };
        match value {
            Value::Set(value) => renew(&mut side.sets[node], value),
            Value::Relation(value) => renew(&mut side.relations[node], value),
        }
    }

    pub(super) fn is_co(&self, node: NodeId) -> bool {
        match self.model.nodes[node.index()] {
            Node::BaseRelation(name) => base(&self.model.relations[name as usize]) == Base::Choice(Choice::Co),
            _ => false,
        }
    }

    pub(super) fn axioms(&self) -> impl Iterator<Item = &'m Axiom> {
        self.model.axioms.iter().filter(|axiom| axiom.role == Role::Axiom && !axiom.negated)
    }

    /// Judges choices none of which is open.
    pub(super) fn judge(&mut self, choices: &Choices) -> Judged {
        self.evaluate(choices);
        let so = |axiom: &&Axiom| {
            let node = axiom.of.index();
            // Both bounds are the same now, but of a flag only the one is computed that tells whether it may be raised.
            let side = if axiom.role == Role::Flag && axiom.negated { &self.may } else { &self.must };
            let relation = &side.relations[node];
            let holds = match axiom.claim {
                Claim::Empty if !self.model.is_relation[node] => side.sets[node].is_empty(),
                Claim::Empty => relation.is_empty(),
                Claim::Irreflexive => relation.reflexive().next().is_none(),
                Claim::Acyclic => relation.plus().reflexive().next().is_none(),
            };
            holds != axiom.negated
        };
        let of = |role: Role| self.model.axioms.iter().filter(move |axiom| axiom.role == role);
        let failed =
            of(Role::Axiom).find(|axiom| !so(axiom)).map(|axiom| self.must.relations[axiom.of.index()].iter().next());
        let flags =
            if self.flags { of(Role::Flag).filter(so).map(|axiom| axiom.name.clone()).collect() } else { Vec::new() };
        Judged { failed, flags }
    }

    /// Whether a flag may still be raised with some of what is open. Only where flags are computed.
    pub(super) fn may_flag_of(&mut self, choices: &Choices) -> bool {
        self.evaluate(choices);
        self.may_flag()
    }

    /// Whether a flag may still be raised. Only where flags are computed.
    pub(super) fn may_flag(&self) -> bool {
        self.model.axioms.iter().filter(|axiom| axiom.role == Role::Flag).any(|axiom| {
            let node = axiom.of.index();
            let empty = match self.model.is_relation[node] {
                true => self.may.relations[node].is_empty(),
                false => self.may.sets[node].is_empty(),
            };
            !axiom.negated || axiom.claim != Claim::Empty || !empty
        })
    }
}

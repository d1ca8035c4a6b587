//! From what axioms forbid and require to what that leaves of the choices: the backward half of [`super::bounds`].

use super::bounds::{Bound, Bounds};
use super::choices::{Choices, Conflict};
use super::frame::{Base, base};
use super::model::{Claim, Node, NodeId};
use super::relation::{Relation, Set};
use crate::base::mutant::{Mutant, on};

impl Bounds<'_> {
    /// Narrows choices once by what is computed.
    pub(super) fn push(&self, choices: &mut Choices) -> Result<(), Conflict> {
        let len = self.frame.len();
        let count = self.model.nodes.len();
        let mut sweep = Sweep { bounds: self, forbidden: vec![None; count], required: vec![None; count] };
        for axiom in self.axioms().filter(|axiom| self.model.is_relation[axiom.of.index()]) {
            let node = axiom.of.index();
            let relation = &self.must.relations[node];
            let all = Set::full(len);
            let forbidden = match axiom.claim {
                Claim::Empty => Relation::product(&all, &all),
                Claim::Irreflexive => Relation::identity(&all),
                Claim::Acyclic => relation.plus().inverse().optional(),
            };
            if forbidden.meets(relation) {
                return Err(Conflict);
            }
            if self.cone.dynamic[node] {
                sweep.forbid(axiom.of, forbidden);
            }
        }
        for axiom in self.axioms().filter(|axiom| !self.model.is_relation[axiom.of.index()]) {
            if !self.must.sets[axiom.of.index()].is_empty() {
                return Err(Conflict);
            }
        }
        for node in (0..count).rev() {
            sweep.enter(node);
            sweep.node(node, choices)?;
        }
        Ok(())
    }
}

/// A walk from the axioms to the choices.
struct Sweep<'a, 'm> {
    bounds: &'a Bounds<'m>,
    /// Pairs that a node must not have.
    forbidden: Vec<Option<Relation>>,
    /// Pairs that a node must have.
    required: Vec<Option<Relation>>,
}

impl Sweep<'_, '_> {
    fn note(list: &mut [Option<Relation>], node: NodeId, pairs: Relation) {
        match &mut list[node.index()] {
            Some(all) => all.add(&pairs),
            none => *none = Some(pairs),
        }
    }

    fn forbid(&mut self, node: NodeId, pairs: Relation) {
        if self.bounds.cone.dynamic[node.index()] && self.bounds.cone.must[node.index()] && !pairs.is_empty() {
            Self::note(&mut self.forbidden, node, pairs);
        }
    }

    fn require(&mut self, node: NodeId, pairs: Relation) {
        if self.bounds.cone.may[node.index()] && !pairs.is_empty() {
            Self::note(&mut self.required, node, pairs);
        }
    }

    fn must(&self, node: NodeId) -> &Relation {
        &self.bounds.must.relations[node.index()]
    }

    fn may(&self, node: NodeId) -> &Relation {
        &self.bounds.may.relations[node.index()]
    }

    /// Before the last node of a group: what is asked of its names is asked of their definitions. What these then ask of the names
    /// is left out: once around says enough.
    fn enter(&mut self, node: usize) {
        let groups = &self.bounds.model.groups;
        for group in groups.iter().filter(|group| group.last.index() == node) {
            for (name, body) in group.names.iter().zip(&group.bodies) {
                if let Some(pairs) = self.forbidden[name.index()].take() {
                    self.forbid(*body, pairs);
                }
                if let Some(pairs) = self.required[name.index()].take() {
                    self.require(*body, pairs);
                }
            }
        }
    }

    fn node(&mut self, node: usize, choices: &mut Choices) -> Result<(), Conflict> {
        if let Some(pairs) = self.forbidden[node].take() {
            self.forbidden_of(node, &pairs, choices)?;
        }
        if let Some(mut pairs) = self.required[node].take() {
            // Nothing is known of events to come.
            if self.bounds.frame.open {
                let known = self.bounds.universe(Bound::Must);
                pairs.keep(&Relation::product(&known, &known));
            }
            if !pairs.within(&self.bounds.may.relations[node]) {
                return Err(Conflict);
            }
            self.required_of(node, &pairs, choices)?;
        }
        Ok(())
    }

    fn forbidden_of(&mut self, node: usize, pairs: &Relation, choices: &mut Choices) -> Result<(), Conflict> {
        use Node as N;
        let both = |a: &Relation| {
            let mut pairs = pairs.clone();
            pairs.keep(a);
            pairs
        };
        match self.bounds.model.nodes[node] {
            N::BaseRelation(name) => match base(&self.bounds.model.relations[name as usize]) {
                Base::Choice(choice) => {
                    let it = choices.get_mut(choice);
                    it.may.take(pairs);
                    it.check()?;
                }
                Base::Fr => self.forbidden_fr(pairs, choices),
                Base::Static => {}
            },
            N::Union(a, b) => {
                self.forbid(a, pairs.clone());
                self.forbid(b, pairs.clone());
            }
            N::Intersection(a, b) => {
                let (one, two) = (both(self.must(b)), both(self.must(a)));
                self.forbid(a, one);
                self.forbid(b, two);
            }
            N::Difference(a, b) => {
                let mut rest = pairs.clone();
                rest.take(self.may(b));
                self.forbid(a, rest);
                self.require(b, both(self.must(a)));
            }
            N::Sequence(a, b) => {
                let one = if self.bounds.cone.dynamic[a.index()] {
                    let mutant = on(Mutant::SequenceBackwards);
                    pairs.then(&if mutant { self.must(b).clone() } else { self.must(b).inverse() })
                } else {
                    Relation::default()
                };
                let two = if self.bounds.cone.dynamic[b.index()] {
                    self.must(a).inverse().then(pairs)
                } else {
                    Relation::default()
                };
                self.forbid(a, one);
                self.forbid(b, two);
            }
            N::Inverse(a) => self.forbid(a, pairs.inverse()),
            N::Optional(a) => self.forbid(a, pairs.clone()),
            N::Plus(a) => {
                let star = self.bounds.must.relations[node].optional().inverse();
                self.forbid(a, star.then(pairs).then(&star));
            }
            _ => {}
        }
        Ok(())
    }

    fn forbidden_fr(&self, pairs: &Relation, choices: &mut Choices) {
        let co = choices.rf.must.then(pairs);
        let rf = choices.co.must.then(&pairs.inverse());
        choices.co.may.take(&co);
        choices.rf.may.take(&rf);
    }

    fn required_of(&mut self, node: usize, pairs: &Relation, choices: &mut Choices) -> Result<(), Conflict> {
        use Node as N;
        let without = |a: &Relation| {
            let mut pairs = pairs.clone();
            pairs.take(a);
            pairs
        };
        match self.bounds.model.nodes[node] {
            N::BaseRelation(name) => {
                if let Base::Choice(choice) = base(&self.bounds.model.relations[name as usize]) {
                    let it = choices.get_mut(choice);
                    it.must.add(pairs);
                    it.check()?;
                }
            }
            N::Union(a, b) => {
                let (one, two) = (without(self.may(b)), without(self.may(a)));
                self.require(a, one);
                self.require(b, two);
            }
            N::Intersection(a, b) => {
                self.require(a, pairs.clone());
                self.require(b, pairs.clone());
            }
            N::Inverse(a) => self.require(a, pairs.inverse()),
            // Coherence is closed: a pair of its closure is its own.
            N::Plus(a) if self.bounds.is_co(a) => self.require(a, pairs.clone()),
            _ => {}
        }
        Ok(())
    }
}

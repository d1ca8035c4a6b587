//! Bounds of a model's relations while choices are open: the pairs that each has for certain and those that it may have; and what
//! the axioms then leave of the choices (the relation analysis of the paper's section 6.2, at each step of a search instead of once).
//!
//! Forwards, each node's bounds follow from those of its operands; a difference takes the other bound of its right side. Backwards,
//! pairs that an axiom forbids to a node are forbidden to its operands where the others have theirs for certain, down to the choices;
//! and what the right side of a difference must have, so that an axiom holds, is added there.
//!
//! Where more events may come, one number stands for all of them: it may be related to anything in any way.

use super::cone::Cone;
use super::frame::{Base, Choice, Frame, base};
use super::model::{Axiom, Claim, Model, Node, NodeId, Role};
use super::relation::{Relation, Set};
use crate::base::mutant::{Mutant, on};
use std::rc::Rc;

/// No choice is left that would satisfy all axioms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Conflict;

/// What is known of a choice.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Interval {
    /// Its pairs.
    pub(super) must: Relation,
    /// Pairs that it may have, those of `must` among them.
    pub(super) may: Relation,
}

impl Interval {
    /// Whether a pair is open.
    pub(super) fn open(&self, a: usize, b: usize) -> bool {
        self.may.contains(a, b) && !self.must.contains(a, b)
    }

    /// Adds a pair.
    pub(super) fn fix(&mut self, a: usize, b: usize) -> Result<(), Conflict> {
        if !self.may.contains(a, b) {
            return Err(Conflict);
        }
        self.must.insert(a, b);
        Ok(())
    }

    /// Leaves a pair out.
    pub(super) fn drop(&mut self, a: usize, b: usize) -> Result<(), Conflict> {
        if self.must.contains(a, b) {
            return Err(Conflict);
        }
        self.may.remove(a, b);
        Ok(())
    }

    fn check(&self) -> Result<(), Conflict> {
        if self.must.within(&self.may) { Ok(()) } else { Err(Conflict) }
    }
}

/// What is known of all choices.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Choices {
    pub(super) rf: Interval,
    pub(super) co: Interval,
    pub(super) fences: Interval,
    pub(super) meetings: Interval,
}

impl Choices {
    /// Nothing is chosen yet.
    pub(super) fn of(frame: &Frame) -> Self {
        let none = Relation::new(frame.len());
        let open = |may: &Relation| Interval { must: none.clone(), may: may.clone() };
        let mut all = Self {
            rf: open(&frame.rf),
            co: open(&frame.co),
            fences: open(&frame.fences),
            meetings: open(&frame.meetings),
        };
        all.co.must = frame.begins.clone();
        all.meetings.must = frame.meetings.clone();
        for list in frame.late.iter().map(|(_, list)| list) {
            let all_of_them = Set::of(frame.len(), list.iter().copied());
            all.meetings.must.take(&Relation::product(&all_of_them, &all_of_them));
        }
        all
    }

    pub(super) const fn get(&self, choice: Choice) -> &Interval {
        match choice {
            Choice::Rf => &self.rf,
            Choice::Co => &self.co,
            Choice::Fences => &self.fences,
            Choice::Meetings => &self.meetings,
        }
    }

    const fn get_mut(&mut self, choice: Choice) -> &mut Interval {
        match choice {
            Choice::Rf => &mut self.rf,
            Choice::Co => &mut self.co,
            Choice::Fences => &mut self.fences,
            Choice::Meetings => &mut self.meetings,
        }
    }

    /// What follows from what the choices are: reads have one source, orders no cycles, a total one leaves no pair out.
    fn settle(&mut self, frame: &Frame, total: bool) -> Result<(), Conflict> {
        self.settle_rf(frame)?;
        let co = &mut self.co;
        co.must = co.must.plus();
        order(co, &co.must.clone(), total.then_some(&frame.co))?;
        let closure = self.fences.must.plus();
        order(&mut self.fences, &closure, Some(&frame.near))?;
        self.meetings.check()
    }

    fn settle_rf(&mut self, frame: &Frame) -> Result<(), Conflict> {
        // Nothing is done, and no place accessed, because of itself, whatever the model says (D-thin-air).
        let mut causes = frame.dep.clone();
        causes.add(&self.rf.must);
        let causes = causes.plus();
        if causes.reflexive().next().is_some() {
            return Err(Conflict);
        }
        self.rf.may.take(&causes.inverse());
        let (must, may) = (self.rf.must.inverse(), self.rf.may.inverse());
        for read in frame.rf.range().iter() {
            let mut chosen = must.from(read);
            if let Some(write) = chosen.next() {
                if chosen.next().is_some() {
                    return Err(Conflict);
                }
                let others: Vec<usize> = may.from(read).filter(|other| *other != write).collect();
                others.into_iter().for_each(|other| self.rf.may.remove(other, read));
            } else if !frame.open {
                let mut left = may.from(read);
                let only = left.next().ok_or(Conflict)?;
                let others = left.next().is_some();
                if others && on(Mutant::SourceLost) {
                    self.rf.may.remove(only, read);
                } else if !others {
                    self.rf.must.insert(only, read);
                }
            }
        }
        self.rf.check()
    }
}

/// What follows in an order: `closure` is what is so already; one of each two pairs of `total` is chosen.
fn order(it: &mut Interval, closure: &Relation, total: Option<&Relation>) -> Result<(), Conflict> {
    if closure.reflexive().next().is_some() {
        return Err(Conflict);
    }
    it.may.take(&closure.inverse());
    if let Some(total) = total {
        for (a, b) in total.iter() {
            if !it.may.contains(b, a) && !it.must.contains(a, b) {
                it.fix(a, b)?;
            }
        }
    }
    it.check()
}

/// The bounds of one kind of all nodes; a node is a set or a relation and leaves the other empty.
#[derive(Clone, Debug, Default)]
struct Side {
    sets: Vec<Set>,
    relations: Vec<Relation>,
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
enum Bound {
    Must,
    May,
}

/// The bounds of a model's nodes on the events of a frame.
#[derive(Debug)]
pub(super) struct Bounds<'m> {
    model: &'m Model,
    cone: &'m Cone,
    pub(super) frame: Rc<Frame>,
    must: Side,
    may: Side,
    /// Whether coherence orders all writes to a location.
    total: bool,
    /// Whether the possible pairs of flags are wanted.
    flags: bool,
    /// Whether nodes that no choice changes are computed.
    ready: bool,
}

impl<'m> Bounds<'m> {
    pub(super) fn new(model: &'m Model, cone: &'m Cone, frame: Rc<Frame>, total: bool, flags: bool) -> Self {
        let count = model.nodes.len();
        let empty = Side { sets: vec![Set::default(); count], relations: vec![Relation::default(); count] };
        Self { model, cone, frame, must: empty.clone(), may: empty, total, flags, ready: false }
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

    /// Whether a node's bounds differ from those of the last time.
    fn changes(&self, node: usize) -> bool {
        !self.ready || self.cone.dynamic[node]
    }

    /// Narrows choices by the axioms until nothing more follows.
    pub(super) fn propagate(&mut self, choices: &mut Choices) -> Result<(), Conflict> {
        let frame = Rc::clone(&self.frame);
        loop {
            choices.settle(&frame, self.total)?;
            self.evaluate(choices);
            let before = choices.clone();
            self.push(choices)?;
            if *choices == before {
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
            if self.changes(node) {
                self.node(node, choices);
            }
            node += 1;
        }
        self.ready = true;
    }

    fn node(&mut self, node: usize, choices: &Choices) {
        for bound in [Bound::Must, Bound::May] {
            if self.wanted(node, bound) {
                self.compute(node, bound, choices);
            }
        }
    }

    /// The least fixpoint of a group; answers the node after it.
    fn evaluate_group(&mut self, group: usize, choices: &Choices) -> usize {
        let group = &self.model.groups[group];
        let (first, last) = (group.first.index(), group.last.index());
        if !(first..=last).any(|node| self.changes(node)) {
            return last + 1;
        }
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
    fn universe(&self, bound: Bound) -> Set {
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

    fn compute(&mut self, node: usize, bound: Bound, choices: &Choices) {
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
            N::Recursive(_) => return,
        };
        let side = if bound == Bound::Must { &mut self.must } else { &mut self.may };
        match value {
            Value::Set(value) => side.sets[node] = value,
            Value::Relation(value) => side.relations[node] = value,
        }
    }

    fn is_co(&self, node: NodeId) -> bool {
        match self.model.nodes[node.index()] {
            Node::BaseRelation(name) => base(&self.model.relations[name as usize]) == Base::Choice(Choice::Co),
            _ => false,
        }
    }

    fn axioms(&self) -> impl Iterator<Item = &'m Axiom> {
        self.model.axioms.iter().filter(|axiom| axiom.role == Role::Axiom && !axiom.negated)
    }

    /// Narrows choices once by what is computed.
    fn push(&self, choices: &mut Choices) -> Result<(), Conflict> {
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

//! A model's nodes as relations in the making ([`Pairs`]), from the choices up, and its axioms as clauses over them.

use super::choices::World;
use super::cnf::{Bit, Formula, Needs, Term, term};
use super::pairs::Pairs;
use crate::axiom::frame::{Base, Choice, base};
use crate::axiom::model::{Claim, Group, Model, Node, NodeId, Role};
use crate::axiom::relation::{Relation, Set};
use petgraph::graph::{DiGraph, NodeIndex};

/// Encodes a model.
pub(super) struct Encoder<'a, 'q> {
    pub(super) model: &'a Model,
    pub(super) world: &'a World,
    pub(super) formula: &'a mut Formula<'q>,
    needs: Vec<Needs>,
    nodes: Vec<Pairs>,
}

/// What of each node axioms look at; of flags, too, if one has to be raised.
fn needs(model: &Model, flagged: bool) -> Vec<Needs> {
    let mut needs = vec![Needs::default(); model.nodes.len()];
    for axiom in model.axioms.iter().filter(|axiom| axiom.role == Role::Axiom || flagged) {
        // What breaks an axiom must not be hidden, what raises a flag not be made up.
        let it = &mut needs[axiom.of.index()];
        if axiom.role == Role::Axiom && !axiom.negated { it.up = true } else { it.down = true }
    }
    loop {
        let before = needs.clone();
        for (k, node) in model.nodes.iter().enumerate().rev() {
            let differs = matches!(node, Node::SetDifference(..) | Node::Difference(..));
            for (n, of) in node.operands().enumerate() {
                let Needs { up, down } = needs[k];
                let (up, down) = if differs && n == 1 { (down, up) } else { (up, down) };
                let it = &mut needs[of.index()];
                *it = Needs { up: it.up || up, down: it.down || down };
            }
        }
        for (name, body) in model.groups.iter().flat_map(|group| group.names.iter().zip(&group.bodies)) {
            let of = needs[name.index()];
            let it = &mut needs[body.index()];
            *it = Needs { up: it.up || of.up, down: it.down || of.down };
        }
        if needs == before {
            return needs;
        }
    }
}

impl<'a, 'q> Encoder<'a, 'q> {
    pub(super) fn new(model: &'a Model, world: &'a World, formula: &'a mut Formula<'q>, flagged: bool) -> Self {
        let nodes = vec![Pairs::default(); model.nodes.len()];
        Self { model, world, formula, needs: needs(model, flagged), nodes }
    }

    /// Encodes the nodes, the axioms, and that a flag is raised if it has to be.
    pub(super) fn encode(&mut self, flagged: bool) {
        let mut node = 0;
        while node < self.nodes.len() && !self.formula.is_over() {
            match self.model.groups.iter().find(|group| group.first.index() == node) {
                Some(group) => {
                    self.group(group);
                    node = group.last.index() + 1;
                }
                None => {
                    self.node(node);
                    node += 1;
                }
            }
        }
        // Some nodes are not encoded then.
        if self.formula.is_over() {
            return;
        }
        self.no_thin_air();
        for axiom in self.model.axioms.iter().filter(|axiom| axiom.role == Role::Axiom) {
            let of = std::mem::take(&mut self.nodes[axiom.of.index()]);
            if axiom.negated {
                if let Some(terms) = self.refuting(axiom.claim, &of) {
                    self.formula.define(Bit::Yes, &terms, Needs { up: false, down: true });
                }
            } else {
                self.claim(axiom.claim, &of);
            }
            self.nodes[axiom.of.index()] = of;
        }
        if flagged {
            let flags = self.model.axioms.iter().filter(|axiom| axiom.role == Role::Flag);
            let raised = flags.map(|flag| match flag.negated {
                true => self.refuting(flag.claim, &self.nodes[flag.of.index()]),
                false => None,
            });
            // Of other flags only an execution shows whether they are raised.
            if let Some(terms) = raised.collect::<Option<Vec<Vec<Term>>>>() {
                self.formula.define(Bit::Yes, &terms.concat(), Needs { up: false, down: true });
            }
        }
    }

    /// Nothing is done, and no place accessed, because of itself, whatever the model says (D-thin-air).
    fn no_thin_air(&mut self) {
        let frame = &self.world.frame;
        let mut causes = self.world.rf.clone();
        frame.dep.iter().chain(frame.data.iter()).for_each(|(a, b)| causes.set(a, b, Bit::Yes));
        let causes = circles(&causes);
        let closure = self.plus(&causes, Needs { up: true, down: false });
        for (a, b) in frame.dep.iter() {
            self.formula.forbid([closure.get(b, a), self.world.done[a], self.world.done[b]]);
        }
    }

    /// What refutes a claim; none where that is not expressed.
    fn refuting(&self, claim: Claim, of: &Pairs) -> Option<Vec<Term>> {
        let diagonal = claim == Claim::Irreflexive;
        let some = |(a, b, bit)| term(&[bit, self.world.done[a], self.world.done[b]]);
        match claim {
            Claim::Acyclic => None,
            _ => Some(of.iter().filter(|(a, b, _)| a == b || !diagonal).filter_map(some).collect()),
        }
    }

    /// A claim holds.
    fn claim(&mut self, claim: Claim, of: &Pairs) {
        let world = self.world;
        match claim {
            Claim::Empty => of.iter().for_each(|(a, b, bit)| self.formula.forbid([bit, world.done[a], world.done[b]])),
            Claim::Irreflexive => {
                let events = (0..world.frame.events.len()).filter(|event| of.may.contains(*event, *event));
                events.for_each(|event| self.formula.forbid([of.get(event, event), world.done[event]]));
            }
            Claim::Acyclic => {
                let on_cycles = circles(of);
                let closure = self.plus(&on_cycles, Needs { up: true, down: false });
                self.claim(Claim::Irreflexive, &closure);
            }
        }
    }

    fn of(&self, node: NodeId) -> &Pairs {
        &self.nodes[node.index()]
    }

    /// A base relation.
    fn base(&mut self, name: u32, needs: Needs) -> Pairs {
        let world = self.world;
        match base(&self.model.relations[name as usize]) {
            Base::Static => Pairs::fixed(world.frame.relations[name as usize].clone()),
            Base::Choice(choice) => world.choice(choice).clone(),
            Base::Fr => self.sequence(&world.rf.inverse(), &world.co, needs),
        }
    }

    /// Whether a node is an order that is closed already.
    fn is_closed(&self, node: NodeId) -> bool {
        match self.model.nodes[node.index()] {
            Node::BaseRelation(name) => {
                matches!(base(&self.model.relations[name as usize]), Base::Choice(Choice::Co | Choice::Fences))
            }
            _ => false,
        }
    }

    fn node(&mut self, node: usize) {
        use Node as N;
        let needs = self.needs[node];
        if !needs.up && !needs.down {
            return;
        }
        let world = self.world;
        let len = world.frame.events.len();
        let operands: Vec<Pairs> = match self.model.nodes[node] {
            N::Recursive(_) => return,
            _ => self.model.nodes[node].operands().map(|of| self.of(of).clone()).collect(),
        };
        self.nodes[node] = match self.model.nodes[node] {
            N::BaseSet(name) => Pairs::fixed(Relation::identity(&world.frame.sets[name as usize])),
            N::Universe => Pairs::fixed(Relation::identity(&Set::full(len))),
            N::BaseRelation(name) => self.base(name, needs),
            N::SetUnion(..) | N::Union(..) => self.union(&operands[0], &operands[1], needs),
            N::SetIntersection(..) | N::Intersection(..) => self.intersection(&operands[0], &operands[1], needs),
            N::SetDifference(..) | N::Difference(..) => self.difference(&operands[0], &operands[1], needs),
            N::Domain(_) => self.domain(&operands[0], needs),
            N::Range(_) => self.domain(&operands[0].inverse(), needs),
            N::Product(..) => self.product(&operands[0], &operands[1], needs),
            N::Identity(_) => operands[0].clone(),
            N::Sequence(..) => self.sequence(&operands[0], &operands[1], needs),
            N::Inverse(_) => operands[0].inverse(),
            N::Optional(_) => {
                let mut all = operands[0].clone();
                (0..len).for_each(|event| all.set(event, event, Bit::Yes));
                all
            }
            N::Plus(of) if self.is_closed(of) => operands[0].clone(),
            N::Plus(_) => self.plus(&operands[0], needs),
            N::Recursive(_) => return,
        };
    }

    fn union(&mut self, one: &Pairs, two: &Pairs, needs: Needs) -> Pairs {
        let mut all = one.clone();
        for (a, b, bit) in two.iter() {
            let some = [one.get(a, b), bit].iter().filter_map(|bit| term(&[*bit])).collect();
            all.set(a, b, self.formula.some(some, needs));
        }
        all
    }

    fn intersection(&mut self, one: &Pairs, two: &Pairs, needs: Needs) -> Pairs {
        let mut may = one.may.clone();
        may.keep(&two.may);
        let mut all = Pairs::new(may.events());
        for (a, b) in may.iter() {
            all.set(a, b, self.formula.both(&[one.get(a, b), two.get(a, b)], needs));
        }
        all
    }

    fn difference(&mut self, one: &Pairs, two: &Pairs, needs: Needs) -> Pairs {
        let mut all = Pairs::new(one.may.events());
        for (a, b, bit) in one.iter() {
            all.set(a, b, self.formula.both(&[bit, !two.get(a, b)], needs));
        }
        all
    }

    fn domain(&mut self, of: &Pairs, needs: Needs) -> Pairs {
        let mut all = Pairs::new(of.may.events());
        for a in of.may.domain().iter() {
            let terms = of.may.from(a).filter_map(|b| term(&[of.get(a, b), self.world.through(a, b, a)]));
            let terms = terms.collect();
            all.set(a, a, self.formula.some(terms, needs));
        }
        all
    }

    fn product(&mut self, one: &Pairs, two: &Pairs, needs: Needs) -> Pairs {
        let mut all = Pairs::new(one.may.events());
        for (a, _, from) in one.iter() {
            for (b, _, to) in two.iter().filter(|(b, ..)| self.world.compatible.contains(a, *b)) {
                all.set(a, b, self.formula.both(&[from, to], needs));
            }
        }
        all
    }

    fn sequence(&mut self, one: &Pairs, two: &Pairs, needs: Needs) -> Pairs {
        let world = self.world;
        let len = one.may.events();
        if one.is_fixed() && two.is_fixed() && world.straight {
            return Pairs::fixed(one.must.then(&two.must));
        }
        let mut all = Pairs::new(len);
        let mut terms: Vec<Vec<Term>> = vec![Vec::new(); len];
        for a in 0..len {
            for b in one.may.from(a) {
                let first = one.get(a, b);
                for c in two.may.from(b).filter(|c| world.compatible.contains(a, *c)) {
                    terms[c].extend(term(&[first, two.get(b, c), world.through(a, b, c)]));
                }
            }
            if !self.formula.goes_on(terms.iter().map(Vec::len).sum()) {
                break;
            }
            for (c, terms) in terms.iter_mut().enumerate().filter(|(_, terms)| !terms.is_empty()) {
                all.set(a, c, self.formula.some(std::mem::take(terms), needs));
            }
        }
        all
    }

    /// The closure of a relation: each of its pairs is one of it, or one after another of it.
    fn plus(&mut self, of: &Pairs, needs: Needs) -> Pairs {
        let world = self.world;
        let len = of.may.events();
        if of.is_fixed() && world.straight {
            return Pairs::fixed(of.must.plus());
        }
        let mut all = Pairs::fixed(world.closed(&of.must));
        let mut may = of.may.plus();
        may.keep(&world.compatible);
        may.take(&all.must);
        for (a, b) in may.iter() {
            let fresh = Bit::If(self.formula.fresh());
            all.set(a, b, fresh);
        }
        for a in 0..len {
            for c in may.from(a) {
                let mut terms: Vec<Term> = term(&[of.get(a, c)]).into_iter().collect();
                for b in of.may.from(a).filter(|b| all.may.contains(*b, c)) {
                    terms.extend(term(&[of.get(a, b), all.get(b, c), world.through(a, b, c)]));
                }
                let this = all.get(a, c);
                if !self.formula.goes_on(terms.len()) {
                    return all;
                }
                // What would follow from itself says nothing.
                terms.retain(|term| !term.iter().any(|lit| Bit::If(*lit) == this));
                self.formula.define(this, &terms, needs);
            }
        }
        all
    }

    /// The least relations that are equal to their definitions: names for what they may have, and what follows from what.
    fn group(&mut self, group: &Group) {
        let (first, last) = (group.first.index(), group.last.index());
        let mut named = vec![false; last + 1];
        for node in first..=last {
            let it = &self.model.nodes[node];
            named[node] = matches!(it, Node::Recursive(_)) || it.operands().any(|of| named[of.index()]);
            if !named[node] {
                self.node(node);
            }
        }
        let within: Vec<usize> = (first..=last).filter(|node| named[*node] && self.is_needed(*node)).collect();
        self.upper(group, &within);
        for name in group.names.iter().filter(|name| within.contains(&name.index())) {
            let may = std::mem::take(&mut self.nodes[name.index()]).may;
            let mut all = Pairs::new(may.events());
            for (a, b) in may.iter() {
                let fresh = Bit::If(self.formula.fresh());
                all.set(a, b, fresh);
            }
            self.nodes[name.index()] = all;
        }
        within.iter().for_each(|node| self.node(*node));
        for (name, body) in group.names.iter().zip(&group.bodies) {
            let (name_of, needs) = (&self.nodes[name.index()], self.needs[name.index()]);
            for (a, b, this) in name_of.iter() {
                let terms: Vec<Term> = term(&[self.nodes[body.index()].get(a, b)]).into_iter().collect();
                self.formula.define(this, &terms, needs);
            }
        }
    }

    fn is_needed(&self, node: usize) -> bool {
        self.needs[node].up || self.needs[node].down
    }

    /// Sets the nodes of a group to their upper bounds.
    fn upper(&mut self, group: &Group, within: &[usize]) {
        let len = self.world.frame.events.len();
        within.iter().for_each(|node| self.nodes[*node] = Pairs::new(len));
        loop {
            let mut changed = false;
            for node in within {
                if let Some(mut may) = self.upper_of(&self.model.nodes[*node]) {
                    may.keep(&self.world.compatible);
                    self.nodes[*node].may = may;
                }
            }
            for (name, body) in group.names.iter().zip(&group.bodies).filter(|(name, _)| within.contains(&name.index()))
            {
                let grown = self.of(*body).may.clone();
                let it = &mut self.nodes[name.index()].may;
                changed |= *it != grown;
                *it = grown;
            }
            if !changed {
                return;
            }
        }
    }

    /// What a node may have, as far as that follows from what its operands may.
    fn upper_of(&self, node: &Node) -> Option<Relation> {
        use Node as N;
        let of = |id: NodeId| &self.of(id).may;
        let with = |a: NodeId, change: &dyn Fn(&mut Relation)| {
            let mut all = of(a).clone();
            change(&mut all);
            all
        };
        let ends = |all: &Relation| Relation::identity(&all.domain());
        Some(match *node {
            N::Recursive(_) | N::BaseSet(_) | N::BaseRelation(_) | N::Universe => return None,
            N::SetUnion(a, b) | N::Union(a, b) => with(a, &|all| all.add(of(b))),
            N::SetIntersection(a, b) | N::Intersection(a, b) => with(a, &|all| all.keep(of(b))),
            N::SetDifference(a, b) | N::Difference(a, b) => with(a, &|all| all.take(&self.of(b).must)),
            N::Identity(a) => of(a).clone(),
            N::Domain(a) => ends(of(a)),
            N::Range(a) => ends(&of(a).inverse()),
            N::Product(a, b) => Relation::product(&of(a).domain(), &of(b).domain()),
            N::Sequence(a, b) => of(a).then(of(b)),
            N::Inverse(a) => of(a).inverse(),
            N::Optional(a) => of(a).optional(),
            N::Plus(a) => of(a).plus(),
        })
    }
}

/// What of a relation may be on a cycle.
fn circles(of: &Pairs) -> Pairs {
    let len = of.may.events();
    let mut graph = DiGraph::<(), ()>::new();
    let nodes: Vec<NodeIndex> = (0..len).map(|_| graph.add_node(())).collect();
    of.may.iter().for_each(|(a, b)| {
        graph.update_edge(nodes[a], nodes[b], ());
    });
    let mut parts = vec![0; len];
    for (k, part) in petgraph::algo::tarjan_scc(&graph).into_iter().enumerate() {
        part.into_iter().for_each(|node| parts[node.index()] = k);
    }
    let mut all = Pairs::new(len);
    of.iter().filter(|(a, b, _)| parts[*a] == parts[*b]).for_each(|(a, b, bit)| all.set(a, b, bit));
    all
}

//! Who is who along the steps of a graph in which agents that are alike are not told apart (D-symmetry).
//!
//! A state stands for all in which alike agents have changed places, so that a step leads to one of these: a way of places goes
//! with it. Somebody who is followed along the steps of a part of the graph comes to certain places in certain states, and as the
//! part is strongly connected, from each of these to all others: that is a role. A run can stay in the part and be fair to
//! everybody exactly if in each role somebody steps somewhere, or is not able to (E. A. Emerson and A. P. Sistla, "Utilizing
//! Symmetry when Model-Checking under Fairness Assumptions", 1997). Agents that nothing tells apart in a state are in one role
//! there.

use super::graph::{Edge, Graph};
use super::left::Unit;
use super::units::Units;
use crate::base::LaneMask;
use crate::verdict::LimitKind;

/// Places of steps between two questions whether there is time left: a launch may have thousands.
const PATIENCE: usize = 1 << 20;

/// Why to go on no longer, asked now and then.
type Up<'u> = &'u dyn Fn() -> Option<LimitKind>;

/// The roles of a part of a graph.
pub(super) struct Parted<'a> {
    graph: &'a Graph,
    part: &'a [u32],
    /// For each row of first places: which of its kinds each place is of.
    kinds: Vec<Box<[u16]>>,
    /// Where the kinds of each state begin in what follows.
    begins: Vec<u32>,
    /// For each kind of each state one of its role.
    above: Vec<u32>,
    /// By role: the lanes that step in it.
    steps: Vec<LaneMask>,
}

impl<'a> Parted<'a> {
    /// Of a part that is strongly connected; its states are in ascending order.
    ///
    /// # Errors
    /// What `up` says ends it.
    pub fn of(graph: &'a Graph, part: &'a [u32], up: Up<'_>) -> Result<Self, LimitKind> {
        let followed = graph.followed();
        let kinds: Vec<Box<[u16]>> = followed.rows().map(kinds).collect();
        let (mut begins, mut count) = (Vec::with_capacity(part.len()), 0);
        for state in part {
            begins.push(count);
            let of = kinds.get(followed.row(*state)).and_then(|kinds| kinds.iter().max());
            count += of.map_or(1, |last| u32::from(*last) + 1);
        }
        let mut new = Self { graph, part, kinds, begins, above: (0..count).collect(), steps: vec![0; count as usize] };
        new.inside(up, |new, from, to, (edge, _)| {
            let way = followed.way(edge);
            if way.is_none() && from == to {
                return;
            }
            for place in 0..new.places(from) {
                let goes = way.and_then(|way| way.get(place)).map_or(place, |goes| usize::from(*goes));
                new.join(new.node(from, place), new.node(to, goes));
            }
        })?;
        new.inside(up, |new, from, _, (_, step)| {
            if let Unit::Lanes(_, place, lanes) = graph.unit(step) {
                let role = new.role(new.node(from, place as usize));
                new.steps[role] |= lanes;
            }
        })?;
        Ok(new)
    }

    /// Each step within the part: from which of its states to which.
    fn inside(
        &mut self,
        up: Up<'_>,
        mut see: impl FnMut(&mut Self, usize, usize, (u32, &Edge)),
    ) -> Result<(), LimitKind> {
        let (graph, part) = (self.graph, self.part);
        let mut left = PATIENCE;
        for (from, state) in part.iter().enumerate() {
            for step in graph.numbered(*state) {
                left = left.saturating_sub(self.places(from));
                if left == 0 {
                    left = PATIENCE;
                    up().map_or(Ok(()), Err)?;
                }
                if let Ok(to) = part.binary_search(&step.1.to) {
                    see(self, from, to, step);
                }
            }
        }
        Ok(())
    }

    /// How many places there are in a state of the part.
    fn places(&self, at: usize) -> usize {
        self.kinds.get(self.graph.followed().row(self.part[at])).map_or(1, |kinds| kinds.len())
    }

    /// The kind of a place in a state of the part.
    fn node(&self, at: usize, place: usize) -> usize {
        let kinds = self.kinds.get(self.graph.followed().row(self.part[at]));
        self.begins[at] as usize + kinds.and_then(|kinds| kinds.get(place)).map_or(0, |kind| usize::from(*kind))
    }

    fn role(&mut self, node: usize) -> usize {
        let mut at = node;
        while self.above[at] as usize != at {
            let up = self.above[at] as usize;
            self.above[at] = self.above[up];
            at = up;
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.role(a), self.role(b));
        self.above[a.max(b)] = self.above[a.min(b)];
    }

    /// Whether somebody is able to step all the while, and never does; `able`: who is, in a state, as far as that is promised.
    pub fn starves(&mut self, able: &mut dyn FnMut(u32) -> Units) -> bool {
        let mut always: Vec<LaneMask> = vec![!0; self.above.len()];
        self.each(able, |of, _, role, lanes| always[role] &= lanes & !of.steps[role]);
        (0..self.above.len()).any(|node| self.above[node] as usize == node && always[node] != 0)
    }

    /// The states in which nobody is able to step who never does.
    pub fn rest(&mut self, able: &mut dyn FnMut(u32) -> Units) -> Vec<u32> {
        let mut vain = vec![false; self.part.len()];
        self.each(able, |of, at, role, lanes| vain[at] |= lanes & !of.steps[role] != 0);
        self.part.iter().zip(vain).filter(|(_, vain)| !vain).map(|(state, _)| *state).collect()
    }

    /// Every kind of every state: its role, and the lanes that are able to step there.
    fn each(&mut self, able: &mut dyn FnMut(u32) -> Units, mut see: impl FnMut(&Self, usize, usize, LaneMask)) {
        let mut here: Vec<LaneMask> = Vec::new();
        for at in 0..self.part.len() {
            let begin = self.begins[at] as usize;
            let end = self.begins.get(at + 1).map_or(self.above.len(), |end| *end as usize);
            here.clear();
            here.resize(end - begin, 0);
            able(self.part[at]).lanes().for_each(|(place, lanes)| here[self.node(at, place as usize) - begin] |= lanes);
            for (node, lanes) in (begin..end).zip(&here) {
                let role = self.role(node);
                see(self, at, role, *lanes);
            }
        }
    }
}

/// Numbers for the places of a row: equal ones where nothing tells them apart.
fn kinds(firsts: &[u16]) -> Box<[u16]> {
    let mut kinds: Vec<u16> = Vec::with_capacity(firsts.len());
    let mut next = 0;
    for (place, first) in firsts.iter().enumerate() {
        let known = kinds.get(usize::from(*first)).copied().filter(|_| usize::from(*first) < place);
        kinds.push(known.unwrap_or(next));
        next += u16::from(known.is_none());
    }
    kinds.into()
}

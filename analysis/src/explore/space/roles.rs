//! Who is who along the steps of a graph in which agents that are alike are not told apart (D-symmetry).
//!
//! A state stands for all in which alike agents have changed places, so that a step leads to one of these: a way of places goes
//! with it. Somebody who is followed along the steps of a part of the graph comes to certain places in certain states, and as the
//! part is strongly connected, from each of these to all others: that is a role. A run can stay in the part and be fair to
//! everybody exactly if in each role somebody steps somewhere, or is not able to (E. A. Emerson and A. P. Sistla, "Utilizing
//! Symmetry when Model-Checking under Fairness Assumptions", 1997). Agents that nothing tells apart in a state are in one role
//! there.

use super::graph::Graph;
use super::left::Unit;
use super::units::Units;
use crate::base::LaneMask;

/// The roles of a part of a graph.
pub(super) struct Parted<'a> {
    graph: &'a Graph,
    part: &'a [u32],
    width: usize,
    /// For each place in each state of the part, one of its role.
    above: Vec<u32>,
    /// By role: the lanes that step in it.
    steps: Vec<LaneMask>,
}

impl<'a> Parted<'a> {
    /// Of a part that is strongly connected; its states are in ascending order.
    pub fn of(graph: &'a Graph, part: &'a [u32]) -> Self {
        let followed = graph.followed();
        let width = part.iter().map(|state| followed.firsts(*state).len()).max().unwrap_or(0).max(1);
        let count = part.len() * width;
        let above = (0..u32::try_from(count).unwrap_or(u32::MAX)).collect();
        let mut new = Self { graph, part, width, above, steps: vec![0; count] };
        for (from, state) in part.iter().enumerate() {
            for (edge, step) in graph.numbered(*state) {
                let Ok(to) = part.binary_search(&step.to) else { continue };
                for (place, goes) in followed.way(edge).iter().enumerate() {
                    new.join(new.node(from, place), new.node(to, usize::from(*goes)));
                }
            }
        }
        for (from, state) in part.iter().enumerate() {
            for (_, step) in graph.numbered(*state).filter(|(_, step)| part.binary_search(&step.to).is_ok()) {
                if let Unit::Lanes(_, place, lanes) = graph.unit(step) {
                    let role = new.role(new.node(from, place as usize));
                    new.steps[role] |= lanes;
                }
            }
        }
        new
    }

    /// The place in a state of the part, or the first that nothing tells from it.
    fn node(&self, at: usize, place: usize) -> usize {
        let first = self.graph.followed().firsts(self.part[at]).get(place).map_or(place, |first| usize::from(*first));
        at * self.width + first.min(self.width - 1)
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
        self.above[a.max(b)] = u32::try_from(a.min(b)).unwrap_or(u32::MAX);
    }

    /// Whether somebody is able to step all the while, and never does; `able`: who is, in a state, as far as that is promised.
    pub fn starves(&mut self, able: &mut dyn FnMut(u32) -> Units) -> bool {
        let mut always: Vec<LaneMask> = vec![!0; self.above.len()];
        self.each(able, |of, _, role, lanes| always[role] &= lanes & !of.steps[role]);
        (0..self.above.len()).any(|node| self.above[node] as usize == node && self.is_used(node) && always[node] != 0)
    }

    /// Whether a node is a place of a state, and the first of its kind there.
    fn is_used(&self, node: usize) -> bool {
        let (at, place) = (node / self.width, node % self.width);
        self.graph.followed().firsts(self.part[at]).get(place).is_some_and(|first| usize::from(*first) == place)
    }

    /// The states in which nobody is able to step who never does.
    pub fn rest(&mut self, able: &mut dyn FnMut(u32) -> Units) -> Vec<u32> {
        let mut vain = vec![false; self.part.len()];
        self.each(able, |of, at, role, lanes| vain[at] |= lanes & !of.steps[role] != 0);
        self.part.iter().zip(vain).filter(|(_, vain)| !vain).map(|(state, _)| *state).collect()
    }

    /// Every place of every state: its role, and the lanes that are able to step there.
    fn each(&mut self, able: &mut dyn FnMut(u32) -> Units, mut see: impl FnMut(&Self, usize, usize, LaneMask)) {
        for at in 0..self.part.len() {
            let able = able(self.part[at]);
            for place in 0..self.width {
                let node = at * self.width + place;
                if self.is_used(node) {
                    let role = self.role(node);
                    see(self, at, role, able.at(u32::try_from(place).unwrap_or(u32::MAX)));
                }
            }
        }
    }
}

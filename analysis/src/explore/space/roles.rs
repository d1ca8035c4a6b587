//! Who is who along the steps of a graph in which agents that are alike are not told apart (D-symmetry).
//!
//! A state stands for all in which alike agents have changed places, so that a step leads to one of these: a way of places goes
//! with it. Somebody who is followed along the steps of a part of the graph comes to certain places in certain states, and as the
//! part is strongly connected, from each of these to all others: that is a role. A run can stay in the part and be fair to
//! everybody exactly if in each role somebody steps somewhere, or is not able to (E. A. Emerson and A. P. Sistla, "Utilizing
//! Symmetry when Model-Checking under Fairness Assumptions", 1997). Agents that nothing tells apart in a state are in one role
//! there.

use super::fair::Units;
use super::graph::Graph;
use super::left::Unit;
use crate::base::LaneMask;
use crate::base::mutant::{Mutant, on};
use crate::machine::walk::Roles;
use indexmap::IndexSet;
use serde::{Deserialize, Serialize};

/// Rows of places, each kept once.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Rows {
    all: IndexSet<Box<[u16]>>,
    bytes: usize,
}

impl Rows {
    fn number(&mut self, row: Box<[u16]>) -> u32 {
        let length = row.len();
        let (number, new) = self.all.insert_full(row);
        self.bytes += if new { length * size_of::<u16>() + 40 } else { 0 };
        u32::try_from(number).unwrap_or(u32::MAX)
    }

    fn get(&self, number: u32) -> &[u16] {
        self.all.get_index(number as usize).map_or(&[], |row| row)
    }
}

/// Who is who; empty where everybody is told apart.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Followed {
    /// Where each place leads, by step.
    ways: Rows,
    by_step: Vec<u32>,
    /// The first place of those that nothing tells apart, by state.
    firsts: Rows,
    by_state: Vec<u32>,
}

impl Followed {
    /// Whether everybody is told apart.
    pub const fn is_empty(&self) -> bool {
        self.by_state.is_empty()
    }

    /// Takes note of a step between states with these roles; `after` is none where it was not taken.
    pub fn step(&mut self, edge: u32, before: &Roles, after: Option<&Roles>) {
        let mut way: Box<[u16]> = (0..u16::try_from(before.place.len()).unwrap_or(u16::MAX)).collect();
        if let Some(after) = after.filter(|_| !on(Mutant::AlikeUnfollowed)) {
            for (from, to) in before.place.iter().zip(&after.place) {
                if let Some(place) = way.get_mut(usize::from(*from)) {
                    *place = *to;
                }
            }
        }
        put(&mut self.by_step, edge, self.ways.number(way));
    }

    /// Takes note of a state.
    pub fn state(&mut self, state: u32, roles: &Roles) {
        put(&mut self.by_state, state, self.firsts.number(roles.first.clone()));
    }

    /// Where the places of a step's state lead.
    fn way(&self, edge: u32) -> &[u16] {
        self.by_step.get(edge as usize).map_or(&[], |row| self.ways.get(*row))
    }

    /// The places of a state, by the first that nothing tells from them.
    fn firsts(&self, state: u32) -> &[u16] {
        self.by_state.get(state as usize).map_or(&[], |row| self.firsts.get(*row))
    }

    /// Bytes that it takes, about.
    pub const fn bytes(&self) -> usize {
        (self.by_step.capacity() + self.by_state.capacity()) * size_of::<u32>() + self.ways.bytes + self.firsts.bytes
    }

    /// Whether it is of a graph with so many states and steps.
    pub fn is_sound(&self, states: usize, steps: usize) -> bool {
        let width = self.firsts.all.iter().chain(&self.ways.all).map(|row| row.len()).max().unwrap_or(0);
        let rows = |rows: &Rows, by: &[u32], most: usize| {
            let within = |row: &Box<[u16]>| row.iter().all(|place| usize::from(*place) < width.max(1));
            rows.all.iter().all(within) && by.len() <= most && by.iter().all(|row| (*row as usize) < rows.all.len())
        };
        rows(&self.ways, &self.by_step, steps) && rows(&self.firsts, &self.by_state, states)
    }
}

fn put(list: &mut Vec<u32>, at: u32, number: u32) {
    if list.len() <= at as usize {
        list.resize(at as usize + 1, 0);
    }
    list[at as usize] = number;
}

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

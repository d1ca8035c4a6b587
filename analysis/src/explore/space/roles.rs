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
use std::cell::OnceCell;

/// Places of steps between two questions whether there is time left: a launch may have thousands.
const PATIENCE: usize = 1 << 20;

/// Why to go on no longer, asked now and then.
type Up<'u> = &'u dyn Fn() -> Option<LimitKind>;

/// Asks whether there is time left once so many places were gone through.
struct Patience<'u> {
    up: Up<'u>,
    left: usize,
}

impl<'u> Patience<'u> {
    const fn new(up: Up<'u>) -> Self {
        Self { up, left: PATIENCE }
    }

    /// So many places more.
    ///
    /// # Errors
    /// What says that the time is up.
    fn takes(&mut self, places: usize) -> Result<(), LimitKind> {
        // What has no places is work, too.
        self.left = self.left.saturating_sub(places + 1);
        if self.left > 0 {
            return Ok(());
        }
        self.left = PATIENCE;
        (self.up)().map_or(Ok(()), Err)
    }
}

/// For each row of first places of a graph, once a part of it has the row: which of its kinds each place is of, and how many
/// kinds there are.
pub(super) struct Kinds(Vec<OnceCell<(Box<[u16]>, u32)>>);

impl Kinds {
    /// Of a graph's rows.
    pub fn of(graph: &Graph) -> Self {
        Self(graph.followed().rows().map(|_| OnceCell::new()).collect())
    }

    /// Those of a state. Nobody is followed where there is no row.
    fn get(&self, graph: &Graph, state: u32) -> (&[u16], u32) {
        let row = graph.followed().row(state);
        let made = self.0.get(row).map(|cell| cell.get_or_init(|| kinds(graph.followed().firsts(state))));
        made.map_or((&[], 1), |(kinds, count)| (kinds, *count))
    }
}

/// The roles of a part of a graph.
pub(super) struct Parted<'a> {
    graph: &'a Graph,
    part: &'a [u32],
    kinds: &'a Kinds,
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
    pub fn of(graph: &'a Graph, part: &'a [u32], kinds: &'a Kinds, up: Up<'_>) -> Result<Self, LimitKind> {
        let followed = graph.followed();
        let (mut begins, mut count) = (Vec::with_capacity(part.len()), 0);
        let mut patience = Patience::new(up);
        for state in part {
            begins.push(count);
            let (places, of) = kinds.get(graph, *state);
            patience.takes(places.len())?;
            count += of;
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
        let mut patience = Patience::new(up);
        for (from, state) in part.iter().enumerate() {
            for step in graph.numbered(*state) {
                patience.takes(self.places(from))?;
                if let Ok(to) = part.binary_search(&step.1.to) {
                    see(self, from, to, step);
                }
            }
        }
        Ok(())
    }

    /// How many places there are in a state of the part.
    fn places(&self, at: usize) -> usize {
        self.kinds.get(self.graph, self.part[at]).0.len().max(1)
    }

    /// The kind of a place in a state of the part.
    fn node(&self, at: usize, place: usize) -> usize {
        let (kinds, _) = self.kinds.get(self.graph, self.part[at]);
        self.begins[at] as usize + kinds.get(place).map_or(0, |kind| usize::from(*kind))
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
    ///
    /// # Errors
    /// What `up` says ends it.
    pub fn starves(&mut self, able: &mut dyn FnMut(u32) -> Units, up: Up<'_>) -> Result<bool, LimitKind> {
        let mut always: Vec<LaneMask> = vec![!0; self.above.len()];
        self.each(able, up, |of, _, role, lanes| always[role] &= lanes & !of.steps[role])?;
        Ok((0..self.above.len()).any(|node| self.above[node] as usize == node && always[node] != 0))
    }

    /// The states in which nobody is able to step who never does.
    ///
    /// # Errors
    /// What `up` says ends it.
    pub fn rest(&mut self, able: &mut dyn FnMut(u32) -> Units, up: Up<'_>) -> Result<Vec<u32>, LimitKind> {
        let mut vain = vec![false; self.part.len()];
        self.each(able, up, |of, at, role, lanes| vain[at] |= lanes & !of.steps[role] != 0)?;
        Ok(self.part.iter().zip(vain).filter(|(_, vain)| !vain).map(|(state, _)| *state).collect())
    }

    /// Every kind of every state: its role, and the lanes that are able to step there.
    fn each(
        &mut self,
        able: &mut dyn FnMut(u32) -> Units,
        up: Up<'_>,
        mut see: impl FnMut(&Self, usize, usize, LaneMask),
    ) -> Result<(), LimitKind> {
        let mut here: Vec<LaneMask> = Vec::new();
        let mut patience = Patience::new(up);
        for at in 0..self.part.len() {
            patience.takes(self.places(at))?;
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
        Ok(())
    }
}

/// Numbers for the places of a row, equal ones where nothing tells them apart, and how many there are.
fn kinds(firsts: &[u16]) -> (Box<[u16]>, u32) {
    let mut kinds: Vec<u16> = Vec::with_capacity(firsts.len());
    let mut next: u16 = 0;
    for (place, first) in firsts.iter().enumerate() {
        let known = kinds.get(usize::from(*first)).copied().filter(|_| usize::from(*first) < place);
        kinds.push(known.unwrap_or(next));
        next += u16::from(known.is_none());
    }
    (kinds.into(), u32::from(next).max(1))
}

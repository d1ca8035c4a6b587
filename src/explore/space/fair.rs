//! Runs that never end: cycles of states that a fair scheduler can stay in.
//!
//! A run that never ends stays, from some point on, in one strongly connected part of the graph. It is weakly fair if
//! everybody who is promised progress steps in it or is now and then not able to, and strongly fair if everybody who is
//! able to now and then does. So a part with a step in it holds a weakly fair run exactly if nobody is promised progress
//! in all of its states without stepping in it; for strong fairness the states in which somebody waits in vain are taken
//! out, and what remains is looked at again (E. Clarke et al., "Model Checking", 6.3; D-progress).

use super::graph::{Graph, NONE, Unit};
use crate::base::LaneMask;
use crate::memory::OperationName;
use std::collections::BTreeMap;

/// What a scheduler promises.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fairness {
    /// Who is able to step from some point on does.
    Weak,
    /// Who is able to step again and again does.
    Strong,
}

/// A part of the graph in which a fair run never ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle {
    /// Its states, in ascending order.
    pub states: Vec<u32>,
    /// Whether a silent rule, which nobody promises, leads out of them.
    pub silent: bool,
}

/// Lanes by warp and operations, as sets.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Units {
    lanes: BTreeMap<(u64, u32), LaneMask>,
    operations: Vec<OperationName>,
}

impl Units {
    pub fn insert(&mut self, unit: Unit) {
        match unit {
            Unit::Lanes(block, warp, lanes) => *self.lanes.entry((block, warp)).or_default() |= lanes,
            Unit::Operation(n) if !self.operations.contains(&n) => self.operations.push(n),
            Unit::Operation(_) | Unit::Silent => {}
        }
    }

    fn retain(&mut self, with: &Self) {
        self.lanes.retain(|warp, lanes| {
            *lanes &= with.lanes.get(warp).copied().unwrap_or(0);
            *lanes != 0
        });
        self.operations.retain(|n| with.operations.contains(n));
    }

    fn without(&self, other: &Self) -> Self {
        let mut rest = self.clone();
        rest.lanes.retain(|warp, lanes| {
            *lanes &= !other.lanes.get(warp).copied().unwrap_or(0);
            *lanes != 0
        });
        rest.operations.retain(|n| !other.operations.contains(n));
        rest
    }

    fn is_empty(&self) -> bool {
        self.lanes.is_empty() && self.operations.is_empty()
    }

    /// The units of the blocks of a set.
    pub fn keep(&mut self, promised: impl Fn(u64, u32) -> bool) {
        self.lanes.retain(|(block, warp), _| promised(*block, *warp));
    }

    /// The first warp.
    pub fn lowest(&self) -> Option<(u64, u32)> {
        self.lanes.keys().next().copied()
    }
}

/// The parts of a graph in which a fair run never ends. `promised` reduces those who can step in a state to those whom the
/// scheduler promises progress there.
#[must_use]
pub fn cycles(graph: &Graph, fairness: Fairness, promised: &mut dyn FnMut(u32, &mut Promised<'_>)) -> Vec<Cycle> {
    let all: Vec<u32> = (0..u32::try_from(graph.states()).unwrap_or(0)).collect();
    let mut found = Vec::new();
    let mut parts = components(graph, &all);
    while let Some(part) = parts.pop() {
        let inside = |state: u32| part.binary_search(&state).is_ok();
        let mut steps = Units::default();
        let mut silent = false;
        for &state in &part {
            for edge in graph.from(state) {
                let unit = graph.unit(edge);
                if edge.to != NONE && inside(edge.to) {
                    steps.insert(unit);
                } else if unit == Unit::Silent {
                    silent = true;
                }
            }
        }
        let mut waits = |state: u32| {
            let mut able = Units::default();
            graph.from(state).for_each(|edge| able.insert(graph.unit(edge)));
            promised(state, &mut Promised(&mut able));
            able.without(&steps)
        };
        match fairness {
            Fairness::Weak => {
                let mut always: Option<Units> = None;
                for &state in &part {
                    let here = waits(state);
                    match &mut always {
                        None => always = Some(here),
                        Some(always) => always.retain(&here),
                    }
                    if always.as_ref().is_some_and(Units::is_empty) {
                        break;
                    }
                }
                if always.is_some_and(|units| units.is_empty()) {
                    found.push(Cycle { states: part, silent });
                }
            }
            Fairness::Strong => {
                let rest: Vec<u32> = part.iter().copied().filter(|s| waits(*s).is_empty()).collect();
                if rest.len() == part.len() {
                    found.push(Cycle { states: part, silent });
                } else {
                    parts.extend(components(graph, &rest));
                }
            }
        }
    }
    found.sort_by_key(|c| c.states.first().copied());
    found
}

/// Those whom a scheduler promises progress in a state: at first all who can step.
pub struct Promised<'a>(&'a mut Units);

impl Promised<'_> {
    /// Only the warps for which `keep` says so; operations of memory stay.
    pub fn warps(&mut self, keep: impl Fn(u64, u32) -> bool) {
        self.0.keep(keep);
    }

    /// The first warp that can step: block and number in it.
    #[must_use]
    pub fn lowest(&self) -> Option<(u64, u32)> {
        self.0.lowest()
    }
}

/// The strongly connected parts of some states that have a step in them, each in ascending order (R. Tarjan, 1972).
fn components(graph: &Graph, states: &[u32]) -> Vec<Vec<u32>> {
    const UNSEEN: u32 = u32::MAX;
    let count = graph.states();
    let mut member = vec![false; count];
    states.iter().for_each(|s| member[*s as usize] = true);
    let (mut order, mut low) = (vec![UNSEEN; count], vec![0u32; count]);
    let mut open = vec![false; count];
    let (mut stack, mut found, mut next) = (Vec::new(), Vec::new(), 0u32);
    for &root in states {
        if order[root as usize] != UNSEEN {
            continue;
        }
        // A state, its successors, and how many of them were looked at.
        let successors = |s: u32| -> Vec<u32> {
            let to = graph.from(s).map(|e| e.to).filter(|t| *t != NONE && member[*t as usize]);
            to.collect()
        };
        let mut work = vec![(root, successors(root), 0usize)];
        (order[root as usize], low[root as usize]) = (next, next);
        next += 1;
        stack.push(root);
        open[root as usize] = true;
        while let Some((state, to, at)) = work.last_mut() {
            let state = *state;
            if let Some(&succ) = to.get(*at) {
                *at += 1;
                if order[succ as usize] == UNSEEN {
                    (order[succ as usize], low[succ as usize]) = (next, next);
                    next += 1;
                    stack.push(succ);
                    open[succ as usize] = true;
                    let further = successors(succ);
                    work.push((succ, further, 0));
                } else if open[succ as usize] {
                    low[state as usize] = low[state as usize].min(order[succ as usize]);
                }
                continue;
            }
            work.pop();
            if let Some((parent, ..)) = work.last() {
                low[*parent as usize] = low[*parent as usize].min(low[state as usize]);
            }
            if low[state as usize] == order[state as usize] {
                let mut part = Vec::new();
                while let Some(s) = stack.pop() {
                    open[s as usize] = false;
                    part.push(s);
                    if s == state {
                        break;
                    }
                }
                part.sort_unstable();
                let around = part.len() > 1 || graph.from(state).any(|e| e.to == state);
                if around {
                    found.push(part);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One warp goes round two states; another is able to leave in the first only.
    fn round() -> Graph {
        let mut graph = Graph::default();
        let (round, leaves) = (Unit::Lanes(0, 0, !0), Unit::Lanes(0, 1, !0));
        let [a, b, end] = [1, 2, 3].map(|n| graph.state(n).0);
        graph.edge(a, round, 0, 0, b);
        graph.edge(a, leaves, 1, 0, end);
        graph.edge(b, round, 0, 0, a);
        graph
    }

    #[test]
    fn who_is_able_now_and_then_is_let_by_a_strong_scheduler_only() {
        let graph = round();
        let weak = cycles(&graph, Fairness::Weak, &mut |_, _| ());
        assert_eq!(weak, [Cycle { states: vec![0, 1], silent: false }]);
        assert_eq!(cycles(&graph, Fairness::Strong, &mut |_, _| ()), []);
    }

    #[test]
    fn who_is_able_all_the_time_is_let_by_a_weak_one() {
        let mut graph = round();
        graph.edge(1, Unit::Lanes(0, 1, !0), 1, 0, 2);
        assert_eq!(cycles(&graph, Fairness::Weak, &mut |_, _| ()), []);
        // Unless nobody promised it anything.
        let promised = &mut |_: u32, p: &mut Promised<'_>| p.warps(|_, warp| warp == 0);
        assert_eq!(cycles(&graph, Fairness::Strong, promised).len(), 1);
    }

    #[test]
    fn operations_of_memory_end_and_silent_rules_are_promised_to_nobody() {
        let mut graph = round();
        graph.edge(0, Unit::Silent, 2, 0, 2);
        graph.edge(1, Unit::Silent, 2, 0, 2);
        assert!(cycles(&graph, Fairness::Weak, &mut |_, _| ())[0].silent);
        let operation = Unit::Operation(OperationName { block: 0, warp: 0, place: 7 });
        graph.edge(0, operation, 3, 0, 2);
        graph.edge(1, operation, 3, 0, 2);
        assert_eq!(cycles(&graph, Fairness::Weak, &mut |_, _| ()), []);
    }
}

//! Runs that never end: cycles of states that a fair scheduler can stay in.
//!
//! A run that never ends stays, from some point on, in one strongly connected part of the graph. It is weakly fair if
//! everybody who is promised progress steps in it or is now and then not able to, and strongly fair to threads if everybody
//! who is able to now and then does. So a part with a step in it holds a weakly fair run exactly if nobody is promised
//! progress in all of its states without stepping in it; for strong fairness of threads the states in which somebody waits
//! in vain are taken out, and what remains is looked at again (E. Clarke et al., "Model Checking", 6.3).
//!
//! Strong fairness of transitions, which is what is published of progress models, asks more of a scheduler: a step that is
//! promised again and again is taken, not only some step of its thread. Then a run never ends only where no way of promised
//! steps leads out (D-progress).

use super::graph::{Edge, Graph, NONE, Unit};
use crate::base::LaneMask;
use crate::memory::OperationName;
use std::collections::BTreeMap;

/// What a scheduler promises.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fairness {
    /// Who is able to step from some point on does.
    Weak,
    /// Each step that can be taken again and again is.
    Strong,
    /// Who is able to step again and again does, but perhaps never in this way.
    StrongThreads,
}

impl Fairness {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Weak, Self::Strong, Self::StrongThreads];

    /// Its name on the command line and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Weak => "weak",
            Self::Strong => "strong",
            Self::StrongThreads => "strong-threads",
        }
    }

    /// The fairness of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.name() == name)
    }
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

    fn contains(&self, unit: Unit) -> bool {
        match unit {
            Unit::Lanes(block, warp, lanes) => self.lanes.get(&(block, warp)).is_some_and(|set| set & lanes != 0),
            Unit::Operation(name) => self.operations.contains(&name),
            Unit::Silent => false,
        }
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
    let all: Vec<u32> = (0..u32::try_from(graph.states()).unwrap_or(u32::MAX)).collect();
    if fairness == Fairness::Strong {
        return traps(graph, &all, promised);
    }
    let mut found = Vec::new();
    let mut parts = components(graph, &all, &|_, _| true);
    while let Some(part) = parts.pop() {
        let inside = |state: u32| part.binary_search(&state).is_ok();
        let mut steps = Units::default();
        for edge in part.iter().flat_map(|state| graph.from(*state)) {
            if edge.to != NONE && inside(edge.to) {
                steps.insert(graph.unit(edge));
            }
        }
        let silent = silent_leaves(graph, &part);
        let mut waits = |state: u32| promised_in(graph, state, promised).without(&steps);
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
            Fairness::StrongThreads | Fairness::Strong => {
                let rest: Vec<u32> = part.iter().copied().filter(|s| waits(*s).is_empty()).collect();
                if rest.len() == part.len() {
                    found.push(Cycle { states: part, silent });
                } else {
                    parts.extend(components(graph, &rest, &|_, _| true));
                }
            }
        }
    }
    found.sort_by_key(|c| c.states.first().copied());
    found
}

/// Those of a state's units whom the scheduler promises progress there.
fn promised_in(graph: &Graph, state: u32, promised: &mut dyn FnMut(u32, &mut Promised<'_>)) -> Units {
    let mut able = Units::default();
    graph.from(state).for_each(|edge| able.insert(graph.unit(edge)));
    promised(state, &mut Promised(&mut able));
    able
}

/// Whether a silent rule leads out of a part.
fn silent_leaves(graph: &Graph, part: &[u32]) -> bool {
    let leaves = |to: u32| to == NONE || part.binary_search(&to).is_err();
    part.iter().flat_map(|s| graph.from(*s)).any(|e| graph.unit(e) == Unit::Silent && leaves(e.to))
}

/// The parts that a run never leaves by promised steps, and in which it never comes to a state where nobody is promised
/// anything. A promised step that leads nowhere known (a defect, a limit of the search) counts as a way out.
fn traps(graph: &Graph, all: &[u32], promised: &mut dyn FnMut(u32, &mut Promised<'_>)) -> Vec<Cycle> {
    let units: Vec<Units> = all.iter().map(|s| promised_in(graph, *s, promised)).collect();
    let of = |state: u32, unit: Unit| units.get(state as usize).is_some_and(|units| units.contains(unit));
    // Backwards from where a run may rest.
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); all.len()];
    let mut free = vec![false; all.len()];
    let mut open = Vec::new();
    for &state in all {
        let mut rests = units[state as usize].is_empty();
        for edge in graph.from(state).filter(|e| of(state, graph.unit(e))) {
            match before.get_mut(edge.to as usize) {
                Some(list) => list.push(state),
                None => rests = true,
            }
        }
        if rests {
            free[state as usize] = true;
            open.push(state);
        }
    }
    while let Some(state) = open.pop() {
        for &earlier in &before[state as usize] {
            if !std::mem::replace(&mut free[earlier as usize], true) {
                open.push(earlier);
            }
        }
    }
    let held: Vec<u32> = all.iter().copied().filter(|s| !free[*s as usize]).collect();
    let by = |state: u32, edge: &Edge| of(state, graph.unit(edge));
    let mut found: Vec<Cycle> = components(graph, &held, &by)
        .into_iter()
        .filter(|part| {
            let mut steps = part.iter().flat_map(|s| graph.from(*s).filter(|e| by(*s, e)));
            steps.all(|e| part.binary_search(&e.to).is_ok())
        })
        .map(|states| Cycle { silent: silent_leaves(graph, &states), states })
        .collect();
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

/// The parts of some states that are strongly connected by steps of a kind and have one in them, each in ascending order
/// (R. Tarjan, 1972).
fn components(graph: &Graph, states: &[u32], by: &dyn Fn(u32, &Edge) -> bool) -> Vec<Vec<u32>> {
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
            let to = graph.from(s).filter(|e| by(s, e)).map(|e| e.to).filter(|t| *t != NONE && member[*t as usize]);
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
                let around = part.len() > 1 || graph.from(state).any(|e| e.to == state && by(state, e));
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
        assert_eq!(cycles(&graph, Fairness::StrongThreads, &mut |_, _| ()), []);
        assert_eq!(cycles(&graph, Fairness::Strong, &mut |_, _| ()), []);
    }

    /// One thread takes one of two steps again and again, and one of them would end the run.
    #[test]
    fn a_step_that_is_never_taken_is_fair_to_its_thread_only() {
        let mut graph = Graph::default();
        let one = Unit::Lanes(0, 0, !0);
        let [a, end] = [1, 2].map(|n| graph.state(n).0);
        graph.edge(a, one, 0, 0, a);
        graph.edge(a, one, 0, 1, end);
        assert_eq!(cycles(&graph, Fairness::StrongThreads, &mut |_, _| ()).len(), 1);
        assert_eq!(cycles(&graph, Fairness::Strong, &mut |_, _| ()), []);
    }

    /// Steps that nobody is promised lead nowhere: who is promised goes round for ever.
    #[test]
    fn a_way_out_by_who_is_promised_nothing_is_none() {
        let graph = round();
        let promised = &mut |_: u32, p: &mut Promised<'_>| p.warps(|_, warp| warp == 0);
        assert_eq!(cycles(&graph, Fairness::Strong, promised), [Cycle { states: vec![0, 1], silent: false }]);
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

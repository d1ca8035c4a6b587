//! The states that a test can come to while reads see coherence-last writes, and the fair cycles among them.

use super::tail::{State, Tail};
use crate::base::sort;
use crate::explore::Progress;
use crate::litmus::decided::Lasso;
use indexmap::IndexMap;
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::VecDeque;

/// States and steps between them.
pub(super) struct Graph<'a> {
    tail: &'a Tail<'a>,
    progress: Progress,
    /// The states, each with the one that it was found from and the thread that stepped.
    states: IndexMap<State, Option<(usize, usize)>>,
    /// Steps: from, thread, to.
    edges: Vec<(usize, usize, usize)>,
    limited: bool,
    up: &'a dyn Fn() -> bool,
}

impl<'a> Graph<'a> {
    pub(super) fn new(tail: &'a Tail<'a>, progress: Progress, up: &'a dyn Fn() -> bool) -> Self {
        Self { tail, progress, up, states: IndexMap::new(), edges: Vec::new(), limited: false }
    }

    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    pub(super) const fn limited(&self) -> bool {
        self.limited
    }

    pub(super) fn knows(&self, state: &State) -> bool {
        self.states.contains_key(state)
    }

    fn threads(&self) -> usize {
        self.tail.threads.codes().len()
    }

    /// Adds what can be come to from a state; answers a way on which a fair execution does not end.
    pub(super) fn explore(&mut self, start: State, most: u64) -> Option<Lasso> {
        let (first, since) = (self.states.len(), self.edges.len());
        if self.knows(&start) {
            return None;
        }
        self.states.insert(start, None);
        let mut next = first;
        while next < self.states.len() {
            if self.states.len() as u64 > most || (self.up)() {
                self.limited = true;
                return None;
            }
            let state = self.states.get_index(next).map(|(state, _)| state.clone())?;
            let mut ready = false;
            for thread in 0..self.threads() {
                if !self.tail.ready(&state, thread) {
                    continue;
                }
                ready = true;
                if let Some(after) = self.tail.step(&state, thread) {
                    let entry = self.states.entry(after);
                    let to = entry.index();
                    entry.or_insert(Some((next, thread)));
                    self.edges.push((next, thread, to));
                }
            }
            if !ready && !(0..self.threads()).all(|thread| self.tail.done(&state, thread)) {
                return Some(Lasso { prefix: None, stem: self.way(next), round: Vec::new(), waits: Vec::new() });
            }
            next += 1;
        }
        self.cycle(first, since)
    }

    /// Whether a thread that can go on is promised to.
    fn promised(&self, state: &State, thread: usize) -> bool {
        let has = |thread: usize| state.stepped >> thread & 1 == 1;
        let lowest = || (0..self.threads()).find(|other| self.tail.ready(state, *other)) == Some(thread);
        match self.progress {
            Progress::Fair => true,
            Progress::Hsa => lowest(),
            Progress::Obe => has(thread),
            Progress::HsaObe => has(thread) || lowest(),
            Progress::Lobe => state.stepped >> thread != 0,
            Progress::Unfair => false,
        }
    }

    /// A part of the graph in which nobody who is promised to go on is left out, among states and steps from some on: no step leads
    /// from an older state to one of these.
    fn cycle(&self, first: usize, since: usize) -> Option<Lasso> {
        let mut graph: DiGraph<(), usize> = DiGraph::new();
        for _ in first..self.states.len() {
            graph.add_node(());
        }
        let new = || self.edges[since..].iter().filter(|(_, _, to)| *to >= first);
        for (from, thread, to) in new() {
            graph.add_edge(NodeIndex::new(*from - first), NodeIndex::new(*to - first), *thread);
        }
        let parts: Vec<Vec<usize>> =
            tarjan_scc(&graph).into_iter().map(|part| part.iter().map(|n| n.index() + first).collect()).collect();
        let mut part_of = vec![0; self.states.len() - first];
        for (k, part) in parts.iter().enumerate() {
            part.iter().for_each(|node| part_of[node - first] = k);
        }
        let mut inside: Vec<Vec<(usize, usize, usize)>> = vec![Vec::new(); parts.len()];
        for edge in new().filter(|(from, _, to)| part_of[from - first] == part_of[to - first]) {
            inside[part_of[edge.0 - first]].push(*edge);
        }
        let fair = |part: &usize| {
            let steps = |thread: usize| inside[*part].iter().any(|(_, by, _)| *by == thread);
            let waits = |thread: usize| {
                parts[*part].iter().any(|node| {
                    let (state, _) = &self.states.get_index(*node).unwrap_or_else(|| unreachable!());
                    !self.tail.ready(state, thread) || !self.promised(state, thread)
                })
            };
            !inside[*part].is_empty() && (0..self.threads()).all(|thread| steps(thread) || waits(thread))
        };
        let part = (0..parts.len()).filter(fair).min_by_key(|part| parts[*part].iter().min())?;
        let (start, edges) = (*parts[part].iter().min()?, &inside[part]);
        Some(Lasso { prefix: None, stem: self.way(start), round: self.round(start, edges), waits: Vec::new() })
    }

    /// The step of a thread in a state: which instruction is next.
    fn instruction(&self, state: usize, thread: usize) -> (usize, usize) {
        let pc = self.states.get_index(state).map_or(0, |(state, _)| state.pcs[thread]);
        (thread, pc)
    }

    /// The steps to a state.
    fn way(&self, state: usize) -> Vec<(usize, usize)> {
        let mut steps = Vec::new();
        let mut at = state;
        while let Some((_, Some((before, thread)))) = self.states.get_index(at) {
            steps.push(self.instruction(*before, *thread));
            at = *before;
        }
        steps.reverse();
        steps
    }

    /// A way around from a state to itself that has a step of every thread that takes one there.
    fn round(&self, start: usize, edges: &[(usize, usize, usize)]) -> Vec<(usize, usize)> {
        let mut wanted: Vec<usize> = edges.iter().map(|(_, thread, _)| *thread).collect();
        sort::sort(&mut wanted);
        wanted.dedup();
        let (mut at, mut steps) = (start, Vec::new());
        for thread in wanted {
            let already = steps.iter().any(|(by, _)| *by == thread);
            if already {
                continue;
            }
            let goal = |edge: &(usize, usize, usize)| edge.1 == thread;
            at = self.walk(at, edges, &goal, &mut steps);
        }
        if at != start {
            self.walk(at, edges, &|edge| edge.2 == start, &mut steps);
        }
        steps
    }

    /// Goes along a shortest way up to and with an edge that passes a test; answers where that is.
    fn walk(
        &self,
        from: usize,
        edges: &[(usize, usize, usize)],
        goal: &dyn Fn(&(usize, usize, usize)) -> bool,
        steps: &mut Vec<(usize, usize)>,
    ) -> usize {
        let mut seen: IndexMap<usize, Option<(usize, usize)>> = IndexMap::from([(from, None)]);
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            for edge in edges.iter().filter(|edge| edge.0 == at) {
                if goal(edge) {
                    let mut back = vec![self.instruction(at, edge.1)];
                    let mut here = at;
                    while let Some(Some((before, thread))) = seen.get(&here) {
                        back.push(self.instruction(*before, *thread));
                        here = *before;
                    }
                    steps.extend(back.into_iter().rev());
                    return edge.2;
                }
                if !seen.contains_key(&edge.2) {
                    seen.insert(edge.2, Some((at, edge.1)));
                    queue.push_back(edge.2);
                }
            }
        }
        from
    }
}

//! The shortest cycle of what a run did, if no order of its deeds explains it.
//!
//! An interleaving of threads on one memory has no cycle of program order, reads-from, coherence order and from-read (Shasha, Snir, "Efficient and Correct
//! Execution of Parallel Programs that Share Memory", TOPLAS 1988), nor of these and barriers. Cycles of the fewest steps between threads meet each thread
//! once: what they need of it is where they come and where they go.

use crate::base::mutant::{Mutant, on};
use crate::base::sort;
use crate::base::sorted::SortedSet;
use crate::check::deeds::{Done, Spot, Touch, What};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// After so many steps a search for the shortest cycle begins at no other deed; what it has found by then is a cycle, too.
const STEPS: usize = 20_000_000;

/// Nodes are the deeds, by their numbers; behind them others that keep the graph small: who waits at a barrier once more, as he goes on; a
/// barrier, and "this write of a byte, and all later ones". An edge counts 1 where it is a step from one deed to another that program order does not
/// make.
struct Graph {
    of: DiGraph<(), u8>,
    deeds: usize,
    /// The deed that a node behind them stands for.
    stands_for: FxHashMap<usize, u32>,
}

/// The deeds of the shortest cycle in which somebody reads what was overwritten, or else of a shortest one, in no order; none: some order of the deeds
/// explains what was read, and who wrote last.
pub(super) fn shortest(done: &Done) -> Option<SortedSet<u32>> {
    let graph = Graph::of(done);
    let mut part = vec![0u32; graph.of.node_count()];
    for (number, nodes) in (1..).zip(kosaraju_scc(&graph.of).into_iter().filter(|nodes| nodes.len() > 1)) {
        nodes.into_iter().for_each(|node| part[node.index()] = number);
    }
    let touch = |k: usize| done.deeds.get(k).and_then(|deed| deed.touch());
    let within = |k: &usize| part[*k] != 0;
    let reads = (0..graph.deeds).filter(within).filter(|k| touch(*k).is_some_and(Touch::reads));
    let mut steps = STEPS;
    let stale = graph.best(reads, &part, true, &mut steps);
    let mut found = stale.or_else(|| graph.best((0..graph.deeds).filter(within), &part, false, &mut steps))?;
    // Between what an atomic operation read and what it wrote somebody else wrote.
    if let (1, Some(own)) = (found.len(), found.first().and_then(|k| touch(*k as usize))) {
        let before = |other: &&Touch| other.spot == own.spot && other.arrived.is_some() && other.arrived < own.arrived;
        let all = (0u32..).zip(&done.deeds).filter_map(|(k, deed)| Some((k, deed.touch().filter(before)?)));
        found.extend(all.max_by_key(|(_, other)| other.arrived).map(|(k, _)| k));
    }
    Some(found)
}

impl Graph {
    fn of(done: &Done) -> Self {
        let deeds = done.deeds.len();
        let mut graph =
            Self { of: DiGraph::with_capacity(2 * deeds, 4 * deeds), deeds, stands_for: FxHashMap::default() };
        (0..deeds).for_each(|_| _ = graph.of.add_node(()));
        graph.threads(done);
        graph.communication(done);
        graph
    }

    fn edge(&mut self, from: usize, to: usize, counts: u8) {
        self.of.add_edge(NodeIndex::new(from), NodeIndex::new(to), counts);
    }

    fn node(&mut self) -> usize {
        self.of.add_node(()).index()
    }

    /// Program order and barriers.
    fn threads(&mut self, done: &Done) {
        let mut last: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
        let mut meetings: FxHashMap<u32, usize> = FxHashMap::default();
        for (k, deed) in done.deeds.iter().enumerate() {
            let mut now = vec![k];
            if let What::Meet { meeting, waits } = deed.what {
                let met = *meetings.entry(meeting).or_insert_with(|| self.of.add_node(()).index());
                self.edge(k, met, 1);
                if waits {
                    let goes = self.node();
                    self.stands_for.insert(goes, u32::try_from(k).unwrap_or(u32::MAX));
                    self.edge(met, goes, 0);
                    now.push(goes);
                }
            }
            for before in last.insert(deed.thread, now).into_iter().flatten() {
                self.edge(before, k, 0);
            }
        }
    }

    /// Reads-from, coherence order and from-read, byte by byte; but once for a place that is accessed as a whole only.
    fn communication(&mut self, done: &Done) {
        let touches = || done.deeds.iter().enumerate().filter_map(|(k, deed)| Some((k, deed.touch()?)));
        let mut whole: FxHashMap<Spot, Option<(Spot, u32)>> = FxHashMap::default();
        for (_, touch) in touches() {
            for spot in touch.spots() {
                let all = whole.entry(spot).or_insert(Some((touch.spot, touch.bytes)));
                *all = all.filter(|all| *all == (touch.spot, touch.bytes));
            }
        }
        let looked_at = |touch: &Touch| -> Vec<(usize, Spot)> {
            let apart = touch.spots().any(|spot| whole.get(&spot).is_some_and(Option::is_none));
            touch.spots().enumerate().take(if apart { usize::MAX } else { 1 }).collect()
        };
        let mut chains: FxHashMap<Spot, Vec<(u64, usize)>> = FxHashMap::default();
        for (k, touch) in touches() {
            if let Some(arrived) = touch.arrived {
                looked_at(touch).iter().for_each(|(_, spot)| chains.entry(*spot).or_default().push((arrived, k)));
            }
        }
        let mut orders: FxHashMap<Spot, Order> = FxHashMap::default();
        // In the order of the deeds, so that equal runs have equal graphs.
        for (_, touch) in touches() {
            for (_, spot) in looked_at(touch) {
                let Some(mut chain) = chains.remove(&spot) else { continue };
                sort::sort(&mut chain);
                let nodes: Vec<(usize, usize)> = chain.iter().map(|(_, k)| (*k, self.node())).collect();
                for pair in nodes.windows(2) {
                    self.edge(pair[0].1, pair[1].1, 0);
                    self.edge(pair[0].0, pair[1].1, 1);
                }
                nodes.iter().for_each(|(k, node)| self.edge(*node, *k, 0));
                let places = nodes.iter().enumerate().map(|(place, (k, _))| (*k, place)).collect();
                orders.insert(spot, Order { nodes, places });
            }
        }
        for (k, touch) in touches().filter(|(_, touch)| touch.reads()) {
            for (at, spot) in looked_at(touch) {
                let Some(from) = touch.from.of_byte(at) else { continue };
                if let Some(write) = from.filter(|_| !on(Mutant::SourceUnlooked)) {
                    self.edge(write as usize, k, 1);
                }
                let Some(Order { nodes, places }) = orders.get(&spot) else { continue };
                let next = match from {
                    None => Some(0),
                    Some(write) => places.get(&(write as usize)).map(|place| place + 1),
                };
                // What an atomic operation reads it overwrites itself.
                let next = next.map(|n| n + usize::from(nodes.get(n).is_some_and(|(write, _)| *write == k)));
                if let Some((_, node)) = next.and_then(|n| nodes.get(n)).copied() {
                    self.edge(k, node, 1);
                }
            }
        }
    }

    /// The best cycle through one of some deeds; `overwritten`: by a step from it to a write that overwrote what it read.
    fn best(
        &self,
        through: impl Iterator<Item = usize>,
        part: &[u32],
        overwritten: bool,
        steps: &mut usize,
    ) -> Option<SortedSet<u32>> {
        let mut best: Option<(u32, usize, SortedSet<u32>)> = None;
        let mut table = Table { reached: vec![(u32::MAX, 0, 0); part.len()], touched: Vec::new() };
        for start in through {
            let most = best.as_ref().map_or(u32::MAX, |(count, ..)| *count);
            if let Some((count, cycle)) = self.from(start, part, (overwritten, most), &mut table, steps) {
                let kept = self.kept(&cycle);
                if best.as_ref().is_none_or(|(c, n, _)| (count, kept.len()) < (*c, *n)) {
                    best = Some((count, kept.len(), kept));
                }
            }
            table.clear();
            if *steps == 0 {
                break;
            }
        }
        best.map(|(.., kept)| kept)
    }

    /// A cycle through a deed with the fewest steps that count, of at most so many: the nodes with what each step to the next counts.
    fn from(
        &self,
        start: usize,
        part: &[u32],
        (overwritten, most): (bool, u32),
        table: &mut Table,
        steps: &mut usize,
    ) -> Option<(u32, Vec<(usize, u8)>)> {
        let mut queue = VecDeque::from([(0, start)]);
        while let Some((far, node)) = queue.pop_front() {
            if node != start && table.reached[node].0 < far {
                continue;
            }
            for edge in self.of.edges(NodeIndex::new(node)) {
                *steps = steps.saturating_sub(1);
                let (to, counts) = (edge.target().index(), *edge.weight());
                // From an access, a step to what is behind the deeds leads to writes that come later.
                let later = counts == 1 && to >= self.deeds;
                let far = far + u32::from(counts);
                let fits = part[to] == part[start] && far <= most && (node != start || !overwritten || later);
                if !fits || table.reached[to].0 <= far {
                    continue;
                }
                table.note(to, (far, node, counts));
                match counts {
                    _ if to == start => {}
                    0 => queue.push_front((far, to)),
                    _ => queue.push_back((far, to)),
                }
            }
        }
        let (count, ..) = table.reached[start];
        if count == u32::MAX {
            return None;
        }
        let (mut cycle, mut at) = (Vec::new(), start);
        loop {
            let (_, before, counts) = table.reached[at];
            cycle.push((before, counts));
            at = before;
            if at == start || cycle.len() > part.len() {
                break;
            }
        }
        cycle.reverse();
        Some((count, cycle))
    }

    /// The deeds between which a cycle steps by other means than program order.
    fn kept(&self, cycle: &[(usize, u8)]) -> SortedSet<u32> {
        let deed = |node: usize| {
            let own = (node < self.deeds).then(|| u32::try_from(node).unwrap_or(u32::MAX));
            own.or_else(|| self.stands_for.get(&node).copied())
        };
        // Program order steps from deed to deed, and counts nothing.
        let program_order = |(node, counts): (usize, u8)| counts == 0 && deed(node).is_some();
        let mut kept = SortedSet::new();
        for (k, step) in cycle.iter().enumerate() {
            let before = cycle[(k + cycle.len() - 1) % cycle.len()];
            if let Some(deed) = deed(step.0).filter(|_| !program_order(*step) || !program_order(before)) {
                kept.insert(deed);
            }
        }
        kept
    }
}

/// The writes of a byte in coherence order, with their nodes, and the place of each among them.
struct Order {
    nodes: Vec<(usize, usize)>,
    places: FxHashMap<usize, usize>,
}

/// How far nodes are from where a search began, from where they were reached, and what that step counts.
struct Table {
    reached: Vec<(u32, usize, u8)>,
    touched: Vec<usize>,
}

impl Table {
    fn note(&mut self, node: usize, how: (u32, usize, u8)) {
        self.reached[node] = how;
        self.touched.push(node);
    }

    fn clear(&mut self) {
        self.touched.drain(..).for_each(|node| self.reached[node] = (u32::MAX, 0, 0));
    }
}

//! Single-entry single-exit regions, and which of them the branches need (decision D-inject).
//!
//! Source: Johnson, Pearson, Pingali (PLDI 1994): two arcs bound such a region if and only if they are cycle equivalent
//! once an arc leads from the end of the graph to its start. Departures: every block has an inner arc, between where its
//! ways in meet and where its ways out part, and [merge trees](super::merges) split the ways in. A function may end in
//! several places; D-inject ignores early ends. So the graph is cut into *rounds*, each of what reaches one end and no
//! earlier round's: first the last `ret`, then other ends, then one for each loop that never ends (D-inject's fake exit).

use super::cycles::cycle_classes;
use super::dominators::{Dominators, post_dominators};
use super::graph::{Buckets, Ending, Graph, index};
use super::merges::{Join, Merges};
use petgraph::graph::DiGraph;

const NONE: u32 = u32::MAX;

/// A place in the control flow where reconvergence instructions may stand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Place {
    /// Within a block: a `sync` at its head, an `ssy` before its last instruction.
    Inside(u32),
    /// On an edge, before its target's other ways in join.
    Edge(u32),
    /// Behind a group of ways into a block.
    Group(u32),
    /// Before block 0, where the function starts.
    Start,
}

/// A region that a branch needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Region {
    /// Where the `ssy` goes.
    pub entry: Place,
    /// Where the `sync` goes.
    pub exit: Place,
    /// The first branch in the order of the blocks for which it is the smallest region.
    pub branch: u32,
}

/// The regions of a function. No two have the same entry, and no two the same exit.
#[derive(Clone, Debug)]
pub(super) struct Regions {
    /// The merge trees.
    pub merges: Merges,
    /// The regions that branches need, in the order of their first branches.
    pub needed: Vec<Region>,
}

impl Regions {
    /// The smallest region of every block that branches.
    pub fn of(graph: &Graph) -> Self {
        let tree = Dominators::of(graph);
        let merges = Merges::of(graph, &tree, &post_dominators(graph));
        let split = Split::new(graph, &tree, &merges);
        let nearest = split.nearest_regions(graph);
        let mut needed = Vec::new();
        let mut index_of = vec![NONE; split.arcs.len()];
        for (b, block) in graph.blocks().iter().enumerate() {
            if block.ending != Ending::Branches {
                continue;
            }
            let Some((entry, exit)) = nearest[b] else { continue };
            let (Some(from), Some(to)) = (split.place(entry), split.place(exit)) else { continue };
            let name = &mut index_of[entry as usize];
            if *name == NONE {
                *name = index(needed.len());
                needed.push(Region { entry: from, exit: to, branch: index(b) });
            }
        }
        Self { merges, needed }
    }
}

/// The graph with every block split into where its ways in meet (node `2 b`) and where its ways out part (`2 b + 1`), and
/// its merge groups as nodes after them.
pub(super) struct Split {
    blocks: usize,
    edges: usize,
    /// Inner arcs by block, then edges, then groups, then the start. What cannot be reached has no ends.
    pub arcs: Vec<(u32, u32)>,
    nodes: usize,
    out: Buckets,
    into: Buckets,
}

impl Split {
    pub fn new(graph: &Graph, tree: &Dominators, merges: &Merges) -> Self {
        let (blocks, edges) = (graph.blocks().len(), graph.edges().len());
        let node = |join: Join| match join {
            Join::Block(b) => 2 * b,
            Join::Group(g) => index(2 * blocks) + g,
        };
        let mut arcs = Vec::with_capacity(blocks + edges + merges.groups.len() + 1);
        arcs.extend((0..index(blocks)).map(|b| if tree.reaches(b) { (2 * b, 2 * b + 1) } else { (NONE, NONE) }));
        arcs.extend(
            graph
                .edges()
                .iter()
                .zip(&merges.edges)
                .map(|(e, to)| if tree.reaches(e.from) { (2 * e.from + 1, node(*to)) } else { (NONE, NONE) }),
        );
        arcs.extend(merges.groups.iter().enumerate().map(|(g, group)| (index(2 * blocks + g), node(group.to))));
        arcs.push((NONE, if blocks == 0 { NONE } else { node(merges.start) }));
        let nodes = 2 * blocks + merges.groups.len();
        let out = Buckets::new(nodes, arcs.iter().map(|a| a.0));
        let into = Buckets::new(nodes, arcs.iter().map(|a| a.1));
        Self { blocks, edges, arcs, nodes, out, into }
    }

    /// Where instructions on an arc go; none for the arc to a round's end.
    pub fn place(&self, arc: u32) -> Option<Place> {
        let i = arc as usize;
        let groups = self.arcs.len() - 1 - self.blocks - self.edges;
        match i {
            _ if i < self.blocks => Some(Place::Inside(arc)),
            _ if i < self.blocks + self.edges => Some(Place::Edge(index(i - self.blocks))),
            _ if i < self.blocks + self.edges + groups => Some(Place::Group(index(i - self.blocks - self.edges))),
            _ if i + 1 == self.arcs.len() => Some(Place::Start),
            _ => None,
        }
    }

    fn leaving(&self, node: u32) -> &[u32] {
        self.out.of(node as usize)
    }

    fn entering(&self, node: u32) -> &[u32] {
        self.into.of(node as usize)
    }

    /// The rounds: for each its end and its nodes. Nodes that cannot be reached are in none.
    pub fn rounds(&self, graph: &Graph) -> Vec<(u32, Vec<u32>)> {
        let mut taken = vec![false; self.nodes];
        let mut rounds = Vec::new();
        let mut reach = |end: u32, taken: &mut Vec<bool>| {
            if std::mem::replace(&mut taken[end as usize], true) {
                return;
            }
            let mut nodes = vec![end];
            let mut next = 0;
            while let Some(&node) = nodes.get(next) {
                next += 1;
                for &arc in self.entering(node) {
                    let from = self.arcs[arc as usize].0;
                    if from != NONE && !std::mem::replace(&mut taken[from as usize], true) {
                        nodes.push(from);
                    }
                }
            }
            rounds.push((end, nodes));
        };
        let ends = |ending| {
            let all = graph.blocks().iter().enumerate().rev();
            all.filter(move |(b, block)| block.ending == ending && self.arcs[*b].0 != NONE)
                .map(|(b, _)| index(2 * b + 1))
        };
        for end in ends(Ending::Returns).chain(ends(Ending::Traps)).chain(ends(Ending::FallsOff)) {
            reach(end, &mut taken);
        }
        for head in self.endless(&taken) {
            reach(head, &mut taken);
        }
        rounds
    }

    /// A node of each loop that cannot be left, its lowest-numbered block's head, among the nodes in no round yet.
    fn endless(&self, taken: &[bool]) -> Vec<u32> {
        let live = |node: u32| self.entering(node).iter().any(|arc| self.arcs[*arc as usize] != (NONE, NONE));
        let rest: Vec<u32> = (0..index(self.nodes)).filter(|v| !taken[*v as usize] && live(*v)).collect();
        if rest.is_empty() {
            return Vec::new();
        }
        let ways = rest.iter().flat_map(|v| self.leaving(*v)).map(|arc| self.arcs[*arc as usize]);
        let graph = DiGraph::<(), (), u32>::from_edges(ways);
        let mut component = vec![0; self.nodes];
        let components = petgraph::algo::kosaraju_scc(&graph);
        for (i, nodes) in components.iter().enumerate() {
            for node in nodes {
                component[node.index()] = i;
            }
        }
        let closed = |nodes: &[petgraph::graph::NodeIndex<u32>]| {
            let inside = |v: usize| {
                let mut out = self.leaving(index(v)).iter();
                out.all(|arc| component[self.arcs[*arc as usize].1 as usize] == component[v])
            };
            nodes.len() > 1 && nodes.iter().all(|node| inside(node.index()))
        };
        let heads = components.iter().filter(|nodes| closed(nodes));
        let mut heads: Vec<u32> =
            heads.filter_map(|nodes| nodes.iter().map(|node| index(node.index())).min()).collect();
        heads.sort_unstable();
        heads
    }

    /// The entry and exit arcs of the smallest region around the end of each block.
    pub fn nearest_regions(&self, graph: &Graph) -> Vec<Option<(u32, u32)>> {
        let mut nearest = vec![None; self.blocks];
        let mut local = vec![NONE; self.nodes];
        for (end, nodes) in self.rounds(graph) {
            for (i, node) in nodes.iter().enumerate() {
                local[*node as usize] = index(i + 1);
            }
            let round = Round::new(self, end, &nodes, &local);
            round.nearest(self, &nodes, &mut nearest);
            for node in nodes {
                local[node as usize] = NONE;
            }
        }
        nearest
    }
}

/// One round as a strongly connected graph: node 0 stands for everything outside, before and after.
struct Round {
    /// Ends of the arcs, and their names in [`Split::arcs`]; the arc from the round's end to node 0 comes last, and its
    /// name is that of no arc.
    arcs: Vec<(u32, u32)>,
    names: Vec<u32>,
}

impl Round {
    fn new(split: &Split, end: u32, nodes: &[u32], local: &[u32]) -> Self {
        let (mut arcs, mut names) = (Vec::new(), Vec::new());
        for &node in nodes {
            for &arc in split.entering(node) {
                // Whatever enters from an earlier round, or from the start, comes from outside.
                let from = split.arcs[arc as usize].0;
                let from = if from == NONE { NONE } else { local[from as usize] };
                arcs.push((if from == NONE { 0 } else { from }, local[node as usize]));
                names.push(arc);
            }
        }
        arcs.push((local[end as usize], 0));
        names.push(index(split.arcs.len()));
        Self { arcs, names }
    }

    /// Finds the regions while walking the graph: those around a node are the ones entered and not left on the way to
    /// it, and arcs of one class are met in the order in which they dominate each other.
    fn nearest(&self, split: &Split, nodes: &[u32], nearest: &mut [Option<(u32, u32)>]) {
        let count = nodes.len() + 1;
        let class = cycle_classes(count, &self.arcs);
        let out = Buckets::new(count, self.arcs.iter().map(|a| a.0));
        // By arc: the arc whose region surrounds the region that begins there, and the arc that ends it.
        let mut outer = vec![NONE; self.arcs.len()];
        let mut ended = vec![NONE; self.arcs.len()];
        let mut latest = vec![NONE; self.arcs.len()];
        let mut within = vec![NONE; count];
        let mut seen = vec![false; count];
        let mut order = Vec::with_capacity(self.arcs.len());
        let mut stack = vec![0u32];
        seen[0] = true;
        // An arc is met when its tail is; a stack of nodes, not of arcs, would meet them in another order.
        let mut next: Vec<u32> = out.at[..count].to_vec();
        while let Some(&node) = stack.last() {
            let at = next[node as usize];
            if at == out.at[node as usize + 1] {
                stack.pop();
                continue;
            }
            next[node as usize] += 1;
            let arc = out.items[at as usize];
            let before = &mut latest[class[arc as usize] as usize];
            let around = if *before == NONE {
                within[node as usize]
            } else {
                ended[*before as usize] = arc;
                outer[*before as usize]
            };
            *before = arc;
            outer[arc as usize] = around;
            order.push(arc);
            let head = self.arcs[arc as usize].1 as usize;
            if !std::mem::replace(&mut seen[head], true) {
                within[head] = arc;
                stack.push(index(head));
            }
        }
        // Arcs that begin no region: their nodes belong to what surrounds them.
        let mut closest = vec![NONE; self.arcs.len()];
        for &arc in &order {
            let up = outer[arc as usize];
            let up = if up == NONE { NONE } else { closest[up as usize] };
            closest[arc as usize] = if ended[arc as usize] == NONE { up } else { arc };
        }
        for (i, &node) in nodes.iter().enumerate() {
            let (block, parts) = (node as usize / 2, node % 2 == 1);
            if !parts || block >= split.blocks || within[i + 1] == NONE {
                continue;
            }
            let entry = closest[within[i + 1] as usize];
            if entry != NONE {
                let exit = ended[entry as usize];
                nearest[block] = Some((self.names[entry as usize], self.names[exit as usize]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{listing, random_program};
    use super::*;
    use chacha20::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    /// A round's arcs by definition: `next[x]` are the arcs that may follow arc `x`; the last one leaves the round.
    struct Plain {
        names: Vec<u32>,
        next: Vec<Vec<usize>>,
        /// Arcs from outside.
        first: Vec<usize>,
        heads: Vec<u32>,
    }

    impl Plain {
        fn new(split: &Split, end: u32, nodes: &[u32]) -> Self {
            let within = |arc: &u32| nodes.contains(&split.arcs[*arc as usize].1);
            let mut names: Vec<u32> = (0..index(split.arcs.len())).filter(within).collect();
            let mut heads: Vec<u32> = names.iter().map(|a| split.arcs[*a as usize].1).collect();
            let tail = |arc: u32| split.arcs.get(arc as usize).map_or(end, |a| a.0);
            let first = (0..names.len()).filter(|x| !nodes.contains(&tail(names[*x]))).collect();
            names.push(index(split.arcs.len()));
            heads.push(NONE - 1);
            let follow = |head: u32| (0..names.len()).filter(|y| tail(names[*y]) == head).collect();
            let next = heads.iter().map(|head| follow(*head)).collect();
            Self { names, next, first, heads }
        }

        /// The arcs that a walk can pass that begins with some arcs and never passes `without`.
        fn walk(&self, from: &[usize], without: usize) -> Vec<bool> {
            let mut seen = vec![false; self.names.len()];
            let mut work = from.to_vec();
            while let Some(x) = work.pop() {
                if x != without && !std::mem::replace(&mut seen[x], true) {
                    work.extend(&self.next[x]);
                }
            }
            seen
        }

        fn is_region(&self, a: usize, b: usize) -> bool {
            let end = self.names.len() - 1;
            let dominates = !self.walk(&self.first, a)[b];
            let post_dominates = b == end || !self.walk(&self.next[a], b)[end];
            let cycle = |x: usize, y: usize| self.walk(&self.next[x], y)[x];
            a != b && a != end && dominates && post_dominates && !cycle(a, b) && !cycle(b, a)
        }
    }

    #[test]
    fn regions_are_those_of_the_definition() {
        let mut rng = ChaCha8Rng::seed_from_u64(8);
        let (mut found, mut missing) = (0, 0);
        for _ in 0..600 {
            let blocks = rng.random_range(2..8);
            let program = random_program(&mut rng, blocks);
            let graph = Graph::of(&program.code, &program.tables);
            let tree = Dominators::of(&graph);
            let merges = Merges::of(&graph, &tree, &post_dominators(&graph));
            let split = Split::new(&graph, &tree, &merges);
            let nearest = split.nearest_regions(&graph);
            for (end, nodes) in split.rounds(&graph) {
                let plain = Plain::new(&split, end, &nodes);
                let count = plain.names.len();
                let pairs = (0..count).flat_map(|a| (0..count).map(move |b| (a, b)));
                let regions: Vec<_> = pairs
                    .filter(|(a, b)| plain.is_region(*a, *b))
                    .map(|(a, b)| {
                        let inside = plain.walk(&plain.next[a], b);
                        let heads = (0..count).filter(|x| inside[*x]).map(|x| plain.heads[x]);
                        let mut heads: Vec<u32> = heads.chain([plain.heads[a]]).collect();
                        heads.sort_unstable();
                        heads.dedup();
                        (heads, (plain.names[a], plain.names[b]))
                    })
                    .collect();
                for node in nodes.iter().filter(|v| *v % 2 == 1 && **v < 2 * index(graph.blocks().len())) {
                    let around = regions.iter().filter(|(heads, _)| heads.contains(node));
                    let smallest = around.min_by_key(|(heads, _)| heads.len()).map(|r| r.1);
                    assert_eq!(nearest[*node as usize / 2], smallest, "{node}\n{}", listing(&program.code));
                    found += usize::from(smallest.is_some());
                    missing += usize::from(smallest.is_none());
                }
            }
        }
        assert!(found > 1000, "{found} {missing}");
    }
}

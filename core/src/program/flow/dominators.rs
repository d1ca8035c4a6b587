//! Dominators and post-dominators by semi-dominators (the SEMI-NCA algorithm of L. Georgiadis, "Linear-Time Algorithms for
//! Dominators and Related Problems", 2005, 2.3), with constant-time dominance tests and logarithmic lowest common
//! ancestors. An iterative algorithm takes quadratic time where thousands of checks lead to one exit.

use super::graph::{Buckets, Ending, Graph, Search, index};

/// No node.
const NONE: u32 = u32::MAX;

/// The dominator tree of a graph. Nodes that the root does not reach are not in it.
#[derive(Clone, Debug)]
pub struct Dominators {
    parent: Vec<u32>,
    depth: Vec<u32>,
    /// A far ancestor, chosen so that any ancestor is a logarithmic number of steps away (Myers' skew-binary jumps).
    jump: Vec<u32>,
    /// Preorder number, and the highest one in the node's subtree.
    first: Vec<u32>,
    last: Vec<u32>,
}

impl Dominators {
    /// The dominators of a function's blocks.
    #[must_use]
    pub fn of(graph: &Graph) -> Self {
        let pairs: Vec<_> = graph.edges().iter().map(|e| (e.from, e.to)).collect();
        Self::new(graph.blocks().len(), 0, &pairs)
    }

    /// The tree of a graph given by its edges, `root` below `nodes`.
    #[must_use]
    pub fn new(nodes: usize, root: u32, edges: &[(u32, u32)]) -> Self {
        let mut tree = Self {
            parent: vec![NONE; nodes],
            depth: vec![0; nodes],
            jump: vec![NONE; nodes],
            first: vec![NONE; nodes],
            last: vec![0; nodes],
        };
        if root as usize >= nodes {
            return tree;
        }
        let out = Buckets::new(nodes, edges.iter().map(|e| e.0));
        let into = Buckets::new(nodes, edges.iter().map(|e| e.1));
        // The depth-first tree, in which nodes go by their preorder numbers from here on.
        let Search { order, found: number, by } = Search::new(root, &out, |e| edges[e as usize].1);
        let parent = |e: &u32| edges.get(*e as usize).map_or(0, |edge| number[edge.0 as usize]);
        let above: Vec<u32> = by.iter().map(parent).collect();
        let mut forest = Forest::new(&above);
        for i in (1..order.len()).rev() {
            let v = order[i] as usize;
            let mut semi = above[i];
            for &e in into.of(v) {
                let from = number[edges[e as usize].0 as usize];
                if from != NONE {
                    let least = forest.least(from, index(i + 1));
                    semi = semi.min(forest.semi[least as usize]);
                }
            }
            forest.semi[i] = semi;
        }
        // The immediate dominator is the nearest common ancestor of parent and semi-dominator in the dominator tree.
        let mut idom = above;
        for i in 1..order.len() {
            while idom[i] > forest.semi[i] {
                idom[i] = idom[idom[i] as usize];
            }
        }
        // A subtree is its root's number in a preorder and some that follow.
        let children = Buckets::new(order.len(), std::iter::once(NONE).chain(idom.iter().skip(1).copied()));
        let first = Search::new(0, &children, |child| child).found;
        let mut last = first.clone();
        for i in (1..order.len()).rev() {
            last[idom[i] as usize] = last[idom[i] as usize].max(last[i]);
        }
        (tree.parent[root as usize], tree.jump[root as usize]) = (root, root);
        for (i, &v) in order.iter().enumerate() {
            (tree.first[v as usize], tree.last[v as usize]) = (first[i], last[i]);
            if v != root {
                tree.hang(v as usize, order[idom[i] as usize]);
            }
        }
        tree
    }

    /// Hangs a node below one that hangs already.
    fn hang(&mut self, v: usize, parent: u32) {
        let p = parent as usize;
        let j = self.jump[p] as usize;
        let far = self.jump[j];
        let even = self.depth[p] - self.depth[j] == self.depth[j] - self.depth[far as usize];
        self.parent[v] = parent;
        self.depth[v] = self.depth[p] + 1;
        self.jump[v] = if even { far } else { parent };
    }

    /// Whether the root reaches the node.
    #[must_use]
    pub fn reaches(&self, node: u32) -> bool {
        self.parent.get(node as usize).is_some_and(|p| *p != NONE)
    }

    /// The immediate dominator; none for the root and for nodes that it does not reach.
    #[must_use]
    pub fn immediate(&self, node: u32) -> Option<u32> {
        self.parent.get(node as usize).copied().filter(|p| *p != NONE && *p != node)
    }

    /// Whether every path from the root to `below` passes `above`. Both must be reached.
    #[must_use]
    pub fn dominates(&self, above: u32, below: u32) -> bool {
        self.first[above as usize] <= self.first[below as usize]
            && self.first[below as usize] <= self.last[above as usize]
    }

    /// The number of a reached node in a preorder of the tree.
    #[must_use]
    pub fn preorder(&self, node: u32) -> u32 {
        self.first[node as usize]
    }

    /// How many nodes dominate a reached node, itself not counted.
    #[must_use]
    pub fn depth(&self, node: u32) -> u32 {
        self.depth[node as usize]
    }

    /// The lowest node that dominates both. Both must be reached.
    #[must_use]
    pub fn common(&self, a: u32, b: u32) -> u32 {
        let (mut a, mut b) = if self.depth(a) < self.depth(b) { (b, a) } else { (a, b) };
        while self.depth(a) > self.depth(b) {
            let far = self.jump[a as usize];
            a = if self.depth(far) >= self.depth(b) { far } else { self.parent[a as usize] };
        }
        while a != b {
            let (fa, fb) = (self.jump[a as usize], self.jump[b as usize]);
            (a, b) = if fa == fb { (self.parent[a as usize], self.parent[b as usize]) } else { (fa, fb) };
        }
        a
    }
}

/// The immediate post-dominator of each block: where lanes that part at its end meet again for sure, if anywhere.
/// Every way out of the function counts, `trap` too; a block whose lanes can leave in several ways has none, and neither
/// has a block that cannot leave. A guarded `ret` or `exit` within a block does not count.
#[must_use]
pub fn post_dominators(graph: &Graph) -> Vec<Option<u32>> {
    let n = graph.blocks().len();
    let end = index(n);
    let mut edges: Vec<_> = graph.edges().iter().map(|e| (e.to, e.from)).collect();
    for (b, block) in graph.blocks().iter().enumerate() {
        if matches!(block.ending, Ending::Returns | Ending::Traps | Ending::FallsOff) {
            edges.push((end, index(b)));
        }
    }
    let tree = Dominators::new(n + 1, end, &edges);
    (0..n).map(|b| tree.immediate(index(b)).filter(|p| *p != end)).collect()
}

/// The processed part of the depth-first tree, with paths compressed. Nodes are preorder numbers.
struct Forest {
    above: Vec<u32>,
    /// The node with the least semi-dominator on the compressed path.
    label: Vec<u32>,
    semi: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    fn new(above: &[u32]) -> Self {
        let own: Vec<u32> = (0..index(above.len())).collect();
        Self { above: above.to_vec(), label: own.clone(), semi: own, path: Vec::new() }
    }

    /// The node with the least semi-dominator among `v` and what lies above it, down from the node below the first one
    /// that is not processed yet; processed are the nodes from `first` on.
    fn least(&mut self, mut v: u32, first: u32) -> u32 {
        self.path.clear();
        while self.above[v as usize] >= first {
            self.path.push(v);
            v = self.above[v as usize];
        }
        let (top, mut best) = (self.above[v as usize], self.label[v as usize]);
        while let Some(v) = self.path.pop() {
            let v = v as usize;
            self.above[v] = top;
            if self.semi[best as usize] < self.semi[self.label[v] as usize] {
                self.label[v] = best;
            } else {
                best = self.label[v];
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chacha20::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn agrees_with_petgraph_and_with_the_definition() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..2000 {
            let n = rng.random_range(1..12u32);
            let edges: Vec<_> =
                (0..rng.random_range(0..20)).map(|_| (rng.random_range(0..n), rng.random_range(0..n))).collect();
            let tree = Dominators::new(n as usize, 0, &edges);
            let mut other = petgraph::graph::DiGraph::<(), (), u32>::default();
            let nodes: Vec<_> = (0..n).map(|_| other.add_node(())).collect();
            for (a, b) in &edges {
                other.add_edge(nodes[*a as usize], nodes[*b as usize], ());
            }
            let theirs = petgraph::algo::dominators::simple_fast(&other, nodes[0]);
            for v in 0..n {
                let expected = theirs.immediate_dominator(nodes[v as usize]).map(|d| index(d.index()));
                assert_eq!(tree.immediate(v), expected, "{edges:?} {v}");
            }
            let reached: Vec<_> = (0..n).filter(|v| tree.reaches(*v)).collect();
            let chain = |v: u32| std::iter::successors(Some(v), |v| tree.immediate(*v)).collect::<Vec<_>>();
            for &a in &reached {
                for &b in &reached {
                    assert_eq!(tree.dominates(a, b), chain(b).contains(&a));
                    let common = chain(a).into_iter().find(|d| chain(b).contains(d));
                    assert_eq!(Some(tree.common(a, b)), common);
                }
            }
        }
    }

    #[test]
    fn post_dominators_ignore_no_way_out() {
        use crate::program::instr::{Guard, Instr, Op, Slot};
        let guard = Some(Guard { pred: Slot(0), negated: false });
        let bra = |imm| Instr { guard, imm, ..Instr::new(Op::Bra) };
        // 0: branch to 2 or 1; 1: branch to 3 or 2; 2: ret; 3: trap
        let code = [bra(2), bra(3), Instr::new(Op::Ret), Instr::new(Op::Trap)];
        assert_eq!(post_dominators(&Graph::of(&code, &[])), [None, None, None, None]);
        let code = [bra(2), Instr::new(Op::Nop), Instr::new(Op::Ret)];
        assert_eq!(post_dominators(&Graph::of(&code, &[])), [Some(2), Some(2), None]);
    }
}

//! Cycle equivalence: which arcs lie on the same cycles.
//!
//! Source: Johnson, Pearson, Pingali, "The Program Structure Tree: Computing Control Regions in Linear Time" (PLDI 1994),
//! figure 4. The graph is taken as undirected; in a strongly connected graph that gives the directed cycles' classes.

use super::graph::{Buckets, Search, index};

const NONE: u32 = u32::MAX;

/// The class of each arc of a strongly connected graph without self-loops: two arcs have the same class if and only if
/// every cycle through one passes the other. Node 0 is the root.
pub(super) fn cycle_classes(nodes: usize, arcs: &[(u32, u32)]) -> Vec<u32> {
    let mut search = Brackets::new(nodes, arcs);
    for i in (0..search.order.len()).rev() {
        search.finish(search.order[i] as usize);
    }
    search.class
}

/// A bracket: a back arc of the undirected search, or a *capping* one that stands for those which end above a node.
struct Bracket {
    /// Neighbours in the list of its node.
    above: u32,
    below: u32,
    /// The size of the list and the class when it was last on top.
    size: u32,
    class: u32,
}

/// A list of brackets as a stack with a bottom, so that lists can be joined in constant time.
#[derive(Clone, Copy)]
struct List {
    top: u32,
    bottom: u32,
    size: u32,
}

/// The arc of an end, and the node at its other end.
fn other_end(arcs: &[(u32, u32)], end: u32) -> (u32, u32) {
    let (tail, head) = arcs[(end / 2) as usize];
    (end / 2, if end.is_multiple_of(2) { head } else { tail })
}

struct Brackets<'a> {
    arcs: &'a [(u32, u32)],
    /// Arcs by the node at either end: arc `i` appears as `2 i` at its tail and as `2 i + 1` at its head.
    ends: Buckets,
    /// Nodes in the order of their discovery, and their places in it.
    order: Vec<u32>,
    found: Vec<u32>,
    /// The arc by which a node was discovered.
    tree: Vec<u32>,
    /// The highest place that the node's subtree reaches by a back arc.
    high: Vec<u32>,
    lists: Vec<List>,
    /// Back arcs are brackets of the arc's number; capping ones follow.
    brackets: Vec<Bracket>,
    /// Capping brackets by the node where they end.
    caps: Vec<Vec<u32>>,
    class: Vec<u32>,
    classes: u32,
}

impl<'a> Brackets<'a> {
    fn new(nodes: usize, arcs: &'a [(u32, u32)]) -> Self {
        let ends = Buckets::new(nodes, arcs.iter().flat_map(|(a, b)| [*a, *b]));
        let search = Search::new(0, &ends, |end| other_end(arcs, end).1);
        let mut tree = vec![NONE; nodes];
        for (node, end) in search.order.iter().zip(&search.by) {
            tree[*node as usize] = if *end == NONE { NONE } else { end / 2 };
        }
        let empty = || Bracket { above: NONE, below: NONE, size: 0, class: NONE };
        Self {
            arcs,
            ends,
            order: search.order,
            found: search.found,
            tree,
            high: vec![NONE; nodes],
            lists: vec![List { top: NONE, bottom: NONE, size: 0 }; nodes],
            brackets: arcs.iter().map(|_| empty()).collect(),
            caps: vec![Vec::new(); nodes],
            class: vec![NONE; arcs.len()],
            classes: 0,
        }
    }

    /// The arcs at a node, each with its other end.
    fn around(&self, node: usize) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.ends.of(node).iter().map(|end| other_end(self.arcs, *end))
    }

    /// Computes a node's brackets, once those of its children are known, and the class of the arc that leads to it.
    fn finish(&mut self, node: usize) {
        let place = self.found[node];
        let mut list = List { top: NONE, bottom: NONE, size: 0 };
        // Highest back arc of the node itself; highest and second highest reach of its children.
        let (mut own, mut high, mut second) = (NONE, NONE, NONE);
        let around: Vec<_> = self.around(node).collect();
        for &(arc, other) in &around {
            if self.tree[other as usize] == arc && self.found[other as usize] > place {
                let reach = self.high[other as usize];
                second = second.min(reach.max(high));
                high = high.min(reach);
                list = self.join(list, self.lists[other as usize]);
            } else if self.tree[node] != arc && self.found[other as usize] < place {
                own = own.min(self.found[other as usize]);
            }
        }
        self.high[node] = own.min(high);
        for cap in std::mem::take(&mut self.caps[node]) {
            self.delete(&mut list, cap);
        }
        for &(arc, other) in &around {
            if self.tree[other as usize] != arc && self.found[other as usize] > place {
                self.delete(&mut list, arc);
                if self.class[arc as usize] == NONE {
                    self.class[arc as usize] = self.new_class();
                }
            }
        }
        for &(arc, other) in &around {
            if self.tree[node] != arc && self.found[other as usize] < place {
                self.push(&mut list, arc);
            }
        }
        if second < own {
            let cap = index(self.brackets.len());
            self.brackets.push(Bracket { above: NONE, below: NONE, size: 0, class: NONE });
            self.caps[self.order[second as usize] as usize].push(cap);
            self.push(&mut list, cap);
        }
        if self.tree[node] != NONE && list.size > 0 {
            let top = list.top as usize;
            if self.brackets[top].size != list.size {
                self.brackets[top].size = list.size;
                self.brackets[top].class = self.new_class();
            }
            let class = self.brackets[top].class;
            self.class[self.tree[node] as usize] = class;
            if list.size == 1 && top < self.class.len() {
                self.class[top] = class;
            }
        }
        self.lists[node] = list;
    }

    fn new_class(&mut self) -> u32 {
        self.classes += 1;
        self.classes - 1
    }

    fn push(&mut self, list: &mut List, bracket: u32) {
        self.brackets[bracket as usize].below = list.top;
        self.brackets[bracket as usize].above = NONE;
        if list.top == NONE {
            list.bottom = bracket;
        } else {
            self.brackets[list.top as usize].above = bracket;
        }
        list.top = bracket;
        list.size += 1;
    }

    fn delete(&mut self, list: &mut List, bracket: u32) {
        let Bracket { above, below, .. } = self.brackets[bracket as usize];
        if above == NONE {
            list.top = below;
        } else {
            self.brackets[above as usize].below = below;
        }
        if below == NONE {
            list.bottom = above;
        } else {
            self.brackets[below as usize].above = above;
        }
        list.size -= 1;
    }

    /// `upper` on top of `lower`.
    fn join(&mut self, lower: List, upper: List) -> List {
        if lower.size == 0 || upper.size == 0 {
            return if lower.size == 0 { upper } else { lower };
        }
        self.brackets[lower.top as usize].above = upper.bottom;
        self.brackets[upper.bottom as usize].below = lower.top;
        List { top: upper.top, bottom: lower.bottom, size: lower.size + upper.size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Whether some cycle through arc `x` avoids arc `y`.
    fn cycle_without(nodes: usize, arcs: &[(u32, u32)], x: usize, y: usize) -> bool {
        let mut seen = vec![false; nodes];
        let mut stack = vec![arcs[x].1];
        while let Some(v) = stack.pop() {
            if v == arcs[x].0 {
                return true;
            }
            if !std::mem::replace(&mut seen[v as usize], true) {
                stack.extend(arcs.iter().enumerate().filter(|(i, a)| *i != y && a.0 == v).map(|(_, a)| a.1));
            }
        }
        false
    }

    #[test]
    fn classes_are_those_of_the_definition() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let mut multiple = 0;
        for _ in 0..3000 {
            let n = rng.random_range(2..8u32);
            // A ring makes the graph strongly connected.
            let mut arcs: Vec<_> = (0..n).map(|v| (v, (v + 1) % n)).collect();
            for _ in 0..rng.random_range(0..6) {
                let (a, b) = (rng.random_range(0..n), rng.random_range(0..n));
                if a != b {
                    arcs.push((a, b));
                }
            }
            let class = cycle_classes(n as usize, &arcs);
            for x in 0..arcs.len() {
                for y in 0..x {
                    let same = !cycle_without(n as usize, &arcs, x, y) && !cycle_without(n as usize, &arcs, y, x);
                    assert_eq!(class[x] == class[y], same, "{arcs:?}: {x} {y}");
                    multiple += usize::from(same);
                }
            }
        }
        assert!(multiple > 1000);
    }
}

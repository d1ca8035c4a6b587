//! Cycle equivalence: which arcs lie on the same cycles.
//!
//! In a strongly connected graph two arcs do if and only if the undirected graph falls apart without them (Johnson, Pearson,
//! Pingali, "The Program Structure Tree", PLDI 1994). Every arc off a depth-first tree gets a label of random bits, and an arc
//! of the tree the exclusive or of the labels of all arcs that lead around it: the graph falls apart without two arcs if and
//! only if their labels are equal, but for a chance of 2^-128 (D. Pritchard, R. Thurimella, "Fast Computation of Small Cuts via
//! Cycle Space Sampling", 2011, 2.1).

use super::graph::{Buckets, Search, index};
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_128;

/// The class of each arc of a strongly connected graph without self-loops: two arcs have the same class if and only if
/// every cycle through one passes the other. Node 0 is the root.
pub(super) fn cycle_classes(nodes: usize, arcs: &[(u32, u32)]) -> Vec<u32> {
    // Arc `i` appears as `2 i` at its tail and as `2 i + 1` at its head.
    let ends = Buckets::new(nodes, arcs.iter().flat_map(|(tail, head)| [*tail, *head]));
    let across = |end: u32| {
        let (tail, head) = arcs[end as usize / 2];
        if end.is_multiple_of(2) { head } else { tail }
    };
    let Search { order, by, .. } = Search::new(0, &ends, across);
    let found = || order.iter().zip(&by).skip(1);
    // The hash of its number is as good as random, and always the same.
    let mut labels: Vec<u128> = (0..index(arcs.len())).map(|arc| xxh3_128(&arc.to_le_bytes())).collect();
    found().for_each(|(_, end)| labels[*end as usize / 2] = 0);
    // By node: of the arcs that leave its subtree, once that is gone through.
    let mut around = vec![0; nodes];
    for ((tail, head), label) in arcs.iter().zip(&labels) {
        around[*tail as usize] ^= label;
        around[*head as usize] ^= label;
    }
    for (node, end) in found().rev() {
        labels[*end as usize / 2] = around[*node as usize];
        around[across(end ^ 1) as usize] ^= around[*node as usize];
    }
    let mut classes = FxHashMap::default();
    let class = |label| {
        let next = index(classes.len());
        *classes.entry(label).or_insert(next)
    };
    labels.into_iter().map(class).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chacha20::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

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

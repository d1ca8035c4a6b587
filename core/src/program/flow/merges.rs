//! Where paths meet: splits a block with many ways in into a tree of merges.
//!
//! A region needs one edge in and one out, but compilers thread jumps: the `continue`s of a loop all go to its head, which
//! is entered from outside too, and a loop may begin where the arms of an `if` meet. Taking every block as one node, the
//! lanes of such an `if` would meet again only after the loop, one by one, whereas hardware meets at the immediate
//! post-dominator. So the ways into a block are grouped first: back edges apart from the others, then along the dominator
//! tree, since the edges below one block are what its lanes take. A group changes nothing about the program; it is only a
//! place where a `sync` or `ssy` may stand.

use super::dominators::Dominators;
use super::graph::{Graph, index};
use crate::base::sort;

/// What an edge or a group leads to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Join {
    /// The head of a block.
    Block(u32),
    /// A group.
    Group(u32),
}

/// A group of at least two ways into a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Group {
    /// The block that they enter.
    pub block: u32,
    /// Where the group leads.
    pub to: Join,
    /// Whether these are back edges: the block dominates where they come from.
    pub back: bool,
}

/// The merge trees of a graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Merges {
    /// What each edge leads to; edges that cannot be reached lead to their block.
    pub edges: Vec<Join>,
    /// What the start of the function leads to.
    pub start: Join,
    /// The groups. A group that another one leads to comes after it.
    pub groups: Vec<Group>,
}

impl Merges {
    /// The merge trees of a function's blocks.
    ///
    /// `meets` are the blocks' immediate post-dominators.
    pub fn of(graph: &Graph, tree: &Dominators, meets: &[Option<u32>]) -> Self {
        let edges = graph.edges().iter().map(|e| Join::Block(e.to)).collect();
        let mut merges = Self { edges, groups: Vec::new(), start: Join::Block(0) };
        for block in 0..graph.blocks().len() {
            let at = index(block);
            let live = |e: &u32| tree.reaches(graph.edges()[*e as usize].from);
            let ways: Vec<u32> = graph.entering(block).iter().copied().filter(live).collect();
            // The start of the function is a way into block 0.
            if ways.len() + usize::from(block == 0) < 3 || !tree.reaches(at) {
                continue;
            }
            let from = |e: &u32| graph.edges()[*e as usize].from;
            let (back, rest): (Vec<u32>, Vec<u32>) = ways.iter().partition(|e| tree.dominates(at, from(e)));
            let like = Group { block: at, to: Join::Block(at), back: false };
            let top = merges.tree(graph, tree, like, rest);
            if back.is_empty() {
                continue;
            }
            let mut outer = if block == 0 { Some(Item::Start) } else { merges.close(like, top) };
            let mut nest = loops(tree, meets, at, back.iter().map(|e| (from(e), *e)));
            while let Some(edges) = nest.pop() {
                let latch = Group { back: true, ..like };
                let top = merges.tree(graph, tree, latch, edges);
                let latch = merges.close(latch, top);
                if !nest.is_empty() {
                    outer = merges.close(like, outer.into_iter().chain(latch).collect());
                }
            }
        }
        merges
    }

    /// Groups edges along the dominator tree; gives back what is left at the top.
    fn tree(&mut self, graph: &Graph, tree: &Dominators, like: Group, mut edges: Vec<u32>) -> Vec<Item> {
        let from = |e: u32| graph.edges()[e as usize].from;
        sort::sort_by_key(&mut edges, |e| tree.preorder(from(*e)));
        // The path from the top of the dominator tree to the last source, as far as sources branch off it.
        let mut path: Vec<(u32, Vec<Item>)> = Vec::new();
        for edge in edges {
            let source = from(edge);
            if let Some((last, _)) = path.last() {
                let common = tree.common(*last, source);
                self.climb(like, &mut path, |next| tree.depth(next) >= tree.depth(common));
                if let Some((last, items)) = path.pop_if(|(last, _)| *last != common) {
                    let item = self.close(like, items);
                    debug_assert!(tree.dominates(common, last));
                    path.push((common, item.into_iter().collect()));
                }
            }
            match path.last_mut() {
                Some((last, items)) if *last == source => items.push(Item::Edge(edge)),
                _ => path.push((source, vec![Item::Edge(edge)])),
            }
        }
        self.climb(like, &mut path, |_| true);
        path.pop().map_or_else(Vec::new, |(_, items)| items)
    }

    /// Closes the lower end of the path as long as the node above is wanted as the new end.
    fn climb(&mut self, like: Group, path: &mut Vec<(u32, Vec<Item>)>, wanted: impl Fn(u32) -> bool) {
        while let [.., (next, _), _] = path.as_slice() {
            if !wanted(*next) {
                return;
            }
            let items = path.pop().map_or_else(Vec::new, |(_, items)| items);
            let item = self.close(like, items);
            if let (Some((_, above)), Some(item)) = (path.last_mut(), item) {
                above.push(item);
            }
        }
    }

    /// Makes one of several items.
    fn close(&mut self, group: Group, items: Vec<Item>) -> Option<Item> {
        if items.len() < 2 {
            return items.into_iter().next();
        }
        let name = index(self.groups.len());
        self.groups.push(group);
        for item in items {
            match item {
                Item::Edge(e) => self.edges[e as usize] = Join::Group(name),
                Item::Start => self.start = Join::Group(name),
                Item::Group(g) => self.groups[g as usize].to = Join::Group(name),
            }
        }
        Some(Item::Group(name))
    }
}

/// The loops that share a head, innermost first, as their back edges (given with where each comes from).
///
/// Lanes that go back at `b` in `do { … } while (a || b)` have passed the test of `a`, where lanes that go back at `a` come
/// by again: its back edge makes an inner loop. Such tests are the head's post-dominators.
fn loops(tree: &Dominators, meets: &[Option<u32>], head: u32, back: impl Iterator<Item = (u32, u32)>) -> Vec<Vec<u32>> {
    let next = |b: &u32| meets[*b as usize].filter(|meet| *meet != head && tree.dominates(head, *meet));
    let tests: Vec<u32> = std::iter::successors(Some(head), next).collect();
    let mut loops = vec![Vec::new(); tests.len()];
    for (from, edge) in back {
        // Those that dominate a block come first, in the order of their dominance.
        let passed = tests.partition_point(|test| tree.dominates(*test, from));
        loops[passed.max(1) - 1].push(edge);
    }
    loops.retain(|edges| !edges.is_empty());
    loops
}

/// A part of a merge tree.
#[derive(Clone, Copy)]
enum Item {
    Start,
    Edge(u32),
    Group(u32),
}

//! Break tokens (report, 5.4.1) in place of sync tokens around loops.
//!
//! Source: decision D-inject. Where a branch within a loop leaves the loop's region at once, `preBrk` and `break` take the
//! place of `ssy` and `sync`: a lane that leaves waits in the disable mask. A divergent branch would make a diverge token,
//! let the leaving lanes come to the `sync`, and pop it again; a `break` is one instruction.
//!
//! A `break` reaches the topmost break token with its lane. Regions have one entry and one exit, so lanes that are in a
//! region and in none within it find no token above this region's that holds them: any region may be treated so, whatever
//! other regions and loops it holds. It is done where the report's compiler would: a loop is left.

use super::dominators::Dominators;
use super::graph::{Graph, index};
use crate::base::sort;
use crate::program::instr::{Instr, Op};
use rustc_hash::FxHashMap;

const NONE: u32 = u32::MAX;

/// Rewrites injected code. `injected` tells for each instruction whether it was injected.
pub(super) fn break_loops(code: &mut [Instr], tables: &[Vec<u32>], injected: impl Fn(usize) -> bool) {
    // By its `sync`: the `ssy` of a region.
    let mut entry: FxHashMap<u32, usize> = FxHashMap::default();
    for (s, instr) in code.iter().enumerate().filter(|(s, i)| i.op == Op::Ssy && injected(*s)) {
        entry.insert(instr.imm.wrapping_sub(1), s);
    }
    let leaves = |i: &Instr| i.op == Op::Bra && i.guard.is_some() && entry.contains_key(&i.imm);
    if !code.iter().any(leaves) {
        return;
    }
    let graph = Graph::of(code, tables);
    let tree = Dominators::of(&graph);
    let heads = loop_heads(&graph, &tree);
    let block_of = |at: usize| graph.blocks().partition_point(|b| b.end as usize <= at);
    // By its `sync`: whether a branch in a loop within the region leaves it.
    let mut breaks = vec![false; code.len()];
    for (i, instr) in code.iter().enumerate().filter(|(_, i)| leaves(i)) {
        let Some(&s) = entry.get(&instr.imm) else { continue };
        let (head, before) = (heads[block_of(i)], index(block_of(s)));
        if head != NONE && head != before && tree.reaches(before) && tree.dominates(before, head) {
            breaks[instr.imm as usize] = true;
        }
    }
    for i in 0..code.len() {
        let instr = &mut code[i];
        match instr.op {
            Op::Ssy if breaks.get(instr.imm.wrapping_sub(1) as usize) == Some(&true) => instr.op = Op::PreBrk,
            Op::Bra if breaks.get(instr.imm as usize) == Some(&true) => {
                (instr.op, instr.imm) = (Op::Break, instr.imm + 1);
            }
            Op::Sync if breaks[i] => (instr.op, instr.imm) = (Op::Break, index(i) + 1),
            _ => {}
        }
    }
}

/// The head of the innermost loop around each block, by dominance: a loop with several entries is none.
fn loop_heads(graph: &Graph, tree: &Dominators) -> Vec<u32> {
    let blocks = graph.blocks().len();
    let mut order: Vec<u32> = (0..index(blocks)).filter(|b| tree.reaches(*b)).collect();
    // Inner heads before outer ones.
    sort::sort_by_key(&mut order, |b| std::cmp::Reverse(tree.preorder(*b)));
    let mut heads = vec![NONE; blocks];
    // Where a block's outermost loop so far begins: itself if it is in none.
    let mut outermost: Vec<u32> = (0..index(blocks)).collect();
    let mut work = Vec::new();
    for head in order {
        let within = |p: &u32| tree.reaches(*p) && tree.dominates(head, *p);
        work.extend(graph.predecessors(head as usize).filter(within));
        if work.is_empty() {
            continue;
        }
        heads[head as usize] = head;
        while let Some(block) = work.pop() {
            let block = find(&mut outermost, block);
            if block == head {
                continue;
            }
            outermost[block as usize] = head;
            if heads[block as usize] == NONE {
                heads[block as usize] = head;
            }
            work.extend(graph.predecessors(block as usize).filter(within));
        }
    }
    heads
}

/// The end of a chain, which is shortened on the way.
fn find(up: &mut [u32], mut b: u32) -> u32 {
    while up[b as usize] != b {
        up[b as usize] = up[up[b as usize] as usize];
        b = up[b as usize];
    }
    b
}

//! The control-flow graph of one function: basic blocks and the edges between them.
//!
//! Blocks and edges are named by their index. A block ends at a `bra` or `brx`, at an unguarded `ret`, `exit` or `trap`,
//! or before an instruction that is jumped to. A guarded `ret`, `exit` or `trap` does not end its block: some lanes leave
//! there, the others go on, and no two lanes of the warp end up at different addresses.

use crate::program::env::{Function, ProgEnv};
use crate::program::instr::{Instr, Op};

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// Index of its first instruction in the function.
    pub start: u32,
    /// One past its last instruction.
    pub end: u32,
    /// How it ends.
    pub ending: Ending,
}

/// How a block ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// It has one way on: it falls into the next block or jumps.
    Goes,
    /// It ends in a conditional or indirect branch, where lanes may part.
    Branches,
    /// It ends in an unguarded `ret` or `exit`.
    Returns,
    /// It ends in an unguarded `trap`.
    Traps,
    /// It runs past the function's end or jumps outside: not a complete function.
    FallsOff,
}

/// An edge. Several edges between the same two blocks are distinct.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The block it leaves.
    pub from: u32,
    /// The block it enters.
    pub to: u32,
    /// Which way of `from` it is.
    pub kind: EdgeKind,
}

/// The ways out of a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EdgeKind {
    /// On to the next block of the code.
    Fall,
    /// The target of a `bra`.
    Taken,
    /// An entry of the table of a `brx`.
    Entry(u32),
}

/// The control-flow graph of one function. Block 0 is the entry; it has no blocks if the function has no instructions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Graph {
    blocks: Vec<Block>,
    /// In the order of `from`.
    edges: Vec<Edge>,
    /// Where each block's edges begin in `edges`; one more than there are blocks.
    out: Vec<u32>,
    /// Edges by `to`.
    into: Buckets,
}

impl Graph {
    /// The graph of a function's code. `tables` hold the targets of `brx`; all targets are indices into `code`. A target
    /// outside of the code gives no edge, but [`Ending::FallsOff`].
    #[must_use]
    pub fn of(code: &[Instr], tables: &[Vec<u32>]) -> Self {
        let mut leads = vec![false; code.len() + 1];
        let mut lead = |i: usize| leads[i.min(code.len())] = true;
        lead(0);
        for (i, instr) in code.iter().enumerate() {
            for target in targets(instr, tables) {
                lead(*target as usize);
            }
            if ends_block(instr) {
                lead(i + 1);
            }
        }
        let starts: Vec<usize> = (0..code.len()).filter(|i| leads[*i]).collect();
        let mut block_at = vec![u32::MAX; code.len()];
        for (b, start) in starts.iter().enumerate() {
            block_at[*start] = index(b);
        }
        let mut blocks = Vec::with_capacity(starts.len());
        let mut edges = Vec::new();
        for (b, &start) in starts.iter().enumerate() {
            let end = starts.get(b + 1).copied().unwrap_or(code.len());
            let last = &code[end - 1];
            let mut complete = true;
            let mut to = |at: usize, kind| match block_at.get(at) {
                Some(to) => edges.push(Edge { from: index(b), to: *to, kind }),
                None => complete = false,
            };
            let jumps = targets(last, tables);
            let falls = !ends_block(last) || (matches!(last.op, Op::Bra | Op::Brx | Op::Break) && last.guard.is_some());
            if falls {
                to(end, EdgeKind::Fall);
            }
            for (i, target) in jumps.iter().enumerate() {
                to(*target as usize, if last.op == Op::Brx { EdgeKind::Entry(index(i)) } else { EdgeKind::Taken });
            }
            let ending = match last.op {
                _ if !complete => Ending::FallsOff,
                Op::Ret | Op::Exit if !falls => Ending::Returns,
                Op::Trap if !falls => Ending::Traps,
                Op::Brx if !falls && jumps.is_empty() => Ending::Traps,
                Op::Bra | Op::Break if falls => Ending::Branches,
                Op::Brx => Ending::Branches,
                _ => Ending::Goes,
            };
            blocks.push(Block { start: index(start), end: index(end), ending });
        }
        Self::join(blocks, edges)
    }

    /// The graph of a function of an environment; addresses are counted from the function's start.
    #[must_use]
    pub fn of_function(env: &ProgEnv, function: &Function) -> Self {
        let code = env.code.get(function.start.0 as usize..function.end.0 as usize).unwrap_or_default();
        let (code, tables) = local(code, function.start.0, &env.tables);
        Self::of(&code, &tables)
    }

    /// A graph of given blocks and edges; the edges must be in the order of `from`.
    pub(super) fn join(blocks: Vec<Block>, edges: Vec<Edge>) -> Self {
        let out = offsets(blocks.len(), edges.iter().map(|e| e.from));
        let into = Buckets::new(blocks.len(), edges.iter().map(|e| e.to));
        Self { blocks, edges, out, into }
    }

    /// The blocks in the order of the code.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// All edges, in the order of the blocks that they leave; those of one block: first the way on, then the targets.
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The indices of the edges that leave a block.
    #[must_use]
    pub fn leaving(&self, block: usize) -> std::ops::Range<usize> {
        self.out[block] as usize..self.out[block + 1] as usize
    }

    /// The indices of the edges that enter a block.
    #[must_use]
    pub fn entering(&self, block: usize) -> &[u32] {
        self.into.of(block)
    }

    /// The blocks after a block, one for each edge.
    pub fn successors(&self, block: usize) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.edges[self.leaving(block)].iter().map(|e| e.to)
    }

    /// The blocks before a block, one for each edge.
    pub fn predecessors(&self, block: usize) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.entering(block).iter().map(|e| self.edges[*e as usize].from)
    }
}

/// A function's code with indices counted from its start.
pub(super) fn local(code: &[Instr], start: u32, all: &[Vec<u32>]) -> (Vec<Instr>, Vec<Vec<u32>>) {
    let mut tables = Vec::new();
    let mut code = code.to_vec();
    for instr in &mut code {
        match instr.op {
            Op::Bra | Op::Break => instr.imm = instr.imm.wrapping_sub(start),
            Op::Brx => {
                let table = all.get(instr.imm as usize).map_or(&[][..], Vec::as_slice);
                instr.imm = u32::try_from(tables.len()).unwrap_or(u32::MAX);
                tables.push(table.iter().map(|target| target.wrapping_sub(start)).collect());
            }
            _ => {}
        }
    }
    (code, tables)
}

/// The targets that an instruction can jump to.
pub(super) fn targets<'a>(instr: &'a Instr, tables: &'a [Vec<u32>]) -> &'a [u32] {
    match instr.op {
        Op::Bra | Op::Break => std::slice::from_ref(&instr.imm),
        Op::Brx => tables.get(instr.imm as usize).map_or(&[], Vec::as_slice),
        _ => &[],
    }
}

fn ends_block(instr: &Instr) -> bool {
    match instr.op {
        Op::Bra | Op::Brx | Op::Break => true,
        Op::Ret | Op::Exit | Op::Trap => instr.guard.is_none(),
        _ => false,
    }
}

/// An index as it is stored. Functions are far smaller than this type's range.
pub(super) fn index(i: usize) -> u32 {
    u32::try_from(i).unwrap_or(u32::MAX)
}

/// Where each key's items begin when items are in the order of their keys (which are below `keys`).
fn offsets(keys: usize, items: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut at = vec![0; keys + 1];
    for key in items {
        at[key as usize + 1] += 1;
    }
    for key in 0..keys {
        at[key + 1] += at[key];
    }
    at
}

/// The items' indices sorted by key. Keys of `u32::MAX` are left out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Buckets {
    /// Where each key's indices begin; one more than there are keys.
    pub at: Vec<u32>,
    /// The indices.
    pub items: Vec<u32>,
}

impl Buckets {
    pub fn new(keys: usize, items: impl Iterator<Item = u32> + Clone) -> Self {
        let at = offsets(keys, items.clone().filter(|key| *key != u32::MAX));
        let mut next = at.clone();
        let mut sorted = vec![0; at[keys] as usize];
        for (i, key) in items.enumerate().filter(|(_, key)| *key != u32::MAX) {
            let slot = &mut next[key as usize];
            sorted[*slot as usize] = index(i);
            *slot += 1;
        }
        Self { at, items: sorted }
    }

    /// The indices of a key's items.
    pub fn of(&self, key: usize) -> &[u32] {
        &self.items[self.at[key] as usize..self.at[key + 1] as usize]
    }
}

/// A depth-first search of the nodes that `ways` are sorted by, each of which leads `to` a node.
pub(super) struct Search {
    /// The nodes in the order in which they are found.
    pub order: Vec<u32>,
    /// By node: its place in that order; `u32::MAX` where it is not found.
    pub found: Vec<u32>,
    /// By place: the way by which the node was found; `u32::MAX` for the root.
    pub by: Vec<u32>,
}

impl Search {
    pub fn new(root: u32, ways: &Buckets, to: impl Fn(u32) -> u32) -> Self {
        let mut search = Self { order: Vec::new(), found: vec![u32::MAX; ways.at.len() - 1], by: Vec::new() };
        let mut stack = Vec::new();
        let mut enter = |node: u32, way: u32, stack: &mut Vec<(u32, u32)>| {
            if search.found[node as usize] == u32::MAX {
                search.found[node as usize] = index(search.order.len());
                search.order.push(node);
                search.by.push(way);
                stack.push((node, ways.at[node as usize]));
            }
        };
        enter(root, u32::MAX, &mut stack);
        while let Some((node, next)) = stack.last_mut() {
            if *next == ways.at[*node as usize + 1] {
                stack.pop();
                continue;
            }
            let way = ways.items[*next as usize];
            *next += 1;
            enter(to(way), way, &mut stack);
        }
        search
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::instr::{Guard, Slot};

    fn op(op: Op, imm: u32, guarded: bool) -> Instr {
        let guard = guarded.then_some(Guard { pred: Slot(0), negated: false });
        Instr { guard, imm, ..Instr::new(op) }
    }

    #[test]
    fn blocks_end_where_control_may_leave_or_enter() {
        let code = [
            op(Op::Nop, 0, false),
            op(Op::Exit, 0, true),
            op(Op::Bra, 4, true),
            op(Op::Nop, 0, false),
            op(Op::Brx, 0, false),
            op(Op::Exit, 0, false),
        ];
        let graph = Graph::of(&code, &[vec![4, 5, 4]]);
        let blocks: Vec<_> = graph.blocks().iter().map(|b| (b.start, b.end, b.ending)).collect();
        use Ending::{Branches, Goes, Returns};
        assert_eq!(blocks, [(0, 3, Branches), (3, 4, Goes), (4, 5, Branches), (5, 6, Returns)]);
        let edges: Vec<_> = graph.edges().iter().map(|e| (e.from, e.to, e.kind)).collect();
        use EdgeKind::{Entry, Fall, Taken};
        assert_eq!(
            edges,
            [(0, 1, Fall), (0, 2, Taken), (1, 2, Fall), (2, 2, Entry(0)), (2, 3, Entry(1)), (2, 2, Entry(2))]
        );
        assert_eq!(graph.predecessors(2).collect::<Vec<_>>(), [0, 1, 2, 2]);
    }

    #[test]
    fn a_target_outside_of_the_code_is_no_edge() {
        let graph = Graph::of(&[op(Op::Bra, 7, true)], &[]);
        assert_eq!(graph.blocks()[0].ending, Ending::FallsOff);
        assert!(graph.edges().is_empty());
        assert_eq!(Graph::of(&[], &[]).blocks().len(), 0);
    }
}

//! Where lanes part, and where those that have parted are together again.
//!
//! With tokens (report, 5.4.1) they meet where the region ends that the branch lies in, as D-inject puts it. Without, lanes that
//! stand at one address are a group, whichever way they came: so they may meet wherever two of the ways lead on that they
//! parted to.

use super::steady::Writers;
use crate::base::mutant::{Mutant, on};
use crate::program::env::{Function, ProgEnv};
use crate::program::flow::{Dominators, Graph};
use crate::program::instr::{Instr, Op};
use fixedbitset::FixedBitSet;
use std::collections::BTreeMap;

/// What was written while lanes were apart, and which registers hold the same all the same, once that was asked.
#[derive(Clone, Default)]
struct Apart {
    written: FixedBitSet,
    steady: Option<FixedBitSet>,
}

impl Apart {
    fn add(&mut self, registers: usize, written: impl Iterator<Item = usize>) {
        self.written.grow(registers);
        self.written.extend(written);
        self.steady = None;
    }

    fn steady(&mut self, writers: &Writers) -> &FixedBitSet {
        self.steady.get_or_insert_with(|| writers.steady(&self.written))
    }
}

/// How lanes meet in a function, as far as they are known to part.
pub(super) struct Meets<'a> {
    pub graph: &'a Graph,
    code: &'a [Instr],
    /// Where the function begins.
    start: u32,
    writers: &'a Writers,
    dominators: Dominators,
    /// By block: those that can be reached behind its end.
    behind: Vec<FixedBitSet>,
    /// Convergence is by tokens.
    tokens: bool,
    /// Where lanes part, that is accounted for.
    parted: FixedBitSet,
    /// By instruction before which lanes meet: what was written while they were apart.
    lost: BTreeMap<u32, Apart>,
    /// By block: from which instruction on lanes may meet at any, and what is written while they are apart.
    anywhere: Vec<(u32, Apart)>,
}

impl<'a> Meets<'a> {
    /// Nobody parts yet.
    pub fn new(
        env: &ProgEnv,
        function: &Function,
        (graph, code): (&'a Graph, &'a [Instr]),
        writers: &'a Writers,
    ) -> Self {
        let blocks = graph.blocks().len();
        let mut meets = Self {
            graph,
            code,
            start: function.start.0,
            writers,
            dominators: Dominators::of(graph),
            behind: (0..blocks).map(|b| reached(graph, graph.successors(b), None)).collect(),
            tokens: env.injected,
            parted: FixedBitSet::with_capacity(code.len()),
            lost: BTreeMap::new(),
            anywhere: vec![(u32::MAX, Apart::default()); blocks],
        };
        // Groups that call a function one after the other may meet in it.
        if !meets.tokens && !function.entry {
            for (block, anywhere) in graph.blocks().iter().zip(&mut meets.anywhere) {
                anywhere.0 = block.start;
                anywhere.1.add(writers.registers(), 0..writers.registers());
            }
        }
        meets
    }

    /// Whether a register's values may be of several times behind an instruction that writes it.
    pub fn loses(&mut self, block: usize, at: u32, register: usize) -> bool {
        let (from, apart) = &mut self.anywhere[block];
        *from <= at && !apart.steady(self.writers).contains(register) && !on(Mutant::AffineTime)
    }

    /// The registers in which lanes may differ that have met before an instruction.
    pub fn lost(&mut self, block: usize, at: u32) -> Vec<usize> {
        let Some(apart) = self.lost.get_mut(&at).filter(|_| !on(Mutant::AffineMeet)) else { return Vec::new() };
        let steady = apart.steady(self.writers).clone();
        let written = apart.written.clone();
        let kept = |register: usize| steady.contains(register) && self.comes_after(register, block, at);
        written.ones().filter(|register| !kept(*register)).collect()
    }

    /// Whether all who come to an instruction have executed the only one that writes a register.
    fn comes_after(&self, register: usize, block: usize, at: u32) -> bool {
        let Some(by) = self.writers.only(register).filter(|_| !on(Mutant::AffineOnce)) else { return true };
        let (of, here) = (self.block_of(by), block as u32);
        if of == here { by < at } else { self.dominators.dominates(of, here) }
    }

    fn block_of(&self, at: u32) -> u32 {
        let before = self.graph.blocks().partition_point(|block| block.start <= at);
        u32::try_from(before).unwrap_or(u32::MAX).saturating_sub(1)
    }

    /// Lanes part at an instruction. Tells whether that was not known.
    pub fn part(&mut self, block: usize, at: u32) -> bool {
        if self.parted.put(at as usize) {
            return false;
        }
        if self.tokens {
            self.meet_at_tokens(block, at);
        } else {
            self.meet_anywhere(block, at);
        }
        true
    }

    /// Lanes meet before an instruction that have written what some instructions write.
    fn lose(&mut self, at: u32, code: std::ops::Range<u32>) {
        let apart = self.lost.entry(at).or_default();
        apart.add(self.writers.registers(), self.writers.written(code));
    }

    fn meet_anywhere(&mut self, block: usize, at: u32) {
        let end = self.graph.blocks()[block].end;
        let jumps = matches!(self.code[at as usize].op, Op::Bra | Op::Brx | Op::Break);
        let mut ways: Vec<FixedBitSet> = Vec::new();
        for to in self.graph.successors(block) {
            let mut way = self.behind[to as usize].clone();
            way.insert(to as usize);
            ways.push(way);
        }
        let none = FixedBitSet::with_capacity(self.graph.blocks().len());
        let (mut once, mut twice) = (none.clone(), none);
        for way in &ways {
            let mut both = once.clone();
            both.intersect_with(way);
            twice.union_with(&both);
            once.union_with(way);
        }
        if !jumps {
            // Some go on from here at once, others later.
            twice.clone_from(&once);
            once.insert(block);
            let (from, apart) = &mut self.anywhere[block];
            *from = (*from).min(at + 1);
            apart.add(self.writers.registers(), self.writers.written(at..end));
        }
        for met in twice.ones() {
            let start = self.graph.blocks()[met].start;
            self.anywhere[met].0 = start;
            let before: Vec<usize> = once.ones().filter(|b| self.behind[*b].contains(met)).collect();
            for b in before {
                let range = self.graph.blocks()[b].start..self.graph.blocks()[b].end;
                // What stands before it is executed once more only on a way round.
                let round = self.behind[block].contains(block);
                let range = if b == block && !jumps && !round { at..end } else { range };
                self.anywhere[met].1.add(self.writers.registers(), self.writers.written(range.clone()));
                self.lose(start, range);
            }
        }
    }

    /// At the end of the smallest region around a branch, which is where its `ssy` or `preBrk` leads.
    fn meet_at_tokens(&mut self, block: usize, at: u32) {
        let mut smallest: Vec<(u32, FixedBitSet)> = Vec::new();
        for (k, instr) in (0..).zip(self.code) {
            if !matches!(instr.op, Op::Ssy | Op::PreBrk) {
                continue;
            }
            let Some(to) = instr.imm.checked_sub(self.start).filter(|to| (*to as usize) < self.code.len()) else {
                continue;
            };
            let from = self.block_of(k) as usize;
            let mut inside = reached(self.graph, self.graph.successors(from), Some(self.block_of(to)));
            let around = inside.contains(block) || from == block && k < at;
            inside.insert(from);
            let size = |region: &(u32, FixedBitSet)| region.1.count_ones(..);
            let (new, old) = ((to, inside), smallest.first().map(size));
            if around && old.is_none_or(|old| size(&new) <= old) {
                if old.is_some_and(|old| size(&new) < old) {
                    smallest.clear();
                }
                smallest.push(new);
            }
        }
        for (to, _) in smallest {
            let last = self.block_of(to);
            let inside = reached(self.graph, self.graph.successors(block), Some(last));
            for b in inside.ones() {
                self.lose(to, self.graph.blocks()[b].start..self.graph.blocks()[b].end);
            }
            self.lose(to, self.graph.blocks()[last as usize].start..to);
        }
    }
}

/// The blocks that can be reached from some, these among them, on ways that do not lead through one.
fn reached(graph: &Graph, from: impl Iterator<Item = u32>, but: Option<u32>) -> FixedBitSet {
    let mut found = FixedBitSet::with_capacity(graph.blocks().len());
    let mut work: Vec<u32> = from.collect();
    while let Some(block) = work.pop() {
        if Some(block) != but && !found.put(block as usize) {
            work.extend(graph.successors(block as usize));
        }
    }
    found
}

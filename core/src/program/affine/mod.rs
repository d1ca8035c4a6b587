//! Which registers hold one value for all lanes of a warp, or values that lie on a line, before each instruction of a function.
//!
//! A register is *uniform* before an instruction if lanes that execute it together have one value in it, whenever that is;
//! *affine* if there are a base and a stride such that lane *l* has base + *l* · stride, over the warp or over each half of it
//! (a block 16 threads wide has rows of half a warp); else a *vector*. It is so in every run on memory where accesses take effect
//! at once, of a block of the shape that was asked about. Strides are known numbers; of bases the low bits are, as far as they
//! follow from the code: thread indices in a row begin at multiples of the warp's size, which is what tells that a 32-bit index
//! that is widened does not wrap around within the warp. Where that does not follow it is assumed, and told
//! ([`Affine::assumptions`]), as it is that numbers which are divided by powers of two are not negative: from where an assumption
//! fails on nothing is claimed of that warp.
//!
//! Lanes that part and meet again differ in what they have computed apart (control divergence), lanes that leave a loop at
//! different times in what it has computed (temporal divergence): D-affine says where that is. Sources: B. Coutinho et al.,
//! "Divergence Analysis and Optimizations", 2011; S. Collange, D. Defour, Y. Zhang, "Dynamic detection of uniform and affine
//! vectors in GPGPU computations", 2009.

mod dump;
mod meet;
mod parting;
mod pattern;
mod quotients;
mod start;
mod steady;
mod transfer;
mod values;

pub use dump::dump;
pub use pattern::{Line, Pattern, Residue};
pub use start::{MULTIPLE, Threads};

use super::env::{FuncId, Function, ProgEnv};
use super::flow::Graph;
use super::instr::{Instr, Slot};
use super::ops::Class;
use crate::base::Pc;
use crate::base::mutant::{Mutant, on};
use meet::Meets;
use parting::parts;
use quotients::signs;
use start::first;
use std::collections::BTreeSet;
use steady::Writers;
use transfer::Transfer;
use values::Values;

/// Registers times blocks of a function at most, and blocks: of a larger one nothing is claimed.
const LIMIT: usize = 1 << 22;
const BLOCKS: usize = 1 << 10;

/// What is known of the launches of a function, and what is not to be assumed.
#[derive(Clone, Copy, Debug)]
pub struct Premises<'a> {
    /// Parameters, by their offsets, that are multiples of [`MULTIPLE`].
    pub multiples: &'a [u32],
    /// Instructions, from the function's start, at which nothing is assumed.
    pub refused: &'a BTreeSet<u32>,
}

/// What is known of the registers of a function.
#[derive(Clone, Debug)]
pub struct Affine {
    function: FuncId,
    lanes: u32,
    graph: Graph,
    /// By block: the patterns before its first instruction, by the numbers of registers. `None`: nobody comes there.
    before: Vec<Option<Vec<Pattern>>>,
    /// By instruction, from the function's start, and register that it writes: what it is in afterwards.
    after: Vec<Vec<(usize, Pattern)>>,
    /// By instruction: registers that are vectors before it though they were none behind the one before.
    lost: Vec<Vec<usize>>,
    assumptions: BTreeSet<u32>,
    /// Nothing is claimed.
    given_up: bool,
}

impl Affine {
    /// Of a function of a program with the tokens of its control model in it, in blocks of a shape and warps of so many lanes.
    #[must_use]
    pub fn of(env: &ProgEnv, id: FuncId, threads: Threads, lanes: u32) -> Self {
        Self::with(env, id, threads, lanes, Premises { multiples: &[], refused: &BTreeSet::new() })
    }

    /// The same on some premises.
    #[must_use]
    pub fn with(env: &ProgEnv, id: FuncId, threads: Threads, lanes: u32, premises: Premises<'_>) -> Self {
        let none = Function::default();
        let function = env.function(id).filter(|f| f.defined).unwrap_or(&none);
        let code = env.code.get(function.start.0 as usize..function.end.0 as usize).unwrap_or_default();
        let graph = Graph::of_function(env, function);
        let (blocks, registers) = (graph.blocks().len(), function.slots.count());
        let mut affine = Self {
            function: id,
            lanes,
            before: vec![None; blocks],
            after: vec![Vec::new(); code.len()],
            lost: vec![Vec::new(); code.len()],
            graph,
            assumptions: BTreeSet::new(),
            given_up: blocks > BLOCKS || blocks.saturating_mul(registers) > LIMIT,
        };
        if !affine.given_up && blocks > 0 {
            let start = first(function, threads, lanes, premises.multiples);
            affine.solve(env, (function, code), start, premises.refused);
        }
        affine
    }

    /// Calls `see` with the patterns of all registers before each instruction that lanes come to, by the numbers that
    /// [`Slots::number`](super::env::Slots::number) gives, and with those of what it writes behind it.
    pub fn each(&self, env: &ProgEnv, mut see: impl FnMut(Pc, &[Pattern], &[(usize, Pattern)])) {
        let Some(function) = env.function(self.function).filter(|_| !self.given_up) else { return };
        for (block, before) in self.graph.blocks().iter().zip(&self.before) {
            let Some(mut state) = before.clone() else { continue };
            for at in block.start..block.end {
                let (lost, after) = (&self.lost[at as usize], &self.after[at as usize]);
                lost.iter().for_each(|n| state[*n] = Pattern::Vector);
                see(Pc(function.start.0 + at), &state, after);
                after.iter().for_each(|(n, pattern)| state[*n] = *pattern);
            }
        }
    }

    /// The instructions that widen 32-bit numbers of which it is assumed that they do not wrap around from lane to lane, and those
    /// that take the sign of numbers to divide them, none of which is assumed to be negative.
    pub fn assumptions(&self) -> impl Iterator<Item = Pc> {
        self.assumptions.iter().map(|pc| Pc(*pc))
    }

    /// Whether a conditional or indirect jump is one at which lanes may part.
    #[must_use]
    pub fn parts(&self, env: &ProgEnv, pc: Pc, before: &[Pattern]) -> bool {
        let (function, instr) = (env.function(self.function), env.code.get(pc.0 as usize));
        function.zip(instr).is_some_and(|(f, i)| parts(env, f, i, before))
    }

    /// Whether the function is too large, and nothing is claimed of it.
    #[must_use]
    pub const fn gave_up(&self) -> bool {
        self.given_up
    }

    /// Whether values of a register in lanes that execute an instruction together are as claimed.
    #[must_use]
    pub fn admits(&self, class: Class, pattern: Pattern, active: u32, value: impl Fn(usize) -> u64) -> bool {
        Values { class, lanes: self.lanes }.admits(pattern, active, value)
    }

    /// Goes through the blocks until nothing changes.
    fn solve(
        &mut self,
        env: &ProgEnv,
        (function, code): (&Function, &[Instr]),
        start: Vec<Pattern>,
        refused: &BTreeSet<u32>,
    ) {
        let writers = Writers::of(env, function, code);
        let graph = std::mem::take(&mut self.graph);
        let mut meets = Meets::new(env, function, (&graph, code), &writers);
        let signs = signs(env, function, code, |register| writers.only(register));
        let transfer = Transfer { env, lanes: self.lanes, entry: function.entry, signs, refused };
        self.before[0] = Some(start);
        let mut work = BTreeSet::from([0_u32]);
        while let Some(block) = work.pop_first() {
            let Some(state) = self.before[block as usize].clone() else { continue };
            let (state, parted) = self.block((block as usize, state), &transfer, (function, code), &mut meets);
            if parted {
                // Wherever they meet, less is known than was thought.
                work.extend((0..).zip(&self.before).filter(|(_, before)| before.is_some()).map(|(b, _)| b));
            }
            for to in graph.successors(block as usize) {
                if self.enter(to as usize, &state, function) {
                    work.insert(to);
                }
            }
        }
        drop(meets);
        self.graph = graph;
    }

    /// What holds where a block is entered, one way more. Tells whether that is less than before.
    fn enter(&mut self, block: usize, state: &[Pattern], function: &Function) -> bool {
        let lanes = self.lanes;
        let Some(before) = &mut self.before[block] else {
            self.before[block] = Some(state.to_vec());
            return true;
        };
        let mut changed = false;
        for (n, (old, new)) in before.iter_mut().zip(state).enumerate() {
            let joined = Values { class: function.slots.name(n).0, lanes }.join(*old, *new);
            changed |= joined != *old;
            *old = joined;
        }
        changed
    }

    /// Goes through a block; gives what holds behind it, and whether lanes part in it where that was not known.
    fn block(
        &mut self,
        (block, mut state): (usize, Vec<Pattern>),
        transfer: &Transfer<'_>,
        (function, code): (&Function, &[Instr]),
        meets: &mut Meets<'_>,
    ) -> (Vec<Pattern>, bool) {
        let mut parted = false;
        for at in meets.graph.blocks()[block].start..meets.graph.blocks()[block].end {
            let instr = &code[at as usize];
            self.lost[at as usize] = meets.lost(block, at);
            self.lost[at as usize].iter().for_each(|n| state[*n] = Pattern::Vector);
            if parts(transfer.env, function, instr, &state) {
                parted |= meets.part(block, at);
            }
            let mut written = Vec::new();
            let number = |class, slot| function.slots.number(class, slot);
            let read = |class, slot| number(class, slot).map_or(Pattern::Vector, |n| state[n]);
            let assumes = transfer.results((at, instr), &read, &mut |class, slot, pattern| {
                let Some(n) = number(class, slot) else { return };
                let values = Values { class, lanes: self.lanes };
                let pattern = guarded(values, instr, (state[n], pattern), &read);
                written.push((n, if meets.loses(block, at, n) { Pattern::Vector } else { pattern }));
            });
            if assumes {
                self.assumptions.insert(function.start.0 + at);
            } else {
                self.assumptions.remove(&(function.start.0 + at));
            }
            written.iter().for_each(|(n, pattern)| state[*n] = *pattern);
            self.after[at as usize] = written;
        }
        (state, parted)
    }
}

/// What a register is in behind an instruction that only some lanes may execute.
fn guarded(
    values: Values,
    instr: &Instr,
    (old, new): (Pattern, Pattern),
    read: &dyn Fn(Class, Slot) -> Pattern,
) -> Pattern {
    let Some(guard) = instr.guard.filter(|_| !on(Mutant::AffineGuard)) else { return new };
    match read(Class::P, guard.pred) {
        Pattern::Affine(line) if line.is_uniform() => match line.value(Class::P) {
            Some(holds) if (holds == 0) == guard.negated => new,
            Some(_) => old,
            None => values.join(old, new),
        },
        _ => values.either(old, new),
    }
}

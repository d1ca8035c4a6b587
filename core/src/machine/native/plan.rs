//! What is compiled of a kernel: its blocks, how each instruction is compiled, what is held where, and which tokens are on the
//! stack before each instruction.

use super::context::PLACES;
use super::each::OfFrame;
use super::forms::{Forms, Patterns, Token, Way, successors};
use super::watch::Watch;
use crate::base::Pc;
use crate::base::mutant::{Mutant, on};
use crate::machine::control::TokenKind;
use crate::program::affine::{Affine, Line, Pattern, Premises, Threads};
use crate::program::alive::Alive;
use crate::program::env::{FuncId, Function, Init, ProgEnv};
use crate::program::instr::{Instr, Op, STACK_BASE, STACK_TOP, Slot};
use crate::program::ops::Class;
use crate::program::uses::writes;
use fixedbitset::FixedBitSet;
use std::collections::BTreeSet;

/// Instructions times registers of a kernel at most, instructions, and jumps: what a larger one would take to be analysed and
/// compiled is time in which no limit of the run is looked at.
const LIMIT: usize = 1 << 19;
const INSTRUCTIONS: usize = 1 << 10;
const JUMPS: usize = 1 << 7;
/// Instructions of a block at most: one is entered with fuel for all of it only, and a turn has two thousand.
const BLOCK: usize = 1 << 7;
/// Instructions of a block that lanes come back to, from which on it is compiled once more, in pieces of so many: where a turn does
/// not last for all of it, it ends in these.
const LONG: usize = 8;
const PIECE: usize = 2;
/// Tokens on the stack at most.
const TOKENS: usize = 64;
/// Threads that run while memory is brought near, about.
const SOON: u32 = 512;

/// A register that native code holds as the numbers of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Held {
    pub class: Class,
    pub slot: Slot,
    pub line: Line,
    /// Where its values are among [`super::context::Context::scalars`]: that of the first lane, of the second half behind it.
    pub at: u32,
}

/// What lanes execute apart behind a branch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Region {
    /// Where they meet: what follows the `sync` that ends each side.
    pub join: usize,
    /// Where the blocks begin that those execute who take the branch, and those that the others do.
    pub sides: [BTreeSet<usize>; 2],
    /// Instructions of both sides.
    pub size: usize,
    /// The predicates that are written in it, by number.
    pub predicates: BTreeSet<usize>,
}

/// A kernel, ready to be compiled.
#[derive(Debug)]
pub(super) struct Plan {
    pub function: Function,
    pub code: Vec<Instr>,
    pub patterns: Patterns,
    pub lines: Vec<FixedBitSet>,
    pub ways: Vec<Way>,
    /// Whether a block begins at an instruction; one more than there are.
    pub leaders: Vec<bool>,
    /// By instruction: whether a piece of a block begins there, but for the first one of each.
    pub pieces: Vec<bool>,
    /// By instruction: whether it was injected.
    pub hidden: Vec<bool>,
    /// By instruction: the number of its entry.
    pub entries: Vec<Option<u32>>,
    /// By instruction: the registers that are alive before it, by number.
    pub alive: Vec<FixedBitSet>,
    /// Registers that no instruction writes.
    pub fixed: FixedBitSet,
    /// By instruction: what of it is held as lines, that has to be written to the frame for the interpreter.
    pub held: Vec<Vec<Held>>,
    /// By instruction: the tokens that were pushed since the kernel began. `None`: it depends on the way.
    pub tokens: Vec<Option<Vec<Token>>>,
    /// Widenings that may wrap around.
    pub assumptions: BTreeSet<u32>,
    /// By instruction: the places of what is held, and those of other registers that are alive, as sets.
    places_before: Vec<(u128, u128)>,
    /// By instruction: how many there are from it to the next entry behind it.
    pub next: Vec<u32>,
    /// Whether what is held has to be looked at where native code is entered: an assumption may not hold.
    pub verify: bool,
    /// By instruction: the slots of predicates that are alive before it and alike in all lanes, if the assumptions hold.
    pub ones: Vec<Vec<Slot>>,
    /// By instruction: whether what is held before it is what is held before the next one, so that a warp that waits keeps it.
    pub carries: Vec<bool>,
    /// By instruction: the number of the barrier, where a warp may wait natively, so that the next one runs: a plain one, behind which
    /// native code is entered with what is held before it.
    pub passes: Vec<Option<u8>>,
    /// How many values of lines there are.
    pub scalars: usize,
    /// By register: where its values are kept.
    pub places: Vec<Option<u32>>,
    /// By instruction: what lanes execute apart behind it.
    pub regions: Vec<Option<Region>>,
    /// The instructions before which lanes may wait while others of their warp run natively, in order; none where they are told who
    /// waits for whom, or where there are too many.
    pub meets: Vec<u32>,
    /// By instruction: the number of its place.
    pub waits: Vec<Option<u8>>,
    /// Threads from a warp's first one to that of a warp that comes soon; zero where blocks are not rows of warps.
    pub ahead: u32,
    /// What is told to somebody who observes.
    pub watch: Watch,
    /// Rows of the stack frame that native code loads or stores, from its beginning on, and whether it stores any.
    pub stack: (usize, bool),
}

/// See [`Plan::ahead`].
const fn ahead([x, y, z]: [u32; 3]) -> u32 {
    if y == 1 && z == 1 && x.is_multiple_of(32) { SOON.next_multiple_of(x) } else { 0 }
}

impl Plan {
    /// Of an entry whose blocks have a shape. `None`: it is too large, or goes ways that native code does not.
    pub fn of(env: &ProgEnv, id: FuncId, block: [u32; 3], multiples: &[u32], watch: &Watch) -> Option<Self> {
        env.function(id).filter(|f| f.entry)?;
        Self::with(env, id, block, watch, |known| analysed(env, id, known, (block, multiples)))
    }

    /// Of a function that kernels call, of whose registers nothing is known but what constants are. `None`: as of an entry, or its
    /// frame does not stay where it is; or lanes only meet where an instruction says so.
    pub fn of_called(env: &ProgEnv, id: FuncId) -> Option<Self> {
        env.function(id).filter(|f| !f.entry && !env.injected)?;
        let plan = Self::with(env, id, [0; 3], &Watch::default(), |known| Some(unknown(env, known)))?;
        let stays = |i: &Instr| {
            let mut stays = true;
            writes(i, env, |class, slot| stays &= class != Class::W || slot != STACK_BASE && slot != STACK_TOP);
            stays
        };
        (plan.code.iter().all(stays) && !plan.meets.is_empty()).then_some(plan)
    }

    fn with(
        env: &ProgEnv,
        id: FuncId,
        block: [u32; 3],
        watch: &Watch,
        analysed: impl FnOnce(Body<'_>) -> Option<(Patterns, Forms, BTreeSet<u32>)>,
    ) -> Option<Self> {
        let function = env.function(id).filter(|f| f.defined)?.clone();
        let code = env.code.get(function.start.0 as usize..function.end.0 as usize)?.to_vec();
        let count = function.slots.count();
        let jumps = code.iter().filter(|i| matches!(i.op, Op::Bra | Op::Brx | Op::Break)).count();
        let large = code.len().saturating_mul(count) > LIMIT || code.len() > INSTRUCTIONS || jumps > JUMPS;
        if code.is_empty() || large {
            return None;
        }
        let start = function.start.0;
        let alive = alive(env, id, &function, code.len())?;
        let tokens = tokens(env, &code, start);
        let known = (&function, &code[..], &tokens[..], watch);
        let (patterns, Forms { lines, ways }, assumptions) = analysed(known)?;
        let leaders = leaders(&code, &ways, &patterns, start);
        let pieces = pieces(&leaders, &code, start);
        let mut fixed = FixedBitSet::with_capacity(count);
        fixed.insert_range(..);
        for i in &code {
            writes(i, env, |class, slot| {
                if let Some(n) = function.slots.number(class, slot) {
                    fixed.set(n, false);
                }
            });
        }
        let mut number = 0;
        let entries = (0..code.len())
            .map(|k| {
                let enters = (leaders[k] || pieces[k]) && ways[k] != Way::Outside && !patterns.before[k].is_empty();
                enters.then(|| {
                    number += 1;
                    number - 1
                })
            })
            .collect();
        let entries: Vec<Option<u32>> = entries;
        let mut next = vec![1; code.len()];
        for k in (0..code.len().saturating_sub(1)).rev() {
            next[k] = if entries[k + 1].is_some() { 1 } else { next[k + 1] + 1 };
        }
        let hidden = |pc: u32| env.origin.get(pc as usize).is_some_and(|o| o.hidden);
        let hidden = (start..function.end.0).map(hidden).collect();
        let mut plan = Self {
            function,
            code,
            patterns,
            lines,
            ways,
            leaders,
            pieces,
            hidden,
            entries,
            alive,
            fixed,
            held: Vec::new(),
            places_before: Vec::new(),
            tokens,
            verify: !assumptions.is_empty(),
            ones: Vec::new(),
            assumptions,
            next,
            scalars: 0,
            carries: Vec::new(),
            passes: Vec::new(),
            places: vec![None; count],
            regions: Vec::new(),
            meets: Vec::new(),
            waits: Vec::new(),
            ahead: ahead(block),
            watch: watch.clone(),
            stack: (0, false),
        };
        plan.stack = plan.rows_of_frame(env);
        plan.hold(env);
        if !env.injected {
            plan.number_places();
        }
        Some(plan)
    }

    /// The access of the stack frame that an instruction makes, where it is compiled as one.
    pub fn of_frame(&self, k: usize, env: &ProgEnv) -> Option<OfFrame> {
        let i = self.code.get(k).filter(|_| self.ways[k] == Way::OfFrame)?;
        OfFrame::of(i, self.function.start.0 + k as u32, self.function.frame_bytes, env)
    }

    /// See [`Plan::stack`].
    fn rows_of_frame(&self, env: &ProgEnv) -> (usize, bool) {
        let all = (0..self.code.len()).filter_map(|k| self.of_frame(k, env));
        all.fold((0, false), |(rows, stores), own| (rows.max((own.row + own.bytes / 4) as usize), stores || !own.load))
    }

    /// Finds the places at which lanes may wait: where blocks begin.
    fn number_places(&mut self) {
        let begins = |k: &usize| self.leaders[*k] && !self.patterns.before[*k].is_empty();
        let places: Vec<usize> = (0..self.code.len()).filter(begins).collect();
        if places.len() > PLACES {
            return;
        }
        self.waits = vec![None; self.code.len()];
        for (n, k) in (0..).zip(&places) {
            self.waits[*k] = Some(n);
        }
        self.meets = places.into_iter().map(|k| k as u32).collect();
    }

    /// The number of the place at an address, if lanes may wait there.
    #[inline(always)]
    pub fn place(&self, pc: u32) -> Option<u8> {
        self.waits.get(pc.checked_sub(self.function.start.0)? as usize).copied().flatten()
    }

    /// The line that a register is held as before an instruction.
    pub fn line(&self, k: usize, n: usize) -> Option<Line> {
        let pattern = self.patterns.before.get(k)?.get(n)?;
        match pattern {
            Pattern::Affine(line) if self.lines[k].contains(n) => Some(*line),
            _ => None,
        }
    }

    /// Finds what is held where.
    fn hold(&mut self, env: &ProgEnv) {
        let mut next = 0;
        let mut held = Vec::with_capacity(self.code.len());
        for k in 0..self.code.len() {
            let mut here = Vec::new();
            for n in self.alive[k].ones().filter(|n| !self.fixed.contains(*n)) {
                let Some(line) = self.line(k, n) else { continue };
                let (class, slot) = self.function.slots.name(n);
                let at = *self.places[n].get_or_insert_with(|| {
                    next += 2;
                    next - 2
                });
                here.push(Held { class, slot, line, at });
            }
            held.push(here);
        }
        self.ones = (0..self.code.len()).map(|k| self.ones_before(k)).collect();
        let places = |h: &Held| if h.line.halves { 3 } else { 1 } << (h.at % 128);
        let others = |k: usize| {
            let vectors = self.alive[k].ones().filter(|n| self.line(k, *n).is_none());
            vectors.filter_map(|n| self.places[n]).fold(0, |all, at| all | 1 << (at % 128))
        };
        let own = |here: &Vec<Held>| here.iter().map(places).fold(0, |all, own| all | own);
        self.places_before = held.iter().enumerate().map(|(k, here)| (own(here), others(k))).collect();
        self.held = held;
        self.scalars = next as usize;
        self.carries = (0..self.code.len()).map(|k| self.carries(k)).collect();
        self.passes = (0..self.code.len()).map(|k| self.passes(k, env)).collect();
    }

    /// Where the values are that are held before an instruction, and where those are of registers that are vectors there but lines
    /// elsewhere, as sets. `None`: there are too many.
    #[inline(always)]
    pub fn places_before(&self, k: u32) -> Option<(u128, u128)> {
        self.places_before.get(k as usize).copied().filter(|_| self.scalars <= 128)
    }

    /// See [`Plan::ones`].
    fn ones_before(&self, k: usize) -> Vec<Slot> {
        let uniform = |n: &usize| match self.patterns.before[k].get(*n) {
            Some(Pattern::Affine(line)) => line.is_uniform(),
            _ => false,
        };
        let alive = self.alive[k].ones().filter(|n| self.verify && !self.fixed.contains(*n)).filter(uniform);
        alive
            .map(|n| self.function.slots.name(n))
            .filter(|(class, _)| *class == Class::P)
            .map(|(_, slot)| slot)
            .collect()
    }

    /// The number of a barrier where a warp may wait natively.
    fn passes(&self, k: usize, env: &ProgEnv) -> Option<u8> {
        let plain = env.barriers.get(self.code[k].imm as usize).filter(|_| self.ways[k] == Way::Barrier)?.plain()?;
        let enters = self.carries[k] && self.entries.get(k + 1).copied().flatten().is_some();
        enters.then_some(plain)
    }

    /// Whether all that is held before the next instruction is held before this one, and the rest is not alive there.
    fn carries(&self, k: usize) -> bool {
        let (here, Some(there)) = (&self.held[k], self.held.get(k + 1)) else { return false };
        let alike = |a: &Held, b: &Held| (a.at, a.line.halves, a.class) == (b.at, b.line.halves, b.class);
        let same = there.iter().all(|h| here.iter().any(|o| alike(h, o)));
        same && here.iter().all(|h| there.iter().any(|o| o.at == h.at) || !self.alive_at(k + 1, h))
    }

    /// Whether a register is alive before an instruction.
    pub fn alive_at(&self, k: usize, held: &Held) -> bool {
        let n = self.function.slots.number(held.class, held.slot);
        n.is_none_or(|n| self.alive.get(k).is_none_or(|alive| alive.contains(n)))
    }

    /// Whether an instruction may be executed again, as far as the order of instructions tells.
    pub fn comes_again(&self, k: usize) -> bool {
        comes_again(&self.code, self.function.start.0, k)
    }

    /// Whether an instruction is one that is counted: of the program, not one that was injected.
    pub fn counted(&self, k: usize) -> bool {
        let injected = match self.ways[k] {
            Way::Push | Way::Sync => true,
            Way::Break => self.hidden[k],
            _ => false,
        };
        !injected || on(Mutant::NativeHidden)
    }
}

/// A function, its instructions, the tokens before each, and what is told to somebody who observes.
type Body<'a> = (&'a Function, &'a [Instr], &'a [Option<Vec<Token>>], &'a Watch);

/// The patterns of the registers of a function of whose callers nothing is known, and how its instructions are compiled: constants
/// are what they are, of the registers that no instruction writes.
fn unknown(env: &ProgEnv, (function, code, tokens, watch): Body<'_>) -> (Patterns, Forms, BTreeSet<u32>) {
    let mut known = vec![Pattern::Vector; function.slots.count()];
    for preload in function.preloads.iter().filter(|p| p.class != Class::P) {
        if let (Init::Const(value), Some(n)) = (preload.init, function.slots.number(preload.class, preload.slot)) {
            known[n] = Pattern::Affine(Line::constant(value, preload.class));
        }
    }
    for i in code {
        writes(i, env, |class, slot| {
            if let Some(n) = function.slots.number(class, slot) {
                known[n] = Pattern::Vector;
            }
        });
    }
    let patterns = Patterns { before: vec![known; code.len()], after: vec![Vec::new(); code.len()] };
    let forms = Forms::of(env, function, code, &patterns, tokens, watch);
    (patterns, forms, BTreeSet::new())
}

/// The patterns of a function's registers, how its instructions are compiled, and what is assumed, all of which native code looks
/// at: what it would not, of a number that it does not hold as a line, is not assumed.
fn analysed(
    env: &ProgEnv,
    id: FuncId,
    (function, code, tokens, watch): Body<'_>,
    (block, multiples): ([u32; 3], &[u32]),
) -> Option<(Patterns, Forms, BTreeSet<u32>)> {
    let start = function.start.0;
    let mut refused = BTreeSet::new();
    loop {
        let premises = Premises { multiples, refused: &refused };
        let affine = Affine::with(env, id, Threads::Block(block), 32, premises);
        if affine.gave_up() {
            return None;
        }
        let mut patterns = Patterns { before: vec![Vec::new(); code.len()], after: vec![Vec::new(); code.len()] };
        affine.each(env, |pc, before, after| {
            let k = (pc.0 - start) as usize;
            patterns.before[k] = before.to_vec();
            patterns.after[k] = after.to_vec();
        });
        let assumptions: BTreeSet<u32> = affine.assumptions().map(|Pc(pc)| pc - start).collect();
        let forms = Forms::of(env, function, code, &patterns, tokens, watch);
        let unseen = |k: &&u32| forms.ways[**k as usize] != Way::Scalar && !on(Mutant::NativeUnseen);
        let unseen: Vec<u32> = assumptions.iter().filter(unseen).copied().collect();
        if unseen.is_empty() {
            return Some((patterns, forms, assumptions));
        }
        refused.extend(unseen);
    }
}

/// What is alive before each instruction.
fn alive(env: &ProgEnv, id: FuncId, function: &Function, count: usize) -> Option<Vec<FixedBitSet>> {
    let alive = Alive::of(env, id, false);
    let mut all = Vec::with_capacity(count);
    for pc in function.start.0..function.end.0 {
        let mut set = FixedBitSet::with_capacity(function.slots.count());
        set.extend(alive.before(pc)?.iter().filter_map(|(class, slot)| function.slots.number(*class, *slot)));
        all.push(set);
    }
    Some(all)
}

/// Where blocks begin: at targets, behind what ends one, and where less is known than behind the instruction before.
fn leaders(code: &[Instr], ways: &[Way], patterns: &Patterns, start: u32) -> Vec<bool> {
    let mut leaders: Vec<bool> = (0..=code.len()).map(|k| k.is_multiple_of(BLOCK)).collect();
    for (k, i) in code.iter().enumerate() {
        if matches!(i.op, Op::Bra | Op::Ssy | Op::PreBrk | Op::PreRet | Op::Break)
            && let Some(leader) = i.imm.checked_sub(start).and_then(|to| leaders.get_mut(to as usize))
        {
            *leader = true;
        }
        leaders[k + 1] |= ways[k].ends();
        leaders[k] |= ways[k] == Way::Outside;
        let (Some(next), before) = (patterns.before.get(k + 1), &patterns.before[k]) else { continue };
        let mut behind = before.clone();
        for (n, pattern) in &patterns.after[k] {
            if let Some(there) = behind.get_mut(*n) {
                *there = *pattern;
            }
        }
        leaders[k + 1] |= *next != behind;
    }
    leaders
}

/// Where pieces of blocks begin.
fn pieces(leaders: &[bool], code: &[Instr], start: u32) -> Vec<bool> {
    let mut pieces = vec![false; code.len()];
    let mut from = 0;
    for to in (1..=code.len()).filter(|k| leaders[*k] || *k == code.len()) {
        if to - from >= LONG && comes_again(code, start, from) {
            (from + PIECE..to).step_by(PIECE).for_each(|k| pieces[k] = true);
        }
        from = to;
    }
    pieces
}

/// Whether an instruction may be executed again, as far as the order of instructions tells.
fn comes_again(code: &[Instr], start: u32, k: usize) -> bool {
    let back = |i: &Instr| match i.op {
        Op::Bra => i.imm.wrapping_sub(start) as usize <= k,
        op => op == Op::Brx,
    };
    code[k..].iter().any(back)
}

/// The tokens before each instruction, where they do not depend on the way; all `None` where an instruction leaves open
/// which there are.
fn tokens(env: &ProgEnv, code: &[Instr], start: u32) -> Vec<Option<Vec<Token>>> {
    let mut known: Vec<Option<Option<Vec<Token>>>> = vec![None; code.len()];
    known[0] = Some(Some(Vec::new()));
    let mut work = vec![0_usize];
    while let Some(k) = work.pop() {
        let Some(Some(here)) = known[k].clone() else { continue };
        let i = &code[k];
        let mut next: Vec<(usize, Vec<Token>)> = Vec::new();
        match i.op {
            Op::Ssy | Op::PreBrk => {
                let kind = if i.op == Op::Ssy { TokenKind::Sync } else { TokenKind::Break };
                let mut more = here.clone();
                more.push((kind, i.imm));
                if more.len() <= TOKENS {
                    next.push((k + 1, more));
                }
            }
            Op::Sync => {
                let mut fewer = here.clone();
                if let Some((_, to)) = fewer.pop()
                    && let Some(to) = to.checked_sub(start)
                {
                    next.push((to as usize, fewer));
                }
            }
            Op::Break => {
                let at = here.iter().rposition(|(kind, _)| *kind == TokenKind::Break);
                if let Some(at) = at
                    && let Some(to) = here[at].1.checked_sub(start)
                {
                    next.push((to as usize, here[..at].to_vec()));
                }
                if i.guard.is_some() {
                    next.push((k + 1, here.clone()));
                }
            }
            // What a call pushes is popped by its return.
            Op::PreRet | Op::Call | Op::CallIndirect => next.push((k + 1, here.clone())),
            _ => next.extend(successors(i, k, start, env).into_iter().map(|to| (to, here.clone()))),
        }
        for (to, stack) in next {
            let Some(there) = known.get_mut(to) else { continue };
            match there {
                None => {
                    *there = Some(Some(stack));
                    work.push(to);
                }
                Some(Some(old)) if *old != stack => {
                    // What follows is not known either.
                    return vec![None; code.len()];
                }
                Some(_) => {}
            }
        }
    }
    known.into_iter().map(Option::flatten).collect()
}

//! How each instruction of a kernel is compiled, and which registers are held as lines where.
//!
//! D-affine says which registers lie on a line before each instruction. Whether native code holds one as the numbers of its line
//! depends on who writes it, too: an instruction that is executed lane by lane leaves a vector, whatever is known of it. So what
//! is held how is found by going through the blocks until nothing changes, from lines to vectors.

use super::each::{Access, Each, OfFrame};
use super::ops::{Ops, scalar_op, strip_op};
use super::watch::Watch;
use crate::base::sort;
use crate::machine::control::TokenKind;
use crate::program::affine::{Line, Pattern};
use crate::program::env::{Function, ProgEnv};
use crate::program::instr::{Instr, Op, Slot};
use crate::program::ops::Class;
use crate::program::uses::{reads, writes};
use crate::verdict::Row;
use fixedbitset::FixedBitSet;

/// Bytes from one lane to the next at most, on a line of addresses.
const STRIDE: u64 = 1 << 16;

/// A token that native code pushes: its kind and its address.
pub(super) type Token = (TokenKind, u32);

/// How an instruction is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// Once for all lanes, on lines and masks.
    Scalar,
    /// In strips of four lanes.
    Strip,
    /// A load of one word for all lanes, or for each half of them.
    LoadOne,
    /// A load or a store of rows of the stack frame, in a function that is called.
    OfFrame,
    /// A load of a row of words.
    LoadRow,
    /// A store of a row of words.
    StoreRow,
    /// Any other access, lane by lane.
    Each,
    /// By way of the machine, on the frame.
    Helper,
    /// An exchange between lanes by way of the machine, when all that take part are there.
    Exchange,
    /// `bra`.
    Branch,
    /// `ssy`, `preBrk`.
    Push,
    /// `sync`.
    Sync,
    /// `break`.
    Break,
    /// A barrier of the whole block.
    Barrier,
    /// The end of the thread.
    End,
    /// A call of one function, and the return from one, in a function that is called.
    Call,
    Return,
    /// By the interpreter.
    Outside,
}

impl Way {
    /// Whether it ends a block.
    pub const fn ends(self) -> bool {
        let leaves = matches!(self, Self::Barrier | Self::End | Self::Call | Self::Return | Self::Outside);
        leaves || matches!(self, Self::Branch | Self::Sync | Self::Break)
    }
}

/// What is known before an instruction.
pub(super) struct Known<'a> {
    pub env: &'a ProgEnv,
    pub function: &'a Function,
    /// By number of the register.
    pub patterns: &'a [Pattern],
    /// Registers that are held as lines.
    pub lines: &'a FixedBitSet,
    /// The instruction's address.
    pub pc: u32,
}

impl Known<'_> {
    /// The number of a register.
    pub fn number(&self, class: Class, slot: Slot) -> Option<usize> {
        self.function.slots.number(class, slot)
    }

    /// The line of a register that is held as one.
    pub fn line(&self, class: Class, slot: Slot) -> Option<Line> {
        let n = self.number(class, slot)?;
        match self.patterns[n] {
            Pattern::Affine(line) if self.lines.contains(n) => Some(line),
            _ => None,
        }
    }

    /// Whether a predicate is the same in all lanes.
    pub fn is_one(&self, slot: Slot) -> bool {
        let pattern = self.number(Class::P, slot).map(|n| self.patterns[n]);
        matches!(pattern, Some(Pattern::Affine(line)) if line.is_uniform())
    }

    /// How an instruction is compiled, and whether its result is held as a line; `after`: what it leaves in its registers.
    pub fn way(&self, i: &Instr, after: &[(usize, Pattern)]) -> Way {
        match i.op {
            Op::Bra => Way::Branch,
            Op::Ssy | Op::PreBrk if i.guard.is_none() => Way::Push,
            Op::Break => Way::Break,
            Op::Sync if i.guard.is_none() => Way::Sync,
            Op::Exit if i.guard.is_none() => Way::End,
            Op::Bar if i.guard.is_none() => Way::Barrier,
            Op::Call if self.called() && i.guard.is_none() => Way::Call,
            Op::Ret if self.called() && i.guard.is_none() => Way::Return,
            Op::Mem if self.of_frame(i) => Way::OfFrame,
            Op::LdGlobal32 | Op::LdShared32 | Op::StGlobal32 | Op::StShared32 | Op::Mem => self.access(i),
            Op::Int(_) | Op::Float(_) => self.data(i, after),
            Op::Exchange | Op::WarpSync => Way::Exchange,
            Op::Fence { .. } | Op::ProxyFence | Op::Nop | Op::Nanosleep => Way::Helper,
            _ => Way::Outside,
        }
    }

    /// Whether it is an instruction of a function that is called.
    const fn called(&self) -> bool {
        !self.function.entry
    }

    /// Whether an access is one of the stack frame that native code makes itself.
    fn of_frame(&self, i: &Instr) -> bool {
        self.called() && OfFrame::of(i, self.pc, self.function.frame_bytes, self.env).is_some()
    }

    /// How a plain access is compiled.
    fn access(&self, i: &Instr) -> Way {
        if i.guard.is_some() {
            return Way::Helper;
        }
        if let Some(access) = Access::of(i, self.env)
            && let Some(line) = self.line(access.class, access.slot)
        {
            match line.stride {
                0 if access.load => return Way::LoadOne,
                stride if stride != u64::from(access.bytes) => {}
                _ if access.load => return Way::LoadRow,
                _ => return Way::StoreRow,
            }
        }
        let Some(each) = Each::of(i, self.env) else { return Way::Helper };
        let Some(line) = self.line(each.class, each.slot) else { return Way::Each };
        let stride = if each.class == Class::Q { line.stride.cast_signed() } else { (line.stride as i32).into() };
        let near = stride.unsigned_abs() <= STRIDE && stride.unsigned_abs().is_multiple_of(each.unit().into());
        if near { Way::Each } else { Way::Helper }
    }

    fn data(&self, i: &Instr, after: &[(usize, Pattern)]) -> Way {
        let Some(op) = Ops::of(i) else { return Way::Helper };
        let shape = op.shape();
        let sources = [i.a, i.b, i.c, i.e];
        let (mut lines, mut ones) = (true, true);
        for (class, slot) in shape.sources.iter().zip(sources) {
            match class {
                Class::P => ones &= self.is_one(slot),
                class => {
                    let line = self.line(*class, slot);
                    lines &= line.is_some();
                    ones &= line.is_some_and(|line| line.is_uniform());
                }
            }
        }
        // Where it is sat out, what was there stays, which has to be a number, too.
        let stays = || shape.dest == Class::P || self.line(shape.dest, i.d).is_some();
        let guarded_one = i.guard.is_none_or(|guard| self.is_one(guard.pred) && stays());
        let result = after.first().map(|(_, pattern)| *pattern);
        let on_line = matches!(result, Some(Pattern::Affine(_)));
        let one = matches!(result, Some(Pattern::Affine(line)) if line.is_uniform());
        let scalar = match shape.dest {
            // Masks are combined as a whole, and one comparison serves all lanes.
            Class::P => op.is_logic() || ones || one && lines,
            _ => on_line && lines && guarded_one && (ones || !shape.sources.contains(&Class::P)),
        };
        if scalar && scalar_op(op) && (shape.dest != Class::P || i.guard.is_none()) {
            return Way::Scalar;
        }
        if strip_op(op, i.imm) && !op.is_logic() && (shape.dest != Class::P || i.guard.is_none()) {
            return Way::Strip;
        }
        Way::Helper
    }
}

/// How an instruction is compiled that would be compiled in some `way` if nobody observed it.
fn observed(watch: &Watch, k: usize, i: &Instr, way: Way, env: &ProgEnv) -> Way {
    let word = || Access::of(i, env).is_some_and(|access| access.bytes == Row::WORD);
    match way {
        _ if watch.steps(k) => Way::Outside,
        Way::LoadOne | Way::LoadRow | Way::StoreRow if watch.tells(k) && !word() => Way::Helper,
        Way::Each if watch.tells(k) => Way::Helper,
        way => way,
    }
}

/// Whether a way leaves its result as a line.
pub(super) fn leaves_line(way: Way, pattern: Pattern) -> bool {
    matches!(way, Way::Scalar | Way::LoadOne) && matches!(pattern, Pattern::Affine(_))
}

/// What is held as lines before each instruction of a function, and how each is compiled.
pub(super) struct Forms {
    pub lines: Vec<FixedBitSet>,
    pub ways: Vec<Way>,
}

#[derive(Debug)]
/// The patterns before each instruction, from the function's start; empty where nobody comes. And what it leaves.
pub(super) struct Patterns {
    pub before: Vec<Vec<Pattern>>,
    pub after: Vec<Vec<(usize, Pattern)>>,
}

impl Forms {
    /// Goes through the instructions until nothing changes.
    pub fn of(
        env: &ProgEnv,
        function: &Function,
        code: &[Instr],
        patterns: &Patterns,
        tokens: &[Option<Vec<Token>>],
        watch: &Watch,
    ) -> Self {
        let (count, start) = (function.slots.count(), function.start.0);
        let predicates = usize::from(function.slots.w) + usize::from(function.slots.q);
        let mut lines: Vec<FixedBitSet> = Vec::with_capacity(code.len());
        for before in &patterns.before {
            let mut set = FixedBitSet::with_capacity(count);
            let affine = before.iter().take(predicates).enumerate();
            set.extend(affine.filter(|(_, p)| matches!(p, Pattern::Affine(_))).map(|(n, _)| n));
            lines.push(set);
        }
        let mut ways = vec![Way::Outside; code.len()];
        loop {
            let mut changed = false;
            for (k, i) in code.iter().enumerate().filter(|(k, _)| !patterns.before[*k].is_empty()) {
                let pc = start + k as u32;
                let known = Known { env, function, patterns: &patterns.before[k], lines: &lines[k], pc };
                let mut way = known.way(i, &patterns.after[k]);
                // Tokens that are pushed natively have to be known where they are left.
                if tokens[k].is_none() && matches!(way, Way::Push | Way::Sync) {
                    way = Way::Outside;
                }
                way = observed(watch, k, i, way, env);
                ways[k] = way;
                let mut out = lines[k].clone();
                writes(i, env, |class, slot| {
                    if let Some(n) = function.slots.number(class, slot) {
                        let pattern =
                            patterns.after[k].iter().find(|(m, _)| *m == n).map_or(Pattern::Vector, |(_, p)| *p);
                        out.set(n, n < predicates && leaves_line(way, pattern));
                    }
                });
                let synced = tokens[k].as_ref().and_then(|stack| stack.last()).filter(|_| way == Way::Sync);
                let target = synced.and_then(|(_, to)| to.checked_sub(start)).map(|to| to as usize);
                for to in successors(i, k, start, env).into_iter().chain(target) {
                    if let Some(there) = lines.get_mut(to) {
                        let before = there.count_ones(..);
                        there.intersect_with(&out);
                        changed |= there.count_ones(..) != before;
                    }
                }
            }
            if !changed {
                return Self { lines, ways };
            }
        }
    }
}

/// Where lanes may go on from an instruction, within the function.
pub(super) fn successors(i: &Instr, k: usize, start: u32, env: &ProgEnv) -> Vec<usize> {
    let inside = |pc: u32| pc.checked_sub(start).map(|k| k as usize);
    let mut to = Vec::new();
    match i.op {
        Op::Bra => to.extend(inside(i.imm)),
        Op::Brx => to.extend(env.tables.get(i.imm as usize).into_iter().flatten().filter_map(|pc| inside(*pc))),
        _ => {}
    }
    if i.guard.is_some() || !matches!(i.op, Op::Bra | Op::Exit | Op::Ret | Op::Trap | Op::Sync) {
        to.push(k + 1);
    }
    to
}

/// The registers that an instruction reads, by number.
pub(super) fn sources(i: &Instr, env: &ProgEnv, function: &Function) -> Vec<usize> {
    let mut all = Vec::new();
    reads(i, env, |class, slot| all.extend(function.slots.number(class, slot)));
    sort::sort(&mut all);
    all.dedup();
    all
}

/// The registers that it writes, by number.
pub(super) fn results(i: &Instr, env: &ProgEnv, function: &Function) -> Vec<usize> {
    let mut all = Vec::new();
    writes(i, env, |class, slot| all.extend(function.slots.number(class, slot)));
    all
}

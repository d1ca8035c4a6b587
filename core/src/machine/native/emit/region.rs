//! Lanes that part: first those run that take the branch, then the others, up to where they meet.

use super::super::context::{Context, Exit, Parting};
use super::super::parted::LEVELS;
use super::super::plan::Region;
use super::builder::{Emit, Parted, Who, common, offset, put, trusted};
use crate::base::mutant::{Mutant, on};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::Variable;
use std::mem::offset_of;

/// Instructions at most that are compiled once more for lanes that have parted.
const COPIED: usize = 1 << 9;

/// A branch at which lanes part.
struct Branch {
    k: usize,
    region: Region,
    /// Those that take it, and the others.
    lanes: [Value; 2],
    /// The numbers of lines that all of them have before.
    numbers: Vec<(Variable, Value)>,
}

impl Emit<'_, '_> {
    /// What lanes execute that part at a branch, where they can be followed: it is known where they meet, they have not parted too
    /// often, and not too much has been compiled once more.
    pub(super) fn region(&mut self, k: usize) -> Option<Region> {
        let fits = self.who.parted.len() < LEVELS;
        let region = self.plan.regions[k].as_ref().filter(|region| fits && self.copied + region.size <= COPIED)?;
        self.copied += region.size;
        Some(region.clone())
    }

    /// Lanes part: they are the control model's.
    pub(super) fn diverge(&mut self, k: usize, bits: Value) {
        put!(self, taken, bits);
        self.leave_behind(Exit::Diverge, k);
    }

    /// The first time that lanes part at a branch, `bits` those that take it. They are followed where the token at which they meet was
    /// pushed natively: another one may have more lanes than these.
    pub(super) fn part_if_known(&mut self, k: usize, region: Region, bits: Value) {
        let tokens = self.b.use_var(self.tokens);
        let (ours, theirs) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(theirs);
        self.b.ins().brif(tokens, ours, &[], theirs, &[]);
        self.b.switch_to_block(theirs);
        self.diverge(k, bits);
        self.b.switch_to_block(ours);
        self.part(k, region, bits);
    }

    /// Those run first that take a branch, `bits`, then the others, then all.
    pub(super) fn part(&mut self, k: usize, region: Region, bits: Value) {
        let tokens = self.b.use_var(self.tokens);
        let join = region.join;
        let branch = self.begin(k, region, bits, tokens);
        let (at, who, blocks) = (self.at, self.who.clone(), self.blocks.clone());
        for second in [false, true] {
            self.side(&branch, &who, second);
        }
        (self.at, self.who, self.blocks) = (at, who, blocks);
        self.restore(&branch);
        // Where the lanes meet to which these belong, they have met by now, too.
        let outer = self.who.parted.last().copied().filter(|parted| self.depth(parted.branch) == self.depth(k));
        let tokens = if outer.is_some() { tokens } else { self.b.ins().iadd_imm(tokens, -1) };
        self.b.def_var(self.tokens, tokens);
        let to = outer.map(|parted| parted.end).or(self.blocks[join]);
        match to {
            Some(block) => {
                self.b.ins().jump(block, &[]);
            }
            None => self.lost(),
        }
    }

    /// How many tokens are on the stack before an instruction.
    fn depth(&self, k: usize) -> usize {
        self.plan.tokens[k].as_ref().map_or(0, Vec::len)
    }

    /// A `sync` at which lanes that have parted come to where all of them meet. False: it is another one.
    pub(super) fn is_over(&mut self, k: usize) -> bool {
        let Some(parted) = self.who.parted.last().copied() else { return false };
        let region = self.plan.regions[parted.branch].as_ref().filter(|_| self.depth(parted.branch) == self.depth(k));
        let Some(join) = region.map(|region| region.join) else { return false };
        self.hand_over(k, join);
        self.b.ins().jump(parted.end, &[]);
        true
    }

    /// Keeps what has to be known of lanes that wait.
    fn begin(&mut self, k: usize, region: Region, bits: Value, tokens: Value) -> Branch {
        let level = self.who.parted.len();
        let all = if self.who.some { self.who.mask } else { self.b.ins().iconst(types::I32, -1) };
        let rest = self.b.ins().band_not(all, bits);
        self.note(level, offset_of!(Parting, mask), all);
        self.note(level, offset_of!(Parting, taken), bits);
        self.note(level, offset_of!(Parting, tokens), tokens);
        let to = common!(self, types::I64, kept);
        let numbers = self.put_held(k, to, level * self.plan.scalars);
        self.put_predicates([k + 1, region.join]);
        Branch { k, region, lanes: [bits, rest], numbers }
    }

    /// What the lanes of a side execute, if there are any.
    fn side(&mut self, branch: &Branch, who: &Who, second: bool) {
        let (begin, end, over) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let mut parted = who.parted.clone();
        let level = parted.len();
        parted.push(Parted { branch: branch.k, second, end });
        let [own, others] = if second { [branch.lanes[1], branch.lanes[0]] } else { branch.lanes };
        self.who = Who { some: true, mask: own, parted };
        self.b.ins().brif(own, begin, &[], over, &[]);
        self.b.switch_to_block(begin);
        if second && !on(Mutant::NativeSides) {
            self.restore(branch);
        }
        let none = self.b.ins().iconst(types::I32, 0);
        self.b.def_var(self.tokens, none);
        let left = self.b.use_var(self.left);
        self.note(level, offset_of!(Parting, left), left);
        let predicates: Vec<Variable> = branch.region.predicates.iter().map(|n| self.variable(*n, 0)).collect();
        let before: Vec<Value> = predicates.iter().map(|variable| self.b.use_var(*variable)).collect();
        let side = &branch.region.sides[usize::from(second)];
        self.blocks.fill(None);
        for k in side {
            self.blocks[*k] = Some(self.b.create_block());
        }
        let target = self.plan.code[branch.k].imm.wrapping_sub(self.plan.function.start.0) as usize;
        self.at = (branch.k, branch.k + 1);
        self.go(branch.k, if second { branch.k + 1 } else { target });
        for k in side {
            self.block_at(*k);
        }
        self.b.switch_to_block(end);
        self.took_fewer(left, others);
        for (variable, before) in predicates.into_iter().zip(before) {
            let now = self.b.use_var(variable);
            let merged = self.b.ins().bitselect(own, now, before);
            self.b.def_var(variable, if on(Mutant::NativeMerge) { now } else { merged });
        }
        if !second {
            self.put_predicates([branch.region.join]);
        }
        self.b.ins().jump(over, &[]);
        self.b.switch_to_block(over);
    }

    /// The numbers of lines are what they were before lanes parted.
    fn restore(&mut self, branch: &Branch) {
        for (variable, value) in &branch.numbers {
            self.b.def_var(*variable, *value);
        }
    }

    /// The thread instructions that others have not executed since so much was left.
    pub(super) fn took_fewer(&mut self, before: Value, others: Value) {
        let left = self.b.use_var(self.left);
        let all = self.b.ins().isub(before, left);
        // The lower half of what is left has become more by those that are not counted.
        let low = self.b.ins().ireduce(types::I32, all);
        let hidden = self.b.ins().ineg(low);
        let hidden = self.b.ins().uextend(types::I64, hidden);
        let whole = self.b.ins().iadd(all, hidden);
        let executed = self.b.ins().ushr_imm(whole, 32);
        let counted = self.b.ins().isub(executed, hidden);
        let lanes = self.b.ins().popcnt(others);
        let lanes = self.b.ins().uextend(types::I64, lanes);
        let more = self.b.ins().imul(counted, lanes);
        let (context, at) = (self.context, offset(offset_of!(Context, fewer)));
        let fewer = self.b.ins().load(types::I64, trusted(), context, at);
        let fewer = self.b.ins().iadd(fewer, more);
        if !on(Mutant::NativeFewer) {
            self.b.ins().store(trusted(), fewer, context, at);
        }
    }

    /// Notes something of a parting.
    fn note(&mut self, level: usize, at: usize, value: Value) {
        let to = common!(self, types::I64, partings);
        self.b.ins().store(trusted(), value, to, offset(level * size_of::<Parting>() + at));
    }

    /// Where native code is left: what the machine has to be told of partings.
    pub(super) fn tell_parted(&mut self) {
        if self.who.parted.is_empty() {
            return;
        }
        let parted = self.who.parted.clone();
        for (level, parted) in parted.iter().enumerate() {
            let branch = self.b.ins().iconst(types::I32, i64::try_from(parted.branch).unwrap_or(0));
            self.note(level, offset_of!(Parting, branch), branch);
            let second = self.b.ins().iconst(types::I32, i64::from(parted.second));
            self.note(level, offset_of!(Parting, second), second);
        }
        let count = self.b.ins().iconst(types::I32, i64::try_from(parted.len()).unwrap_or(0));
        let to = common!(self, types::I64, parted);
        self.b.ins().store(trusted(), count, to, 0);
    }
}

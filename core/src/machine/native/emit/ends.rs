//! Blocks: what they cost, how they are cut, how they end, and how native code is left.

use super::super::context::Exit;
use super::super::forms::{Way, results, sources};
use super::builder::{Emit, common, field, offset, put, trusted};
use crate::base::mutant::{Mutant, on};
use crate::base::sort;
use crate::machine::control::TokenKind;
use crate::program::affine::Pattern;
use crate::program::instr::Guard;
use crate::program::ops::Class;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_frontend::Variable;
use std::collections::BTreeSet;

impl Emit<'_, '_> {
    /// The block at hand.
    pub(super) fn block(&mut self) {
        let start = self.at.0;
        self.arrive(start);
        if self.plan.patterns.before[start].is_empty() || self.plan.ways[start] == Way::Outside {
            // `left` was not made less for it.
            self.at = (start, start);
            self.leave(Exit::Outside, start);
            return;
        }
        let pieces = self.pieces.get(start).copied().flatten().filter(|_| self.who.parted.is_empty());
        self.fueled(pieces);
    }

    /// A piece of a block.
    pub(super) fn piece(&mut self) {
        if let Some(apart) = self.grouped() {
            self.who.mask = self.b.use_var(apart.mask);
        }
        self.fueled(None);
    }

    /// What is at hand, where there is fuel for all of it; else its `pieces` are what is left to do, or the machine's.
    fn fueled(&mut self, pieces: Option<Block>) {
        let (start, end) = self.at;
        let cost = self.cost(start, end);
        let left = self.b.use_var(self.left);
        let size = i64::try_from(end - start).unwrap_or(i64::MAX);
        let mut enough = self.b.ins().icmp_imm(IntCC::SignedGreaterThanOrEqual, left, size << 32);
        if self.who.some && !self.env.injected {
            // Those who wait for nobody's instruction may stand anywhere.
            let watch = common!(self, types::I32, watch);
            let last = i64::from(self.plan.function.start.0) + i64::try_from(end).unwrap_or(i64::MAX);
            let alone = self.b.ins().icmp_imm(IntCC::UnsignedGreaterThanOrEqual, watch, last);
            enough = self.b.ins().band(enough, alone);
        }
        let (go, stop) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(stop);
        self.b.ins().brif(enough, go, &[], stop, &[]);
        self.b.switch_to_block(stop);
        match pieces {
            Some(piece) => {
                if on(Mutant::NativePieces) {
                    let fewer = self.b.ins().iadd_imm(left, -(1 << 32));
                    self.b.def_var(self.left, fewer);
                }
                self.b.ins().jump(piece, &[]);
            }
            None => {
                self.at = (start, start);
                self.leave(Exit::Fuel, start);
                self.at = (start, end);
            }
        }
        self.b.switch_to_block(go);
        let fewer = self.b.ins().iadd_imm(left, -cost);
        self.b.def_var(self.left, fewer);
        self.segments();
        self.end(end - 1);
    }

    /// What instructions take off the fuel, with those that are not counted.
    fn cost(&self, from: usize, to: usize) -> i64 {
        let hidden = (from..to).filter(|k| !self.plan.counted(*k)).count();
        i64::try_from(to - from).unwrap_or(0) * (1 << 32) - i64::try_from(hidden).unwrap_or(0)
    }

    /// The segments of the block at hand.
    fn segments(&mut self) {
        let (start, end) = self.at;
        let mut from = start;
        // Predicates that strips of the segment make: known behind them only.
        let mut made: BTreeSet<usize> = BTreeSet::new();
        for k in start..end {
            let way = self.way(k);
            let late = way == Way::Scalar && self.needs_before(k, &mut made);
            let alone = matches!(way, Way::Helper | Way::Exchange | Way::Push) || way.ends();
            if (alone || late && !on(Mutant::NativeLate) || self.ordered(from, k)) && from < k {
                self.segment(from, k);
                from = k;
                made.clear();
            }
            if way == Way::Strip {
                made.extend(self.predicate_of(k));
            }
            if alone {
                match way {
                    Way::Helper | Way::Exchange => self.helper(k),
                    Way::Push => self.push(),
                    _ => {}
                }
                from = k + 1;
            }
        }
        if from < end {
            self.segment(from, end);
        }
    }

    /// The predicate that an instruction writes.
    fn predicate_of(&self, k: usize) -> Option<usize> {
        let n = results(&self.plan.code[k], self.env, &self.plan.function).first().copied()?;
        (self.plan.function.slots.name(n).0 == Class::P).then_some(n)
    }

    /// Whether a number needs a predicate before strips, of those that strips make. A predicate made of one is one of them.
    fn needs_before(&self, k: usize, made: &mut BTreeSet<usize>) -> bool {
        let reads = sources(&self.plan.code[k], self.env, &self.plan.function).iter().any(|n| made.contains(n));
        match self.predicate_of(k) {
            None => reads,
            Some(n) if reads => {
                made.insert(n);
                false
            }
            Some(n) => {
                made.remove(&n);
                false
            }
        }
    }

    fn push(&mut self) {
        let tokens = self.b.use_var(self.tokens);
        let more = self.b.ins().iadd_imm(tokens, 1);
        self.b.def_var(self.tokens, more);
    }

    /// How the block at hand ends, behind its last instruction.
    fn end(&mut self, last: usize) {
        match self.plan.ways[last] {
            Way::Branch => self.branch(last),
            Way::Sync => self.sync(last),
            Way::Break => self.breaks(last),
            Way::Barrier => self.leave(Exit::Barrier, last),
            Way::End => self.leave(Exit::End, last),
            Way::Call => self.transfer(Exit::Call, last),
            Way::Return => self.transfer(Exit::Return, last),
            _ => self.go(last, last + 1),
        }
    }

    /// Goes on at an instruction; what is held as a line here and as a vector there is written to the frame.
    pub(super) fn go(&mut self, from: usize, to: usize) {
        self.hand_over(from, to);
        match self.blocks.get(to).copied().flatten() {
            Some(block) => {
                self.b.ins().jump(block, &[]);
            }
            None => self.lost(),
        }
    }

    /// An address outside of the kernel: nobody comes here.
    pub(super) fn lost(&mut self) {
        let code = self.b.ins().iconst(types::I32, i64::from(Exit::Outside as u32));
        put!(self, exit, code);
        let context = self.context;
        self.b.ins().return_(&[context]);
    }

    pub(super) fn hand_over(&mut self, from: usize, to: usize) {
        // What is known in the block at hand was not made on all ways that lead here.
        self.segment.splats.clear();
        let Some(alive) = self.plan.alive.get(to).cloned() else { return };
        if self.plan.patterns.before.get(to).is_none_or(Vec::is_empty) {
            return;
        }
        for n in alive.ones().filter(|n| !self.plan.fixed.contains(*n)) {
            let (out, there) = (self.line_behind(from, n), self.plan.line(to, n));
            let Some(line) = out else { continue };
            let value = self.variable_line(n, line);
            match there {
                None if on(Mutant::NativeMeet) => {}
                None => self.put_line(n, value),
                Some(there) if there.halves && !line.halves => {
                    let second = self.lift(value).values[1];
                    let variable = self.variable(n, 1);
                    self.b.def_var(variable, second);
                }
                Some(_) => {}
            }
        }
    }

    /// The line that a register is held as behind an instruction.
    fn line_behind(&self, k: usize, n: usize) -> Option<crate::program::affine::Line> {
        let (i, function) = (&self.plan.code[k], &self.plan.function);
        if !results(i, self.env, function).contains(&n) {
            return self.plan.line(k, n);
        }
        let after = self.plan.patterns.after[k].iter().find(|(m, _)| *m == n);
        match after {
            Some((_, pattern)) if super::super::forms::leaves_line(self.plan.ways[k], *pattern) => match pattern {
                Pattern::Affine(line) if width_is_value(function, n) => Some(*line),
                _ => None,
            },
            _ => None,
        }
    }

    fn branch(&mut self, k: usize) {
        let i = self.plan.code[k];
        let start = self.plan.function.start.0;
        let target = i.imm.wrapping_sub(start) as usize;
        let Some(guard) = i.guard else { return self.go(k, target) };
        let Some(bits) = self.guarded_lanes(guard) else { return self.lost() };
        if !self.who.parted.is_empty()
            && let Some(region) = self.region(k)
        {
            // Compiled once, whether they part or not.
            return self.part(k, region, bits);
        }
        let all = if self.who.some { self.who.mask } else { self.b.ins().iconst(types::I32, -1) };
        let (every, rest) = (self.b.create_block(), self.b.create_block());
        let whole = self.b.ins().icmp(IntCC::Equal, bits, all);
        self.b.ins().brif(whole, every, &[], rest, &[]);
        self.b.switch_to_block(every);
        self.go(k, target);
        self.b.switch_to_block(rest);
        let (apart, none) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(bits, apart, &[], none, &[]);
        self.b.switch_to_block(apart);
        match self.region(k) {
            Some(region) => self.part_if_known(k, region, bits),
            None if self.part_groups(k, target, bits) || self.part_all(k, target, bits) => {}
            None => self.diverge(k, bits),
        }
        self.b.switch_to_block(none);
        self.go(k, k + 1);
    }

    /// The lanes for which a guard holds, of those that run.
    fn guarded_lanes(&mut self, guard: Guard) -> Option<Value> {
        let n = self.plan.function.slots.number(Class::P, guard.pred)?;
        let mut bits = if self.plan.fixed.contains(n) {
            self.fixed_predicate(guard.pred.index())
        } else {
            let variable = self.variable(n, 0);
            self.b.use_var(variable)
        };
        if guard.negated {
            bits = self.b.ins().bnot(bits);
        }
        Some(if self.who.some { self.b.ins().band(bits, self.who.mask) } else { bits })
    }

    /// Lanes that break are the control model's; where none does, nothing happens.
    fn breaks(&mut self, k: usize) {
        let bits = match self.plan.code[k].guard {
            None => self.who.mask,
            Some(guard) => match self.guarded_lanes(guard) {
                Some(bits) => bits,
                None => return self.lost(),
            },
        };
        let (some, none) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(bits, some, &[], none, &[]);
        self.b.switch_to_block(some);
        put!(self, taken, bits);
        self.leave_behind(Exit::Break, k);
        self.b.switch_to_block(none);
        self.go(k, k + 1);
    }

    /// A `sync` goes on where its token says, when that was pushed here: the lanes are the same.
    fn sync(&mut self, k: usize) {
        if self.is_over(k) {
            return;
        }
        let top = self.plan.tokens[k].as_ref().and_then(|stack| stack.last()).copied();
        let Some((TokenKind::Sync, to)) = top else { return self.leave_behind(Exit::Sync, k) };
        let tokens = self.b.use_var(self.tokens);
        let (ours, theirs) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(tokens, ours, &[], theirs, &[]);
        self.b.switch_to_block(theirs);
        self.leave_behind(Exit::Sync, k);
        self.b.switch_to_block(ours);
        let fewer = self.b.ins().iadd_imm(tokens, -1);
        self.b.def_var(self.tokens, fewer);
        self.go(k, to.wrapping_sub(self.plan.function.start.0) as usize);
    }

    /// Leaves native code before an instruction.
    pub(super) fn leave(&mut self, why: Exit, k: usize) {
        let rest = if on(Mutant::NativeFuel) { 0 } else { self.cost(k.min(self.at.1), self.at.1) };
        self.leave_with(why, k, rest);
    }

    /// Leaves native code at an instruction that failed.
    pub(super) fn leave_failed(&mut self, why: Exit, k: usize) {
        let rest = self.cost(k + 1, self.at.1);
        self.leave_with(why, k, rest);
    }

    /// Leaves native code at an instruction that has been executed as far as it can be here.
    pub(super) fn leave_behind(&mut self, why: Exit, k: usize) {
        self.leave_with(why, k, 0);
    }

    fn leave_with(&mut self, why: Exit, k: usize, rest: i64) {
        self.tell_parted();
        let to = field!(self, types::I64, scalars);
        self.put_held(k, to, 0);
        self.put_predicates([k]);
        let left = self.b.use_var(self.left);
        let left = if rest == 0 { left } else { self.b.ins().iadd_imm(left, rest) };
        put!(self, left, left);
        let tokens = self.b.use_var(self.tokens);
        put!(self, tokens, tokens);
        let pc = i64::from(self.plan.function.start.0) + i64::try_from(k).unwrap_or(0);
        let pc = self.b.ins().iconst(types::I32, pc);
        put!(self, pc, pc);
        let code = self.b.ins().iconst(types::I32, i64::from(why as u32));
        put!(self, exit, code);
        if why == Exit::End || why == Exit::Barrier && self.plan.passes[k].is_some() {
            self.next((why == Exit::Barrier).then_some(tokens));
        }
        let context = self.context;
        self.b.ins().return_(&[context]);
    }

    /// Writes the numbers that are held before an instruction to a list, from some place on; gives them.
    pub(super) fn put_held(&mut self, k: usize, to: Value, first: usize) -> Vec<(Variable, Value)> {
        let mut all = Vec::new();
        for held in self.plan.held[k].clone() {
            let Some(n) = self.plan.function.slots.number(held.class, held.slot) else { continue };
            for half in 0..1 + usize::from(held.line.halves) {
                let variable = self.variable(n, half);
                let value = self.b.use_var(variable);
                self.b.ins().store(trusted(), value, to, offset(8 * (first + held.at as usize + half)));
                all.push((variable, value));
            }
        }
        all
    }

    /// Writes the predicates to the frame that are alive before some instructions.
    pub(super) fn put_predicates<const N: usize>(&mut self, before: [usize; N]) {
        let mut all: Vec<(usize, usize)> = before.iter().flat_map(|k| self.predicates(*k)).collect();
        sort::sort(&mut all);
        all.dedup();
        all.retain(|(n, _)| !self.plan.fixed.contains(*n));
        let to = field!(self, types::I64, p);
        for (n, slot) in all {
            let variable = self.variable(n, 0);
            let value = self.b.use_var(variable);
            self.put_predicate(to, slot, value);
        }
    }

    /// Goes on with the next warp if there is one, and if there are no `tokens` that the machine does not know of; what follows is
    /// where it does not.
    fn next(&mut self, tokens: Option<Value>) {
        let next = field!(self, types::I64, next);
        let (go, stop) = (self.b.create_block(), self.b.create_block());
        let mut goes = next;
        if let Some(tokens) = tokens {
            let none = self.b.ins().iconst(types::I64, 0);
            goes = self.b.ins().select(tokens, none, next);
        }
        self.b.ins().brif(goes, go, &[], stop, &[]);
        self.b.switch_to_block(go);
        self.b.ins().jump(self.top, &[next.into()]);
        self.b.switch_to_block(stop);
    }

    /// Goes on where a check of the segment at hand holds; else leaves at its first instruction: nothing has been done.
    pub(super) fn check(&mut self, holds: Value) {
        let go = self.b.create_block();
        let stop = match self.segment.stop {
            Some(stop) => stop,
            None => {
                let stop = self.b.create_block();
                self.b.set_cold_block(stop);
                self.segment.stop = Some(stop);
                self.stops.push((stop, self.segment.from, self.at, self.who.clone()));
                stop
            }
        };
        self.b.ins().brif(holds, go, &[], stop, &[]);
        self.b.switch_to_block(go);
    }

    /// The ways out that checks of segments have.
    pub(super) fn stops(&mut self) {
        for (stop, from, at, who) in std::mem::take(&mut self.stops) {
            self.b.switch_to_block(stop);
            (self.at, self.who) = (at, who);
            self.leave(Exit::Check, from);
        }
    }
}

/// Whether a register holds a number and no predicate.
fn width_is_value(function: &crate::program::env::Function, n: usize) -> bool {
    function.slots.name(n).0 != Class::P
}

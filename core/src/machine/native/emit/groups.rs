//! Groups of lanes that have parted: who is behind runs, up to where others wait, and goes on together with them ([`Groups`]).

use super::super::context::{Exit, Groups, RUNS};
use super::builder::{Apart, Emit, HALF, STRIPS, common, field, offset, put, trusted, width};
use crate::base::mutant::{Mutant, on};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use cranelift_frontend::Switch;
use std::mem::offset_of;

/// In place of an entry's number: native code is not entered here.
pub(super) const NO_ENTRY: i64 = -1;

/// The places up to one.
const fn up_to(place: u8) -> i64 {
    (u64::MAX >> (63 - place as u32 % 64)).cast_signed()
}

impl Emit<'_, '_> {
    /// Whether groups run natively.
    pub(super) fn grouped(&self) -> Option<Apart> {
        self.groups.filter(|_| self.who.some)
    }

    pub(super) fn noted(&mut self, ty: Type, at: usize) -> Value {
        let from = common!(self, types::I64, groups);
        self.b.ins().load(ty, trusted(), from, offset(at))
    }

    pub(super) fn note_of(&mut self, at: usize, value: Value) {
        let to = common!(self, types::I64, groups);
        self.b.ins().store(trusted(), value, to, offset(at));
    }

    /// Before a block: where lanes wait here, or before it, those that have come wait with them, and it is looked who runs.
    pub(super) fn arrive(&mut self, k: usize) {
        let (Some(apart), Some(place)) = (self.grouped(), self.plan.waits.get(k).copied().flatten()) else { return };
        self.who.mask = self.b.use_var(apart.mask);
        let places = self.noted(types::I64, offset_of!(Groups, places));
        let behind = self.b.ins().band_imm(places, if on(Mutant::NativePass) { 0 } else { up_to(place) });
        let (meet, go) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(meet);
        self.b.ins().brif(behind, meet, &[], go, &[]);
        self.b.switch_to_block(meet);
        let (unlike, full) = (self.unlike(k, self.who.mask), self.is_full());
        let stays = self.b.ins().bor(unlike, full);
        let (leave, wait) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(stays, leave, &[], wait, &[]);
        self.b.switch_to_block(leave);
        let at = std::mem::replace(&mut self.at, (k, k));
        self.leave(Exit::Meet, k);
        self.at = at;
        self.b.switch_to_block(wait);
        self.ran();
        self.wait(k, self.who.mask);
        self.b.ins().jump(apart.next, &[]);
        self.b.switch_to_block(go);
    }

    /// Lanes part at a branch, `bits` those that take it: those with the higher address wait. False: the control model does it.
    pub(super) fn part_groups(&mut self, k: usize, target: usize, bits: Value) -> bool {
        let Some(apart) = self.grouped() else { return false };
        let place = |k: usize| self.plan.waits.get(k).copied().flatten();
        let (Some(_), Some(_)) = (place(target), place(k + 1)) else { return false };
        // Those who go on where the others do have been picked anew for that, with a lease of their own.
        if target == k + 1 {
            return false;
        }
        let rest = self.b.ins().band_not(self.who.mask, bits);
        let ((low, runs), (high, waits)) =
            if target < k + 1 { ((target, bits), (k + 1, rest)) } else { ((k + 1, rest), (target, bits)) };
        let (leave, go) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(leave);
        self.hand_over(k, high);
        let (unlike, full) = (self.unlike(high, waits), self.is_full());
        let stays = self.b.ins().bor(unlike, full);
        self.b.ins().brif(stays, leave, &[], go, &[]);
        self.b.switch_to_block(leave);
        self.diverge(k, bits);
        self.b.switch_to_block(go);
        self.ran();
        self.wait(high, waits);
        self.hand_over(k, low);
        let places = self.noted(types::I64, offset_of!(Groups, places));
        let behind = self.b.ins().band_imm(places, place_mask(&self.plan.waits, low));
        let (others, on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(others);
        self.b.ins().brif(behind, others, &[], on, &[]);
        self.b.switch_to_block(others);
        self.wait(low, runs);
        self.b.ins().jump(apart.next, &[]);
        self.b.switch_to_block(on);
        self.run_only(apart, runs);
        match self.blocks.get(low).copied().flatten() {
            Some(block) => {
                self.b.ins().jump(block, &[]);
            }
            None => self.lost(),
        }
        true
    }

    /// Those who are behind all others run: all who wait where they do.
    pub(super) fn next_group(&mut self) {
        let Some(apart) = self.grouped() else { return };
        self.b.switch_to_block(apart.next);
        let places = self.noted(types::I64, offset_of!(Groups, places));
        let place = self.b.ins().ctz(places);
        let less = self.b.ins().iadd_imm(places, -1);
        let others = self.b.ins().band(places, less);
        self.note_of(offset_of!(Groups, places), others);
        let list = common!(self, types::I64, groups);
        let far = self.b.ins().ishl_imm(place, 2);
        let at = self.b.ins().iadd(list, far);
        let first = offset(offset_of!(Groups, waiting));
        let mask = self.b.ins().load(types::I32, trusted(), at, first);
        let none = self.b.ins().iconst(types::I32, 0);
        self.b.ins().store(trusted(), none, at, first);
        self.run_only(apart, mask);
        let (nowhere, mut switch) = (self.b.create_block(), Switch::new());
        let mut stubs = Vec::new();
        for (n, k) in (0_u128..).zip(self.plan.meets.clone()) {
            let stub = self.b.create_block();
            switch.set_entry(n, stub);
            stubs.push((k as usize, stub));
        }
        switch.emit(&mut self.b, place, nowhere);
        self.b.switch_to_block(nowhere);
        self.lost();
        for (k, stub) in stubs {
            self.b.switch_to_block(stub);
            self.go_on(apart, k);
        }
    }

    /// Lanes that have waited go on; where all have met, their control model is told.
    fn go_on(&mut self, apart: Apart, k: usize) {
        self.who.mask = self.b.use_var(apart.mask);
        let from = common!(self, types::I64, numbers);
        self.take_held(k, from, self.first_number(k));
        let mut others = self.noted(types::I64, offset_of!(Groups, places));
        if !self.plan.function.entry {
            let beyond = field!(self, types::I32, beyond);
            let beyond = self.b.ins().uextend(types::I64, beyond);
            others = self.b.ins().bor(others, beyond);
        }
        let (met, some) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(met);
        self.b.ins().brif(others, some, &[], met, &[]);
        self.b.switch_to_block(met);
        self.at = (k, k);
        // The code for all lanes may go on at once, if it can be entered here.
        let number = self.plan.entries[k].map_or(NO_ENTRY, i64::from);
        if number != NO_ENTRY || !on(Mutant::NativeNowhere) {
            let number = self.b.ins().iconst(types::I32, number);
            put!(self, entry, number);
        }
        self.leave(Exit::Meet, k);
        self.b.switch_to_block(some);
        match self.blocks[k] {
            Some(block) => {
                self.b.ins().jump(block, &[]);
            }
            None => self.lost(),
        }
    }

    /// Where the numbers of lines are of those who wait at a place.
    fn first_number(&self, k: usize) -> usize {
        self.plan.waits[k].map_or(0, usize::from) * self.plan.scalars
    }

    /// Lanes wait before an instruction, with what is held and known there.
    pub(super) fn wait(&mut self, k: usize, mask: Value) {
        let Some(place) = self.plan.waits[k] else { return };
        self.put_predicates([k]);
        let to = common!(self, types::I64, numbers);
        let first = self.first_number(k);
        let at = offset_of!(Groups, waiting) + 4 * usize::from(place);
        let before = self.noted(types::I32, at);
        for (number, half, halves, value) in self.held_values(k) {
            let place = offset(8 * (first + number));
            let mut value = value;
            if halves {
                // A half of which nobody comes has no number of its own: that of those who wait stays, if there are any.
                let ty = self.b.func.dfg.value_type(value);
                let old = self.b.ins().load(ty, trusted(), to, place);
                let nobody = self.b.ins().band_imm(mask, half_lanes(half));
                let nobody = self.b.ins().icmp_imm(IntCC::Equal, nobody, 0);
                let kept = self.b.ins().icmp_imm(IntCC::NotEqual, before, 0);
                let kept = self.b.ins().band(kept, nobody);
                value = self.b.ins().select(kept, old, value);
            }
            self.b.ins().store(trusted(), value, to, place);
        }
        let all = self.b.ins().bor(before, mask);
        self.note_of(at, all);
        let places = self.noted(types::I64, offset_of!(Groups, places));
        let bit = self.b.ins().iconst(types::I64, (1_u64 << place).cast_signed());
        let places = self.b.ins().bor(places, bit);
        self.note_of(offset_of!(Groups, places), places);
    }

    /// Whether lanes come to where others wait for whom a register has other numbers: an assumption does not hold. Zero: they do not.
    fn unlike(&mut self, k: usize, mask: Value) -> Value {
        let none = self.b.ins().iconst(types::I64, 0);
        let Some(place) = self.plan.waits[k].filter(|_| self.plan.verify) else {
            return none;
        };
        let from = common!(self, types::I64, numbers);
        let first = self.first_number(k);
        let waiting = self.noted(types::I32, offset_of!(Groups, waiting) + 4 * usize::from(place));
        let mut differ = none;
        for (number, half, halves, value) in self.held_values(k) {
            let ty = self.b.func.dfg.value_type(value);
            let old = self.b.ins().load(ty, trusted(), from, offset(8 * (first + number)));
            let mut other = self.b.ins().bxor(value, old);
            if ty != types::I64 {
                other = self.b.ins().uextend(types::I64, other);
            }
            // A half has a number where somebody of it is there.
            let lanes = if halves { half_lanes(half) } else { u32::MAX.into() };
            let (own, others) = (self.b.ins().band_imm(mask, lanes), self.b.ins().band_imm(waiting, lanes));
            let nobody = self.b.ins().iconst(types::I64, 0);
            let other = self.b.ins().select(own, other, nobody);
            let other = self.b.ins().select(others, other, nobody);
            differ = self.b.ins().bor(differ, other);
        }
        differ
    }

    /// Whether no more runs can be noted: not zero.
    fn is_full(&mut self) -> Value {
        let count = self.noted(types::I32, offset_of!(Groups, count));
        let full = self.b.ins().icmp_imm(IntCC::UnsignedGreaterThanOrEqual, count, RUNS as i64);
        self.b.ins().uextend(types::I64, full)
    }

    /// Notes that those who run have run, and what they have executed.
    fn ran(&mut self) {
        self.note_run();
        let mask = self.who.mask;
        let since = self.noted(types::I64, offset_of!(Groups, since));
        let others = self.b.ins().bnot(mask);
        self.took_fewer(since, others);
        let left = self.b.use_var(self.left);
        self.note_of(offset_of!(Groups, since), left);
    }

    /// Notes that those who run have run; there has to be room for it.
    pub(super) fn note_run(&mut self) {
        let count = self.noted(types::I32, offset_of!(Groups, count));
        let list = common!(self, types::I64, groups);
        let index = self.b.ins().uextend(types::I64, count);
        let far = self.b.ins().ishl_imm(index, 2);
        let at = self.b.ins().iadd(list, far);
        let mask = if self.who.some { self.who.mask } else { self.b.ins().iconst(types::I32, -1) };
        self.b.ins().store(trusted(), mask, at, offset(offset_of!(Groups, runs)));
        let warp = field!(self, types::I32, warp);
        self.b.ins().store(trusted(), warp, at, offset(offset_of!(Groups, whose)));
        let more = self.b.ins().iadd_imm(count, 1);
        self.note_of(offset_of!(Groups, count), if on(Mutant::NativeRuns) { count } else { more });
    }

    /// Some lanes run.
    pub(super) fn run_only(&mut self, apart: Apart, mask: Value) {
        self.b.def_var(apart.mask, mask);
        self.run_lanes(mask);
    }

    /// Some lanes are those that run.
    pub(super) fn run_lanes(&mut self, mask: Value) {
        self.note_of(offset_of!(Groups, mask), mask);
        let to = common!(self, types::I64, lanes);
        let all = self.b.ins().splat(types::I32X4, mask);
        for s in 0..STRIPS {
            let lanes = self.own_bits(all, s);
            self.b.ins().store(trusted(), lanes, to, offset(16 * s));
        }
    }

    /// The numbers of what is held before an instruction: where each is among them, of which half it is, whether each half has its
    /// own, and the value.
    fn held_values(&mut self, k: usize) -> Vec<(usize, usize, bool, Value)> {
        let mut all = Vec::new();
        for held in self.plan.held[k].clone() {
            let Some(n) = self.plan.function.slots.number(held.class, held.slot) else { continue };
            for half in 0..1 + usize::from(held.line.halves) {
                let variable = self.variable(n, half);
                let value = self.b.use_var(variable);
                all.push((held.at as usize + half, half, held.line.halves, value));
            }
        }
        all
    }

    /// Takes what is held and known before an instruction, from a list and the frame.
    pub(super) fn take_held(&mut self, k: usize, from: Value, first: usize) {
        for held in self.plan.held[k].clone() {
            let Some(n) = self.plan.function.slots.number(held.class, held.slot) else { continue };
            for half in 0..1 + usize::from(held.line.halves) {
                let at = offset(8 * (first + held.at as usize + half));
                let value = self.b.ins().load(width(held.class), trusted(), from, at);
                let variable = self.variable(n, half);
                self.b.def_var(variable, value);
            }
        }
        let from = field!(self, types::I64, p);
        for (n, slot) in self.predicates(k) {
            let value = self.b.ins().load(types::I32, trusted(), from, offset(4 * slot));
            let variable = self.variable(n, 0);
            self.b.def_var(variable, value);
        }
    }
}

/// The lanes of a half.
const fn half_lanes(half: usize) -> i64 {
    ((1 << HALF) - 1) << (HALF * half as i64)
}

/// The places up to that of an instruction.
fn place_mask(waits: &[Option<u8>], k: usize) -> i64 {
    waits.get(k).copied().flatten().map_or(-1, up_to)
}

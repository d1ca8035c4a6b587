//! Lanes that part in the code for all of them: the code for some goes on with them, until all have met.

use super::super::context::{Common, Exit, Groups, RUNS};
use super::super::forms::Way;
use super::builder::{Emit, common, field, offset, put, trusted};
use super::groups::NO_ENTRY;
use crate::base::mutant::{Mutant, on};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use std::mem::offset_of;

/// Where the fuel is in what is left ([`Context::left`](super::super::context::Context::left)).
const FUEL: i64 = 32;

impl Emit<'_, '_> {
    /// Lanes part at a branch, `bits` those that take it: those with the higher address wait, and the others run the code for some lanes
    /// as if the machine had been asked. False: the control model does it.
    pub(super) fn part_all(&mut self, k: usize, target: usize, bits: Value) -> bool {
        let place = |k: usize| self.plan.waits.get(k).copied().flatten();
        let entry = |k: usize| self.plan.entries.get(k).copied().flatten();
        let places = place(target).is_some() && place(k + 1).is_some();
        let low = target.min(k + 1);
        let Some(number) = entry(low).filter(|_| places && !self.who.some && target != k + 1) else { return false };
        // Tokens are no matter of groups.
        if self.plan.ways.contains(&Way::Push) {
            return false;
        }
        let rest = self.b.ins().bnot(bits);
        let (runs, high, waits) = if low == target { (bits, k + 1, rest) } else { (rest, target, bits) };
        let (code, left) = (common!(self, types::I64, some), self.b.use_var(self.left));
        let fuel = self.b.ins().sshr_imm(left, FUEL);
        let given = self.given(fuel);
        let (leave, go) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(leave);
        let lasts = self.b.ins().icmp_imm(IntCC::SignedGreaterThan, given, 0);
        let count = self.noted(types::I32, offset_of!(Groups, count));
        let room = self.b.ins().icmp_imm(IntCC::UnsignedLessThan, count, RUNS as i64);
        let known = self.b.ins().icmp_imm(IntCC::NotEqual, code, 0);
        let goes = self.b.ins().band(lasts, room);
        let goes = self.b.ins().band(goes, known);
        self.b.ins().brif(goes, go, &[], leave, &[]);
        self.b.switch_to_block(leave);
        self.diverge(k, bits);
        self.b.switch_to_block(go);
        self.note_run();
        self.hand_over(k, high);
        self.wait(high, waits);
        self.hand_over(k, low);
        let to = field!(self, types::I64, scalars);
        self.put_held(low, to, 0);
        self.put_predicates([low]);
        self.run_lanes(runs);
        put!(self, told, left);
        let whole = self.b.ins().ishl_imm(given, FUEL);
        let hidden = self.b.ins().band_imm(left, i64::from(u32::MAX));
        let given_left = self.b.ins().bor(whole, hidden);
        put!(self, left, given_left);
        self.note_of(offset_of!(Groups, since), given_left);
        let number = self.b.ins().iconst(types::I32, i64::from(number));
        put!(self, entry, number);
        self.call_some(code, runs);
        let more = self.b.ins().isub(left, given_left);
        self.met(more, given);
        true
    }

    /// What may be executed while lanes wait: what the others' patience allows, of which what nobody was told of is gone, and no more than
    /// there is.
    fn given(&mut self, fuel: Value) -> Value {
        let told = field!(self, types::I64, told);
        let told = self.b.ins().sshr_imm(told, FUEL);
        let own = self.b.ins().isub(told, fuel);
        let noted = self.b.ins().ireduce(types::I32, own);
        put!(self, own, noted);
        let patience = field!(self, types::I32, patience);
        let patience = self.b.ins().uextend(types::I64, patience);
        let rest = if on(Mutant::NativeImpatient) { patience } else { self.b.ins().isub(patience, own) };
        self.b.ins().smin(rest, fuel)
    }

    /// Calls the code for some lanes on the same context, which goes on to no other.
    fn call_some(&mut self, code: Value, runs: Value) {
        let next = field!(self, types::I64, next);
        let none = self.b.ins().iconst(types::I64, 0);
        put!(self, next, none);
        let (own, others) = (self.list, common!(self, types::I64, others));
        let (yes, no) = (self.b.ins().iconst(types::I32, 1), self.b.ins().iconst(types::I32, 0));
        let put = |emit: &mut Self, at: usize, value: Value| {
            let common = emit.common;
            emit.b.ins().store(trusted(), value, common, offset(at));
        };
        put(self, offset_of!(Common, mask), runs);
        put(self, offset_of!(Common, sites), others);
        put(self, offset_of!(Common, part), yes);
        let (signature, arguments) = (self.helpers.own, [self.context, self.common]);
        self.b.ins().call_indirect(signature, code, &arguments);
        put(self, offset_of!(Common, sites), own);
        put(self, offset_of!(Common, part), no);
        put!(self, next, next);
    }

    /// The code for some lanes is back, of whose fuel there is so much `more`: where all have met they go on, else the machine does.
    fn met(&mut self, more: Value, given: Value) {
        let left = field!(self, types::I64, left);
        let left = self.b.ins().iadd(left, more);
        put!(self, left, left);
        self.b.def_var(self.left, left);
        let (exit, places) = (field!(self, types::I32, exit), self.noted(types::I64, offset_of!(Groups, places)));
        let meets = self.b.ins().icmp_imm(IntCC::Equal, exit, i64::from(Exit::Meet as u32));
        let alone = self.b.ins().icmp_imm(IntCC::Equal, places, 0);
        let entry = field!(self, types::I32, entry);
        let enters = self.b.ins().icmp_imm(IntCC::NotEqual, entry, NO_ENTRY);
        let met = self.b.ins().band(meets, alone);
        let met = self.b.ins().band(met, enters);
        let (on, away) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(away);
        self.b.ins().brif(met, on, &[], away, &[]);
        self.b.switch_to_block(away);
        let given = self.b.ins().ireduce(types::I32, given);
        put!(self, given, given);
        let context = self.context;
        self.b.ins().return_(&[context]);
        self.b.switch_to_block(on);
        let since = self.noted(types::I64, offset_of!(Groups, since));
        let told = self.b.ins().iadd(since, more);
        put!(self, told, told);
        let patience = common!(self, types::I32, patience);
        put!(self, patience, patience);
        let enters = self.enters;
        self.b.ins().jump(enters, &[]);
    }
}

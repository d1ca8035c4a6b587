//! Accesses of the stack frame of a function that is called: at places that are known, rows of words of local memory.

use super::super::context::{Exit, Groups};
use super::super::each::OfFrame;
use super::builder::{Emit, Strip, Word, common, field, offset, put, trusted};
use crate::base::mutant::{Mutant, on};
use crate::program::ops::Class;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use rustc_hash::FxHashMap;
use std::mem::offset_of;

/// Bytes of a row.
const ROW: usize = 128;

impl Emit<'_, '_> {
    /// At the beginning of a segment: finds where the frame is in a function that is called, and its stack frame; they are others when
    /// lanes have called.
    pub(super) fn bases(&mut self) {
        if !self.plan.function.entry {
            let (w, q) = (field!(self, types::I64, w), field!(self, types::I64, q));
            self.segment.bases = Some([w, q, field!(self, types::I64, stack)]);
        }
    }

    /// Lanes call, or return: those that run then go on.
    pub(super) fn transfer(&mut self, why: Exit, k: usize) {
        let Some(apart) = self.grouped() else { return self.leave(why, k) };
        self.put_predicates([k]);
        let function = common!(self, types::I64, transfer);
        let pc = i64::from(self.plan.function.start.0) + k as i64;
        let (pc, left) = (self.b.ins().iconst(types::I32, pc), self.b.use_var(self.left));
        let arguments = [self.context, self.common, pc, left];
        let call = self.b.ins().call_indirect(self.helpers.transfer, function, &arguments);
        let done = self.b.inst_results(call)[0];
        let [moved, not, on, elsewhere] = [0; 4].map(|_| self.b.create_block());
        self.b.set_cold_block(not);
        self.b.ins().brif(done, moved, &[], not, &[]);
        self.b.switch_to_block(not);
        self.leave(why, k);
        self.b.switch_to_block(moved);
        let same = self.b.ins().icmp_imm(IntCC::Equal, done, 1);
        self.b.ins().brif(same, on, &[], elsewhere, &[]);
        self.b.switch_to_block(elsewhere);
        put!(self, left, left);
        let code = self.b.ins().iconst(types::I32, i64::from(Exit::Moved as u32));
        put!(self, exit, code);
        let context = self.context;
        self.b.ins().return_(&[context]);
        self.b.switch_to_block(on);
        let mask = self.noted(types::I32, offset_of!(Groups, mask));
        self.run_only(apart, mask);
        let enters = self.enters;
        self.b.ins().jump(enters, &[]);
    }

    /// Such an access in one strip.
    pub(super) fn of_frame(&mut self, k: usize, s: usize, now: &mut FxHashMap<usize, Strip>) {
        let Some(access) = self.plan.of_frame(k, self.env) else { return };
        let class = if access.bytes == 8 { Class::Q } else { Class::W };
        let Some(n) = self.plan.function.slots.number(class, access.data) else { return };
        let Some([.., from]) = self.segment.bases else { return };
        if access.load {
            let strip = self.load_frame(access, from, s);
            now.insert(n, strip);
            return;
        }
        match self.read(k, n, s, now) {
            Strip::W(word) => {
                let value = self.integers(word);
                self.store_frame(from, access.row, s, value);
            }
            Strip::Q(pairs) => {
                let words = [self.narrowed(pairs), self.upper(pairs)];
                for (row, value) in (access.row..).zip(words) {
                    self.store_frame(from, row, s, value);
                }
            }
            Strip::P(_) => {}
        }
    }

    fn load_frame(&mut self, access: OfFrame, from: Value, s: usize) -> Strip {
        let mut row = |row: u32| self.b.ins().load(types::I32X4, trusted(), from, place(row, s));
        let low = row(access.row);
        if access.bytes == 4 {
            return Strip::W(Word { value: low, float: false, loose: false });
        }
        let high = row(access.row + 1);
        Strip::Q(self.interleaved(low, high))
    }

    fn store_frame(&mut self, to: Value, row: u32, s: usize, value: Value) {
        let mut value = value;
        if !on(Mutant::NativeFrame) {
            let old = self.b.ins().load(types::I32X4, trusted(), to, place(row, s));
            let lanes = self.lanes(s);
            value = self.b.ins().bitselect(lanes, value, old);
        }
        self.b.ins().store(trusted(), value, to, place(row, s));
    }
}

/// Where a strip of a row is.
fn place(row: u32, s: usize) -> i32 {
    offset(row as usize * ROW + 16 * s)
}

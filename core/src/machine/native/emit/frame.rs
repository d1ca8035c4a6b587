//! Accesses of the stack frame of a function that is called: at places that are known, rows of words of local memory.

use super::builder::{Emit, Strip, Word, offset, trusted};
use crate::base::mutant::{Mutant, on};
use crate::machine::native::context::Context;
use crate::machine::native::each::OfFrame;
use crate::program::ops::Class;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use rustc_hash::FxHashMap;
use std::mem::offset_of;

/// Bytes of a row.
const ROW: usize = 128;

impl Emit<'_, '_> {
    /// Such an access in one strip.
    pub(super) fn of_frame(&mut self, k: usize, s: usize, now: &mut FxHashMap<usize, Strip>) {
        let Some(access) = self.plan.of_frame(k, self.env) else { return };
        let class = if access.bytes == 8 { Class::Q } else { Class::W };
        let Some(n) = self.plan.function.slots.number(class, access.data) else { return };
        let (flags, at) = (trusted().with_readonly().with_can_move(), offset(offset_of!(Context, stack)));
        let from = self.b.ins().load(types::I64, flags, self.context, at);
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

//! Plain accesses of global and shared memory: where they go is checked before anything is done.
//!
//! Accesses of a segment from one address are checked together, from the lowest to the highest. What is refused so although
//! each alone would be allowed is left to the interpreter, as everything that is refused.

use super::super::context::Exit;
use super::values::{Numbers, Strip};
use super::{Emit, anywhere, field, offset, trusted};
use crate::base::Pc;
use crate::program::instr::Op;
use crate::program::ops::Class;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};

/// Accesses that are checked together: those from one address, to one memory, in one room.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Group {
    address: Value,
    shared: bool,
    room: (u32, u32),
    /// Bytes of each.
    bytes: u32,
}

/// Bytes of a row of words: of all lanes, or of half of them.
const ROW: u32 = 128;

impl Emit<'_, '_> {
    /// Where an access of `bytes` at an address begins in this computer's memory, checked with those like it.
    fn place(&mut self, k: usize, address: Value, bytes: u32) -> Value {
        let i = self.plan.code[k];
        let shared = self.is_shared(k);
        let room = self.env.root(Pc(self.plan.function.start.0 + k as u32)).room();
        let room = if shared { (room.begin, room.bytes) } else { (0, u32::MAX) };
        let group = Group { address, shared, room, bytes };
        let own = i.imm.cast_signed();
        if let Some((place, low, high)) = self.segment.places.get(&group).copied()
            && (low..=high).contains(&own)
            && own.abs_diff(low).is_multiple_of(4)
        {
            return place;
        }
        // The later ones are those of the segment from the same value.
        let offsets = self.offsets_from(k, i.a, shared, bytes);
        let (low, high) = (offsets.0, offsets.1);
        let span = u64::from(bytes) + u64::from(high.abs_diff(low));
        let first = self.b.ins().iadd_imm(address, i64::from(low));
        let place = if shared { self.place_shared(first, span, room) } else { self.place_global(first, span) };
        let zero = self.b.ins().iadd_imm(place, -i64::from(low));
        self.segment.places.insert(group, (zero, low, high));
        zero
    }

    /// The lowest and the highest offset of the accesses from here to the end of the block whose address is the same register,
    /// until that is written.
    fn offsets_from(&self, k: usize, a: crate::program::instr::Slot, shared: bool, bytes: u32) -> (i32, i32) {
        let own = self.plan.code[k].imm.cast_signed();
        let (mut low, mut high) = (own, own);
        for j in k..self.segment_end(k) {
            let i = &self.plan.code[j];
            let like = matches!(i.op, Op::LdGlobal32 | Op::StGlobal32) && !shared
                || matches!(i.op, Op::LdShared32 | Op::StShared32) && shared;
            let at = i.imm.cast_signed();
            if like && i.a == a && at.abs_diff(own).is_multiple_of(4) && at.abs_diff(own) < 4096 && bytes > 0 {
                low = low.min(at);
                high = high.max(at);
            }
            let writes = super::super::forms::results(i, self.env, &self.plan.function);
            if self.plan.function.slots.number(Class::Q, a).is_some_and(|n| writes.contains(&n)) {
                break;
            }
        }
        (low, high)
    }

    /// One past the last instruction of the segment that an access is in, as `pieces` cuts it.
    fn segment_end(&self, k: usize) -> usize {
        self.segment.to.max(k + 1)
    }

    fn place_shared(&mut self, first: Value, span: u64, (begin, bytes): (u32, u32)) -> Value {
        let room = u64::from(self.setting.shared_bytes.saturating_sub(begin)).min(bytes.into());
        let inside = self.b.ins().iadd_imm(first, -i64::from(begin));
        let holds = match room.checked_sub(span) {
            None => self.b.ins().iconst(types::I8, 0),
            Some(last) => {
                let word = self.b.ins().rotr_imm(inside, 2);
                self.b.ins().icmp_imm(IntCC::UnsignedLessThanOrEqual, word, (last >> 2).cast_signed())
            }
        };
        self.check(holds);
        let shared = field!(self, types::I64, shared);
        self.b.ins().iadd(shared, first)
    }

    fn place_global(&mut self, first: Value, span: u64) -> Value {
        let number = *self.sites;
        *self.sites += 1;
        let sites = field!(self, types::I64, sites);
        let at = offset(number * size_of::<super::super::context::Site>());
        let address = self.b.ins().load(types::I64, trusted(), sites, at);
        let last = self.b.ins().load(types::I64, trusted(), sites, at + 8);
        let inside = self.b.ins().isub(first, address);
        let word = self.b.ins().rotr_imm(inside, 2);
        let holds = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, word, last);
        let (go, look) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(look);
        self.b.ins().brif(holds, go, &[], look, &[]);
        self.b.switch_to_block(look);
        let function = field!(self, types::I64, locate);
        let site = self.b.ins().iconst(types::I32, number as i64);
        let bytes = self.b.ins().iconst(types::I64, span.cast_signed());
        let arguments = [self.context, site, first, bytes];
        let call = self.b.ins().call_indirect(self.helpers.locate, function, &arguments);
        let found = self.b.inst_results(call)[0];
        self.check(found);
        self.b.ins().jump(go, &[]);
        self.b.switch_to_block(go);
        let sites = field!(self, types::I64, sites);
        let shift = self.b.ins().load(types::I64, trusted(), sites, at + 16);
        let memory = field!(self, types::I64, memory);
        let place = self.b.ins().iadd(first, shift);
        self.b.ins().iadd(memory, place)
    }

    fn address(&mut self, k: usize) -> Option<Numbers> {
        let n = self.plan.function.slots.number(Class::Q, self.plan.code[k].a)?;
        self.plan.line(k, n)?;
        Some(self.numbers(k, n))
    }

    /// A load of one word, or of one for each half.
    pub(super) fn load_one(&mut self, k: usize) -> Option<Numbers> {
        let address = self.address(k)?;
        let i = self.plan.code[k];
        let at = i.imm.cast_signed();
        let n = self.plan.function.slots.number(Class::W, i.d)?;
        let halves = address.line.halves;
        let mut values = [self.context; 2];
        for half in 0..1 + usize::from(halves) {
            let place = self.place(k, address.values[half], 4);
            values[half] = self.b.ins().load(types::I32, anywhere(), place, at);
        }
        if !halves {
            values[1] = values[0];
        }
        let uniform = crate::program::affine::Line::uniform(crate::program::affine::Residue::NONE);
        let line = self.after(k, n).unwrap_or(crate::program::affine::Line { halves, ..uniform });
        let numbers = Numbers { values, line: crate::program::affine::Line { halves, ..line }, class: Class::W };
        Some(if line.halves { self.lift(numbers) } else { numbers })
    }

    /// Where a row begins, and that of the second half.
    pub(super) fn place_row(&mut self, k: usize) {
        let Some(address) = self.address(k) else { return };
        let mut rows = [self.context; 2];
        if address.line.halves {
            for half in 0..2 {
                rows[half] = self.place(k, address.values[half], ROW / 2);
            }
        } else {
            let row = self.place(k, address.values[0], ROW);
            rows = [row, self.b.ins().iadd_imm(row, i64::from(ROW / 2))];
        }
        self.segment.rows.insert(k, rows);
    }

    fn row(&self, k: usize, s: usize) -> (Value, i32) {
        let rows = self.segment.rows.get(&k).copied().unwrap_or([self.context; 2]);
        (rows[s / 4], self.plan.code[k].imm.cast_signed() + offset(s % 4 * 16))
    }

    pub(super) fn load_row(&mut self, k: usize, s: usize) -> Strip {
        let (place, at) = self.row(k, s);
        self.load_strip(place, at)
    }

    pub(super) fn store_row(&mut self, k: usize, s: usize, strip: Strip) {
        let Strip::W(word) = strip else { return };
        let (place, at) = self.row(k, s);
        let mut value = self.integers(word);
        if self.some {
            let old = self.b.ins().load(types::I32X4, anywhere(), place, at);
            let lanes = self.lanes(s);
            value = self.b.ins().bitselect(lanes, value, old);
        }
        self.b.ins().store(anywhere(), value, place, at);
    }

    /// Executes an instruction by way of the machine, for some lanes.
    pub(super) fn call_plain(&mut self, k: usize, lanes: Value) {
        let function = field!(self, types::I64, plain);
        let pc = i64::from(self.plan.function.start.0) + k as i64;
        let pc = self.b.ins().iconst(types::I32, pc);
        let arguments = [self.context, pc, lanes];
        let call = self.b.ins().call_indirect(self.helpers.plain, function, &arguments);
        let failed = self.b.inst_results(call)[0];
        let (go, fault) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(fault);
        self.b.ins().brif(failed, fault, &[], go, &[]);
        self.b.switch_to_block(fault);
        self.leave_failed(Exit::Fault, k);
        self.b.switch_to_block(go);
    }
}

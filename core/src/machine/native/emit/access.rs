//! Plain accesses of global and shared memory: where they go is checked before anything is done.
//!
//! Accesses of a segment from one address are checked together, from the lowest to the highest. What is refused so although
//! each alone would be allowed is left to the interpreter, as everything that is refused.

use super::super::context::{Exit, Site};
use super::super::each::Access;
use super::super::forms::Way;
use super::builder::{Emit, Group, Numbers, Place, Strip, Word, anywhere, common, offset, trusted, width};
use crate::base::Pc;
use crate::base::mutant::{Mutant, on};
use crate::program::affine::{Line, Residue};
use crate::program::ops::Class;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use std::mem::offset_of;

impl Emit<'_, '_> {
    /// The access of an instruction that is compiled as one.
    pub(super) fn access(&self, k: usize) -> Option<Access> {
        Access::of(&self.plan.code[k], self.env)
    }

    /// Where an access of `bytes` at an address begins in this computer's memory, checked with those like it.
    fn place(&mut self, k: usize, access: Access, address: Value, bytes: u32) -> Value {
        let room = self.env.root(Pc(self.plan.function.start.0 + k as u32)).room();
        let room = if access.shared { (room.begin, room.bytes) } else { (0, u32::MAX) };
        let group = Group { address, shared: access.shared, room, bytes };
        let unit = access.bytes;
        if let Some(Place { zero, low, high, site }) = self.segment.places.get(&group).copied()
            && (low..=high).contains(&access.offset)
            && access.offset.abs_diff(low).is_multiple_of(unit.into())
        {
            site.into_iter().for_each(|number| self.own(number, k));
            return zero;
        }
        // The later ones are those of the segment from the same register.
        let (low, high) = self.offsets_from(k, access);
        let span = u64::from(bytes) + high.abs_diff(low);
        let wide = if access.class == Class::Q { address } else { self.b.ins().uextend(types::I64, address) };
        let first = self.b.ins().iadd_imm(wide, low);
        let place = if access.shared {
            self.place_shared(first, span, room, unit)
        } else {
            self.place_global(first, span, unit)
        };
        let zero = self.b.ins().iadd_imm(place, -low);
        let site = (!access.shared).then(|| self.sites.len() - 1);
        site.into_iter().for_each(|number| self.own(number, k));
        self.segment.places.insert(group, Place { zero, low, high, site });
        zero
    }

    /// The lowest and the highest offset of the accesses from here to the end of the segment whose address is in the same register,
    /// until that is written.
    fn offsets_from(&self, k: usize, access: Access) -> (i64, i64) {
        let (mut low, mut high) = (access.offset, access.offset);
        let address = self.plan.function.slots.number(access.class, access.slot);
        for j in k..self.segment.to.max(k + 1) {
            let same = |a: &Access| {
                (a.class, a.slot, a.shared, a.bytes) == (access.class, access.slot, access.shared, access.bytes)
            };
            if let Some(other) = self.access(j).filter(|a| same(a) && self.plan.code[j].guard.is_none()) {
                let apart = other.offset.abs_diff(access.offset);
                if apart.is_multiple_of(access.bytes.into()) && apart < 4096 {
                    low = low.min(other.offset);
                    high = high.max(other.offset);
                }
            }
            let writes = super::super::forms::results(&self.plan.code[j], self.env, &self.plan.function);
            if address.is_some_and(|n| writes.contains(&n)) {
                break;
            }
        }
        (low, high)
    }

    pub(super) fn place_shared(&mut self, first: Value, span: u64, (begin, bytes): (u32, u32), unit: u32) -> Value {
        // As accesses are aligned, none begins before the next multiple.
        let up = begin.next_multiple_of(unit);
        let (begin, bytes) = (up, bytes.saturating_sub(up - begin));
        let room = u64::from(self.setting.shared_bytes.saturating_sub(begin)).min(bytes.into());
        let inside = self.b.ins().iadd_imm(first, -i64::from(begin));
        let holds = match room.checked_sub(span) {
            None => self.b.ins().iconst(types::I8, 0),
            Some(last) => {
                let bits = unit.trailing_zeros();
                let word = self.b.ins().rotr_imm(inside, i64::from(bits));
                self.b.ins().icmp_imm(IntCC::UnsignedLessThanOrEqual, word, (last >> bits).cast_signed())
            }
        };
        self.check(holds);
        self.b.ins().iadd(self.shared, first)
    }

    pub(super) fn place_global(&mut self, first: Value, span: u64, unit: u32) -> Value {
        let number = self.sites.len();
        self.sites.push(Vec::new());
        let [address, count] = [offset_of!(Site, address), offset_of!(Site, count)].map(|at| self.site(number, at));
        let inside = self.b.ins().isub(first, address);
        let word = self.b.ins().rotr_imm(inside, i64::from(unit.trailing_zeros()));
        let holds = self.b.ins().icmp(IntCC::UnsignedLessThan, word, count);
        let (go, look) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(look);
        self.b.ins().brif(holds, go, &[], look, &[]);
        self.b.switch_to_block(look);
        let found = self.locate(number, first, span, unit);
        self.check(found);
        self.b.ins().jump(go, &[]);
        self.b.switch_to_block(go);
        let shift = self.site(number, offset_of!(Site, shift));
        self.b.ins().iadd(first, shift)
    }

    /// A field of a site.
    pub(super) fn site(&mut self, number: usize, field: usize) -> Value {
        let at = offset(number * size_of::<Site>() + field);
        self.b.ins().load(types::I64, trusted(), self.list, at)
    }

    /// Looks up where bytes at an address are, for a site; gives whether they are in one block.
    pub(super) fn locate(&mut self, number: usize, first: Value, bytes: u64, unit: u32) -> Value {
        let site = self.b.ins().iconst(types::I32, number as i64);
        let bytes = self.b.ins().iconst(types::I64, bytes.cast_signed());
        let unit = self.b.ins().iconst(types::I32, i64::from(unit));
        let arguments = [self.common, site, first, bytes, unit];
        self.b.ins().call(self.helpers.locate, &arguments);
        common!(self, types::I32, found)
    }

    pub(super) fn address(&mut self, access: Access, k: usize) -> Option<Numbers> {
        let n = self.plan.function.slots.number(access.class, access.slot)?;
        self.plan.line(k, n)?;
        Some(self.numbers(k, n))
    }

    /// A load of one word, or of one for each half.
    pub(super) fn load_one(&mut self, k: usize) -> Option<Numbers> {
        let access = self.access(k)?;
        let address = self.address(access, k)?;
        let class = if access.bytes == 8 { Class::Q } else { Class::W };
        let n = self.plan.function.slots.number(class, access.data)?;
        let halves = address.line.halves;
        let mut values = address.values;
        for value in values.iter_mut().take(1 + usize::from(halves)) {
            let place = self.place(k, access, *value, access.bytes);
            *value = self.b.ins().load(width(class), anywhere(), place, small(access.offset));
        }
        if !halves {
            values[1] = values[0];
        }
        let after = self.after(k, n).unwrap_or(Line::uniform(Residue::NONE));
        let numbers = Numbers { values, line: Line { halves, ..after }, class };
        Some(if after.halves { self.lift(numbers) } else { numbers })
    }

    /// Where a row begins, and that of the second half.
    pub(super) fn place_row(&mut self, k: usize) {
        let Some(access) = self.access(k) else { return };
        let Some(address) = self.address(access, k) else { return };
        let row = 32 * access.bytes;
        let rows = if address.line.halves {
            address.values.map(|first| self.place(k, access, first, row / 2))
        } else {
            let first = self.place(k, access, address.values[0], row);
            [first, self.b.ins().iadd_imm(first, i64::from(row / 2))]
        };
        self.segment.rows.insert(k, rows);
    }

    /// Where a strip of a row is: the beginning of its half, and how far behind.
    fn row(&self, k: usize, access: Access, s: usize) -> (Value, i32) {
        let rows = self.segment.rows.get(&k).copied().unwrap_or([self.context; 2]);
        (rows[s / 4], small(access.offset) + offset(s % 4 * 4 * access.bytes as usize))
    }

    pub(super) fn load_row(&mut self, k: usize, s: usize) -> Option<Strip> {
        let access = self.access(k)?;
        let (place, at) = self.row(k, access, s);
        if access.bytes == 8 {
            let two = [0, 16].map(|more| self.b.ins().load(types::I64X2, anywhere(), place, at + more));
            return Some(Strip::Q(two));
        }
        let value = self.b.ins().load(types::I32X4, anywhere(), place, at);
        Some(Strip::W(Word { value, float: false, loose: false }))
    }

    pub(super) fn store_row(&mut self, k: usize, s: usize, strip: Strip) {
        let Some(access) = self.access(k) else { return };
        let (place, at) = self.row(k, access, s);
        match strip {
            Strip::W(word) => {
                let mut value = self.integers(word);
                if self.who.some && !on(Mutant::NativeRow) {
                    let old = self.b.ins().load(types::I32X4, anywhere(), place, at);
                    let lanes = self.lanes(s);
                    value = self.b.ins().bitselect(lanes, value, old);
                }
                self.b.ins().store(anywhere(), value, place, at);
            }
            Strip::Q(two) => {
                for (half, mut value) in two.into_iter().enumerate() {
                    let at = at + offset(16 * half);
                    if self.who.some {
                        let old = self.b.ins().load(types::I64X2, anywhere(), place, at);
                        let lanes = self.lanes(s);
                        let lanes = self.wide_mask(lanes)[half];
                        value = self.b.ins().bitselect(lanes, value, old);
                    }
                    self.b.ins().store(anywhere(), value, place, at);
                }
            }
            Strip::P(_) => {}
        }
    }

    /// Executes an instruction by way of the machine, for some lanes.
    pub(super) fn call_plain(&mut self, k: usize, lanes: Value) {
        let function = common!(self, types::I64, plain);
        let pc = i64::from(self.plan.function.start.0) + k as i64;
        let pc = self.b.ins().iconst(types::I32, pc);
        let arguments = [self.context, self.common, pc, lanes];
        let call = self.b.ins().call_indirect(self.helpers.plain, function, &arguments);
        let failed = self.b.inst_results(call)[0];
        let (go, fault) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(fault);
        self.b.ins().brif(failed, fault, &[], go, &[]);
        self.b.switch_to_block(fault);
        match self.plan.ways[k] {
            // Nothing has been done: somebody is missing.
            Way::Exchange => self.leave(Exit::Outside, k),
            _ => self.leave_failed(Exit::Fault, k),
        }
        self.b.switch_to_block(go);
    }
}

/// An offset of an access, which is small where one is compiled.
fn small(offset: i64) -> i32 {
    i32::try_from(offset).unwrap_or(0)
}

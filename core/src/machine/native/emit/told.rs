//! Accesses that are told to an observer as rows: all those of a segment at once, in their order, behind its checks.

use super::super::forms::Way;
use super::builder::{Emit, Told, common, offset, trusted};
use crate::base::mutant::{Mutant, on};
use crate::program::ops::Class;
use crate::verdict::Row;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use std::mem::offset_of;

/// Lanes of a half.
const HALF: i64 = 16;

impl Emit<'_, '_> {
    /// A site is made for the accesses of one instruction more.
    pub(super) fn own(&mut self, number: usize, k: usize) {
        if self.plan.watch.tells(k) {
            return;
        }
        let pc = self.plan.function.start.0 + k as u32;
        if let Some(owners) = self.sites.get_mut(number) {
            owners.push(pc);
        }
    }

    /// Keeps where an access goes that is to be told: its address may be written before the segment's checks are over.
    pub(super) fn keep_row(&mut self, k: usize) {
        if !self.plan.watch.tells(k) {
            return;
        }
        let Some(access) = self.access(k) else { return };
        let Some(address) = self.address(access, k) else { return };
        let step = if self.plan.ways[k] == Way::LoadOne { 0 } else { access.bytes };
        let window = if access.shared { self.env.addresses().shared.cast_signed() } else { 0 };
        let wide = |emit: &mut Self, value: Value| {
            let wide = if access.class == Class::Q { value } else { emit.b.ins().uextend(types::I64, value) };
            emit.b.ins().iadd_imm(wide, access.offset.wrapping_add(window))
        };
        let low = wide(self, address.values[0]);
        let high = if address.line.halves {
            wide(self, address.values[1])
        } else {
            self.b.ins().iadd_imm(low, HALF * i64::from(step))
        };
        self.segment.told.push(Told { k, first: [low, high], step });
    }

    /// Tells the accesses that were kept; what is not taken note of leaves the segment.
    pub(super) fn tell_rows(&mut self) {
        let told = std::mem::take(&mut self.segment.told);
        if told.is_empty() {
            return;
        }
        let rows = common!(self, types::I64, rows);
        for (n, Told { k, first, step }) in told.iter().enumerate() {
            let at = |field: usize| offset(n * size_of::<Row>() + field);
            for (half, first) in first.iter().enumerate() {
                self.b.ins().store(trusted(), *first, rows, at(offset_of!(Row, first) + 8 * half));
            }
            let lanes = match on(Mutant::NativeTold) {
                true => self.b.ins().iconst(types::I32, -1),
                false => self.who.mask,
            };
            self.b.ins().store(trusted(), lanes, rows, at(offset_of!(Row, lanes)));
            let stores = u32::from(self.plan.ways[*k] == Way::StoreRow);
            let pc = self.plan.function.start.0 + *k as u32;
            for (field, value) in
                [(offset_of!(Row, at), pc), (offset_of!(Row, step), *step), (offset_of!(Row, stores), stores)]
            {
                let value = self.b.ins().iconst(types::I32, i64::from(value));
                self.b.ins().store(trusted(), value, rows, at(field));
            }
        }
        self.rows = self.rows.max(told.len());
        let count = self.b.ins().iconst(types::I32, told.len() as i64);
        let (function, nobody) = (common!(self, types::I64, note), self.b.ins().iconst(types::I32, 0));
        let arguments = [self.context, self.common, count, nobody];
        let call = self.b.ins().call_indirect(self.helpers.plain, function, &arguments);
        let noted = self.b.inst_results(call)[0];
        let all = self.b.ins().icmp_imm(IntCC::NotEqual, noted, 0);
        self.check(all);
    }
}

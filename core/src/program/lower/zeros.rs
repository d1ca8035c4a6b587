//! `st.bulk` (PTX ISA 9.7.9.13; D-zeros): zeros in a region of shared memory, as a loop of stores.

use super::function::{FnLower, Role};
use super::memory::space_word;
use super::operand::{Located, nth};
use crate::program::instr::{Guard, Instr, MemOp, Op, Space, WarpRequest};
use crate::program::ops::{Class, IntOp};
use crate::ptx::Modifier as M;
use crate::ptx::tree;

impl<'t> FnLower<'_, 't> {
    /// `st.bulk{.weak}{.shared::cta} [a], size, 0`: bytes beyond the last eight are left as they are.
    pub(super) fn store_bulk(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let named = space_word(self.unit.names(), &instr.mods).unwrap_or(Space::Generic);
        let at = self.address(nth(instr, 0)?)?;
        let space = self.space(named, &at);
        let size = self.source(nth(instr, 1)?, Class::Q, M::U64)?;
        let (zero, eight) = (self.constant(Class::Q, 0)?, self.constant(Class::Q, 8)?);
        let (left, done) = (self.temp(Class::Q)?, self.temp(Class::P)?);
        let (class, mov, add) =
            if at.wide { (Class::Q, IntOp::MovQ, IntOp::Add64) } else { (Class::W, IntOp::MovW, IntOp::Add32) };
        let step = self.constant(class, 8)?;
        let slot = self.temp(class)?;
        self.alu(Role::Helper, mov, slot, &[at.slot]);
        // Where the guard does not hold, nothing is left to do.
        match self.guard {
            None => self.alu(Role::Helper, IntOp::MovQ, left, &[size]),
            Some(Guard { pred, negated }) => {
                let (yes, no) = if negated { (zero, size) } else { (size, zero) };
                self.alu(Role::Helper, IntOp::SelQ, left, &[yes, no, pred]);
            }
        }
        let guard = self.guard.take();
        let (again, end) = (self.new_label(), self.new_label());
        self.place(again);
        self.alu(Role::Helper, IntOp::LtU64, done, &[left, eight]);
        self.guard = Some(Guard { pred: done, negated: false });
        self.target(end);
        self.emit(Role::Part, Instr::new(Op::Bra));
        self.guard = None;
        let at = Located { slot, ..at };
        let mut request = at.access(&WarpRequest::PLAIN, MemOp::Store, space, 8, Class::Q);
        request.regs[0] = zero;
        self.request(Role::Main, request, &at);
        self.alu(Role::Helper, add, slot, &[slot, step]);
        self.alu(Role::Helper, IntOp::Sub64, left, &[left, eight]);
        self.target(again);
        self.emit(Role::Part, Instr::new(Op::Bra));
        self.place(end);
        self.guard = guard;
        Some(())
    }
}

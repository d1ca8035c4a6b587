//! Control flow (PTX ISA 9.7.12) but calls.

use super::error::{Lowered, operand};
use super::function::{FnLower, Role};
use super::operand::nth;
use super::symbol::Sym;
use crate::program::instr::{Instr, Op, STACK_BASE};
use crate::program::ops::Class;
use crate::ptx::Modifier as M;
use crate::ptx::tree::{self, Ident, OperandKind};

impl<'t> FnLower<'_, 't> {
    /// `bra{.uni} L`.
    pub(super) fn bra(&mut self, instr: &'t tree::Instr) -> Lowered<bool> {
        let op = nth(instr, 0)?;
        // The indirect branch of PTX 1.x, `bra %r, targets`, has no successor in later versions but `brx.idx`.
        if instr.operands.len() > 1 {
            return Ok(false);
        }
        let OperandKind::Name(name) = op.kind else { return operand("a label", op.span) };
        let label = self.label(Ident { name, span: op.span })?;
        self.target(label);
        self.emit(Role::Main, Instr::new(Op::Bra));
        Ok(true)
    }

    /// `brx.idx{.uni} a, list`.
    pub(super) fn brx(&mut self, instr: &'t tree::Instr) -> Lowered<bool> {
        let list = nth(instr, 1)?;
        let OperandKind::Name(name) = list.kind else { return operand("a .branchtargets label", list.span) };
        let Sym::Targets(index) = self.lookup(name)? else {
            return operand("a .branchtargets label", list.span);
        };
        let a = self.source(nth(instr, 0)?, Class::W, M::U32)?;
        let Some((_, labels)) = self.targets.get(index as usize).cloned() else { return Ok(false) };
        let imm = self.table(&labels);
        self.emit(Role::Main, Instr { a, imm, ..Instr::new(Op::Brx) });
        Ok(true)
    }

    /// `ret{.uni}`: in an entry it ends the thread (step 5 of the report's 5.1.3).
    pub(super) fn ret(&mut self) -> Lowered<()> {
        self.return_registers()?;
        let op = if self.is_entry() { Op::Exit } else { Op::Ret };
        self.emit(Role::Main, Instr::new(op));
        Ok(())
    }

    /// Stores return parameters that are registers where the caller looks for them.
    pub(super) fn return_registers(&mut self) -> Lowered<()> {
        for i in 0..self.register_returns.len() {
            if let Some((reg, offset, bytes)) = self.register_returns.get(i).copied() {
                self.register_to_frame(reg, offset, bytes, STACK_BASE)?;
            }
        }
        Ok(())
    }
}

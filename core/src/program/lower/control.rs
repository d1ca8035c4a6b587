//! Control flow (PTX ISA 9.7.12) but calls.

use super::function::FnLower;
use super::operand::nth;
use super::symbol::Sym;
use crate::program::instr::{Instr, Op, STACK_BASE};
use crate::program::ops::Class;
use crate::ptx::Modifier as M;
use crate::ptx::tree::{self, Operand, OperandKind};

impl<'t> FnLower<'_, 't> {
    /// `bra{.uni} L`.
    pub(super) fn bra(&mut self, instr: &'t tree::Instr) -> Option<()> {
        // The indirect branch of PTX 1.x, `bra %r, targets`, has no successor in later versions but `brx.idx`.
        let [Operand { kind: OperandKind::Name(name), .. }] = instr.operands[..] else { return None };
        let label = self.label(name)?;
        self.target(label);
        self.plain(Op::Bra)
    }

    /// `brx.idx{.uni} a, list`.
    pub(super) fn brx(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let OperandKind::Name(name) = nth(instr, 1)?.kind else { return None };
        let Sym::Targets(index) = self.lookup(name)? else { return None };
        let a = self.source(nth(instr, 0)?, Class::W, M::U32)?;
        let (_, labels) = self.targets.get(index as usize).cloned()?;
        let imm = self.table(&labels);
        self.plain(Instr { a, imm, ..Instr::new(Op::Brx) })
    }

    /// `ret{.uni}`: in an entry it ends the thread (step 5 of the report's 5.1.3).
    pub(super) fn ret(&mut self) -> Option<()> {
        self.return_registers()?;
        self.plain(if self.is_entry() { Op::Exit } else { Op::Ret })
    }

    /// Stores return parameters that are registers where the caller looks for them.
    pub(super) fn return_registers(&mut self) -> Option<()> {
        let returns = self.register_returns.clone();
        returns.iter().try_for_each(|(reg, offset, bytes)| self.register_to_frame(*reg, *offset, *bytes, STACK_BASE))
    }
}

//! Asynchronous copies (PTX ISA 9.7.9.25.3).
//!
//! A `cp.async` is two instructions here: its source is looked at, then the copies begin. So a program address is an access of one kind, as for all
//! other accesses, and reports can say which of the two is meant.

use super::function::{FnLower, Role};
use super::operand::{Located, nth};
use crate::program::instr::{CacheOp, Instr, MemOp, NO_SLOT, Op, Slot, Space, WarpRequest};
use crate::program::ops::{Class, IntOp};
use crate::ptx::tree::{self, OperandKind};

impl<'t> FnLower<'_, 't> {
    /// `cp.async` with `ca` or `cg`, `commit_group`, `wait_group` and `wait_all`.
    pub(super) fn cp_async(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let names = self.unit.names();
        let word = |text: &str| instr.mods.iter().any(|m| m.text(names) == text);
        if word("bulk") {
            return self.bulk(instr);
        }
        if word("mbarrier") || word("mbarrier::arrive") {
            return self.arrives_later(instr, word("noinc"));
        }
        if word("commit_group") {
            return self.plain(Op::CopyCommit);
        }
        if word("wait_all") {
            return self.plain(Instr { imm: u32::MAX, ..Instr::new(Op::CopyWait) });
        }
        if word("wait_group") {
            // All groups of which there may be are told apart in eight bits; more are never in flight.
            let newest = self.immediate(nth(instr, 0)?)?;
            let imm = u32::try_from(newest.min(u64::from(u8::MAX))).ok()?;
            return self.plain(Instr { imm, ..Instr::new(Op::CopyWait) });
        }
        let bytes = self.immediate(nth(instr, 2)?)?;
        let elems = match bytes {
            4 => 1,
            8 => 2,
            16 => 4,
            _ => return None,
        };
        let size = self.source_size(instr, bytes)?;
        let (to, from) = (self.address(nth(instr, 0)?)?, self.address(nth(instr, 1)?)?);
        let cache = if word("cg") { CacheOp::Cg } else { CacheOp::Ca };
        let access = |at: &Located, op, space| WarpRequest {
            elems,
            cache: if op == MemOp::Load { cache } else { CacheOp::Default },
            ..at.access(&WarpRequest { regs: [NO_SLOT; 8], ..WarpRequest::PLAIN }, op, space, 4, Class::W)
        };
        let (load, store) = (access(&from, MemOp::Load, Space::Global), access(&to, MemOp::Store, Space::Shared));
        self.part_of_copy((Op::CopyFrom, Role::Main), load, &from, size);
        self.part_of_copy((Op::CopyTo, Role::Part), store, &to, size);
        Some(())
    }

    /// The register with the bytes that are taken from the source; none where all are.
    fn source_size(&mut self, instr: &'t tree::Instr, bytes: u64) -> Option<Slot> {
        let Some(op) = nth(instr, 3) else { return Some(NO_SLOT) };
        if let OperandKind::Not(name) = op.kind {
            let reg = self.register(name).filter(|reg| reg.class == Class::P)?;
            let (all, none) = (self.constant(Class::W, bytes)?, self.constant(Class::W, 0)?);
            return self.helper(IntOp::SelW, Class::W, &[all, none, reg.slot]);
        }
        match self.as_register(op) {
            // A cache policy is a hint.
            Some(reg) if reg.class == Class::Q => Some(NO_SLOT),
            // What ignores its source takes nothing.
            Some(reg) if reg.class == Class::P => {
                let (all, none) = (self.constant(Class::W, bytes)?, self.constant(Class::W, 0)?);
                self.helper(IntOp::SelW, Class::W, &[none, all, reg.slot])
            }
            Some(reg) => Some(reg.slot),
            None => {
                let size = self.immediate(op)?;
                self.constant(Class::W, size)
            }
        }
    }

    /// One of the two instructions that a copy is.
    fn part_of_copy(&mut self, (op, role): (Op, Role), request: WarpRequest, at: &Located, size: Slot) {
        let imm = self.requested(request, at);
        self.emit(role, Instr { imm, a: request.addr, b: size, ..Instr::new(op) });
    }
}

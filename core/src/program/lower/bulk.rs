//! Bulk copies, and stores and reductions that are asynchronous (PTX ISA 9.7.9.25.4, `st.async`, `red.async`).
//!
//! Each is several instructions here: its sides are looked at, then it begins. So a program address is an access of one kind, as for
//! all other accesses.

use super::function::{FnLower, Role};
use super::operand::{Located, nth};
use super::types::class_of_type;
use crate::program::bulk::Bulk;
use crate::program::instr::{BulkPart, Instr, MemOp, NO_SLOT, Op, Order, Scope, Slot, Space, WarpRequest};
use crate::program::ops::{AtomOp, AtomTy, Class, IntOp};
use crate::program::select::atom;
use crate::program::types::{bits_of, lanes, state_space};
use crate::ptx::tree::{self, StateSpace};
use crate::ptx::{Modifier as M, Opcode};

/// Bytes of a piece of a bulk copy: sizes and addresses are multiples of it.
const PIECE: u8 = 16;

impl<'t> FnLower<'_, 't> {
    /// `cp.async.bulk` and `cp.reduce.async.bulk`, their groups and waits.
    pub(super) fn bulk(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let names = self.unit.names();
        let word = |text: &str| instr.mods.iter().any(|word| word.text(names) == text);
        if word("tensor") || word("cp_mask") {
            return None;
        }
        if word("prefetch") {
            return self.plain(Op::Nop);
        }
        if word("commit_group") {
            return self.plain(Op::BulkCommit);
        }
        if word("wait_group") {
            let newest = self.immediate(nth(instr, 0)?)?.min(u64::from(u8::MAX));
            let read = word("read");
            return self.plain(Instr { imm: u32::try_from(newest).ok()?, ..Instr::new(Op::BulkWait { read }) });
        }
        let spaces: Vec<Space> = instr
            .mods
            .iter()
            .filter_map(|word| match state_space(*word, names)? {
                StateSpace::Global => Some(Space::Global),
                StateSpace::Shared => Some(Space::Shared),
                _ => None,
            })
            .collect();
        let [to_space, from_space] = spaces[..] else { return None };
        let combines = match instr.mods.first() {
            Some(&M::REDUCE) => Some(atom(&instr.mods, *self.types.last()?)?),
            _ => None,
        };
        let (to, from) = (self.address(nth(instr, 0)?)?, self.address(nth(instr, 1)?)?);
        let size = self.source(nth(instr, 2)?, Class::W, M::U32)?;
        let barrier = if word("mbarrier::complete_tx::bytes") { Some(self.completed(instr, 3)?) } else { None };
        let piece = |at: &Located, op, space, width: u8| {
            let asked = WarpRequest { regs: [NO_SLOT; 8], elems: PIECE / width, ..WarpRequest::PLAIN };
            at.access(&asked, op, space, width, if width == 8 { Class::Q } else { Class::W })
        };
        let to = match combines {
            None => piece(&to, MemOp::Store, to_space, 4),
            Some((op, ty)) => WarpRequest {
                order: Order::Relaxed,
                scope: Scope::Gpu,
                ..piece(&to, MemOp::Red(op, ty), to_space, u8::try_from(ty.bytes()).ok()?)
            },
        };
        let from = Some(piece(&from, MemOp::Load, from_space, 4));
        let several = word("multicast::cluster");
        let blocks = if several { self.source(nth(instr, 4)?, Class::W, M::U16)? } else { NO_SLOT };
        self.begin_bulk(Bulk { from, to, barrier, blocks }, size)
    }

    /// `st.async… [a], b, [barrier]` and `red.async…`
    pub(super) fn access_async(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let names = self.unit.names();
        if !instr.mods.iter().any(|word| word.text(names) == "mbarrier::complete_tx::bytes") {
            return None;
        }
        let at = self.barrier_at(instr, nth(instr, 0)?)?;
        let barrier = Some(self.completed(instr, 2)?);
        let ty = *self.types.last()?;
        let class = class_of_type(ty);
        let elements = self.elements(nth(instr, 1)?);
        let count = lanes(instr.mods.iter().copied().find(|m| matches!(*m, M::V2 | M::V4)));
        let values = self.slots_of(&elements, count, |lower, op| lower.source(op, class, ty))?;
        let width = u8::try_from(bits_of(ty)? / 8).ok()?;
        let asked = WarpRequest { elems: count, ..WarpRequest::PLAIN };
        let to = if instr.opcode == Opcode::ST {
            WarpRequest { regs: values, ..at.access(&asked, MemOp::Store, Space::Shared, width, class) }
        } else {
            let (op, ty) = atom(&instr.mods, ty)?;
            let asked = WarpRequest { order: Order::Relaxed, scope: Scope::Cluster, ..asked };
            let mut to = at.access(&asked, MemOp::Red(op, ty), Space::Shared, width, class);
            to.regs[..3].copy_from_slice(&[NO_SLOT, values[0], NO_SLOT]);
            to
        };
        self.begin_bulk(Bulk { from: None, to, barrier, blocks: NO_SLOT }, NO_SLOT)
    }

    /// The access of the barrier that is told of the bytes.
    fn completed(&mut self, instr: &'t tree::Instr, operand: usize) -> Option<WarpRequest> {
        let at = self.barrier_at(instr, nth(instr, operand)?)?;
        let asked = WarpRequest { order: Order::Release, scope: Scope::Cta, ..WarpRequest::PLAIN };
        Some(at.access(&asked, MemOp::Red(AtomOp::Barrier, AtomTy::B64), Space::Shared, 8, Class::Q))
    }

    /// `mapa d, a, b`: a cluster is one block (D-cluster), so that the place of `a` in block 0 is `a`, and that in another one is nowhere.
    pub(super) fn mapa(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let ty = *self.types.last()?;
        let class = class_of_type(ty);
        let chosen = if class == Class::Q { IntOp::SelQ } else { IntOp::SelW };
        let here = self.source(nth(instr, 1)?, class, ty)?;
        let rank = self.source(nth(instr, 2)?, Class::W, M::U32)?;
        let (zero, nowhere) =
            (self.constant(Class::W, 0)?, self.constant(class, (u64::MAX >> (64 - bits_of(ty)?)) & !15)?);
        let own = self.helper(IntOp::EqW, Class::P, &[rank, zero])?;
        let d = self.destination_of(nth(instr, 0)?, class)?;
        self.operation(chosen, d, &[here, nowhere, own])
    }

    /// `getctarank d, a`: the rank of the only block.
    pub(super) fn getctarank(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let zero = self.constant(Class::W, 0)?;
        let d = self.destination_of(nth(instr, 0)?, Class::W)?;
        self.operation(IntOp::MovW, d, &[zero])
    }

    /// The instructions that a bulk copy is.
    fn begin_bulk(&mut self, bulk: Bulk, size: Slot) -> Option<()> {
        let imm = u32::try_from(self.program.env.bulks.len()).ok()?;
        let parts: &[BulkPart] = match bulk.from {
            Some(_) => &[BulkPart::From, BulkPart::To, BulkPart::Begin],
            None => &[BulkPart::To, BulkPart::Begin],
        };
        self.program.env.bulks.push(bulk);
        for (number, part) in parts.iter().enumerate() {
            let role = if number == 0 { Role::Main } else { Role::Part };
            self.emit(role, Instr { imm, b: size, ..Instr::new(Op::Bulk(*part)) });
        }
        Some(())
    }
}

//! Instructions as the program has them, before promotion gave the commonest ones a loop of their own.

use crate::program::env::ProgEnv;
use crate::program::instr::{CacheOp, Instr, MemOp, NO_SLOT, Op, Order, Scope, Slot, Space, WarpRequest};
use crate::program::ops::AluOp;

/// The data operation of an instruction, if it is one.
pub(super) fn data_op(op: Op) -> Option<AluOp> {
    Some(match op {
        Op::Int(op) => AluOp::Int(op),
        Op::Float(op) => AluOp::Float(op),
        _ => return None,
    })
}

/// The memory action of an instruction, if it is one.
pub(super) fn request(env: &ProgEnv, i: &Instr) -> Option<WarpRequest> {
    let (op, space) = match i.op {
        Op::Mem => return env.requests.get(i.imm as usize).copied(),
        Op::LdGlobal32 => (MemOp::Load, Space::Global),
        Op::LdShared32 => (MemOp::Load, Space::Shared),
        Op::StGlobal32 => (MemOp::Store, Space::Global),
        Op::StShared32 => (MemOp::Store, Space::Shared),
        _ => return None,
    };
    let mut regs = [NO_SLOT; 8];
    regs[0] = i.d;
    Some(WarpRequest {
        op,
        space,
        width: 4,
        elems: 1,
        wide: false,
        signed: false,
        ext: 32,
        addr: i.a,
        addr_wide: true,
        offset: i.imm.cast_signed().into(),
        regs,
        cache: CacheOp::Default,
        order: Order::Weak,
        scope: Scope::Lane,
    })
}

/// Where the carry-out of an operation goes, when it has one.
pub(super) fn carry_slot(op: AluOp, i: &Instr) -> Option<Slot> {
    let shape = op.shape();
    let narrow = u16::try_from(i.imm & 0xffff).unwrap_or(u16::MAX);
    shape.carry_out.then_some(if shape.used().count() == 4 { Slot(narrow) } else { i.e })
}

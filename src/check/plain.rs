//! Instructions as the program has them, before promotion gave the commonest ones a loop of their own.

use crate::program::env::ProgEnv;
use crate::program::float_ops::FloatOp;
use crate::program::instr::{CacheOp, HotOp, Instr, MemOp, NO_SLOT, Op, Order, Scope, Slot, Space, WarpRequest};
use crate::program::int_ops::IntOp;
use crate::program::ops::AluOp;

/// The data operation of an instruction, if it is one.
pub(super) fn data_op(op: Op) -> Option<AluOp> {
    macro_rules! same {
        ($hot:ident; $($int:ident)*; $($float:ident)*) => {
            match $hot {
                $(HotOp::$int => AluOp::Int(IntOp::$int),)*
                $(HotOp::$float => AluOp::Float(FloatOp::$float),)*
            }
        };
    }
    Some(match op {
        Op::Int(op) => AluOp::Int(op),
        Op::Float(op) => AluOp::Float(op),
        Op::Hot(hot) => same!(hot;
            MovW MovQ Add32 Add64 Sub32 Sub64 MulLo32 MadLo32 MulWideS32 MulWideU32 And32 Or32 Xor32 And64 Shl32 Shl64
            ShrU32 ShrS32 SelW SelQ NotP AndP OrP XorP EqW NeW LtS32 LeS32 GtS32 GeS32 LtU32 LeU32 GtU32 GeU32 ZextWQ
            SextWQ TruncQW;
            AddF32 SubF32 MulF32 FmaF32 DivF32 NegF32 AbsF32 AddF64 SubF64 MulF64 FmaF64 LtF32 LeF32 GtF32 GeF32 EqF32
            NeuF32 F32OfS32 RsqrtF32),
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

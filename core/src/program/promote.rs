//! Gives common operations forms that the machine executes in its innermost loop. Nothing else changes: a promoted
//! instruction does what it did before, and the requests of promoted memory actions stay in the environment.

use super::env::ProgEnv;
use super::instr::{CacheOp, HotOp, Instr, MemOp, NO_SLOT, Op, Order, Slot, Space, WarpRequest};
use super::ops::FloatOp;
use super::ops::IntOp;

/// Rewrites the code of an environment.
pub fn promote(env: &mut ProgEnv) {
    let requests = &env.requests;
    for instr in &mut env.code {
        match instr.op {
            Op::Int(op) => instr.hot = hot_int(op).unwrap_or_default(),
            Op::Float(op) => instr.hot = hot_float(op).unwrap_or_default(),
            Op::Mem => {
                if let Some(plain) = requests.get(instr.imm as usize).and_then(plain) {
                    *instr = Instr { guard: instr.guard, ..plain };
                }
            }
            // Passes change operations in place: what the loop dispatches on follows them.
            op => instr.hot = Instr::new(op).hot,
        }
    }
}

/// A plain 32-bit access of global or shared memory as an instruction without a request.
fn plain(request: &WarpRequest) -> Option<Instr> {
    let op = match (request.op, request.space) {
        (MemOp::Load, Space::Global) => Op::LdGlobal32,
        (MemOp::Load, Space::Shared) => Op::LdShared32,
        (MemOp::Store, Space::Global) => Op::StGlobal32,
        (MemOp::Store, Space::Shared) => Op::StShared32,
        _ => return None,
    };
    // A `.cv` load asks for memory's present value: not plain.
    let plain = request.width == 4
        && request.elems == 1
        && !request.wide
        && request.addr_wide
        && request.order == Order::Weak
        && request.cache != CacheOp::Cv
        && request.regs[0] != NO_SLOT;
    let offset = i32::try_from(request.offset).ok()?;
    let (d, a, b) = (request.regs[0], request.addr, Slot(request.cache.index()));
    plain.then(|| Instr { d, a, b, imm: offset.cast_unsigned(), ..Instr::new(op) })
}

fn hot_int(op: IntOp) -> Option<HotOp> {
    Some(match op {
        IntOp::MovW => HotOp::MovW,
        IntOp::MovQ => HotOp::MovQ,
        IntOp::Add32 => HotOp::Add32,
        IntOp::Add64 => HotOp::Add64,
        IntOp::Sub32 => HotOp::Sub32,
        IntOp::Sub64 => HotOp::Sub64,
        IntOp::MulLo32 => HotOp::MulLo32,
        IntOp::MadLo32 => HotOp::MadLo32,
        IntOp::MulWideS32 => HotOp::MulWideS32,
        IntOp::MulWideU32 => HotOp::MulWideU32,
        IntOp::And32 => HotOp::And32,
        IntOp::Or32 => HotOp::Or32,
        IntOp::Xor32 => HotOp::Xor32,
        IntOp::And64 => HotOp::And64,
        IntOp::Shl32 => HotOp::Shl32,
        IntOp::Shl64 => HotOp::Shl64,
        IntOp::ShrU32 => HotOp::ShrU32,
        IntOp::ShrS32 => HotOp::ShrS32,
        IntOp::SelW => HotOp::SelW,
        IntOp::SelQ => HotOp::SelQ,
        IntOp::NotP => HotOp::NotP,
        IntOp::AndP => HotOp::AndP,
        IntOp::OrP => HotOp::OrP,
        IntOp::XorP => HotOp::XorP,
        IntOp::EqW => HotOp::EqW,
        IntOp::NeW => HotOp::NeW,
        IntOp::LtS32 => HotOp::LtS32,
        IntOp::LeS32 => HotOp::LeS32,
        IntOp::GtS32 => HotOp::GtS32,
        IntOp::GeS32 => HotOp::GeS32,
        IntOp::LtU32 => HotOp::LtU32,
        IntOp::LeU32 => HotOp::LeU32,
        IntOp::GtU32 => HotOp::GtU32,
        IntOp::GeU32 => HotOp::GeU32,
        IntOp::ZextWQ => HotOp::ZextWQ,
        IntOp::SextWQ => HotOp::SextWQ,
        IntOp::TruncQW => HotOp::TruncQW,
        _ => return None,
    })
}

fn hot_float(op: FloatOp) -> Option<HotOp> {
    Some(match op {
        FloatOp::AddF32 => HotOp::AddF32,
        FloatOp::SubF32 => HotOp::SubF32,
        FloatOp::MulF32 => HotOp::MulF32,
        FloatOp::FmaF32 => HotOp::FmaF32,
        FloatOp::DivF32 => HotOp::DivF32,
        FloatOp::NegF32 => HotOp::NegF32,
        FloatOp::AbsF32 => HotOp::AbsF32,
        FloatOp::AddF64 => HotOp::AddF64,
        FloatOp::SubF64 => HotOp::SubF64,
        FloatOp::MulF64 => HotOp::MulF64,
        FloatOp::FmaF64 => HotOp::FmaF64,
        FloatOp::LtF32 => HotOp::LtF32,
        FloatOp::LeF32 => HotOp::LeF32,
        FloatOp::GtF32 => HotOp::GtF32,
        FloatOp::GeF32 => HotOp::GeF32,
        FloatOp::EqF32 => HotOp::EqF32,
        FloatOp::NeuF32 => HotOp::NeuF32,
        FloatOp::F32OfS32 => HotOp::F32OfS32,
        FloatOp::RsqrtF32 => HotOp::RsqrtF32,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::instr::Scope;

    #[test]
    fn a_hot_operation_has_the_name_of_what_it_stands_for() {
        for op in IntOp::ALL {
            if let Some(hot) = hot_int(*op) {
                assert_eq!(format!("{hot:?}"), format!("{op:?}"));
            }
        }
        for op in FloatOp::ALL {
            if let Some(hot) = hot_float(*op) {
                assert_eq!(format!("{hot:?}"), format!("{op:?}"));
            }
        }
    }

    #[test]
    fn only_plain_words_lose_their_request() {
        let mut regs = [NO_SLOT; 8];
        regs[0] = Slot(5);
        let request = WarpRequest {
            op: MemOp::Load,
            space: Space::Global,
            width: 4,
            elems: 1,
            wide: false,
            signed: false,
            ext: 32,
            addr: Slot(3),
            addr_wide: true,
            offset: -8,
            regs,
            cache: CacheOp::Nc,
            order: Order::Weak,
            scope: Scope::Lane,
        };
        let made = plain(&request).unwrap_or(Instr::new(Op::Nop));
        assert_eq!((made.op, made.a, made.d, made.imm.cast_signed()), (Op::LdGlobal32, Slot(3), Slot(5), -8));
        for other in [
            WarpRequest { width: 8, ..request },
            WarpRequest { elems: 2, ..request },
            WarpRequest { order: Order::Volatile, ..request },
            WarpRequest { addr_wide: false, ..request },
            WarpRequest { wide: true, ..request },
            WarpRequest { space: Space::Generic, ..request },
            WarpRequest { offset: 1 << 40, ..request },
            WarpRequest { regs: [NO_SLOT; 8], ..request },
        ] {
            assert_eq!(plain(&other), None, "{other:?}");
        }
    }
}

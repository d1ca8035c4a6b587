//! Gives common operations forms that the machine executes in its innermost loop. Nothing else changes: a promoted
//! instruction does what it did before, and the requests of promoted memory actions stay in the environment.

use super::env::ProgEnv;
use super::instr::{CacheOp, HotOp, Instr, MemOp, NO_SLOT, Op, Order, Slot, Space, WarpRequest};

/// Rewrites the code of an environment.
pub fn promote(env: &mut ProgEnv) {
    let requests = &env.requests;
    for instr in &mut env.code {
        let plain = if instr.op == Op::Mem { requests.get(instr.imm as usize).and_then(plain) } else { None };
        match plain {
            Some(plain) => *instr = Instr { guard: instr.guard, ..plain },
            // Passes change operations in place: what the loop dispatches on follows them.
            None => instr.hot = HotOp::of(instr.op),
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
        && !request.remote
        && request.cache != CacheOp::Cv
        && request.regs[0] != NO_SLOT;
    let offset = i32::try_from(request.offset).ok()?;
    let (d, a, b) = (request.regs[0], request.addr, Slot(request.cache.index()));
    plain.then(|| Instr { d, a, b, imm: offset.cast_unsigned(), ..Instr::new(op) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_words_lose_their_request() {
        let request = WarpRequest::word(MemOp::Load, Space::Global, (Slot(3), -8), Slot(5), CacheOp::Nc);
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

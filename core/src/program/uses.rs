//! Which registers an instruction reads and writes.
//!
//! The conventions are those of [`Instr`] and [`Op`]; a slot may be reported more than once, [`NO_SLOT`] never is. What a
//! call passes lies in local memory, so a call uses only the top of the stack.

use super::bulk::Bulk;
use super::env::ProgEnv;
use super::image::ImageOp;
use super::instr::{
    BarrierKind, BarrierRed, CacheOp, Exchange, Instr, MemOp, NO_SLOT, Op, STACK_TOP, Slot, Space, WarpRequest,
};
use super::matrix::{Matrix, Registers};
use super::ops::{AtomOp, Class, Shape};
use super::special::is_wide;
use crate::base::Pc;

impl ProgEnv {
    /// The memory action of an instruction, if it is one, also where `promote` has given it a form of its own.
    #[must_use]
    pub fn request(&self, instr: &Instr) -> Option<WarpRequest> {
        let (op, space) = match instr.op {
            Op::Mem | Op::CopyFrom | Op::CopyTo | Op::CopyArrive => {
                return self.requests.get(instr.imm as usize).copied();
            }
            Op::Bulk(part) => return self.bulk(instr)?.request(part).copied(),
            Op::LdGlobal32 => (MemOp::Load, Space::Global),
            Op::LdShared32 => (MemOp::Load, Space::Shared),
            Op::StGlobal32 => (MemOp::Store, Space::Global),
            Op::StShared32 => (MemOp::Store, Space::Shared),
            _ => return None,
        };
        Some(WarpRequest::word(op, space, (instr.a, instr.imm.cast_signed()), instr.d, CacheOp::Default))
    }

    /// The source and the destination of the asynchronous copies that an instruction begins.
    #[must_use]
    pub fn copy(&self, instr: &Instr) -> Option<(&WarpRequest, &WarpRequest)> {
        let to = (instr.imm as usize, instr.op == Op::CopyTo);
        Some((self.requests.get(to.0.checked_sub(1)?)?, self.requests.get(to.0)?)).filter(|_| to.1)
    }

    /// Whether it copies asynchronously.
    #[must_use]
    pub fn copies(&self) -> bool {
        self.code.iter().any(|instr| instr.op.copies())
    }

    /// The bytes that a store or an atomic operation writes to the device's memory at least, but for asynchronous copies. Since each
    /// writes a multiple of them at a multiple of them, either all bytes of such a row are written by an instruction or none.
    #[must_use]
    pub fn store_unit(&self) -> u64 {
        let requests = self.code.iter().filter_map(|instr| self.request(instr));
        let stores = requests.filter(|rq| rq.op != MemOp::Load && matches!(rq.space, Space::Global | Space::Generic));
        stores.map(|rq| u64::from(rq.width)).min().unwrap_or(1)
    }

    /// The bulk copy that an instruction is a part of.
    #[must_use]
    pub fn bulk(&self, instr: &Instr) -> Option<&Bulk> {
        self.bulks.get(instr.imm as usize).filter(|_| matches!(instr.op, Op::Bulk(_)))
    }

    /// The exchange that an instruction makes.
    #[must_use]
    pub fn exchange(&self, instr: &Instr) -> Option<&Exchange> {
        self.exchanges.get((instr.imm & 0xffff) as usize).filter(|_| instr.op == Op::Exchange)
    }

    /// The matrix instruction that it is, if it is one.
    #[must_use]
    pub fn matrix(&self, instr: &Instr) -> Option<&Matrix> {
        self.matrices.get(instr.imm as usize).filter(|_| instr.op == Op::Matrix)
    }

    /// Whether the instruction at an address is an access of a texture or surface instruction: its address was made by a part of that.
    #[must_use]
    pub fn is_texel(&self, pc: Pc) -> bool {
        let at = pc.0 as usize;
        let Some(origin) = self.origin.get(at) else { return false };
        let together = self.origin[..at].iter().rev().take_while(|o| o.span == origin.span && o.file == origin.file);
        together.zip(self.code[..at].iter().rev()).any(|(_, instr)| instr.op == Op::Image)
    }

    /// The part of a texture or surface instruction that it is, if it is one.
    #[must_use]
    pub fn image(&self, instr: &Instr) -> Option<&ImageOp> {
        self.images.get(instr.imm as usize).filter(|_| instr.op == Op::Image)
    }
}

/// Calls `see` for each slot that the instruction reads, its guard's predicate first.
pub fn reads(instr: &Instr, env: &ProgEnv, mut see: impl FnMut(Class, Slot)) {
    slots(instr, env, &mut |written, class, slot| {
        if !written {
            see(class, slot);
        }
    });
}

/// Calls `see` for each slot that the instruction writes, in the lanes that execute it.
pub fn writes(instr: &Instr, env: &ProgEnv, mut see: impl FnMut(Class, Slot)) {
    slots(instr, env, &mut |written, class, slot| {
        if written {
            see(class, slot);
        }
    });
}

/// Reads and writes are told apart by these.
const READ: bool = false;
const WRITTEN: bool = true;

/// Is told of each slot that an instruction uses, and whether that is written. Compiled once, not for each who asks: that was a
/// twentieth of the core's code (benches/README.md, "Build time").
type See<'a> = &'a mut dyn FnMut(bool, Class, Slot);

/// Calls `see` for each slot that the instruction uses, and says whether that is written.
fn slots(instr: &Instr, env: &ProgEnv, see: See) {
    use Class::{P, Q, W};
    let see: See = &mut |written, class, slot| {
        if slot != NO_SLOT {
            see(written, class, slot);
        }
    };
    if let Some(guard) = instr.guard {
        see(READ, P, guard.pred);
    }
    match instr.op {
        Op::Int(_) | Op::Float(_) => data(instr, see),
        Op::Mem => {
            if let Some(request) = env.requests.get(instr.imm as usize) {
                see(READ, if request.addr_wide { Q } else { W }, request.addr);
                memory(request, see);
            }
        }
        Op::LdGlobal32 | Op::LdShared32 => {
            see(READ, Q, instr.a);
            see(WRITTEN, W, instr.d);
        }
        Op::StGlobal32 | Op::StShared32 => {
            see(READ, Q, instr.a);
            see(READ, W, instr.d);
        }
        Op::Brx | Op::Nanosleep | Op::WarpSync => see(READ, W, instr.a),
        Op::Call | Op::Syscall(_) => see(READ, W, STACK_TOP),
        Op::CallIndirect => {
            see(READ, Q, instr.a);
            see(READ, W, STACK_TOP);
        }
        Op::Alloca => {
            see(READ, Q, instr.a);
            see(READ, W, STACK_TOP);
            see(WRITTEN, Q, instr.d);
            see(WRITTEN, W, STACK_TOP);
        }
        Op::StackSave => {
            see(READ, W, STACK_TOP);
            see(WRITTEN, Q, instr.d);
        }
        Op::StackRestore => {
            see(READ, Q, instr.a);
            see(WRITTEN, W, STACK_TOP);
        }
        Op::ReadSpecial(moving) => see(WRITTEN, if is_wide(moving) { Q } else { W }, instr.d),
        Op::Bar => {
            see(READ, W, instr.a);
            let Some(barrier) = env.barriers.get(instr.imm as usize) else { return };
            if barrier.counted {
                see(READ, W, instr.b);
            }
            if let BarrierKind::Red(red) = barrier.kind {
                see(READ, P, instr.c);
                see(WRITTEN, if red == BarrierRed::Popc { W } else { P }, instr.d);
            }
        }
        Op::Exchange => {
            if let Some(of) = env.exchange(instr) {
                exchange(of, instr, see);
            }
        }
        Op::Barrier(check) => {
            see(READ, Q, instr.a);
            if check.has_second() {
                see(READ, Q, instr.b);
            }
        }
        Op::Matrix => {
            let Some(matrix) = env.matrix(instr) else { return };
            matrix.sources.iter().flat_map(Registers::all).for_each(|(class, slot)| see(READ, class, slot));
            matrix.d.all().for_each(|(class, slot)| see(WRITTEN, class, slot));
        }
        Op::Image => {
            if let Some(part) = env.image(instr) {
                part.slots(see);
            }
        }
        Op::CopyFrom | Op::CopyTo => {
            if let Some(request) = env.requests.get(instr.imm as usize) {
                see(READ, request.address_class(), request.addr);
            }
            // The destination's instruction needs the source's address once more.
            if let Some((from, _)) = env.copy(instr) {
                see(READ, from.address_class(), from.addr);
            }
            see(READ, W, instr.b);
        }
        Op::CopyArrive => {
            if let Some(request) = env.requests.get(instr.imm as usize) {
                see(READ, request.address_class(), request.addr);
            }
        }
        Op::Bulk(_) => {
            let Some(bulk) = env.bulk(instr) else { return };
            see(READ, W, instr.b);
            see(READ, W, bulk.blocks);
            for request in [bulk.from.as_ref(), Some(&bulk.to), bulk.barrier.as_ref()].into_iter().flatten() {
                see(READ, request.address_class(), request.addr);
            }
            if bulk.from.is_none() {
                memory(&bulk.to, see);
            }
        }
        Op::CopyCommit | Op::CopyWait | Op::BulkCommit | Op::BulkWait { .. } => {}
        Op::ClusterArrive { .. } | Op::ClusterWait { .. } => {}
        Op::Bra | Op::Ret | Op::Exit | Op::Ssy | Op::PreBrk | Op::PreRet | Op::Sync | Op::Break => {}
        Op::Fence { .. } | Op::Trap | Op::Brkpt | Op::Nop | Op::ProxyFence | Op::Unsupported => {}
    }
}

/// What a data operation reads and writes; none for other instructions.
#[must_use]
pub fn shape(op: Op) -> Option<Shape> {
    match op {
        Op::Int(op) => Some(op.shape()),
        Op::Float(op) => Some(op.shape()),
        _ => None,
    }
}

fn data(instr: &Instr, see: See) {
    let Some(shape) = shape(instr.op) else { return };
    for (&class, slot) in shape.sources.iter().zip([instr.a, instr.b, instr.c, instr.e]) {
        see(READ, class, slot);
    }
    see(WRITTEN, shape.dest, instr.d);
    if shape.carry_out {
        let last = u16::try_from(instr.imm & 0xffff).map_or(NO_SLOT, Slot);
        see(WRITTEN, Class::P, if shape.sources.len() == 4 { last } else { instr.e });
    }
}

/// The data registers of a memory action.
fn memory(request: &WarpRequest, see: See) {
    let mut used = |written, slot: Slot| {
        see(written, request.class(), slot);
        if request.width == 16 && slot != NO_SLOT {
            see(written, Class::Q, Slot(slot.0.saturating_add(1)));
        }
    };
    let elements = usize::from(request.elems).min(request.regs.len());
    let (MemOp::Atom(op, _) | MemOp::Red(op, _)) = request.op else {
        let written = request.op == MemOp::Load;
        return request.regs[..elements].iter().for_each(|slot| used(written, *slot));
    };
    for [result, operand, second] in (0..elements.clamp(1, 4)).map(|k| request.atomic_slots(k)) {
        used(READ, operand);
        if op == AtomOp::Cas {
            used(READ, second);
        }
        if matches!(request.op, MemOp::Atom(..)) {
            used(WRITTEN, result);
        }
    }
}

fn exchange(exchange: &Exchange, instr: &Instr, see: See) {
    let (sources, dest, predicate) = exchange.kind.shape();
    for (class, slot) in sources.iter().zip([instr.a, instr.b, instr.c]) {
        see(READ, *class, slot);
    }
    if exchange.sync {
        see(READ, Class::W, instr.e);
    }
    see(WRITTEN, dest, instr.d);
    if predicate {
        see(WRITTEN, Class::P, u16::try_from(instr.imm >> 16).map_or(NO_SLOT, Slot));
    }
}

#[cfg(test)]
mod tests {
    use super::super::instr::{Barrier, ExchangeKind, Guard};
    use super::super::ops::AtomTy;
    use super::super::ops::IntOp;
    use super::*;
    use Class::{P, Q, W};

    type Uses = Vec<(Class, u16)>;

    fn both(instr: &Instr, env: &ProgEnv) -> (Uses, Uses) {
        let (mut r, mut w) = (Vec::new(), Vec::new());
        reads(instr, env, |class, slot| r.push((class, slot.0)));
        writes(instr, env, |class, slot| w.push((class, slot.0)));
        (r, w)
    }

    fn instr(op: Op) -> Instr {
        Instr { d: Slot(2), a: Slot(3), b: Slot(4), c: Slot(5), e: Slot(6), ..Instr::new(op) }
    }

    #[test]
    fn data_operations_by_their_shapes() {
        let guard = Some(Guard { pred: Slot(9), negated: true });
        let add = Instr { guard, ..instr(Op::Int(IntOp::Add32)) };
        assert_eq!(both(&add, &ProgEnv::default()), (vec![(P, 9), (W, 3), (W, 4)], vec![(W, 2)]));
        let carry = IntOp::ALL.iter().find(|op| op.shape().carry_out && op.shape().sources.len() < 4);
        if let Some(op) = carry {
            assert_eq!(both(&instr(Op::Int(*op)), &ProgEnv::default()).1[1], (P, 6));
        }
        let unused = Instr { d: NO_SLOT, ..instr(Op::Int(IntOp::EqW)) };
        assert_eq!(both(&unused, &ProgEnv::default()), (vec![(W, 3), (W, 4)], vec![]));
    }

    #[test]
    fn memory_actions_by_their_requests() {
        let regs = [10, 11, 12, 13, 14, 15, 16, 17].map(Slot);
        let base = WarpRequest { elems: 2, addr: Slot(3), regs, ..WarpRequest::PLAIN };
        let cas = MemOp::Atom(AtomOp::Cas, AtomTy::B32);
        let requests = vec![
            base,
            WarpRequest { op: MemOp::Store, width: 16, elems: 1, addr_wide: false, ..base },
            WarpRequest { op: cas, elems: 1, wide: true, ..base },
            WarpRequest { op: MemOp::Red(AtomOp::Add, AtomTy::F32), ..base },
        ];
        let env = ProgEnv { requests, ..ProgEnv::default() };
        let at = |imm| both(&Instr { imm, ..instr(Op::Mem) }, &env);
        assert_eq!(at(0), (vec![(Q, 3)], vec![(W, 10), (W, 11)]));
        assert_eq!(at(1), (vec![(W, 3), (Q, 10), (Q, 11)], vec![]));
        assert_eq!(at(2), (vec![(Q, 3), (Q, 11), (Q, 12)], vec![(Q, 10)]));
        assert_eq!(at(3), (vec![(Q, 3), (W, 14), (W, 15)], vec![]));
        assert_eq!(at(4), (vec![], vec![]));
    }

    #[test]
    fn the_narrowest_store_is_the_unit() {
        let store = WarpRequest { op: MemOp::Store, ..WarpRequest::PLAIN };
        let requests = vec![
            WarpRequest { width: 1, ..WarpRequest::PLAIN },
            WarpRequest { width: 8, elems: 2, ..store },
            WarpRequest { width: 1, space: Space::Shared, ..store },
            WarpRequest { width: 4, space: Space::Generic, op: MemOp::Red(AtomOp::Add, AtomTy::F32), ..store },
            WarpRequest { width: 2, elems: 4, ..store },
        ];
        let code: Vec<Instr> = (0..5).map(|imm| Instr { imm, ..instr(Op::Mem) }).collect();
        let unit = |n: usize| ProgEnv { requests: requests.clone(), code: code[..n].to_vec(), ..ProgEnv::default() };
        assert_eq!([1, 2, 3, 4, 5].map(|n| unit(n).store_unit()), [1, 8, 8, 4, 2]);
        let plain = ProgEnv { code: vec![instr(Op::StGlobal32)], ..ProgEnv::default() };
        assert_eq!(plain.store_unit(), 4);
    }

    #[test]
    fn exchanges_and_barriers_by_their_kinds() {
        let exchanges = vec![
            Exchange { kind: ExchangeKind::ShflIdx, sync: true },
            Exchange { kind: ExchangeKind::VoteAny, sync: false },
            Exchange { kind: ExchangeKind::MatchAll64, sync: true },
        ];
        let barriers =
            vec![Barrier { kind: BarrierKind::Red(BarrierRed::Popc), aligned: true, counted: true, id: None }];
        let env = ProgEnv { exchanges, barriers, ..ProgEnv::default() };
        let at = |imm| both(&Instr { imm, ..instr(Op::Exchange) }, &env);
        let shuffle = (vec![(W, 3), (W, 4), (W, 5), (W, 6)], vec![(W, 2), (P, 7)]);
        assert_eq!(at(7 << 16), shuffle);
        assert_eq!(at(0xffff_0001), (vec![(P, 3)], vec![(P, 2)]));
        assert_eq!(at(0xffff_0002), (vec![(Q, 3), (W, 6)], vec![(W, 2)]));
        assert_eq!(both(&instr(Op::Bar), &env), (vec![(W, 3), (W, 4), (P, 5)], vec![(W, 2)]));
    }
}

//! One instruction outside the innermost loop: for some of the running lanes, in the instruction set at hand, or with its
//! results handed to the memory engine.

use crate::base::{Frame, LaneMask, expand};
use crate::machine::thread::data::Lane;
use crate::machine::thread::dispatch::{data_op, hot};
use crate::machine::warp::state::Shared;
use crate::memory::{Active, Cx, Fault, Held, Issuer, LocalMemory, Memory, Near, Plain32};
use crate::program::env::{ProgEnv, Root};
use crate::program::instr::{CacheOp, HotOp, Instr, Op, Slot, Space};
use crate::program::ops::Class;
use crate::verdict::Sink;
use pulp::{NullaryFnOnce, Simd};

/// The four plain accesses, each compiled for its space.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "the memories and the registers are separate borrows")]
pub(in crate::machine) fn plain32<V: Simd, M: Memory, S: Sink>(
    simd: V,
    i: &Instr,
    at: Issuer,
    on: Active<'_>,
    frame: &mut Frame,
    mem: &mut M,
    near: &mut Near<'_>,
    cx: &mut Cx<'_, S>,
) -> Result<(), Box<Fault>> {
    let offset = i.imm.cast_signed();
    let cache = CacheOp::of_index(i.b.0);
    let site = |space| Plain32 { space, a: i.a, d: i.d, offset, cache };
    match i.op {
        Op::LdGlobal32 => mem.load32(simd, at, on, site(Space::Global), frame, near, cx),
        Op::LdShared32 => mem.load32(simd, at, on, site(Space::Shared), frame, near, cx),
        Op::StGlobal32 => mem.store32(simd, at, on, site(Space::Global), frame, near, cx),
        _ => mem.store32(simd, at, on, site(Space::Shared), frame, near, cx),
    }
}

/// A data or memory operation for some of the running lanes.
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "registers, memories and observers are separate borrows")]
pub(in crate::machine) fn guarded<V: Simd, M: Memory, S: Sink>(
    simd: V,
    env: &ProgEnv,
    i: &Instr,
    mask: LaneMask,
    at: Issuer,
    frame: &mut Frame,
    mem: &mut M,
    near: &mut Near<'_>,
    cx: &mut Cx<'_, S>,
) -> Result<(), Box<Fault>> {
    simd.vectorize(Guarded { isa: simd, env, i, mask, at, frame, mem, near, cx })
}

/// The registers that an instruction writes.
pub(in crate::machine) fn writes<'a>(sh: &Shared<'a>, pc: u32) -> &'a [(Class, Slot)] {
    sh.loaded.uses.get(pc as usize).map_or(&[], |uses| &uses.writes)
}

/// A data operation whose results a memory program writes to the registers (report, listing 4.6).
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "registers, memories and observers are separate borrows")]
pub(in crate::machine) fn taken_over<V: Simd, M: Memory, S: Sink>(
    simd: V,
    env: &ProgEnv,
    i: &Instr,
    mask: LaneMask,
    at: Issuer,
    writes: &[(Class, Slot)],
    frame: &mut Frame,
    mem: &mut M,
    cx: &mut Cx<'_, S>,
) -> Result<(), Box<Fault>> {
    let old = Held::capture(writes, frame);
    let mut none = LocalMemory::default();
    let mut near =
        Near { shared: &mut [], local: &mut none, param: &[], map: &env.addresses(), root: Root::NONE, names: &[] };
    guarded(simd, env, i, mask, at, frame, mem, &mut near, cx)?;
    mem.wrote(at, mask, &old, frame, cx)
}

/// The registers that an instruction names; none where nobody asks.
#[inline(always)]
pub(in crate::machine) fn names<'a, M: Memory>(sh: &Shared<'a>, pc: u32) -> &'a [(Class, Slot)] {
    if !M::TAKES_REGISTERS { &[] } else { sh.loaded.uses.get(pc as usize).map_or(&[], |uses| &uses.names) }
}

struct Guarded<'a, 'b, 'c, V, M, S> {
    isa: V,
    env: &'a ProgEnv,
    i: &'a Instr,
    mask: LaneMask,
    at: Issuer,
    frame: &'a mut Frame,
    mem: &'a mut M,
    near: &'a mut Near<'b>,
    cx: &'a mut Cx<'c, S>,
}

impl<V: Simd, M: Memory, S: Sink> NullaryFnOnce for Guarded<'_, '_, '_, V, M, S> {
    type Output = Result<(), Box<Fault>>;
    #[inline(always)]
    fn call(self) -> Self::Output {
        let Self { isa, env, i, mask, at, frame, mem, near, cx } = self;
        let lanes = expand(mask, &cx.tables);
        match i.op {
            Op::Int(_) | Op::Float(_) if i.hot != HotOp::Other => {
                hot::<V, false>(isa, i.hot, i, frame, &Lane { mask, lanes: &lanes, tables: &cx.tables });
            }
            Op::Int(_) | Op::Float(_) => data_op(isa, i, frame, mask, &lanes, &cx.tables),
            Op::Mem => mem.issue(at, Active { mask, lanes: &lanes }, &env.requests[i.imm as usize], frame, near, cx)?,
            _ => plain32(isa, i, at, Active { mask, lanes: &lanes }, frame, mem, near, cx)?,
        }
        Ok(())
    }
}

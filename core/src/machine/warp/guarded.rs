//! Memory accesses and data operations of the innermost loop: what they need, and one that is executed outside of it, for
//! some of the running lanes or with its results handed to the memory engine.

use crate::base::{Pc, expand};
use crate::machine::thread::data::Lane;
use crate::machine::thread::dispatch::{data_op, hot};
use crate::machine::warp::state::Shared;
use crate::memory::{Active, Cx, Fault, Held, LocalMemory, Memory, Near, Plain32};
use crate::program::env::ProgEnv;
use crate::program::instr::{CacheOp, HotOp, Instr, MemOp, Op, Space};
use crate::verdict::Sink;
use pulp::{NullaryFnOnce, Simd};

/// What lies near the lanes of a warp that execute the instruction at `pc`.
#[inline(always)]
pub(in crate::machine) fn near<'n, M: Memory>(
    sh: &'n mut Shared<'_>,
    local: &'n mut LocalMemory,
    pc: u32,
    mem: &M,
) -> Near<'n> {
    let uses = if mem.takes_registers() { sh.loaded.uses.get(pc as usize) } else { None };
    let root = sh.env.root(Pc(pc));
    Near { shared: sh.shared, local, param: &sh.loaded.params, map: &sh.map, root, uses }
}

/// One of the four plain accesses: compiled for it where `op` is a constant.
#[inline(always)]
pub(super) fn plain32<V: Simd, M: Memory, S: Sink>(
    simd: V,
    op: Op,
    i: &Instr,
    on: Active<'_, '_>,
    mem: &mut M,
    cx: &mut Cx<'_, S>,
) -> Result<(), Box<Fault>> {
    let (op, space) = match op {
        Op::LdGlobal32 => (MemOp::Load, Space::Global),
        Op::LdShared32 => (MemOp::Load, Space::Shared),
        Op::StGlobal32 => (MemOp::Store, Space::Global),
        _ => (MemOp::Store, Space::Shared),
    };
    let (offset, cache) = (i.imm.cast_signed(), CacheOp::of_index(i.b.0));
    mem.plain32(simd, on, Plain32 { op, space, a: i.a, d: i.d, offset, cache }, cx)
}

/// A data or memory operation for some of the running lanes: those of `on`, whose expansion may have more. Of a data
/// operation a memory program writes the results to the registers, where it takes them (report, listing 4.6).
#[inline(never)]
pub(in crate::machine) fn guarded<V: Simd, M: Memory, S: Sink>(
    simd: V,
    env: &ProgEnv,
    i: &Instr,
    on: Active<'_, '_>,
    mem: &mut M,
    cx: &mut Cx<'_, S>,
) -> Result<(), Box<Fault>> {
    let Active { at, mask, regs, near, .. } = on;
    let lanes = &expand(mask, &cx.tables);
    if !i.op.is_data() {
        return simd.vectorize(Guarded { isa: simd, env, i, on: Active { at, mask, lanes, regs, near }, mem, cx });
    }
    let old = near.uses.map(|uses| Held::capture(&uses.writes, regs));
    simd.vectorize(Guarded { isa: simd, env, i, on: Active { at, mask, lanes, regs, near }, mem, cx })?;
    old.map_or(Ok(()), |old| mem.wrote(at, mask, &old, regs, cx))
}

struct Guarded<'a, 'n, 'c, V, M, S> {
    isa: V,
    env: &'a ProgEnv,
    i: &'a Instr,
    on: Active<'a, 'n>,
    mem: &'a mut M,
    cx: &'a mut Cx<'c, S>,
}

impl<V: Simd, M: Memory, S: Sink> NullaryFnOnce for Guarded<'_, '_, '_, V, M, S> {
    type Output = Result<(), Box<Fault>>;
    #[inline(always)]
    fn call(self) -> Self::Output {
        let Self { isa, env, i, on, mem, cx } = self;
        match i.op {
            Op::Int(_) | Op::Float(_) if i.hot != HotOp::Other => {
                let lane = Lane { mask: on.mask, lanes: on.lanes, tables: &cx.tables };
                hot::<V, false>(isa, i.hot, i, on.regs, &lane);
            }
            Op::Int(_) | Op::Float(_) => data_op(isa, i, on.regs, on.mask, on.lanes, &cx.tables),
            Op::Mem => mem.issue(on, &env.requests[i.imm as usize], cx)?,
            op => plain32(isa, op, i, on, mem, cx)?,
        }
        Ok(())
    }
}

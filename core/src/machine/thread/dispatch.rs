//! A data operation for the running lanes, in the instruction set at hand or, where that has no vectors, in the best.

use crate::base::{Best, Frame, LaneMask, LaneTables, Lanes32, Middle, Tier, Vectors};
use crate::machine::thread::by_lane;
use crate::machine::thread::data::{self, Lane};
use crate::machine::thread::hot::each;
use crate::program::instr::{HotOp, Instr, Op};
use pulp::{NullaryFnOnce, Simd, WithSimd};

/// The operations with a loop of their own, where there are vector units to have it on.
#[inline(always)]
pub(in crate::machine) fn hot<V: Simd, const FULL: bool>(simd: V, op: HotOp, i: &Instr, r: &mut Frame, on: &Lane<'_>) {
    if V::VECTORS { each::<V, FULL>(simd, op, i, r, on) } else { data_op(simd, i, r, on.mask, on.lanes, on.tables) }
}

/// A data operation outside the innermost loop, in the instruction set of `simd`, or the best of this processor where that
/// one has no vector units: loops that are compiled for every processor are small, and run on what there is.
///
/// It alone enters the large loops, and is not generic over what enters it: so each of them is compiled once.
#[inline(never)]
pub(in crate::machine) fn data_op<V: Simd>(
    simd: V,
    i: &Instr,
    regs: &mut Frame,
    mask: LaneMask,
    lanes: &Lanes32,
    tables: &LaneTables,
) {
    let op = DataOp { i, regs, on: Lane { mask, lanes, tables } };
    match i.op {
        _ if !V::VECTORS => Best::run(op),
        _ if i.hot != HotOp::Other => simd.vectorize(Hot { isa: simd, op }),
        Op::Int(_) => Middle::run(IntOps(op)),
        _ => Middle::run(FloatOps(op)),
    }
}

/// A data operation for some lanes.
struct DataOp<'a> {
    i: &'a Instr,
    regs: &'a mut Frame,
    on: Lane<'a>,
}

impl WithSimd for DataOp<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        let Self { i, regs, on: Lane { mask, lanes, tables } } = self;
        if V::VECTORS { data_op(simd, i, regs, mask, lanes, tables) } else { by_lane::execute(i, regs, mask) }
    }
}

/// The commonest, for loops that have no copy of them.
struct Hot<'a, V> {
    isa: V,
    op: DataOp<'a>,
}

impl<V: Simd> NullaryFnOnce for Hot<'_, V> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        let DataOp { i, regs, on } = self.op;
        hot::<V, false>(self.isa, i.hot, i, regs, &on);
    }
}

/// All others, where there are vector units.
struct IntOps<'a>(DataOp<'a>);

impl WithSimd for IntOps<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<V: Simd>(self, _: V) {
        let DataOp { i, regs, on } = self.0;
        if !V::VECTORS {
            by_lane::execute(i, regs, on.mask);
        } else if let Op::Int(op) = i.op {
            data::int(op, i, regs, &on);
        }
    }
}

struct FloatOps<'a>(DataOp<'a>);

impl WithSimd for FloatOps<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<V: Simd>(self, _: V) {
        let DataOp { i, regs, on } = self.0;
        if !V::VECTORS {
            by_lane::execute(i, regs, on.mask);
        } else if let Op::Float(op) = i.op {
            data::float(op, i, regs, &on);
        }
    }
}

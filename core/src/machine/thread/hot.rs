//! Operations with a loop of their own in the innermost loop: the commonest in real programs.

use crate::alu::{float, int};
use crate::base::{Frame, LANES, LaneMask, expand, put_mask};
use crate::machine::thread::data::{Class, Lane, P, Q, W, map1, map2, map3};
use crate::program::instr::{HotOp, Instr};
use pulp::Simd;

/// One of them.
#[inline(always)]
pub(super) fn each<V: Simd, const FULL: bool>(simd: V, op: HotOp, i: &Instr, r: &mut Frame, on: &Lane<'_>) {
    match op {
        HotOp::Other | HotOp::Bra | HotOp::Ssy | HotOp::Sync | HotOp::Bar => {}
        HotOp::LdGlobal32 | HotOp::LdShared32 | HotOp::StGlobal32 | HotOp::StShared32 => {}
        // Rule: thread.mov
        HotOp::MovW => map1::<W, W, FULL>(r, i, on, |a| a),
        HotOp::MovQ => map1::<Q, Q, FULL>(r, i, on, |a| a),
        HotOp::Add32 => map2::<W, W, W, FULL>(r, i, on, int::add32),
        HotOp::Add64 => map2::<Q, Q, Q, FULL>(r, i, on, int::add64),
        HotOp::Sub32 => map2::<W, W, W, FULL>(r, i, on, int::sub32),
        HotOp::Sub64 => map2::<Q, Q, Q, FULL>(r, i, on, int::sub64),
        HotOp::MulLo32 => map2::<W, W, W, FULL>(r, i, on, int::mul_lo32),
        HotOp::MadLo32 => map3::<W, W, W, W, FULL>(r, i, on, int::mad_lo32),
        HotOp::MulWideS32 => map2::<W, W, Q, FULL>(r, i, on, int::mul_wide_s32),
        HotOp::MulWideU32 => map2::<W, W, Q, FULL>(r, i, on, int::mul_wide_u32),
        HotOp::And32 => map2::<W, W, W, FULL>(r, i, on, int::and32),
        HotOp::Or32 => map2::<W, W, W, FULL>(r, i, on, int::or32),
        HotOp::Xor32 => map2::<W, W, W, FULL>(r, i, on, int::xor32),
        HotOp::And64 => map2::<Q, Q, Q, FULL>(r, i, on, int::and64),
        HotOp::Shl32 => map2::<W, W, W, FULL>(r, i, on, int::shl32),
        HotOp::Shl64 => map2::<Q, W, Q, FULL>(r, i, on, int::shl64),
        HotOp::ShrU32 => map2::<W, W, W, FULL>(r, i, on, int::shr_u32),
        HotOp::ShrS32 => map2::<W, W, W, FULL>(r, i, on, int::shr_s32),
        HotOp::SelW => select::<FULL>(i, r, on),
        HotOp::SelQ => map3::<Q, Q, P, Q, FULL>(r, i, on, int::sel_q),
        HotOp::NotP => logic(r, i, on, |a, _| !a),
        HotOp::AndP => logic(r, i, on, |a, b| a & b),
        HotOp::OrP => logic(r, i, on, |a, b| a | b),
        HotOp::XorP => logic(r, i, on, |a, b| a ^ b),
        HotOp::EqW => compare::<V, FULL>(r, i, on, int::eq32, |a, b| simd.equal_u32s(a, b), 0),
        HotOp::NeW => compare::<V, FULL>(r, i, on, int::ne32, |a, b| simd.equal_u32s(a, b), !0),
        HotOp::LtS32 => {
            compare::<V, FULL>(r, i, on, int::lt_s32, |a, b| simd.less_than_i32s(signed::<V>(a), signed::<V>(b)), 0)
        }
        HotOp::LeS32 => compare::<V, FULL>(
            r,
            i,
            on,
            int::le_s32,
            |a, b| simd.less_than_or_equal_i32s(signed::<V>(a), signed::<V>(b)),
            0,
        ),
        HotOp::GtS32 => {
            compare::<V, FULL>(r, i, on, int::gt_s32, |a, b| simd.greater_than_i32s(signed::<V>(a), signed::<V>(b)), 0)
        }
        HotOp::GeS32 => compare::<V, FULL>(
            r,
            i,
            on,
            int::ge_s32,
            |a, b| simd.greater_than_or_equal_i32s(signed::<V>(a), signed::<V>(b)),
            0,
        ),
        HotOp::LtU32 => compare::<V, FULL>(r, i, on, int::lt_u32, |a, b| simd.less_than_u32s(a, b), 0),
        HotOp::LeU32 => compare::<V, FULL>(r, i, on, int::le_u32, |a, b| simd.less_than_or_equal_u32s(a, b), 0),
        HotOp::GtU32 => compare::<V, FULL>(r, i, on, int::gt_u32, |a, b| simd.greater_than_u32s(a, b), 0),
        HotOp::GeU32 => compare::<V, FULL>(r, i, on, int::ge_u32, |a, b| simd.greater_than_or_equal_u32s(a, b), 0),
        HotOp::ZextWQ => map1::<W, Q, FULL>(r, i, on, int::zx32_q),
        HotOp::SextWQ => map1::<W, Q, FULL>(r, i, on, int::sx32_q),
        HotOp::TruncQW => map1::<Q, W, FULL>(r, i, on, int::lo32),
        HotOp::AddF32 => map2::<W, W, W, FULL>(r, i, on, float::add_f32),
        HotOp::SubF32 => map2::<W, W, W, FULL>(r, i, on, float::sub_f32),
        HotOp::MulF32 => map2::<W, W, W, FULL>(r, i, on, float::mul_f32),
        HotOp::FmaF32 => map3::<W, W, W, W, FULL>(r, i, on, float::fma_f32_hard),
        HotOp::DivF32 => map2::<W, W, W, FULL>(r, i, on, float::div_f32),
        HotOp::NegF32 => map1::<W, W, FULL>(r, i, on, float::neg_f32),
        HotOp::AbsF32 => map1::<W, W, FULL>(r, i, on, float::abs_f32),
        HotOp::AddF64 => map2::<Q, Q, Q, FULL>(r, i, on, float::add_f64),
        HotOp::SubF64 => map2::<Q, Q, Q, FULL>(r, i, on, float::sub_f64),
        HotOp::MulF64 => map2::<Q, Q, Q, FULL>(r, i, on, float::mul_f64),
        HotOp::FmaF64 => map3::<Q, Q, Q, Q, FULL>(r, i, on, float::fma_f64_hard),
        HotOp::LtF32 => {
            compare::<V, FULL>(r, i, on, float::lt_f32, |a, b| simd.less_than_f32s(real::<V>(a), real::<V>(b)), 0)
        }
        HotOp::LeF32 => compare::<V, FULL>(
            r,
            i,
            on,
            float::le_f32,
            |a, b| simd.less_than_or_equal_f32s(real::<V>(a), real::<V>(b)),
            0,
        ),
        HotOp::GtF32 => {
            compare::<V, FULL>(r, i, on, float::gt_f32, |a, b| simd.greater_than_f32s(real::<V>(a), real::<V>(b)), 0)
        }
        HotOp::GeF32 => compare::<V, FULL>(
            r,
            i,
            on,
            float::ge_f32,
            |a, b| simd.greater_than_or_equal_f32s(real::<V>(a), real::<V>(b)),
            0,
        ),
        HotOp::EqF32 => {
            compare::<V, FULL>(r, i, on, float::eq_f32, |a, b| simd.equal_f32s(real::<V>(a), real::<V>(b)), 0)
        }
        HotOp::NeuF32 => {
            compare::<V, FULL>(r, i, on, float::neu_f32, |a, b| simd.equal_f32s(real::<V>(a), real::<V>(b)), !0)
        }
        HotOp::F32OfS32 => map1::<W, W, FULL>(r, i, on, float::f32_of_s32),
        HotOp::RsqrtF32 => map1::<W, W, FULL>(r, i, on, float::rsqrt_f32),
    }
}

#[inline(always)]
fn signed<V: Simd>(x: V::u32s) -> V::i32s {
    bytemuck::cast(x)
}

#[inline(always)]
fn real<V: Simd>(x: V::u32s) -> V::f32s {
    bytemuck::cast(x)
}

/// A comparison of 32-bit slots. Where a vector comparison gives one bit a lane (AVX-512), those bits are the result
/// (exclusive or with `flip`): collecting lane by lane takes longer than everything else about a comparison.
///
/// Rule: thread.setp
#[inline(always)]
fn compare<V: Simd, const FULL: bool>(
    r: &mut Frame,
    i: &Instr,
    on: &Lane<'_>,
    each: impl Fn(u32, u32) -> bool,
    all: impl Fn(V::u32s, V::u32s) -> V::m32s,
    flip: LaneMask,
) {
    if V::U32_LANES != 16 || size_of::<V::m32s>() != 2 {
        return map2::<W, W, P, FULL>(r, i, on, each);
    }
    let (a, _) = V::as_simd_u32s(&r.w[i.a.index()].0);
    let (b, _) = V::as_simd_u32s(&r.w[i.b.index()].0);
    let ([a, c], [b, d]) = (a, b) else { unreachable!("two vectors of 16 lanes are a slot") };
    let half = |x, y| bytemuck::bytes_of(&all(x, y)).first_chunk().map_or(0, |b| u16::from_le_bytes(*b).into());
    let bits: LaneMask = half(*a, *b) | half(*c, *d) << 16;
    put_mask(&mut r.p[i.d.index()], bits ^ flip, if FULL { !0 } else { on.mask });
}

/// Predicate logic is done on whole masks.
#[inline(always)]
fn logic(r: &mut Frame, i: &Instr, on: &Lane<'_>, f: impl Fn(LaneMask, LaneMask) -> LaneMask) {
    let value = f(r.p[i.a.index()], r.p[i.b.index()]);
    put_mask(&mut r.p[i.d.index()], value, on.mask);
}

/// `selp` of 32 bits: blends by the expanded predicate, with no conditional on a lane.
#[inline(always)]
fn select<const FULL: bool>(i: &Instr, r: &mut Frame, on: &Lane<'_>) {
    let chosen = expand(r.p[i.c.index()], on.tables);
    let (a, b) = (r.w[i.a.index()].0, r.w[i.b.index()].0);
    let mut out = [0; LANES];
    for (k, o) in out.iter_mut().enumerate() {
        *o = (a[k] & chosen.0[k]) | (b[k] & !chosen.0[k]);
    }
    W::store::<FULL>(r, i, 3, on, out);
}

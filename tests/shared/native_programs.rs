//! Random programs that leave all their registers in memory, and a comparison of native code with the interpreter on them.

use crate::claims::{OPERATIONS, program_of};
use crate::native_groups::{MET, MET_OUTSIDE, grouped};
use crate::native_modes::{MODES, pairs};
use std::fmt::Write;
use std::sync::Arc;
use warpstep::base::SourceMap;
use warpstep::check::{Benign, Bounds, Check, Observers, Races, RacesOptions};
use warpstep::launch::build;
use warpstep::machine::{Config, Context, ControlModel, Engine, Launch};
use warpstep::program::env::ProgEnv;

/// More operations, of which native code has instructions: floating-point numbers, rows of memory, barriers.
const MORE: [&str; 49] = [
    "sad.u32 %t, %r7, 3, %r7; setp.lt.u32 %p0, %t, 2; selp.u32 D, 5, 9, %p0;",
    "mov.u32 %t, %tid.x; mul.wide.u32 %u, %t, 4; add.u64 %u, %u, %m; st.global.f32 [%u+64], A; ld.global.f32 D, [%u+68];",
    "mov.u32 %t, %tid.x; mul.wide.u32 %u, %t, 4; add.u64 %u, %u, %m; ld.global.f32 %w, [%u+64]; add.f32 %w, %w, A; st.global.f32 [%u+68], %w;",
    "ld.param.u32 %t, [n]; xor.b32 D, A, %t; and.b32 D, B, %t;",
    "mov.u32 %t, %tid.x; ld.param.u32 %w, [n]; xor.b32 %t, %t, %w; mul.wide.u32 %u, %t, 4; add.u64 %u, %u, %m; ld.global.u32 D, [%u+64];",
    "add.f32 D, A, B;",
    "sub.f32 D, A, B;",
    "mul.f32 D, A, B;",
    "fma.rn.f32 D, A, B, A;",
    "div.rn.f32 D, A, B;",
    "sqrt.rn.f32 D, A;",
    "rcp.rn.f32 D, A;",
    "rsqrt.approx.f32 D, A;",
    "neg.f32 D, A;",
    "abs.f32 D, A;",
    "min.f32 D, A, B;",
    "max.f32 D, A, B;",
    "setp.lt.f32 G, A, B;",
    "setp.neu.f32 G, A, B;",
    "setp.equ.f32 G, A, B;",
    "setp.ne.f32 G, A, B;",
    "setp.geu.f32 G, A, B;",
    "setp.num.f32 G, A, B;",
    "setp.nan.f32 G, A, B;",
    "cvt.rn.f32.s32 D, A;",
    "cvt.rn.f32.s32 %t, A; add.f32 D, %t, %t; mul.f32 %t, %t, %t; add.f32 D, D, %t;",
    "shl.b32 D, A, B;",
    "shr.u32 D, A, B;",
    "shr.s32 D, A, %r7;",
    "shl.b64 Q, W, B;",
    "shr.u64 Q, W, S;",
    "sub.u64 Q, W, V;",
    "mul.lo.u64 Q, W, V;",
    "xor.b64 Q, W, V;",
    "setp.lt.u64 G, W, V;",
    "setp.ge.s64 G, W, V;",
    "setp.eq.u64 G, W, V;",
    "selp.b64 Q, W, V, P;",
    "abs.s32 D, A;",
    "max.s32 D, A, B;",
    "mov.u32 %t, %tid.x; mul.wide.u32 %u, %t, 4; add.u64 %u, %u, %m; ld.global.f32 D, [%u+64];",
    "mov.u32 %t, %tid.x; mul.wide.u32 %u, %t, 4; add.u64 %u, %u, %m; st.global.f32 [%u+64], A;",
    "mov.u32 %t, %tid.x; mul.wide.u32 %u, %t, 4; add.u64 %u, %u, %m; ld.global.f32 D, [%u+64]; ld.global.f32 D, [%u+68];",
    "mov.u32 %t, %tid.x; mul.wide.u32 %u, %t, 4; mov.u64 %q0, words; add.u64 %u, %u, %q0; st.shared.f32 [%u], A;",
    "mov.u32 %t, %tid.x; mul.wide.u32 %u, %t, 4; mov.u64 %q0, words; add.u64 %u, %u, %q0; ld.shared.f32 D, [%u+4];",
    "mov.u32 %t, %tid.y; mul.wide.u32 %u, %t, 4; mov.u64 %q0, words; add.u64 %u, %u, %q0; ld.shared.f32 D, [%u];",
    "and.b32 %t, A, 124; cvt.u64.u32 %u, %t; mov.u64 %q0, words; add.u64 %u, %u, %q0; st.shared.u32 [%u], B;",
    "atom.global.add.u32 D, [%m+28], A;",
    "st.global.u32 [%m+32], %r7;",
];

/// Accesses lane by lane: atomic ones, from and to addresses that lie anywhere, of several words.
const LANES: [&str; 43] = [
    "mov.u32 %t, %tid.x; sad.u32 %t, %t, 0, 3; mul.wide.u32 %u, %t, 4; add.u64 %u, %u, %m; ld.global.u32 D, [%u+64];",
    "mov.u32 %t, %tid.x; xor.b32 %t, %t, 16; mul.wide.u32 %u, %t, 4; add.u64 %u, %u, %m; st.global.u32 [%u+64], A; ld.global.u32 D, [%u+68];",
    "mov.u32 %t, %tid.x; sad.u32 %t, %t, 0, A; and.b32 %t, %t, 63; mul.wide.u32 %u, %t, 8; add.u64 %u, %u, %m; ld.global.u64 Q, [%u+64];",
    "mov.u32 %t, %tid.x; xor.b32 %t, %t, 48; mul.wide.u32 %u, %t, 8; add.u64 %u, %u, %m; st.global.u64 [%u+64], W;",
    "mov.u32 %t, %tid.x; xor.b32 %t, %t, 16; mul.wide.u32 %u, %t, 4; mov.u64 %q0, words; add.u64 %u, %u, %q0; st.shared.u32 [%u], A;",
    "and.b32 %t, A, 124; cvt.u64.u32 %u, %t; add.u64 %u, %u, %m; atom.global.add.u32 D, [%u], B;",
    "and.b32 %t, A, 28; cvt.u64.u32 %u, %t; add.u64 %u, %u, %m; atom.global.min.s32 D, [%u+4], B;",
    "and.b32 %t, A, 60; cvt.u64.u32 %u, %t; add.u64 %u, %u, %m; atom.global.cas.b32 D, [%u], A, B;",
    "and.b32 %t, A, 28; cvt.u64.u32 %u, %t; add.u64 %u, %u, %m; atom.global.exch.b32 D, [%u], B;",
    "and.b32 %t, A, 28; cvt.u64.u32 %u, %t; add.u64 %u, %u, %m; atom.global.inc.u32 D, [%u], B;",
    "and.b32 %t, A, 28; cvt.u64.u32 %u, %t; add.u64 %u, %u, %m; red.global.dec.u32 [%u], B;",
    "and.b32 %t, A, 28; cvt.u64.u32 %u, %t; add.u64 %u, %u, %m; red.global.add.f32 [%u], B;",
    "and.b32 %t, A, 60; cvt.u64.u32 %u, %t; add.u64 %u, %u, %m; red.global.xor.b32 [%u], A;",
    "and.b32 %t, A, 28; mov.u32 %w, words; add.u32 %t, %t, %w; atom.shared.add.u32 D, [%t], B;",
    "and.b32 %t, A, 28; mov.u32 %w, words; add.u32 %t, %t, %w; atom.shared.max.u32 D, [%t+8], B;",
    "and.b32 %t, A, 28; mov.u32 %w, words; add.u32 %t, %t, %w; red.shared.or.b32 [%t], B;",
    "and.b32 %t, A, 28; mov.u32 %w, words; add.u32 %t, %t, %w; atom.shared.add.f32 D, [%t], B;",
    "and.b32 %t, A, 60; mov.u32 %w, words; add.u32 %t, %t, %w; atom.shared.and.b32 %t, [%t], B;",
    "atom.global.add.u32 D, [%m+28], %r7; atom.global.exch.b32 D, [%m+28], A;",
    "mov.u32 %t, %tid.x; mul.wide.u32 %u, %t, 4; add.u64 %u, %u, %m; atom.global.max.s32 D, [%u+64], A;",
    "mov.u32 %t, %tid.x; mul.wide.u32 %u, %t, 4; add.u64 %u, %u, %m; red.global.add.u32 [%u+68], A; ld.global.u32 D, [%u+64];",
    "and.b32 %t, A, 124; cvt.u64.u32 %u, %t; add.u64 %u, %u, %m; ld.global.u32 D, [%u+4]; st.global.u32 [%u], D;",
    "and.b32 %t, A, 124; cvt.u64.u32 %u, %t; add.u64 %u, %u, %m; st.global.u32 [%u+8], B; ld.global.u32 D, [%m+16];",
    "and.b32 %t, A, 120; cvt.u64.u32 %u, %t; add.u64 %u, %u, %m; ld.global.u64 Q, [%u]; add.u32 D, A, %t;",
    "and.b32 %t, A, 120; cvt.u64.u32 %u, %t; add.u64 %u, %u, %m; st.global.u64 [%u], W;",
    "and.b32 %t, A, 126; cvt.u64.u32 %u, %t; add.u64 %u, %u, %m; ld.global.u16 D, [%u];",
    "and.b32 %t, A, 126; cvt.u64.u32 %u, %t; add.u64 %u, %u, %m; st.global.u16 [%u], B;",
    "and.b32 %t, A, 112; cvt.u64.u32 %u, %t; add.u64 %u, %u, %m; ld.global.v4.u32 {D, %t, A, B}, [%u];",
    "and.b32 %t, A, 112; cvt.u64.u32 %u, %t; add.u64 %u, %u, %m; st.global.v4.u32 [%u], {A, B, A, B};",
    "and.b32 %t, A, 112; cvt.u64.u32 %u, %t; add.u64 %u, %u, %m; ld.global.v2.u64 {Q, W}, [%u];",
    "and.b32 %t, A, 120; cvt.u64.u32 %u, %t; add.u64 %u, %u, %m; st.global.v2.f32 [%u], {A, B};",
    "and.b32 %t, A, 124; mov.u32 %w, words; add.u32 %t, %t, %w; ld.shared.u32 D, [%t+4];",
    "and.b32 %t, A, 124; mov.u32 %w, words; add.u32 %t, %t, %w; st.shared.u32 [%t], B;",
    "and.b32 %t, A, 120; mov.u32 %w, words; add.u32 %t, %t, %w; ld.shared.v2.u32 {D, A}, [%t];",
    "mov.u32 %t, %tid.x; mul.wide.u32 %u, %t, 8; add.u64 %u, %u, %m; ld.global.v2.u32 {D, A}, [%u+64];",
    "mov.u32 %t, %tid.x; mul.wide.u32 %u, %t, 8; add.u64 %u, %u, %m; st.global.v2.u32 [%u+72], {A, B};",
    "mov.u32 %t, %tid.x; mul.wide.u32 %u, %t, 16; add.u64 %u, %u, %m; ld.global.v4.f32 {D, %t, A, B}, [%u+64];",
    "mov.u32 %t, %tid.x; mul.wide.u32 %u, %t, 16; add.u64 %u, %u, %m; st.global.v4.f32 [%u+80], {A, B, %r7, A};",
    "mov.u32 %t, %tid.x; mul.wide.u32 %u, %t, 16; add.u64 %u, %u, %m; st.global.v2.u64 [%u+64], {W, V}; ld.global.v2.u64 {Q, W}, [%u+80];",
    "mov.u32 %t, %tid.x; mul.wide.u32 %u, %t, 8; add.u64 %u, %u, %m; ld.global.u32 D, [%u+64];",
    "mov.u32 %t, %tid.x; mul.wide.u32 %u, %t, 12; add.u64 %u, %u, %m; st.global.u32 [%u+64], A;",
    "mov.u32 %t, %tid.x; sub.u32 %t, 80, %t; mul.wide.s32 %u, %t, 4; add.u64 %u, %u, %m; ld.global.u32 D, [%u]; st.global.u32 [%u+4], A;",
    "mov.u32 %t, %tid.x; shl.b32 %t, %t, 3; mov.u32 %w, words; add.u32 %t, %t, %w; st.shared.u32 [%t+8], A; ld.shared.u32 D, [%t];",
];

/// Floating-point numbers of 64 bits and halves of them.
const DOUBLES: [&str; 38] = [
    "mov.b64 %u, {A, 0xfff00001}; neg.f64 Q, %u;",
    "mov.b64 %u, {A, 0x7ff00001}; mov.b64 %q0, {B, 0xfff80001}; add.f64 Q, %u, %q0;",
    "mov.b64 %u, {A, 0x7ff00001}; mov.b64 %q0, {B, 0xfff80001}; fma.rn.f64 Q, %q0, W, %u;",
    "mov.b64 %u, {A, 0x7ff00001}; mov.b64 %q0, {B, 0xfff80001}; fma.rn.f64 Q, %u, %q0, V;",
    "mov.b64 %u, {A, 0x7ff00001}; mov.b64 %q0, {B, 0xfff80001}; max.f64 Q, %u, %q0;",
    "mov.b64 %u, {A, 0x7ff00001}; mov.b64 %q0, {B, 0xfff80001}; div.rn.f64 Q, %u, %q0;",
    "cvt.f64.f32 Q, A;",
    "cvt.rn.f32.f64 D, W;",
    "cvt.rn.f64.s32 Q, A;",
    "cvt.rn.f64.u32 Q, A;",
    "add.f64 Q, W, V;",
    "sub.f64 Q, W, V;",
    "mul.f64 Q, W, V;",
    "fma.rn.f64 Q, W, V, W;",
    "fma.rn.f64 Q, W, V, %q0;",
    "div.rn.f64 Q, W, V;",
    "sqrt.rn.f64 Q, W;",
    "rcp.rn.f64 Q, W;",
    "neg.f64 Q, W;",
    "abs.f64 Q, W;",
    "min.f64 Q, W, V;",
    "max.f64 Q, W, V;",
    "setp.lt.f64 G, W, V;",
    "setp.neu.f64 G, W, V;",
    "setp.equ.f64 G, W, V;",
    "setp.ne.f64 G, W, V;",
    "setp.geu.f64 G, W, V;",
    "setp.num.f64 G, W, V;",
    "setp.nan.f64 G, W, V;",
    "mov.b64 {D, %t}, W;",
    "mov.b64 {%t, D}, W;",
    "mov.b64 Q, {A, 0x7ff00000};",
    "mov.b64 Q, {A, 0x40080000};",
    "mov.b64 Q, {B, A};",
    "shl.b32 %t, A, 20; mov.b64 Q, {B, %t};",
    "add.f32 %t, A, B; cvt.f64.f32 Q, %t;",
    "selp.f64 Q, W, V, P;",
    "cvt.rn.f32.u32 D, A; cvt.f64.f32 Q, D;",
];

/// Shifts by amounts of each lane, counts, fields, quotients.
const BITS: [&str; 46] = [
    "shl.b32 D, A, B;",
    "shr.u32 D, A, B;",
    "shr.s32 D, A, B;",
    "shl.b64 Q, W, B;",
    "shr.u64 Q, W, B;",
    "shr.s64 Q, W, B;",
    "and.b32 %t, A, 63; shl.b32 D, B, %t;",
    "and.b32 %t, A, 127; shr.u64 Q, W, %t;",
    "and.b32 %t, A, 63; shr.s32 D, B, %t;",
    "popc.b32 D, A;",
    "popc.b64 D, W;",
    "clz.b32 D, A;",
    "clz.b64 D, W;",
    "brev.b32 D, A;",
    "bfind.u32 D, A;",
    "bfind.s32 D, A;",
    "bfind.shiftamt.u32 D, A;",
    "mul.hi.u32 D, A, B;",
    "mul.hi.s32 D, A, B;",
    "mul.hi.u64 Q, W, V;",
    "div.u32 D, A, B;",
    "div.s32 D, A, B;",
    "rem.u32 D, A, B;",
    "rem.s32 D, A, B;",
    "div.u32 D, A, C;",
    "rem.s32 D, A, C;",
    "bfe.u32 D, A, 3, 7;",
    "bfe.s32 D, A, B, %r7;",
    "bfi.b32 D, A, B, 5, 9;",
    "prmt.b32 D, A, B, 0x5410;",
    "lop3.b32 D, A, B, C, 0x96;",
    "cvt.rzi.s32.f32 D, A;",
    "cvt.rzi.u32.f32 D, A;",
    "cvt.rn.f32.u32 D, A;",
    "cvt.rn.f32.s32 %t, A; cvt.rzi.u32.f32 D, %t;",
    "not.b64 Q, W;",
    "cvt.u32.u16 D, A;",
    "cvt.s32.s16 D, A;",
    "cvt.s32.s8 D, A;",
    "min.s64 Q, W, V;",
    "max.u64 Q, W, V;",
    "shf.l.wrap.b32 D, A, B, 7;",
    "shf.r.clamp.b32 D, A, B, %r7;",
    "mad.hi.u32 D, A, B, A;",
    "sad.u32 D, A, B, A;",
    "selp.f32 D, A, B, P; neg.f32 D, D;",
];

/// Lanes that part and meet again.
const PARTINGS: [&str; 14] = [
    "@P bra X#; add.f32 D, A, B; X#:",
    "@!P bra X#; mov.u32 D, %tid.x; add.u32 D, D, 3; X#:",
    "@P bra X#; add.u32 D, A, B; bra Y#; X#: sub.u32 D, B, A; mov.u32 A, 7; Y#:",
    "@P bra X#; mov.u32 D, 5; bra Y#; X#: mov.u32 D, 9; Y#: add.u32 A, A, 1;",
    "@P bra X#; setp.lt.u32 G, A, B; bra Y#; X#: setp.eq.u32 G, A, 3; Y#: @P bra Z#; add.u32 D, A, B; Z#:",
    "setp.lt.u32 %p0, A, B; @%p0 bra X#; setp.gt.s32 %p1, A, 0; @%p1 bra Y#; add.u32 D, A, 1; bra Y#; X#: mov.u32 B, %tid.x; Y#:",
    "@P bra X#; @P bra X#; @P bra X#; add.u32 D, A, B; X#:",
    "@P bra X#; add.u32 A, A, 1; @!P bra Y#; sub.u32 D, A, B; Y#: mov.u32 B, %laneid; X#: add.u32 D, D, B;",
    "mov.u32 A, %tid.x; @P bra X#; add.u32 A, A, 4; mov.u32 B, A; X#: add.u32 D, A, B;",
    "mov.u32 %t, %tid.x; mul.wide.u32 %u, %t, 4; add.u64 %u, %u, %m; @P bra X#; ld.global.u32 D, [%u+64]; add.u32 D, D, A; st.global.u32 [%u+64], D; X#:",
    "mov.u32 %t, %tid.x; setp.lt.u32 %p2, %t, 13; @%p2 bra X#; mul.wide.u32 %u, %t, 4; add.u64 %u, %u, %m; st.global.u32 [%u+68], A; X#: mov.u32 D, %t;",
    "@P bra X#; atom.global.add.u32 D, [%m+28], A; X#:",
    "mov.u32 %t, 3; Z#: @P bra X#; add.u32 D, A, B; X#: sub.u32 %t, %t, 1; setp.ne.u32 %p3, %t, 0; @%p3 bra Z#;",
    "@P bra X#; mov.u32 %t, 3; Z#: add.u32 D, D, B; sub.u32 %t, %t, 1; setp.ne.u32 %p3, %t, 0; @%p3 bra Z#; X#:",
];

/// Exchanges between lanes, for whom all are there or those that are, and fences.
const EXCHANGES: [&str; 16] = [
    "activemask.b32 %t; shfl.sync.bfly.b32 D, A, 1, 31, %t;",
    "activemask.b32 %t; shfl.sync.up.b32 D, A, 3, 0, %t;",
    "activemask.b32 %t; shfl.sync.down.b32 D, A, 5, 0x101f, %t;",
    "activemask.b32 %t; shfl.sync.idx.b32 D|P, A, B, 31, %t;",
    "activemask.b32 %t; shfl.sync.idx.b32 D, A, 7, 0x181f, %t;",
    "activemask.b32 %t; shfl.sync.bfly.b32 D|P, A, 16, C, %t;",
    "shfl.sync.bfly.b32 D, A, 8, 31, -1;",
    "shfl.sync.down.b32 D|P, A, 2, 31, -1;",
    "activemask.b32 %t; vote.sync.ballot.b32 D, P, %t;",
    "activemask.b32 %t; vote.sync.any.pred G, P, %t;",
    "activemask.b32 %t; vote.sync.all.pred G, P, %t;",
    "vote.sync.ballot.b32 D, P, -1;",
    "activemask.b32 D;",
    "activemask.b32 %t; bar.warp.sync %t;",
    "membar.gl; membar.cta;",
    "bar.warp.sync -1;",
];

/// Some that end the run, now and then.
const RISKY: [&str; 3] = [
    "mul.wide.u32 %u, A, 4; add.u64 %u, %u, %m; ld.global.u32 D, [%u];",
    "mul.wide.s32 %u, A, 4; add.u64 %u, %u, %m; st.global.u32 [%u], B;",
    "bar.sync 0;",
];

/// The same of accesses lane by lane: some lanes' addresses are wrong, or only the last one's.
const RISKY_LANES: [&str; 9] = [
    "mov.u32 %t, %tid.x; sad.u32 %t, %t, 0, 9958; mul.wide.u32 %u, %t, 4; add.u64 %u, %u, %m; ld.global.u32 D, [%u];",
    "mov.u64 %u, 1; ld.global.u32 D, [%u];",
    "mul.wide.u32 %u, A, 4; add.u64 %u, %u, %m; atom.global.add.u32 D, [%u], B;",
    "mul.wide.u32 %u, A, 8; add.u64 %u, %u, %m; ld.global.v2.u32 {D, A}, [%u];",
    "and.b32 %t, A, 127; cvt.u64.u32 %u, %t; add.u64 %u, %u, %m; st.global.u32 [%u], B;",
    "and.b32 %t, A, 1020; mov.u32 %w, words; add.u32 %t, %t, %w; st.shared.u32 [%t], B;",
    "and.b32 %t, A, 1020; mov.u32 %w, words; add.u32 %t, %t, %w; atom.shared.add.u32 D, [%t+-600], B;",
    "mov.u32 %t, %laneid; add.u32 %t, %t, 9969; mul.lo.u32 %t, %t, %t; and.b32 %t, %t, 131071; cvt.u64.u32 %u, %t; add.u64 %u, %u, %m; ld.global.u32 D, [%u];",
    "mov.u32 %t, %laneid; mul.lo.u32 %t, %t, %t; max.u32 %t, %t, 930; sub.u32 %t, %t, 930; mul.wide.u32 %u, %t, 1292; add.u64 %u, %u, %m; st.global.u32 [%u], B;",
];

/// Whether an operation needs neither a newer target nor registers of its own.
fn is_old(operation: &str) -> bool {
    let newer = ["bf16", "min.f16x2", "max.f16x2", "NaN", "%h", "%u", "@"];
    newer.iter().all(|part| !operation.contains(part))
}

/// A program that leaves all its registers in memory.
fn program(seed: u64) -> String {
    // A number is no operand of these.
    let modes: Vec<String> = MODES.iter().filter(|one| is_old(one)).map(|one| one.replace(" C", " B")).collect();
    let mut operations: Vec<&str> = OPERATIONS.iter().chain(&MORE).copied().collect();
    match seed % 4 {
        1 => operations.extend(LANES.iter().chain(&LANES)),
        2 => operations.extend(DOUBLES.iter().chain(&DOUBLES)),
        3 => operations.extend(BITS),
        _ => operations.extend(modes.iter().map(String::as_str)),
    }
    if seed % 5 == 2 {
        operations.extend(EXCHANGES.iter().chain(&EXCHANGES));
    }
    if seed % 3 != 1 {
        operations.extend(PARTINGS.iter().chain(&PARTINGS).chain(&PARTINGS));
    }
    // One kind of wrong address in a program, which would else end at the first that comes.
    let wrong = usize::try_from(seed / 4).ok().and_then(|number| RISKY_LANES.get(number % (2 * RISKY_LANES.len())));
    match wrong.filter(|_| seed % 4 == 1) {
        Some(wrong) => operations.extend([*wrong; 8]),
        None if seed.is_multiple_of(3) => operations.extend(RISKY),
        None => {}
    }
    let mut last =
        "mov.u32 %t, %ctaid.x; mov.u32 %w, %ntid.x; mul.lo.u32 %t, %t, %w; mov.u32 %w, %tid.x; add.u32 %t, %t, %w;\n\
                    mov.u32 %w, %ntid.y; mul.lo.u32 %t, %t, %w; mov.u32 %w, %tid.y; mad.lo.u32 %t, %w, 8, %t;\n\
                    and.b32 %t, %t, 255; mad.wide.u32 %u, %t, 128, %m;\n"
            .to_owned();
    for k in 0..14 {
        let _ = writeln!(last, "st.global.u32 [%u+{}], %r{k};", 1024 + 4 * k);
    }
    for k in 0..7 {
        let _ = writeln!(last, "st.global.u64 [%u+{}], %q{k};", 1080 + 8 * k);
    }
    for k in 0..4 {
        let _ = writeln!(last, "selp.u32 %t, 1, 0, %p{k}; st.global.u8 [%u+{}], %t;", 1136 + k);
    }
    let text = program_of(seed, &operations, ".shared .align 4 .b8 words[600];\n", &last);
    // Some operations are newer.
    text.replacen(".version 6.0\n", ".version 8.6\n", 1)
}

/// A number that is chosen by a predicate of which only strips of the same block know that all lanes have it alike.
const CHOSEN: &str = "
.version 6.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 memory, .param .u32 n)
{
    .reg .pred %p; .reg .b32 %n, %t, %d; .reg .b64 %m, %at;
    ld.param.u64 %m, [memory];
    ld.param.u32 %n, [n];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %at, %t, 4;
    add.u64 %at, %at, %m;
    sad.u32 %t, %n, 3, %n;
    setp.gt.u32 %p, %t, 2;
    selp.u32 %d, 5, 9, %p;
    st.global.u32 [%at], %d;
    ret;
}
";

/// A predicate that all lanes have alike only if no widened number wraps around, which one does.
const ASSUMED: &str = "
.version 7.0\n.target sm_60\n.address_size 64
.visible .entry k(.param .u64 memory, .param .u32 n)
{
    .reg .pred %p; .reg .b32 %t, %d; .reg .b64 %m, %at, %x, %y;
    ld.param.u64 %m, [memory];
    mov.u32 %t, %tid.x;
    cvt.u64.u32 %y, %t;
    add.u64 %y, %y, 0xfffffff0;
    add.u32 %t, %t, 0xfffffff0;
    cvt.u64.u32 %x, %t;
    setp.eq.u64 %p, %x, %y;
    bar.sync 0;
    selp.u32 %d, 5, 9, %p;
    add.u32 %t, %t, 16;
    mad.wide.u32 %at, %t, 4, %m;
    st.global.u32 [%at], %d;
    ret;
}
";

/// The same where the number that is widened is not held as a line.
const ASSUMED_OF_VECTORS: &str = "
.version 7.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 memory, .param .u32 n)
{
    .reg .pred %p, %q; .reg .b32 %t, %b, %d; .reg .b64 %m, %at, %x, %y;
    ld.param.u64 %m, [memory];
    mov.u32 %t, %tid.x;
    setp.ge.u32 %q, %t, 4;
    vote.sync.ballot.b32 %b, %q, -1;
    mad.wide.u32 %at, %t, 4, %m;
    cvt.u64.u32 %y, %t;
    add.u64 %y, %y, 0xfffffff0;
    add.u32 %t, %t, %b;
    cvt.u64.u32 %x, %t;
    setp.eq.u64 %p, %x, %y;
    selp.u32 %d, 5, 9, %p;
    st.global.u32 [%at], %d;
    ret;
}
";

/// Numbers that are divided by powers of two, some of which are negative.
const DIVIDED: &str = "
.version 7.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 memory, .param .u32 n)
{
    .reg .b32 %t, %x, %s, %d; .reg .b64 %m, %at;
    ld.param.u64 %m, [memory];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %at, %t, 4, %m;
    mov.u32 %x, %ctaid.x;
    shl.b32 %x, %x, 6;
    add.u32 %t, %t, %x;
    sub.u32 %x, %t, 64;
    shr.s32 %s, %x, 31;
    shr.u32 %d, %s, 27;
    add.s32 %d, %x, %d;
    shr.s32 %d, %d, 5;
    st.global.u32 [%at], %d;
    ret;
}
";

/// Compares native runs of programs that were written for what random ones seldom do; gives how many there were.
pub fn written(most: u32) -> u32 {
    let runs = [CHOSEN, ASSUMED, ASSUMED_OF_VECTORS, DIVIDED]
        .map(|text| same(text, ([2, 1, 1], [64, 1, 1]), &[None, Some(1)], most));
    let met = same(MET_OUTSIDE, ([5, 1, 1], [64, 1, 1]), &[None, Some(1)], most);
    met + runs.iter().sum::<u32>() + grouped(most) + pairs(MODES.iter().step_by(10))
}

/// All that can be told of a run.
fn told(
    env: &Arc<ProgEnv>,
    (grid, block): ([u32; 3], [u32; 3]),
    control: ControlModel,
    seed: Option<u64>,
    engine: Engine,
    checks: &[Check],
) -> (String, Vec<u8>) {
    // A number that is a multiple of the warp's size or none.
    let n: u32 = if block[0] % 3 == 2 { 64 } else { 5 };
    let config = Config { control: Some(control), seed, engine, max_steps: Some(60_000), ..Config::default() };
    let mut context = Context::new(Arc::clone(env), config).unwrap();
    // Memory that is lent is memory like any other.
    let lent = control == ControlModel::ItsSplit && context.takes_loans();
    let memory = if lent { context.lend("memory", Box::new(vec![0; 40_000])) } else { context.alloc("memory", 40_000) };
    let memory = memory.unwrap();
    let params = [&memory.to_le_bytes()[..], &n.to_le_bytes()].concat();
    let launch = Launch { entry: "k".into(), grid, block, shared_bytes: 0, params };
    let mut printed = Vec::new();
    let mut print = |bytes: &[u8]| printed.extend_from_slice(bytes);
    let (ended, found) = if checks.is_empty() {
        (context.launch(&launch, &mut print), String::new())
    } else {
        let mut observers =
            Observers::of(checks, env, RacesOptions { benign: Benign::None, ..RacesOptions::default() });
        (context.launch_with(&launch, &mut observers, &mut print), found_by(&observers))
    };
    let bytes = context.bytes(memory, 40_000).unwrap_or_default().to_vec();
    (format!("{ended:?} {} {printed:?} {found}", context.clock()), bytes)
}

/// What checks have found, in its order.
pub fn found_by(observers: &Observers) -> String {
    let races = observers.get::<Races>().map(|races| {
        let [shown, hidden] = [races.findings().collect::<Vec<_>>(), races.hidden().collect()];
        format!("{shown:?} {hidden:?} {:?}", races.unordered().collect::<Vec<_>>())
    });
    let lost = observers.get::<Bounds>().map(|bounds| bounds.lost().collect::<Vec<_>>());
    format!("{races:?} {lost:?}")
}

/// The bytes in which two differ, and where.
fn differing(a: &[u8], b: &[u8]) -> Vec<(usize, u8, u8)> {
    let all = a.iter().zip(b).enumerate().filter(|(_, (a, b))| a != b);
    all.map(|(at, (a, b))| (at, *a, *b)).take(40).collect()
}

/// A store whose address is made of one buffer and may lead to another one, which is read.
const STRAYS: &str = "
.version 7.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 to, .param .u64 from, .param .u32 far)
{
    .reg .b32 %t, %x, %f; .reg .b64 %to, %from, %far, %at;
    ld.param.u64 %to, [to];
    ld.param.u64 %from, [from];
    ld.param.u32 %f, [far];
    mul.wide.s32 %far, %f, 256;
    mov.u32 %t, %tid.x;
    mul.wide.u32 %at, %t, 4;
    add.u64 %to, %to, %at;
    add.u64 %from, %from, %at;
    ld.global.u32 %x, [%from];
    add.u32 %x, %x, %t;
    add.u64 %to, %to, %far;
    st.global.u32 [%to], %x;
    ret;
}
";

/// Compares runs under checks in which accesses leave what their addresses were made of, and such in which they do not.
fn strays(checks: &[Check]) -> u32 {
    let mut sources = SourceMap::default();
    let id = sources.add("strays.ptx", STRAYS);
    let env = Arc::new(build(&[id], Some(ControlModel::Its), &sources).unwrap());
    let told = |engine: Engine, far: bool| {
        let config = Config { control: Some(ControlModel::Its), engine, ..Config::default() };
        let mut context = Context::new(Arc::clone(&env), config).unwrap();
        let [to, from] = ["to", "from"].map(|name| context.alloc(name, 512).unwrap());
        let apart = from.wrapping_sub(to).cast_signed();
        assert_eq!(apart % 256, 0);
        let far = if far { i32::try_from(apart / 256).unwrap() } else { 0 };
        let params = [&to.to_le_bytes()[..], &from.to_le_bytes(), &far.to_le_bytes()].concat();
        let launch = Launch { entry: "k".into(), grid: [2, 1, 1], block: [64, 1, 1], shared_bytes: 0, params };
        let mut observers =
            Observers::of(checks, &env, RacesOptions { benign: Benign::None, ..RacesOptions::default() });
        let ended = context.launch_with(&launch, &mut observers, &mut |_| ());
        let bytes = [to, from].map(|at| context.bytes(at, 512).unwrap_or_default().to_vec());
        (format!("{ended:?} {}", found_by(&observers)), bytes, context.native() > 0)
    };
    for far in [false, true] {
        let (wanted, seen) = (told(Engine::Interpreter, far), told(Engine::Native { trip: 0 }, far));
        assert_eq!((&wanted.0, &wanted.1), (&seen.0, &seen.1));
        assert_eq!(wanted.0.starts_with("Err"), far, "{}", wanted.0);
        assert!(far || seen.2, "{checks:?}: it is native where nothing is wrong");
    }
    2
}

/// Compares the runs of a random program under checks; gives how many native runs there were.
pub fn compared_under(seed: u64, most: u32, checks: &[Check]) -> u32 {
    same_under(&program(seed), ([2, 1, 1], shape(seed)), &[None], most, checks)
}

/// The shape of the blocks of a random program.
fn shape(seed: u64) -> [u32; 3] {
    let blocks = [[64, 1, 1], [16, 4, 1], [16, 8, 1], [48, 1, 1], [8, 8, 1], [32, 2, 1], [7, 5, 1], [32, 1, 1]];
    blocks[(seed % blocks.len() as u64) as usize]
}

/// Compares runs under checks of programs that were written for what random ones seldom do.
pub fn written_under() -> u32 {
    let checks: [&[Check]; 3] = [&[Check::Races], &[Check::Bounds], &[Check::Races, Check::Bounds]];
    let of = |checks| strays(checks) + same_under(MET, ([2, 1, 1], [64, 1, 1]), &[None], 1, checks);
    checks.into_iter().map(of).sum()
}

/// The control models that there is native code for.
pub const CONTROLS: [ControlModel; 3] = [ControlModel::Crs, ControlModel::Its, ControlModel::ItsSplit];

/// Compares the runs of a random program; gives how many native runs there were.
pub fn compared(seed: u64, most: u32) -> u32 {
    same(&program(seed), ([2, 1, 1], shape(seed)), &[None, Some(seed)], most)
}

/// The same under one control model, which is another one for the next program: what takes time is to compile.
pub fn compared_in_turn(seed: u64, most: u32) -> u32 {
    let control = CONTROLS[(seed % 3) as usize];
    same_of(&program(seed), ([2, 1, 1], shape(seed)), &[None, Some(seed)], most, (control, &[]))
}

/// Compares native runs of a program, on a grid of blocks, with the interpreter's, left at every segment up to a number; gives how
/// many there were.
pub fn same(text: &str, shape: ([u32; 3], [u32; 3]), schedules: &[Option<u64>], most: u32) -> u32 {
    same_under(text, shape, schedules, most, &[])
}

/// The same of runs under checks.
pub fn same_under(
    text: &str,
    shape: ([u32; 3], [u32; 3]),
    schedules: &[Option<u64>],
    most: u32,
    checks: &[Check],
) -> u32 {
    CONTROLS.iter().map(|control| same_of(text, shape, schedules, most, (*control, checks))).sum()
}

/// The same under one control model.
pub fn same_of(
    text: &str,
    shape: ([u32; 3], [u32; 3]),
    schedules: &[Option<u64>],
    most: u32,
    (control, checks): (ControlModel, &[Check]),
) -> u32 {
    let mut runs = 0;
    let mut sources = SourceMap::default();
    let id = sources.add("random.ptx", text);
    let env = Arc::new(build(&[id], Some(control), &sources).unwrap_or_else(|p| panic!("{p:?}\n{text}")));
    for schedule in schedules {
        let wanted = told(&env, shape, control, *schedule, Engine::Interpreter, checks);
        for trip in 0..=most {
            let seen = told(&env, shape, control, *schedule, Engine::Native { trip }, checks);
            assert!(
                seen == wanted,
                "{control:?} {schedule:?} {trip} {shape:?}\n{}\n{}\n{:?}\n{text}",
                wanted.0,
                seen.0,
                differing(&wanted.1, &seen.1)
            );
            runs += 1;
        }
    }
    runs
}

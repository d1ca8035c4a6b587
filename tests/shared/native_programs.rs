//! Random programs that leave all their registers in memory, and a comparison of native code with the interpreter on them.

use crate::claims::{OPERATIONS, program_of};
use std::fmt::Write;
use std::sync::Arc;
use warpstep::base::SourceMap;
use warpstep::launch::build;
use warpstep::machine::{Config, Context, ControlModel, Engine, Launch};
use warpstep::program::env::ProgEnv;

/// More operations, of which native code has instructions: floating-point numbers, rows of memory, barriers.
const MORE: [&str; 49] = [
    "popc.b32 %t, %r7; setp.lt.u32 %p0, %t, 2; selp.u32 D, 5, 9, %p0;",
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

/// Some that end the run, now and then.
const RISKY: [&str; 3] = [
    "mul.wide.u32 %u, A, 4; add.u64 %u, %u, %m; ld.global.u32 D, [%u];",
    "mul.wide.s32 %u, A, 4; add.u64 %u, %u, %m; st.global.u32 [%u], B;",
    "bar.sync 0;",
];

/// A program that leaves all its registers in memory.
fn program(seed: u64) -> String {
    let mut operations: Vec<&str> = OPERATIONS.iter().chain(&MORE).copied().collect();
    if seed.is_multiple_of(3) {
        operations.extend(RISKY);
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
    program_of(seed, &operations, ".shared .align 4 .b8 words[600];\n", &last)
}

/// All that can be told of a run.
fn told(
    env: &Arc<ProgEnv>,
    (grid, block): ([u32; 3], [u32; 3]),
    control: ControlModel,
    seed: Option<u64>,
    engine: Engine,
) -> (String, Vec<u8>) {
    // A number that is a multiple of the warp's size or none.
    let n: u32 = if block[0] % 3 == 2 { 64 } else { 5 };
    let config = Config { control: Some(control), seed, engine, max_steps: Some(60_000), ..Config::default() };
    let mut context = Context::new(Arc::clone(env), config).unwrap();
    let memory = context.alloc("memory", 40_000).unwrap();
    let params = [&memory.to_le_bytes()[..], &n.to_le_bytes()].concat();
    let launch = Launch { entry: "k".into(), grid, block, shared_bytes: 0, params };
    let mut printed = Vec::new();
    let ended = context.launch(&launch, &mut |bytes| printed.extend_from_slice(bytes));
    let bytes = context.bytes(memory, 40_000).unwrap_or_default().to_vec();
    (format!("{ended:?} {} {printed:?}", context.clock()), bytes)
}

/// The bytes in which two differ, and where.
fn differing(a: &[u8], b: &[u8]) -> Vec<(usize, u8, u8)> {
    let all = a.iter().zip(b).enumerate().filter(|(_, (a, b))| a != b);
    all.map(|(at, (a, b))| (at, *a, *b)).take(40).collect()
}

/// Compares the runs of a random program; gives how many native runs there were.
pub fn compared(seed: u64, most: u32) -> u32 {
    let blocks = [[64, 1, 1], [16, 4, 1], [16, 8, 1], [48, 1, 1], [8, 8, 1], [32, 2, 1], [7, 5, 1], [32, 1, 1]];
    let block = blocks[(seed % blocks.len() as u64) as usize];
    same(&program(seed), ([2, 1, 1], block), &[None, Some(seed)], most)
}

/// Compares native runs of a program, on a grid of blocks, with the interpreter's, left at every segment up to a number; gives how
/// many there were.
pub fn same(text: &str, shape: ([u32; 3], [u32; 3]), schedules: &[Option<u64>], most: u32) -> u32 {
    let mut runs = 0;
    for control in [ControlModel::Crs, ControlModel::Its, ControlModel::ItsSplit] {
        let mut sources = SourceMap::default();
        let id = sources.add("random.ptx", text);
        let env = Arc::new(build(&[id], Some(control), &sources).unwrap_or_else(|p| panic!("{p:?}\n{text}")));
        for schedule in schedules {
            let wanted = told(&env, shape, control, *schedule, Engine::Interpreter);
            for trip in 0..=most {
                let seen = told(&env, shape, control, *schedule, Engine::Native { trip });
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
    }
    runs
}

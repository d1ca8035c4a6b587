//! Random kernels whose warps access memory row by row, as real kernels do, and now and then otherwise.

use super::generate::{Kernel, pick};
use chacha20::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use std::fmt::Write;

/// How a thread's word follows from its number in %r0; the word's number is in %r3 then.
const PATTERNS: [&str; 10] = [
    // A row for each half of a warp, in order: these three are alike for the whole row.
    "mov.u32 %r3, %r0;",
    "and.b32 %r3, %r0, 15;",
    "xor.b32 %r3, %r0, 16;",
    "and.b32 %r3, %r0, 31;",
    // Rows that begin elsewhere, or in another order.
    "add.u32 %r3, %r0, 1;",
    "xor.b32 %r3, %r0, 1;",
    // Both halves in part.
    "shr.u32 %r3, %r0, 1;",
    // One word for half a warp, and for all.
    "shr.u32 %r3, %r0, 4;",
    "mov.u32 %r3, 0;",
    "mov.u32 %r3, 17;",
];

/// Which threads take part.
const CONDITIONS: [&str; 6] = [
    "and.b32 %r4, %r0, 16; setp.eq.u32 %p1, %r4, 0;",
    "and.b32 %r4, %r0, 16; setp.ne.u32 %p1, %r4, 0;",
    "setp.lt.u32 %p1, %r0, 32;",
    "setp.eq.u32 %p1, %r0, 3;",
    "setp.eq.u32 %p1, %r1, 0;",
    "and.b32 %r4, %r0, 1; setp.eq.u32 %p1, %r4, 0;",
];

pub fn rows(seed: u64) -> Kernel {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let old = random.random_ratio(1, 4);
    let blocks = *pick(&mut random, &[1, 1, 2]);
    let threads = *pick(&mut random, &[32, 64, 48]);
    let target = if old { "sm_60" } else { "sm_80" };
    let mut text = format!(
        ".version 8.0\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n\
         .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;\n.shared .align 64 .b8 tile[1024];\n\
         ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1; mov.u64 %rd2, tile;\n\
         mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r9, 0;\nAGAIN:\n"
    );
    // Blocks that keep to themselves race less.
    if random.random_ratio(1, 2) {
        text.push_str("shl.b32 %r5, %r1, 9; cvt.u64.u32 %rd3, %r5; add.u64 %rd1, %rd1, %rd3;\n");
    }
    let careful = random.random_ratio(2, 3);
    for _ in 0..random.random_range(2..7) {
        access(&mut random, &mut text);
        let sync = if careful { random.random_range(0..9) } else { random.random_range(0..30) };
        match sync {
            0..=5 => text.push_str("bar.sync 0;\n"),
            6 if !old => text.push_str("bar.warp.sync 0xffffffff;\n"),
            7 => text.push_str("membar.gl;\n"),
            _ => {}
        }
    }
    if random.random_ratio(1, 3) {
        text.push_str("bar.sync 0;\nadd.u32 %r9, %r9, 1;\nsetp.lt.u32 %p3, %r9, 2;\n@%p3 bra AGAIN;\n");
    }
    text.push_str("ret;\n}\n");
    Kernel { text, blocks, threads, old, warp: 32 }
}

fn access(random: &mut ChaCha8Rng, text: &mut String) {
    let shared = random.random_ratio(1, 2);
    let (space, base) = if shared { ("shared", "%rd2") } else { ("global", "%rd1") };
    let pattern = if random.random_ratio(2, 3) { &PATTERNS[..4] } else { &PATTERNS[..] };
    let (pattern, row) = (*pick(random, pattern), 64 * random.random_range(0..2));
    let guard = if random.random_ratio(1, 3) {
        let _ = writeln!(text, "{}", pick(random, &CONDITIONS));
        "@%p1 "
    } else {
        ""
    };
    let operation = match random.random_range(0..24) {
        0..=11 => format!("ld.{space}.u32 %r6, [%rd4+{row}];"),
        12..=20 => format!("st.{space}.u32 [%rd4+{row}], %r0;"),
        21 => format!("st.{space}.u8 [%rd4+{row}], %r0;"),
        22 => format!("atom.{space}.add.u32 %r6, [%rd4+{row}], 1;"),
        _ => format!("ld.volatile.{space}.u32 %r6, [%rd4+{row}];"),
    };
    let _ = writeln!(text, "{pattern}\nmul.wide.u32 %rd4, %r3, 4; add.u64 %rd4, {base}, %rd4;\n{guard}{operation}");
}

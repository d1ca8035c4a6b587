//! Locations that many threads read before one writes: a race is found however many there are, wherever the one is that
//! races.

use super::generate::{Kernel, pick};
use super::program;
use chacha20::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use std::fmt::Write;
use std::sync::Arc;
use warpstep::check::Races;
use warpstep::machine::{Config, Context, ControlModel, Launch};
use warpstep::verdict::BugKind;

/// Every count of lanes of up to two warps, and some up to the largest block.
fn counts() -> impl Iterator<Item = u32> {
    (1..=64).chain([65, 95, 96, 97, 127, 128, 129, 200, 255, 256, 257, 300, 511, 512, 513, 700, 992, 993, 1023, 1024])
}

/// Launches PTX of one kernel with one buffer; the causes, as text, of the races that it has.
fn races(body: &str, blocks: u32, threads: u32) -> Vec<String> {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n\
         .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;\n.shared .align 16 .b8 tile[64];\n\
         ld.param.u64 %rd1, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;\n\
         mad.lo.u32 %r3, %r1, %r2, %r0;\n{body}\nret;\n}}\n"
    );
    let env = program(&Kernel { text, blocks, threads, old: false, warp: 32 }, ControlModel::Its);
    let mut context = Context::new(Arc::clone(&env), Config::default()).unwrap();
    let params = context.alloc("out", 64).unwrap().to_le_bytes().to_vec();
    let launch = Launch { entry: "k".into(), grid: [blocks, 1, 1], block: [threads, 1, 1], shared_bytes: 0, params };
    let mut races = Races::new(env);
    context.launch_with(&launch, &mut races, &mut |_| ()).unwrap();
    let cause = |bug: &BugKind| match bug {
        BugKind::Race(race) => format!("{:?}", race.cause),
        other => panic!("{other:?}"),
    };
    races.findings().map(|f| cause(&f.bug.kind)).collect()
}

#[test]
fn a_write_races_with_any_number_of_readers_of_its_block() {
    for count in counts() {
        for space in ["shared.u32 %r4, [tile]", "global.u32 %r4, [%rd1]"] {
            let write = space.replace("u32 %r4, ", "u32 ");
            // The last thread writes after its warp met, the others have read; so it races where there is another warp.
            let body = format!(
                "ld.{space};\nbar.warp.sync 0xffffffff;\nadd.u32 %r5, %r2, -1;\nsetp.eq.u32 %p1, %r0, %r5;\n@%p1 st.{write}, %r0;"
            );
            let expected: &[&str] = if count > 32 { &["SameBlock"] } else { &[] };
            assert_eq!(races(&body, 1, count), expected, "{count} {space}");
            let met = body.replace("bar.warp.sync 0xffffffff", "bar.sync 0");
            assert!(races(&met, 1, count).is_empty(), "{count} {space}");
        }
    }
}

/// As F4: each warp reads, meets, and updates by an atomic operation.
#[test]
fn atomic_operations_race_with_any_number_of_readers() {
    for count in counts().filter(|n| n % 3 == 1 || *n < 40) {
        let body = "ld.global.u32 %r4, [%rd1];\nbar.warp.sync 0xffffffff;\natom.global.max.s32 %r5, [%rd1], %r0;";
        let expected: &[&str] = if count > 32 { &["SameBlock"] } else { &[] };
        assert_eq!(races(body, 1, count), expected, "{count}");
    }
}

/// Only one thread has no part in the barrier that orders all others before the write: the race is with that one.
#[test]
fn the_one_reader_that_races_is_found_among_any_number() {
    for warps in [2_u32, 3, 8, 9, 17, 31, 32] {
        for odd in [1, warps / 2, warps - 1] {
            let part = 32 * (warps - 1);
            let body = format!(
                "ld.global.u32 %r4, [%rd1];\nshr.u32 %r5, %r0, 5;\nsetp.ne.u32 %p1, %r5, {odd};\nmov.u32 %r6, {part};\n\
                 @%p1 bar.sync 1, %r6;\nsetp.eq.u32 %p2, %r0, 0;\n@%p2 st.global.u32 [%rd1], %r0;"
            );
            assert_eq!(races(&body, 1, 32 * warps), ["SameBlock"], "{warps} {odd}");
        }
    }
}

#[test]
fn a_write_races_with_readers_of_any_number_of_blocks() {
    for (blocks, threads) in [(1, 1024), (2, 32), (3, 512), (9, 64), (33, 32), (64, 128), (256, 96), (1024, 32)] {
        let body = "ld.global.u32 %r4, [%rd1];\nbar.sync 0;\nsetp.eq.u32 %p1, %r3, 5;\n@%p1 st.global.u32 [%rd1], %r0;";
        let expected: &[&str] = if blocks > 1 { &["OtherBlock"] } else { &[] };
        assert_eq!(races(body, blocks, threads), expected, "{blocks} {threads}");
    }
}

/// Kernels whose threads, more of them than any part of a cell has room for, read a few words, and some write.
pub fn crowds(seed: u64) -> Kernel {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let blocks = *pick(&mut random, &[1, 1, 2, 5]);
    let threads = *pick(&mut random, &[32, 40, 48]);
    let mut text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n\
         .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;\n.shared .align 16 .b8 tile[64];\n\
         ld.param.u64 %rd1, [out]; mov.u64 %rd2, tile; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;\n\
         and.b32 %r2, %r0, 3; shr.u32 %r3, %r0, 2;\n"
        .to_owned();
    let some = |random: &mut ChaCha8Rng, text: &mut String| {
        let n = random.random_range(0..12);
        let condition = match random.random_range(0..4) {
            0 => format!("setp.eq.u32 %p1, %r0, {};", n * 3),
            1 => format!("setp.ge.u32 %p1, %r3, {n};"),
            2 => format!("setp.ne.u32 %p1, %r3, {n};"),
            _ => format!("setp.le.u32 %p1, %r2, {};", n % 4),
        };
        let _ = writeln!(text, "{condition}");
    };
    for _ in 0..random.random_range(1..5) {
        let at = *pick(&mut random, &["shared.u32 %r4, [%rd2]", "global.u32 %r4, [%rd1]", "global.u32 %r4, [%rd1+4]"]);
        let guard = if random.random_ratio(1, 2) {
            some(&mut random, &mut text);
            "@%p1 "
        } else {
            ""
        };
        let _ = writeln!(text, "{guard}ld.{at};");
        match random.random_range(0..8) {
            0..=2 => text.push_str("bar.sync 0;\n"),
            3 | 4 => text.push_str("bar.warp.sync 15;\n"),
            5 => text.push_str("membar.gl;\n"),
            6 => {
                let _ = writeln!(text, "setp.lt.u32 %p2, %r0, 16;\nmov.u32 %r8, 16;\n@%p2 bar.sync 1, %r8;");
            }
            _ => {}
        }
        if random.random_ratio(1, 2) {
            let thread = random.random_range(0..threads);
            let write = at.replace("u32 %r4, ", "u32 ");
            let _ = writeln!(text, "setp.eq.u32 %p1, %r0, {thread};\nsetp.eq.and.u32 %p1, %r1, 0, %p1;");
            let _ = match random.random_range(0..3) {
                0 => writeln!(text, "@%p1 red.{}, 1;", write.replace(".u32", ".add.u32")),
                _ => writeln!(text, "@%p1 st.{write}, %r0;"),
            };
        }
        if random.random_ratio(1, 3) {
            text.push_str("bar.sync 0;\n");
        }
    }
    text.push_str("ret;\n}\n");
    Kernel { text, blocks, threads, old: false, warp: 4 }
}

//! Copies in flight are part of a state: a search that leaves out what nobody notices finds what one finds that leaves out nothing.

use crate::small::small;
use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use std::collections::BTreeSet;
use warpstep::explore::space::{Options, explore};
use warpstep::machine::walk::Grain;
use warpstep::machine::{Config, ControlModel};
use warpstep::memory::MemoryModel;

/// A random program of a few threads that copy, wait, meet, and look at each other's words; it has at least so many instructions, with
/// some more.
pub fn groups(rng: &mut ChaCha8Rng, least: u32) -> String {
    let mut body = String::new();
    for _ in 0..least + rng.next_u32() % 4 {
        let (word, other) = (rng.next_u32() % 2 * 4, rng.next_u32() % 3 * 4);
        body += &match rng.next_u32() % 8 {
            0 | 1 => format!("cp.async.ca.shared.global [%r1+{word}], [%m+{other}], 4;\n"),
            2 => format!("cp.async.ca.shared.global [s], [%m+{other}], 4;\n"),
            3 => "cp.async.commit_group;\n".to_owned(),
            4 => format!("cp.async.wait_group {};\n", rng.next_u32() % 2),
            5 => "cp.async.wait_all;\n".to_owned(),
            6 => format!("st.global.u32 [%m+{other}], %r0;\n"),
            _ => "bar.sync 0;\n".to_owned(),
        };
    }
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 m)\n{{\n\
         .shared .align 4 .b8 s[32];\n.reg .b32 %r<8>;\n.reg .b64 %m, %rd<4>;\nld.param.u64 %m, [m];\nmov.u32 %r0, %tid.x;\n\
         mov.u32 %r1, s;\nshl.b32 %r2, %r0, 3;\nadd.u32 %r1, %r1, %r2;\nadd.u32 %r0, %r0, 50;\n\
         mul.wide.u32 %rd0, %r2, 1;\nadd.u64 %rd0, %m, %rd0;\nst.global.u32 [%rd0], %r0;\n\
         {body}ld.shared.u32 %r3, [%r1];\nld.shared.u32 %r4, [s];\nmul.wide.u32 %rd0, %r2, 1;\nadd.u64 %rd0, %m, %rd0;\n\
         st.global.v2.u32 [%rd0+16], {{%r3, %r4}};\nret;\n}}\n"
    )
}

/// The same of a barrier in memory that copies, bulk copies and reductions tell, and of groups of bulk copies.
pub fn barriers(rng: &mut ChaCha8Rng, least: u32) -> String {
    let (mut body, mut arrivals, mut bytes) = (String::new(), 0, 0);
    let told = "mbarrier::complete_tx::bytes";
    for _ in 0..least + rng.next_u32() % 3 {
        let kind = rng.next_u32() % 10;
        arrivals += 2 * u32::from(matches!(kind, 1 | 2));
        bytes += match kind {
            0 => 32,
            3 => 8,
            _ => 0,
        };
        body += &match kind {
            0 => format!("cp.async.bulk.shared::cluster.global.{told} [s+16], [%m], 16, [b];\n"),
            1 => "cp.async.mbarrier.arrive.noinc.shared.b64 [b];\n".to_owned(),
            2 => "mbarrier.arrive.shared.b64 _, [b];\n".to_owned(),
            3 => format!("red.async.relaxed.cluster.{told}.shared::cluster.add.u32 [s+16], %r0, [b];\n"),
            4 => "cp.async.ca.shared.global [%r1], [%m+4], 4;\n".to_owned(),
            5 => "cp.async.bulk.global.shared::cta.bulk_group [%m+32], [s], 16;\ncp.async.bulk.commit_group;\n"
                .to_owned(),
            6 => "cp.async.bulk.wait_group 0;\n".to_owned(),
            7 => "cp.async.bulk.wait_group.read 0;\n".to_owned(),
            8 => "st.shared.u32 [%r1], %r0;\n".to_owned(),
            _ => "mbarrier.test_wait.parity.shared.b64 %p1, [b], 0;\nselp.u32 %r5, 1, 2, %p1;\n".to_owned(),
        };
    }
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 m)\n{{\n\
         .shared .align 16 .b8 s[32];\n.shared .align 8 .b64 b;\n.reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .b64 %m, %rd<4>;\n\
         ld.param.u64 %m, [m];\nmov.u32 %r0, %tid.x;\nsetp.eq.u32 %p0, %r0, 0;\n\
         @%p0 mbarrier.init.shared.b64 [b], {};\n@%p0 mbarrier.expect_tx.shared.b64 [b], {bytes};\nbar.sync 0;\n\
         mov.u32 %r1, s;\nshl.b32 %r2, %r0, 3;\nadd.u32 %r1, %r1, %r2;\nadd.u32 %r0, %r0, 50;\nmov.u32 %r5, 0;\n\
         mul.wide.u32 %rd0, %r2, 1;\nadd.u64 %rd0, %m, %rd0;\nst.global.u32 [%rd0], %r0;\n\
         {body}ld.shared.u32 %r3, [%r1];\nld.shared.u32 %r4, [s+16];\n\
         st.global.v2.u32 [%rd0+16], {{%r3, %r4}};\nst.global.u32 [%rd0+48], %r5;\nret;\n}}\n",
        arrivals.max(1)
    )
}

/// The contents of memory that runs may leave, and how many states there are; none where the search is too large.
fn outcomes(
    text: &str,
    (threads, most): (u32, u64),
    config: &Config,
    grain: Grain,
) -> Option<(BTreeSet<Vec<u8>>, usize)> {
    let mut poll = |_: &_| None;
    let mut options = Options { max_states: Some(most), ..Options::states(false, &mut poll) };
    let space =
        small(text, 1, threads, config.clone()).search(grain, |walk, outcome| explore(walk, &mut options, outcome));
    space.limit.is_none().then(|| (space.outcomes.keys().cloned().collect(), space.graph.states()))
}

/// Compares searches of so many random programs; gives how many have several outcomes, and of how many the smaller search is smaller.
fn compared(
    program: impl Fn(&mut ChaCha8Rng) -> String,
    (wanted, threads, most): (usize, u32, u64),
    memories: &[(MemoryModel, ControlModel)],
) -> (usize, usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(18);
    let (mut programs, mut several, mut smaller) = (0, 0, 0);
    while programs < wanted {
        let text = program(&mut rng);
        let mut all_done = true;
        for (memory, control) in memories {
            let config = Config { control: Some(*control), memory: memory.clone(), warp_size: 1, ..Config::default() };
            let [all, some] =
                [Grain::Instruction, Grain::Visible].map(|grain| outcomes(&text, (threads, most), &config, grain));
            let (Some(all), Some(some)) = (all, some) else {
                all_done = false;
                continue;
            };
            assert_eq!(all.0, some.0, "{memory:?} {control:?}\n{text}");
            several += usize::from(all.0.len() > 1);
            smaller += usize::from(some.1 < all.1);
        }
        programs += usize::from(all_done);
    }
    (several, smaller)
}

/// Memories whose copies land when they will.
const FREE: [(MemoryModel, ControlModel); 3] = [
    (MemoryModel::Flat, ControlModel::Its),
    (MemoryModel::Flat, ControlModel::Thread),
    (MemoryModel::Lsc, ControlModel::Its),
];

#[test]
fn what_is_left_out_loses_nothing() {
    let (several, smaller) = compared(|rng| groups(rng, 3), (26, 2, 3_000), &FREE);
    assert!(several > 20 && smaller > 20, "{several} {smaller}");
}

#[test]
fn what_is_left_out_loses_nothing_of_barriers_and_bulk_copies() {
    let (several, smaller) = compared(|rng| barriers(rng, 3), (26, 2, 3_000), &FREE);
    assert!(several > 20 && smaller > 20, "{several} {smaller}");
}

/// The same on memory that keeps copies from landing: few programs, of one thread where each access is many steps.
#[test]
fn what_is_left_out_loses_nothing_on_memory_with_caches() {
    for (name, wanted) in [("tiny", (16, 1, 3_000)), ("rsp", (8, 2, 9_000)), ("lsc-mutex", (8, 2, 9_000))] {
        let memory = [(MemoryModel::preset(name).unwrap(), ControlModel::Its)];
        let (several, smaller) = compared(|rng| groups(rng, 1), wanted, &memory);
        assert!(several > 0 && smaller > 0, "{name} {several} {smaller}");
        let (several, smaller) = compared(|rng| barriers(rng, 1), wanted, &memory);
        assert!(several > 0 && smaller > 0, "{name} {several} {smaller}");
    }
}

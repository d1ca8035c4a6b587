//! Copies on memory with caches (D-copy-caches): each rule shown by all that a small program can do, on each engine that has it.

use crate::small::{Small, small};
use std::collections::BTreeSet;
use warpstep::explore::space::{Options, explore};
use warpstep::machine::walk::Grain;
use warpstep::machine::{Config, ControlModel};
use warpstep::memory::MemoryModel;

/// Two blocks of one thread, or one where the second has nothing to do, `%m` being the address of memory. There are x at 0, a flag at 64,
/// which lies in another line of every cache, and y at 128; `%r3` is 1, and shared memory is at `s`. At the end what is in `%r1` and `%r2`
/// of the last block is at 192.
fn kernel(first: &str, second: &str) -> String {
    let gives = "st.global.v2.u32 [%m+192], {%r1, %r2};\n";
    let (split, first_gives, second) = match second {
        "" => ("", gives, String::new()),
        _ => (
            "mov.u32 %r0, %ctaid.x;\nsetp.eq.u32 %q, %r0, 1;\n@%q bra second;\n",
            "",
            format!("second:\n{second}\n{gives}"),
        ),
    };
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 m)\n{{\n\
         .shared .align 16 .b8 s[32];\n.reg .b32 %r<8>;\n.reg .b64 %m;\n.reg .pred %q, %p;\n\
         ld.param.u64 %m, [m];\nmov.u32 %r1, 9;\nmov.u32 %r2, 9;\nmov.u32 %r3, 1;\n{split}\
         {first}\n{first_gives}bra end;\n{second}end:\nret;\n}}\n",
    )
}

/// All that memory may hold at the end.
fn outcomes(text: &str, memory: &MemoryModel) -> BTreeSet<Vec<u8>> {
    let config = Config { control: Some(ControlModel::Its), memory: memory.clone(), warp_size: 1, ..Config::default() };
    let small = Small { bytes: 256, ..small(text, if text.contains("second") { 2 } else { 1 }, 1, config) };
    let mut poll = |_: &_| None;
    let mut options = Options { max_states: Some(100_000), ..Options::states(false, &mut poll) };
    let space = small.search(Grain::Visible, |walk, outcome| explore(walk, &mut options, outcome));
    assert!(space.limit.is_none() && space.found.is_empty(), "{memory:?} {:?}\n{text}", space.found);
    space.outcomes.into_keys().collect()
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// All contents of `%r1` and `%r2` of the last block, and of x.
fn ends(text: &str, memory: &MemoryModel) -> BTreeSet<[u32; 3]> {
    outcomes(text, memory).iter().map(|bytes| [192, 196, 0].map(|at| word(bytes, at))).collect()
}

fn memory(name: &str) -> MemoryModel {
    MemoryModel::preset(name).unwrap()
}

/// The small device, with the memory programs of another preset.
fn tiny(programs: &str) -> MemoryModel {
    let MemoryModel::Fermi(device, _) = memory("tiny") else { unreachable!("it has memory programs") };
    let mut device = (*device).clone();
    device.programs = programs.to_owned();
    MemoryModel::of(device).unwrap()
}

/// Writes x for everybody, and then the flag.
const PASSES: &str = "st.global.u32 [%m], %r3;\nmembar.gl;\nst.volatile.global.u32 [%m+64], %r3;";
/// Has x in the L1 cache, goes on where the flag is set, and copies x.
fn takes(kind: &str, fence: &str) -> String {
    format!(
        "ld.global.u32 %r4, [%m];\nld.global.u32 %r1, [%m+64];\nsetp.ne.u32 %p, %r1, 1;\n@%p bra end;\n{fence}\n\
         cp.async.{kind}.shared.global [s], [%m], 16;\ncp.async.wait_all;\nld.shared.u32 %r2, [s];"
    )
}

/// What was copied by who has seen the flag.
fn copied(text: &str, memory: &MemoryModel) -> BTreeSet<u32> {
    ends(text, memory).into_iter().filter(|[flag, ..]| *flag == 1).map(|[_, copied, _]| copied).collect()
}

#[test]
fn what_goes_by_way_of_l1_finds_what_that_has_and_what_goes_past_it_does_not() {
    l1_is_read();
}

pub fn l1_is_read() {
    for name in ["tiny", "rsp"] {
        let memory = memory(name);
        assert_eq!(copied(&kernel(PASSES, &takes("ca", "")), &memory), BTreeSet::from([0, 1]), "{name}");
        assert_eq!(copied(&kernel(PASSES, &takes("cg", "")), &memory), BTreeSet::from([1]), "{name}");
        assert_eq!(copied(&kernel(PASSES, &takes("ca", "membar.gl;")), &memory), BTreeSet::from([1]), "{name}");
    }
    // Nobody's copy is stale where stores make others' copies invalid, or where there are none.
    for memory in [tiny("invalidate"), memory("lsc-mutex")] {
        assert_eq!(copied(&kernel(PASSES, &takes("ca", "")), &memory), BTreeSet::from([1]), "{memory:?}");
    }
}

/// What a `.ca` copy has brought in is found by later loads of its multiprocessor.
#[test]
fn what_goes_by_way_of_l1_stays_there() {
    let takes = |kind: &str| {
        format!(
            "cp.async.{kind}.shared.global [s], [%m], 16;\ncp.async.wait_all;\nld.shared.u32 %r4, [s];\nsetp.ne.u32 %p, %r4, 0;\n@%p bra end;\n\
             ld.global.u32 %r1, [%m+64];\nsetp.ne.u32 %p, %r1, 1;\n@%p bra end;\nld.global.u32 %r2, [%m];"
        )
    };
    for name in ["tiny", "rsp"] {
        assert_eq!(copied(&kernel(PASSES, &takes("ca")), &memory(name)), BTreeSet::from([0, 1]), "{name}");
    }
    // Without evictions and fetches that nobody asks for, a copy past L1 leaves nothing there.
    assert_eq!(copied(&kernel(PASSES, &takes("cg")), &memory("tiny")), BTreeSet::from([1]));
}

/// A bulk copy from shared memory to x, which its thread has waited for.
const STORES: &str = "st.shared.v4.u32 [s], {%r3, %r3, %r3, %r3};\ncp.async.bulk.global.shared::cta.bulk_group [%m], [s], 16;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";

#[test]
fn what_is_written_leaves_others_stale_and_nothing_of_its_own() {
    l1_is_left();
}

pub fn l1_is_left() {
    let passes = format!("{STORES}membar.gl;\nst.volatile.global.u32 [%m+64], %r3;");
    let reads = |fence: &str| {
        format!(
            "ld.global.u32 %r4, [%m];\nld.global.u32 %r1, [%m+64];\nsetp.ne.u32 %p, %r1, 1;\n@%p bra end;\n{fence}\nld.global.u32 %r2, [%m];"
        )
    };
    for name in ["tiny", "rsp"] {
        assert_eq!(copied(&kernel(&passes, &reads("")), &memory(name)), BTreeSet::from([0, 1]), "{name}");
        assert_eq!(copied(&kernel(&passes, &reads("membar.gl;")), &memory(name)), BTreeSet::from([1]), "{name}");
    }
    for memory in [tiny("invalidate"), memory("lsc-mutex")] {
        assert_eq!(copied(&kernel(&passes, &reads("")), &memory), BTreeSet::from([1]), "{memory:?}");
    }
    let own = format!("ld.global.u32 %r1, [%m];\n{STORES}ld.global.u32 %r2, [%m];");
    for memory in [memory("tiny"), tiny("write-through"), tiny("invalidate"), memory("rsp"), memory("lsc-mutex")] {
        assert_eq!(ends(&kernel(&own, ""), &memory), BTreeSet::from([[0, 1, 1]]), "{memory:?}");
    }
}

/// What its thread did before a copy is before it: a store of what is copied, and a store of what is overwritten.
#[test]
fn a_copy_comes_after_what_its_thread_did_on_its_bytes() {
    order_is_kept();
}

pub fn order_is_kept() {
    let memories = || [memory("tiny"), tiny("write-through"), memory("rsp"), memory("lsc-mutex")];
    let copies = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%m], 16, [s+16];";
    let copies = [
        "cp.async.ca.shared.global [s], [%m], 16;\ncp.async.wait_all;".to_owned(),
        "cp.async.cg.shared.global [s], [%m], 16;\ncp.async.wait_all;".to_owned(),
        format!(
            "mbarrier.init.shared.b64 [s+16], 1;\nmbarrier.arrive.expect_tx.shared.b64 _, [s+16], 16;\n{copies}\n\
             again: mbarrier.test_wait.parity.shared.b64 %p, [s+16], 0;\n@!%p bra again;"
        ),
    ];
    for copy in copies {
        let body = format!("mov.u32 %r4, 5;\nst.global.u32 [%m], %r4;\n{copy}\nld.shared.u32 %r1, [s];");
        for memory in memories() {
            assert_eq!(ends(&kernel(&body, ""), &memory), BTreeSet::from([[5, 9, 5]]), "{memory:?}\n{body}");
        }
    }
    let body = format!("mov.u32 %r4, 5;\nst.global.u32 [%m], %r4;\n{STORES}ld.global.u32 %r1, [%m];");
    for memory in memories() {
        assert_eq!(ends(&kernel(&body, ""), &memory), BTreeSet::from([[1, 9, 1]]), "{memory:?}");
    }
    // What is loaded before the place is written, and what is stored before it is read, in shared memory.
    let body = "st.shared.u32 [s], %r3;\nld.shared.u32 %r1, [s];\nst.shared.u32 [s+16], %r1;\ncp.async.ca.shared.global [s], [%m], 16;\ncp.async.wait_all;";
    for memory in memories() {
        assert_eq!(ends(&kernel(body, ""), &memory), BTreeSet::from([[1, 9, 0]]), "{memory:?}");
    }
}

/// A reduction is atomic with others' atomic operations, whatever caches hold.
#[test]
fn reductions_lose_nothing() {
    let reduces = "st.shared.v4.u32 [s], {%r3, %r3, %r3, %r3};\ncp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%m], [s], 16;\ncp.async.bulk.commit_group;\n\
                   cp.async.bulk.wait_group 0;\n";
    for memory in [memory("tiny"), memory("rsp"), memory("lsc-mutex")] {
        for other in [
            reduces,
            "red.relaxed.gpu.global.add.u32 [%m], %r3;",
            "ld.global.u32 %r1, [%m];\nred.relaxed.gpu.global.add.u32 [%m], %r3;",
        ] {
            let found: BTreeSet<u32> = ends(&kernel(reduces, other), &memory).into_iter().map(|end| end[2]).collect();
            assert_eq!(found, BTreeSet::from([2]), "{memory:?}\n{other}");
        }
    }
    // A plain store of another block that is written back late overwrites the reduction: a lost update.
    let found: BTreeSet<u32> = ends(&kernel(reduces, "mov.u32 %r4, 7;\nst.global.u32 [%m], %r4;"), &memory("rsp"))
        .into_iter()
        .map(|end| end[2])
        .collect();
    assert_eq!(found, BTreeSet::from([7, 8]));
}

/// Behind mutexes a copy that writes is a store: whoever stores one and loads another, and finds nothing, has been first.
#[test]
fn a_copy_waits_for_the_mutexes_of_what_it_writes() {
    mutexes_are_waited_for();
}

pub fn mutexes_are_waited_for() {
    let copies = format!("{STORES}ld.global.u32 %r1, [%m+128];");
    let stores = "st.global.u32 [%m+128], %r3;\nld.global.u32 %r2, [%m];";
    let copies = format!("{copies}\nst.global.u32 [%m+200], %r1;");
    let text = kernel(&copies, stores);
    let both: BTreeSet<(u32, u32)> =
        outcomes(&text, &memory("lsc-mutex")).iter().map(|bytes| (word(bytes, 200), word(bytes, 196))).collect();
    assert_eq!(both, BTreeSet::from([(0, 1), (1, 0), (1, 1)]));
}

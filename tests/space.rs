//! Searches agree: ours with every instruction a step and with what others can notice a step, the reference through every state,
//! and through every schedule.

use crate::reference::{Found, Reference};
use crate::small::{Small, small};
use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;
use warpstep::choice::Seeded;
use warpstep::machine::walk::Grain;
use warpstep::machine::{Config, Context, ControlModel, MemoryModel};
use warpstep::verdict::{Silent, Stop};

/// What the reference finds, and in how many states.
fn reference(program: &Small) -> (Found<Vec<u8>>, usize) {
    let how = Reference::states(program.warps(), 1_000_000);
    program.search(Grain::Instruction, |walk, outcome| how.search(walk, outcome)).unwrap()
}

const LOCK: &str = "
.version 8.0
.target sm_60
.address_size 64
.entry k(.param .u64 m) {
    .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p;
    ld.param.u64 %rd0, [m];
L:  atom.global.cas.b32 %r0, [%rd0], 0, 1;
    setp.ne.u32 %p, %r0, 0;
    @%p bra L;
    ld.global.u32 %r1, [%rd0+4];
    add.u32 %r1, %r1, 1;
    st.global.u32 [%rd0+4], %r1;
    st.global.u32 [%rd0], 0;
    ret;
}";

/// States of the lock, by control model and threads of a warp, with every instruction a step and with what others can notice
/// one. Warps of one thread differ in nothing.
const COUNTS: &str = "{(\"Crs\", 1): [174, 16], (\"Crs\", 2): [8, 2], (\"Its\", 1): [174, 16], (\"Its\", 2): [43, 11], \
    (\"ItsSplit\", 1): [174, 16], (\"ItsSplit\", 2): [174, 48], (\"Thread\", 1): [174, 16], (\"Thread\", 2): [174, 16]}";

/// Steps of a search through all schedules at most.
const SCHEDULES: u64 = 1_000;

/// What each search should find, how many states ours saw, and whether all schedules could be gone through.
fn agreed(program: &Small, what: &str) -> (Found<Vec<u8>>, [usize; 2], bool) {
    let (wanted, states) = reference(program);
    let count = |grain| {
        let space = program.space(grain, None, program.warps());
        assert_eq!(Found::of(&space).as_ref(), Some(&wanted), "{grain:?}, {what}");
        space.graph.states()
    };
    let counts = [count(Grain::Instruction), count(Grain::Visible)];
    assert_eq!(counts[0], states, "{what}");
    assert!(counts[1] <= counts[0], "{counts:?} {what}");
    let how = Reference::schedules(program.warps(), SCHEDULES);
    let schedules = program.search(Grain::Visible, |walk, outcome| how.search(walk, outcome));
    if let Some((found, _)) = &schedules {
        assert_eq!(*found, wanted.clone().ends(), "schedules, {what}");
    }
    (wanted, counts, schedules.is_some())
}

#[test]
fn a_spin_lock_by_every_search() {
    let mut counts = BTreeMap::new();
    for control in [ControlModel::Crs, ControlModel::Its, ControlModel::ItsSplit, ControlModel::Thread] {
        for warp_size in [1, 2] {
            let config = Config { control: Some(control), warp_size, ..Config::default() };
            let (Found { outcomes, defects, endless }, states, _) =
                agreed(&small(LOCK, 1, 2, config), &format!("{control:?}, warps of {warp_size}"));
            assert!(defects.is_empty(), "{defects:?}");
            // Under the report's stack one lane of a warp waits for the other, which waits for it.
            let deadlock = control == ControlModel::Crs && warp_size == 2;
            assert_eq!((outcomes.len(), endless), (usize::from(!deadlock), Some(deadlock)));
            counts.insert((format!("{control:?}"), warp_size), states);
        }
    }
    assert_eq!(format!("{counts:?}"), COUNTS);
}

/// A random program of a few accesses a thread, with what each read left in memory of its own.
fn random(seed: u64) -> (String, u32, u32) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut below = |n: u32| rng.next_u32() % n;
    let threads = 2 + below(4) / 3;
    let warp_size = [1, 1, 2][below(3) as usize];
    let barrier = below(4) == 0;
    let shared = below(4) == 0;
    let mut text = String::from(
        ".version 8.0\n.target sm_60\n.address_size 64\n.entry k(.param .u64 m) {\n.shared .align 4 .b8 s[8];\n\
         .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<4>;\nld.param.u64 %rd0, [m];\nmov.u32 %r0, %tid.x;\n\
         mul.wide.u32 %rd1, %r0, 4;\nadd.s64 %rd1, %rd0, %rd1;\nmov.u32 %r5, 0;\n",
    );
    for thread in 0..threads - 1 {
        let _ = writeln!(text, "setp.eq.u32 %p{thread}, %r0, {thread};\n@%p{thread} bra T{thread};");
    }
    for thread in (0..threads).rev() {
        let _ = writeln!(text, "T{thread}:");
        for k in 0..1 + below(2) {
            let (space, address) = if shared {
                ("shared", format!("[s+{}]", 4 * below(2)))
            } else {
                ("global", format!("[%rd0+{}]", 4 * below(2)))
            };
            let value = 1 + below(3);
            let _ = match below(6) {
                0 | 1 => writeln!(text, "ld.{space}.u32 %r1, {address};\nmad.lo.u32 %r5, %r5, 5, %r1;"),
                2 => writeln!(text, "st.{space}.u32 {address}, {value};"),
                3 => writeln!(text, "atom.{space}.add.u32 %r1, {address}, {value};\nmad.lo.u32 %r5, %r5, 5, %r1;"),
                4 => writeln!(
                    text,
                    "ld.{space}.u32 %r1, {address};\nsetp.ne.u32 %p3, %r1, 0;\n@%p3 bra S{thread}_{k};\n\
                     st.{space}.u32 {address}, {value};\nS{thread}_{k}:"
                ),
                // Somebody else may let it out, or nobody.
                _ => writeln!(
                    text,
                    "W{thread}_{k}:\natom.{space}.cas.b32 %r1, {address}, {value}, 0;\nsetp.ne.u32 %p3, %r1, {value};\n\
                     @%p3 bra W{thread}_{k};"
                ),
            };
        }
        if barrier && below(4) != 0 {
            let _ = writeln!(text, "bar.sync 0;");
        }
        let _ = writeln!(text, "bra.uni END;");
    }
    text.push_str("END:\nst.global.u32 [%rd1+16], %r5;\nret;\n}\n");
    (text, threads, warp_size)
}

#[test]
fn random_programs_by_every_search() {
    let (mut endless, mut several, mut whole) = (0, 0, 0);
    for seed in 0..300 {
        let (text, threads, warp_size) = random(seed);
        let control = [ControlModel::Crs, ControlModel::Its, ControlModel::Thread][(seed % 3) as usize];
        let config = Config { control: Some(control), warp_size, ..Config::default() };
        let program = small(&text, 1, threads, config);
        let (found, _, all) = agreed(&program, &format!("seed {seed}, {control:?} of {warp_size}:\n{text}"));
        endless += usize::from(found.endless == Some(true));
        several += usize::from(found.outcomes.len() > 1);
        whole += usize::from(all);
    }
    // The programs are worth it: some of each kind.
    assert!(endless > 30 && several > 60 && whole > 100, "{endless} {several} {whole}");
}

/// What is wrong with a search shows: one that never takes a warp's turn away, one that promises progress to warps where
/// lanes have it.
#[test]
fn a_search_that_leaves_something_out_is_noticed() {
    let mut noticed = 0;
    for seed in 0..30 {
        let (text, threads, _) = random(seed);
        let config = Config { control: Some(ControlModel::Crs), warp_size: 1, ..Config::default() };
        let program = small(&text, 1, threads, config);
        let mut space = program.space(Grain::Visible, Some(0), true);
        space.limit = None;
        noticed += usize::from(Found::of(&space) != Some(reference(&program).0));
    }
    assert!(noticed > 3, "{noticed}");
    let config = Config { control: Some(ControlModel::Thread), warp_size: 2, ..Config::default() };
    let lock = small(LOCK, 1, 2, config);
    assert_ne!(Found::of(&lock.space(Grain::Visible, None, true)), Some(reference(&lock).0));
}

#[test]
fn runs_by_seed_lie_within_what_a_search_finds() {
    let mut seeds = 0;
    for program in 0..40 {
        let (text, threads, warp_size) = random(program);
        let config = Config {
            control: Some(ControlModel::Its),
            warp_size,
            max_steps: Some(2_000),
            eager: true,
            ..Config::default()
        };
        let program = small(&text, 1, threads, config);
        let space = program.space(Grain::Visible, None, program.warps());
        let Found { outcomes, defects, endless } = Found::of(&space).unwrap();
        for seed in 0..250 {
            let mut context = Context::new(Arc::clone(&program.env), program.config.clone()).unwrap();
            let (address, launch) = program.launch(&mut context);
            let ended = context.launch_by(&launch, Silent, &mut Seeded::new(seed), &mut |_| ());
            seeds += 1;
            match ended {
                Ok(_) => {
                    let memory = context.bytes(address, program.bytes).unwrap().to_vec();
                    assert!(outcomes.contains(&memory), "seed {seed}: {memory:?}\n{text}");
                }
                Err(Stop::Limit(_)) => assert_eq!(endless, Some(true), "seed {seed} goes on and on\n{text}"),
                Err(stop) => assert!(defects.contains(&format!("{:?}", stop.identity())), "{stop:?}\n{text}"),
            }
        }
    }
    assert_eq!(seeds, 10_000);
}

/// Two warps of a block hand words to each other by shared memory: a search that carries warps on finds what one finds that does not,
/// also where accesses of shared memory take effect at once and those of global memory later.
#[test]
fn accesses_of_shared_memory_are_noticed_on_every_memory() {
    let text = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 m)\n{\n.shared .align 4 .b8 s[8];\n\
                .reg .b32 %r<8>;\n.reg .b64 %m, %d;\nld.param.u64 %m, [m];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, s;\n\
                shl.b32 %r2, %r0, 2;\nadd.u32 %r3, %r1, %r2;\nxor.b32 %r2, %r2, 4;\nadd.u32 %r1, %r1, %r2;\nmov.u32 %r4, 1;\n\
                st.shared.u32 [%r3], %r4;\nld.shared.u32 %r5, [%r1];\nmul.wide.u32 %d, %r0, 4;\nadd.u64 %d, %m, %d;\n\
                st.global.u32 [%d], %r5;\nret;\n}\n";
    for name in ["flat", "lsc", "slsc", "rsp", "lsc-mutex"] {
        let memory = MemoryModel::preset(name).unwrap();
        let config = Config { control: Some(ControlModel::Its), warp_size: 1, memory, ..Config::default() };
        let program = small(text, 1, 2, config);
        let outcomes = |grain| program.space(grain, None, false).outcomes.into_keys().collect::<BTreeSet<_>>();
        let [all, some] = [Grain::Instruction, Grain::Visible].map(outcomes);
        assert_eq!(all, some, "{name}");
        assert_eq!(all.len(), 3, "{name}");
    }
}

//! Deliberate errors and the smallest programs that tell them apart (`--features mutants`).
//!
//! Every mutant is told apart by a program whose results, instruction count or verdict it changes; that program is right
//! without it.

use libtest_mimic::{Arguments, Failed, Trial};
use std::sync::Arc;
use warpstep::base::FileId;
use warpstep::base::mutant::{Mutant, select};
use warpstep::check::{Check, Observers};
use warpstep::machine::{Config, Context, ControlModel, Launch};
use warpstep::program::check::check;
use warpstep::program::{Options, build};
use warpstep::ptx::parse;
use ways_mutants::{compare, generate};

/// A program that tells a mutant apart.
struct Killer {
    mutant: Mutant,
    /// Functions before the kernel.
    before: &'static str,
    /// The kernel's body: `%t` is the thread, `%out` its word of the results, `%r`, `%rd`, `%p` are free.
    body: &'static str,
    grid: [u32; 3],
    threads: u32,
    control: ControlModel,
    /// The first results.
    expected: &'static [u32],
}

/// A killer of a small block under `crs`.
const fn crs(mutant: Mutant, threads: u32, expected: &'static [u32], body: &'static str) -> Killer {
    Killer { mutant, before: "", body, grid: [1; 3], threads, control: ControlModel::Crs, expected }
}

/// One that calls a function.
const fn calls(mutant: Mutant, expected: &'static [u32], before: &'static str, body: &'static str) -> Killer {
    Killer { before, ..crs(mutant, expected.len() as u32, expected, body) }
}

fn run(k: &Killer, safety: bool) -> Result<(Vec<u32>, u64), String> {
    let text = format!(
        ".version 7.0\n.target sm_50\n.address_size 64\n{}\n.visible .entry k(.param .u64 p)\n{{\n\
         .reg .b32 %t, %r<8>; .reg .b64 %out, %rd<4>; .reg .pred %p<4>; .shared .b32 tile[128];\n\
         ld.param.u64 %out, [p]; mov.u32 %t, %tid.x; mad.wide.u32 %out, %t, 4, %out;\n{}\nret;\n}}\n",
        k.before, k.body
    );
    let (module, errors) = parse(&text);
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    let inject = k.control == ControlModel::Crs;
    let (env, errors) = build(&[(FileId(0), &module, &check(&module).0)], &Options { inject, ..Options::default() });
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    let env = Arc::new(env);
    let config = Config { control: Some(k.control), max_steps: Some(2_000), ..Config::default() };
    let mut context = Context::new(Arc::clone(&env), config).map_err(|s| format!("{s:?}"))?;
    let bytes = u64::from(k.threads.max(32)) * 4;
    let out = context.alloc("out", bytes).map_err(|s| format!("{s:?}"))?;
    let params = out.to_le_bytes().to_vec();
    let launch = Launch { entry: "k".into(), grid: k.grid, block: [k.threads, 1, 1], shared_bytes: 0, params };
    // Observed, though nothing is checked: unobserved runs have shortcuts of their own.
    let mut observers = Observers::none().with_coverage(&env);
    if safety {
        observers = observers.check(Check::Safety, &env);
    }
    let stats = context.launch_with(&launch, &mut observers, &mut |_| ()).map_err(|s| format!("{s:?}"))?;
    let words = context.bytes(out, bytes).unwrap_or_default().chunks_exact(4);
    let words = words.map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
    Ok((words, stats.warp_instructions))
}

/// A function that gets the address of the thread's word.
macro_rules! function {
    ($name:literal, $body:literal) => {
        concat!(
            ".func ",
            $name,
            "(.param .b64 to) {\n.reg .b32 %t, %r<8>; .reg .b64 %out; .reg .pred %p<4>;\n",
            "ld.param.u64 %out, [to]; mov.u32 %t, %tid.x;\n",
            $body,
            "\nret;\n}\n"
        )
    };
}

const CALL_F: &str = "{ .param .b64 a; st.param.b64 [a], %out; call f, (a); }";

#[rustfmt::skip]
fn killers() -> Vec<Killer> {
    use Mutant as M;
    vec![
        // Thread 0 exits with everybody on its path; thread 1 must not bring it back.
        crs(M::UniformStaysEnabled, 2, &[0, 7],
            "setp.eq.u32 %p0, %t, 0; @%p0 bra A; mov.u32 %r0, 1; bra S;
             A: setp.eq.u32 %p1, %t, 0; @%p1 exit;
             S: st.global.u32 [%out], 7;"),
        // Thread 1 returns with everybody on its path; thread 0, which is at the sync already, must not pass another.
        calls(M::SyncFlag, &[7, 0],
            function!("f", "setp.eq.u32 %p0, %t, 0; @%p0 bra A; setp.ne.u32 %p1, %t, 0; @%p1 ret; mov.u32 %r0, 1;
                            A: st.global.u32 [%out], 7;"), CALL_F),
        calls(M::DoubleFrame, &[11, 22],
            concat!(function!("f", "st.global.u32 [%out], 11;"), function!("g", "st.global.u32 [%out], 22;")),
            "mov.u64 %rd0, f; setp.eq.u32 %p0, %t, 1; @%p0 mov.u64 %rd0, g;
             { .param .b64 a; st.param.b64 [a], %out; proto: .callprototype _ (.param .b64 _); call %rd0, (a), proto; }"),
        // Figure 5.4: thread 1 returns from within a branch.
        calls(M::SyncWakesDisabled, &[7, 0, 7],
            function!("f", "setp.eq.u32 %p0, %t, 2; @%p0 bra A; setp.eq.u32 %p1, %t, 1; @%p1 ret; mov.u32 %r0, 1;
                            A: st.global.u32 [%out], 7;"), CALL_F),
        // Thread 1 returns from within a loop that the others break out of.
        calls(M::BreakWakesReturned, &[7, 0, 7],
            function!("f", "mov.u32 %r0, 0;
                            L: setp.eq.u32 %p1, %t, 1; @%p1 ret; setp.ge.u32 %p0, %r0, %t; @%p0 bra E;
                            add.u32 %r0, %r0, 1; bra L;
                            E: st.global.u32 [%out], 7;"), CALL_F),
        calls(M::CallTokenOfCallers, &[9, 9],
            function!("f", "st.global.u32 [%out], 7;"),
            "setp.eq.u32 %p0, %t, 0;
             { .param .b64 a; st.param.b64 [a], %out; @%p0 call f, (a); } st.global.u32 [%out], 9;"),
        // Only the number of instructions differs: the guard of the branch still keeps thread 1 out.
        crs(M::DivergeToSelf, 2, &[7, 7],
            "setp.eq.u32 %p0, %t, 0; @%p0 bra A; mov.u32 %r0, 1; A: st.global.u32 [%out], 7;"),
        crs(M::DeferredPassBy, 2, &[1, 2],
            "T: .branchtargets A, B; brx.idx %t, T;
             A: st.global.u32 [%out], 1; bra E; B: st.global.u32 [%out], 2; E:"),
        crs(M::ExitStaysEnabled, 3, &[7, 0, 7],
            "setp.eq.u32 %p0, %t, 2; @%p0 bra A; setp.eq.u32 %p1, %t, 1; @%p1 exit; mov.u32 %r0, 1;
             A: st.global.u32 [%out], 7;"),
        // Both paths return: the sync token activates nobody.
        calls(M::UnwindOnce, &[7, 7],
            function!("f", "setp.eq.u32 %p0, %t, 0; setp.lt.u32 %p1, %t, 2; @%p0 bra A; @%p1 ret; mov.u32 %r0, 1; bra S;
                            A: @%p1 ret; mov.u32 %r0, 2; S: st.global.u32 [%out], %r0;"),
            concat!("{ .param .b64 a; st.param.b64 [a], %out; call f, (a); }", " st.global.u32 [%out], 7;")),
        crs(M::GuardIgnored, 2, &[7, 0], "setp.eq.u32 %p0, %t, 0; @%p0 st.global.u32 [%out], 7;"),
        crs(M::InactiveVotes, 2, &[1, 0],
            "setp.ne.u32 %p0, %t, 0; setp.lt.u32 %p1, %t, 2; @%p0 bra A;
             vote.ballot.b32 %r0, %p1; st.global.u32 [%out], %r0; A:"),
        Killer { control: ControlModel::Its, ..crs(M::MembersNotAwaited, 2, &[3, 3],
            "setp.eq.u32 %p0, %t, 0; setp.lt.u32 %p1, %t, 2; bra S;
             A: vote.sync.ballot.b32 %r0, %p1, 3; st.global.u32 [%out], %r0; exit;
             S: @%p0 bra A; mov.u32 %r1, 1; bra A;") },
        // One lane of each warp arrives.
        crs(M::BarrierCountsLanes, 64, &[7],
            "and.b32 %r0, %t, 31; setp.ne.u32 %p0, %r0, 0; @%p0 bra E; bar.sync 0; st.global.u32 [%out], 7; E:"),
        crs(M::BarrierAwaitsExited, 64, &[7],
            "setp.ge.u32 %p0, %t, 32; @%p0 exit; bar.sync 0; st.global.u32 [%out], 7;"),
        // The first warp writes between two barriers what the second one, which goes first then, reads after them.
        crs(M::BarrierNeverReset, 64, &[5],
            "bar.sync 0; setp.ne.u32 %p0, %t, 0; setp.ne.u32 %p1, %t, 32;
             @!%p0 st.shared.u32 [tile], 5; bar.sync 0; @%p1 exit;
             ld.shared.u32 %r0, [tile]; st.global.u32 [%out+-128], %r0;"),
        crs(M::ReduceCountsAbsent, 33, &[1],
            "setp.lt.u32 %p0, %t, 33; bar.red.and.pred %p1, 0, %p0; selp.u32 %r0, 1, 0, %p1; st.global.u32 [%out], %r0;"),
        // Each block writes its x to the word of its x.
        Killer { grid: [2, 1, 1], ..crs(M::BlockTransposed, 1, &[0, 1],
            "mov.u32 %r0, %ctaid.x; mad.wide.u32 %out, %r0, 4, %out; st.global.u32 [%out], %r0;") },
    ]
}

mod affine_mutants;
mod ahead_mutants;
#[expect(dead_code, reason = "what ran is counted where no error is planted")]
#[path = "shared/ahead_programs.rs"]
mod ahead_programs;
#[expect(dead_code, reason = "its tests are run without a mutant")]
mod alive;
mod caches;
#[path = "shared/claims.rs"]
mod claims;
mod cluster_mutants;
mod copies_mutants;
#[expect(dead_code, reason = "its tests are run without a mutant")]
mod deeds;
#[path = "shared/ends.rs"]
mod ends;
mod host_mutants;
#[expect(dead_code, reason = "the other tests of the mechanism are run without a mutant")]
#[path = "lockstep_mechanism/model.rs"]
mod lockstep_model;
mod lockstep_mutants;
#[expect(dead_code, reason = "its tests are run without a mutant")]
mod lockstep_ptx;
#[expect(dead_code, reason = "the other tests of the mechanism are run without a mutant")]
#[path = "lockstep_mechanism/shapes.rs"]
mod lockstep_shapes;
#[expect(dead_code, reason = "its tests are run without a mutant")]
mod meetings;
#[path = "shared/native_functions.rs"]
mod native_functions;
#[path = "shared/native_groups.rs"]
mod native_groups;
#[path = "shared/native_modes.rs"]
mod native_modes;
mod native_mutants;
#[expect(dead_code, reason = "turns are counted where no error is planted")]
#[path = "shared/native_programs.rs"]
mod native_programs;
#[expect(dead_code, unused_imports, reason = "its other tests are run without a mutant")]
mod programs;
mod programs_world;
#[expect(dead_code, reason = "its tests are run without a mutant")]
mod races_agree;
#[expect(dead_code, reason = "searches are compared without a mutant")]
#[path = "shared/reference.rs"]
mod reference;
mod rsp_mutants;
#[expect(dead_code, reason = "its tests are run without a mutant")]
mod rsp_ptx;
#[expect(dead_code, reason = "its other tests are run without a mutant")]
mod scripts;
#[expect(dead_code, reason = "what is beside the repository is not read")]
mod shared;
#[path = "shared/small.rs"]
mod small;
#[expect(dead_code, reason = "its other tests are run without a mutant")]
mod symmetry;
mod wavefront_mutants;
mod ways_mutants;
#[expect(dead_code, reason = "its other tests are run without a mutant")]
mod weak;

fn main() {
    let mut arguments = Arguments::from_args();
    // The mutant is the process's.
    arguments.test_threads = Some(1);
    let mut trials: Vec<Trial> = Vec::new();
    for k in killers() {
        trials.push(Trial::test(k.mutant.name(), move || {
            select(None);
            let right = run(&k, true)?;
            if !right.0.starts_with(k.expected) {
                return Err(format!("without the mutant: {right:?}").into());
            }
            select(Some(k.mutant));
            // What a mutant breaks may break the machine itself: that is noticed, too.
            let wrong = std::panic::catch_unwind(|| run(&k, false));
            select(None);
            match wrong {
                Ok(Ok(same)) if same == right => Err("nothing tells it apart".into()),
                _ => Ok(()),
            }
        }));
    }
    // The checker of chapter 6 needs no expectation: it says what is wrong itself.
    trials.push(Trial::test("--check safety notices the mutants of the token stack", || {
        let of_the_stack = |m: Mutant| {
            (m as usize) <= Mutant::UnwindOnce as usize && m as usize >= Mutant::UniformStaysEnabled as usize
        };
        let mut unnoticed = Vec::new();
        for k in killers().into_iter().filter(|k| of_the_stack(k.mutant)) {
            select(Some(k.mutant));
            let noticed = std::panic::catch_unwind(|| run(&k, true));
            select(None);
            if !matches!(&noticed, Ok(Err(why)) if why.contains("Unsafe")) {
                unnoticed.push(format!("{}: {noticed:?}", k.mutant.name()));
            }
        }
        if unnoticed.is_empty() { Ok(()) } else { Err(Failed::from(unnoticed.join("\n"))) }
    }));
    trials.push(Trial::test("every mutant has a killer", || {
        // Other families' programs are of another kind and lie in files of their own.
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
        let files = std::fs::read_dir(folder)?.flatten().filter_map(|e| std::fs::read_to_string(e.path()).ok());
        let all: Vec<String> = files.collect();
        let named = |m: &Mutant| {
            let uses = [",", ")", "]"].map(|end| format!("::{m:?}{end}"));
            all.iter().any(|text| uses.iter().any(|named| text.contains(named)))
        };
        let missing: Vec<_> = Mutant::ALL.iter().filter(|m| !named(m)).map(|m| m.name()).collect();
        if missing.is_empty() { Ok(()) } else { Err(Failed::from(format!("{missing:?}"))) }
    }));
    let families: [(&str, fn()); 20] = [
        ("blocks that run ahead", ahead_mutants::are_noticed),
        ("uniform and affine registers", affine_mutants::are_noticed),
        ("native code", native_mutants::are_noticed),
        ("barriers of clusters", cluster_mutants::are_told_apart),
        ("asynchronous copies", copies_mutants::are_told_apart),
        ("levels above the block", host_mutants::mutants_are_told_apart),
        ("host scripts", scripts::mutants::are_found),
        ("caches", caches::mutants::are_noticed),
        ("memory programs", programs::mutants::are_noticed),
        ("ways to decide", ways_mutants::are_noticed),
        ("threads in lockstep", wavefront_mutants::are_noticed),
        ("remote-scope promotion", rsp_mutants::are_noticed),
        ("kernels with remote-scope promotion", rsp_ptx::mutants::are_noticed),
        ("the mutex mechanism for kernels", lockstep_ptx::mutants::are_noticed),
        ("the mutex mechanism", lockstep_mutants::are_noticed),
        ("races of all schedules", races_agree::mutants::are_noticed),
        ("what is told of accesses", deeds::mutants::are_noticed),
        ("dead registers", alive::mutants_are_noticed),
        ("agents that are alike", symmetry::mutants_are_noticed),
        ("lanes that meet", meetings::mutants_are_noticed),
    ];
    for (name, noticed) in families {
        trials.push(Trial::test(name, move || {
            noticed();
            Ok(())
        }));
    }
    trials.push(Trial::test("weak memory", weak::mutants));
    libtest_mimic::run(&arguments, trials).exit();
}

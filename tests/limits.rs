//! Limits of time, memory and patience, of every command that runs anything. `LIMITS_FULL=1` goes through all commands and
//! memories with 2 s and 300 MB, and asks for wall time, too: on a machine that is idle.

#[path = "limits/measured.rs"]
mod measured;

use measured::{Ran, measured};
use std::path::Path;
use std::time::Duration;

const WARPSTEP: &str = env!("CARGO_BIN_EXE_warpstep");

/// Counts for ever.
const COUNT: &str = "{ .reg .b64 %rd<2>; mov.u64 %rd1, 0; L: add.u64 %rd1, %rd1, 1; bra L; }";
/// Waits for ever: all warps but the first at a barrier.
const WAIT: &str = "(.param .u64 p) { .reg .b64 %rd<2>; .reg .b32 %r<4>; .reg .pred %p<3>;
    ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32;
    mov.u32 %r3, 0;
@!%p1 bra B;
L:  ld.volatile.global.u32 %r2, [%rd1]; add.u32 %r3, %r3, 1; setp.eq.u32 %p2, %r2, 0;
@%p2 bra L;
B:  bar.sync 0; ret; }";
const EMPTY: &str = "{ ret; }";
const STORE: &str =
    "(.param .u64 p) { .reg .b64 %rd<2>; .reg .b32 %r<2>; ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x;
    st.global.u32 [%rd1], %r1; ret; }";
/// Half a megabyte of local memory for each thread.
const LOCAL: &str = "{ .local .b8 a[524288]; .reg .b64 %rd<2>; .reg .b32 %r<2>; mov.u64 %rd1, a; mov.u32 %r1, %tid.x;
    st.local.u32 [%rd1], %r1; ret; }";
/// As much as a number of bytes can say.
const LOCAL_ALL: &str = "{ .local .b8 a[2147483647]; .reg .b64 %rd<2>; mov.u64 %rd1, a; st.local.u8 [%rd1], 1; ret; }";

/// Every thread synchronises with every other, for ever.
const MEET: &str = "(.param .u64 p) { .reg .b64 %rd<2>; .reg .b32 %r<2>; ld.param.u64 %rd1, [p];
L:  atom.relaxed.gpu.global.add.u32 %r1, [%rd1], 1; fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%rd1+4], %r1; bra L; }";

/// Copies for ever, and waits for nothing.
const COPIES: &str = "(.param .u64 p) { .shared .align 4 .b8 s[4]; .reg .b64 %rd<2>; .reg .b32 %r<2>; ld.param.u64 %rd1, [p]; mov.u32 %r1, s;
L:  cp.async.ca.shared.global [%r1], [%rd1], 4; cp.async.commit_group; bra L; }";

/// Stores for ever, to two lines.
const STORES: &str = "(.param .u64 p) { .reg .b64 %rd<2>; ld.param.u64 %rd1, [p];
L:  st.global.u32 [%rd1], 1; st.global.u32 [%rd1+64], 1; bra L; }";

/// Twelve reads of eleven writes, each of another: none, and no solver that resolves clauses sees that soon (A. Haken, "The
/// intractability of resolution", 1985).
fn pigeons() -> String {
    const READS: usize = 12;
    let heads: String = (1..=READS).map(|k| format!(" | P{k}@cta {k},gpu 0")).collect();
    let more: String = (2..READS).map(|v| format!("st.relaxed.gpu x, {v}{};\n", " | ".repeat(READS))).collect();
    let firsts = " | ld.relaxed.gpu r0, x".repeat(READS);
    let some = (1..=READS).map(|k| format!("P{k}:r0!=0"));
    let pairs = (1..=READS).flat_map(|k| (1..k).map(move |j| (j, k)));
    let both = |v: usize| move |(j, k): (usize, usize)| format!("~(P{j}:r0={v} /\\ P{k}:r0={v})");
    let apart = (1..READS).flat_map(|v| pairs.clone().map(both(v)));
    let asked: Vec<String> = some.chain(apart).collect();
    format!(
        "PTX pigeons\n{{ x=0; }}\nP0@cta 0,gpu 0{heads} ;\nst.relaxed.gpu x, 1{firsts} ;\n{more}exists ({})\n",
        asked.join(" /\\ ")
    )
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let head = ".version 7.0\n.target sm_70\n.address_size 64\n";
    let kernel = |name: &str, body: &str| {
        let text = format!("{head}.visible .entry k{}{body}\n", if body.starts_with('(') { "" } else { "() " });
        std::fs::write(folder.path().join(name), text).unwrap();
    };
    for (name, body) in [
        ("count.ptx", COUNT),
        ("wait.ptx", WAIT),
        ("empty.ptx", EMPTY),
        ("store.ptx", STORE),
        ("local.ptx", LOCAL),
        ("local_all.ptx", LOCAL_ALL),
        ("meet.ptx", MEET),
        ("stores.ptx", STORES),
    ] {
        kernel(name, body);
    }
    let text = format!(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k{COPIES}\n");
    std::fs::write(folder.path().join("copies.ptx"), text).unwrap();
    // Each function calls the one before twice: 2^40 calls.
    let twice = |n: u32| format!(".func f{n}() {{ call f{0}, (); call f{0}, (); ret; }}\n", n - 1);
    let all: String = (1..40).map(twice).collect();
    let text = format!("{head}.func f0() {{ ret; }}\n{all}.visible .entry k() {{ call f39, (); ret; }}\n");
    std::fs::write(folder.path().join("twice.ptx"), text).unwrap();
    std::fs::write(folder.path().join("pigeons.litmus"), pigeons()).unwrap();
    // Calls itself until the stack is full, with many registers that outlive the call.
    let registers = (0..200).map(|k| format!("mov.u32 %r{k}, %tid.x; ")).collect::<String>();
    let kept = (0..200).map(|k| format!("add.u32 %r0, %r0, %r{k}; ")).collect::<String>();
    let text = format!(
        "{head}.func deep() {{ .reg .b32 %r<200>; {registers} call deep, (); {kept} ret; }}\n\
         .visible .entry k() {{ call deep, (); ret; }}\n"
    );
    std::fs::write(folder.path().join("deep.ptx"), text).unwrap();
    folder
}

fn example(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join(name).display().to_string()
}

fn run(folder: &Path, words: &str) -> Ran {
    let words: Vec<String> = words
        .split_whitespace()
        .map(|w| {
            let ours = ["ptx-examples/", "tests/", "benches/"].iter().any(|folder| w.starts_with(folder));
            if ours { example(w) } else { w.to_owned() }
        })
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    measured(folder, WARPSTEP, &words, None)
}

fn cores() -> u32 {
    u32::try_from(std::thread::available_parallelism().map_or(1, std::num::NonZero::get)).unwrap()
}

/// Whether a run kept its limits: of memory in MB, of time. Wall time says something on an idle machine only.
fn keeps(ran: &Ran, words: &str, megabytes: u64, time: Duration) {
    let Ran { said, wall, cpu, peak, code } = ran;
    assert!(code.is_some_and(|c| c < 100), "{words}: {code:?}\n{said}");
    let most = (time + Duration::from_secs(1)) * if words.contains("--jobs 1") { 1 } else { cores() };
    match cpu {
        Some(cpu) => assert!(*cpu <= most, "{words}: {cpu:?} of CPU time\n{said}"),
        None => eprintln!("skipped: this system does not tell CPU time"),
    }
    if std::env::var_os("LIMITS_FULL").is_some() {
        assert!(*wall <= time + Duration::from_secs(1), "{words}: {wall:?}\n{said}");
    }
    let allowed = megabytes * 1_300_000 + 100_000_000;
    match peak {
        Some(peak) => assert!(*peak <= allowed, "{words}: {} MB resident\n{said}", peak / 1_000_000),
        None => eprintln!("skipped: this system does not tell resident memory"),
    }
}

/// Large kernels launched by flags, with a buffer where they want one.
const P: &str = "--buffer p:u32:1 --arg buffer:p";

#[test]
fn time_and_steps_end_every_command() {
    let folder = folder();
    let second = Duration::from_secs(1);
    for words in [
        "hunt count.ptx --block 32 --for 1s",
        "prove count.ptx --block 32 --timeout 1s",
        "prove count.ptx --block 32 --max-steps 1000",
        "compare count.ptx --block 32 --for 1s",
        "run empty.ptx --grid 2147483647 --timeout 1s",
        "run empty.ptx --grid 2147483647 --timeout 1s --threads 2 --engine native",
        "run count.ptx --grid 8 --block 32 --timeout 1s --threads 2 --engine native",
        &format!("run store.ptx {P} --grid 10000000 --block 1024 --timeout 1s"),
        "prove twice.ptx --for 1s",
        "replay --seed 0 count.ptx --block 32 --timeout 1s",
        "run count.ptx --block 32 --memory fermi --timeout 1s",
        "run count.ptx --block 32 --memory rsp --timeout 1s",
        "run stores.ptx --buffer p:u32:32 --arg buffer:p --block 64 --memory lsc-mutex --seed 1 --timeout 1s --control crs",
        "prove tests/limits/promotion.litmus --machine rsp --reduction none --for 1s",
        "prove tests/limits/mutexes.litmus --machine lsc-mutex --reduction none --for 1s",
    ] {
        let ran = run(folder.path(), words);
        assert!(ran.code == Some(3) && ran.said.contains("limit reached: "), "{words}: {}", ran.said);
        // Ten searches of nothing take time to begin, too.
        keeps(&ran, words, 300, second);
    }
    // How many states of 4,224 warps, candidates or clauses there are after a second is a matter of how fast the machine is.
    for words in [
        "prove empty.ptx --grid 2147483647 --for 1s --search-memory 4G",
        "litmus tests/limits/wide.litmus --model lsc --way candidates --timeout 1s",
        "litmus tests/limits/lanes.litmus --model lsc --way sat --timeout 1s",
        "litmus pigeons.litmus --model ptx-v7.5 --way sat --timeout 1s",
        // Nothing holds their threads back but the room for copies in flight.
        &format!("run copies.ptx {P} --block 64 --timeout 1s"),
        &format!("run copies.ptx {P} --block 64 --lanes split --seed 1 --timeout 1s"),
        &format!("prove copies.ptx {P} --block 64 --for 1s"),
        &format!("prove copies.ptx {P} --block 64 --lanes split --for 1s"),
        &format!("prove copies.ptx {P} --block 64 --memory lsc --control thread --for 1s"),
        &format!("hunt copies.ptx {P} --block 64 --memory slsc --for 1s"),
        &format!("run copies.ptx {P} --block 64 --memory fermi --timeout 1s"),
        &format!("run copies.ptx {P} --block 64 --memory rsp --seed 1 --timeout 1s"),
        &format!("run copies.ptx {P} --block 64 --memory lsc-mutex --timeout 1s"),
        &format!("hunt copies.ptx {P} --block 64 --memory fermi --for 1s"),
        &format!("prove copies.ptx {P} --block 64 --memory fermi --for 1s"),
        &format!("prove copies.ptx {P} --block 64 --memory rsp --for 1s"),
        &format!("prove copies.ptx {P} --block 64 --memory lsc-mutex --for 1s"),
        // 8,192 warps that are alike, in parts of a graph that are gone through one after the other.
        "prove benches/reach/lock.ptx --block 1024 --warp-size 1 --grid 8 --for 1s",
        "prove benches/reach/lock.ptx --block 1024 --warp-size 1 --grid 8 --fairness strong --for 1s",
        "prove benches/reach/lock.ptx --block 1024 --warp-size 1 --grid 8 --fairness strong-threads --for 1s",
        // What is tried beyond what was asked, and thousands of contents of memory, each with a run to show it.
        "prove ptx-examples/spinlock --memory flat --max-memory 300M --for 1s",
    ] {
        let ran = run(folder.path(), words);
        assert!(ran.code == Some(3) && ran.said.contains("limit reached: "), "{words}: {}", ran.said);
        keeps(&ran, words, 4000, second);
    }
}

#[test]
fn memory_ends_every_command() {
    let folder = folder();
    let time = Duration::from_secs(20);
    for words in [
        "run local.ptx --block 1024 --grid 100 --max-memory 256M --timeout 20s",
        "run local.ptx --block 1024 --grid 100 --max-memory 256M --seed 1 --timeout 20s",
        "hunt local.ptx --block 1024 --grid 100 --seeds 1 --max-memory 256M --for 20s",
        "prove local.ptx --block 1024 --grid 100 --max-states 5 --search-memory 256M --for 20s",
        "compare local.ptx --block 1024 --grid 100 --max-memory 256M --for 20s --seeds 1",
        "run deep.ptx --block 1024 --grid 64 --seed 1 --max-memory 256M --timeout 20s",
        &format!("prove store.ptx {P} --grid 100000 --block 1024 --search-memory 40M --for 20s"),
        "prove empty.ptx --grid 2147483647 --search-memory 256M --for 20s",
        "prove tests/limits/promotion.litmus --machine rsp --reduction none --search-memory 64M --for 20s",
        "prove tests/limits/mutexes.litmus --machine lsc-mutex --reduction none --search-memory 64M --for 20s",
    ] {
        let ran = run(folder.path(), words);
        assert!(ran.code == Some(3) && ran.said.contains("limit reached: "), "{words}: {}", ran.said);
        assert!(ran.said.contains("bytes"), "{words}: {}", ran.said);
        keeps(&ran, words, 256, time);
    }
}

#[test]
fn more_local_memory_than_any_thread_has_is_refused() {
    let folder = folder();
    let ran = run(folder.path(), "run local_all.ptx --block 32 --max-memory 256M");
    assert!(ran.code == Some(2) && ran.said.contains("there is room for 524288"), "{}", ran.said);
    keeps(&ran, "run local_all.ptx", 256, Duration::from_secs(1));
}

#[test]
fn what_the_host_refuses_is_a_limit() {
    let folder = folder();
    for words in [
        format!("run store.ptx --grid 1 --max-memory 100G {}", P.replace("u32:1", "u32:1750000000")),
        "run local.ptx --block 1024 --grid 100 --seed 1 --max-memory 1000G".to_owned(),
    ] {
        let shell = format!("ulimit -v 3000000 && exec {WARPSTEP} {words}");
        let ran = measured(folder.path(), "sh", &["-c", &shell], None);
        assert!(
            ran.code == Some(3) && ran.said.contains("this computer does not have"),
            "{words}: {:?} {}",
            ran.code,
            ran.said
        );
    }
}

#[test]
fn nothing_is_no_limit() {
    let folder = folder();
    for words in [
        "prove empty.ptx --search-memory 0",
        "prove empty.ptx --for 0s",
        "prove empty.ptx --max-states 0",
        "hunt empty.ptx --for 0s",
        "hunt empty.ptx --seeds 0",
        "hunt empty.ptx --first-seed 18446744073709551615",
        "run empty.ptx --timeout 0s",
        "run empty.ptx --max-steps 0",
        "run empty.ptx --max-memory 0",
        "compare empty.ptx --for 0s",
        "minimise x.schedule --for 0s",
    ] {
        let ran = run(folder.path(), words);
        assert_eq!(ran.code, Some(2), "{words}: {}", ran.said);
    }
    let ran = run(folder.path(), "hunt empty.ptx --first-seed 18446744073709551614 --seeds 5");
    assert!(ran.code == Some(0) && ran.said.contains("1 seed "), "{}", ran.said);
}

/// Presses Ctrl-C half a second after a command has begun.
fn interrupted(folder: &Path, words: &str) -> Ran {
    let words: Vec<String> =
        words
            .split_whitespace()
            .map(|w| {
                if w.starts_with("ptx-examples/") || w.starts_with("tests/limits/") { example(w) } else { w.to_owned() }
            })
            .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    measured(folder, WARPSTEP, &words, Some(Duration::from_millis(1500)))
}

#[test]
fn an_interruption_ends_a_command_with_what_it_has() {
    let folder = folder();
    std::fs::write(folder.path().join("iriw.litmus"), LITMUS).unwrap();
    for (words, says) in [
        (format!("run wait.ptx --block 128 {P}"), "where the warps were (128 threads):"),
        (format!("run wait.ptx --block 128 {P} --lanes split"), "where the warps were (128 threads):"),
        (format!("hunt wait.ptx --block 128 {P} --memory fermi"), "interrupted"),
        ("hunt count.ptx --block 32 --lanes split".to_owned(), "interrupted"),
        (format!("run wait.ptx --block 128 {P} --memory rsp"), "where the warps were (128 threads):"),
        (format!("run wait.ptx --block 128 {P} --memory lsc-mutex"), "where the warps were (128 threads):"),
        ("prove ptx-examples/reduction --memory rsp".to_owned(), "interrupted"),
        ("prove ptx-examples/reduction --memory lsc --control thread".to_owned(), "interrupted"),
        ("prove ptx-examples/reduction --memory lsc-mutex".to_owned(), "interrupted"),
        ("prove count.ptx --block 32".to_owned(), "interrupted"),
        ("prove ptx-examples/reduction --memory fermi --control crs".to_owned(), "interrupted"),
        ("prove ptx-examples/bitonic --lanes split".to_owned(), "interrupted"),
        ("prove iriw.litmus --memory fermi".to_owned(), "interrupted"),
        ("litmus iriw.litmus --compare --memory invalidate --max-states 999999999".to_owned(), "interrupted"),
        ("prove tests/limits/promotion.litmus --machine rsp --reduction none".to_owned(), "interrupted"),
        ("prove tests/limits/mutexes.litmus --machine lsc-mutex --reduction none".to_owned(), "interrupted"),
        ("litmus tests/limits/wide.litmus --model lsc --way candidates".to_owned(), "interrupted"),
        ("litmus tests/limits/lanes.litmus --model lsc --way sat".to_owned(), "interrupted"),
        // Thousands of warps that could have stepped in each of thousands of states.
        ("prove empty.ptx --grid 2147483647".to_owned(), "interrupted"),
        ("compare count.ptx --block 32".to_owned(), "interrupted"),
        ("compare ptx-examples/reduction".to_owned(), "interrupted"),
        ("replay --seed 0 count.ptx --block 32".to_owned(), "interrupted"),
        ("test ptx-examples/reduction --seeds 1000000000".to_owned(), "interrupted"),
        ("test ptx-examples/reduction --seeds 1000000000 --memory fermi".to_owned(), "interrupted"),
        (
            "run meet.ptx --block 64 --grid 4 --buffer p:u32:2 --arg buffer:p --check races --memory fermi".to_owned(),
            "interrupted",
        ),
        ("replay --seed 0 count.ptx --block 32 --memory fermi".to_owned(), "interrupted"),
    ] {
        let ran = interrupted(folder.path(), &words);
        assert!(ran.code == Some(3) && ran.said.contains(says), "{words}: {:?} {}", ran.code, ran.said);
        // A machine that is busy may need longer for a second of its own.
        let most = if std::env::var_os("LIMITS_FULL").is_some() { 1 } else { 10 };
        assert!(ran.wall <= Duration::from_secs(most), "{words}: {:?}", ran.wall);
    }
    // A schedule is made smaller as far as there was time for; it is written, and shows the defect.
    let words = "hunt tests/schedules/locks.toml --memory fermi --seeds 50 --save-schedule lock.schedule";
    assert_eq!(run(folder.path(), words).code, Some(1), "{words}");
    let words = ["minimise", "lock.schedule", "--output", "small.schedule"];
    let ran = measured(folder.path(), WARPSTEP, &words, Some(Duration::from_millis(500)));
    assert!(ran.wall <= Duration::from_secs(10), "{:?}", ran.wall);
    // On a machine that is busy the schedule was not even seen to fail yet.
    if ran.code == Some(3) && ran.said.contains("interrupted") {
        return;
    }
    assert!(ran.code == Some(1) && ran.said.contains("it was stopped after"), "{:?} {}", ran.code, ran.said);
    assert_eq!(run(folder.path(), "replay small.schedule").code, Some(1));
}

#[test]
fn a_run_that_is_ended_tells_where_its_warps_are_and_what_explains_it() {
    let folder = folder();
    for control in ["its", "crs", "thread"] {
        for memory in ["flat", "fermi", "rsp", "lsc", "lsc-mutex"] {
            let words = format!("run wait.ptx --block 128 {P} --max-steps 4000 --control {control} --memory {memory}");
            let ran = run(folder.path(), &words);
            assert_eq!(ran.code, Some(3), "{words}: {}", ran.said);
            for says in [
                "where the warps were (128 threads):",
                "wait.ptx:10  bar.sync 0;",
                "96 threads, 3 warps of block (0, 0, 0), waiting at barrier 0",
                "of warp 0 in block (0, 0, 0)",
                "`warpstep hunt wait.ptx --block 128 --buffer p:u32:1 --arg buffer:p --control",
                "`warpstep prove wait.ptx",
            ] {
                assert!(ran.said.contains(says), "{words}: {says}\n{}", ran.said);
            }
        }
    }
    let words = format!("run wait.ptx --block 128 {P} --max-steps 4000 --format json");
    let told: serde_json::Value = serde_json::from_str(&run(folder.path(), &words).said).unwrap();
    assert_eq!(told["stopped"]["standing"][0]["lanes"], 96, "{told:#}");
    assert_eq!(told["stopped"]["standing"][0]["waiting_for"]["barrier"], 0, "{told:#}");
}

#[test]
fn liveness_is_checked_or_refused() {
    let folder = folder();
    let spin = WAIT.replace("add.u32 %r3, %r3, 1; ", "");
    let text = format!(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k{spin}\n");
    std::fs::write(folder.path().join("spin.ptx"), text).unwrap();
    for control in ["crs", "its"] {
        let words = format!("run spin.ptx --block 64 {P} --check liveness --control {control}");
        let ran = run(folder.path(), &words);
        assert!(ran.code == Some(1) && ran.said.contains("again and again"), "{words}: {}", ran.said);
    }
    let ran = run(folder.path(), &format!("run spin.ptx --block 64 {P} --check liveness --seed 1"));
    assert!(ran.code == Some(2) && ran.said.contains("warpstep hunt"), "{}", ran.said);
}

#[test]
fn a_comparison_says_what_it_does_not_know() {
    let folder = folder();
    let racy = "(.param .u64 p) { .reg .b64 %rd<4>; .reg .b32 %r<3>; ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x;
        atom.global.add.u32 %r2, [%rd1], 1; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2;
        st.global.u32 [%rd3+4], %r1; ret; }";
    let text = format!(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k{racy}\n");
    std::fs::write(folder.path().join("racy.ptx"), text).unwrap();
    let words = "compare racy.ptx --block 5 --warp-size 1 --buffer p:u32:8 --arg buffer:p --seeds 3 --for 20s --max-states 3000";
    let ran = run(folder.path(), words);
    assert!(ran.said.contains("no expectation is given") && !ran.said.contains("as expected"), "{}", ran.said);
    let letters = ran.said.lines().filter(|l| l.contains("  ends")).count();
    assert!(letters == 8 && ran.said.contains("other ends of the kind"), "{letters}: {}", ran.said);
    // Every model is told when it is done, and again in the table.
    assert_eq!(ran.said.lines().filter(|l| l.starts_with("its-split  flat ")).count(), 2, "{}", ran.said);
    // Groups that are too wide to be searched are still run.
    let ran = run(folder.path(), "compare tests/schedules/locks.toml --seeds 2 --for 5s --max-states 100");
    assert!(!ran.said.contains("unsupported") && !ran.said.contains("4294967296"), "{}", ran.said);
    assert!(ran.said.contains("too wide to search"), "{}", ran.said);
}

/// A litmus test of four threads, whose states are many.
const LITMUS: &str = "PTX IRIW\n{ x=0; y=0; }\n\
    P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 | P3@cta 3,gpu 0 ;\n\
    st.weak x, 1 | st.weak y, 1 | ld.weak r0, x | ld.weak r0, y ;\n\
    st.weak y, 2 | st.weak x, 2 | ld.weak r1, y | ld.weak r1, x ;\n\
    exists (P2:r0 == 1 /\\ P2:r1 == 0 /\\ P3:r0 == 1 /\\ P3:r1 == 0)\n";

/// The last three are variants of those before, gone through with `LIMITS_FULL=1`.
const MEMORIES: [&str; 8] = [
    "--memory flat",
    "--lanes split",
    "--memory fermi",
    "--memory rsp",
    "--memory lsc-mutex",
    "--memory lsc",
    "--memory slsc",
    "--memory rsp --scheme original",
];

/// Every command on a target with a memory, within so much time and memory.
fn commands(target: &str, memory: &str, seconds: u64, megabytes: u64) -> Vec<String> {
    let both = format!("{memory} --max-memory {megabytes}M");
    let run = format!("--timeout {seconds}s");
    vec![
        format!("run {target} {both} {run}"),
        format!("hunt {target} {both} --for {seconds}s --save-schedule found.schedule"),
        format!("prove {target} {both} --search-memory {megabytes}M --for {seconds}s"),
        format!("replay --seed 0 {target} {both} {run}"),
        format!("test {target}/launch.toml --seeds 1000000000 {both} {run}"),
    ]
}

#[test]
fn every_command_keeps_its_limits_on_every_memory() {
    let folder = folder();
    std::fs::write(folder.path().join("iriw.litmus"), LITMUS).unwrap();
    let full = std::env::var_os("LIMITS_FULL").is_some();
    let (seconds, megabytes) = (1, 150);
    let memories = if full { &MEMORIES[..] } else { &MEMORIES[..5] };
    let mut all = Vec::new();
    let targets: &[&str] = if full {
        &["ptx-examples/reduction", "ptx-examples/spinlock", "ptx-examples/bitonic"]
    } else {
        &["ptx-examples/reduction"]
    };
    for target in targets {
        for memory in memories {
            all.extend(commands(target, memory, seconds, megabytes));
        }
        all.push(format!("compare {target} --search-memory {megabytes}M --for {seconds}s"));
    }
    all.extend(memories.iter().map(|m| format!("prove iriw.litmus {m} --search-memory {megabytes}M --for {seconds}s")));
    let compare = "litmus iriw.litmus --compare --max-states 999999999 --memory invalidate";
    all.push(format!("{compare} --search-memory {megabytes}M --timeout {seconds}s"));
    // The race check keeps what each of them knows; with full warps, too.
    let meet =
        format!("meet.ptx --block 64 --grid 4 --buffer p:u32:2 --arg buffer:p --check races --max-memory {megabytes}M");
    for (memory, control) in memories.iter().flat_map(|m| ["its", "thread"].map(|c| (m, c))) {
        all.push(format!("run {meet} {memory} --control {control} --timeout {seconds}s"));
        all.push(format!("hunt {meet} {memory} --control {control} --for {seconds}s"));
    }
    let locks = format!("--memory fermi --device fermi-like-sm80 --max-memory {megabytes}M --for {seconds}s");
    all.push(format!("hunt tests/schedules/locks.toml --seeds 1 --jobs 1 {locks}"));
    for words in &all {
        let ran = run(folder.path(), words);
        keeps(&ran, words, megabytes, Duration::from_secs(seconds));
    }
    for memory in memories {
        let words = format!("hunt tests/schedules/locks.toml {memory} --seeds 50 --save-schedule lock.schedule");
        assert_eq!(run(folder.path(), &words).code, Some(1), "{words}");
        let words = format!("minimise lock.schedule --for {seconds}s --max-memory {megabytes}M");
        keeps(&run(folder.path(), &words), &words, megabytes, Duration::from_secs(seconds));
    }
}

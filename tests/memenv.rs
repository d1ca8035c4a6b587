//! What memory tells of itself: its steps in turns and timelines, and the environment at a step.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/memenv").join(name)
}

fn warpstep(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpstep")).args(arguments).current_dir(data("")).output().unwrap()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[track_caller]
fn says(output: &Output, words: &[&str]) {
    let text = text(output);
    for word in words {
        assert!(text.contains(word), "does not say {word:?}:\n{text}");
    }
}

#[track_caller]
fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(output)))
}

const TINY: [&str; 4] = ["--memory", "fermi", "--device", "tiny"];

fn run(more: &[&str]) -> Output {
    warpstep(&[&["run", "pair.toml"], &TINY[..], more].concat())
}

/// What replays of a few seeds tell: their last turns.
fn told() -> String {
    let replay = |seed: u32| {
        let seed = seed.to_string();
        text(&warpstep(&[&["replay", "--seed", &seed, "pair.toml"], &TINY[..]].concat()))
    };
    (1..16).map(replay).collect()
}

/// Each step says whose it is, of which instruction, on which bytes, where in which program, and how it ended; silent rules
/// say which line of which cache they act on.
#[test]
fn turns_tell_the_steps_of_memory() {
    let told = told();
    for words in [
        "memory step 1: ",
        "pair.ptx:12: st.global, 4 bytes at `data` = 0x7, SM 0, preset fermi/global.memp:",
        "pair.ptx:13: ld.global, 4 bytes at `data`+4, SM 0, preset fermi/global.memp:",
        "pair.ptx:13: ld.global, 4 bytes at `data`+4 = 0x5, SM 0, preset fermi/global.memp:",
        ": yields",
        ": ends",
        "m.wbL2: bytes 0-3 of the line at `data` are written back from L2 to memory",
    ] {
        assert!(told.contains(words), "does not say {words:?}:\n{told}");
    }
}

#[test]
fn the_environment_is_shown_as_tables() {
    let all = run(&["--show", "memory"]);
    says(
        &all,
        &[
            "memory after step 1: ",
            "  operation 0: SM 0, block 0, warp 0, lane 0, pair.ptx:",
            "  L2: 2 sets of 2 lines of 32 bytes",
            "`data`: valid 0-3; dirty 0-3",
            "07000000 ........",
            "pinned by operation ",
            "being fetched ",
        ],
    );
    let shown = |output: &Output| text(output).matches("memory after step ").count();
    let one = run(&["--show", "memory@3"]);
    assert_eq!(shown(&one), 1, "{}", text(&one));
    assert!(shown(&all) > 4, "{}", text(&all));
    says(&run(&["--show", "memory@4000"]), &["memory after step 4000: the run has only "]);
}

#[test]
fn the_environment_is_shown_for_programs() {
    let report = json(&run(&["--show", "memory", "--format", "json"]));
    let all = report["memory"].as_array().unwrap();
    assert!(all.len() > 4, "{report:#}");
    let dirty = all.iter().flat_map(|m| m["caches"].as_array().unwrap()).flat_map(|c| c["lines"].as_array().unwrap());
    let dirty: Vec<&Value> = dirty.filter(|l| l["dirty"] == "0-3").collect();
    assert!(dirty.iter().all(|l| l["place"] == "`data`" && l["bytes"].as_str().unwrap().starts_with("07000000")));
    assert!(!dirty.is_empty(), "{report:#}");
    let operations = all.iter().flat_map(|m| m["operations"].as_array().unwrap());
    let load = operations.clone().find(|o| o["operation"] == "ld.global").unwrap();
    assert_eq!(load["instruction"], "pair.ptx:13");
    assert_eq!(load["accesses"][0]["place"], "`data`+4");
    // What was read is told once it was.
    let read = operations.filter(|o| o["operation"] == "ld.global").any(|o| o["accesses"][0]["value"] == "0x5");
    assert!(read, "{report:#}");
    let replayed = warpstep(
        &[&["replay", "--seed", "1", "pair.toml", "--show", "memory@2", "--format", "json"], &TINY[..]].concat(),
    );
    assert_eq!(json(&replayed)["memory"].as_array().unwrap().len(), 1);
}

#[test]
fn the_timeline_tells_the_steps_of_memory() {
    let file = std::env::temp_dir().join(format!("warpstep-memenv-{}.json", std::process::id()));
    let run = run(&["--trace", file.to_str().unwrap()]);
    assert!(run.status.success(), "{}", text(&run));
    let written = std::fs::read_to_string(&file).unwrap();
    let _ = std::fs::remove_file(&file);
    let timeline: Value = serde_json::from_str(&written).unwrap();
    let events = timeline["traceEvents"].as_array().or(timeline.as_array()).unwrap();
    let store = events.iter().find(|e| e["args"]["operation"] == "st.global").unwrap();
    assert_eq!(store["args"]["instruction"], "pair.ptx:12");
    assert_eq!(store["args"]["accesses"][0]["value"], "0x7");
}

#[test]
fn split_memory_tells_what_is_pending() {
    let lanes = ["--lanes", "split"];
    let shown = warpstep(&[&["run", "pair.toml", "--show", "memory"], &lanes[..]].concat());
    says(&shown, &["memory after step 1: ", "pair.ptx:12: st, 4 bytes at `data` = 0x7"]);
}

/// What is in fifos, and who has which lock: of increments under both schemes, of the lock file under the original one.
#[test]
fn remote_accesses_tell_fifos_and_locks() {
    let shown = |scheme: &str, more: &[&str]| {
        let output = warpstep(
            &[&["run", "remote.toml", "--memory", "rsp", "--scheme", scheme, "--show", "memory"], more].concat(),
        );
        // The lock file's lock stops the flush that its holder waits for.
        assert_eq!(output.status.code(), Some(i32::from(scheme == "original")), "{}", text(&output));
        output
    };
    let both = [
        "the L1 of block 0",
        "fifo of block 0: bytes 0-3 of the line at `data`",
        "flush marker of lane 0 of block 1, warp 0",
        "lock of read-modify-writes of block 0: lane 0 of block 1, warp 0",
        "lock of read-modify-writes of block 1: lane 0 of block 1, warp 0",
    ];
    says(&shown("original", &[]), &[&both[..], &["lock of the line at `data`: lane 0 of block 1, warp 0"]].concat());
    let proposed = shown("proposed", &[]);
    says(&proposed, &both);
    assert!(!text(&proposed).contains("lock of the line"));
    let report = json(&shown("proposed", &["--format", "json"]));
    let steps = report["memory"].as_array().unwrap();
    let some = |what: &str| steps.iter().filter(|step| step.get(what).is_some()).count();
    // What is written and waited for leaves again, and locks are freed.
    assert!((1..steps.len()).contains(&some("fifos")) && (1..steps.len()).contains(&some("locks")), "{report:#}");
    assert!(steps.last().unwrap().get("locks").is_none(), "{report:#}");
}

#[test]
fn what_cannot_be_shown_is_refused() {
    let flat = warpstep(&["run", "pair.toml", "--show", "memory"]);
    assert_eq!(flat.status.code(), Some(2));
    says(&flat, &["--show", "flat memory acts at once", "--memory fermi"]);
    for wrong in ["caches", "memory@", "memory@0", "memory@x"] {
        let output = run(&["--show", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        says(&output, &["memory@N"]);
    }
}

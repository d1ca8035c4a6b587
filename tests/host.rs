//! Host scripts: contexts, programs and grids that come and go, under the deterministic schedule and under seeds, on flat
//! memory and on memory with caches.

use crate::golden;
use crate::schema::Schema;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/host").join(name)
}

fn warpstep(path: &Path, flags: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpstep")).arg("run").arg(path).args(flags).output().unwrap()
}

/// The command ends with the code and says every one of the words.
#[track_caller]
fn says(output: &Output, code: i32, words: &[&str]) -> String {
    let text = golden::text(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    for word in words {
        assert!(text.contains(word), "does not say {word:?}: {text}");
    }
    assert!(!text.contains("panicked"), "{text}");
    text
}

/// A script's end under the deterministic schedule and under seeds, on both memories.
#[track_caller]
fn ends(name: &str, code: i32, words: &[&str]) {
    for memory in ["flat", "fermi"] {
        says(&warpstep(&script(name), &["--memory", memory, "--max-steps", "3000000"]), code, words);
        for seed in 0..8 {
            let flags = ["--memory", memory, "--max-steps", "3000000", "--seed", &seed.to_string()];
            says(&warpstep(&script(name), &flags), code, words);
        }
    }
}

#[test]
fn contexts_do_not_see_each_other() {
    ends("two_contexts.toml", 0, &["as expected", "2 launches", "3 blocks"]);
    ends("foreign_address.toml", 1, &["invalid global read of 4 bytes at 0xff0000000000", "kernels.ptx:73"]);
}

/// A script's flags are read as those of a launch file: what names no file is no request to be passed over.
#[test]
fn what_is_to_be_saved_has_a_file() {
    says(&warpstep(&script("two_contexts.toml"), &["--save", "nothing"]), 2, &["--save nothing", "NAME=FILE"]);
    says(&warpstep(&script("two_contexts.toml"), &["--save", "nothing=x"]), 2, &["nothing"]);
}

#[test]
fn programs_of_a_context_have_variables_of_their_own() {
    ends("two_programs.toml", 0, &["as expected"]);
}

#[test]
fn grids_run_at_the_same_time() {
    ends("concurrent.toml", 0, &["as expected"]);
}

#[test]
fn a_grid_that_spins_is_aborted() {
    ends("abort.toml", 0, &["finished"]);
}

#[test]
fn an_abort_does_no_harm_while_operations_are_in_flight() {
    for control in ["crs", "its", "thread"] {
        for memory in [&["--memory", "fermi"][..], &["--lanes", "split"]] {
            for seed in 0..6 {
                let seed = seed.to_string();
                let flags = [memory, &["--control", control, "--seed", &seed]].concat();
                says(&warpstep(&script("abort_shared.toml"), &flags), 0, &["as expected"]);
            }
        }
    }
}

#[test]
fn a_grid_sees_what_grids_before_it_wrote_while_another_one_runs() {
    for seed in 0..60 {
        let flags = ["--memory", "fermi", "--device", "tiny", "--seed", &seed.to_string()];
        says(&warpstep(&script("dependent.toml"), &flags), 0, &["as expected"]);
    }
    ends("dependent.toml", 0, &["as expected"]);
}

#[test]
fn a_context_is_destroyed_with_its_grids() {
    ends("destroy.toml", 0, &["as expected"]);
}

#[test]
fn more_grids_than_the_device_executes_at_once() {
    ends("over_the_limit.toml", 0, &["as expected", "20 launches"]);
    for memory in ["flat", "fermi"] {
        let flags = ["--device", "tiny", "--memory", memory];
        says(&warpstep(&script("over_the_limit.toml"), &flags), 0, &["as expected", "20 launches"]);
    }
    let one = std::env::temp_dir().join(format!("warpstep-one-grid-{}.toml", std::process::id()));
    std::fs::write(&one, "preset = \"tiny\"\nconcurrent_grids = 1\n").unwrap();
    let flags = ["--device", one.to_str().unwrap(), "--max-steps", "20000"];
    // The first grid waits for the second, which cannot begin.
    says(&warpstep(&script("limit.toml"), &flags), 3, &["20000"]);
    std::fs::remove_file(&one).unwrap();
}

#[test]
fn memory_found_in_one_context_is_not_believed_in_another() {
    ends("hints.toml", 1, &["invalid global write"]);
    ends("shared_address.toml", 1, &["invalid global read"]);
}

#[test]
fn the_room_of_an_aborted_grid_is_free() {
    ends("room.toml", 0, &["finished"]);
    ends("blocks.toml", 0, &["as expected"]);
}

/// `tests/host/bad/NAME.toml` names what is not there or breaks another rule, `NAME.out` is the message; `BLESS=1` rewrites
/// it.
#[test]
fn scripts_with_mistakes_are_refused_with_their_place() {
    let folder = script("bad");
    assert!(golden::descriptions(&folder).len() > 15);
    golden::all_refused(&folder, |path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_warpstep"));
        (name.to_owned(), command.args(["run", name]).current_dir(&folder).output().unwrap())
    });
}

/// The rules of a kernel's run, in order, without who fired them.
fn rules(ptx: &str, flags: &[&str]) -> Vec<String> {
    let file = tempfile::Builder::new().suffix(".ptx").tempfile().unwrap();
    std::fs::write(file.path(), ptx).unwrap();
    let text = says(&warpstep(file.path(), &[&["--block", "4", "--rules"], flags].concat()), 0, &[]);
    text.lines().map(str::to_owned).collect()
}

/// A branch that lanes part at, and a call that some make.
const CALLS: &str = "\
.version 7.0
.target sm_50
.address_size 64
.func f()
{
    ret;
}
.visible .entry k()
{
    .reg .b32 %r<2>;
    .reg .pred %p;
    mov.u32 %r0, %tid.x;
    setp.lt.u32 %p, %r0, 2;
    @%p bra A;
    mov.u32 %r1, 3;
A:
    @%p call f;
    ret;
}
";

#[test]
fn a_rule_stands_behind_the_step_that_fires_it() {
    let all = rules(CALLS, &[]);
    let ids: Vec<&str> = all.iter().filter_map(|line| line.split_whitespace().next()).collect();
    let follows = |first: &str, then: &str| {
        let at = ids.iter().position(|id| *id == first).unwrap_or_else(|| panic!("no {first}: {all:#?}"));
        let step = ids[at..].iter().position(|id| *id == "block.exec").unwrap();
        assert!(ids[at..at + step].contains(&then), "{then} is not told with {first}: {all:#?}");
    };
    follows("thread.ssy", "crs.ssy");
    follows("thread.preRet", "crs.preRet");
    follows("thread.call", "crs.callguard");
    follows("thread.call", "thread.exec-ff");
    assert_eq!(ids.iter().filter(|id| **id == "crs.preRet").count(), 1);
}

#[test]
fn a_silent_rule_names_its_line_and_its_cache() {
    let text = says(
        &warpstep(&script("dependent.toml"), &["--rules", "--memory", "fermi", "--device", "tiny", "--seed", "3"]),
        0,
        &[],
    );
    let silent: Vec<&str> = text.lines().filter(|l| ["m.evictL", "m.wbL"].iter().any(|id| l.starts_with(id))).collect();
    assert!(!silent.is_empty(), "{text}");
    for line in silent {
        let l1 = line.contains("L1 ") && line.contains("multiprocessor ");
        assert!((l1 || line.contains("L2,")) && line.contains(", line ") && !line.contains("warp"), "{line}");
    }
}

#[test]
fn the_rules_of_a_script_are_listed_in_order() {
    let text = says(&warpstep(&script("destroy.toml"), &["--rules", "--max-steps", "200"]), 3, &[]);
    let text = text + &says(&warpstep(&script("two_contexts.toml"), &["--rules"]), 0, &[]);
    let text = text + &says(&warpstep(&script("room.toml"), &["--rules"]), 0, &[]);
    let levels = ["device.", "dio.", "context.", "cio.", "grid.", "block."];
    let ids = warpstep::verdict::Rule::ALL.iter().map(|r| r.id()).filter(|id| levels.iter().any(|l| id.starts_with(l)));
    let missing: Vec<_> =
        ids.filter(|id| !text.lines().any(|line| line.split_whitespace().next() == Some(*id))).collect();
    // Barriers are the blocks' own (tests/examples_observed.rs).
    assert_eq!(missing, ["block.endBar", "device.destroy", "dio.destroy"]);
}

/// The command for a script of `tests/scripts`.
fn searched(command: &str, name: &str, flags: &[&str]) -> Output {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts").join(name);
    Command::new(env!("CARGO_BIN_EXE_warpstep")).arg(command).arg(path).args(flags).output().unwrap()
}

/// A lost count is refuted with the order that loses it, and a seed finds it, too, by which `run` shows it again.
#[test]
fn orders_are_hunted_and_proved() {
    let proof =
        says(&searched("prove", "lost.toml", &[]), 1, &["mismatch: `a.counter`", "refuted", "2 different ends"]);
    let order: Vec<&str> = proof.lines().skip_while(|l| !l.contains("the order that leads there")).collect();
    let at = |what: &str| order.iter().position(|l| l.contains(what)).unwrap_or_else(|| panic!("no {what:?}: {proof}"));
    // Both read before the second writes.
    assert!(at("kernels.ptx:25") < at("kernels.ptx:27"), "{proof}");
    assert!(at("launch `second` is complete") < at("the host reads `a.counter`"), "{proof}");
    let hunt = says(&searched("hunt", "lost.toml", &[]), 1, &["found by seed", "1 distinct defect"]);
    let seed = hunt.split("--seed ").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap();
    says(&searched("run", "lost.toml", &["--seed", seed]), 1, &["mismatch: `a.counter`"]);
    says(&searched("prove", "handshake.toml", &[]), 0, &["holds", "1 different end"]);
    says(&searched("hunt", "handshake.toml", &["--seeds", "20"]), 0, &["20 seeds, 0 distinct defects"]);
    says(&searched("prove", "endless.toml", &[]), 1, &["error[endless]", "launch `waits`", "refuted"]);
    says(&searched("hunt", "endless.toml", &["--seeds", "3", "--max-steps", "1000"]), 3, &["1000"]);
}

#[test]
fn a_search_of_orders_keeps_its_limits() {
    let limited = says(&searched("prove", "destroy.toml", &["--max-states", "10"]), 3, &["10 states"]);
    assert!(!limited.contains("holds"), "{limited}");
    says(&searched("prove", "destroy.toml", &["--memory", "fermi", "--for", "1ms"]), 3, &["limit"]);
    says(&searched("prove", "lost.toml", &["--first"]), 1, &["refuted"]);
}

/// What is about launches is refused by name, not passed over.
#[test]
fn flags_of_launches_are_refused_for_scripts() {
    for flags in [&["--progress", "obe"][..], &["--dot", "x"], &["--check", "races"], &["--checkpoint", "x"]] {
        says(&searched("prove", "add.toml", flags), 2, &[flags[0]]);
    }
    for flags in [&["--strategy", "pct"][..], &["--jobs", "2"], &["--check", "deterministic"]] {
        says(&searched("hunt", "add.toml", flags), 2, &[flags[0]]);
    }
    says(&searched("minimise", "add.toml", &[]), 2, &["add.toml"]);
}

#[test]
fn orders_are_told_as_data() {
    let schema = Schema::read("docs/schema/report.schema.json");
    for (command, name, code) in [("prove", "lost.toml", 1), ("prove", "endless.toml", 1), ("hunt", "lost.toml", 1)] {
        let output = searched(command, name, &["--format", "json"]);
        assert_eq!(output.status.code(), Some(code));
        let whole: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(schema.complaint(&whole), None, "{whole:#}");
        assert_eq!(whole["verdict"], "refuted", "{whole:#}");
    }
    let sarif = searched("prove", "lost.toml", &["--format", "sarif"]);
    assert!(golden::text(&sarif).contains("a.counter"), "{}", golden::text(&sarif));
}

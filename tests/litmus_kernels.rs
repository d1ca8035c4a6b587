//! `warpstep litmus` on kernels: verdicts with executions, conditions on results, what is refused.

use crate::litmus_tool::{Tool, root};
use serde_json::Value;

const TOOL: Tool = Tool { folder: "litmus_kernels", flags: &[] };

/// The rows of the table of kernels: entry, launch file, what is wrong, and the line of that.
fn rows() -> Vec<[String; 4]> {
    let table = std::fs::read_to_string(root().join("tests/consistency/verdicts.csv")).unwrap();
    let row = |line: &str| {
        let fields: Vec<&str> = line.splitn(8, ',').collect();
        [fields[1], fields[4], fields[5], fields[6]].map(str::to_owned)
    };
    table.lines().skip(1).map(row).collect()
}

fn launch_file(launch: &str) -> String {
    root().join("tests/consistency").join(launch).display().to_string()
}

fn event_lines(witness: &Value) -> Vec<u64> {
    let events = witness["events"].as_array().unwrap().iter();
    events.filter(|event| event["aside"] != true).filter_map(|event| event["line"].as_u64()).collect()
}

/// Message passing, right and wrong: each property, and the execution has the line at which the error is.
#[test]
fn message_passing_has_its_verdicts_with_executions() {
    for [entry, launch, expected, line] in rows().into_iter().filter(|row| row[1].starts_with("message_passing")) {
        let has = |kind: &str| expected.split(' ').any(|word| word == kind);
        let wrong = !has("holds");
        let value = TOOL.json(&[&launch_file(&launch)], i32::from(wrong));
        let test = &value["tests"][0];
        assert_eq!((test["test"].as_str(), test["launch"]["grid"][0].as_u64()), (Some(&*entry), Some(2)));
        let verdicts = test["verdicts"].as_array().unwrap();
        let answers: Vec<_> =
            verdicts.iter().map(|v| (v["property"].as_str().unwrap(), v["answer"] == "fail")).collect();
        assert_eq!(answers, [("safety", has("result")), ("drf", has("race")), ("liveness", has("hang"))], "{entry}");
        // Without a barrier an interleaving shows the error, in which the flag has no part.
        let weak = has("result") && entry != "mp_no_barrier";
        for verdict in verdicts.iter().filter(|v| v["answer"] == "fail" && weak) {
            let lines = event_lines(&verdict["witness"]);
            assert!(lines.contains(&line.parse().unwrap()), "{entry}: line {line} is not among {lines:?}");
        }
        if has("result") {
            let difference = &verdicts[0]["mismatches"][0]["first"][0];
            assert_ne!(difference["expected"], difference["got"], "{entry}");
            assert_eq!(verdicts[0]["witness"]["cycle"].is_array(), weak, "{entry}: an interleaving?");
        }
        let told =
            TOOL.says(&[&launch_file(&launch)], i32::from(wrong), &[&format!("{entry}<<<2, 2>>> under ptx-v7.5")]);
        assert_eq!(told.contains("no interleaving of the threads"), weak, "{entry}: {told}");
    }
}

/// Every wrong row is refuted, under both models; in a slow build some.
#[test]
fn planted_errors_are_refuted() {
    let quick = |launch: &str| !cfg!(debug_assertions) || launch.starts_with("caslock") || launch.starts_with("xf_");
    let wrong = rows().into_iter().filter(|row| row[2] != "holds" && quick(&row[1]));
    for [entry, launch, expected, line] in wrong {
        let models = ["--model", "ptx-v6.0", "--model", "ptx-v7.5"];
        // What is wrong with a deque shows in the second round of a loop.
        let bound = ["--bound", if launch.starts_with("deque") { "2" } else { "1" }];
        let value =
            TOOL.json(&[&[&*launch_file(&launch), "--property", "safety"], &models[..], &bound[..]].concat(), 1);
        for verdict in value["tests"][0]["verdicts"].as_array().unwrap() {
            assert_eq!(verdict["answer"], "fail", "{entry}");
            let lines = event_lines(&verdict["witness"]);
            let shown = lines.contains(&line.parse().unwrap()) || entry == "mp_no_barrier";
            assert!(shown, "{entry}: line {line} is not among {lines:?}");
        }
        let race = expected.split(' ').any(|kind| kind == "race");
        if race {
            TOOL.json(&[&[&*launch_file(&launch), "--property", "drf"], &bound[..]].concat(), 1);
        }
    }
}

#[test]
fn an_execution_is_shown_as_text_and_picture() {
    let folder = tempfile::tempdir().unwrap();
    let dot = folder.path().join("it.dot").display().to_string();
    let launch = "../consistency/message_passing/mp_relaxed_load.2.2.toml";
    TOOL.golden("stale.out", &TOOL.says(&[launch, "--property", "safety", "--dot", &dot], 1, &[]));
    TOOL.golden("stale.dot", &std::fs::read_to_string(&dot).unwrap());
    TOOL.golden(
        "hang.out",
        &TOOL.says(&[&["--ptx", "../consistency/ticketlock/ticketlock.ptx"], TICKETS].concat(), 1, &[]),
    );
}

/// Three blocks that draw numbers as if they were one.
const TICKETS: &[&str] = &[
    "--entry",
    "ticketlock_dv2wg",
    "--grid",
    "3",
    "--buffer",
    "lock:u32:2",
    "--buffer",
    "counter:u32:1",
    "--buffer",
    "seen:u32:3",
    "--arg",
    "buffer:lock",
    "--arg",
    "buffer:counter",
    "--arg",
    "buffer:seen",
    "--property",
    "liveness",
];

/// Two threads, each a block: one writes `x`, then `f`; the other does something with them. `x` is an `s32`, `out` as well.
fn kernel(body: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        ".version 8.3\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 px, .param .u64 pf, .param .u64 pout)\n{{\n\
         .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<8>;\n\
         ld.param.u64 %rd1, [px]; ld.param.u64 %rd2, [pf]; ld.param.u64 %rd3, [pout];\n\
         mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r2, 0;\n\
         {body}\nret;\n}}\n"
    );
    std::fs::write(folder.path().join("k.ptx"), text).unwrap();
    folder
}

#[track_caller]
fn kernel_says(body: &str, arguments: &[&str], code: i32, words: &[&str]) -> String {
    let folder = kernel(body);
    let path = folder.path().join("k.ptx").display().to_string();
    let launch = ["--buffer", "x:s32:2", "--buffer", "f:u32:1", "--buffer", "out:s32:2"];
    let given = ["--arg", "buffer:x", "--arg", "buffer:f", "--arg", "buffer:out"];
    let grid: &[&str] = if arguments.contains(&"--grid") { &[] } else { &["--grid", "2"] };
    let all = [&[&*path], &launch[..], &given[..], grid, arguments].concat();
    TOOL.json(&all, code);
    TOOL.says(&all, code, words)
}

const PASSED: &str = "@!%p1 bra R;\nst.relaxed.gpu.s32 [%rd1], -7;\nst.release.gpu.u32 [%rd2], 1;\nret;\n\
    R:\nld.acquire.gpu.u32 %r3, [%rd2];\nld.relaxed.gpu.s32 %r4, [%rd1];\nst.s32 [%rd3], %r3;\nst.s32 [%rd3+4], %r4;";

#[test]
fn conditions_are_about_last_values_of_buffers() {
    let ask = |condition: &str, code, words: &[&str]| kernel_says(PASSED, &["--exists", condition], code, words);
    ask("out[0] == 1 && out[1] == -7", 0, &["exists out[0] == 1 && out[1] == -7: reachable", "out[1] = -7"]);
    ask("out[0] = 1 /\\ out[1] = 0", 1, &["never reachable"]);
    ask("out[0] == 0 && !(out[1] != -7)", 0, &["reachable"]);
    ask("x == 5 || out[1] > 0", 1, &["never reachable"]);
    let weak = PASSED.replace("ld.acquire", "ld.relaxed");
    kernel_says(&weak, &["--exists", "out[0] == 1 && out[1] == 0"], 0, &["acquires nothing"]);
}

#[test]
fn what_is_not_there_is_told() {
    let ask = |condition: &str, words: &[&str]| kernel_says(PASSED, &["--exists", condition], 2, words);
    ask("outs[0] == 1", &["no buffer or .global or .const variable `outs`", "out"]);
    ask("out[2] == 1", &["there is no `out[2]`", "`out` has 2 elements"]);
    ask("f == -1", &["-1", "u32"]);
    ask("out[0] ==", &["--exists"]);
    ask("out[0] == 1 )", &["--exists"]);
    ask("P0:r0 == 1", &["not about registers"]);
    let launch = launch_file("message_passing/mp.2.2.toml");
    let mp = root().join("tests/consistency/message_passing/message_passing.ptx").display().to_string();
    TOOL.says(&[&mp], 2, &["several kernels", "--entry"]);
    TOOL.says(&["--ptx", &mp, "--entry", "mpx"], 2, &["no kernel `mpx`"]);
    TOOL.says(&["--ptx", &mp, "--entry", "mp", "--arg", "buffer:data"], 2, &["no buffer `data`"]);
    TOOL.says(&[&launch, "--grid", "2"], 2, &["--grid", "launch file"]);
    TOOL.says(&[&launch, "--model", "vulkan"], 2, &["for Vulkan"]);
    TOOL.says(&[&launch, "--why"], 2, &["--why"]);
    TOOL.says(&[&launch, "--all"], 2, &["--all"]);
    TOOL.says(&[&launch, "--property", "liveness", "--progress", "obe"], 2, &["--progress"]);
    TOOL.says(&["../litmus/MP-weak.litmus", "--exists", "x = 1"], 2, &["--exists"]);
    TOOL.says(&["../litmus/MP-weak.litmus", "--grid", "2"], 2, &["--grid"]);
    TOOL.says(&["absent.toml"], 2, &["absent.toml"]);
}

#[test]
fn limits_and_gaps_end_a_search() {
    let launch = launch_file("caslock/caslock.2.3.toml");
    TOOL.says(&[&launch, "--property", "safety", "--max-choices", "5"], 3, &["limit reached: 5 choices"]);
    TOOL.says(&[&launch, "--property", "liveness", "--max-choices", "5"], 3, &["limit reached: 5 choices"]);
    TOOL.says(&[&launch, "--property", "drf", "--timeout", "1ms"], 3, &["limit"]);
    // The PTX above has five lines before the body.
    let vote = "vote.sync.any.pred %p3, %p1, 3;";
    for property in ["safety", "drf", "liveness"] {
        kernel_says(vote, &["--block", "2", "--property", property], 4, &["`vote`", "line 9: vote.sync.any.pred"]);
    }
    let mixed = "@!%p1 bra R;\nst.u32 [%rd1], 1;\nret;\nR:\nld.u16 %r3, [%rd1];\nst.u32 [%rd3], %r3;";
    kernel_says(&mixed.replace("ld.u16 %r3", "ld.u8 %r3"), &["--property", "safety"], 4, &["different widths"]);
}

/// A defect is looked for like a result.
#[test]
fn a_defect_is_shown_with_an_execution() {
    let traps = "@!%p1 bra R;\nst.relaxed.gpu.u32 [%rd1], 1;\nst.relaxed.gpu.u32 [%rd2], 1;\nret;\nR:\n\
        ld.relaxed.gpu.u32 %r3, [%rd2];\nld.relaxed.gpu.u32 %r4, [%rd1];\n\
        setp.eq.u32 %p3, %r3, 1;\nsetp.eq.and.u32 %p3, %r4, 0, %p3;\n@%p3 trap;";
    let words = ["a thread comes to a defect", "trap", "no interleaving of the threads"];
    kernel_says(traps, &["--property", "safety"], 1, &words);
    let ordered = traps.replace("st.relaxed.gpu.u32 [%rd2]", "st.release.gpu.u32 [%rd2]");
    let ordered = ordered.replace("ld.relaxed.gpu.u32 %r3", "ld.acquire.gpu.u32 %r3");
    kernel_says(&ordered, &["--property", "safety"], 0, &["holds in every execution"]);
}

const SPIN: &str = "L:\nld.relaxed.gpu.u32 %r3, [%rd2];\nsetp.eq.u32 %p3, %r3, 0;\n@%p3 bra L;\n";

#[test]
fn who_spins_for_ever_is_told() {
    let ends = |body: &str, arguments: &[&str], code, words: &[&str]| {
        kernel_says(body, &[&["--property", "liveness"], arguments].concat(), code, words)
    };
    // Somebody sets the flag; nobody does; somebody does, but takes it back.
    let set = |then: &str| format!("@!%p1 bra L;\nst.relaxed.gpu.u32 [%rd2], 1;\n{then}\nret;\n{SPIN}");
    ends(&set(""), &[], 0, &["every execution ends\n"]);
    ends(SPIN, &[], 1, &["an execution never ends", "again and again", "ld.relaxed.gpu.u32"]);
    ends(&set("st.relaxed.gpu.u32 [%rd2], 0;"), &[], 1, &["block 1 thread 0", "f[0] = 0"]);
    // Who gives up in the end does not spin.
    let tries = "mov.u32 %r5, 0;\nL:\nld.relaxed.gpu.u32 %r3, [%rd2];\nadd.u32 %r5, %r5, 1;\nsetp.eq.u32 %p3, %r3, 0;\n\
        setp.lt.and.u32 %p3, %r5, 9, %p3;\n@%p3 bra L;";
    ends(tries, &[], 0, &["every execution ends, up to bound 1"]);
    // A lock that is never given back, with a compare-and-swap that writes nothing when it fails.
    let lock = "L:\natom.relaxed.gpu.cas.b32 %r3, [%rd2], 0, 1;\nsetp.ne.u32 %p3, %r3, 0;\n@%p3 bra L;\n";
    ends(lock, &[], 1, &["cas", "again and again"]);
    ends(&format!("{lock}st.relaxed.gpu.u32 [%rd2], 0;"), &[], 0, &["every execution ends"]);
}

/// A thread spins before a barrier for what another would do behind it.
#[test]
fn who_waits_at_a_barrier_for_one_that_spins_is_told() {
    let two = ["--property", "liveness", "--grid", "1", "--block", "2"];
    let behind = format!("@%p2 bra L;\nbar.sync 0;\nst.relaxed.gpu.u32 [%rd2], 1;\nret;\n{SPIN}bar.sync 0;");
    kernel_says(&behind, &two, 1, &["an execution never ends", "while others wait at barriers", "block 0 thread 1"]);
    let before = format!("@%p2 bra L;\nst.relaxed.gpu.u32 [%rd2], 1;\nbar.sync 0;\nret;\n{SPIN}bar.sync 0;");
    kernel_says(&before, &two, 0, &["every execution ends"]);
    let different = "@%p2 bra R;\nbar.sync 1;\nret;\nR:\nbar.sync 0;";
    kernel_says(different, &two, 4, &["several barriers", "prove"]);
}

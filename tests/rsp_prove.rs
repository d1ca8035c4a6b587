//! `warpstep prove --machine rsp` on the command line: the published bugs with their executions, what is repaired, races, deadlocks.

use crate::litmus_tool::{root, text};
use std::process::Command;

/// What the command says of a test under a scheme, and how it ends.
fn prove(file: &str, flags: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpstep"));
    command.args(["prove", file, "--machine", "rsp"]).args(flags);
    let output = command.current_dir(root().join("tests")).env("NO_COLOR", "1").output().unwrap();
    (output.status.code(), text(&output))
}

/// Ends with a code and says words.
#[track_caller]
fn says(file: &str, flags: &[&str], code: i32, words: &[&str]) -> String {
    let (found, text) = prove(file, flags);
    assert_eq!(found, Some(code), "{file} {flags:?}: {text}");
    for word in words {
        assert!(text.contains(word), "{file} {flags:?} does not say {word:?}:\n{text}");
    }
    text
}

#[track_caller]
fn golden(name: &str, found: &str) {
    let file = root().join("tests/rsp").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, found).unwrap();
    }
    let wanted = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == wanted, "{name} is not:\n{found}");
}

#[test]
fn published_bugs_are_shown_as_executions() {
    let original = ["--scheme", "original"];
    let broken = [
        ("litmus/rsp/figure4.litmus", "figure4.out", "do not allow this execution: Narf is violated"),
        (
            "litmus/rsp/figure4-increment.litmus",
            "figure4-increment.out",
            "do not allow this execution: Narf is violated",
        ),
        ("litmus/rsp/example4.litmus", "figure5.out", "do not allow this execution: Rmw is violated"),
    ];
    for (file, name, words) in broken {
        golden(name, &says(file, &original, 1, &[words, "Thread 1"]));
        let repaired = prove(file, &[]).1;
        assert!(repaired.contains("the program is not racy, and the axioms allow every execution"), "{repaired}");
        assert!(!repaired.contains("Thread 1"), "{repaired}");
    }
}

#[test]
fn racy_programs_may_do_anything() {
    let text = prove("litmus/rsp/example3.litmus", &["--all"]).1;
    assert!(text.contains("the program is racy by the axioms: it may do anything"), "{text}");
}

/// What locks can stop is looked for without reduction only.
#[test]
fn deadlocks_are_found_without_reduction() {
    let whole = ["--reduction", "none", "--scheme", "original"];
    golden(
        "deadlock.out",
        &says("rsp/deadlock.litmus", &whole, 1, &["from which no execution is completed, such as this"]),
    );
    says("rsp/deadlock.litmus", &whole[..2], 0, &["no execution can be left waiting for ever"]);
    says("rsp/deadlock.litmus", &[], 0, &["not asked: whether it can be left waiting for ever"]);
}

/// Scope ALL is for the proposed scheme alone.
#[test]
fn the_original_scheme_is_for_one_device() {
    let text = prove("rsp/all.litmus", &["--scheme", "original"]).1;
    assert!(text.contains("the original scheme has nothing for scope"), "{text}");
    says("rsp/all.litmus", &[], 1, &["the program is not racy, and the axioms allow every execution"]);
}

/// Where not all was gone through, nothing is said of all.
#[test]
fn a_limit_claims_nothing() {
    let few = ["--reduction", "none", "--max-states", "40"];
    let text = says("litmus/rsp/example1.litmus", &few, 3, &["limit reached: 40 states; nothing is proved"]);
    assert!(!text.contains("every execution") && !text.contains("no execution can"), "{text}");
}

/// What is told as text is told as data, too.
#[test]
fn data_has_what_the_axioms_say() {
    let of = |file: &str, flags: &[&str]| {
        let text = prove(file, &[flags, &["--format", "json"]].concat()).1;
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        report["axioms"].clone()
    };
    let original = ["--scheme", "original"];
    let broken = of("litmus/rsp/figure4.litmus", &original);
    assert_eq!(broken, serde_json::json!({ "say": "not-allowed", "violated": "Narf" }));
    let repaired = of("litmus/rsp/figure4.litmus", &[]);
    assert_eq!(repaired, serde_json::json!({ "say": "allowed", "violated": null }));
    let limited = of("litmus/rsp/example1.litmus", &["--reduction", "none", "--max-states", "40"]);
    assert_eq!(limited["say"], "allowed-so-far");
    assert_eq!(of("litmus/rsp/example3.litmus", &[])["say"], "racy");
}

#[test]
fn flags_of_other_machines_are_refused() {
    for flags in [&["--memory", "fermi"][..], &["--control", "crs"], &["--checkpoint", "x"], &["--progress", "obe"]] {
        let (code, text) = prove("litmus/rsp/example1.litmus", flags);
        assert_eq!(code, Some(2), "{flags:?}: {text}");
        assert!(text.contains(flags[0]) && text.contains("leave it out"), "{flags:?}: {text}");
    }
}

/// D-race-remote: commands that look for races among runs know what marks mean to which memory.
#[test]
fn marks_of_kernels_count_where_memory_knows_them() {
    let folder = tempfile::tempdir().unwrap();
    let ptx = folder.path().join("k.ptx");
    let kernel = ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .b32 %b, %r;\n.reg .b64 %m;\n\
                .reg .pred %q;\nld.param.u64 %m, [p];\nmov.u32 %b, %ctaid.x;\nsetp.ne.u32 %q, %b, 0;\n@%q bra OTHER;\n\
                st.global.u32 [%m], 1;\nst.release.cta.global.u32 [%m+64], 1;\nexit;\nOTHER:\n\
                .pragma \"warpstep remote\";\nld.acquire.gpu.global.u32 %r, [%m+64];\nsetp.eq.u32 %q, %r, 0;\n\
                @%q bra OTHER;\nld.global.u32 %r, [%m];\nexit;\n}\n";
    std::fs::write(&ptx, kernel).unwrap();
    let launch = ["--grid", "2", "--block", "1", "--buffer", "m:u32:128", "--arg", "buffer:m", "--check", "races"];
    for command in [&["run"][..], &["hunt", "--seeds", "3"], &["prove"]] {
        for (memory, code) in [("rsp", 0), ("flat", 1)] {
            let mut warpstep = Command::new(env!("CARGO_BIN_EXE_warpstep"));
            warpstep.args(command).arg(&ptx).args(launch).args(["--memory", memory]);
            let output = warpstep.current_dir(folder.path()).output().unwrap();
            assert_eq!(output.status.code(), Some(code), "{command:?} {memory}: {}", text(&output));
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_was_found_is_told_where_it_cannot_be_written() {
    for format in ["text", "json"] {
        for (scheme, code) in [("proposed", 2), ("original", 1)] {
            let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
            let args =
                ["prove", "tests/rsp/deadlock.litmus", "--machine", "rsp", "--scheme", scheme, "--format", format];
            let out = Command::new(env!("CARGO_BIN_EXE_warpstep"))
                .args(args)
                .current_dir(root())
                .stdout(full)
                .output()
                .unwrap();
            assert_eq!(out.status.code(), Some(code), "{args:?}");
            assert!(text(&out).contains("cannot write `standard output`"), "{}", text(&out));
        }
    }
}

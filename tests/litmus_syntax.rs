//! Litmus tests with mistakes: `tests/litmus_syntax/*.litmus` and what `warpstep check` says of each beside in NAME.out;
//! `BLESS=1 cargo test --test commands litmus_syntax` writes it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/litmus_syntax")
}

fn check(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpstep"));
    command.arg("check").args(arguments).current_dir(folder()).env("NO_COLOR", "1").output().unwrap()
}

#[test]
fn every_mistake_is_told() {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().flatten().map(|e| e.path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "litmus"));
    files.sort();
    assert!(files.len() > 20, "{}", files.len());
    let mut wrong = Vec::new();
    for file in files {
        let output = check(&[file.file_name().unwrap().to_str().unwrap()]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.code() != Some(2) || text.is_empty() {
            wrong.push(format!("{}: exit code {:?}\n{text}", file.display(), output.status.code()));
        }
        let golden = file.with_extension("out");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&golden, &text).unwrap();
        } else if std::fs::read_to_string(&golden).ok().as_ref() != Some(&text) {
            wrong.push(format!("{}: the output is\n{text}", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{}\nBLESS=1 takes the outputs as they are", wrong.join("\n"));
}

#[test]
fn complaints_are_data_as_well() {
    let output = check(&["--format", "json", "labels.litmus"]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["exit"], 2);
    let codes: Vec<&str> = value["problems"].as_array().unwrap().iter().filter_map(|p| p["code"].as_str()).collect();
    assert_eq!(codes, ["no-label", "no-label", "label-twice", "no-label"]);
    assert_eq!(value["problems"][1]["hint"], "did you mean `LC10`?");
    assert_eq!(value["problems"][0]["place"]["line"], 7);
}

#[test]
fn a_test_for_vulkan_is_checked_and_no_engine_runs_it() {
    let test = "../litmus/vulkan/MP-released.litmus";
    let output = check(&[test]);
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
    let tree = check(&["--dump", "tree", test]).stdout;
    assert!(tree.starts_with(b"VULKAN MP-released\n"), "{}", String::from_utf8_lossy(&tree));
    for arguments in [&["check", "--dump", "program", test][..], &["prove", test]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warpstep"));
        let output = command.args(arguments).current_dir(folder()).env("NO_COLOR", "1").output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{arguments:?}: {text}");
        assert_eq!(text.matches("the engines run PTX, and this test is for Vulkan").count(), 1, "{text}");
    }
}

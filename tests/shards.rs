//! `warpstep hunt --shard` and `--merge`: all parts come to what the whole hunt tells.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// A folder with targets of which few, many and no seeds show a defect.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schedules");
    for entry in std::fs::read_dir(from).unwrap().map(|e| e.unwrap()) {
        if entry.path().is_file() {
            std::fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
        }
    }
    folder
}

fn hunt(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpstep"));
    let words = [&["hunt"], words, &["--format", "json"]].concat();
    command.args(words).current_dir(folder).env("NO_COLOR", "1").output().unwrap()
}

fn json(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// Runs all parts, and writes their reports; gives the files' names.
fn parts(folder: &Path, words: &[&str], of: u32) -> Vec<String> {
    let one = |number: u32| {
        let shard = format!("{number}/{of}");
        let report = json(&hunt(folder, &[words, &["--shard", &shard]].concat()));
        assert_eq!(report["shard"]["number"], number);
        let name = format!("{number}.json");
        std::fs::write(folder.join(&name), report.to_string()).unwrap();
        name
    };
    (1..=of).map(one).collect()
}

#[test]
fn all_parts_are_the_whole_hunt() {
    let folder = folder();
    let mut found = 0;
    for (target, seeds, more) in [
        ("atomicity.toml", "60", &[][..]),
        ("atomicity.toml", "60", &["--keep-going"]),
        ("atomicity.toml", "37", &["--keep-going", "--first-seed", "5", "--strategy", "round-robin"]),
        ("racing.toml", "20", &["--check", "races", "--keep-going"]),
        ("locks.toml", "24", &["--keep-going", "--max-steps", "2000"]),
        ("barrier.toml", "9", &[]),
    ] {
        let words = [&[target, "--seeds", seeds], more].concat();
        let whole = hunt(folder.path(), &words);
        found += json(&whole)["findings"].as_array().unwrap().len();
        for of in [1, 2, 3, 7, 61] {
            if of == 61 && !more.is_empty() {
                continue;
            }
            let mut names = parts(folder.path(), &words, of);
            // In any order.
            names.reverse();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let merged = hunt(folder.path(), &[&words[..], &["--merge"], &names].concat());
            assert_eq!((json(&merged), merged.status.code()), (json(&whole), whole.status.code()), "{words:?} of {of}");
        }
    }
    assert!(found >= 4, "{found} defects were found in all");
}

#[test]
fn what_are_not_all_parts_of_one_hunt_is_told() {
    let folder = folder();
    let words = ["atomicity.toml", "--seeds", "30", "--keep-going"];
    parts(folder.path(), &words, 3);
    let put = |name: &str, change: &dyn Fn(&mut Value)| {
        let mut report: Value = serde_json::from_slice(&std::fs::read(folder.path().join("2.json")).unwrap()).unwrap();
        change(&mut report);
        std::fs::write(folder.path().join(name), report.to_string()).unwrap();
    };
    put("early.json", &|report| report["ended"] = "interrupted".into());
    put("whole.json", &|report| _ = report.as_object_mut().unwrap().remove("shard"));
    put("lies.json", &|report| {
        report["findings"] = serde_json::json!([{ "seed": 11, "times": 1 }, { "seed": 12, "times": 1 }, { "seed": 13, "times": 1 },
            { "seed": 14, "times": 1 }, { "seed": 15, "times": 1 }, { "seed": 16, "times": 1 }, { "seed": 17, "times": 1 },
            { "seed": 18, "times": 1 }, { "seed": 19, "times": 1 }, { "seed": 10, "times": 1 }]);
    });
    put("many.json", &|report| report["limited"] = 99.into());
    std::fs::write(folder.path().join("no.json"), "{").unwrap();
    for (files, code) in [
        (&["1.json", "3.json"][..], "missing-shard"),
        (&["1.json", "2.json", "2.json"], "double-shard"),
        (&["1.json", "early.json", "3.json"], "unfinished-shard"),
        (&["1.json", "whole.json", "3.json"], "no-shard"),
        (&["1.json", "no.json", "3.json"], "no-shard"),
        (&["1.json", "lies.json", "3.json"], "damaged-shard"),
        (&["1.json", "many.json", "3.json"], "damaged-shard"),
        (&["1.json", "none.json", "3.json"], "unreadable"),
    ] {
        let out = hunt(folder.path(), &[&words[..], &["--merge"], files].concat());
        let report = json(&out);
        assert_eq!(
            (out.status.code(), report["problems"][0]["code"].as_str()),
            (Some(2), Some(code)),
            "{files:?}: {report}"
        );
    }
    for other in [
        &["atomicity.toml", "--seeds", "31", "--keep-going"][..],
        &["atomicity.toml", "--seeds", "30"],
        &["atomicity.toml", "--seeds", "30", "--keep-going", "--strategy", "round-robin"],
        &["atomicity.toml", "--seeds", "30", "--keep-going", "--memory", "fermi"],
        &["barrier.toml", "--seeds", "30", "--keep-going"],
    ] {
        let out = hunt(folder.path(), &[other, &["--merge", "1.json", "2.json", "3.json"]].concat());
        assert_eq!(json(&out)["problems"][0]["code"], "other-hunt", "{other:?}");
    }
    let out = hunt(folder.path(), &["atomicity.toml", "--for", "1s", "--shard", "1/2"]);
    assert_eq!(json(&out)["problems"][0]["code"], "bad-flag");
}

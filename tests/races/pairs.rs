//! Kernels in pairs: `NAME.racy.ptx` has exactly the races that it names, `NAME.fixed.ptx` none.
//!
//! They begin with comments: what it is about, `// args: …` as in `tests/ui`, and for each pair of instructions that
//! race `// race: A B cause`, where A and B are comments at the ends of their lines.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/races")
}

/// The kernels of a kind, by name.
fn kernels(kind: &str) -> Vec<(String, PathBuf)> {
    let mut all: Vec<(String, PathBuf)> = std::fs::read_dir(folder())
        .unwrap()
        .flatten()
        .filter_map(|e| {
            let name = e.file_name().into_string().ok()?;
            Some((name.strip_suffix(&format!(".{kind}.ptx"))?.to_owned(), e.path()))
        })
        .collect();
    all.sort();
    all
}

/// Exit code, and each race as its lines, the lower first, and its cause or code.
fn run(file: &Path, more: &[&str]) -> (Option<i32>, BTreeSet<(u64, u64, String)>) {
    let source = std::fs::read_to_string(file).unwrap();
    let arguments = source.lines().find_map(|l| l.strip_prefix("// args: ")).expect("an `// args:` line");
    let mut words = arguments.split_whitespace();
    let output = Command::new(env!("CARGO_BIN_EXE_warpstep"))
        .args(words.next())
        .arg(file)
        .args(words)
        .args(["--check", "races", "--benign", "none", "--format", "json", "--max-steps", "10000000"])
        .args(more)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let value: serde_json::Value = serde_json::from_str(&text)
        .unwrap_or_else(|e| panic!("{}: {e}\n{text}{}", file.display(), String::from_utf8_lossy(&output.stderr)));
    let races = value["races"].as_array().unwrap_or_else(|| panic!("{}: {value:#}", file.display()));
    let race = |r: &serde_json::Value| {
        let line = |r: &serde_json::Value| r["place"]["line"].as_u64().unwrap_or(0);
        let (a, b) = (line(&r["thread"]), line(&r["other"]));
        let cause = r["details"]["cause"].as_str().or(r["code"].as_str()).unwrap_or("");
        (a.min(b), a.max(b), cause.to_owned())
    };
    (output.status.code(), races.iter().map(race).collect())
}

/// The races that a kernel names.
fn named(file: &Path) -> BTreeSet<(u64, u64, String)> {
    let source = std::fs::read_to_string(file).unwrap();
    let line = |mark: &str| {
        let end = format!(" // {mark}");
        let at = source.lines().position(|l| l.ends_with(&end) && !l.starts_with("//"));
        at.unwrap_or_else(|| panic!("{}: no line ends in {end}", file.display())) as u64 + 1
    };
    let races = source.lines().filter_map(|l| l.strip_prefix("// race: "));
    races
        .map(|race| {
            let words: Vec<&str> = race.split_whitespace().collect();
            let (a, b) = (line(words[0]), line(words[1]));
            (a.min(b), a.max(b), words[2].to_owned())
        })
        .collect()
}

#[test]
fn every_kernel_has_its_pair() {
    let names = |kind| kernels(kind).into_iter().map(|k| k.0).collect::<Vec<_>>();
    assert_eq!(names("racy"), names("fixed"));
    assert!(names("racy").len() >= 60, "{}", names("racy").len());
}

#[test]
fn no_race_is_missed() {
    let mut wrong = Vec::new();
    for (name, file) in kernels("racy") {
        let (wanted, (code, found)) = (named(&file), run(&file, &[]));
        if found != wanted || code != Some(1) || wanted.is_empty() {
            wrong.push(format!("{name}: exit {code:?}, found {found:?}, wanted {wanted:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_alarm_is_false() {
    let mut wrong = Vec::new();
    for (name, file) in kernels("fixed") {
        let schedules: [&[&str]; 4] = [&[], &["--seed", "1"], &["--seed", "2"], &["--control", "thread"]];
        for more in schedules {
            // Lockstep is what the token stack promises.
            if more.contains(&"thread") && name.starts_with("lockstep_two") {
                continue;
            }
            let (code, found) = run(&file, more);
            if !found.is_empty() || code != Some(0) {
                wrong.push(format!("{name} {more:?}: exit {code:?}, found {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The exit code of a search of a kernel on another memory.
fn hunted(file: &Path, memory: &[&str]) -> (Option<i32>, String) {
    let source = std::fs::read_to_string(file).unwrap();
    let arguments = source.lines().find_map(|l| l.strip_prefix("// args: run ")).expect("an `// args: run` line");
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_warpstep"))
        .current_dir(folder.path())
        .arg("hunt")
        .arg(file)
        .args(arguments.split_whitespace())
        .args(["--check", "races", "--benign", "none", "--seeds", "24", "--max-steps", "1000000"])
        .args(memory)
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Memory whose accesses take effect lane by lane, and with caches.
const MEMORIES: [&[&str]; 3] =
    [&["--lanes", "split"], &["--memory", "fermi"], &["--memory", "fermi", "--device", "report"]];

#[test]
fn no_race_is_missed_on_other_memories() {
    let mut wrong = Vec::new();
    for (memory, (name, file)) in MEMORIES.into_iter().flat_map(|m| kernels("racy").into_iter().map(move |k| (m, k))) {
        let (code, told) = hunted(&file, memory);
        if code != Some(1) || !told.contains("[race]") && !told.contains("[lane-decides]") {
            wrong.push(format!("{name} {memory:?}: exit {code:?}\n{told}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_alarm_is_false_on_other_memories() {
    let mut wrong = Vec::new();
    for (memory, (name, file)) in MEMORIES.into_iter().flat_map(|m| kernels("fixed").into_iter().map(move |k| (m, k))) {
        let (code, told) = hunted(&file, memory);
        if code != Some(0) {
            wrong.push(format!("{name} {memory:?}: exit {code:?}\n{told}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

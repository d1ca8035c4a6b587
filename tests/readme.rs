//! Every command of the README runs as it stands there, from the root of a clone; every transcript, also of docs/ci.md, is what it
//! prints.
//!
//! A line of a code block that begins with `$ ` is a command with its output below it, both streams as a terminal shows
//! them; `BLESS=1` rewrites the output. A line that begins with `warpstep ` or `cargo run` is a command whose output is not
//! shown. What is piped into another program is run without it. Slow builds leave out the commands without output.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A folder that has what a clone has, into which commands may write.
fn clone() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["ptx-examples", "tests", "docs"] {
        copy(&root().join(name), &folder.path().join(name));
    }
    folder
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).unwrap();
        }
    }
}

/// The words after `warpstep`, up to a pipe or a comment; `None` for a line that is no command of ours.
fn words(line: &str) -> Option<Vec<String>> {
    let line = line.strip_prefix("$ ").unwrap_or(line);
    let line = line.split(" # ").next()?.split(" | ").next()?;
    let rest = line.strip_prefix("warpstep ").or_else(|| line.strip_prefix("cargo run --release -- "))?;
    Some(rest.split_whitespace().map(|word| word.trim_matches('\'').to_owned()).collect())
}

/// Runs a command; its exit code and what a terminal would show.
fn run(folder: &Path, line: &str) -> (Option<i32>, String) {
    if let Some(file) = line.strip_prefix("$ cat ") {
        return (Some(0), fs::read_to_string(folder.join(file)).unwrap_or_default());
    }
    let words = words(line).unwrap_or_else(|| panic!("no command of ours: {line}"));
    let shown = tempfile::NamedTempFile::new().unwrap();
    let stream = || Stdio::from(fs::OpenOptions::new().append(true).open(shown.path()).unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpstep"));
    command.args(words).current_dir(folder).stdin(Stdio::null()).stdout(stream()).stderr(stream());
    let status = command.status().unwrap();
    (status.code(), fs::read_to_string(shown.path()).unwrap())
}

/// The lines of the README's code blocks, in order, each with whether it is inside one.
fn lines(readme: &str) -> Vec<(&str, bool)> {
    let mut inside = false;
    let mut lines = Vec::new();
    for line in readme.lines() {
        let fence = line.starts_with("```");
        inside ^= fence;
        lines.push((line, inside && !fence));
    }
    lines
}

#[test]
fn every_transcript_is_what_a_command_prints() {
    for (page, least) in [("README.md", 3), ("docs/ci.md", 2)] {
        transcripts(page, least);
    }
}

/// Runs the transcripts of a page, which has so many at least.
fn transcripts(page: &str, least: usize) {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let folder = clone();
    let (mut rewritten, mut count, mut below) = (String::new(), 0, false);
    for (line, code) in lines(&text) {
        below &= code;
        if code && line.starts_with("$ ") {
            let (status, shown) = run(folder.path(), line);
            assert!(matches!(status, Some(0 | 1 | 3)), "{line} ends with {status:?}:\n{shown}");
            writeln!(rewritten, "{line}").unwrap();
            rewritten += &shown;
            below = true;
            count += 1;
        } else if !below {
            writeln!(rewritten, "{line}").unwrap();
        }
    }
    assert!(count >= least, "{page} has {count} transcripts");
    if std::env::var_os("BLESS").is_some() {
        return fs::write(root().join(page), rewritten).unwrap();
    }
    for (number, (found, wanted)) in rewritten.lines().zip(text.lines()).enumerate() {
        assert_eq!(found, wanted, "{page}:{}; BLESS=1 rewrites it", number + 1);
    }
    assert_eq!(rewritten.lines().count(), text.lines().count());
}

#[test]
fn every_command_runs_from_a_clone() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let folder = clone();
    let mut commands = Vec::new();
    // What a command printed may begin with its name, too.
    let mut below = false;
    for (line, code) in lines(&readme) {
        below = code && (below || line.starts_with("$ "));
        if code && !below && (line.starts_with("warpstep ") || line.starts_with("cargo run")) {
            commands.push(line);
        }
    }
    assert!(commands.len() >= 25, "the README has {} commands", commands.len());
    if cfg!(debug_assertions) {
        return eprintln!("skipped in a slow build: {} commands", commands.len());
    }
    for line in commands {
        let (status, shown) = run(folder.path(), line);
        // 0: as expected; 1: the example is wrong on purpose; 3: it shows a limit.
        assert!(matches!(status, Some(0 | 1 | 3)), "{line} ends with {status:?}:\n{shown}");
    }
}

//! `warpstep litmus --extract`: races that `hunt` found as litmus tests, which are read again and have the race; what has none.

use std::path::Path;
use std::process::{Command, Output};

fn warpstep(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpstep"));
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").output().unwrap()
}

/// Ends with a code; gives standard output and error.
#[track_caller]
fn ends(folder: &Path, arguments: &[&str], code: i32) -> [String; 2] {
    let output = warpstep(folder, arguments);
    let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text:?}");
    text
}

/// Hunts for the race of a kernel of `tests/races`, with flags; leaves `it.schedule`.
#[track_caller]
fn hunted(folder: &Path, name: &str, more: &[&str]) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/races").join(format!("{name}.racy.ptx"));
    let source = std::fs::read_to_string(&file).unwrap();
    let flags = source.lines().find_map(|line| line.strip_prefix("// args: run ")).unwrap();
    let file = file.display().to_string();
    let mut words = vec!["hunt", &*file, "--check", "races", "--seeds", "5", "--save-schedule", "it.schedule"];
    words.extend(flags.split_whitespace().chain(more.iter().copied()));
    ends(folder, &words, 1);
}

/// The test's rows and condition, and that it says the same of itself when it is read again.
#[test]
fn races_become_tests_that_have_them() {
    for (name, code, condition) in [
        ("blocks_write", "st.weak x, 0 | st.weak x, 1 ;", "exists x = 1"),
        ("acquire_without_release", "st.weak x, 42 | ld.weak r0, x ;", "exists 1:r0 = 42"),
        ("acquire_of_cta", "st.release.gpu x, 1 | ld.acquire.cta r0, x ;", "exists 1:r0 = 1"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        hunted(here, name, &[]);
        let [text, told] = ends(here, &["litmus", "--extract", "it.schedule"], 1);
        let words: Vec<&str> = text.split_whitespace().collect();
        let words = words.join(" ");
        assert!(words.contains(code) && words.ends_with(condition), "{name}: {text}");
        assert_eq!(told, "ptx-v7.5: racy; what the run came to is allowed\n", "{name}");
        let both = ["litmus", "--extract", "it.schedule", "--output", "it.litmus", "--model", "ptx-v6.0"];
        let [printed, told] = ends(here, &both, 1);
        assert!(printed.is_empty() && told.starts_with("ptx-v6.0: racy"), "{printed}{told}");
        assert_eq!(std::fs::read_to_string(here.join("it.litmus")).unwrap(), text);
        ends(here, &["litmus", "it.litmus", "--property", "drf"], 1);
        ends(here, &["litmus", "it.litmus"], 0);
        ends(here, &["prove", "it.litmus"], 0);
    }
}

#[test]
fn what_has_no_test_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    hunted(here, "atomic_and_read", &[]);
    let extract = ["litmus", "--extract", "it.schedule"];
    let [text, told] = ends(here, &extract, 4);
    assert!(text.is_empty() && told.contains("a race with an atomic operation has no litmus test here"), "{told}");
    // On caches a report of a race does not have its values.
    hunted(here, "blocks_write", &["--memory", "fermi"]);
    assert!(ends(here, &extract, 4)[1].contains("a value that is not known"));
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schedules/atomicity.toml").display().to_string();
    ends(here, &["prove", &target, "--save-schedule", "no.schedule"], 1);
    assert!(ends(here, &["litmus", "--extract", "no.schedule"], 2)[1].contains("does not stop at a race"));
    assert!(ends(here, &["litmus", "--extract", "none.schedule"], 2)[1].contains("cannot read"));
    let json = [&extract[..], &["--format", "json"]].concat();
    assert!(ends(here, &json, 2)[0].contains("which is text"));
    ends(here, &["litmus", "--extract", "it.schedule", "x.litmus"], 2);
}

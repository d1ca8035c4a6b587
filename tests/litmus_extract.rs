//! `warpstep litmus --extract`: what `hunt` and `prove` found as litmus tests, which are read again and say the same; what has none.
//!
//! `tests/extract/` has kernels that say in their first lines how they are launched and what ptx-v7.5 says, with the tests beside them; `BLESS=1` rewrites
//! those.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const EXTRACT: [&str; 3] = ["litmus", "--extract", "it.schedule"];

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

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Hunts for the race of a kernel of `tests/races`, with flags; leaves `it.schedule`.
#[track_caller]
fn hunted(folder: &Path, name: &str, more: &[&str]) {
    let file = root().join("tests/races").join(format!("{name}.racy.ptx"));
    let source = std::fs::read_to_string(&file).unwrap();
    let flags = source.lines().find_map(|line| line.strip_prefix("// args: run ")).unwrap();
    let file = file.display().to_string();
    let mut words = vec!["hunt", &*file, "--check", "races", "--seeds", "20", "--save-schedule", "it.schedule"];
    words.extend(flags.split_whitespace().chain(more.iter().copied()));
    ends(folder, &words, 1);
}

/// The words of a text, where a location is called `out` whichever element of the buffer it is.
fn words(text: &str) -> String {
    let plain = |word: &str| match word.split_once("out_") {
        Some((before, rest)) => format!("{before}out{}", rest.trim_start_matches(|c: char| c.is_ascii_digit())),
        None => word.to_owned(),
    };
    text.split_whitespace().map(plain).collect::<Vec<_>>().join(" ")
}

/// A test says of itself what was said when it was made: there is an outcome like that, or there is none, and the machine shows it on flat memory only
/// where an interleaving does.
fn again(folder: &Path, name: &str, told: &str) {
    let allowed = if told.contains("allowed") { 0 } else { 1 };
    ends(folder, &["litmus", name], allowed);
    if told.contains("racy") {
        ends(folder, &["litmus", name, "--property", "drf"], 1);
    }
}

/// The kernel, what is said of it, and the test that is beside it.
fn kernels() -> Vec<(PathBuf, String, PathBuf)> {
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(root().join("tests/extract")).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.retain(|path| path.extension().is_some_and(|e| e == "ptx"));
    all.sort();
    let with = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let golden = path.with_extension("litmus");
        (path, text, golden)
    };
    all.into_iter().map(with).collect()
}

/// What is found of each kernel becomes the test beside it, and is called what the kernel says.
#[test]
fn what_hunts_find_becomes_tests() {
    let mut wrong = Vec::new();
    for (path, text, golden) in kernels() {
        let named = |what: &str| text.lines().find_map(|line| line.strip_prefix(what)).unwrap();
        let (flags, says) = (named("// args: "), named("// says: "));
        let folder = tempfile::tempdir().unwrap();
        let (here, file) = (folder.path(), path.display().to_string());
        let mut hunt = vec!["hunt", &*file, "--seeds", "4000", "--save-schedule", "it.schedule"];
        hunt.extend(flags.split_whitespace());
        ends(here, &hunt, 1);
        let output = warpstep(here, &EXTRACT);
        let [found, told] = [&output.stdout, &output.stderr].map(|b| String::from_utf8_lossy(b).into_owned());
        if std::env::var_os("BLESS").is_some() && !found.is_empty() {
            std::fs::write(&golden, &found).unwrap();
        }
        let wanted = std::fs::read_to_string(&golden).unwrap_or_default();
        if found != wanted || !told.contains(says) {
            wrong.push(format!("{file}: {found}{told}"));
        }
        if !found.is_empty() {
            std::fs::write(here.join("it.litmus"), &found).unwrap();
            again(here, "it.litmus", &told);
            // No interleaving comes to it; that of a race is one.
            let shown = i32::from(found.starts_with("PTX weak"));
            ends(here, &["prove", "it.litmus"], shown);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The test's rows and condition, and that it says the same of itself when it is read again.
#[test]
fn races_become_tests_that_have_them() {
    for (name, memory, code, condition) in [
        ("blocks_write", "flat", "st.weak out, 0 | st.weak out, 1 ;", "exists out = 1"),
        ("blocks_write", "fermi", "st.weak out, 0 | st.weak out, 1 ;", "exists out = 1"),
        ("acquire_without_release", "flat", "st.weak out, 42 | ld.weak r0, out ;", "exists 1:r0 = 42"),
        ("acquire_of_cta", "flat", "st.release.gpu out, 1 | ld.acquire.cta r0, out ;", "exists 1:r0 = 1"),
        (
            "atomic_and_read",
            "flat",
            "ld.weak r0, out | atom.relaxed.gpu.add r0, out, 1 ;",
            "exists (0:r0 = 2 /\\ 1:r0 = 2)",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        hunted(here, name, &["--memory", memory]);
        let [text, told] = ends(here, &EXTRACT, 1);
        assert!(words(&text).contains(code) && words(&text).ends_with(condition), "{name}: {text}");
        assert_eq!(told, "ptx-v7.5: racy; what the run came to is allowed\n", "{name}");
        let both = [&EXTRACT[..], &["--output", "it.litmus", "--model", "ptx-v6.0"]].concat();
        let [printed, told] = ends(here, &both, 1);
        assert!(printed.is_empty() && told.starts_with("ptx-v6.0: racy"), "{printed}{told}");
        assert_eq!(std::fs::read_to_string(here.join("it.litmus")).unwrap(), text);
        again(here, "it.litmus", "racy; allowed");
        ends(here, &["prove", "it.litmus"], 0);
    }
}

/// All races of the kernels in `tests/races` have a test with the race, or something that litmus tests do not say.
#[test]
fn every_race_has_a_test_or_a_reason() {
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(root().join("tests/races")).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    let (mut tests, mut reasons) = (0, Vec::new());
    for path in all {
        let Some(name) = path.file_name().unwrap().to_str().unwrap().strip_suffix(".racy.ptx") else { continue };
        let folder = tempfile::tempdir().unwrap();
        hunted(folder.path(), name, &[]);
        let output = warpstep(folder.path(), &EXTRACT);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.code() {
            Some(1) => {
                assert!(told.contains("ptx-v7.5: racy"), "{name}: {told}");
                tests += 1;
            }
            // Lanes of one instruction that write different values, strongly: no race.
            Some(2) if name == "strong_lanes_differ" => {}
            Some(4) => reasons.push(format!("{name}: {told}")),
            other => panic!("{name} ends with {other:?}: {told}"),
        }
    }
    eprintln!("{tests} tests, and {reasons:#?}");
    assert!(tests > 30 && reasons.len() < 10, "{tests} tests, {reasons:#?}");
}

#[test]
fn a_program_is_told_the_test_and_what_models_say() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    hunted(here, "blocks_write", &[]);
    let [text, _] = ends(here, &EXTRACT, 1);
    let json = [&EXTRACT[..], &["--format", "json"]].concat();
    let [told, error] = ends(here, &json, 1);
    let value: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&value["extracted"], error), (&text.into(), String::new()));
    assert_eq!((&value["of"], &value["exit"]), (&"race".into(), &1.into()));
    let says = serde_json::json!([{ "model": "ptx-v7.5", "allowed": true, "racy": true }]);
    assert_eq!(value["models"], says);
    let schema = crate::schema::Schema::read("docs/schema/report.schema.json");
    assert_eq!(schema.complaint(&value), None);
    // What has no test is told as a stop.
    std::fs::copy(root().join("tests/extract/bytes.ptx"), here.join("bytes.ptx")).unwrap();
    let hunt = "hunt bytes.ptx --grid 2 --memory fermi --seeds 4000 --save-schedule it.schedule";
    std::fs::remove_file(here.join("it.schedule")).unwrap();
    ends(here, &hunt.split(' ').collect::<Vec<_>>(), 1);
    let value: serde_json::Value = serde_json::from_str(&ends(here, &json, 4)[0]).unwrap();
    assert_eq!(schema.complaint(&value), None);
    assert!(value["stopped"]["message"].as_str().is_some_and(|m| m.contains("overlap partly")), "{value}");
}

#[test]
fn what_has_no_test_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let target = root().join("tests/schedules/atomicity.toml").display().to_string();
    ends(here, &["prove", &target, "--save-schedule", "it.schedule"], 1);
    ends(here, &EXTRACT, 1);
    assert!(ends(here, &["litmus", "--extract", "none.schedule"], 2)[1].contains("cannot read"));
    ends(here, &["litmus", "--extract", "it.schedule", "x.litmus"], 2);
}

/// What a copy in flight reads and writes is not known when it begins: no test says it wrongly.
#[test]
fn races_with_copies_in_flight_have_no_test() {
    let folder = tempfile::tempdir().unwrap();
    let file = root().join("tests/ui/bug/copy_in_flight.ptx");
    let source = std::fs::read_to_string(&file).unwrap();
    let flags = source.lines().find_map(|line| line.strip_prefix("// args: run ")).unwrap();
    let file = file.display().to_string();
    let mut words = vec!["hunt", &*file, "--seeds", "5", "--save-schedule", "it.schedule"];
    words.extend(flags.split_whitespace());
    ends(folder.path(), &words, 1);
    let output = warpstep(folder.path(), &EXTRACT);
    let text = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.code() != Some(0) && text.contains("asynchronous copy"), "{:?}: {text}", output.status);
}

//! Suppression files on the command line: what they change, and what they do not.

use crate::schema::Schema;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Runs a case of `tests/ui` that writes out of bounds in CUDA line 3, with a suppression file; everything it wrote, and
/// its exit code.
fn run(case: &str, file: &str, flags: &[&str]) -> (String, i32) {
    let folder = tempfile::tempdir().unwrap();
    let suppressions = folder.path().join("known.toml");
    std::fs::write(&suppressions, file).unwrap();
    let ui = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui");
    let output = Command::new(env!("CARGO_BIN_EXE_warpstep"))
        .args(["run", case, "--buffer", "out:u32:32", "--arg", "buffer:out", "--suppressions"])
        .arg(&suppressions)
        .args(flags)
        .current_dir(ui)
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&text).into_owned(), output.status.code().unwrap_or(-1))
}

const CASE: &str = "bug/cuda_line.ptx";
const KNOWN: &str =
    "[[suppress]]\nkind = \"out-of-bounds\"\nfile = \"cuda_line.cu\"\nline = 3\nreason = \"ticket 12\"\n";
const OTHER: &str = "[[suppress]]\nkind = \"out-of-bounds\"\nentry = \"other\"\nreason = \"ticket 13\"\n";

#[test]
fn a_known_defect_is_told_and_does_not_fail() {
    let (text, code) = run(CASE, KNOWN, &[]);
    assert_eq!(code, 0, "{text}");
    for words in
        ["1 suppressed: ticket 12", "known.toml:1", "[out-of-bounds]", "cuda_line.ptx:18", "the run ended there"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("unused-suppression"), "{text}");
}

#[test]
fn an_entry_that_matches_nothing_is_warned_of_and_suppresses_nothing() {
    let (text, code) = run(CASE, OTHER, &[]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("[unused-suppression] Warning") && text.contains("ticket 13"), "{text}");
    assert!(text.contains("[out-of-bounds] Error") && !text.contains("suppressed:"), "{text}");
    // So is one of a run without defects.
    let (text, code) = run("../reports/fine.ptx", OTHER, &[]);
    assert!(code == 0 && text.contains("[unused-suppression] Warning") && text.contains("finished"), "{text}");
}

#[test]
fn a_limit_cannot_be_suppressed() {
    let (text, code) = run(CASE, "[[suppress]]\nkind = \"limit\"\nreason = \"slow\"\n", &[]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("[no-kind] Error") && text.contains("known.toml:2:8"), "{text}");
    let (text, code) = run(CASE, KNOWN, &["--max-steps", "1"]);
    assert!(code == 3 && text.contains("limit reached"), "{text}");
}

/// A run goes on after a race, so that each is suppressed for itself.
#[test]
fn races_are_suppressed_one_by_one() {
    const RACE: &str = "../races/atomic_and_read.racy.ptx";
    let flags = ["--check", "races", "--grid", "3"];
    let entry = "[[suppress]]\nkind = \"race\"\nfile = \"atomic_and_read.racy.ptx\"\nreason = \"counts roughly\"\n";
    let (text, code) = run(RACE, entry, &flags);
    assert!(code == 0 && text.contains("1 suppressed: counts roughly") && text.contains("finished"), "{text}");
    assert!(!text.contains("the run ended there") && !text.contains("[race] Error"), "{text}");
    let (text, code) = run(RACE, OTHER, &flags);
    assert!(code == 1 && text.contains("[race] Error") && text.contains("[unused-suppression]"), "{text}");

    let (text, code) = run(RACE, entry, &[&flags[..], &["--format", "json"]].concat());
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(Schema::read("docs/schema/report.schema.json").complaint(&value), None);
    assert_eq!((code, &value["races"][0]["suppressed"]["reason"]), (0, &"counts roughly".into()));
    let (text, code) = run(RACE, entry, &[&flags[..], &["--format", "sarif"]].concat());
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(Schema::read("tests/reports/sarif.schema.json").complaint(&value), None);
    let result = &value["runs"][0]["results"][0];
    assert_eq!(
        (code, &result["ruleId"], result["suppressions"].as_array().map(Vec::len)),
        (0, &"race".into(), Some(1))
    );
    // Both parties are shown: the earlier one, and each thread's way.
    assert_eq!(result["relatedLocations"].as_array().map(Vec::len), Some(1));
    assert_eq!(result["codeFlows"][0]["threadFlows"].as_array().map(Vec::len), Some(2));
}

#[test]
fn reports_for_programs_say_what_is_suppressed() {
    let both = [KNOWN, OTHER].concat();
    let (text, code) = run(CASE, &both, &["--format", "json"]);
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, value["exit"].as_u64()), (0, Some(0)));
    assert_eq!(Schema::read("docs/schema/report.schema.json").complaint(&value), None);
    assert_eq!(value["stopped"]["suppressed"]["reason"], "ticket 12");
    assert_eq!(value["unused_suppressions"][0]["place"]["line"], 6);

    let (text, code) = run(CASE, &both, &["--format", "sarif"]);
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(code, 0);
    assert_eq!(Schema::read("tests/reports/sarif.schema.json").complaint(&value), None);
    let run = &value["runs"][0];
    assert_eq!(run["results"][0]["suppressions"][0]["justification"], "ticket 12");
    let notice = &run["invocations"][0]["toolConfigurationNotifications"][0];
    assert_eq!((&notice["level"], &notice["descriptor"]["id"]), (&"warning".into(), &"unused-suppression".into()));
}

//! Timelines (`--trace`): what the Trace Event Format demands, and what ours promises.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Runs a target from the folder of this test; the trace as it is written, and the report.
fn traced(target: &str, flags: &[&str], code: i32) -> (String, Value) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.json");
    let output = Command::new(env!("CARGO_BIN_EXE_warpstep"))
        .args(["run", target, "--format", "json", "--trace"])
        .arg(&file)
        .args(flags)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reports"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stdout));
    (std::fs::read_to_string(file).unwrap(), serde_json::from_slice(&output.stdout).unwrap())
}

const BARRIER: [&str; 6] = ["--block", "64", "--buffer", "out:u32:64", "--arg", "buffer:out"];

/// What is counted in a timeline: events by phase and category.
type Counts = BTreeMap<String, u64>;

/// Checks a timeline and counts its events. `whole`: the run came to its end, so every arrow does.
fn checked(text: &str, whole: bool) -> Counts {
    let file: Value = serde_json::from_str(text).unwrap();
    let (mut counts, mut last) = (Counts::new(), 0);
    let (mut processes, mut threads) = (BTreeSet::new(), BTreeSet::new());
    // Of each track the end of its last slice, and how many slices are open.
    let mut tracks: BTreeMap<(u64, u64), (u64, u64, u64)> = BTreeMap::new();
    let mut arrows: BTreeMap<u64, String> = BTreeMap::new();
    for event in file["traceEvents"].as_array().unwrap() {
        let number = |key: &str| event[key].as_u64().unwrap_or_else(|| panic!("no `{key}`: {event}"));
        let word = |key: &str| event[key].as_str().unwrap_or_else(|| panic!("no `{key}`: {event}")).to_owned();
        let (ph, name, track) = (word("ph"), word("name"), (number("pid"), number("tid")));
        if ph == "M" {
            let new = match name.as_str() {
                "process_name" => processes.insert(track.0),
                "thread_name" => threads.insert(track),
                _ => true,
            };
            assert!(new, "named twice: {event}");
            continue;
        }
        assert!(processes.contains(&track.0) && threads.contains(&track), "no name: {event}");
        *counts.entry(format!("{ph} {}", word("cat"))).or_default() += 1;
        let ts = number("ts");
        assert!(ts >= last, "time goes back: {event}");
        last = ts;
        let (start, end, open) = tracks.entry(track).or_default();
        match ph.as_str() {
            "X" => {
                assert!(ts >= *end && number("dur") > 0, "slices overlap: {event}");
                (*start, *end) = (ts, ts + number("dur"));
            }
            "B" => *open += 1,
            "E" => *open = open.checked_sub(1).unwrap_or_else(|| panic!("nothing is open: {event}")),
            "i" => assert_eq!(event["s"], "t"),
            "s" | "t" | "f" => {
                assert!(*open > 0 || (*start..*end).contains(&ts), "an arrow at nothing: {event}");
                let before = arrows.insert(number("id"), ph.clone());
                let expected = match ph.as_str() {
                    "s" => None,
                    "t" => Some("s"),
                    _ => Some("t"),
                };
                assert_eq!(before.as_deref(), expected, "{event}");
            }
            _ => panic!("an event of an unknown kind: {event}"),
        }
    }
    assert!(tracks.values().all(|(_, _, open)| *open == 0), "slices without an end");
    assert!(!whole || arrows.values().all(|ph| ph == "f"), "arrows without an end: {arrows:?}");
    counts
}

#[test]
fn a_small_timeline_is_as_reviewed() {
    let (text, _) = traced("barrier.ptx", &BARRIER, 0);
    let counts = checked(&text, true);
    assert_eq!((counts["B barrier"], counts["E barrier"]), (1, 1));
    assert_eq!((counts["s barrier"], counts["f barrier"]), (2, 2));
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reports/barrier.trace.json");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&golden, &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(golden).unwrap_or_default(), "BLESS=1 takes it");
}

#[test]
fn every_instruction_is_a_slice() {
    // What a call of printf is lowered to counts as instructions, and is no line of the program.
    for (example, helpers) in
        [("named_barriers", false), ("spinlock", false), ("votes_and_match", false), ("printf", true)]
    {
        for flags in [&[][..], &["--seed", "5"], &["--memory", "fermi"]] {
            let (text, report) = traced(&format!("../../ptx-examples/{example}"), flags, 0);
            let counts = checked(&text, true);
            let launches = report["launches"].as_array().unwrap();
            let executed: u64 = launches.iter().filter_map(|l| l["warp_instructions"].as_u64()).sum();
            let slices = counts["X instruction"];
            assert!(slices == executed || helpers && slices < executed, "{example} {flags:?}: {slices} {executed}");
            assert!(counts["i choice"] > 0, "{example} {flags:?}: {counts:?}");
            let steps = counts.get("i memory").copied().unwrap_or(0);
            assert!(flags != ["--memory", "fermi"] || steps > 100, "{example}: no steps of memory");
            assert_eq!(
                text,
                traced(&format!("../../ptx-examples/{example}"), flags, 0).0,
                "{example}: not the same again"
            );
        }
    }
}

#[test]
fn rules_are_shown_when_asked_for() {
    let (text, _) = traced("barrier.ptx", &[&BARRIER[..], &["--rules"]].concat(), 0);
    let counts = checked(&text, true);
    assert!(counts["i rule"] > 100, "{counts:?}");
    for rule in ["thread.barsync", "bar.endBar", "context.issue", "device.in"] {
        assert!(text.contains(&format!("\"{rule}\"")), "{rule}");
    }
    let (text, _) = traced("barrier.ptx", &BARRIER, 0);
    assert_eq!(checked(&text, true).get("i rule"), None);
}

#[test]
fn a_timeline_ends_where_the_run_stops() {
    let (text, report) = traced("../ui/stuck/json.ptx", &["--block", "32"], 1);
    assert_eq!(report["stopped"]["code"], "barrier-deadlock");
    let counts = checked(&text, false);
    assert_eq!((counts["B barrier"], counts["E barrier"], counts["i stop"]), (1, 1, 1));
    assert!(text.contains("stopped: barrier-deadlock") && text.contains("\"released\":false"));
}

#[test]
fn host_scripts_have_timelines() {
    for flags in [&[][..], &["--memory", "fermi", "--seed", "3"]] {
        let (text, _) = traced("../host/concurrent.toml", flags, 0);
        let counts = checked(&text, true);
        assert!(counts["X instruction"] > 0 && counts["i host"] > 2 && counts["i choice"] > 0, "{counts:?}");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_told() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpstep"));
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reports");
    command.args(["run", "barrier.ptx", "--trace", "no/such/folder.json"]).args(BARRIER).current_dir(here);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && text.contains("cannot write `no/such/folder.json`"), "{text}");
}

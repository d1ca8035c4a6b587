//! Machine-readable reports: every case of `tests/ui` told as JSON and as SARIF keeps to its schema.
//!
//! The JSON schema is the documented one. That for SARIF is stricter than the standard's: only what we write, each with its
//! section. Outputs were checked against the standard's own schema, which is not ours to copy here.

mod suppressions;
mod timeline;

use crate::case::Case;
use crate::folders::{FOLDERS, all};
use crate::schema::Schema;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use warpstep::verdict::Kind;

/// A case's report in a format, and its exit code.
fn report(case: &Case, format: &str) -> (Value, i32) {
    let mut arguments = case.arguments();
    if let Some(at) = arguments.iter().position(|a| *a == "--format") {
        arguments.drain(at..at + 2);
    }
    arguments.extend(["--format", format]);
    let output = case.run(&arguments).unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}: {text}", case.path.display()));
    (value, output.status.code().unwrap_or(-1))
}

/// Every case but those whose output is a dump.
fn cases() -> Vec<(Case, i32)> {
    let all = FOLDERS.iter().flat_map(|(folder, code)| all(folder).into_iter().map(|c| (c, *code)));
    let all: Vec<_> = all.filter(|(c, _)| !c.arguments().contains(&"--dump")).collect();
    assert!(all.len() > 80, "{}", all.len());
    all
}

#[test]
fn json_keeps_to_its_schema() {
    let schema = Schema::read("docs/schema/report.schema.json");
    let mut shapes = BTreeSet::new();
    for (case, code) in cases() {
        let (value, exit) = report(&case, "json");
        assert_eq!(schema.complaint(&value), None, "{}", case.path.display());
        assert_eq!((exit, value["exit"].as_i64()), (code, Some(code.into())), "{}", case.path.display());
        let stop = value["stopped"]["stop"].as_str().map(str::to_owned);
        shapes.insert(stop.or_else(|| value.as_object()?.keys().next().cloned()).unwrap_or_default());
    }
    let all = ["bug", "exit", "launches", "limit", "stuck", "unsupported"].map(str::to_owned);
    assert_eq!(shapes, all.into());
}

#[test]
fn tables_keep_to_the_schema() {
    let schema = Schema::read("docs/schema/report.schema.json");
    for arguments in [&["rules"][..], &["bench", "--shift", "14", "--reps", "1", "saxpy"]] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_warpstep"));
        let output = command.args(arguments).args(["--format", "json"]).output().unwrap();
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(schema.complaint(&value), None, "{arguments:?}");
    }
}

#[test]
fn searches_keep_to_the_schema() {
    let schema = Schema::read("docs/schema/report.schema.json");
    let folder = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schedules");
    for file in ["atomicity.toml", "atomicity.ptx"] {
        std::fs::copy(from.join(file), folder.path().join(file)).unwrap();
    }
    for (arguments, key) in [
        (&["hunt", "atomicity.toml", "--seeds", "50"][..], "findings"),
        (&["hunt", "atomicity.toml", "--seeds", "20", "--keep-going", "--strategy", "pct"], "bound"),
        (&["replay", "atomicity.schedule"], "turns"),
        (&["replay", "atomicity.schedule", "--continue"], "diverged"),
        (&["minimise", "atomicity.schedule"], "complete"),
    ] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_warpstep"));
        let output = command.args(arguments).args(["--format", "json"]).current_dir(&folder).output().unwrap();
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(schema.complaint(&value), None, "{arguments:?}");
        assert!(value.get(key).is_some() && value["exit"] == 1, "{arguments:?}: {value}");
    }
}

#[test]
fn proofs_keep_to_the_schema() {
    let (json, sarif) =
        (Schema::read("docs/schema/report.schema.json"), Schema::read("tests/reports/sarif.schema.json"));
    let folder = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for file in ["schedules/atomicity.toml", "schedules/atomicity.ptx", "ui/stuck/lock_in_one_warp.ptx"] {
        std::fs::copy(from.join(file), folder.path().join(Path::new(file).file_name().unwrap())).unwrap();
    }
    let litmus = "PTX MP\n{ x=0; y=0; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n st.weak x, 1 | ld.weak r0, y ;\n \
                  st.weak y, 1 | ld.weak r1, x ;\nexists (1:r0=1 /\\ 1:r1=0)\n";
    std::fs::write(folder.path().join("mp.litmus"), litmus).unwrap();
    let known = "[[suppress]]\nkind = \"simt-deadlock\"\nreason = \"it is the example\"\n";
    std::fs::write(folder.path().join("known.toml"), known).unwrap();
    let run = |arguments: &[&str], format: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_warpstep"));
        let output = command.args(arguments).args(["--format", format]).current_dir(&folder).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let value: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{arguments:?} {e}: {text}"));
        (value, output.status.code().unwrap())
    };
    let lock = ["prove", "lock_in_one_warp.ptx", "--block", "2", "--control"];
    let lock = |control: &'static str, more: &[&'static str]| [&lock[..], &[control], more].concat();
    let known = ["--suppressions", "known.toml"];
    // The arguments, the exit code, the results in SARIF, and how many of those are suppressed.
    for (arguments, exit, results, suppressed) in [
        (vec!["prove", "atomicity.toml"], 1, 1, 0),
        (vec!["prove", "atomicity.toml", "--max-states", "2"], 3, 0, 0),
        (vec!["replay", "atomicity.prove.schedule"], 1, 1, 0),
        (vec!["minimise", "atomicity.prove.schedule"], 1, 1, 0),
        (vec!["hunt", "atomicity.toml"], 1, 1, 0),
        (lock("its", &[]), 0, 0, 0),
        (lock("crs", &[]), 1, 1, 0),
        (lock("crs", &known), 0, 1, 1),
        ([&["replay", "lock_in_one_warp.prove.schedule"], &known[..]].concat(), 0, 1, 1),
        ([&["minimise", "lock_in_one_warp.prove.schedule"], &known[..]].concat(), 0, 1, 1),
        ([&["hunt"], &lock("crs", &["--max-steps", "3000"])[1..], &known[..]].concat(), 0, 1, 1),
        (vec!["prove", "mp.litmus"], 1, 0, 0),
    ] {
        let (value, code) = run(&arguments, "json");
        assert_eq!(json.complaint(&value), None, "{arguments:?}");
        assert_eq!((code, value["exit"].as_i64()), (exit, Some(exit.into())), "{arguments:?} {value}");
        assert_eq!(value.to_string().matches("it is the example").count(), suppressed, "{arguments:?} {value}");
        let (value, code) = run(&arguments, "sarif");
        assert_eq!(sarif.complaint(&value), None, "{arguments:?}");
        let all = value["runs"][0]["results"].as_array().unwrap();
        let accepted = |r: &&Value| r["suppressions"].as_array().is_some_and(|s| !s.is_empty());
        let found = (code, all.len(), all.iter().filter(accepted).count());
        assert_eq!(found, (exit, results, suppressed), "{arguments:?} {value}");
    }
}

#[test]
fn sarif_keeps_to_the_standard() {
    let schema = Schema::read("tests/reports/sarif.schema.json");
    let mut related = 0;
    for (case, code) in cases() {
        let name = case.path.display();
        let (value, exit) = report(&case, "sarif");
        assert_eq!(schema.complaint(&value), None, "{name}");
        assert_eq!(exit, code, "{name}");
        let run = &value["runs"][0];
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let (rules, results) = (list(&run["tool"]["driver"]["rules"]), list(&run["results"]));
        let ids: BTreeSet<_> = rules.iter().map(|r| r["id"].to_string()).collect();
        assert_eq!(ids.len(), rules.len(), "{name}: rules have ids of their own (3.49.3)");
        for result in &results {
            // 3.27.6: the index is that of the rule.
            let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
            assert_eq!(rule["id"], result["ruleId"], "{name}");
            // 3.28.2: ids are unique in a result.
            let ids: Vec<_> = list(&result["relatedLocations"]).iter().map(|l| l["id"].as_u64()).collect();
            assert_eq!(ids, (0..ids.len() as u64).map(Some).collect::<Vec<_>>(), "{name}");
            related += ids.len();
            for flow in list(&result["codeFlows"]) {
                let threads = list(&flow["threadFlows"]);
                let ids: BTreeSet<_> = threads.iter().map(|t| t["id"].to_string()).collect();
                assert_eq!(ids.len(), threads.len(), "{name}: thread flows have ids of their own (3.37.2)");
            }
            // 3.30.8: the end of a region is not before its start.
            for location in list(&result["locations"]) {
                let region = &location["physicalLocation"]["region"];
                let at = |line: &str, column: &str| (region[line].as_u64(), region[column].as_u64());
                assert!(at("startLine", "startColumn") <= at("endLine", "endColumn"), "{name}");
            }
        }
        let invocation = &run["invocations"][0];
        assert_eq!(invocation["executionSuccessful"].as_bool(), Some(code < 2), "{name}");
        let notices = list(&invocation["toolExecutionNotifications"]).len();
        // A defect is a result, a limit or gap is none, and nothing is told twice.
        match code {
            0 => assert!(results.iter().all(|r| r["level"] == "warning") && notices == 0, "{name}"),
            1 => assert!(!results.is_empty() && notices == 0, "{name}"),
            // A wrong flag is about no file: it is told of the configuration.
            2 => {
                let flags = list(&invocation["toolConfigurationNotifications"]).len();
                assert!((!results.is_empty() || flags == 1) && notices == 0, "{name}");
            }
            _ => assert!(results.is_empty() && notices == 1, "{name}"),
        }
    }
    assert!(related > 0);
}

/// The page on reports lists every kind with its description, in order.
#[test]
fn the_page_lists_every_kind() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reports.md")).unwrap();
    let rows: Vec<_> = page.lines().filter(|l| l.starts_with("| `")).map(str::to_owned).collect();
    let kinds = Kind::ALL.iter().map(|k| format!("| `{}` | {} |", k.id(), k.describe().short));
    assert_eq!(rows, kinds.collect::<Vec<_>>());
}

/// The schemas refuse what is left out, added or of another type; else they would prove nothing.
#[test]
fn schemas_refuse_what_does_not_fit() {
    let cases: Vec<Case> = ["bug", "stuck", "syntax"].into_iter().flat_map(all).collect();
    let case = |name: &str| cases.iter().find(|c| c.path.ends_with(name)).unwrap();
    for (format, file, name) in [
        ("json", "docs/schema/report.schema.json", "bug/cuda_line.ptx"),
        ("json", "docs/schema/report.schema.json", "bug/uninitialised_stored.ptx"),
        ("json", "docs/schema/report.schema.json", "stuck/lock_in_one_warp.ptx"),
        ("json", "docs/schema/report.schema.json", "bug/race.ptx"),
        ("json", "docs/schema/report.schema.json", "syntax/json.ptx"),
        ("sarif", "tests/reports/sarif.schema.json", "bug/cuda_line.ptx"),
    ] {
        let (schema, (value, _)) = (Schema::read(file), report(case(name), format));
        let mut refused = 0;
        for pointer in pointers(&value, String::new()) {
            for wrong in [Value::from(vec![Value::Null]), serde_json::json!({ "": {} })] {
                let mut changed = value.clone();
                *changed.pointer_mut(&pointer).unwrap() = wrong;
                refused += usize::from(schema.complaint(&changed).is_some());
            }
            let mut more = value.clone();
            if let Some(object) = more.pointer_mut(&pointer).and_then(Value::as_object_mut) {
                object.insert("surprise".to_owned(), Value::Null);
                // Property bags (3.8) hold what a tool likes.
                assert!(schema.complaint(&more).is_some() || pointer.contains("ropert"), "{name} {format}: {pointer}");
            }
        }
        assert!(refused > 50, "{name} {format}: only {refused} wrong values are refused");
    }
}

/// The JSON pointers of everything in a value.
fn pointers(value: &Value, at: String) -> Vec<String> {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(all) => all.iter().map(|(k, v)| (k.replace('~', "~0").replace('/', "~1"), v)).collect(),
        Value::Array(all) => all.iter().enumerate().map(|(k, v)| (k.to_string(), v)).collect(),
        _ => Vec::new(),
    };
    let below = inner.into_iter().flat_map(|(k, v)| pointers(v, format!("{at}/{k}"))).collect::<Vec<_>>();
    std::iter::once(at).chain(below).collect()
}

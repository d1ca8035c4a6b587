//! Kernels that never end under some control model, and the forms of them that do: `tests/hangs`.
//!
//! A file begins with `// args:` (flags of its launch) and, for control models, what all its runs come to: `holds`, or the
//! name of the defect. Where it is refuted, NAME.CONTROL.json beside it has what is told of it: class, who spins on which
//! location, who would change it, who is held by which token, pushed where; what `run` and `hunt` make of it; how long its
//! schedule is when it is minimised. `BLESS=1 cargo test --test ui -- hangs` writes these files.

use crate::case::Case;
use crate::schema::Schema;
use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

const CONTROLS: [&str; 3] = ["crs", "its", "thread"];

/// Lanes of the warp in which each other one waits for its neighbour.
const SIZES: [u32; 5] = [2, 4, 8, 16, 32];

/// However many lanes there are, and whether memory has caches: with all of them free the runs are too many to go through
/// together, and each pair has but few.
fn pairs(lanes: u32, memory: &str) -> Result<(), Failed> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hangs/pairs_in_warp.ptx");
    let lanes = lanes.to_string();
    let (block, size) = (["--block", &lanes], ["--warp-size", &lanes]);
    let rest = ["--control", "crs", "--memory", memory, "--check", "liveness"];
    let (run, code) = schedule("run", &path, &[&block[..], &size, &rest].concat())?;
    let hang = &run["stopped"]["details"]["hang"];
    let writers: u32 = list(&hang["reads"]).map(|r| list(&r["writers"]).count() as u32).sum();
    match (code, stopped(&run), hang["class"].as_str()) {
        (1, "simt-deadlock", Some("simt-deadlock")) if writers > 0 => Ok(()),
        found => Err(format!("{found:?}, {writers} writers").into()),
    }
}

/// A lane that jumps back to where others stand goes on with them in a search. In a run it does so only where its turn ends
/// there, which is what the way of the search has to say.
fn meets_behind() -> Result<(), Failed> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hangs/ping_pong.ptx");
    let launch = ["--block", "4", "--warp-size", "4", "--memory", "fermi", "--device", "tiny"];
    let (found, code) = schedule("prove", &path, &[&launch[..], &["--max-states", "3000"]].concat())?;
    let class = &found["endless"][0]["why"]["details"]["hang"]["class"];
    if (code, class.as_str()) == (1, Some("livelock")) { Ok(()) } else { Err(format!("{code}: {found:#}").into()) }
}

/// Where the two threads are that take two locks in opposite orders.
const SHAPES: [(&str, [&str; 6]); 3] = [
    ("lanes", ["--grid", "1", "--block", "2", "--warp-size", "2"]),
    ("warps", ["--grid", "1", "--block", "2", "--warp-size", "1"]),
    ("blocks", ["--grid", "2", "--block", "1", "--warp-size", "1"]),
];

/// Each keeps the lock that the other one waits for: who holds which is told.
fn ring(shape: &[&str], memory: &str) -> Result<(), Failed> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hangs/locks_opposite_order.ptx");
    let folder = tempfile::tempdir()?;
    let saved = folder.path().join("found.schedule").display().to_string();
    let rest = ["--control", "crs", "--memory", memory, "--save-schedule", &saved];
    // With caches a search takes long to come to it, and a seed does not.
    let (command, more) = if memory == "flat" { ("prove", &[][..]) } else { ("hunt", &["--max-steps", "400"][..]) };
    let (found, code) = schedule(command, &path, &[shape, &rest, more].concat())?;
    let id = |t: &Value| json!([t["block"], t["warp"], t["lanes"]]);
    let why = if memory == "flat" { &found["endless"][0]["why"] } else { &found["findings"][0]["stopped"] };
    let locks: Vec<(&str, Value, Vec<Value>)> = list(&why["details"]["hang"]["locks"])
        .map(|l| (l["name"].as_str().unwrap_or(""), id(&l["holder"]), list(&l["waiters"]).map(id).collect()))
        .collect();
    let message = why["message"].as_str().unwrap_or("");
    let told = message.contains("locks in a ring") && message.contains("spins on `first`, which lane 0 of warp 0");
    match &locks[..] {
        [("first", a, on_first), ("second", b, on_second)]
            if code == 1 && told && a != b && *on_first == [b.clone()] && *on_second == [a.clone()] =>
        {
            Ok(())
        }
        found => Err(format!("{found:?}\n{message}").into()),
    }
}

/// The tests of this file.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for case in Case::below("tests/hangs").into_iter().map(Arc::new) {
        for control in CONTROLS {
            let Some(expected) = case.header(control).first().map(|e| (*e).to_owned()) else { continue };
            let stem = case.path.file_stem().and_then(|s| s.to_str()).unwrap_or("").to_owned();
            let case = Arc::clone(&case);
            trials.push(Trial::test(format!("{stem}/{control}"), move || check(&case, control, &expected)));
        }
    }
    for (lanes, memory) in SIZES.iter().flat_map(|n| ["flat", "fermi"].map(|memory| (*n, memory))) {
        let name = format!("pairs_in_warp/{lanes}/{memory}");
        trials.push(Trial::test(name, move || pairs(lanes, memory)));
    }
    for ((place, shape), memory) in SHAPES.iter().flat_map(|s| ["flat", "fermi"].map(|memory| (s, memory))) {
        let name = format!("locks_opposite_order/{place}/{memory}");
        trials.push(Trial::test(name, move || ring(shape, memory)));
    }
    trials.push(Trial::test("ping_pong/meets_behind", meets_behind));
    trials
}

/// Runs a command of warpstep on the case; gives the report and the exit code.
fn report(case: &Case, command: &str, control: &str, more: &[&str]) -> Result<(Value, i32), Failed> {
    let flags = case.arguments();
    let mut arguments = vec![command];
    arguments.extend(&flags);
    arguments.extend(["--control", control, "--format", "json"]);
    arguments.extend(more);
    answer(&case.run(&arguments)?)
}

/// What is done with a schedule.
fn schedule(command: &str, file: &Path, more: &[&str]) -> Result<(Value, i32), Failed> {
    let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_warpstep"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hangs");
    answer(&run.arg(command).arg(file).args(["--format", "json"]).args(more).current_dir(root).output()?)
}

fn answer(output: &std::process::Output) -> Result<(Value, i32), Failed> {
    let text = String::from_utf8_lossy(&output.stdout);
    let value: Value =
        serde_json::from_str(&text).map_err(|e| format!("{e}: {text}{}", String::from_utf8_lossy(&output.stderr)))?;
    match Schema::read("docs/schema/report.schema.json").complaint(&value) {
        Some(complaint) => Err(format!("the schema: {complaint}\n{value:#}").into()),
        None => Ok((value, output.status.code().unwrap_or(-1))),
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The name of what stopped a run; `ends` when nothing did.
fn stopped(value: &Value) -> &str {
    value["stopped"]["code"].as_str().unwrap_or("ends")
}

fn check(case: &Case, control: &str, expected: &str) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("found.schedule");
    let saved = file.display().to_string();
    let (proof, code) = report(case, "prove", control, &["--save-schedule", &saved])?;
    let kinds: BTreeSet<&str> = list(&proof["defects"])
        .map(|d| stopped(&d["ending"]))
        .chain(list(&proof["endless"]).filter_map(|e| e["class"].as_str()))
        .collect();
    let (run, _) = report(case, "run", control, &["--check", "liveness"])?;
    if expected == "holds" {
        return match (proof["verdict"].as_str(), code, stopped(&run)) {
            (Some("holds"), 0, "ends") => Ok(()),
            found => Err(format!("holds is expected: {found:?} {kinds:?}").into()),
        };
    }
    if (code, &proof["verdict"]) != (1, &json!("refuted")) || kinds != [expected].into() {
        return Err(format!("{expected} is expected: {kinds:?}\n{proof:#}").into());
    }
    let mut golden = String::from("{\n");
    let mut line = |key: &str, value: &Value| match value {
        // Each party on a line of its own.
        Value::Array(all) if all.iter().any(Value::is_object) => {
            let all: Vec<String> = all.iter().map(|v| format!("    {v}")).collect();
            _ = writeln!(golden, "  \"{key}\": [\n{}\n  ],", all.join(",\n"));
        }
        value => _ = writeln!(golden, "  \"{key}\": {value},"),
    };
    line("kind", &expected.into());
    let count = list(&proof["defects"]).count() + list(&proof["endless"]).count();
    line("findings", &count.into());
    if let Some(endless) = list(&proof["endless"]).next() {
        line("controls", &proof["controls"]);
        explain(&endless["why"]["details"]["hang"], &mut line);
    } else {
        line(
            "message",
            &list(&proof["defects"]).next().map_or(Value::Null, |d| d["ending"]["stopped"]["message"].clone()),
        );
    }
    let mut short = Vec::new();
    for number in 1..=count {
        let file = if number == 1 { file.clone() } else { file.with_extension(format!("{number}.schedule")) };
        let essence =
            shorten(&file, expected).map_err(|e| format!("finding {number}: {}", e.message().unwrap_or("")))?;
        short.push(essence);
    }
    line("minimised", &short.into());
    line("run", &stopped(&run).into());
    let (hunt, _) = report(case, "hunt", control, &["--seeds", "2", "--max-steps", "2000", "--save-schedule", &saved])?;
    let found: Vec<&str> = list(&hunt["findings"]).map(stopped).collect();
    let _ = writeln!(golden, "  \"hunt\": {}\n}}", json!(found));
    same(&case.path.with_extension(format!("{control}.json")), &golden)
}

/// A schedule replays to the defect, and is minimised to one that does; what is left of it.
fn shorten(file: &Path, expected: &str) -> Result<Value, Failed> {
    let (again, code) = schedule("replay", file, &[])?;
    if (stopped(&again), code) != (expected, 1) {
        return Err(format!("the schedule replays to {:?}", stopped(&again)).into());
    }
    let short = file.with_extension("min.schedule");
    let (minimised, _) = schedule("minimise", file, &[])?;
    if minimised["complete"] != json!(true) {
        return Err(format!("it was not minimised to the end: {minimised}").into());
    }
    let (again, code) = schedule("replay", &short, &[])?;
    if (stopped(&again), code) != (expected, 1) {
        return Err(format!("the minimised schedule replays to {:?}", stopped(&again)).into());
    }
    Ok(json!({ "decisions": minimised["decisions"]["after"], "switches": minimised["context_switches"]["after"] }))
}

/// The explanation of a run that never ends, a line for each part.
fn explain(hang: &Value, line: &mut dyn FnMut(&str, &Value)) {
    let spinner = |s: &Value| {
        let code: BTreeSet<u64> = list(&s["code"]).filter_map(|p| p["line"].as_u64()).collect();
        let mut spinner = who(&s["thread"]);
        spinner["line"] = json!(code);
        spinner
    };
    let read = |r: &Value| {
        let parties = |key: &str| list(&r[key]).map(who).collect::<Vec<_>>();
        let place = json!([r["space"], r["name"], r["offset"], r["bytes"]]);
        json!({ "at": place, "values": r["values"], "by": parties("readers"), "writers": parties("writers") })
    };
    let blocked = |b: &Value| {
        let mut blocked = who(&b["thread"]);
        let by = &b["by"];
        blocked["by"] = match by["kind"].as_str() {
            Some("token") => {
                json!({ "token": by["token"]["kind"], "mask": by["token"]["mask"], "pushed": by["pushed"]["line"] })
            }
            _ => by.clone(),
        };
        blocked
    };
    let stack = |s: &Value| {
        let tokens: Vec<Value> =
            list(&s["tokens"]).map(|t| json!([t["token"]["kind"], t["token"]["mask"], t["pushed"]["line"]])).collect();
        json!({ "block": s["block"], "warp": s["warp"], "tokens": tokens })
    };
    let mut lines = |key: &str, one: &dyn Fn(&Value) -> Value| line(key, &list(&hang[key]).map(one).collect());
    lines("spinners", &spinner);
    lines("reads", &read);
    lines("blocked", &blocked);
    lines("stacks", &stack);
    let lock = |l: &Value| {
        let waiters: Vec<Value> = list(&l["waiters"]).map(who).collect();
        json!({ "at": [l["space"], l["name"], l["offset"]], "holder": who(&l["holder"]), "exited": l["exited"], "waiters": waiters })
    };
    if list(&hang["locks"]).next().is_some() {
        lines("locks", &lock);
    }
    if !hang["unissued"].is_null() {
        line("unissued", &hang["unissued"]);
    }
}

/// Lanes of a warp and the line at which they are.
fn who(thread: &Value) -> Value {
    json!({ "block": thread["block"][0], "warp": thread["warp"], "lanes": thread["lanes"], "line": thread["place"]["line"] })
}

fn same(golden: &Path, text: &str) -> Result<(), Failed> {
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(golden, text)?;
        return Ok(());
    }
    let wanted =
        std::fs::read_to_string(golden).map_err(|e| format!("{}: {e}; BLESS=1 writes it", golden.display()))?;
    if wanted == text {
        return Ok(());
    }
    Err(format!("the report has changed; BLESS=1 takes it\n--- was\n{wanted}\n--- is\n{text}").into())
}

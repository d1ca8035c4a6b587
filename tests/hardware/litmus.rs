//! Do models allow what hardware shows? The tests of `tests/litmus`, each as a kernel in which every thread plays all parts,
//! of different instances of the test, so that a quarter of a million instances run at once and meet (as J. Kirkham and others do,
//! "Foundations of Empirical Memory Consistency Testing", 2020).

use super::recorded;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use warpstep::axiom::cat::builtin;
use warpstep::axiom::{Limits, Way};
use warpstep::base::SourceMap;
use warpstep::litmus::tree::{Litmus, TermKind};
use warpstep::litmus::{Observed, Permitted, parse};

/// The record: how often each outcome was seen.
const FILE: &str = "litmus.txt";
/// Instances of a test that run at once.
const INSTANCES: u32 = 1 << 18;
const MODELS: [&str; 2] = ["ptx-v6.0", "ptx-v7.5"];

/// A test as text, by name.
fn texts() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/litmus");
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let tests = files.filter(|path| path.extension().is_some_and(|ending| ending == "litmus"));
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut all: Vec<(String, String)> =
        tests.filter_map(|path| Some((name(&path), std::fs::read_to_string(&path).ok()?))).collect();
    all.sort();
    all
}

fn read(text: &str) -> Option<Litmus> {
    let mut sources = SourceMap::default();
    let file = sources.add("test", text);
    let (litmus, errors) = parse(file, text);
    errors.is_empty().then_some(litmus)
}

/// The instructions of each thread, and whether all threads are of one block; nothing where some only are.
fn threads(text: &str) -> Option<(Vec<Vec<String>>, bool)> {
    let mut rows = text.lines().skip_while(|line| !line.trim_start().starts_with("P0@"));
    let blocks: Vec<&str> = rows
        .next()?
        .trim_end_matches([' ', ';'])
        .split('|')
        .filter_map(|cell| cell.split_once('@'))
        .map(|(_, of)| of.trim())
        .collect();
    let mut threads = vec![Vec::new(); blocks.len()];
    for row in rows.take_while(|row| row.trim_end().ends_with(';')) {
        for (thread, cell) in threads.iter_mut().zip(row.trim_end_matches([' ', ';']).split('|')) {
            thread.extend(Some(cell.trim().to_owned()).filter(|cell| !cell.is_empty()));
        }
    }
    let same = blocks.iter().all(|block| *block == blocks[0]);
    let distinct = (0..blocks.len()).all(|k| !blocks[..k].contains(&blocks[k]));
    (same || distinct).then_some((threads, same))
}

/// An instruction in PTX; nothing for one that has no place here.
fn instruction(thread: usize, cell: &str, locations: &mut Vec<String>) -> Option<String> {
    let (head, operands) = cell.split_once(' ').unwrap_or((cell, ""));
    if head.starts_with("fence.") && !head.contains("proxy") {
        return Some(format!("{head};"));
    }
    let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
    let mut place = |name: &str| {
        let known = locations.iter().position(|location| location == name);
        let k = known.unwrap_or_else(|| {
            locations.push(name.to_owned());
            locations.len() - 1
        });
        format!("[%a+{}]", u64::from(INSTANCES) * 4 * k as u64)
    };
    let number = |value: &str| value.parse::<u32>().ok();
    let words: Vec<&str> = head.split('.').collect();
    let mut ptx = match (words[0], &operands[..]) {
        ("st", [name, value]) => format!("{head}.global.u32 {}, {};", place(name), number(value)?),
        ("ld", [register, name]) if head != "ld" => {
            format!("{head}.global.u32 %t{thread}_{register}, {};", place(name))
        }
        ("atom", [register, name, value]) => {
            let (order, op) = head.rsplit_once('.')?;
            let ty = if op == "add" { "u32" } else { "b32" };
            format!("{order}.global.{op}.{ty} %t{thread}_{register}, {}, {};", place(name), number(value)?)
        }
        _ => return None,
    };
    // A weak access is one without a word in PTX as compilers emit it.
    ptx = ptx.replace(".weak", "");
    Some(ptx)
}

/// A test as the player takes it.
fn job(name: &str, text: &str) -> Option<Value> {
    let litmus = read(text)?;
    let (threads, same) = threads(text)?;
    let mut locations = Vec::new();
    let mut parts = Vec::new();
    for (thread, cells) in threads.iter().enumerate() {
        let body: Option<Vec<String>> = cells.iter().map(|cell| instruction(thread, cell, &mut locations)).collect();
        parts.push(body?.join(" "));
    }
    let mut observed = Vec::new();
    let mut registers = Vec::new();
    for place in Observed::of(&litmus).places() {
        match place {
            TermKind::Register { thread, name } => {
                let thread = litmus.thread(*thread)?;
                observed.push(json!(["register", registers.len()]));
                registers.push((thread, name.clone()));
            }
            TermKind::Location { name, .. } => {
                observed.push(json!(["location", locations.iter().position(|location| location == name)?]));
            }
            TermKind::Number(_) => return None,
        }
    }
    let mut ptx = String::from(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 mem, .param .u64 out)\n{\n\
         .reg .b32 %i, %k, %t; .reg .b64 %m, %o, %a, %b, %d; .reg .pred %p;\n",
    );
    for (thread, name) in &registers {
        writeln!(ptx, ".reg .b32 %t{thread}_{name};").unwrap();
    }
    ptx += "ld.param.u64 %m, [mem]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mad.lo.u32 %i, %i, 256, %t;\n\
            shr.u32 %k, %t, 5; and.b32 %k, %k, 1; setp.ne.u32 %p, %k, 0; @%p bra BACK;\n";
    let part = |thread: usize| {
        let (multiplier, more) = (2 * thread + 1, 37 * thread);
        // Which instance a thread plays a part of: another one for each part, of its own block or of any.
        let (kept, mask) = if same { (INSTANCES - 256, 255) } else { (0, INSTANCES - 1) };
        let mut text = format!(
            "mad.lo.u32 %k, %i, {multiplier}, {more}; and.b32 %k, %k, {mask}; and.b32 %t, %i, {kept}; or.b32 %k, %k, %t;\n"
        );
        writeln!(text, "mul.wide.u32 %d, %k, 4; add.s64 %a, %m, %d; add.s64 %b, %o, %d; {}", parts[thread]).unwrap();
        for (k, (of, name)) in registers.iter().enumerate().filter(|(_, (of, _))| *of == thread) {
            writeln!(text, "st.global.u32 [%b+{}], %t{of}_{name};", u64::from(INSTANCES) * 4 * k as u64).unwrap();
        }
        text
    };
    (0..parts.len()).for_each(|thread| ptx += &part(thread));
    ptx += "ret;\nBACK:\n";
    (0..parts.len()).rev().for_each(|thread| ptx += &part(thread));
    ptx += "ret;\n}\n";
    Some(json!({
        "name": name, "ptx": ptx, "instances": INSTANCES, "locations": locations.len(), "registers": registers.len(), "observed": observed
    }))
}

/// Writes all tests that have a kernel for the player.
pub fn write(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let jobs = texts().into_iter().filter_map(|(name, text)| job(&name, &text));
    std::fs::write(folder.join("litmus.jsonl"), jobs.map(|job| format!("{job}\n")).collect::<String>()).unwrap();
}

/// How often each outcome of a test was seen.
type Seen = BTreeMap<Vec<i64>, u64>;

/// Outcomes that were seen and that a model forbids; and how many it allows.
fn forbidden(text: &str, seen: &Seen, model: &str) -> (Vec<Vec<i64>>, usize) {
    let litmus = read(text).unwrap();
    let limits = Limits { bound: 1, choices: 1_000_000 };
    let permitted = Permitted::of(&litmus, builtin(model).unwrap(), Way::Graphs, limits, &|| false);
    assert!(permitted.is_whole());
    let allowed: Vec<&Vec<i64>> = permitted.outcomes.iter().map(|(outcome, ..)| &outcome.0).collect();
    (seen.keys().filter(|outcome| !allowed.contains(outcome)).cloned().collect(), allowed.len())
}

/// Asks the models for what the player brought back. Keeps it, if asked to.
pub fn allowed(folder: &Path, keep: bool) {
    let lines = std::fs::read_to_string(folder.join("litmus.played.jsonl")).unwrap();
    let texts: BTreeMap<String, String> = texts().into_iter().collect();
    let mut kept = String::new();
    for line in lines.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        assert!(entry["error"].is_null(), "{entry}");
        let name = entry["name"].as_str().unwrap();
        let number = |value: &Value| value.as_i64().unwrap();
        let outcome =
            |pair: &Value| (pair[0].as_array().unwrap().iter().map(number).collect(), pair[1].as_u64().unwrap());
        let seen: Seen = entry["seen"].as_array().unwrap().iter().map(outcome).collect();
        ask(name, &texts[name], &seen);
        write!(kept, "{name}:").unwrap();
        for (outcome, times) in &seen {
            let values: Vec<String> = outcome.iter().map(i64::to_string).collect();
            write!(kept, " {}={times}", values.join(",")).unwrap();
        }
        kept.push('\n');
    }
    if keep {
        std::fs::write(recorded::folder().join(FILE), kept).unwrap();
    }
}

/// Complains where an outcome was seen that a model forbids.
fn ask(name: &str, text: &str, seen: &Seen) {
    for model in MODELS {
        let (forbidden, allowed) = forbidden(text, seen, model);
        println!("{name}: {} of {allowed} outcomes that {model} allows were seen", seen.len());
        assert!(forbidden.is_empty(), "{name}: {forbidden:?} were seen, and {model} forbids them");
    }
}

fn records() -> Vec<(String, Seen)> {
    let text = std::fs::read_to_string(recorded::folder().join(FILE)).unwrap_or_default();
    let outcome = |word: &str| {
        let (values, times) = word.split_once('=')?;
        Some((values.split(',').map(|value| value.parse().ok()).collect::<Option<_>>()?, times.parse().ok()?))
    };
    let one = |line: &str| {
        let (name, seen) = line.split_once(':')?;
        Some((name.to_owned(), seen.split_whitespace().map(outcome).collect::<Option<Seen>>()?))
    };
    text.lines().map(|line| one(line).unwrap_or_else(|| panic!("{line}"))).collect()
}

/// Whatever an H200 showed of a test is allowed by the model of PTX, in both versions.
#[test]
fn what_hardware_shows_is_allowed() {
    let texts: BTreeMap<String, String> = texts().into_iter().collect();
    let records = records();
    assert!(records.len() >= 30, "only {} tests are recorded", records.len());
    for (name, seen) in records {
        let text = texts.get(&name).unwrap_or_else(|| panic!("{name} is recorded, and is not there"));
        ask(&name, text, &seen);
    }
}

/// What was forbidden would be noticed.
#[test]
fn what_is_forbidden_is_noticed() {
    let texts: BTreeMap<String, String> = texts().into_iter().collect();
    for (name, outcome) in [("MP-released", [1, 1, 1, 0]), ("SB-fences", [1, 1, 0, 0]), ("LB-released", [1, 1, 1, 1])] {
        for model in MODELS {
            let (forbidden, _) = forbidden(&texts[name], &Seen::from([(outcome.to_vec(), 1)]), model);
            assert_eq!(forbidden, [outcome.to_vec()], "{name}");
        }
    }
}

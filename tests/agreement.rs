//! What the machine shows of litmus tests that PTX 6.0 forbids: exactly what `tests/agreement/beyond.csv` lists, whose classes
//! `spec-notes/agreement.md` explains. Memory without caches shows nothing of the kind.
//!
//! `AGREE_FULL` looks at all public tests, and at more states of each.

use crate::{shared, tests};
use libtest_mimic::Trial;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use warpstep::axiom::cat::builtin;
use warpstep::axiom::{Limits, Way};
use warpstep::base::SourceMap;
use warpstep::explore::space::Options;
use warpstep::litmus::{Agreement, NotShown, Options as Layout, Permitted, Placement, Shown, parse, rows, shown};
use warpstep::machine::{Config, ControlModel, DeviceShape, MemoryModel};
use warpstep::memory::fermi::model::DeviceModel;

/// The tests with the memories that show what is forbidden: a line each, by path.
type Listed = BTreeMap<String, (BTreeSet<String>, String)>;

/// The memories, those without caches first.
fn memories() -> impl Iterator<Item = &'static str> {
    ["flat", "split"].into_iter().chain(DeviceModel::PRESETS)
}

fn full() -> bool {
    std::env::var_os("AGREE_FULL").is_some()
}

fn config(memory: &str) -> Config {
    let device = DeviceModel::preset(memory);
    let shape = device.as_ref().map_or_else(DeviceShape::default, DeviceShape::of);
    let memory = match memory {
        "flat" => MemoryModel::Flat,
        "split" => MemoryModel::Split,
        _ => device.and_then(MemoryModel::of).unwrap(),
    };
    Config { control: Some(ControlModel::Thread), memory, device: shape, ..Config::default() }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn listed() -> Listed {
    let text = std::fs::read_to_string(root().join("tests/agreement/beyond.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("path,memories,class"));
    let line = |line: &str| {
        let [path, memories, class] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        (path.to_owned(), (memories.split(' ').map(str::to_owned).collect(), class.to_owned()))
    };
    lines.map(line).collect()
}

/// The memories on which a test comes to what PTX 6.0 forbids within so many states, and those whose search ended before its end. None: no
/// memory runs it.
fn beyond(path: &str, text: &str, states: u64, memories: &[&str]) -> Option<[BTreeSet<String>; 2]> {
    let mut sources = SourceMap::default();
    let file = sources.add(path, text);
    let (litmus, errors) = parse(file, text);
    assert_eq!(errors, [], "{path}");
    let limits = Limits { bound: 1, choices: 1_000_000 };
    let permitted = [Permitted::of(&litmus, builtin("ptx-v6.0").unwrap(), Way::Graphs, limits, &|| false)];
    let [mut found, mut cut] = [BTreeSet::new(), BTreeSet::new()];
    for memory in memories {
        let layout = Layout { placement: Placement::Warps, control: Some(ControlModel::Thread) };
        let mut poll = |_: &_| None;
        let mut options = Options { max_states: Some(states), ..Options::states(false, &mut poll) };
        let shown: Shown<'_> = match shown(&litmus, file, layout, config(memory), &mut sources.clone(), &mut options) {
            Ok(shown) => shown,
            Err(NotShown::Gaps(_)) => return None,
            Err(other) => panic!("{path} on {memory}: {other:?}"),
        };
        let seen = [Some(&shown)];
        let rows = rows(&permitted, &seen, &|| false);
        match Agreement::of(&rows, (0, &permitted[0]), (0, Some(&shown))) {
            Agreement::Beyond => _ = found.insert((*memory).to_owned()),
            Agreement::Limit if shown.limit.is_some() => _ = cut.insert((*memory).to_owned()),
            Agreement::Inside => {}
            other => panic!("{path} on {memory}: {other:?}"),
        }
    }
    Some([found, cut])
}

/// Complains where what is found is not what is listed; a memory whose search ended before its end may have shown nothing yet.
fn compare(tests: &[(String, String)], listed: &Listed, states: u64, memories: &[&str]) {
    let (mut wrong, mut ran) = (Vec::new(), 0);
    for (path, text) in tests {
        let Some([found, cut]) = beyond(path, text, states, memories) else { continue };
        ran += 1;
        let none = BTreeSet::new();
        let all = listed.get(path).map_or(&none, |(memories, _)| memories);
        let asked = |name: &&String| memories.contains(&name.as_str());
        let lost = all.iter().filter(asked).any(|name| !found.contains(name) && !cut.contains(name));
        if lost || !found.is_subset(all) {
            wrong.push(format!("{path}: {found:?}, listed are {all:?}, not at their ends are {cut:?}"));
        }
    }
    eprintln!("{ran} of {} tests on {}: as listed but for {}", tests.len(), memories.join(", "), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ran * 10 >= tests.len() * 8, "{ran} of {}", tests.len());
}

/// Our own tests, which everybody has.
fn ours() {
    let listed = listed();
    let named = |path: &Path| path.strip_prefix(root()).unwrap().display().to_string();
    let mut all: Vec<_> = tests::within(&root().join("tests/litmus"));
    all.retain(|(path, _)| path.parent().is_some_and(|p| p.ends_with("tests/litmus") || p.ends_with("paper/ptx")));
    let all: Vec<(String, String)> = all.iter().map(|(path, text)| (named(path), text.clone())).collect();
    for path in listed.keys().filter(|path| path.starts_with("tests/")) {
        assert!(all.iter().any(|(other, _)| other == path), "{path} is listed and is no test");
    }
    let memories: Vec<&str> = if full() { memories().collect() } else { vec!["flat", "fermi", "report", "tiny"] };
    compare(&all, &listed, if full() { 100_000 } else { 2_000 }, &memories);
}

/// The public tests on some memories, or some of the tests.
fn public(memories: &[&str]) {
    let (listed, folder) = (listed(), shared::found().unwrap().join("conformance/litmus"));
    let all: Vec<(String, String)> = tests::suite()
        .into_iter()
        .map(|(path, text)| (path.strip_prefix(&folder).unwrap().display().to_string(), text))
        .collect();
    for path in listed.keys().filter(|path| !path.starts_with("tests/")) {
        assert!(all.iter().any(|(other, _)| other == path), "{path} is listed and is no test");
    }
    let (states, each) = if full() { (100_000, 1) } else { (2_000, 8) };
    let some = all.into_iter().enumerate().filter(|(k, (path, _))| k % each == 0 || listed.contains_key(path));
    let some: Vec<_> = some.map(|(_, test)| test).collect();
    compare(&some, &listed, states, memories);
}

/// Memories that are asked about together, so that both are at work for about the same time.
fn public_flat() {
    public(&["flat", "split", "tiny", "fermi"]);
}

fn public_devices() {
    public(if full() { &["report", "fermi-like-sm80", "write-through", "invalidate"] } else { &["report"] });
}

/// Every test that is listed stands in the notes under its class, and every class there has one.
fn notes() {
    let text = std::fs::read_to_string(root().join("spec-notes/agreement.md")).unwrap();
    let mut classes: BTreeMap<&str, &str> = BTreeMap::new();
    for part in text.split("\n## ").skip(1) {
        if let Some((class, part)) = part.strip_prefix("Class `").and_then(|part| part.split_once('`')) {
            classes.insert(class, part);
        }
    }
    let listed = listed();
    for (path, (memories, class)) in &listed {
        let part = classes.get(class.as_str()).unwrap_or_else(|| panic!("the notes have no class `{class}`"));
        let row = part.lines().find(|line| line.contains(&format!("`{path}`")));
        let row = row.unwrap_or_else(|| panic!("{path} is not in the notes under `{class}`"));
        let named: BTreeSet<String> =
            row.rsplit('|').nth(1).unwrap_or("").split(',').map(|name| name.trim().to_owned()).collect();
        assert_eq!(named, *memories, "{path}");
        assert!(memories.iter().all(|name| DeviceModel::PRESETS.contains(&name.as_str())), "{path}: {memories:?}");
    }
    for (class, part) in classes {
        let rows = part.lines().filter(|line| line.starts_with("| `")).count();
        assert_eq!(rows, listed.values().filter(|(_, other)| other == class).count(), "tests of class `{class}`");
        assert!(rows > 0, "class `{class}` has no test");
    }
}

/// The tests of this file.
pub fn trials() -> Vec<Trial> {
    shared::trials(&[
        ("ours", None, ours),
        ("public_flat", Some("conformance/litmus/ptx"), public_flat),
        ("public_devices", Some("conformance/litmus/ptx"), public_devices),
        ("notes", None, notes),
    ])
}

//! The table that `warpstep rules` prints: every rule's home, title, and the number of runs in which it fires.
//!
//! `src/report/rule_table.tsv` is that table. The test makes it again, from the marks in the code, the notes, and the examples,
//! which are run on flat memory and on memory with caches; `BLESS=1 cargo test --test rules` writes it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use warpstep::base::SourceMap;
use warpstep::check::Observers;
use warpstep::launch::{Device, Spec, load, memory_programs, run};
use warpstep::machine::{Config, ControlModel, MemoryModel};
use warpstep::verdict::Rule;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below a folder whose name passes.
fn files(folder: &str, passes: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![root().join(folder)]);
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().and_then(|n| n.to_str()).is_some_and(&passes) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The file that each rule's mark stands in.
fn homes() -> BTreeMap<String, String> {
    let mut homes = BTreeMap::new();
    for path in files("src", |n| n.ends_with(".rs")) {
        let home = path.strip_prefix(root()).unwrap().display().to_string();
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let Some((_, ids)) = line.split_once(" Rule: ").filter(|(before, _)| before.contains("//")) else { continue };
            homes.extend(ids.split([',', ' ']).filter(|id| id.contains('.')).map(|id| (id.to_owned(), home.clone())));
        }
    }
    homes
}

/// What the notes say of each rule, up to the first stop: `- `id` (place): what it does.`
fn titles() -> BTreeMap<String, String> {
    let mut titles = BTreeMap::new();
    for path in files("spec-notes", |n| n.ends_with(".md")) {
        let text = std::fs::read_to_string(path).unwrap();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let Some((id, rest)) = line.trim_start().strip_prefix("- `").and_then(|l| l.split_once('`')) else { continue };
            let mut said = rest.to_owned();
            while let Some(more) = lines.peek().filter(|l| l.starts_with("  ") && !l.trim_start().starts_with("- ")) {
                said = format!("{said} {}", more.trim());
                lines.next();
            }
            let said = said.split_once(": ").map_or("", |(_, said)| said);
            let end = said.find([';', ':']).into_iter().chain(said.find(". ")).min().unwrap_or(said.len());
            titles.insert(id.to_owned(), said[..end].trim_end_matches('.').to_owned());
        }
    }
    titles
}

/// The configurations that every example is run in.
fn configurations() -> Vec<Config> {
    let base = |memory: &str| Config { memory: MemoryModel::preset(memory).unwrap(), ..Config::default() };
    vec![
        base("flat"),
        Config { control: Some(ControlModel::Crs), ..base("flat") },
        base("fermi"),
        base("report"),
        base("tiny"),
    ]
}

/// The rules that fire in a run, whatever comes out of it.
fn fired(path: &Path, config: &Config) -> BTreeSet<Rule> {
    let mut sources = SourceMap::default();
    let loaded = Spec::read(path, &mut sources).and_then(|spec| {
        let env = load(&spec.ptx, config.control, &mut sources)?;
        Ok((spec, env))
    });
    let Ok((spec, env)) = loaded else { return BTreeSet::new() };
    let config = Config { max_steps: Some(20_000), ..config.clone() };
    let Ok(mut device) = Device::new(env, sources, config) else { return BTreeSet::new() };
    let mut observers = Observers::none().with_coverage(&Arc::clone(&device.context().program()));
    _ = run(&spec, &mut device, &mut observers, &mut |_| ());
    observers.coverage.map(|c| c.fired().clone()).unwrap_or_default()
}

#[test]
fn the_table_is_up_to_date() {
    let mut counts: BTreeMap<Rule, u32> = BTreeMap::new();
    let examples = files("ptx-examples", |n| n.starts_with("launch") && n.ends_with(".toml"));
    for path in &examples {
        let rules: BTreeSet<Rule> = configurations().iter().flat_map(|config| fired(path, config)).collect();
        rules.into_iter().for_each(|rule| *counts.entry(rule).or_default() += 1);
    }
    let (homes, titles) = (homes(), titles());
    let none = String::new();
    let mut table = "id\thome\tfires in\ttitle\n".to_owned();
    for rule in Rule::ALL {
        let (home, title) = (homes.get(rule.id()).unwrap_or(&none), titles.get(rule.id()).unwrap_or(&none));
        let count = counts.get(rule).copied().unwrap_or(0);
        table += &format!("{}\t{home}\t{count}\t{title}\n", rule.id());
    }
    _ = memory_programs;
    println!("{table}");
}

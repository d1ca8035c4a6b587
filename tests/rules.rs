//! The table that `warpstep rules` prints: every rule's home, title, and the number of runs in which it fires.
//!
//! `cli/src/report/rule_table.tsv` is that table. The test makes it again: from the marks in the code, the notes, and the examples
//! and host scripts, which are run on flat memory and on memory with caches. `BLESS=1 cargo test --test commands rules` writes it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use warpstep::base::SourceMap;
use warpstep::check::{Check, Observers};
use warpstep::explore::lockstep as lockstep_search;
use warpstep::explore::promotion::{Grain, Options, explore};
use warpstep::launch::{Device, Spec, load, memory_programs, run};
use warpstep::litmus::rsp::Home;
use warpstep::litmus::rsp_machine::sweep::{Op, Shape};
use warpstep::litmus::rsp_machine::{Kind, Scheme, compile};
use warpstep::machine::{Config, ControlModel, MemoryModel};
use warpstep::memory::fermi::model::DeviceModel;
use warpstep::memory::lockstep::{self, Access, Instruction, Program, Readings, Source};
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
    for path in ["core/src", "analysis/src", "cli/src", "src"].iter().flat_map(|of| files(of, |n| n.ends_with(".rs"))) {
        let home = path.strip_prefix(root()).unwrap().display().to_string();
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let Some((_, ids)) = line.split_once(" Rule: ").filter(|(before, _)| before.contains("//")) else {
                continue;
            };
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
            let Some((id, rest)) = line.trim_start().strip_prefix("- `").and_then(|l| l.split_once('`')) else {
                continue;
            };
            let mut said = rest.to_owned();
            while let Some(more) = lines.peek().filter(|l| l.starts_with("  ") && !l.trim_start().starts_with("- ")) {
                said = format!("{said} {}", more.trim());
                lines.next();
            }
            let said = said.split_once(": ").map_or("", |(_, said)| said);
            let end = ["; ", ": ", ". "].iter().filter_map(|stop| said.find(stop)).min().unwrap_or(said.len());
            titles.insert(id.to_owned(), said[..end].trim_end_matches('.').to_owned());
        }
    }
    titles
}

/// The configurations that every example is run in.
fn configurations() -> Vec<Config> {
    let base = |memory: &str| Config { memory: MemoryModel::preset(memory).unwrap(), ..Config::default() };
    let (own, problems) = memory_programs(&root().join("tests/memp/own"), &mut SourceMap::default());
    assert_eq!(problems, []);
    let tiny = DeviceModel::preset("tiny").unwrap();
    vec![
        base("flat"),
        base("lsc-mutex"),
        Config { control: Some(ControlModel::Crs), ..base("flat") },
        base("report"),
        base("tiny"),
        Config { seed: Some(1), ..base("tiny") },
        Config { memory: MemoryModel::Fermi(Arc::new(tiny), Arc::new(own)), ..Config::default() },
    ]
}

/// Warp instructions after which a run is left.
const STEPS: u64 = 3000;

/// The rules that fire in a run, whatever comes out of it.
fn fired(path: &Path, config: &Config) -> BTreeSet<Rule> {
    let mut sources = SourceMap::default();
    let loaded = Spec::read(path, &mut sources).and_then(|spec| {
        let env = load(&spec.ptx, config.control, &mut sources)?;
        Ok((spec, env))
    });
    let Ok((spec, env)) = loaded else { return BTreeSet::new() };
    let config = Config { max_steps: Some(STEPS), ..config.clone() };
    let Ok(mut device) = Device::new(env, sources, config) else { return BTreeSet::new() };
    let program = device.context().program();
    let mut observers = Observers::none().with_coverage(&program).check(Check::Safety, &program);
    _ = run(&spec, &mut device, &mut observers, None, &mut |_| ());
    observers.fired().into_iter().collect()
}

/// The rules that fire in a host script, which the command lists.
fn fired_in_script(path: &Path) -> BTreeSet<Rule> {
    let mut found = BTreeSet::new();
    // Memory with caches fires many rules for each instruction.
    for (memory, steps) in [("flat", "20000"), ("fermi", "1000")] {
        let output = Command::new(env!("CARGO_BIN_EXE_warpstep"))
            .args(["run", "--rules", "--memory", memory, "--max-steps", steps])
            .arg(path)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let ids: BTreeSet<&str> = text.lines().filter_map(|l| l.split_whitespace().next()).collect();
        found.extend(Rule::ALL.iter().filter(|r| ids.contains(r.id())));
    }
    found
}

/// The rules that fire where lanes in lockstep store to the same bytes, on the memories that are about this.
fn fired_in_lockstep() -> Vec<BTreeSet<Rule>> {
    let on = |memory: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_warpstep"))
            .args(["run", "--rules", "--memory", memory, "--block", "2"])
            .arg(root().join("tests/lockstep/bytes.ptx"))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let ids: BTreeSet<&str> = text.lines().filter_map(|l| l.split_whitespace().next()).collect();
        Rule::ALL.iter().copied().filter(|r| ids.contains(r.id())).collect()
    };
    ["lsc", "slsc"].into_iter().map(on).collect()
}

/// The rules that fire where the machine with remote-scope promotion executes one operation, for each operation and scheme.
fn fired_by_promotion() -> Vec<BTreeSet<Rule>> {
    let ops = Op::all(&[Kind::Load, Kind::Store, Kind::Update], 3, 0);
    let schemes = [Scheme::original(), Scheme::proposed()];
    let fired = |scheme: &Scheme, op: Op| {
        let home = Home { device: 0, group: 0 };
        let shape = Shape { threads: vec![(home, vec![op])], conditional: None };
        let program = compile(&shape.test(), scheme).ok()?.program;
        let space = explore(&program, &mut Options::new(Grain::Every));
        Some(space.fired.into_iter().collect())
    };
    schemes.iter().flat_map(|scheme| ops.iter().filter_map(move |op| fired(scheme, *op))).collect()
}

/// The rules that fire where the mutex mechanism runs store buffering: two wavefronts, a wavefront and a CPU thread, two CPU threads.
fn fired_by_the_mechanism() -> Vec<BTreeSet<Rule>> {
    let agent = |stores: u8, loads: u8| {
        let instruction = |op, at, value| Instruction { op, lanes: vec![Access { at, to: loads, value }] };
        vec![instruction(lockstep::Op::Store, stores, stores + 1), instruction(lockstep::Op::Load, loads, 0)]
    };
    let both = [agent(0, 1), agent(1, 0)];
    let fired = |waves: usize| {
        let (waves, cpus) = (both[..waves].to_vec(), both[waves..].to_vec());
        let program = Program::new(&Source { lines: vec![0, 1], pool: 2, waves, cpus }).ok()?;
        let (readings, grain) = (Readings::REPAIRED, lockstep_search::Grain::Every);
        let options = &mut lockstep_search::Options::new(readings, grain);
        let space = lockstep_search::Search::default().explore(&program, options);
        Some(space.fired.rules().into_iter().collect())
    };
    (0..=2).filter_map(fired).collect()
}

type Row = Vec<String>;

/// Whether two rows say the same. A count may lag a tenth behind, so that not every new example changes the table; but
/// never about whether a rule fires at all.
fn agree(kept: &Row, row: &Row) -> bool {
    let count = |row: &Row| row.get(2).and_then(|c| c.parse::<u32>().ok()).unwrap_or(0);
    let (old, new) = (count(kept), count(row));
    let others = |row: &Row| row.iter().enumerate().filter(|(k, _)| *k != 2).map(|(_, c)| c.clone()).collect::<Row>();
    others(kept) == others(row) && (old == 0) == (new == 0) && old.abs_diff(new) <= (new / 10).max(3)
}

/// Rules that do not fire in any example yet.
const OPEN: &[&str] = &[];

#[test]
fn the_table_is_up_to_date() {
    let mut counts: BTreeMap<Rule, u32> = BTreeMap::new();
    let mut count = |rules: BTreeSet<Rule>| rules.into_iter().for_each(|r| *counts.entry(r).or_default() += 1);
    for path in files("ptx-examples", |n| n.starts_with("launch") && n.ends_with(".toml")) {
        count(configurations().iter().flat_map(|config| fired(&path, config)).collect());
    }
    for path in files("tests/host", |n| n.ends_with(".toml")) {
        count(fired_in_script(&path));
    }
    fired_in_lockstep().into_iter().for_each(&mut count);
    fired_by_promotion().into_iter().chain(fired_by_the_mechanism()).for_each(count);
    let (homes, titles) = (homes(), titles());
    let none = String::new();
    let mut table = "id\thome\tfires in\twhat it does\n".to_owned();
    for rule in Rule::ALL {
        let (home, title) = (homes.get(rule.id()).unwrap_or(&none), titles.get(rule.id()).unwrap_or(&none));
        let count = counts.get(rule).copied().unwrap_or(0);
        table += &format!("{}\t{home}\t{count}\t{title}\n", rule.id());
    }
    let path = root().join("cli/src/report/rule_table.tsv");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &table).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    let rows = |text: &str| text.lines().map(|l| l.split('\t').map(str::to_owned).collect()).collect::<Vec<Row>>();
    let (kept, table) = (rows(&kept), rows(&table));
    let changed: Vec<String> =
        table.iter().filter(|row| !kept.iter().any(|k| agree(k, row))).map(|row| row.join(" ")).collect();
    assert!(changed.is_empty(), "the table has changed; BLESS=1 writes it:\n{}", changed.join("\n"));
    assert_eq!(kept.len(), table.len(), "the table has rules that are no more; BLESS=1 writes it");
    let silent: Vec<&str> = Rule::ALL.iter().filter(|r| !counts.contains_key(r)).map(|r| r.id()).collect();
    assert_eq!(silent, OPEN, "rules that do not fire in any example");
}

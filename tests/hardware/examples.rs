//! The launch files of `ptx-examples`, for a GPU to run.

use super::recorded;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use warpstep::base::SourceMap;
use warpstep::launch::{Arg, Device, Spec, compare, load};
use warpstep::machine::Config;
use warpstep::verdict::Silent;

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    paths.sort();
    paths
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("ptx-examples")
}

/// Launch files: (name, path).
fn launch_files() -> Vec<(String, PathBuf)> {
    let root = root();
    let files = entries(&root).into_iter().flat_map(|folder| entries(&folder));
    let toml = files.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    toml.map(|path| (path.strip_prefix(&root).unwrap().display().to_string(), path)).collect()
}

fn read(path: &Path) -> Option<(Spec, SourceMap)> {
    let mut sources = SourceMap::default();
    Some((Spec::read(path, &mut sources).ok()?, sources))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A launch file as the player takes it.
fn job(name: &str, spec: &Spec) -> Option<Value> {
    let texts: Option<Vec<String>> = spec.ptx.iter().map(|(path, _)| std::fs::read_to_string(path).ok()).collect();
    let mut buffers = serde_json::Map::new();
    for (name, buffer) in &spec.buffers {
        buffers.insert(name.clone(), hex(&buffer.init.bytes(buffer.ty, buffer.len).ok()?).into());
    }
    let mut globals = serde_json::Map::new();
    for (name, global) in &spec.globals {
        globals.insert(name.clone(), hex(&global.data.bytes(global.ty, None).ok()?).into());
    }
    let mut launches = Vec::new();
    for launch in &spec.launches {
        let argument = |(arg, _): &(Arg, _)| match arg {
            Arg::Buffer { name, offset } => json!({"buffer": name, "offset": offset}),
            Arg::Scalar(_, bytes) | Arg::Bytes(bytes) => json!({"hex": hex(bytes)}),
            Arg::Null => json!({"hex": "0000000000000000"}),
            Arg::Handle { .. } => Value::Null,
        };
        let args: Vec<Value> = launch.args.iter().map(argument).collect();
        launches.push(json!({
            "entry": launch.entry, "grid": launch.grid, "block": launch.block, "shared": launch.shared, "args": args
        }));
    }
    Some(json!({"name": name, "ptx": texts?, "buffers": buffers, "globals": globals, "launches": launches}))
}

/// Writes all launch files for the player.
pub fn write(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let jobs = launch_files().into_iter().filter_map(|(name, path)| job(&name, &read(&path)?.0));
    let lines: String = jobs.map(|job| format!("{job}\n")).collect();
    std::fs::write(folder.join("examples.jsonl"), lines).unwrap();
}

/// What our run leaves in its buffers.
fn ours(spec: &Spec, mut sources: SourceMap) -> Option<Device> {
    let config = Config::default();
    let env = load(&spec.ptx, None, &mut sources).ok()?;
    let mut device = Device::new(env, sources, config).ok()?;
    device.prepare(spec).ok()?;
    for launch in &spec.launches {
        device.launch(launch, &mut Silent, &mut |_| ()).ok()?;
    }
    Some(device)
}

/// The record.
const FILE: &str = "examples.txt";

/// Why an example's memory may be other than on the GPU: it is as expected nevertheless, where something is expected.
const OTHER: [(&str, &str); 8] = [
    ("bfs/", "a queue is filled in the order in which blocks came"),
    ("feat/launch.malloc.toml", "addresses of the heap"),
    ("feat/launch.toml f32", "approximate functions"),
    ("nbody/", "rsqrt.approx"),
    ("spinlock/", "a log in the order in which threads came"),
    ("spmv/launch.O0.toml", "fused operations that ptxas makes of products and sums"),
    ("triton_softmax/", "ex2.approx"),
    ("warp_aggregated/", "places in the order in which warps came"),
];

/// Compares with what the player brought back: the same bits but for those that may differ. Keeps it, if asked to.
pub fn same(folder: &Path, keep: bool) {
    let lines = std::fs::read_to_string(folder.join("examples.played.jsonl")).unwrap();
    let (mut kept, mut wrong) = (Vec::new(), 0);
    for line in lines.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        let name = entry["name"].as_str().unwrap();
        if let Some(error) = entry["error"].as_str() {
            println!("{name}: {error}");
            wrong += usize::from(error != "has textures");
            continue;
        }
        let (spec, sources) = read(&root().join(name)).unwrap();
        let ours = ours(&spec, sources).unwrap_or_else(|| panic!("{name} does not run"));
        for (buffer, theirs) in entry["buffers"].as_object().unwrap() {
            let theirs = warpstep::launch::hex(theirs.as_str().unwrap()).unwrap();
            let expected = spec.expect.get(buffer).map(|expect| compare(buffer, expect, &theirs));
            let expected = expected.is_none_or(|found| matches!(found, Ok(None)));
            let place = format!("{name} {buffer}");
            let same = ours.contents(buffer).is_some_and(|(_, bytes)| bytes == theirs);
            let other = OTHER.iter().find(|(start, _)| place.starts_with(start));
            match other {
                _ if same && expected => kept.push((place, theirs, true)),
                Some((_, why)) if expected => println!("{place}: {why}"),
                _ => {
                    wrong += 1;
                    println!("{place}: as expected: {expected}, the same bits: {same}");
                }
            }
        }
    }
    println!("{} buffers are the same", kept.len());
    assert_eq!(wrong, 0);
    if keep {
        kept.sort();
        recorded::write(FILE, &kept);
    }
}

#[test]
fn examples_are_as_recorded() {
    let records = recorded::read(FILE);
    assert!(records.len() > 300, "only {} buffers are recorded", records.len());
    let files: BTreeSet<&str> =
        records.keys().filter_map(|place| place.split_once(' ')).map(|(file, _)| file).collect();
    for name in files {
        let (spec, sources) =
            read(&root().join(name)).unwrap_or_else(|| panic!("{name} is recorded, and is not there"));
        let ours = ours(&spec, sources).unwrap_or_else(|| panic!("{name} does not run"));
        for place in records.keys().filter(|place| place.split_once(' ').is_some_and(|(file, _)| file == name)) {
            let buffer = &place[name.len() + 1..];
            let (_, bytes) = ours.contents(buffer).unwrap_or_else(|| panic!("{place} is recorded, and is not there"));
            assert!(recorded::is(&records, place, bytes), "{place} is not what the GPU left there");
        }
    }
}

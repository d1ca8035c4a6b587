//! The launch files of `ptx-examples`, for a GPU to run.

use serde_json::{Value, json};
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

/// Launch files: (name, path).
fn launch_files() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("ptx-examples");
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

/// Compares with what the player brought back.
pub fn same(folder: &Path) {
    let lines = std::fs::read_to_string(folder.join("examples.played.jsonl")).unwrap();
    for line in lines.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        let name = entry["name"].as_str().unwrap();
        if let Some(error) = entry["error"].as_str() {
            println!("{name}: {error}");
            continue;
        }
        let (spec, sources) = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("ptx-examples").join(name)).unwrap();
        let ours = ours(&spec, sources);
        for (buffer, theirs) in entry["buffers"].as_object().unwrap() {
            let theirs = warpstep::launch::hex(theirs.as_str().unwrap()).unwrap();
            let expected = spec.expect.get(buffer).map(|expect| compare(buffer, expect, &theirs));
            let expected = match expected {
                None => "nothing expected",
                Some(Ok(None)) => "as expected",
                Some(Ok(Some(_))) => "NOT AS EXPECTED",
                Some(Err(_)) => "not comparable",
            };
            let bits = match ours.as_ref().and_then(|device| device.contents(buffer)) {
                None => "not run here",
                Some((_, bytes)) if bytes == theirs => "the same bits",
                Some(_) => "other bits",
            };
            println!("{name} {buffer}: {expected}, {bits}");
        }
    }
}

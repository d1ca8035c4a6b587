//! What a GPU gave, kept: for each kernel a hash of all its results, and for those whose results may differ from ours the first
//! ones themselves.

use super::probe::Probe;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// Results that are kept of a kernel whose results may differ.
const KEPT: usize = 512;

/// The record of one kernel.
pub struct Record {
    hash: u64,
    /// The first bytes, where the results differed from ours.
    first: Vec<u8>,
}

/// How our results are to the recorded ones.
pub enum Found {
    Same,
    /// Other than recorded; the first bytes of the record, where they were kept.
    Other(Vec<u8>),
    /// There is no record of the kernel.
    New,
}

/// Where the records of a GPU are.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hardware/h200")
}

/// The records of a file: by name.
pub fn read(file: &str) -> BTreeMap<String, Record> {
    let text = std::fs::read_to_string(folder().join(file)).unwrap_or_default();
    let one = |line: &str| {
        let (rest, name) = line.split_once(": ")?;
        let (hash, first) = rest.split_once(' ').unwrap_or((rest, ""));
        let first = warpstep::launch::hex(first)?;
        Some((name.to_owned(), Record { hash: u64::from_str_radix(hash, 16).ok()?, first }))
    };
    text.lines().filter_map(one).collect()
}

/// Writes records: name, what the GPU gave, whether ours is the same.
pub fn write(file: &str, all: &[(String, Vec<u8>, bool)]) {
    let mut text = String::new();
    for (name, theirs, same) in all {
        let kept = if *same { &[][..] } else { &theirs[..KEPT.min(theirs.len())] };
        let hex: String = kept.iter().map(|byte| format!("{byte:02x}")).collect();
        let space = if hex.is_empty() { "" } else { " " };
        writeln!(text, "{:016x}{space}{hex}: {name}", xxh3_64(theirs)).unwrap();
    }
    std::fs::create_dir_all(folder()).unwrap();
    std::fs::write(folder().join(file), text).unwrap();
}

/// Whether a record is of these results.
pub fn is(records: &BTreeMap<String, Record>, name: &str, ours: &[u8]) -> bool {
    records.get(name).is_some_and(|record| record.hash == xxh3_64(ours))
}

/// Compares our results with the record of a kernel.
pub fn compare(records: &BTreeMap<String, Record>, probe: &Probe, ours: &[u8]) -> Found {
    match records.get(&probe.name) {
        None => Found::New,
        Some(record) if record.hash == xxh3_64(ours) => Found::Same,
        Some(record) => Found::Other(record.first.clone()),
    }
}

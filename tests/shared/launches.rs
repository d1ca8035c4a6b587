//! The examples.

use std::path::PathBuf;

/// The launch files of all examples.
pub fn launches() -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("ptx-examples");
    let folders = std::fs::read_dir(root).into_iter().flatten().flatten().map(|e| e.path());
    let files = folders.filter_map(|f| std::fs::read_dir(f).ok()).flatten().flatten().map(|e| e.path());
    let mut all: Vec<_> = files.filter(|f| f.extension().is_some_and(|e| e == "toml")).collect();
    all.sort();
    all
}

//! The public litmus tests.

use std::path::{Path, PathBuf};

/// The public tests for PTX with their texts, in the order of their paths.
pub fn suite() -> Vec<(PathBuf, String)> {
    within(&crate::shared::found().expect("asked for where it is").join("conformance/litmus/ptx"))
}

/// The litmus tests of a folder and those in it.
pub fn within(folder: &Path) -> Vec<(PathBuf, String)> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "litmus") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}

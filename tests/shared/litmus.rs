//! The public litmus tests for PTX.

use std::path::PathBuf;

/// The tests with their texts, in the order of their paths.
pub fn suite() -> Vec<(PathBuf, String)> {
    let root = crate::shared::found().expect("asked for where it is").join("conformance/litmus/ptx");
    let (mut found, mut folders) = (Vec::new(), vec![root]);
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

//! Descriptions with mistakes in them, and the messages that tell them: `NAME.toml` and `NAME.out`. `BLESS=1` rewrites those.

use std::path::{Path, PathBuf};
use std::process::Output;

/// The descriptions in a folder.
pub fn descriptions(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<_> = std::fs::read_dir(folder).unwrap().flatten().map(|e| e.path()).collect();
    all.retain(|p| p.extension().is_some_and(|e| e == "toml"));
    all.sort();
    all
}

/// Everything that a command wrote.
pub fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Each description in the folder is refused with exit code 2 and its message, which has the description's place. `run`
/// gives the name of a description in messages, and what the command says of it.
#[track_caller]
pub fn all_refused(folder: &Path, run: impl Fn(&Path) -> (String, Output)) {
    let mut wrong = Vec::new();
    for path in descriptions(folder) {
        let (name, output) = run(&path);
        let (found, golden) = (text(&output), path.with_extension("out"));
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&golden, &found).unwrap();
        }
        let wanted = std::fs::read_to_string(&golden).unwrap_or_default();
        if output.status.code() != Some(2) || found != wanted || !found.contains(&format!("{name}:")) {
            wrong.push(format!("{name} ends with {:?}:\n{found}", output.status.code()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

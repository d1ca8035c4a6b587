//! Which files are tested.

use crate::launch::{Below, Problem, ProblemKind, Suppression, below};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The files of a suite.
pub(super) struct Selected {
    /// Those that are tested, in the order of the paths that were named.
    pub files: Vec<PathBuf>,
    /// Other TOML files of the folders.
    pub others: Vec<PathBuf>,
}

/// The launch files below some paths, without those that patterns leave out.
///
/// # Errors
/// A path cannot be read or has none; nothing is left.
pub(super) fn select(paths: &[PathBuf], filter: &[String], skip: &[String]) -> Result<Selected, ProblemKind> {
    let (mut files, mut others, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    for path in paths {
        let toml = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
        if path.is_file() && !toml {
            return Err(ProblemKind::NoTest { path: path.clone() });
        }
        let Below { files: found, others: more } = below(path)?;
        if found.is_empty() {
            return Err(ProblemKind::NoTests { path: path.clone(), others: more.len() });
        }
        // A file is tested once, however many of the paths lead to it.
        let mut new = |file: &PathBuf| seen.insert(file.canonicalize().unwrap_or_else(|_| file.clone()));
        files.extend(found.into_iter().filter(&mut new));
        others.extend(more.into_iter().filter(&mut new));
    }
    let found = files.len();
    let any = |patterns: &[String], file: &PathBuf| patterns.iter().any(|pattern| has(file, pattern));
    files.retain(|file| (filter.is_empty() || any(filter, file)) && !any(skip, file));
    if files.is_empty() { Err(ProblemKind::NoneLeft { found }) } else { Ok(Selected { files, others }) }
}

/// That nothing matched a suppression.
pub(super) fn unused(entry: &Suppression) -> Problem {
    ProblemKind::UnusedSuppression { kind: entry.kind.id(), reason: entry.reason.clone() }.at(entry.at)
}

/// Whether a path has a pattern in it, in which `*` stands for anything.
fn has(path: &Path, pattern: &str) -> bool {
    let path = path.to_string_lossy();
    let mut rest = &*path;
    pattern.split('*').all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_parts_of_paths() {
        let path = Path::new("tests/slow/reduce.toml");
        for yes in ["", "slow", "tests*reduce", "*/slow/*", "s*s*s", "reduce.toml"] {
            assert!(has(path, yes), "{yes}");
        }
        for no in ["fast", "reduce*tests", "slow*slow", "toml*x"] {
            assert!(!has(path, no), "{no}");
        }
    }
}

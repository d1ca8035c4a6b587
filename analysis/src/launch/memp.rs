//! Memory programs from files.

use super::file::{open, unreadable};
use super::problem::{Problem, ProblemKind};
use crate::base::{FileId, SourceMap, sort};
use crate::memory::fermi::program::{self, MempErrorKind, ProgramSet};
use std::path::{Path, PathBuf};

/// Reads the memory programs of a folder: its `*.memp` files, in the order of their names. `sources` keeps their text for
/// messages. The set is to be run only when no problem is an error ([`Problem::is_warning`]).
#[must_use]
pub fn memory_programs(folder: &Path, sources: &mut SourceMap) -> (ProgramSet, Vec<Problem>) {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) => return (ProgramSet::default(), unreadable(folder, &e).into()),
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(|p| is_memp(p)).collect();
    sort::sort(&mut paths);
    if paths.is_empty() {
        return (ProgramSet::default(), ProblemKind::NoMemoryPrograms { folder: folder.to_owned() }.into());
    }
    read(&paths, sources)
}

/// Checks files of memory programs that need not serve every operation together.
#[must_use]
pub fn check_memory_programs(paths: &[PathBuf], sources: &mut SourceMap) -> Vec<Problem> {
    let (_, mut problems) = read(paths, sources);
    problems
        .retain(|p| !matches!(&p.kind, ProblemKind::Memp(error) if matches!(error.kind, MempErrorKind::Missing(_))));
    problems
}

/// Whether a path is named as a file of memory programs is.
#[must_use]
pub fn is_memp(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "memp")
}

fn read(paths: &[PathBuf], sources: &mut SourceMap) -> (ProgramSet, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut files: Vec<FileId> = Vec::new();
    for path in paths {
        match open(path, sources) {
            Ok(file) => files.push(file),
            Err(kind) => problems.push(kind.at(None)),
        }
    }
    let (set, errors) = program::load(&files, sources);
    // With a file unread everything that it may have had seems to be missing.
    let unread = !problems.is_empty();
    let told = errors.into_iter().filter(|e| !unread || !matches!(e.kind, MempErrorKind::Missing(_)));
    problems.extend(told.map(Problem::from));
    (set, problems)
}

//! Memory programs from files.

use super::file::text_of;
use super::problem::{Problem, ProblemKind};
use crate::base::{FileId, SourceMap};
use crate::memory::fermi::program::{self, MempErrorKind, ProgramSet};
use std::path::{Path, PathBuf};

/// Reads the memory programs of a folder: its `*.memp` files, in the order of their names. `sources` keeps their text for
/// messages. The set is to be run only when no problem is an error ([`Problem::is_warning`]).
#[must_use]
pub fn memory_programs(folder: &Path, sources: &mut SourceMap) -> (ProgramSet, Vec<Problem>) {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) => {
            let kind = ProblemKind::Unreadable { path: folder.to_owned(), cause: e.kind() };
            return (ProgramSet::default(), vec![kind.at(None)]);
        }
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(|p| is_memp(p)).collect();
    paths.sort();
    if paths.is_empty() {
        let kind = ProblemKind::NoMemoryPrograms { folder: folder.to_owned() };
        return (ProgramSet::default(), vec![kind.at(None)]);
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
        match text_of(path) {
            Ok(text) => files.push(sources.add(path.display().to_string(), text)),
            Err(problem) => problems.push(*problem),
        }
    }
    let (set, errors) = program::load(&files, sources);
    // With a file unread everything that it may have had seems to be missing.
    let unread = !problems.is_empty();
    problems.extend(errors.into_iter().filter(|e| !unread || !matches!(e.kind, MempErrorKind::Missing(_))).map(|e| {
        let at = Some((e.file, e.span));
        ProblemKind::Memp(Box::new(e)).at(at)
    }));
    (set, problems)
}

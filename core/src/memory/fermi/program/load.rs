//! From files to a set of programs: parsing, checking, presets, and what is missing.

use super::OpKey;
use super::check::check;
use super::error::{MempError, MempErrorKind};
use super::parse::parse;
use super::presets::preset_files;
use super::set::ProgramSet;
use crate::base::{FileId, SourceMap, Span, sort};
use rustc_hash::FxHashMap;

/// A preset: `report` (the listings as printed), `fermi`, `sm80` (as `fermi`, with atomic operations on shared memory
/// that are atomic with respect to every access), `write-through` (stores write L1 through) or `invalidate` (and invalidate
/// the other multiprocessors' copies).
#[must_use]
pub fn preset(name: &str) -> Option<ProgramSet> {
    let mut sources = SourceMap::default();
    let files: Vec<FileId> =
        preset_files(name)?.iter().map(|(file, text)| sources.add(format!("preset {file}"), *text)).collect();
    Some(load(&files, &sources).0)
}

/// Makes a set of the programs in files, with all complaints in the order of the files. A set with complaints other than
/// warnings is not to be run.
#[must_use]
pub fn load(files: &[FileId], sources: &SourceMap) -> (ProgramSet, Vec<MempError>) {
    let mut set = ProgramSet::default();
    let mut errors = Vec::new();
    let mut served: FxHashMap<OpKey, (FileId, Span)> = FxHashMap::default();
    let mut base: Option<(String, FileId, Span)> = None;
    let mut end = (FileId::default(), Span::default());
    for file in files {
        let Some(source) = sources.get(*file) else { continue };
        let (parsed, complaints) = parse(*file, source);
        // What was left out would only mislead the check.
        let whole = complaints.is_empty();
        errors.extend(complaints);
        let mut found = Vec::new();
        match (parsed.base, &base) {
            (Some((_, span)), Some((_, _, first))) => found.push((MempErrorKind::SecondUse(*first), span)),
            (Some((name, span)), None) => base = Some((name, *file, span)),
            (None, _) => {}
        }
        for program in parsed.programs {
            for (key, span) in &program.serves {
                match served.get(key) {
                    Some((file, first)) => {
                        found.push((MempErrorKind::Twice { key: *key, file: *file, span: *first }, *span));
                    }
                    None => {
                        served.insert(*key, (*file, *span));
                    }
                }
            }
            if program.code.len() >= usize::from(u16::MAX) {
                found.push((MempErrorKind::TooLong, program.head));
                continue;
            }
            if whole {
                found.extend(check(&program));
            }
            set.add(program);
        }
        errors.extend(found.into_iter().map(|(kind, span)| MempError { kind, file: *file, span }));
        let length = u32::try_from(source.text.len()).unwrap_or(u32::MAX);
        end = (*file, Span::new(length, length));
    }
    // What is missing is taken from the preset that the files name.
    if let Some((name, file, span)) = base {
        match preset(&name) {
            Some(base) => base.programs().iter().for_each(|program| set.add(program.clone())),
            None => errors.push(MempError { kind: MempErrorKind::UnknownPreset, file, span }),
        }
    }
    let missing = set.missing();
    // A file that does not parse may well have what seems to be missing.
    if !missing.is_empty() && errors.iter().all(MempError::is_warning) {
        errors.push(MempError { kind: MempErrorKind::Missing(missing), file: end.0, span: end.1 });
    }
    sort::sort_by_key(&mut errors, |e| (files.iter().position(|f| *f == e.file), e.span));
    (set, errors)
}

//! Tests of the language, the presets and the static check; `run` is about execution.

use super::tree::MempFile;
use super::*;
use crate::base::{FileId, SourceMap};

fn read(text: &str) -> (MempFile, Vec<MempErrorKind>) {
    let (file, errors) = parse(FileId(0), text);
    (file, errors.into_iter().map(|e| e.kind).collect())
}

#[test]
fn presets_are_complete_and_clean() {
    for name in presets() {
        let mut sources = SourceMap::default();
        let files: Vec<FileId> = preset_files(name).unwrap().iter().map(|(n, t)| sources.add(*n, *t)).collect();
        let (set, errors) = load(&files, &sources);
        assert_eq!(errors, [], "{name}");
        assert_eq!(set.missing(), [], "{name}");
        for key in OpKey::all() {
            let id = preset(name).unwrap().find(key).unwrap();
            assert!(set.get(id).unwrap().serves().contains(&key), "{name}: {}", key.name());
        }
    }
    assert!(preset("Fermi").is_none());
}

#[test]
fn printing_and_parsing_are_inverse() {
    for (name, text) in presets().filter_map(preset_files).flatten() {
        let (file, errors) = read(text);
        assert_eq!(errors, [], "{name}");
        let printed = print(&file);
        let (again, errors) = read(&printed);
        assert_eq!(errors, [], "{name}");
        assert_eq!(print(&again), printed, "{name}");
        assert_eq!(tests_support::plain(&again), tests_support::plain(&file), "{name}");
    }
}

/// Comparing trees without their places.
mod tests_support {
    use super::super::tree::*;
    use crate::base::Span;

    pub(super) fn plain(file: &MempFile) -> MempFile {
        let zero = Span::default();
        let programs = file.programs.iter().map(|p| MemProgram {
            serves: p.serves.iter().map(|(key, _)| (*key, zero)).collect(),
            body: statements(&p.body),
            head: zero,
        });
        MempFile { base: file.base.clone().map(|(name, _)| (name, zero)), programs: programs.collect() }
    }

    fn statements(list: &[Stmt]) -> Vec<Stmt> {
        list.iter()
            .map(|stmt| Stmt {
                kind: match &stmt.kind {
                    StmtKind::If { cond, then, otherwise, .. } => StmtKind::If {
                        cond: cond.clone(),
                        cond_span: Span::default(),
                        then: statements(then),
                        otherwise: otherwise.as_deref().map(statements),
                    },
                    other => other.clone(),
                },
                span: Span::default(),
            })
            .collect()
    }
}

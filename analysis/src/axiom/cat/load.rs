//! A model's files: the one that is asked for, and those that it includes.

use super::error::{CatError, CatErrorKind, MAX_FILES};
use super::parse::parse;
use super::tree::{File, Ident, Statement, StatementKind};
use crate::base::FileId;

/// A file that was read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) id: FileId,
    pub(super) text: String,
    file: File,
}

/// Gives the text of a file that is included, by the name that the `include` has, or a reason why not.
pub type Include<'a> = &'a mut dyn FnMut(&str) -> Result<(FileId, String), String>;

/// All files of a model.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    pub(super) files: Vec<Read>,
    /// The statements in order, with those of included files in the place of each `include`: indices of file and statement.
    order: Vec<(usize, usize)>,
    pub(super) errors: Vec<CatError>,
}

impl Loaded {
    /// Reads a file and what it includes.
    pub(super) fn new(id: FileId, text: &str, include: Include<'_>) -> Self {
        let mut loaded = Self::default();
        loaded.add(id, text.to_owned(), include, &mut Vec::new());
        loaded
    }

    /// Whether it calls its model one of OpenCL, in the first line.
    pub(super) fn is_opencl(&self) -> bool {
        let title = self.files.first().and_then(|read| read.file.title.as_ref());
        title.is_some_and(|title| title.name.split_whitespace().next() == Some("OpenCL"))
    }

    /// The statements, each with the index of its file.
    pub(super) fn statements(&self) -> impl Iterator<Item = (usize, &Statement)> {
        self.order.iter().map(|(file, at)| (*file, &self.files[*file].file.statements[*at]))
    }

    fn add(&mut self, id: FileId, text: String, include: Include<'_>, within: &mut Vec<String>) {
        let (file, mut errors) = parse(id, &text);
        self.errors.append(&mut errors);
        let index = self.files.len();
        let included: Vec<(usize, Option<Ident>)> = file
            .statements
            .iter()
            .map(|s| match &s.kind {
                StatementKind::Include(name) => Some(name.clone()),
                _ => None,
            })
            .enumerate()
            .collect();
        self.files.push(Read { id, text, file });
        for (at, name) in included {
            let Some(name) = name else {
                self.order.push((index, at));
                continue;
            };
            let read = match () {
                () if within.contains(&name.name) => Err(CatErrorKind::IncludesItself),
                () if self.files.len() > MAX_FILES => Err(CatErrorKind::TooManyFiles),
                () => include(&name.name).map_err(|reason| CatErrorKind::Include { reason }),
            };
            match read {
                Ok((id, text)) => {
                    within.push(name.name);
                    self.add(id, text, include, within);
                    within.pop();
                }
                Err(kind) => self.errors.push(CatError { kind, file: id, span: name.span, call: None }),
            }
        }
    }
}

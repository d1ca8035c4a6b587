//! Modules of PTX: a text, or several out of a binary that nvcc made.

use super::file::{text_of, unreadable};
use super::problem::ProblemKind;
use crate::base::{FileId, SourceMap, files};
use crate::program::check::HIGHEST;
use crate::ptx::fatbin::{Fatbin, is_binary};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Whether a file is PTX, by its name, or a binary that may have some, by how it begins.
#[must_use]
pub fn is_ptx(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("ptx")) || binary(path).unwrap_or(false)
}

fn binary(path: &Path) -> std::io::Result<bool> {
    // To open a pipe waits for its writer.
    if !path.is_file() {
        return Ok(false);
    }
    let mut start = Vec::new();
    File::open(path)?.take(4).read_to_end(&mut start)?;
    Ok(is_binary(&start))
}

/// Adds the PTX of a file to `sources`: the file itself, or of a binary what it has for the architecture that `sources` says,
/// else for the highest that is known. Of one with several modules, each has a number behind the file's name.
///
/// # Errors
/// The file cannot be read, or has no such PTX.
pub fn modules(path: &Path, sources: &mut SourceMap) -> Result<Vec<FileId>, ProblemKind> {
    let name = path.display().to_string();
    if !binary(path).map_err(|e| unreadable(path, &e))? {
        let text = text_of(path)?;
        if sources.arch().is_some() {
            let why = "PTX is for the architecture that its .target names; --arch chooses among those of a binary";
            return Err(ProblemKind::UnfitFlag { flag: "--arch", text: name, why });
        }
        return Ok(vec![sources.add(name, text)]);
    }
    let bytes = files::read(path).map_err(|e| unreadable(path, &e))?;
    let refused = |error| ProblemKind::Fatbin { path: path.to_owned(), error };
    let read = Fatbin::read(&bytes).map_err(refused)?;
    let chosen = read.choose(sources.arch(), HIGHEST).map_err(refused)?;
    let several = chosen.len() > 1;
    let named = |k: usize| if several { format!("{name}#{}", k + 1) } else { name.clone() };
    Ok(chosen.into_iter().enumerate().map(|(k, entry)| sources.add(named(k), entry.text.clone())).collect())
}

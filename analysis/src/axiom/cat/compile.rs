//! Text → model.

use super::error::CatError;
use super::load::{Include, Loaded};
use super::lower::lower;
use super::names::Names;
use crate::axiom::model::Model;
use crate::base::FileId;

/// The model that a cat file and those that it includes come to. It may use the names of [`BASES`](super::BASES); those of
/// [`OPENCL`](super::OPENCL), where the first line calls it `OpenCL` (D-cat-language).
///
/// # Errors
/// All that is wrong with the files; with their syntax, where something is, otherwise with what they mean.
pub fn compile(name: &str, file: FileId, text: &str, include: Include<'_>) -> Result<Model, Vec<CatError>> {
    compile_with(&Names::default(), name, file, text, include)
}

/// The same with other names that are given.
///
/// # Errors
/// As [`compile`].
pub fn compile_with(
    names: &Names,
    name: &str,
    file: FileId,
    text: &str,
    include: Include<'_>,
) -> Result<Model, Vec<CatError>> {
    let loaded = Loaded::new(file, text, include);
    if !loaded.errors.is_empty() {
        // Names that did not parse seem to be missing: complaints about those would only mislead.
        return Err(loaded.errors);
    }
    if loaded.is_opencl() {
        return lower(name, &loaded, &Names::opencl());
    }
    lower(name, &loaded, names)
}

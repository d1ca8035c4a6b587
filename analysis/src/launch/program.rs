//! From PTX files to a program environment: parse, check, build.

use super::modules::modules;
use super::problem::{At, Problem, ProblemKind as K};
use crate::base::{FileId, SourceMap};
use crate::machine::ControlModel;
use crate::program::check::{Checked, check};
use crate::program::env::ProgEnv;
use crate::program::{self, Options};
use crate::ptx::parse;
use crate::ptx::tree::Module;
use std::path::PathBuf;

/// Reads PTX files, or the PTX in binaries, and links them into one program; `sources` keeps their text for messages.
///
/// `control` is the control model that the program will run under, by its target when absent: `crs` needs its own
/// instructions in the code.
///
/// # Errors
/// Every problem of every file.
pub fn load(
    paths: &[(PathBuf, At)],
    control: Option<ControlModel>,
    sources: &mut SourceMap,
) -> Result<ProgEnv, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut files = Vec::new();
    for (path, at) in paths {
        match modules(path, sources) {
            Ok(found) => files.extend(found),
            Err(kind) => problems.push(kind.at(*at)),
        }
    }
    if problems.is_empty() { build(&files, control, sources) } else { Err(problems) }
}

/// Links PTX modules that are in `sources` into one program.
///
/// # Errors
/// Every problem of every module.
pub fn build(files: &[FileId], control: Option<ControlModel>, sources: &SourceMap) -> Result<ProgEnv, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut modules = Vec::new();
    let mut sm = u32::MAX;
    for file in files {
        let (module, checked) = understand(*file, sources, &mut problems);
        sm = sm.min(checked.sm.into());
        modules.push((*file, module, checked));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let inject = control.unwrap_or(ControlModel::of_target(sm)) == ControlModel::Crs;
    let modules: Vec<_> = modules.iter().map(|(file, module, checked)| (*file, module, checked)).collect();
    let (env, errors) = program::build(&modules, &Options { inject, ..Options::default() });
    if errors.is_empty() {
        return Ok(env);
    }
    Err(errors.into_iter().map(Problem::from).collect())
}

/// Parses and checks one module; gives it and what checking found out.
pub fn understand(file: FileId, sources: &SourceMap, problems: &mut Vec<Problem>) -> (Module, Checked) {
    let text = sources.get(file).map_or("", |s| s.text.as_str());
    let (module, errors) = parse(text);
    let broken = !errors.is_empty();
    problems.extend(errors.into_iter().map(|e| Problem { at: Some((file, e.span)), kind: K::Syntax(Box::new(e)) }));
    // What did not parse leaves names undeclared: complaints about those would only mislead.
    if broken {
        return (module, Checked::default());
    }
    let (checked, errors) = check(&module);
    problems.extend(errors.into_iter().map(|e| Problem { at: Some((file, e.span)), kind: K::Check(Box::new(e)) }));
    (module, checked)
}

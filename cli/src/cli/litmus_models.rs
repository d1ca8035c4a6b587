//! The memory models of `warpstep litmus`: built in, or files in the cat language.

use super::form::Form;
use super::output;
use crate::axiom::Model;
use crate::axiom::cat::{BUILTIN, CatError, builtin, compile, source};
use crate::base::SourceMap;
use crate::launch::{Problem, ProblemKind, open};
use crate::litmus::SETS_OF_VULKAN;
use crate::litmus::tree::Arch;
use crate::report::litmus::model_diagnostic;
use std::borrow::Cow;
use std::path::Path;

/// A model that is asked.
pub(super) struct Loaded {
    /// As it was asked for.
    pub name: String,
    /// What it says.
    pub model: Cow<'static, Model>,
    /// What tests it is for; none: it uses nothing that only one language has.
    pub arch: Option<Arch>,
}

/// Why there is no model.
pub(super) enum NoModel {
    /// It cannot be read.
    Problem(Box<Problem>),
    /// What is wrong with its files.
    Wrong(Vec<CatError>),
}

impl NoModel {
    /// Tells it; gives the exit code.
    pub fn tell(self, sources: &SourceMap, format: Form) -> u8 {
        match self {
            Self::Problem(problem) => output::problems(&[*problem], sources, format),
            Self::Wrong(errors) => {
                output::diagnostics(errors.iter().map(|e| model_diagnostic(e, sources)), sources, format)
            }
        }
    }
}

/// Sets and relations that only PTX's executions have.
const OF_PTX: &[&str] =
    &["WEAK", "ACQ_REL", "CTA", "GPU", "SYS", "GEN", "TEX", "SUR", "CON", "ALIAS", "scta", "sync_fence"];
/// Relations that only Vulkan's have; its sets are known where its events are made.
const RELATIONS_OF_VULKAN: &[&str] = &["ssg", "swg", "sqf", "ssw"];

/// Those that only wavefronts have.
const OF_WAVEFRONTS: &[&str] = &["wpo", "si"];

/// What tests a model is for, by the names that it uses.
fn language(model: &Model) -> Option<Arch> {
    if model.fused {
        return Some(Arch::OpenCl);
    }
    let uses = |names: &[&str]| model.sets.iter().chain(&model.relations).any(|name| names.contains(&&**name));
    match (uses(OF_PTX), uses(SETS_OF_VULKAN) || uses(RELATIONS_OF_VULKAN), uses(OF_WAVEFRONTS)) {
        (true, false, false) => Some(Arch::Ptx),
        (false, true, false) => Some(Arch::Vulkan),
        (false, false, true) => Some(Arch::Lockstep),
        _ => None,
    }
}

/// Why no model fits a test: the language of one that does not, and of the test.
pub(super) const fn unfit(model: Option<Arch>, test: Arch) -> &'static str {
    match (test, model) {
        (Arch::Lockstep, _) => "the model is not for wavefronts: sc, lsc and slsc are",
        (_, Some(Arch::Lockstep)) => "the model is for wavefronts, whose tests begin with `LSC`: sc is for others, too",
        (Arch::Ptx, Some(Arch::OpenCl)) => {
            "the model is for OpenCL and the test for PTX: ptx-v6.0 and ptx-v7.5 are for PTX"
        }
        (Arch::Ptx, _) => "the model is for Vulkan and the test for PTX: ptx-v6.0 and ptx-v7.5 are for PTX",
        (Arch::Vulkan, Some(Arch::OpenCl)) => {
            "the model is for OpenCL and the test for Vulkan: vulkan and vulkan-nochains are for Vulkan"
        }
        (Arch::Vulkan, _) => "the model is for PTX and the test for Vulkan: vulkan and vulkan-nochains are for Vulkan",
        (Arch::OpenCl, Some(Arch::Vulkan)) => {
            "the model is for Vulkan and the test for OpenCL: rsp, rsp-figure2 and rsp-strict are for OpenCL"
        }
        (Arch::OpenCl, _) => {
            "the model is for PTX and the test for OpenCL: rsp, rsp-figure2 and rsp-strict are for OpenCL"
        }
    }
}

/// The models of these names or paths; none are the usual ones.
pub(super) fn load(names: &[String], sources: &mut SourceMap) -> Result<Vec<Loaded>, NoModel> {
    if names.is_empty() {
        let usual = ["ptx-v7.5", "vulkan", "rsp", "sc", "lsc", "slsc"];
        let mut all: Vec<Loaded> = usual.iter().map(|name| one(name, sources)).collect::<Result<_, _>>()?;
        // SC is for all tests; unless it is named only wavefronts are asked about it, where it is one of three.
        all.iter_mut().filter(|loaded| loaded.name == "sc").for_each(|sc| sc.arch = Some(Arch::Lockstep));
        return Ok(all);
    }
    names.iter().map(|name| one(name, sources)).collect()
}

/// The model of a name or path.
pub(super) fn one(name: &str, sources: &mut SourceMap) -> Result<Loaded, NoModel> {
    let path = Path::new(name);
    let is_file = path.extension().is_some_and(|e| e == "cat");
    let model = match builtin(name) {
        Some(model) => Cow::Borrowed(model),
        None if is_file => Cow::Owned(read(path, sources)?),
        None => {
            let kind = ProblemKind::UnknownWord { key: "--model", text: name.to_owned(), known: BUILTIN.to_vec() };
            return Err(NoModel::Problem(Box::new(kind.at(None))));
        }
    };
    Ok(Loaded { name: name.to_owned(), arch: language(&model), model })
}

fn read(path: &Path, sources: &mut SourceMap) -> Result<Model, NoModel> {
    let file = open(path, sources).map_err(|kind| NoModel::Problem(Box::new(kind.at(None))))?;
    let text = sources.get(file).map_or_else(String::new, |source| source.text.clone());
    let folder = path.parent().unwrap_or(Path::new(""));
    let include = &mut |name: &str| {
        let beside = folder.join(name);
        let id = match source(name) {
            Some(text) if !beside.exists() => sources.add(name, text),
            _ => open(&beside, sources).map_err(|kind| kind.wording("").message)?,
        };
        Ok((id, sources.get(id).map_or_else(String::new, |source| source.text.clone())))
    };
    compile(&path.display().to_string(), file, &text, include).map_err(NoModel::Wrong)
}

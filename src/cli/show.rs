//! `--show`: what a run looks like from within, for `run` and `replay`.

use super::form::Form;
use super::output;
use crate::base::SourceMap;
use crate::launch::{Problem, ProblemKind};
use crate::program::env::ProgEnv;
use crate::report::MemoryShow;
use clap::Args;
use std::sync::Arc;

/// What is shown of a run.
#[derive(Args, Clone, Debug)]
pub(super) struct ShowFlags {
    /// `memory`: the memory environment after each step of memory; `memory@N`: after step N, as `replay --turns` and the
    /// timeline number them. With --memory fermi or --lanes split: other memory makes no steps of its own.
    #[arg(long, value_name = "memory[@N]")]
    show: Option<String>,
}

/// The step after which the environment is shown; `None`: after each.
#[derive(Clone, Copy)]
pub(super) struct After(Option<u64>);

impl ShowFlags {
    /// What is to be shown, if anything. `steps`: whether memory makes steps of its own.
    ///
    /// # Errors
    /// The flag does not say what is known, or there is nothing to be seen.
    pub fn wanted(&self, steps: bool) -> Result<Option<After>, Box<Problem>> {
        let Some(text) = &self.show else { return Ok(None) };
        let bad = |form| Box::new(ProblemKind::BadFlag { flag: "--show", text: text.clone(), form }.at(None));
        let form = "memory, or memory@N for what it is like after step N of memory";
        let at = match text.split_once('@') {
            None => None,
            Some((_, number)) => Some(number.parse().ok().filter(|n| *n > 0).ok_or_else(|| bad(form))?),
        };
        if text.split('@').next() != Some("memory") {
            return Err(bad(form));
        }
        if !steps {
            return Err(bad("flat memory acts at once and has no steps: with --memory fermi, or --lanes split"));
        }
        Ok(Some(After(at)))
    }
}

impl After {
    /// The environment of a run of `programs`, as text on standard output or to be put into a report.
    pub fn follow(self, programs: Vec<Arc<ProgEnv>>, sources: SourceMap, form: Form) -> MemoryShow {
        let print: fn(&str) = |text| output::say(text);
        MemoryShow::new(programs, sources, self.0, (form == Form::Text).then_some(print))
    }
}

//! `warpstep check`

use super::flags;
use super::form::Form;
use super::output;
use super::target::{CONTROLS, one_of};
use crate::base::{FileId, SourceMap};
use crate::launch::{self, Problem, check_memory_programs, is_memp, memory_programs, open, understand};
use crate::litmus::{self, is_litmus};
use crate::machine::ControlModel;
use crate::program::env::FuncId;
use crate::program::{self, Options};
use crate::ptx;
use crate::report::{self, Diagnostic, problem};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Check PTX files as ptxas does, memory programs and litmus tests; report every error.
#[derive(Args)]
#[command(after_help = "\
Examples:
  warpstep check kernel.ptx
  warpstep check --format json a.ptx b.ptx
  warpstep check --dump kernels app           what an executable has
  warpstep check --dump text a.fatbin > a.ptx
  warpstep check --format sarif *.ptx > ptx.sarif
  warpstep check my-programs/ one-more.memp
  warpstep check --dump tree MP.litmus
  warpstep check --dump program --control crs k.ptx   with ssy, sync, … put in
  warpstep check --dump cfg kernel.ptx | dot -Tsvg > kernel.svg
  warpstep check --dump affine --block 16,16 k.ptx    what lanes have in common")]
pub(super) struct Check {
    /// PTX files, or binaries of nvcc's with PTX in them, litmus tests for PTX or Vulkan (*.litmus), files of memory programs (*.memp), folders of those; each is
    /// checked on its own. A folder must serve every memory operation.
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// Print what was understood.
    #[arg(long)]
    dump: Option<Dump>,

    /// With --dump program, cfg and affine: the control model whose instructions are put into the code; by default crs below sm_70,
    /// where the addresses are those of reports.
    #[arg(long, value_parser = one_of(&CONTROLS), requires = "dump")]
    control: Option<ControlModel>,

    /// With --dump affine: the shape of a block; by default that of `.reqntid`, else any whose x is a multiple of 32.
    #[arg(long, value_name = "X[,Y[,Z]]", requires = "dump")]
    block: Option<String>,

    /// Of a fat binary, object or executable the PTX for this architecture, e.g. sm_80; the highest that is known by default.
    #[arg(long, value_name = "sm_N", value_parser = flags::arch)]
    arch: Option<u32>,

    /// The form of messages.
    #[arg(long, value_enum, default_value_t = Form::Text)]
    format: Form,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Dump {
    /// The text as it was read: of a binary, the PTX that was taken, with the lines of reports.
    Text,
    /// The kernels, with their architecture.
    Kernels,
    /// The syntax tree, printed as PTX or as a litmus test.
    Tree,
    /// The program environment: resolved instructions by address; of a litmus test the PTX that it becomes.
    Program,
    /// The control-flow graph of each function, as DOT.
    Cfg,
    /// What each instruction writes in the lanes of a warp: one value (uniform), values on a line (affine), or any (a vector); and
    /// where lanes may part.
    Affine,
}

impl Check {
    /// Runs the command; gives the exit code.
    pub fn execute(&self) -> u8 {
        let mut sources = SourceMap::default().for_arch(self.arch);
        let mut problems = Vec::new();
        let mut modules = Vec::new();
        let mut complaints = Vec::new();
        let block = match self.block.as_deref().map(flags::block).transpose() {
            Ok(block) => block,
            Err(kind) => return output::problems(&[kind.at(None)], &sources, self.format),
        };
        for path in &self.files {
            if path.is_dir() {
                problems.extend(memory_programs(path, &mut sources).1);
                continue;
            }
            if is_memp(path) {
                problems.extend(check_memory_programs(std::slice::from_ref(path), &mut sources));
                continue;
            }
            if is_litmus(path) {
                match open(path, &mut sources) {
                    Ok(file) => complaints.extend(self.litmus(file, &mut sources)),
                    Err(kind) => problems.push(kind.at(None)),
                }
                continue;
            }
            let found = launch::modules(path, &mut sources);
            for file in found.unwrap_or_else(|kind| {
                problems.push(kind.at(None));
                Vec::new()
            }) {
                let (module, checked) = understand(file, &sources, &mut problems);
                let control = self.control.unwrap_or(ControlModel::of_target(checked.sm.into()));
                modules.push((file, module, checked, control == ControlModel::Crs));
            }
        }
        // Building finds what checking one function at a time cannot; each module stands for itself.
        if problems.iter().all(Problem::is_warning) {
            for (file, module, checked, inject) in &modules {
                let options = Options { promote: false, inject: *inject };
                let (env, errors) = program::build(&[(*file, module, checked)], &options);
                problems.extend(errors.into_iter().map(Problem::from));
                match self.dump {
                    Some(Dump::Tree) => output::say(ptx::print(module)),
                    Some(Dump::Text) => output::say(sources.get(*file).map_or("", |s| s.text.as_str())),
                    Some(Dump::Kernels) => {
                        let name = sources.get(*file).map_or("", |s| s.name.as_str());
                        output::say(report::kernels(name, &env));
                    }
                    Some(Dump::Program) => {
                        output::say(program::dump(&env, sources.get(*file).map(|s| s.text.as_str())));
                    }
                    Some(Dump::Cfg) => {
                        for id in (0..env.functions.len()).filter_map(|k| u32::try_from(k).ok()).map(FuncId) {
                            output::say(program::flow::dot(&env, id, &sources));
                        }
                    }
                    Some(Dump::Affine) => {
                        let text = sources.get(*file).map_or("", |s| s.text.as_str());
                        output::say(program::affine::dump(&env, block, text));
                    }
                    None => {}
                }
            }
        }
        if !problems.is_empty() || !complaints.is_empty() {
            let all = complaints.into_iter().chain(problems.iter().map(|p| problem(p, &sources)));
            return output::diagnostics(all, &sources, self.format);
        }
        if self.format == Form::Text || self.dump.is_some() { 0 } else { output::problems(&[], &sources, self.format) }
    }

    /// Checks a litmus test; gives the complaints. What the engines cannot run is no mistake of the test.
    fn litmus(&self, file: FileId, sources: &mut SourceMap) -> Vec<Diagnostic> {
        let text = sources.get(file).map_or("", |s| s.text.as_str());
        let (test, errors) = litmus::parse(file, text);
        let mut complaints: Vec<Diagnostic> = errors.iter().map(|e| report::litmus::diagnostic(e, sources)).collect();
        if !complaints.is_empty() {
            return complaints;
        }
        match self.dump {
            Some(Dump::Tree) => output::say(litmus::print(&test)),
            Some(Dump::Text) => output::say(sources.get(file).map_or("", |s| s.text.as_str())),
            Some(Dump::Program | Dump::Cfg | Dump::Affine | Dump::Kernels) => {
                match litmus::lower(&test, file, litmus::Options::default(), sources) {
                    Ok(lowered) => output::say(sources.get(lowered.ptx).map_or("", |s| s.text.as_str())),
                    Err(litmus::Failure::Gaps(gaps)) => {
                        complaints.extend(gaps.iter().map(|e| report::litmus::diagnostic(e, sources)));
                    }
                    Err(litmus::Failure::Refused(all)) => complaints.extend(all.iter().map(|p| problem(p, sources))),
                }
            }
            None => {}
        }
        complaints
    }
}

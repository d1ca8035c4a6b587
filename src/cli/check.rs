//! `warpstep check`

use super::{Format, output};
use crate::base::SourceMap;
use crate::launch::{ProblemKind, understand};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Check PTX files as ptxas does, and report every error.
#[derive(Args)]
#[command(after_help = "\
Examples:
  warpstep check kernel.ptx
  warpstep check --format json a.ptx b.ptx
  warpstep check --dump cfg kernel.ptx | dot -Tsvg > kernel.svg")]
pub(super) struct Check {
    /// PTX files; each is checked on its own.
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// Print what was understood.
    #[arg(long)]
    dump: Option<Dump>,

    /// The form of messages.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Dump {
    /// The syntax tree, printed as PTX.
    Tree,
    /// The program environment: resolved instructions by address.
    Program,
    /// The control-flow graph of each function, as DOT.
    Cfg,
}

impl Check {
    /// Runs the command; gives the exit code.
    pub fn execute(&self) -> u8 {
        let mut sources = SourceMap::default();
        let mut problems = Vec::new();
        for path in &self.files {
            let text = std::fs::read(path)
                .map_err(|e| ProblemKind::Unreadable { path: path.clone(), cause: e.kind() })
                .and_then(|bytes| {
                    String::from_utf8(bytes).map_err(|e| {
                        let offset = e.utf8_error().valid_up_to() as u64;
                        ProblemKind::NotText { path: path.clone(), offset }
                    })
                });
            match text {
                Ok(text) => {
                    let file = sources.add(path.display().to_string(), text);
                    let _ = understand(file, &sources, &mut problems);
                }
                Err(kind) => problems.push(kind.at(None)),
            }
        }
        if !problems.is_empty() {
            return output::problems(&problems, &sources, self.format);
        }
        match self.dump {
            Some(Dump::Tree | Dump::Program | Dump::Cfg) => 4,
            None => {
                if self.format == Format::Json {
                    output::print_json(&serde_json::json!({ "exit": 0, "problems": [] }));
                }
                0
            }
        }
    }
}

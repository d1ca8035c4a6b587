//! The files of `tests/ui` and `tests/hangs`: PTX and memory programs that begin with comments on how to run them.
//!
//! `// args: …` are the arguments of `warpstep` (the file's name is put after the first of them, and words are split at
//! blanks), `// exit: N` the exit code, `// says: …` words that the output must contain.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use warpstep::machine::Engine;

/// What runs kernels: machine code from their first instruction on with `TEST_ENGINE=native`, which nothing may be told from.
pub fn engine() -> Engine {
    let native = std::env::var("TEST_ENGINE").is_ok_and(|name| name == "native");
    if native { Engine::Native { trip: 0 } } else { Engine::default() }
}

/// A file.
pub struct Case {
    /// Where it is.
    pub path: PathBuf,
    /// Its text.
    pub source: String,
}

impl Case {
    /// All files of a folder of the repository.
    pub fn below(folder: &str) -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
        files.retain(|f| f.extension().is_some_and(|e| e == "ptx" || e == "memp"));
        files.sort();
        files
            .into_iter()
            .map(|path| Self { source: std::fs::read_to_string(&path).unwrap_or_default(), path })
            .collect()
    }

    /// The comments of a kind.
    pub fn header(&self, key: &str) -> Vec<&str> {
        let lines = self.source.lines().take_while(|l| l.starts_with("//"));
        lines.filter_map(|l| l.strip_prefix("// ")?.strip_prefix(key)?.strip_prefix(": ")).collect()
    }

    /// The arguments.
    pub fn arguments(&self) -> Vec<&str> {
        self.header("args").into_iter().flat_map(str::split_whitespace).collect()
    }

    /// The command that runs it with these arguments, in its folder.
    pub fn run(&self, arguments: &[&str]) -> std::io::Result<Output> {
        let (command, rest) = arguments.split_first().unwrap_or((&"", &[]));
        let native = *command == "run" && engine() != Engine::default() && !rest.contains(&"--engine");
        Command::new(env!("CARGO_BIN_EXE_warpstep"))
            .arg(command)
            .arg(self.path.file_name().unwrap_or_default())
            .args(rest)
            // No case runs for seconds; one that hangs should say so.
            .args(if *command == "run" { &["--timeout", "60s"][..] } else { &[] })
            .args(if native { &["--engine", "native"][..] } else { &[] })
            .current_dir(self.path.parent().unwrap_or(Path::new(".")))
            .env("NO_COLOR", "1")
            .output()
    }
}

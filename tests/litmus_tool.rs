//! `warpstep litmus` as tests call it, from a folder of theirs.

use crate::schema::Schema;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The command with flags that come first.
pub struct Tool {
    /// The folder under `tests` that it runs in, with golden files.
    pub folder: &'static str,
    pub flags: &'static [&'static str],
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What a command printed, standard output first.
pub fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

impl Tool {
    pub fn data(&self, name: &str) -> PathBuf {
        root().join("tests").join(self.folder).join(name)
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warpstep"));
        command.arg("litmus").args(self.flags).args(arguments);
        command.current_dir(self.data("")).env("NO_COLOR", "1").output().unwrap()
    }

    /// Ends with a code and says words.
    #[track_caller]
    pub fn says(&self, arguments: &[&str], code: i32, words: &[&str]) -> String {
        let output = self.run(arguments);
        let text = text(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
        for word in words {
            assert!(text.contains(word), "{arguments:?} does not say {word:?}:\n{text}");
        }
        text
    }

    #[track_caller]
    pub fn json(&self, arguments: &[&str], code: i32) -> Value {
        let output = self.run(&[arguments, &["--format", "json"]].concat());
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", text(&output));
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(Schema::read("docs/schema/report.schema.json").complaint(&value), None, "{arguments:?}");
        assert_eq!(value["exit"], code, "{arguments:?}");
        value
    }

    /// A golden file; `BLESS=1` rewrites it.
    #[track_caller]
    pub fn golden(&self, name: &str, found: &str) {
        let file = self.data(name);
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&file, found).unwrap();
        }
        let wanted = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(found == wanted, "{name} is not:\n{found}");
    }
}

//! Targets, and a folder with those of `tests/schedules`, for the command line.

use std::ops::Range;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use warpstep::base::SourceMap;
use warpstep::choice::Strategy;
use warpstep::explore::{Hunt, Hunted, Limits, ScheduleFile, Target};
use warpstep::launch::{Spec, load};
use warpstep::machine::{Config, ControlModel, Stopwatch};

/// Limits for programs of a few dozen instructions.
pub const LIMITS: Limits = Limits { steps: 20_000, fair_steps: 200_000 };

pub fn config(control: ControlModel) -> Config {
    Config { control: Some(control), eager: true, liveness: true, ..Config::default() }
}

/// A launch file of the repository.
pub fn target(path: &str, config: Config) -> Target {
    let mut sources = SourceMap::default();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let spec = Spec::read(&path, &mut sources).unwrap();
    let env = load(&spec.ptx, config.control, &mut sources).unwrap();
    Target::new(spec, env, sources, config).unwrap()
}

/// A launch file of `tests/schedules`.
pub fn own(name: &str) -> Target {
    target(&format!("tests/schedules/{name}"), config(ControlModel::Its))
}

pub fn hunt(target: &Target, strategy: Strategy, seeds: Range<u64>, keep_going: bool, jobs: usize) -> Hunted {
    let never = AtomicBool::new(false);
    let (time, interrupted) = (Stopwatch::start(None), &never);
    let progress = &|_, _| ();
    Hunt { target, strategy, seeds, limits: LIMITS, watchers: None, keep_going, jobs, time, interrupted, progress }
        .run()
}

/// A folder with the files of `tests/schedules`.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schedules");
        for file in std::fs::read_dir(from).unwrap().flatten().filter(|f| f.path().is_file()) {
            std::fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
        }
        Self(folder)
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.path().join(name)).unwrap()
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.0.path().join(name), text).unwrap();
    }

    /// A schedule whose lines were changed, as if it had been written like that.
    pub fn resealed(text: &str) -> String {
        ScheduleFile::sealed(&text[..text.find("check ").unwrap()])
    }

    /// The command ends with the code and its messages contain every one of the words; gives what it says.
    #[track_caller]
    pub fn expect(&self, args: &[&str], code: i32, words: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warpstep"));
        let output = command.args(args).current_dir(self.0.path()).output().unwrap();
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
        for word in words {
            assert!(text.contains(word), "{args:?} does not say {word:?}: {text}");
        }
        assert!(!text.contains("panicked"), "{text}");
        text
    }
}

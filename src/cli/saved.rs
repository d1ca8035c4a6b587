//! Schedules in files: written for what was found, read for what is seen again.

use super::output;
use super::report_flags::Form;
use super::target::Common;
use crate::base::{FileId, SourceMap};
use crate::explore::{Limits, Recorded, Refusal, ScheduleError, ScheduleFile, Target};
use crate::launch::{Failure, Problem, ProblemKind};
use crate::program::env::ProgEnv;
use crate::report::{hunt as text, refused};
use clap::Parser;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The words of a schedule's target, as on a command line.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Words {
    path: PathBuf,
    #[command(flatten)]
    common: Common,
}

/// A target that is run again and again, or the exit code of why there is none.
pub(super) fn target(common: &Common, path: &Path, format: Form) -> Result<Target, u8> {
    common.select_mutant();
    let mut sources = SourceMap::default();
    common.target(path, &mut sources).map_err(|failure| match failure {
        Failure::Input(problems) => output::problems(&problems, &sources, format),
        Failure::Stop(stop) => output::stop(&stop, &ProgEnv::default(), &sources, &[], format),
    })
}

/// The words that name a target in a schedule.
fn words(common: &Common, path: &Path) -> Vec<String> {
    std::iter::once(path.display().to_string()).chain(common.words()).collect()
}

/// Writes the schedule of a run of a target.
///
/// # Errors
/// The exit code, when the file cannot be written; that has been told.
pub(super) fn write(
    file: &Path,
    recorded: &Recorded,
    target: &Target,
    named: Vec<String>,
    format: Form,
) -> Result<(), u8> {
    let device = target.start();
    let text = ScheduleFile {
        target: named,
        ptx: target.ptx_hash(),
        setup: target.setup_hash(),
        found: text::headline(&recorded.played.ending, device.context().env(), device.sources()),
        trace: recorded.trace,
        schedule: recorded.schedule.clone(),
        ..ScheduleFile::default()
    };
    std::fs::write(file, text.text()).map_err(|e| {
        let problem = ProblemKind::Unwritable { path: file.to_owned(), cause: e.kind() }.at(None);
        output::problems(&[problem], &SourceMap::default(), format)
    })
}

/// The same, for a target that flags name.
pub(super) fn write_for(
    file: &Path,
    recorded: &Recorded,
    target: &Target,
    (common, path): (&Common, &Path),
    format: Form,
) -> Result<(), u8> {
    write(file, recorded, target, words(common, path), format)
}

/// A schedule with what it belongs to.
pub(super) struct Saved {
    pub file: ScheduleFile,
    pub target: Target,
    pub common: Common,
    /// The text of the schedule, for messages.
    pub sources: SourceMap,
}

impl Saved {
    /// Reads a schedule and its target, which is looked for where it was named, or else beside the schedule.
    ///
    /// # Errors
    /// The exit code, when they do not fit; that has been told.
    pub fn read(path: &Path, format: Form) -> Result<Self, u8> {
        let mut sources = SourceMap::default();
        let text = std::fs::read(path).map_err(|e| unreadable(path, e.kind(), format))?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let id = sources.add(path.display().to_string(), text.clone());
        let file = ScheduleFile::parse(&text, id).map_err(|refusal| refuse(&refusal, id, &sources, format))?;
        let Ok(Words { path: mut named, common }) = Words::try_parse_from(&file.target) else {
            let error = ScheduleError::Line { expected: "target" };
            return Err(refuse(&(error, file.places.target), id, &sources, format));
        };
        if let Some(folder) = path.parent().filter(|_| !named.exists()) {
            named = folder.join(&named);
        }
        let target = target(&common, &named, format)?;
        let (ptx, setup) = (target.ptx_hash(), target.setup_hash());
        let places = file.places;
        if ptx != file.ptx {
            let error = ScheduleError::OtherProgram { recorded: file.ptx, found: ptx };
            return Err(refuse(&(error, places.ptx), id, &sources, format));
        }
        if setup != file.setup {
            let error = ScheduleError::OtherSetup { recorded: file.setup, found: setup };
            return Err(refuse(&(error, places.setup), id, &sources, format));
        }
        Ok(Self { file, target, common, sources })
    }

    /// How long its run may take: as long as the schedule goes.
    pub fn limits(&self) -> Limits {
        let Limits { fair_steps, .. } = self.common.limits(None);
        Limits { steps: self.file.schedule.fair_from.unwrap_or(u64::MAX), fair_steps }
    }

    /// Refuses the schedule because its trace is another one.
    pub fn other_trace(&self, found: u64, format: Form) -> u8 {
        let error = ScheduleError::OtherTrace { recorded: self.file.trace, found };
        let places = self.file.places;
        refuse(&(error, places.trace), places.file, &self.sources, format)
    }
}

fn refuse((error, span): &Refusal, file: FileId, sources: &SourceMap, format: Form) -> u8 {
    output::diagnostic(&refused(error, file, *span), sources, format)
}

fn unreadable(path: &Path, cause: ErrorKind, format: Form) -> u8 {
    let problem: Problem = ProblemKind::Unreadable { path: path.to_owned(), cause }.at(None);
    output::problems(&[problem], &SourceMap::default(), format)
}

/// The name of a schedule of a target: `NAME.schedule`, and `NAME.2.schedule` for the second one. A `launch.toml` or
/// `launch.….toml` is named for its folder.
pub(super) fn default_name(path: &Path, number: usize) -> PathBuf {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let stem = whole.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = whole.parent().and_then(Path::file_name).map(|n| n.to_string_lossy().into_owned());
    let name = if stem.split('.').next() == Some("launch") { folder.unwrap_or(stem) } else { stem };
    PathBuf::from(if number == 1 { format!("{name}.schedule") } else { format!("{name}.{number}.schedule") })
}

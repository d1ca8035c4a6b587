//! Schedules in files: written for what was found, read for what is seen again.

use super::form::Form;
use super::output;
use super::report_flags::{failed, stopped};
use super::target::Common;
use crate::base::{FileId, SourceMap, files};
use crate::explore::{Limits, Recorded, Refusal, ScheduleError, ScheduleFile, Target};
use crate::launch::{ProblemKind, Script};
use crate::machine::Bounds;
use crate::program::env::ProgEnv;
use crate::report::{Diagnostic, hunt as text};
use crate::verdict::Stop;
use clap::Parser;
use std::fs::File;
use std::io::{Error, Read};
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
    let mut sources = common.sources();
    let target = common.target(path, &mut sources);
    target.map_err(|failure| failed(&failure, (&ProgEnv::default(), &sources), format))
}

/// The script of a file, if it is one.
///
/// # Errors
/// The exit code, when it is wrong; that has been told.
pub(super) fn script(common: &Common, path: &Path, format: Form) -> Result<Option<(Script, SourceMap)>, u8> {
    let mut sources = common.sources();
    match Script::read(path, &mut sources) {
        Ok(script) => Ok(script.map(|script| (script, sources))),
        Err(problems) => Err(output::problems(&problems, &sources, format)),
    }
}

/// A target as on a command line, for messages that name commands.
pub(super) fn as_typed(common: &Common, path: &Path) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    let quoted = |word: String| {
        if !word.is_empty() && word.chars().all(plain) { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    words(common, path).into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// The words that name a target in a schedule.
pub(super) fn words(common: &Common, path: &Path) -> Vec<String> {
    std::iter::once(path.display().to_string()).chain(common.words()).collect()
}

/// Writes the schedule of a run of a target; gives the file, if it could be written.
pub(super) fn write(file: &Path, recorded: &Recorded, target: &Target, named: Vec<String>) -> Option<PathBuf> {
    if is_taken(file) {
        output::lose(ProblemKind::Taken { path: file.to_owned() });
        return None;
    }
    let device = target.start();
    let found = text::headline(&recorded.played.ending, device.context().env(), device.sources());
    let text = recorded.file(target, named, found);
    output::write(file, text.text().as_bytes()).then(|| file.to_owned())
}

/// A schedule with what it belongs to.
pub(super) struct Saved {
    pub file: ScheduleFile,
    pub target: Target,
    pub common: Common,
}

impl Saved {
    /// Reads a schedule and its target, which is looked for where it was named, or else beside the schedule. `flags` are those
    /// of the command, if it has some of targets; what is done is bounded by `bounds`.
    ///
    /// # Errors
    /// The exit code, when they do not fit; that has been told.
    pub fn read(path: &Path, flags: Option<&Common>, bounds: &Bounds, format: Form) -> Result<Self, u8> {
        let mut sources = SourceMap::default();
        let unreadable = |e: Error| ProblemKind::Unreadable { path: path.to_owned(), cause: e.kind() };
        let text = files::read(path).map_err(|e| output::refuse(unreadable(e), format))?;
        // A long schedule is tens of megabytes: it is kept once.
        let text = String::from_utf8(text).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
        let id = sources.add(path.display().to_string(), text);
        let text = sources.get(id).map_or("", |source| source.text.as_str());
        let file = ScheduleFile::parse(text, id).map_err(|refusal| refuse(&refusal, id, &sources, format))?;
        let Ok(Words { path: mut named, common }) = Words::try_parse_from(&file.target) else {
            let error = ScheduleError::Line { expected: "target" };
            return Err(refuse(&(error, file.places.target), id, &sources, format));
        };
        let mut common = if let Some(flags) = flags { common.confined_as(flags) } else { common };
        if let Some(folder) = path.parent().filter(|_| !named.exists()) {
            named = folder.join(&named);
        }
        common.bounds = bounds.clone();
        let target = target(&common, &named, format)?;
        target.takes(&file).map_err(|refusal| refuse(&refusal, id, &sources, format))?;
        Ok(Self { file, target, common })
    }

    /// How long its run may take: as long as the schedule goes.
    pub fn limits(&self) -> Limits {
        Limits::of_schedule(&self.file.schedule, self.common.max_steps)
    }

    /// The schedule fits, and still its trace is another one: an error of ours. Gives the exit code.
    pub fn other_trace(&self, found: u64, format: Form) -> u8 {
        let recorded = self.file.trace;
        let what = format!(
            "a schedule gives another run than the one that was recorded: trace {found:016x}, not {recorded:016x}"
        );
        stopped(&Stop::internal(what, None), self.target.listing(), format)
    }
}

fn refuse((error, span): &Refusal, file: FileId, sources: &SourceMap, format: Form) -> u8 {
    output::diagnostic(&Diagnostic::from(error.wording()).at(file, *span), sources, format)
}

/// Where a command that searches writes the schedules of what it finds.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    /// The target.
    pub path: &'a Path,
    /// The file of the first, where one was named.
    pub file: Option<&'a Path>,
    /// What follows a target's name in that of its schedules: each command keeps those of the others.
    pub infix: &'a str,
}

impl Names<'_> {
    /// The file of a schedule: the one that was named, or `NAME.schedule`; for the second one `NAME.2.schedule`. Where the
    /// name was not chosen and is that of something else, it is `NAME-2.schedule`, and so on.
    pub fn file(&self, number: usize) -> PathBuf {
        let end = if number == 1 { "schedule".to_owned() } else { format!("{number}.schedule") };
        match self.file {
            Some(file) if number == 1 => file.to_owned(),
            Some(file) => file.with_extension(end),
            None => {
                let name = format!("{}{}", name(self.path), self.infix);
                let others = (2..100).map(|k| format!("{name}-{k}"));
                let mut files =
                    std::iter::once(name.clone()).chain(others).map(|n| PathBuf::from(format!("{n}.{end}")));
                files.find(|file| !is_taken(file)).unwrap_or_else(|| PathBuf::from(format!("{name}.{end}")))
            }
        }
    }
}

/// Sees to it, before the work, that a schedule can be written to a file that was named, and that this is no other.
///
/// # Errors
/// The exit code, when it cannot; that has been told.
pub(super) fn check(file: Option<&Path>, format: Form) -> Result<(), u8> {
    let Some(file) = file else { return Ok(()) };
    let path = file.to_owned();
    let problem = match files::writable(file) {
        Err(e) => ProblemKind::Unwritable { path, cause: e.kind() },
        Ok(()) if is_taken(file) => ProblemKind::Taken { path },
        Ok(()) => return Ok(()),
    };
    Err(output::refuse(problem, format))
}

/// Whether a regular file is there that has something in it and is no schedule.
fn is_taken(file: &Path) -> bool {
    if !file.is_file() {
        return false;
    }
    let mut start = Vec::new();
    let read = File::open(file).and_then(|f| f.take(ScheduleFile::START.len() as u64).read_to_end(&mut start));
    read.is_err() || !start.is_empty() && start != ScheduleFile::START.as_bytes()
}

/// What a target is called: its file's name; a `launch.toml` or `launch.….toml` is named for its folder.
pub(super) fn name(path: &Path) -> String {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let stem = whole.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = whole.parent().and_then(Path::file_name).map(|n| n.to_string_lossy().into_owned());
    if stem.split('.').next() == Some("launch") { folder.unwrap_or(stem) } else { stem }
}

//! Writing to standard output and error.

use super::form::Form;
use crate::base::{SourceMap, files};
use crate::explore::checkpoint::{self, CheckpointError, Owner};
use crate::launch::{Problem, ProblemKind};
use crate::report::document::{Problems, Report};
use crate::report::parts::Exit;
use crate::report::{self, Diagnostic, Severity, Text, problem, sarif, terminal};
use serde_json::{Value, json};
use std::io::{Error, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Errors of the input that are told at most; the number of the rest is.
pub(super) static MOST_ERRORS: AtomicUsize = AtomicUsize::new(100);

/// How many errors of an input are told at most.
pub(super) fn most_errors() -> usize {
    MOST_ERRORS.load(Ordering::Relaxed)
}

/// What could not be written.
static LOST: Mutex<Vec<Problem>> = Mutex::new(Vec::new());

/// Notes what could not be written, once for each file. It is told at the end: nothing must hide the verdict.
pub(super) fn lose(kind: ProblemKind) {
    let (problem, mut lost) = (kind.at(None), LOST.lock().unwrap_or_else(PoisonError::into_inner));
    if !lost.contains(&problem) {
        lost.push(problem);
    }
}

/// The same of a file, with the reason.
pub(super) fn lost(path: &Path, error: &Error) {
    lose(ProblemKind::Unwritable { path: path.to_owned(), cause: error.kind() });
}

/// Whether a file is among what could not be written.
pub(super) fn is_lost(path: &Path) -> bool {
    let lost = LOST.lock().unwrap_or_else(PoisonError::into_inner);
    lost.iter().any(|p| matches!(&p.kind, ProblemKind::Unwritable { path: lost, .. } if lost == path))
}

/// The end of a command, whose verdict has been told: tells what could not be written, which makes of exit code 0 a 2.
pub(super) fn end(code: u8) -> u8 {
    let lost = std::mem::take(&mut *LOST.lock().unwrap_or_else(PoisonError::into_inner));
    if lost.is_empty() {
        return code;
    }
    problems(&lost, &SourceMap::default(), Form::Text);
    if code == 0 { 2 } else { code }
}

/// Writes a file; tells whether it could be written.
pub(super) fn write(path: &Path, bytes: &[u8]) -> bool {
    files::write(path, bytes).map_err(|error| lost(path, &error)).is_ok()
}

/// Writes a checkpoint; tells whether it could be written.
pub(super) fn keep(path: &Path, kind: &'static str, owner: Owner, data: &[u8]) -> bool {
    checkpoint::save(path, kind, owner, data).map_err(|error| lost(path, &error)).is_ok()
}

/// Tells what is wrong with a checkpoint; gives the exit code.
pub(super) fn unusable(path: &Path, error: &CheckpointError, form: Form) -> u8 {
    diagnostic(&error.wording(path.display()).into(), &SourceMap::default(), form)
}

/// Writes bytes to standard output, as they are: what the device printed. A reader that went away (`| head`) is no error.
pub(super) fn print(text: impl AsRef<[u8]>) {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_ref()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => lost(Path::new("standard output"), &error),
        _ => {}
    }
}

/// Writes text to standard output.
pub(super) fn say(text: impl Into<Text>) {
    print(text.into().as_bytes());
}

/// Writes text to standard error.
pub(super) fn complain(text: impl Into<Text>) {
    let _ = std::io::stderr().lock().write_all(text.into().as_bytes());
}

/// Prints a report on standard output.
pub(super) fn print_json(report: &Report<'_>) {
    print_value(&json!(report));
}

/// Prints the log of a command that ends with this exit code.
pub(super) fn print_sarif(log: sarif::Log, code: u8) {
    print_value(&log.finish(code));
}

fn print_value(value: &Value) {
    print(terminal::json(&format!("{value:#}\n")).as_bytes());
}

/// Whether standard error takes colours.
pub(super) fn colour() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Tells all problems of the input; gives the exit code: 2, or 0 when all are warnings.
pub(super) fn problems(all: &[Problem], sources: &SourceMap, form: Form) -> u8 {
    diagnostics(all.iter().map(|p| problem(p, sources)), sources, form)
}

/// Tells one problem that has no place in a file; gives the exit code.
pub(super) fn refuse(kind: ProblemKind, form: Form) -> u8 {
    problems(&[kind.at(None)], &SourceMap::default(), form)
}

/// The same of complaints whose text is made one by one, by what knows how many there are; 4 when the input is right and only our gaps are in the way. The
/// text of those that are too many is made only as far as the exit code depends on them.
pub(super) fn diagnostics(mut all: impl Iterator<Item = Diagnostic>, sources: &SourceMap, form: Form) -> u8 {
    let most = MOST_ERRORS.load(Ordering::Relaxed);
    let (mut told, mut more, mut code) = (Vec::new(), 0, 0);
    while code != 2 || told.len() < most {
        let Some(next) = all.next() else { break };
        let weight = match next.severity {
            Severity::Warning => 0,
            Severity::Error if next.code == "unsupported" => 4,
            Severity::Error => 2,
        };
        // What decides is told, after warnings or gaps without end.
        if told.len() < most || weight == 2 {
            told.push(next)
        } else {
            more += 1
        }
        code = if weight == 2 { 2 } else { weight.max(code) };
    }
    // To count them one by one would make their text.
    more += all.size_hint().0;
    tell(&told, more, sources, form, code)
}

/// Tells one message about wrong input; gives the exit code 2.
pub(super) fn diagnostic(message: &Diagnostic, sources: &SourceMap, form: Form) -> u8 {
    tell(std::slice::from_ref(message), 0, sources, form, 2)
}

fn tell(all: &[Diagnostic], more: usize, sources: &SourceMap, form: Form, code: u8) -> u8 {
    match form {
        Form::Text => {
            all.iter().for_each(|d| complain(d.render(sources, colour())));
            if more > 0 {
                complain(report::more(more, all.len() + more));
            }
        }
        Form::Json => {
            let problems = all.iter().map(|d| d.message(sources)).collect();
            print_json(&Report::Problems(Problems { exit: Exit(code), problems, omitted: (more > 0).then_some(more) }));
        }
        Form::Sarif => {
            let mut log = sarif::Log::default();
            all.iter().for_each(|d| log.problem(d, sources));
            if more > 0 {
                log.property("omitted", more.into());
            }
            print_sarif(log, code);
        }
    }
    code
}

/// Set from the first Ctrl-C on, when this was called before: what was found is told then. The second one ends the process.
pub(super) fn interrupted() -> &'static AtomicBool {
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    // Without the handler Ctrl-C ends the process at once, which is no reason not to go on.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    &INTERRUPTED
}

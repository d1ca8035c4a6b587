//! Writing to standard output and error.

use super::report_flags::{Form, Reporter};
use crate::base::SourceMap;
use crate::launch::Problem;
use crate::program::env::ProgEnv;
use crate::report::{Diagnostic, Severity, problem, sarif};
use crate::verdict::Stop;
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Writes to standard output. A reader that went away (`| head`) is no error.
pub(super) fn print(text: impl AsRef<[u8]>) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_ref()).and_then(|()| out.flush());
}

/// Writes to standard error.
pub(super) fn complain(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Prints a JSON object on standard output.
pub(super) fn print_json(value: &Value) {
    print(format!("{value:#}\n"));
}

/// Whether standard error takes colours.
pub(super) fn colour() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Tells all problems of the input; gives the exit code: 2, or 0 when all are warnings.
pub(super) fn problems(all: &[Problem], sources: &SourceMap, form: impl Into<Form>) -> u8 {
    let all: Vec<Diagnostic> = all.iter().map(|p| problem(p, sources)).collect();
    diagnostics(&all, sources, form)
}

/// The same of complaints whose text is made; 4 when the input is right and only our gaps are in the way.
pub(super) fn diagnostics(all: &[Diagnostic], sources: &SourceMap, form: impl Into<Form>) -> u8 {
    let code = match all {
        _ if all.iter().all(|d| d.severity == Severity::Warning) => 0,
        _ if all.iter().all(|d| d.code == "unsupported") => 4,
        _ => 2,
    };
    tell(all, sources, form.into(), code);
    code
}

/// Tells one message about wrong input; gives the exit code 2.
pub(super) fn diagnostic(message: &Diagnostic, sources: &SourceMap, form: impl Into<Form>) -> u8 {
    tell(std::slice::from_ref(message), sources, form.into(), 2);
    2
}

fn tell(all: &[Diagnostic], sources: &SourceMap, form: Form, code: u8) {
    match form {
        Form::Text => all.iter().for_each(|d| complain(&d.render(sources, colour()))),
        Form::Json => {
            let all: Vec<Value> = all.iter().map(|d| d.json(sources)).collect();
            print_json(&json!({ "exit": code, "problems": all }));
        }
        Form::Sarif => {
            let mut log = sarif::Log::new();
            all.iter().for_each(|d| log.problem(d, sources));
            print_json(&log.finish(code));
        }
    }
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

/// Tells why a run stopped, nothing being suppressed; gives the exit code. `printed` is what the device printed before.
pub(super) fn stop(stop: &Stop, env: &ProgEnv, sources: &SourceMap, printed: &[u8], form: impl Into<Form>) -> u8 {
    Reporter::plain(form.into()).stop(stop, env, sources, printed)
}

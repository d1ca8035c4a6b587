//! Writing to standard output and error.

use super::Format;
use crate::base::SourceMap;
use crate::launch::Problem;
use crate::program::env::ProgEnv;
use crate::report::{Diagnostic, Severity, StopReport, exit_code, problem};
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
pub(super) fn problems(all: &[Problem], sources: &SourceMap, format: Format) -> u8 {
    let all: Vec<Diagnostic> = all.iter().map(|p| problem(p, sources)).collect();
    diagnostics(&all, sources, format)
}

/// The same of complaints whose text is made; 4 when the input is right and only our gaps are in the way.
pub(super) fn diagnostics(all: &[Diagnostic], sources: &SourceMap, format: Format) -> u8 {
    let code = match all {
        _ if all.iter().all(|d| d.severity == Severity::Warning) => 0,
        _ if all.iter().all(|d| d.code == "unsupported") => 4,
        _ => 2,
    };
    match format {
        Format::Text => all.iter().for_each(|d| complain(&d.render(sources, colour()))),
        Format::Json => {
            let all: Vec<Value> = all.iter().map(|d| d.json(sources)).collect();
            print_json(&json!({ "exit": code, "problems": all }));
        }
    }
    code
}

/// Tells one message about wrong input; gives the exit code 2.
pub(super) fn diagnostic(message: &Diagnostic, sources: &SourceMap, format: Format) -> u8 {
    match format {
        Format::Text => complain(&message.render(sources, colour())),
        Format::Json => print_json(&json!({ "exit": 2, "problems": [message.json(sources)] })),
    }
    2
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

/// Tells why a run stopped; gives the exit code. `printed` is what the device printed before.
pub(super) fn stop(stop: &Stop, env: &ProgEnv, sources: &SourceMap, printed: &[u8], format: Format) -> u8 {
    let (report, code) = (StopReport::new(stop, env, sources), exit_code(stop));
    match format {
        Format::Text => complain(&report.render(colour())),
        Format::Json => {
            let output = String::from_utf8_lossy(printed);
            print_json(&json!({ "exit": code, "stopped": report.json(), "output": output }));
        }
    }
    code
}

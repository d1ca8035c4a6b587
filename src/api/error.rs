//! Why a kernel did not come to its end as it should, as one error that tells it as the command does.

use crate::base::SourceMap;
use crate::explore::Ending;
use crate::launch::{Failure, Problem, Unexpected};
use crate::program::env::ProgEnv;
use crate::report::{Diagnostic, EndedEarly, StopReport, exit_code, hunt, problem};
use crate::verdict::Stop;
use serde_json::{Value, json};
use std::fmt;

/// Whose fault it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorKind {
    /// The PTX, the launch or its arguments are wrong: nothing ran.
    Input,
    /// The kernel has a defect, or left other results than expected.
    Defect,
    /// A limit was reached first: nothing is known.
    Limit,
    /// The kernel needs what warpstep cannot do.
    Unsupported,
    /// An error of warpstep.
    Internal,
}

/// Why a kernel did not come to its end as it should. Printed, also by `{:?}`, it is the report that the command gives: the
/// lines of PTX and CUDA, the thread, what to do.
pub struct Error(Box<Parts>);

struct Parts {
    kind: ErrorKind,
    code: String,
    text: String,
    json: Value,
    stop: Option<Stop>,
}

impl Error {
    /// Whose fault it is.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The fixed name of what is wrong, such as `out-of-bounds`, `race` or `syntax`; `mismatch` where results differ from
    /// what was expected.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.0.code
    }

    /// The report as data: `problems` of the input, or else how the run ended, as `docs/reports.md` says.
    #[must_use]
    pub const fn json(&self) -> &Value {
        &self.0.json
    }

    /// Why the run stopped, as typed data; `None` where it did not run, or came to its end.
    #[must_use]
    pub const fn stop(&self) -> Option<&Stop> {
        self.0.stop.as_ref()
    }

    /// What is wrong with PTX or a launch.
    pub(super) fn input(problems: &[Problem], sources: &SourceMap) -> Self {
        Self::diagnostics(&problems.iter().map(|p| problem(p, sources)).collect::<Vec<_>>(), sources)
    }

    /// The same of what was worded already.
    pub(super) fn diagnostics(all: &[Diagnostic], sources: &SourceMap) -> Self {
        let text = all.iter().map(|d| d.render(sources, false).to_string()).collect();
        let json = json!({ "problems": all.iter().map(|d| d.message(sources)).collect::<Vec<_>>() });
        let code = all.first().map_or("input", |d| d.code).to_owned();
        let kind = if code == "unsupported" { ErrorKind::Unsupported } else { ErrorKind::Input };
        Self(Box::new(Parts { kind, code, text, json, stop: None }))
    }

    /// What went wrong with a launch.
    pub(super) fn failure(failure: Failure, env: &ProgEnv, sources: &SourceMap) -> Self {
        match failure {
            Failure::Input(problems) => Self::input(&problems, sources),
            Failure::Stop(stop) => Self::ended(&Ending::Stopped(stop), env, sources),
        }
    }

    /// How a run ended that did not end as expected.
    pub(super) fn ended(ending: &Ending, env: &ProgEnv, sources: &SourceMap) -> Self {
        let text = hunt::ending(ending, (None, &EndedEarly::default()), env, sources, false).to_string();
        let Ending::Stopped(stop) = ending else {
            let (code, mut json) =
                ("mismatch".to_owned(), json!(hunt::Ended::new(ending.clone(), None, (env, sources))));
            if let Ending::Unexpected(Unexpected { refused: Some(why), .. }) = ending {
                json["refused"] = json!(why);
            }
            return Self(Box::new(Parts { kind: ErrorKind::Defect, code, text, json, stop: None }));
        };
        let json = StopReport::new(stop, env, sources).json();
        let kind = match exit_code(stop) {
            1 => ErrorKind::Defect,
            2 => ErrorKind::Input,
            3 => ErrorKind::Limit,
            4 => ErrorKind::Unsupported,
            _ => ErrorKind::Internal,
        };
        let code = stop.kind().id().to_owned();
        Self(Box::new(Parts { kind, code, text, json, stop: Some(stop.clone()) }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.text.trim_end())
    }
}

/// What `main` prints of an error that it returns.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl std::error::Error for Error {}

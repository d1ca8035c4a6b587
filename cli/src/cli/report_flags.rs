//! Flags of commands that report defects, and what they make of findings: the form, what is suppressed, the exit code.

use super::form::Form;
use super::output;
use crate::base::SourceMap;
use crate::explore::Ending;
use crate::launch::{Failure, Problem, ProblemKind, Suppression, Suppressions};
use crate::program::env::ProgEnv;
use crate::report::costs;
use crate::report::document::{Report, StoppedRun};
use crate::report::hunt as text;
use crate::report::parts::{Exit, Extra};
use crate::report::run::{self, Finished};
use crate::report::{EndedEarly, Environment, RacesReport, StopReport, Suppressed, Text, exit_code, problem, sarif};
use crate::verdict::Stop;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

/// How defects are reported.
#[derive(Args, Clone, Debug)]
pub(super) struct ReportFlags {
    /// The form of messages and results.
    #[arg(long, value_enum, default_value_t = Form::Text)]
    pub format: Form,

    /// Defects that are known and may stay (docs/reports.md): they are told, and do not make the command fail.
    #[arg(long, value_name = "FILE.toml")]
    suppressions: Option<PathBuf>,
}

impl ReportFlags {
    /// Reads what the flags name.
    ///
    /// # Errors
    /// The exit code, when the suppression file is wrong; that has been told.
    pub fn open(&self) -> Result<Reporter, u8> {
        let mut sources = SourceMap::default();
        let known = self.suppressions.as_ref().map(|path| Suppressions::read(path, &mut sources)).transpose();
        let known = known.map_err(|problems| output::problems(&problems, &sources, self.format))?;
        Ok(Reporter { known, sources, ..Reporter::plain(self.format) })
    }
}

/// Reports findings in the form that was asked for.
pub(super) struct Reporter {
    pub form: Form,
    known: Option<Suppressions>,
    /// The suppression file.
    sources: SourceMap,
    /// What `--show memory` has gathered for the report.
    pub memory: Option<Vec<Environment>>,
    /// What is known of a run that a limit ended, or its user.
    pub ended: EndedEarly,
}

impl Reporter {
    /// A reporter that suppresses nothing.
    pub fn plain(form: Form) -> Self {
        Self { form, known: None, sources: SourceMap::default(), memory: None, ended: EndedEarly::default() }
    }

    /// Tells all problems of the input; gives the exit code.
    pub fn problems(&self, all: &[Problem], sources: &SourceMap) -> u8 {
        output::problems(all, sources, self.form)
    }

    /// Text on standard error, where the report is for people.
    pub fn complain(&self, text: impl FnOnce() -> Text) {
        if self.form == Form::Text {
            output::complain(text());
        }
    }

    /// Tells why a run stopped, and the races that were found until then; gives the exit code: 0 when it is a defect that is
    /// suppressed. `printed` is what the device printed before.
    pub fn stop(&mut self, stop: &Stop, races: Option<RacesReport<'_>>, program: Listing<'_>, printed: &[u8]) -> u8 {
        let (env, sources) = program;
        let races = self.known_of(races);
        let accepted = self.known(stop, env, sources);
        let report = StopReport::new(stop, env, sources).ended(self.ended.clone()).suppressed(accepted.as_ref());
        let code = match accepted {
            Some(_) => u8::from(races.as_ref().is_some_and(RacesReport::any)),
            None => exit_code(stop),
        };
        let output = String::from_utf8_lossy(printed).into_owned();
        let text = || {
            races.iter().for_each(|races| output::complain(races.render(output::colour())));
            output::complain(report.text(output::colour()));
            self.warn();
        };
        let log = |log: &mut sarif::Log| {
            add_races(log, races.as_ref(), sources);
            log.stop(&report);
        };
        let whole = |extra| {
            let (races, stopped) = (races.as_ref().map(RacesReport::data), report.json());
            Report::Stopped(StoppedRun { exit: Exit(code), stopped, races, output, extra })
        };
        self.tell(code, text, log, whole);
        code
    }

    /// Tells what came of a command that ends with an exit code, in the form that was asked for: as text, by what is added to a
    /// log in SARIF, or as the report. In SARIF the rest of the report is in the log's properties.
    fn tell<'r>(
        &self,
        code: u8,
        text: impl FnOnce(),
        results: impl FnOnce(&mut sarif::Log),
        report: impl FnOnce(Extra) -> Report<'r>,
    ) {
        match self.form {
            Form::Text => text(),
            Form::Json => output::print_json(&report(self.extra())),
            Form::Sarif => {
                let mut log = sarif::Log::default();
                results(&mut log);
                log.properties(&report(Extra::default()), &RESULTS);
                if let Some(memory) = &self.memory {
                    log.property("memory", json!(memory));
                }
                for warning in self.unused() {
                    log.notice(&problem(&warning, &self.sources), &self.sources);
                }
                output::print_sarif(log, code);
            }
        }
    }

    /// Why the defect that a run ended with may stay, if it may; the entry that says so counts as used then.
    pub fn accept(&mut self, ending: &Ending, (env, sources): Listing<'_>) -> Option<Suppressed> {
        let Ending::Stopped(stop) = ending else { return None };
        self.known(stop, env, sources)
    }

    fn known(&mut self, stop: &Stop, env: &ProgEnv, sources: &SourceMap) -> Option<Suppressed> {
        let entry = self.known.as_mut()?.accept(stop, env, sources)?;
        Some(Suppressed::new(entry, &self.sources))
    }

    fn known_of<'a>(&mut self, races: Option<RacesReport<'a>>) -> Option<RacesReport<'a>> {
        races.map(|races| races.accept(|stop, env, sources| self.known(stop, env, sources)))
    }

    /// How a run ended, as text: in a few lines when it is suppressed.
    pub fn ending(&self, ending: &Ending, accepted: Option<&Suppressed>, (env, sources): Listing<'_>) -> Text {
        text::ending(ending, (accepted, &self.ended), env, sources, output::colour())
    }

    /// The end of a command about many runs, or one that was run again: `all` has how runs ended, `report` is what is told as
    /// JSON, `listing` gives the program of an end. In SARIF the ends of runs are results, and the rest is in the log's
    /// properties. Nothing is printed as text but warnings of entries that nothing matched.
    pub fn searched<'a, 'l>(
        &self,
        all: &[(&Ending, Option<&Suppressed>)],
        report: impl FnOnce(Extra) -> Report<'a>,
        code: u8,
        listing: impl Fn(&Ending) -> Listing<'l>,
    ) {
        let log = |log: &mut sarif::Log| {
            for (ending, accepted) in all {
                let (env, sources) = listing(ending);
                match ending {
                    Ending::Expected => {}
                    Ending::Stopped(stop) => log.stop(&StopReport::new(stop, env, sources).suppressed(*accepted)),
                    Ending::Unexpected(what) | Ending::Differs(what) => log.unexpected(what, sources),
                }
            }
        };
        self.tell(code, || self.warn(), log, report);
    }

    /// Tells what came of a run to its end, and its races; gives the exit code.
    pub fn finished(&mut self, mut finished: Finished<'_>, races: Option<RacesReport<'_>>, sources: &SourceMap) -> u8 {
        let races = self.known_of(races);
        let racy = races.as_ref().is_some_and(RacesReport::any);
        let code = u8::from(!finished.unexpected.is_empty() || racy);
        finished.exit = Exit(code);
        let text = || {
            for (name, hash) in [("memory", &finished.memory_hash), ("trace", &finished.trace_hash)] {
                hash.iter().for_each(|hash| output::say(format!("{name} {hash}\n")));
            }
            races.iter().for_each(|races| output::complain(races.render(output::colour())));
            output::complain(run::unexpected(&finished.unexpected));
            self.warn();
            output::complain(finished.assumed_zeros.text());
            output::complain(finished.lost_origins.text());
            let costs = finished.costs.map(|costs| costs::table([("messages", costs)]));
            costs.into_iter().for_each(output::say);
            output::complain(finished.native());
            output::complain(finished.summary());
            if code == 0 {
                output::complain(run::checks(&finished.checks));
            }
        };
        let log = |log: &mut sarif::Log| {
            add_races(log, races.as_ref(), sources);
            log.unexpected(&finished.unexpected, sources);
        };
        let report = |extra| {
            let races = races.as_ref().map(RacesReport::data);
            Report::Finished(Box::new(Finished { races, extra, ..finished.clone() }))
        };
        self.tell(code, text, log, report);
        code
    }

    /// Warns of entries that nothing matched, in text.
    fn warn(&self) {
        let warnings: Vec<Problem> = self.unused().collect();
        if !warnings.is_empty() {
            output::problems(&warnings, &self.sources, Form::Text);
        }
    }

    /// What flags add to a report, with the entries that nothing matched.
    fn extra(&self) -> Extra {
        let unused = || self.unused().map(|p| json!(problem(&p, &self.sources).message(&self.sources))).collect();
        Extra { memory: self.memory.clone(), unused_suppressions: self.known.as_ref().map(|_| unused()) }
    }

    fn unused(&self) -> impl Iterator<Item = Problem> {
        let of =
            |s: &Suppression| ProblemKind::UnusedSuppression { kind: s.kind.id(), reason: s.reason.clone() }.at(s.at);
        self.known.iter().flat_map(Suppressions::unused).map(of)
    }
}

/// What of a report is among the results of a SARIF log.
const RESULTS: [&str; 10] = [
    "findings",
    "outcomes",
    "defects",
    "endless",
    "stopped",
    "mismatches",
    "output_mismatch",
    "races",
    "unordered",
    "benign_races",
];

/// Adds the races of a run to a log.
fn add_races(log: &mut sarif::Log, races: Option<&RacesReport<'_>>, sources: &SourceMap) {
    if let Some(races) = races {
        races.all().for_each(|report| log.stop(&report));
        races.unordered().iter().for_each(|diagnostic| log.warning(diagnostic, sources));
    }
}

/// A program with its files.
pub(super) type Listing<'a> = (&'a ProgEnv, &'a SourceMap);

/// Tells why a run stopped, nothing being suppressed; gives the exit code.
pub(super) fn stopped(stop: &Stop, program: Listing<'_>, form: Form) -> u8 {
    Reporter::plain(form).stop(stop, None, program, &[])
}

/// Tells why there was no run, or why it stopped; gives the exit code.
pub(super) fn failed(failure: &Failure, program: Listing<'_>, form: Form) -> u8 {
    match failure {
        Failure::Input(problems) => output::problems(problems, program.1, form),
        Failure::Stop(stop) => stopped(stop, program, form),
    }
}

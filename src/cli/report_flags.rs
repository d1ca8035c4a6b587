//! Flags of commands that report defects, and what they make of findings: the form, what is suppressed, the exit code.

use super::{Format, output};
use crate::base::SourceMap;
use crate::explore::{Ending, Target};
use crate::launch::{At, Outcome, Problem, ProblemKind, Suppression, Suppressions};
use crate::program::env::ProgEnv;
use crate::report::hunt as text;
use crate::report::{
    EndedEarly, LostReport, RacesReport, ReliedReport, StopReport, Suppressed, Text, exit_code, problem, run, sarif,
    suppressed_stop,
};
use crate::verdict::Stop;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// The form of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Form {
    /// For people.
    Text,
    /// For programs: one JSON object on standard output (docs/schema/report.schema.json).
    Json,
    /// For code scanning and editors: SARIF 2.1.0 on standard output.
    Sarif,
}

impl From<Format> for Form {
    fn from(format: Format) -> Self {
        match format {
            Format::Text => Self::Text,
            Format::Json => Self::Json,
        }
    }
}

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
        Ok(Reporter { form: self.format, known, sources, memory: None, ended: EndedEarly::default() })
    }
}

/// Reports findings in the form that was asked for.
pub(super) struct Reporter {
    pub form: Form,
    known: Option<Suppressions>,
    /// The suppression file.
    sources: SourceMap,
    /// What `--show memory` has gathered for the report.
    pub memory: Option<Vec<Value>>,
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

    /// Tells why a run stopped; gives the exit code: 0 when it is a defect that is suppressed. `printed` is what the device
    /// printed before.
    pub fn stop(&mut self, stop: &Stop, env: &ProgEnv, sources: &SourceMap, printed: &[u8]) -> u8 {
        self.stop_after(stop, None, env, sources, printed)
    }

    /// The same, with the races that were found until then.
    pub fn stop_after(
        &mut self,
        stop: &Stop,
        races: Option<RacesReport<'_>>,
        env: &ProgEnv,
        sources: &SourceMap,
        printed: &[u8],
    ) -> u8 {
        let races = races.map(|r| self.known_of(r));
        let accepted = self.known.as_mut().and_then(|known| known.accept(stop, env, sources)).cloned();
        let report = StopReport::new(stop, env, sources).ended(self.ended.clone());
        let report = report.suppressed(accepted.as_ref(), &self.sources);
        let racy = races.as_ref().is_some_and(RacesReport::any);
        let code = if accepted.is_some() { u8::from(racy) } else { exit_code(stop) };
        match self.form {
            Form::Text => {
                if let Some(races) = &races {
                    output::complain(races.render(&self.sources, output::colour()));
                }
                match &accepted {
                    Some(entry) => output::complain(suppressed_stop(&report, entry, &self.sources)),
                    None => output::complain(report.render(output::colour())),
                }
                self.warn();
            }
            Form::Json => {
                let mut value = json!({ "exit": code, "stopped": report.json() });
                self.add_races(races.as_ref(), &mut value);
                value["output"] = String::from_utf8_lossy(printed).into();
                self.print_json(value);
            }
            Form::Sarif => {
                let mut log = sarif::Log::new();
                self.log_races(races.as_ref(), sources, &mut log);
                log.stop(&report, accepted.as_ref().map(|entry| (entry, &self.sources)));
                log.property("output", String::from_utf8_lossy(printed).into());
                self.print_sarif(log, code);
            }
        }
        code
    }

    /// Whether the defect that a run ended with is suppressed: the entry that accepts it, which counts as used then.
    pub fn accept(&mut self, ending: &Ending, target: &Target) -> Option<Suppression> {
        let Ending::Stopped(stop) = ending else { return None };
        let (env, sources) = (target.start().context().env(), target.start().sources());
        self.known.as_mut().and_then(|known| known.accept(stop, env, sources)).cloned()
    }

    /// How a run ended, as text: in a few lines when it is suppressed.
    pub fn ending(&self, ending: &Ending, accepted: Option<&Suppression>, target: &Target) -> Text {
        let (env, sources) = (target.start().context().env(), target.start().sources());
        match (ending, accepted) {
            (Ending::Stopped(stop), Some(entry)) => {
                suppressed_stop(&StopReport::new(stop, env, sources), entry, &self.sources).into()
            }
            (Ending::Stopped(stop @ Stop::Limit(_)), None) => {
                StopReport::new(stop, env, sources).ended(self.ended.clone()).render(output::colour())
            }
            _ => text::ending(ending, env, sources, output::colour()),
        }
    }

    /// Marks what a run ended with as suppressed, in its JSON.
    pub fn mark(&self, value: &mut Value, accepted: Option<&Suppression>) {
        if accepted.is_some() {
            self.mark_as(&mut value["stopped"], "suppressed", accepted);
        }
    }

    /// Puts the entry that accepts a defect into JSON, if there is one.
    pub fn mark_as(&self, value: &mut Value, key: &str, accepted: Option<&Suppression>) {
        if let Some(entry) = accepted {
            value[key] = json!(Suppressed::new(entry, &self.sources));
        }
    }

    /// The end of a command about many runs, or one that was run again: `all` has how runs ended, `value` is what is told as
    /// JSON. In SARIF the ends of runs are results, and the rest is in the log's properties. Nothing is printed as text but
    /// warnings of entries that nothing matched.
    pub fn searched(
        &self,
        all: &[(&Ending, Option<Suppression>)],
        value: impl FnOnce() -> Value,
        code: u8,
        target: &Target,
    ) {
        match self.form {
            Form::Text => self.warn(),
            Form::Json => self.print_json(value()),
            Form::Sarif => {
                let (env, sources) = (target.start().context().env(), target.start().sources());
                let mut log = sarif::Log::new();
                for (ending, accepted) in all {
                    match ending {
                        Ending::Expected => {}
                        Ending::Stopped(stop) => log.stop(
                            &StopReport::new(stop, env, sources),
                            accepted.as_ref().map(|entry| (entry, &self.sources)),
                        ),
                        Ending::Unexpected(mismatches, printed) | Ending::Differs(mismatches, printed) => {
                            let at = |name: &str| target.spec().expect.get(name).and_then(|e| e.at);
                            mismatches.iter().for_each(|m| log.mismatch(m, at(&m.name), sources));
                            let at = target.spec().stdout.as_ref().and_then(|e| e.at);
                            printed.iter().for_each(|m| log.output_mismatch(m, at, sources));
                        }
                    }
                }
                // What is told of these is among the results.
                let told =
                    ["exit", "findings", "outcomes", "defects", "endless", "stopped", "mismatches", "output_mismatch"];
                if let Value::Object(rest) = value() {
                    let rest = rest.into_iter().filter(|(name, _)| !told.contains(&name.as_str()));
                    rest.for_each(|(name, value)| log.property(&name, value));
                }
                self.print_sarif(log, code);
            }
        }
    }

    fn known_of<'a>(&mut self, races: RacesReport<'a>) -> RacesReport<'a> {
        match &mut self.known {
            Some(known) => races.accept(known),
            None => races,
        }
    }

    fn add_races(&self, races: Option<&RacesReport<'_>>, value: &mut Value) {
        if let Some(races) = races {
            value["races"] = races.json(&self.sources).into();
            value["unordered"] = races.unordered_json().into();
            value["benign_races"] = races.hidden_json().into();
        }
    }

    fn log_races(&self, races: Option<&RacesReport<'_>>, sources: &SourceMap, log: &mut sarif::Log) {
        let Some(races) = races else { return };
        for (report, accepted) in races.all() {
            log.stop(&report, accepted.map(|entry| (entry, &self.sources)));
        }
        for diagnostic in races.unordered() {
            log.warning(diagnostic, sources);
        }
    }

    /// Tells what came of a run to its end; gives the exit code.
    pub fn finished(&mut self, mut results: Results<'_>, sources: &SourceMap) -> u8 {
        results.races = results.races.map(|races| self.known_of(races));
        let Results { outcome, memory, trace, races, .. } = &results;
        let racy = races.as_ref().is_some_and(RacesReport::any);
        let code = u8::from(!outcome.as_expected() || racy);
        match self.form {
            Form::Text => {
                for (name, hash) in [("memory", memory), ("trace", trace)] {
                    if let Some(hash) = hash {
                        output::say(format!("{name} {hash:016x}\n"));
                    }
                }
                if let Some(races) = races {
                    output::complain(races.render(&self.sources, output::colour()));
                }
                outcome.mismatches.iter().for_each(|m| output::complain(run::mismatch(m)));
                outcome.output_mismatch.iter().for_each(|m| output::complain(run::output_mismatch(m)));
                self.warn();
                output::complain(results.relied.text());
                output::complain(results.lost.text());
                output::complain(run::summary(outcome, results.checked));
                if code == 0 {
                    output::complain(run::checks(&results.checks));
                }
            }
            Form::Json => {
                let mut value = results.json(code);
                self.add_races(races.as_ref(), &mut value);
                self.print_json(value);
            }
            Form::Sarif => {
                let mut log = sarif::Log::new();
                self.log_races(races.as_ref(), sources, &mut log);
                for mismatch in &outcome.mismatches {
                    log.mismatch(mismatch, (results.expected_at)(&mismatch.name), sources);
                }
                if let Some(mismatch) = &outcome.output_mismatch {
                    log.output_mismatch(mismatch, results.output_at, sources);
                }
                // These stand elsewhere in the log.
                let known = ["exit", "mismatches", "output_mismatch"];
                if let Value::Object(all) = results.json(code) {
                    let rest = all.into_iter().filter(|(name, _)| !known.contains(&name.as_str()));
                    rest.for_each(|(name, value)| log.property(&name, value));
                }
                self.print_sarif(log, code);
            }
        }
        code
    }

    /// Warns of entries that nothing matched, in text.
    fn warn(&self) {
        let warnings = self.unused();
        if !warnings.is_empty() {
            output::problems(&warnings, &self.sources, Form::Text);
        }
    }

    /// Prints a JSON report, with the entries that nothing matched.
    fn print_json(&self, mut report: Value) {
        if let Some(memory) = &self.memory {
            report["memory"] = memory.clone().into();
        }
        if self.known.is_some() {
            let unused =
                self.unused().iter().map(|p| problem(p, &self.sources).json(&self.sources)).collect::<Vec<_>>();
            report["unused_suppressions"] = unused.into();
        }
        output::print_json(&report);
    }

    /// Prints a SARIF log, with the entries that nothing matched.
    fn print_sarif(&self, mut log: sarif::Log, code: u8) {
        if let Some(memory) = &self.memory {
            log.property("memory", memory.clone().into());
        }
        for warning in self.unused() {
            log.notice(&problem(&warning, &self.sources), &self.sources);
        }
        output::print_json(&log.finish(code));
    }

    fn unused(&self) -> Vec<Problem> {
        let of =
            |s: &Suppression| ProblemKind::UnusedSuppression { kind: s.kind.id(), reason: s.reason.clone() }.at(s.at);
        self.known.iter().flat_map(Suppressions::unused).map(of).collect()
    }
}

/// What came of a run to its end.
pub(super) struct Results<'a> {
    /// The counts and the comparisons.
    pub outcome: &'a Outcome,
    /// The buffers whose zeros were relied on though nobody had said what they hold.
    pub relied: ReliedReport,
    /// The accesses whose origin was lost.
    pub lost: LostReport,
    /// The races, when asked for.
    pub races: Option<RacesReport<'a>>,
    /// The checks that were asked for, by name.
    pub checks: Vec<String>,
    /// How many things were compared.
    pub checked: usize,
    /// Where the contents of a buffer are expected.
    pub expected_at: &'a dyn Fn(&str) -> At,
    /// Where the output is expected.
    pub output_at: At,
    /// The buffers that were asked for, for programs.
    pub buffers: Map<String, Value>,
    /// The hash of the final memory, when asked for.
    pub memory: Option<u64>,
    /// The hash of the trace, when asked for.
    pub trace: Option<u64>,
}

impl Results<'_> {
    fn json(&self, code: u8) -> Value {
        let hash = |h: Option<u64>| h.map(|h| format!("{h:016x}"));
        let mut value = run::json(self.outcome);
        value["assumed_zeros"] = self.relied.json();
        value["lost_origins"] = self.lost.json();
        value["exit"] = code.into();
        value["checks"] = self.checks.clone().into();
        value["buffers"] = self.buffers.clone().into();
        value["memory_hash"] = hash(self.memory).into();
        value["trace_hash"] = hash(self.trace).into();
        value
    }
}

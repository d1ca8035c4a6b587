//! What was found in a file, for all forms in which that is told.

use crate::base::SourceMap;
use crate::launch::{Mismatch, OUTPUT_MISMATCH, OutputMismatch, RESULT_MISMATCH, Unexpected};
use crate::report::diagnostic::{Diagnostic, NOWHERE, Severity, said};
use crate::report::roots::{Roots, Spot};
use crate::report::sarif::Log;
use crate::report::stop::{StopReport, exit_code};
use crate::report::terminal::Text;
use crate::report::words::counted;
use crate::report::worst;
use crate::report::{internal, run};
use crate::verdict::{LimitKind, Stop};
use serde::Serialize;
use serde_json::{Value, json};

/// What was found.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The name of the kind: of a defect, of what is wrong with the input, `limit`, `unsupported`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What it is, in a line.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
    /// Where it is: in the CUDA or Python source, where `.loc` names a file of the project, else in the PTX, or in the launch file.
    pub place: Option<Spot>,
    /// The seed that shows it; null: the default schedule, or no run.
    pub seed: Option<u64>,
    /// The command that shows it again.
    pub replay: Option<String>,
    /// The exit code that it stands for; 0 when it is known and may stay, or is what the file wants.
    pub exit: u8,
    /// Why it does not make the test fail.
    pub accepted: Option<String>,
    /// The particulars, of a run that stopped, or a race.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::report::data::Stopped<'_>>"))]
    pub stopped: Option<Value>,
    /// The buffer that is other than expected.
    pub mismatch: Option<Mismatch>,
    /// The output that is other than expected.
    pub output_mismatch: Option<OutputMismatch>,
    /// The whole report as text.
    #[serde(skip)]
    pub text: Text,
    /// Which limit was reached, if that is what it is.
    #[serde(skip)]
    pub limit: Option<LimitKind>,
    /// Its result in the log, if it is one.
    #[serde(skip)]
    pub(super) result: Option<usize>,
}

/// Which run showed something, and how that is seen again.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// The seed; none: the default schedule, or no run.
    pub seed: Option<u64>,
    /// The command that shows it again.
    pub replay: Option<String>,
}

/// What is found in a file, gathered while it is tested.
#[derive(Debug)]
pub struct Gathering<'r> {
    roots: &'r Roots,
    colour: bool,
    /// What was found so far.
    pub findings: Vec<Finding>,
    /// The same for code scanning.
    pub log: Log,
}

impl<'r> Gathering<'r> {
    /// Nothing so far; texts have colours or not.
    #[must_use]
    pub fn new(roots: &'r Roots, colour: bool) -> Self {
        Self { roots, colour, findings: Vec::new(), log: Log::of_project(roots.clone()) }
    }

    /// Adds why a run stopped, or a race.
    pub fn stop(&mut self, report: &StopReport<'_>, shown: &Shown) {
        let before = self.log.results();
        self.log.stop(report);
        let first = report.stop.places().first().map(|place| place.pc);
        let diagnostic = report.diagnostic();
        let place = first.and_then(|pc| self.roots.cuda(report, pc));
        let known = report.suppressed.map(|known| format!("suppressed: {}", known.reason()));
        let exit = if known.is_some() { 0 } else { exit_code(report.stop) };
        let limit = if let Stop::Limit(limit) = report.stop { Some(*limit) } else { None };
        let text = report.text(self.colour);
        let own = Finding {
            accepted: known,
            limit,
            stopped: Some(report.json()),
            ..self.of(&diagnostic, report.sources, exit, text)
        };
        self.add(Finding { place: place.or(own.place.clone()), ..own }, before, shown);
    }

    /// Adds what is not as expected; `differs`: from the results of the default schedule only.
    pub fn unexpected(&mut self, what: &Unexpected, differs: bool, sources: &SourceMap, shown: &Shown) {
        let head = if differs {
            "the results depend on the schedule; expected is what the default schedule gives\n"
        } else {
            ""
        };
        for m in &what.mismatches {
            let one = Unexpected { mismatches: vec![m.clone()], ..Unexpected::default() };
            let finding = Finding {
                mismatch: Some(m.clone()),
                ..self.compared(RESULT_MISMATCH, (head, &run::mismatch(m)), m.at, sources)
            };
            self.compared_add(finding, &one, sources, shown);
        }
        if let Some(m) = &what.output_mismatch {
            let one = Unexpected { output_mismatch: Some(m.clone()), ..Unexpected::default() };
            let text = run::output_mismatch(m);
            let finding = Finding {
                output_mismatch: Some(m.clone()),
                ..self.compared(OUTPUT_MISMATCH, (head, &text), m.at, sources)
            };
            self.compared_add(finding, &one, sources, shown);
        }
    }

    fn compared(
        &self,
        code: &'static str,
        (head, text): (&str, &str),
        at: crate::launch::At,
        sources: &SourceMap,
    ) -> Finding {
        let first = text.lines().next().unwrap_or("");
        let (file, span) = at.unwrap_or(NOWHERE);
        let diagnostic = said(code, first.strip_prefix("mismatch: ").unwrap_or(first), "").at(file, span);
        self.of(&diagnostic, sources, 1, format!("{head}{text}").into())
    }

    fn compared_add(&mut self, finding: Finding, what: &Unexpected, sources: &SourceMap, shown: &Shown) {
        let before = self.log.results();
        self.log.unexpected(what, sources);
        self.add(finding, before, shown);
    }

    /// Adds a complaint about the input.
    pub fn problem(&mut self, diagnostic: &Diagnostic, sources: &SourceMap) {
        let before = self.log.results();
        self.log.problem(diagnostic, sources);
        let exit = match diagnostic.severity {
            Severity::Warning => 0,
            Severity::Error if diagnostic.code == "unsupported" => 4,
            Severity::Error => 2,
        };
        let text = diagnostic.render(sources, self.colour);
        self.add(self.of(diagnostic, sources, exit, text), before, &Shown::default());
    }

    /// Adds what is to be known, and is no defect.
    pub fn warning(&mut self, diagnostic: &Diagnostic, sources: &SourceMap, shown: &Shown) {
        let before = self.log.results();
        self.log.warning(diagnostic, sources);
        self.add(self.of(diagnostic, sources, 0, diagnostic.render(sources, self.colour)), before, shown);
    }

    /// Adds that warpstep itself failed.
    pub fn panicked(&mut self) {
        let diagnostic = said("internal", "warpstep itself failed here, and said above what to report", "");
        let none = SourceMap::default();
        let text = diagnostic.render(&none, self.colour);
        self.log.notice(&diagnostic, &none);
        let before = self.log.results();
        self.add(self.of(&diagnostic, &none, internal::INTERNAL, text), before, &Shown::default());
    }

    /// The file wants one kind of defect: that does not make it fail, and its absence does.
    pub fn wanted(&mut self, code: &'static str, at: crate::launch::At, runs: u64, sources: &SourceMap) {
        let mut found = false;
        for finding in self.findings.iter_mut().filter(|f| f.code == code && f.exit == 1) {
            let why = "the file wants this defect ([test] defect)";
            (finding.exit, finding.accepted, found) = (0, Some(why.to_owned()), true);
            finding.result.iter().for_each(|k| self.log.accept(*k, why));
        }
        // What ended early, or is wrong otherwise, says enough.
        if found || self.exit() != 0 {
            return;
        }
        let (file, span) = at.unwrap_or(NOWHERE);
        let runs = counted(runs, "run");
        let diagnostic = said(ABSENT, format!("`{code}` is wanted here, and {runs} did not show it"), "[test] defect")
            .at(file, span)
            .hint("more seeds, or a check that looks for it; where it is repaired, take `defect` out");
        let before = self.log.results();
        let full = "The launch file wants a defect ([test] defect), and no run showed it.";
        self.log.rule(ABSENT, "Wanted defect not found", full);
        self.log.problem(&diagnostic, sources);
        let text = diagnostic.render(sources, self.colour);
        self.add(self.of(&diagnostic, sources, 1, text), before, &Shown::default());
    }

    /// The exit code of all that was found: the gravest.
    #[must_use]
    pub fn exit(&self) -> u8 {
        worst(self.findings.iter().map(|f| f.exit))
    }

    fn of(&self, diagnostic: &Diagnostic, sources: &SourceMap, exit: u8, text: Text) -> Finding {
        let hint = diagnostic.hint.clone();
        Finding {
            code: diagnostic.code,
            severity: diagnostic.severity,
            message: diagnostic.message.clone(),
            hint,
            place: self.roots.spot(diagnostic.file, diagnostic.span, sources),
            seed: None,
            replay: None,
            exit,
            accepted: None,
            stopped: None,
            mismatch: None,
            output_mismatch: None,
            text,
            limit: None,
            result: None,
        }
    }

    fn add(&mut self, finding: Finding, before: usize, shown: &Shown) {
        let Shown { seed, replay } = shown.clone();
        let result = (self.log.results() > before).then_some(before);
        if let (Some(k), Some(command)) = (result, &replay) {
            self.log.describe(k, "replay", json!(command));
        }
        self.findings.push(Finding { seed, replay, result, ..finding });
    }
}

/// What it is called that a wanted defect was not found.
const ABSENT: &str = "absent-defect";

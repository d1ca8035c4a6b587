//! Findings as SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format), for code scanning and editors.
//!
//! A defect of the program, a result that is not as expected and a complaint about a file are results. What says nothing
//! about the program is a notification: a limit, a gap of ours, a schedule that does not fit, a wrong flag. A suppressed
//! defect stays a result and carries its suppression. Sections in comments are the standard's.

mod place;
mod project;

use super::diagnostic::{Diagnostic, NOWHERE, said};
use super::location::location;
use super::roots::Roots;
use super::run;
use super::stop::StopReport;
use crate::base::SourceMap;
use crate::launch::{At, OUTPUT_MISMATCH, RESULT_MISMATCH, Unexpected};
use crate::verdict::{Kind, Place, Stop};
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Map, Value, json};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// Further parties that a result relates to: a deadlock may have thousands.
const PARTIES: usize = 16;

/// A log being made: one run of one command.
#[derive(Clone, Debug)]
pub struct Log {
    /// By their ids.
    rules: IndexMap<&'static str, Value>,
    results: Vec<Value>,
    /// About the run: limits, gaps.
    execution: Vec<Value>,
    /// About how it was asked for: flags, files that cannot be read, schedules.
    configuration: Vec<Value>,
    properties: Map<String, Value>,
    /// Where the files of the project lie, if the log is about one.
    roots: Option<Roots>,
}

impl Default for Log {
    /// A log without results, with the rules of every kind of defect.
    fn default() -> Self {
        let defects = Kind::ALL.iter().filter(|k| k.is_defect());
        let mut rules: IndexMap<_, _> = defects.map(|k| (k.id(), rule(*k))).collect();
        for (id, short, full) in [
            (
                RESULT_MISMATCH,
                "Result not as expected",
                "A buffer or variable holds something else after the last launch than the launch file expects.",
            ),
            (
                OUTPUT_MISMATCH,
                "Output not as expected",
                "The device printed something else than the launch file expects.",
            ),
        ] {
            let value = json!({ "id": id, "shortDescription": { "text": short }, "fullDescription": { "text": full },
                                "defaultConfiguration": { "level": "error" } });
            rules.insert(id, value);
        }
        let (results, execution, configuration, properties) = Default::default();
        Self { rules, results, execution, configuration, properties, roots: None }
    }
}

impl Log {
    /// Adds why a run stopped.
    pub fn stop(&mut self, report: &StopReport<'_>) {
        let diagnostic = report.diagnostic();
        if !report.stop.kind().is_defect() {
            let list =
                if let Stop::Diverged { .. } = report.stop { &mut self.configuration } else { &mut self.execution };
            list.push(notification(&diagnostic, report.sources));
            return;
        }
        let mut result = self.result(&diagnostic, report.sources);
        let places = report.stop.places();
        if let Some(first) = places.first() {
            // The message is about its own place, which need not be the first party's: a token is pushed elsewhere.
            if report.span(first.pc) == (diagnostic.file, diagnostic.span) {
                result["locations"] = json!([report.at_pc(first.pc, &diagnostic.label)]);
            }
            let cuda = places.iter().take(PARTIES).filter_map(|p| report.cuda_location(p.pc, "in the CUDA source"));
            related(&mut result, cuda);
            if let Some(roots) = &self.roots {
                project::prefer_source(&mut result, report, first.pc, roots);
            }
            result["codeFlows"] = flows(report, &places);
            result["partialFingerprints"] = json!({ "warpstep/v1": format!("{:016x}", report.fingerprint(first)) });
        }
        let mut value = report.json();
        let keep = ["thread", "other", "waiting", "details"];
        let kept = value.as_object_mut().map(std::mem::take).unwrap_or_default();
        result["properties"] = kept.into_iter().filter(|(k, v)| keep.contains(&k.as_str()) && !v.is_null()).collect();
        result["suppressions"] = report.suppressed.iter().map(|known| known.sarif.clone()).collect();
        self.results.push(result);
    }

    /// Adds a complaint about the input.
    pub fn problem(&mut self, diagnostic: &Diagnostic, sources: &SourceMap) {
        if sources.get(diagnostic.file).is_none() {
            self.notice(diagnostic, sources);
            return;
        }
        self.rules.entry(diagnostic.code).or_insert_with(|| {
            let short = format!("Wrong input: {}", diagnostic.code.replace('-', " "));
            json!({ "id": diagnostic.code, "shortDescription": { "text": short } })
        });
        let result = self.result(diagnostic, sources);
        self.results.push(result);
    }

    /// Adds what is to be known about the run, and is no defect.
    pub fn warning(&mut self, diagnostic: &Diagnostic, sources: &SourceMap) {
        self.execution.push(notification(diagnostic, sources));
    }

    /// Adds what is to be known about how the command was asked for, and is about no program.
    pub fn notice(&mut self, diagnostic: &Diagnostic, sources: &SourceMap) {
        self.configuration.push(notification(diagnostic, sources));
    }

    /// Adds what was not as expected.
    pub fn unexpected(&mut self, what: &Unexpected, sources: &SourceMap) {
        let mut one = |code, text: String, at: At| {
            let (file, span) = at.unwrap_or(NOWHERE);
            let result = self.result(&said(code, text.trim_end(), "").at(file, span), sources);
            self.results.push(result);
        };
        what.mismatches.iter().for_each(|m| one(RESULT_MISMATCH, run::mismatch(m), m.at));
        what.output_mismatch.iter().for_each(|m| one(OUTPUT_MISMATCH, run::output_mismatch(m), m.at));
    }

    /// Adds what else is known of the run, such as counts and printed buffers.
    pub fn property(&mut self, name: &str, value: Value) {
        self.properties.insert(name.to_owned(), value);
    }

    /// Adds what a report has besides the exit code and what is among the results.
    pub fn properties(&mut self, report: &impl Serialize, results: &[&str]) {
        if let Value::Object(all) = json!(report) {
            let rest = all.into_iter().filter(|(name, _)| name != "exit" && !results.contains(&name.as_str()));
            self.properties.extend(rest);
        }
    }

    /// The log of a command that ends with this exit code.
    #[must_use]
    pub fn finish(mut self, exit: u8) -> Value {
        self.place_in_project();
        let rules: Vec<Value> = self.rules.into_values().collect();
        let version = env!("CARGO_PKG_VERSION");
        json!({
            "$schema": SCHEMA,
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": { "name": "warpstep", "version": version, "semanticVersion": version, "rules": rules } },
                "columnKind": "unicodeCodePoints",
                "invocations": [{
                    // The command did its work when it has an answer (3.20.14), be it that there is a defect.
                    "executionSuccessful": exit < 2,
                    "exitCode": exit,
                    "toolExecutionNotifications": self.execution,
                    "toolConfigurationNotifications": self.configuration,
                }],
                "results": self.results,
                "properties": self.properties,
            }],
        })
    }

    /// A result (3.27) with what a message has.
    fn result(&self, diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
        let mut result = json!({
            "ruleId": diagnostic.code,
            "level": diagnostic.severity,
            "message": { "text": text(diagnostic) },
            "locations": [],
            "relatedLocations": [],
        });
        if let Some(index) = self.rules.get_index_of(diagnostic.code) {
            result["ruleIndex"] = index.into();
        }
        if sources.get(diagnostic.file).is_some() {
            result["locations"] = json!([location(diagnostic.file, diagnostic.span, sources, Some(&diagnostic.label))]);
        }
        let others = diagnostic.secondary.iter().filter(|l| sources.get(l.file).is_some());
        related(&mut result, others.map(|l| location(l.file, l.span, sources, Some(&l.text))));
        result
    }
}

/// Appends related locations; each has a number in its result (3.28.2).
fn related(result: &mut Value, more: impl Iterator<Item = Value>) {
    let Some(list) = result["relatedLocations"].as_array_mut() else { return };
    for mut value in more {
        if !list.iter().any(|l| l["physicalLocation"] == value["physicalLocation"]) {
            value["id"] = list.len().into();
            list.push(value);
        }
    }
}

/// How each party came to its place, a thread flow each; none when there is nothing to tell beyond the one place.
fn flows(report: &StopReport<'_>, places: &[&Place]) -> Value {
    let mut all: Vec<Value> = Vec::new();
    for place in places {
        let flow = report.thread_flow(place, if all.is_empty() { "here" } else { "and here" });
        // A party may be named twice, as who runs on and as whom a token belongs to; the ids tell flows apart (3.37.2).
        if all.len() < PARTIES && all.iter().all(|f| f["id"] != flow["id"]) {
            all.push(flow);
        }
    }
    let alone = all.len() < 2 && places.iter().all(|p| p.calls.is_empty());
    if alone { json!([]) } else { json!([{ "threadFlows": all }]) }
}

/// The message, what more there is to it, and the advice. The first line stands for the whole where room is scarce.
fn text(diagnostic: &Diagnostic) -> String {
    let more = [&diagnostic.note, &diagnostic.hint].into_iter().flatten();
    std::iter::once(&diagnostic.message).chain(more).cloned().collect::<Vec<_>>().join("\n")
}

/// A notification (3.58).
fn notification(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let mut value = json!({
        "descriptor": { "id": diagnostic.code },
        "level": diagnostic.severity,
        "message": { "text": text(diagnostic) },
    });
    if sources.get(diagnostic.file).is_some() {
        value["locations"] = json!([location(diagnostic.file, diagnostic.span, sources, Some(&diagnostic.label))]);
    }
    value
}

/// A rule (3.49) of a kind of defect.
fn rule(kind: Kind) -> Value {
    let d = kind.describe();
    json!({
        "id": kind.id(),
        "shortDescription": { "text": d.short },
        "fullDescription": { "text": d.full },
        "help": { "text": d.help },
        "defaultConfiguration": { "level": "error" },
    })
}

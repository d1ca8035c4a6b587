//! The text of litmus tests: complaints about files, and outcomes in the form of herd and litmus.

mod compare;
mod data;
mod extract;
mod focus;
mod kernel;
mod names;
mod picture;
mod shown;
mod table;
mod verdict;

pub use compare::{Agreements, EngineCounts, EngineShows, ModelAllows, OutcomeRow, TestAgreement, Under, agreement};
pub use data::{
    Answer, Consistency, Counts, Deciding, Dimensions, Edge, EndlessExecution, EventKind, Forbidden, LitmusEvent,
    LitmusExecution, LitmusOutcome, LitmusStep, ModelVerdict, PartOf, PlaceValue, Spot, TestVerdicts,
};
pub use extract::{Extracted, Finding, ModelSays, judgement, not_extracted, too_long};
pub use kernel::{asked_of_kernel, launched, said_of_kernel, unexpressed};
pub use shown::Subject;
pub use table::{ExpectedRow, ExpectedVerdicts, Group};
pub use verdict::{asked, list, said, summary, up_to};

use super::diagnostic::Diagnostic;
use super::lockstep_machine::MutexRun;
use super::parts::Exit;
use super::prove::Scope;
use super::rsp_machine::BesideAxioms;
use super::words::counted;
use crate::axiom::cat::{CatError, CatErrorKind};
use crate::base::SourceMap;
use crate::explore::space::Progress;
use crate::litmus::lockstep::Column;
use crate::litmus::table::TableError;
use crate::litmus::tree::TermKind;
use crate::litmus::{LitmusError, LitmusErrorKind as K, Outcomes, Truth};
use crate::verdict::LimitKind;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;

/// The message of a complaint.
pub fn diagnostic(error: &LitmusError, sources: &SourceMap) -> Diagnostic {
    let text = sources.get(error.file).map_or("", |s| s.text.as_str());
    let here: String = error.span.of(text).chars().take(40).flat_map(char::escape_debug).collect();
    let diagnostic = Diagnostic::from(error.kind.wording(&here)).at(error.file, error.span);
    match error.kind {
        K::ThreadTwice(first) | K::Twice(first) | K::LabelTwice(first) | K::ColumnTwice(first) => {
            diagnostic.also(error.file, first, "the first one")
        }
        K::OtherInstruction(first) => diagnostic.also(error.file, first, "this one"),
        K::EndLanes(block) | K::Masked(block) => diagnostic.also(error.file, block, "the block"),
        _ => diagnostic,
    }
}

/// The message of a complaint about a table of verdicts.
pub fn table_diagnostic(error: &TableError, sources: &SourceMap) -> Diagnostic {
    let text = sources.get(error.file).map_or("", |s| s.text.as_str());
    let here: String = error.span.of(text).chars().take(40).flat_map(char::escape_debug).collect();
    Diagnostic::from(error.kind.wording(&here)).at(error.file, error.span)
}

/// The message of a complaint about a memory model.
pub fn model_diagnostic(error: &CatError, sources: &SourceMap) -> Diagnostic {
    let text = sources.get(error.file).map_or("", |s| s.text.as_str());
    let here: String = error.span.of(text).chars().take(40).flat_map(char::escape_debug).collect();
    let diagnostic = Diagnostic::from(error.kind.wording(&here)).at(error.file, error.span);
    let diagnostic = match error.kind {
        CatErrorKind::Twice(first) => diagnostic.also(error.file, first, "the first one"),
        _ => diagnostic,
    };
    match error.call {
        Some((file, span)) => diagnostic.also(file, span, "called here"),
        None => diagnostic,
    }
}

/// All executions of a litmus test.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tested<'a> {
    exit: Exit,
    /// The test's name.
    test: &'a str,
    /// Whether its condition does; null where a limit was reached before that was settled.
    holds: Option<bool>,
    satisfied: u64,
    not_satisfied: u64,
    /// Whether all executions were gone through.
    complete: bool,
    /// Why the search ended early, if it did.
    limit: Option<String>,
    /// Runs that stop before their end, one of each kind and place.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::report::data::Stopped<'_>>"))]
    stopped: Vec<Value>,
    /// Kinds of runs that never end.
    endless: usize,
    states: u64,
    transitions: u64,
    /// What the axioms say of the executions. Only with `--machine rsp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    axioms: Option<BesideAxioms>,
    /// What was asked of the pool of mutexes. Only with `--machine lsc-mutex`.
    #[serde(skip_serializing_if = "Option::is_none")]
    mutexes: Option<MutexRun>,
}

impl<'a> Tested<'a> {
    /// What a search of a test came to, which some limit may have ended: its outcomes and counts, how many kinds of runs
    /// never end, and those that stop.
    #[must_use]
    pub fn new(
        exit: Exit,
        (outcomes, limit): (&'a Outcomes<'_>, Option<LimitKind>),
        counts: &Progress,
        endless: usize,
        stopped: Vec<Value>,
    ) -> Self {
        let (verdict, complete) = (outcomes.verdict(), limit.is_none());
        Self {
            exit,
            test: &outcomes.litmus().name,
            holds: outcomes.decided(complete).then_some(verdict.holds),
            satisfied: verdict.satisfied,
            not_satisfied: verdict.not_satisfied,
            complete,
            limit: limit.map(super::limit::limit),
            stopped,
            endless,
            states: counts.states,
            transitions: counts.transitions,
            axioms: None,
            mutexes: None,
        }
    }

    /// The same with what the axioms say.
    #[must_use]
    pub fn with_axioms(self, axioms: BesideAxioms) -> Self {
        Self { axioms: Some(axioms), ..self }
    }

    /// The same with what was asked of the pool of mutexes.
    #[must_use]
    pub fn with_mutexes(self, mutexes: MutexRun) -> Self {
        Self { mutexes: Some(mutexes), ..self }
    }
}

/// The outcomes of a test as herd and litmus print them: each with its count, `*>` before those that satisfy the condition.
/// `complete`: whether these are all there are; only then anything is said about the condition that one more execution
/// could change.
#[must_use]
pub fn outcomes(all: &Outcomes<'_>, complete: bool) -> String {
    let litmus = all.litmus();
    let Some(asked) = &litmus.condition else { return String::new() };
    let truth = Truth::of(asked);
    let kind = match truth {
        Truth::Some => "Allowed",
        Truth::None => "Forbidden",
        Truth::All => "Required",
    };
    let mut out = format!("Test {} {kind}\nStates {}\n", litmus.name, all.iter().count());
    let width = all.iter().map(|(_, times, _)| times.to_string().len()).max().unwrap_or(0);
    for (outcome, times, satisfies) in all.iter() {
        let _ = write!(out, "{times:<width$} {}>", if satisfies { '*' } else { ':' });
        let shown = all.observed().places().zip(&outcome.0).map(|(place, value)| match place {
            TermKind::Register { thread, name } => match Column::of(*thread) {
                Some(column) => format!("{column}:{name}={value};"),
                None => format!("{thread}:{name}={value};"),
            },
            TermKind::Location { name, .. } => format!("{name}={value};"),
            TermKind::Number(n) => format!("{n};"),
        });
        out.push_str(&shown.collect::<Vec<_>>().join(" "));
        out.push('\n');
    }
    let verdict = all.verdict();
    let (answer, said) = match (all.decided(complete), verdict.holds) {
        (false, _) => ("Unknown", "not decided"),
        (true, true) => ("Ok", "validated"),
        (true, false) => ("No", "NOT validated"),
    };
    // Witnesses speak for what is asked; the observation is about the condition alone.
    let (yes, no) = (verdict.satisfied, verdict.not_satisfied);
    let (positive, negative) = if truth == Truth::None { (no, yes) } else { (yes, no) };
    let seen = match (yes, no) {
        (0, _) => "Never",
        (_, 0) => "Always",
        _ => "Sometimes",
    };
    let _ = writeln!(out, "{answer}\nWitnesses\nPositive: {positive} Negative: {negative}");
    let _ = writeln!(out, "Condition {} {} is {said}", asked.quantifier.name(), asked.cond);
    let _ = writeln!(out, "Observation {} {seen} {yes} {no}", litmus.name);
    out
}

/// The outcomes that a model allows, which is named before them: of several models each has its own.
#[must_use]
pub fn table(all: &Outcomes<'_>, model: &str, complete: bool) -> String {
    format!("{} under {model}, outcomes:\n{}", all.litmus().name, outcomes(all, complete))
}

/// Only how the condition fared: the last lines of [`outcomes`].
#[must_use]
pub fn verdict(all: &Outcomes<'_>, complete: bool) -> String {
    let text = outcomes(all, complete);
    let about = |line: &&str| line.starts_with("Condition ") || line.starts_with("Observation ");
    text.lines().filter(about).map(|line| format!("{line}\n")).collect()
}

/// What a search of a test looked at.
#[must_use]
pub fn searched(scope: &Scope<'_>, counts: &Progress, endless: usize, stopped: usize) -> String {
    let ends = match (endless, stopped) {
        (0, 0) => "every fair run ends",
        (0, _) => "some runs stop before their end",
        _ => "some fair runs never end",
    };
    let (states, transitions) = (counted(counts.states, "state"), counted(counts.transitions, "transition"));
    format!("{}: {states}, {transitions}; {ends}\n", scope.text())
}

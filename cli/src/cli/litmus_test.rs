//! One test of `warpstep litmus`, under each model that fits it.

use super::litmus::{Litmus as Flags, Models, code};
use super::litmus_kernel::is_kernel;
use super::litmus_models::{Loaded, unfit};
use super::output;
use crate::axiom::{Limits, Model, Searched};
use crate::base::{Source, SourceMap};
use crate::explore::Progress;
use crate::launch::{ProblemKind, open};
use crate::litmus::lockstep::Column;
use crate::litmus::tree::{Arch, Litmus, TermKind};
use crate::litmus::{Decided, Property, accept, decide_until, liveness_until, needed, outcomes, parse};
use crate::machine::Bounds;
use crate::report::litmus::{
    Answer, Edge, Forbidden, LitmusOutcome, ModelVerdict, PlaceValue, Subject, TestVerdicts, asked, diagnostic, said,
    up_to,
};
use crate::report::worst;
use crate::report::{Diagnostic, Text, limit, litmus as text, problem};
use serde_json::json;
use std::path::Path;

/// What tests are asked.
pub(super) struct Ask<'a> {
    pub flags: &'a Flags,
    pub models: &'a Models,
    pub bounds: &'a Bounds,
}

/// What came of a test.
pub(super) struct Tried {
    pub data: TestVerdicts,
    /// It for people, in full.
    pub text: String,
    /// What is wrong with its file.
    pub complaints: Text,
    pub code: u8,
    /// A picture of what decides.
    pub dot: Option<String>,
    /// An error of ours.
    pub internal: Option<String>,
}

/// A property, how far it is looked for, and of liveness the progress model.
#[derive(Clone, Copy)]
pub(super) struct Question {
    pub property: Property,
    pub progress: Progress,
    pub limits: Limits,
}

/// How a question was answered.
pub(super) struct Settled {
    pub answer: Answer,
    pub decided: Decided,
    /// Why it was not.
    pub reason: Option<String>,
}

/// How often loops are gone through unless something else is said: the bounds of the public verdicts.
pub(super) fn usual_bound(arch: Arch, property: Property) -> u32 {
    if arch == Arch::Vulkan && property == Property::Liveness { 4 } else { 1 }
}

impl Question {
    /// Answers it; a witness that is refused is an error of ours.
    pub fn settle(self, litmus: &Litmus, model: &Model, flags: &Flags, bounds: &Bounds) -> Result<Settled, String> {
        let up = || bounds.search_up().is_some();
        let decided = match self.property {
            Property::Liveness => liveness_until(litmus, model, self.progress, (flags.way, self.limits), &up),
            property => decide_until(litmus, model, property, flags.way, self.limits, &up),
        };
        let prefix = decided.lasso.as_ref().and_then(|lasso| lasso.prefix.as_ref()).map(|(execution, _)| execution);
        for execution in decided.witness.iter().chain(prefix) {
            accept(litmus, model, self.property, execution)?;
        }
        let found = decided.witness.is_some() || decided.lasso.is_some();
        let Searched { limited, unsupported, .. } = &decided.searched;
        let (answer, reason) = match (found, unsupported, limited) {
            (false, Some(what), _) => (Answer::Unsupported, Some(format!("unsupported: {what}"))),
            (false, None, true) => {
                let which = bounds.search_up().map(limit);
                let choices = || format!("limit reached: {} choices", self.limits.choices);
                (Answer::Limit, Some(which.unwrap_or_else(choices)))
            }
            _ => (if decided.pass { Answer::Pass } else { Answer::Fail }, None),
        };
        Ok(Settled { answer, decided, reason })
    }
}

/// Reads a test; what is wrong with it otherwise.
pub(super) fn read(path: &Path, sources: &mut SourceMap) -> Result<(Litmus, Source), Vec<Diagnostic>> {
    let file = open(path, sources).map_err(|kind| vec![problem(&kind.at(None), sources)])?;
    let source = sources.get(file).cloned().unwrap_or_else(|| unreachable!("it was just read"));
    let (litmus, errors) = parse(file, &source.text);
    if errors.is_empty() { Ok((litmus, source)) } else { Err(errors.iter().map(|e| diagnostic(e, sources)).collect()) }
}

impl Ask<'_> {
    /// Asks about a test. `full`: it is to be shown in full.
    pub fn of(&self, path: &Path, full: bool) -> Tried {
        if is_kernel(path) {
            return self.kernel(path, full);
        }
        let mut sources = SourceMap::default();
        let mut tried = Tried::new(path);
        match read(path, &mut sources) {
            Err(errors) => tried.wrong(&errors, &sources),
            Ok((litmus, source)) => {
                tried.data.test.clone_from(&litmus.name);
                tried.data.language = Some(litmus.arch.text());
                match self.fitting(&litmus) {
                    Ok((property, models)) => {
                        for loaded in models {
                            self.model(&mut tried, (&litmus, &source), loaded, property, full);
                        }
                    }
                    Err(problem) => tried.wrong(&[*problem], &sources),
                }
            }
        }
        tried
    }

    /// What is asked of a test, and the models that are for its language.
    fn fitting(&self, litmus: &Litmus) -> Result<(Property, Vec<&Loaded>), Box<Diagnostic>> {
        let refused = |kind: ProblemKind| Box::new(problem(&kind.at(None), &SourceMap::default()));
        let usual = if litmus.condition.is_none() { Property::Drf } else { Property::Safety };
        let property = self.flags.property.unwrap_or(usual);
        if property == Property::Safety && litmus.condition.is_none() {
            let (flag, text) = ("--property", "safety".to_owned());
            let why = "the test has no condition: --property drf asks it for races";
            return Err(refused(ProblemKind::UnfitFlag { flag, text, why }));
        }
        if self.flags.all && litmus.condition.is_none() {
            let why = "the test has no condition, and is asked for data races: leave it out";
            return Err(refused(ProblemKind::UnfitFlag { flag: "--all", text: String::new(), why }));
        }
        let fits = |loaded: &&Loaded| loaded.arch.is_none_or(|arch| arch == litmus.arch);
        let models: Vec<&Loaded> = self.models.iter().filter(fits).collect();
        if models.is_empty() {
            let text = self.models.iter().map(|loaded| &*loaded.name).collect::<Vec<_>>().join(", ");
            let why = unfit(self.models.first().and_then(|loaded| loaded.arch), litmus.arch);
            return Err(refused(ProblemKind::UnfitFlag { flag: "--model", text, why }));
        }
        Ok((property, models))
    }

    fn model(
        &self,
        tried: &mut Tried,
        (litmus, source): (&Litmus, &Source),
        loaded: &Loaded,
        property: Property,
        full: bool,
    ) {
        let (flags, model) = (self.flags, &*loaded.model);
        let bound = flags.bound.unwrap_or_else(|| usual_bound(litmus.arch, property));
        let limits = Limits { bound, choices: flags.max_choices };
        let question = Question { property, progress: flags.progress, limits };
        let settled = match question.settle(litmus, model, flags, self.bounds) {
            Ok(settled) => settled,
            Err(error) => {
                tried.internal = Some(error);
                return;
            }
        };
        let subject = Subject::new(litmus, source);
        let found = settled.decided.witness.is_some() || settled.decided.lasso.is_some();
        let words = said(litmus, property, found);
        let bounded = settled.decided.searched.bounded && !found;
        let mut verdict = ModelVerdict {
            model: loaded.name.clone(),
            property: property.name(),
            progress: (property == Property::Liveness).then(|| flags.progress.name()),
            bound,
            asked: asked(litmus, property),
            answer: settled.answer,
            said: settled.reason.unwrap_or_else(|| if bounded { up_to(words, bound) } else { words.to_owned() }),
            bounded,
            choices: settled.decided.searched.choices,
            mismatches: Vec::new(),
            defect: None,
            witness: settled.decided.witness.as_ref().map(|witness| subject.execution(model, witness)),
            endless: settled.decided.lasso.as_ref().map(|lasso| subject.endless(model, lasso)),
            why: None,
            outcomes: None,
        };
        let decided = matches!(settled.answer, Answer::Pass | Answer::Fail);
        if flags.why && !found && property != Property::Liveness && decided {
            verdict.why = Some(self.why(litmus, model, &subject, question));
        }
        if flags.all {
            let up = || self.bounds.search_up().is_some();
            let (all, searched) = outcomes(litmus, model, flags.way, limits, &up);
            if full {
                tried.show(&text::table(&all, &loaded.name, !searched.limited));
            }
            let values = |outcome: &crate::litmus::Outcome| {
                let place = |(place, value): (&TermKind, &i64)| PlaceValue { place: place_name(place), value: *value };
                all.observed().places().zip(&outcome.0).map(place).collect()
            };
            let list = all.iter().map(|(outcome, _, satisfies)| LitmusOutcome { values: values(outcome), satisfies });
            verdict.outcomes = Some(list.collect());
        }
        if tried.dot.is_none() && flags.dot.is_some() {
            tried.dot = picture(&litmus.name, &verdict);
        }
        tried.add(verdict, &litmus.name, full);
    }

    /// The axioms that forbid what was asked for.
    fn why(&self, litmus: &Litmus, model: &Model, subject: &Subject<'_>, question: Question) -> Vec<Forbidden> {
        let up = || self.bounds.search_up().is_some();
        let (single, free) = needed(litmus, model, question.property, self.flags.way, question.limits, &up);
        match free {
            Some(execution) => {
                let all = Subject::contradicted(model, &execution);
                all.into_iter().filter_map(|k| subject.forbidden(model, &execution, k, false)).collect()
            }
            None => single.iter().filter_map(|(k, e)| subject.forbidden(model, e, *k, true)).collect(),
        }
    }
}

/// A place as a condition names it.
pub(super) fn place_name(place: &TermKind) -> String {
    match place {
        TermKind::Register { thread, name } => match Column::of(*thread) {
            Some(column) => format!("{column}:{name}"),
            None => format!("{thread}:{name}"),
        },
        TermKind::Location { name, .. } => name.clone(),
        TermKind::Number(n) => n.to_string(),
    }
}

/// What decides, as a picture.
pub(super) fn picture(test: &str, verdict: &ModelVerdict) -> Option<String> {
    let name = format!("{test} under {}: {}", verdict.model, verdict.said);
    if let Some(witness) = &verdict.witness {
        let flags = witness.flags.iter().flat_map(|f| f.chain.iter());
        let bold: Vec<Edge> = flags.chain(&witness.cycle).cloned().collect();
        return Some(witness.dot(&name, &bold));
    }
    if let Some(prefix) = verdict.endless.as_ref().and_then(|endless| endless.prefix.as_ref()) {
        return Some(prefix.dot(&name, &[]));
    }
    let forbidden = verdict.why.as_ref().and_then(|why| why.first())?;
    Some(forbidden.execution.dot(&format!("{name} ({})", forbidden.axiom.name), &forbidden.axiom.chain))
}

impl Tried {
    /// Nothing as yet of a file.
    pub fn new(path: &Path) -> Self {
        let data = TestVerdicts {
            path: path.display().to_string(),
            test: String::new(),
            language: None,
            launch: None,
            verdicts: Vec::new(),
            problems: Vec::new(),
        };
        Self { data, text: String::new(), complaints: Text::default(), code: 0, dot: None, internal: None }
    }

    /// One more part of what is shown, apart from those before.
    fn show(&mut self, part: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(part);
    }

    /// One more verdict on what is called `name`.
    pub fn add(&mut self, verdict: ModelVerdict, name: &str, full: bool) {
        if full {
            self.show(&verdict.text(name));
        }
        self.code = worst([self.code, code(verdict.answer)]);
        self.data.verdicts.push(verdict);
    }

    pub(super) fn wrong(&mut self, errors: &[Diagnostic], sources: &SourceMap) {
        self.code = 2;
        self.data.problems = errors.iter().map(|e| json!(e.message(sources))).collect();
        errors.iter().for_each(|e| self.complaints.push(e.render(sources, output::colour())));
    }
}

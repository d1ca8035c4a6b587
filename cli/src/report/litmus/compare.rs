//! What machines show of litmus tests beside what models allow.

use super::data::PlaceValue;
use super::verdict::aligned;
use crate::litmus::Agreement;
use crate::report::parts::Exit;
use crate::report::words::counted;
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;

/// Litmus tests on machines and under models.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Agreements {
    /// The exit code.
    pub exit: Exit,
    /// Each test, in the order of their paths.
    pub agreement: Vec<TestAgreement>,
    /// Each engine under each model, over all tests.
    pub engines: Vec<EngineCounts>,
}

/// A test on machines and under models.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TestAgreement {
    /// Its file.
    pub path: String,
    /// Its name.
    pub test: String,
    /// What each model allows.
    pub models: Vec<ModelAllows>,
    /// What each engine shows.
    pub engines: Vec<EngineShows>,
    /// The outcomes that some model allows or some engine shows.
    pub outcomes: Vec<OutcomeRow>,
    /// What is wrong with the file, or why no model fits it.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::report::diagnostic::Message<'_>>"))]
    pub problems: Vec<Value>,
}

/// What a model allows of a test.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelAllows {
    /// The model.
    pub model: String,
    /// How many outcomes it allows, as far as that is known.
    pub outcomes: usize,
    /// Why there may be more, where there may.
    pub limit: Option<String>,
}

/// What an engine shows of a test.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EngineShows {
    /// The engine: its control model and its memory.
    pub engine: String,
    /// How many outcomes it shows.
    pub outcomes: usize,
    /// States that were gone through.
    pub states: u64,
    /// Why it may show more, where it may.
    pub limit: Option<String>,
    /// Why it shows nothing, where it cannot run the test.
    pub unsupported: Option<String>,
    /// Defects that stop other runs, which have no outcome.
    pub stops: Vec<String>,
    /// How it agrees with each model.
    pub under: Vec<Under>,
}

/// How an engine agrees with a model about a test.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Under {
    /// The model.
    pub model: String,
    /// `inside`: the model allows all that the engine shows. `beyond`: it forbids some of it. `limit`: a limit was reached before that
    /// was settled.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["inside", "beyond", "limit", "unsupported"])))]
    pub agreement: &'static str,
    /// How many outcomes the engine shows and the model forbids.
    pub beyond: usize,
    /// How many the engine shows and the model may or may not allow.
    pub open: usize,
    /// How many the model allows and the engine has not shown.
    pub unseen: usize,
}

/// An outcome under all models and on all engines.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutcomeRow {
    /// The values of what the test asks about.
    pub values: Vec<PlaceValue>,
    /// Whether they satisfy the condition.
    pub satisfies: bool,
    /// Whether each model allows it; null where a limit was reached before that was settled.
    pub allowed: Vec<Option<bool>>,
    /// Whether each engine shows it; null where it has not, and may yet.
    pub shown: Vec<Option<bool>>,
}

/// An engine under a model, over all tests.
#[derive(Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EngineCounts {
    /// The engine.
    pub engine: String,
    /// The model.
    pub model: String,
    /// Tests.
    pub tests: usize,
    /// Tests all of whose outcomes are allowed.
    pub inside: usize,
    /// Tests with outcomes that are forbidden.
    pub beyond: usize,
    /// Tests where a limit was reached before that was settled.
    pub limit: usize,
    /// Tests that the engine does not run.
    pub unsupported: usize,
    /// Outcomes shown.
    pub outcomes: usize,
    /// Outcomes allowed and not shown.
    pub unseen: usize,
}

/// The word of an agreement.
#[must_use]
pub const fn agreement(agreement: Agreement) -> &'static str {
    match agreement {
        Agreement::Inside => "inside",
        Agreement::Beyond => "beyond",
        Agreement::Limit => "limit",
        Agreement::Unsupported => "unsupported",
    }
}

impl OutcomeRow {
    /// The outcome as herd prints it.
    fn name(&self) -> String {
        let values = self.values.iter().map(|PlaceValue { place, value }| format!("{place}={value}"));
        values.collect::<Vec<_>>().join("; ")
    }
}

/// A few of many, and how many more there are.
fn few(names: &[String]) -> String {
    const FEW: usize = 3;
    let mut text = names.iter().take(FEW).cloned().collect::<Vec<_>>().join(" | ");
    if let Some(more) = names.len().checked_sub(FEW).filter(|more| *more > 0) {
        let _ = write!(text, " | {more} more");
    }
    text
}

impl TestAgreement {
    /// The outcomes that an engine shows and a model forbids.
    fn beyond(&self, engine: usize, model: usize) -> Vec<String> {
        let rows = self.outcomes.iter();
        let beyond = rows.filter(|row| row.shown[engine] == Some(true) && row.allowed[model] == Some(false));
        beyond.map(OutcomeRow::name).collect()
    }

    /// It for people: a table of outcomes, and what each engine comes to. In full, where it is the only one.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = format!("{}\n", self.test);
        let mut rows = vec![vec![String::new()]];
        rows[0].extend(self.models.iter().map(|model| model.model.clone()));
        rows[0].extend(self.engines.iter().map(|engine| engine.engine.clone()));
        let word = |known: Option<bool>, words: [&str; 2]| match known {
            Some(true) => words[0].to_owned(),
            Some(false) => words[1].to_owned(),
            None => "?".to_owned(),
        };
        for row in &self.outcomes {
            let mut cells = vec![format!("{} {}", if row.satisfies { "*>" } else { ":>" }, row.name())];
            cells.extend(row.allowed.iter().map(|known| word(*known, ["allowed", "forbidden"])));
            cells.extend(row.shown.iter().map(|known| word(*known, ["shown", "-"])));
            rows.push(cells);
        }
        if !self.outcomes.is_empty() {
            out.push_str(&aligned(&rows, |_| false));
        }
        for model in &self.models {
            if let Some(limit) = &model.limit {
                let _ = writeln!(out, "{}: may allow more: {limit}", model.model);
            }
        }
        for (k, engine) in self.engines.iter().enumerate() {
            let _ = writeln!(out, "{}: {}", engine.engine, self.said(k, engine));
        }
        out
    }

    /// What an engine comes to, in words.
    fn said(&self, number: usize, engine: &EngineShows) -> String {
        if let Some(why) = &engine.unsupported {
            return format!("unsupported: {why}");
        }
        let shown = counted(engine.outcomes as u64, "outcome");
        let allow = |models: &[&str]| {
            format!("{} {}", models.join(" and "), if models.len() == 1 { "allows" } else { "allow" })
        };
        let of = |what: &dyn Fn(usize, &Under) -> Option<String>| {
            let mut groups: IndexMap<String, Vec<&str>> = IndexMap::new();
            for (k, under) in engine.under.iter().enumerate() {
                if let Some(what) = what(k, under) {
                    groups.entry(what).or_default().push(&under.model);
                }
            }
            groups
        };
        let mut parts = Vec::new();
        for (what, models) in of(&|k, under| (under.beyond > 0).then(|| few(&self.beyond(number, k)))) {
            let forbid = if models.len() == 1 { "forbids" } else { "forbid" };
            parts.push(format!("shows what {} {forbid}: {what}", models.join(" and ")));
        }
        if engine.outcomes == 0 {
            parts.push("no run ends".to_owned());
        }
        for (_, models) in of(&|_, under| (engine.outcomes > 0 && under.beyond + under.open == 0).then(String::new)) {
            parts.push(format!("{} its {shown}", allow(&models)));
        }
        for (open, models) in of(&|_, under| (under.open > 0).then(|| under.open.to_string())) {
            parts.push(format!("whether {} {open} of its {shown} is open", allow(&models)));
        }
        for (unseen, models) in of(&|_, under| (under.unseen > 0).then(|| under.unseen.to_string())) {
            let not = if engine.limit.is_some() { "has not shown yet" } else { "does not show" };
            parts.push(format!("{not} {unseen} that {}", allow(&models)));
        }
        parts.extend(engine.limit.clone());
        parts.extend(engine.stops.iter().map(|stop| format!("some runs stop: {stop}")));
        parts.join("; ")
    }

    /// A line for each engine.
    fn lines(&self, width: usize) -> String {
        let mut out = String::new();
        if !self.problems.is_empty() {
            let _ = writeln!(out, "{:<11}  {:<width$}  {}", "wrong", "", self.path);
        }
        for (k, engine) in self.engines.iter().enumerate() {
            let worst = ["beyond", "unsupported", "limit"]
                .into_iter()
                .find(|word| engine.under.iter().any(|u| u.agreement == *word));
            let word = if engine.unsupported.is_some() { "unsupported" } else { worst.unwrap_or("inside") };
            let _ = writeln!(out, "{word:<11}  {:<width$}  {}: {}", engine.engine, self.path, self.said(k, engine));
        }
        out
    }
}

impl Agreements {
    /// What came of tests.
    #[must_use]
    pub fn new(exit: Exit, agreement: Vec<TestAgreement>) -> Self {
        let mut engines: Vec<EngineCounts> = Vec::new();
        for (engine, under) in
            agreement.iter().flat_map(|test| &test.engines).flat_map(|e| e.under.iter().map(move |u| (e, u)))
        {
            let known = engines.iter().position(|c| c.engine == engine.engine && c.model == under.model);
            let at = known.unwrap_or_else(|| {
                engines.push(EngineCounts {
                    engine: engine.engine.clone(),
                    model: under.model.clone(),
                    ..EngineCounts::default()
                });
                engines.len() - 1
            });
            let counts = &mut engines[at];
            counts.tests += 1;
            counts.outcomes += engine.outcomes;
            counts.unseen += under.unseen;
            *match under.agreement {
                "inside" => &mut counts.inside,
                "beyond" => &mut counts.beyond,
                "limit" => &mut counts.limit,
                _ => &mut counts.unsupported,
            } += 1;
        }
        // A test that no model is for is none that an engine runs either.
        for engine in agreement.iter().flat_map(|test| &test.engines).filter(|engine| engine.under.is_empty()) {
            for counts in engines.iter_mut().filter(|counts| counts.engine == engine.engine) {
                counts.tests += 1;
                counts.unsupported += 1;
            }
        }
        Self { exit, agreement, engines }
    }

    /// It for people: a line for each test and engine, and a summary for each engine.
    #[must_use]
    pub fn text(&self) -> String {
        let all = self.agreement.iter().flat_map(|test| &test.engines);
        let width = all.map(|engine| engine.engine.chars().count()).max().unwrap_or(0);
        let mut out: String = self.agreement.iter().map(|test| test.lines(width)).collect();
        let head = ["engine", "model", "tests", "inside", "beyond", "limit", "unsupported", "outcomes", "not shown"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for c in &self.engines {
            let numbers = [c.tests, c.inside, c.beyond, c.limit, c.unsupported, c.outcomes, c.unseen];
            let words = [c.engine.clone(), c.model.clone()];
            rows.push(words.into_iter().chain(numbers.map(|n| n.to_string())).collect());
        }
        out.push_str(&aligned(&rows, |k| k > 1));
        out
    }
}

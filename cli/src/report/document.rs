//! What each command says to programs: one object on standard output.
//!
//! `docs/schema/report.schema.json` is made of these types ([`schema`]), and their comments are its descriptions.

use super::costs::CostsReport;
use super::data::{Stopped, Thread};
use super::diagnostic::{Message, SourcePlace};
use super::hunt::{Hunt, Minimised, Replay};
use super::litmus::{Agreements, Consistency, ExpectedVerdicts, Extracted, Tested};
use super::parts::{Exit, Extra, Races};
use super::rule_table::Rules;
use super::{compare, prove, run, script, suite};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// What `--format json` prints on standard output: one object. docs/reports.md is the tour.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(missing_docs, reason = "each is what its type says")]
pub enum Report<'a> {
    Problems(Problems<'a>),
    Stopped(StoppedRun),
    Finished(Box<run::Finished<'a>>),
    Hunt(Hunt<'a>),
    Replay(Box<Replay<'a>>),
    Minimised(Minimised),
    Proof(Box<prove::Proved<'a>>),
    Orders(Box<script::Orders<'a>>),
    Litmus(Tested<'a>),
    Consistency(Consistency),
    Expected(ExpectedVerdicts),
    Agreements(Agreements),
    Extracted(Extracted),
    Compared(compare::Comparison<'a>),
    Suite(Box<suite::Suite<'a>>),
    Rules(Rules<'a>),
    Bench(Bench),
}

/// Problems of the input.
#[derive(Serialize, JsonSchema)]
pub struct Problems<'a> {
    /// The exit code.
    pub exit: Exit,
    /// The problems, in order.
    pub problems: Vec<Message<'a>>,
    /// How many more there are (--max-errors).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted: Option<usize>,
}

/// A run that ended early.
#[derive(Serialize, JsonSchema)]
pub struct StoppedRun {
    /// The exit code.
    pub exit: Exit,
    /// Why it ended.
    #[schemars(with = "Stopped<'_>")]
    pub stopped: Value,
    /// The races until then.
    #[serde(flatten)]
    pub races: Option<Races>,
    /// What the device printed until then.
    pub output: String,
    /// What flags add.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Measured speed.
#[derive(Serialize, JsonSchema)]
pub struct Bench {
    /// The exit code.
    pub exit: Exit,
    /// Each kernel that was measured.
    pub kernels: Vec<Speed>,
    /// The geometric mean of `millions_per_second`.
    pub geometric_mean: f64,
}

/// The speed of a kernel.
#[derive(Default, Serialize, JsonSchema)]
pub struct Speed {
    /// Its name.
    pub kernel: &'static str,
    /// What it works on.
    pub size: String,
    /// PTX instructions executed, times threads.
    pub thread_instructions: u64,
    /// CPU time; with `--threads` the time of the clock on the wall.
    pub cpu_seconds: f64,
    /// Millions of thread instructions per second.
    pub millions_per_second: f64,
    /// Whether its results are right.
    pub correct: bool,
    /// The same under a check, with `--check`.
    pub checked: Option<Checked>,
    /// What the mutex mechanism sent. Only with `--costs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costs: Option<CostsReport>,
}

/// The speed of a kernel under a check.
#[derive(Clone, Copy, Serialize, JsonSchema)]
pub struct Checked {
    /// CPU time.
    pub cpu_seconds: f64,
    /// Bytes that the check for races takes.
    pub shadow_bytes: Option<u64>,
    /// Bytes of memory that were accessed.
    pub touched_bytes: Option<u64>,
    /// Races that were found.
    pub races: Option<usize>,
    /// Accesses whose origin was lost.
    pub lost_origins: Option<u64>,
}

/// The schema of reports (JSON Schema 2020-12).
#[must_use]
pub fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    // Lower layers name instructions and threads; what stands for them in a report is put in when it is made.
    let place = generator.subschema_for::<Option<SourcePlace<'_>>>();
    let thread = generator.subschema_for::<Thread<'_>>();
    let mut schema = generator.into_root_schema_for::<Report<'_>>().to_value();
    schema["title"] = "Reports of warpstep".into();
    schema["$defs"]["Pc"] = place.to_value();
    schema["$defs"]["Place"] = thread.to_value();
    strict(&mut schema);
    schema
}

/// Allows no property that is not named. Properties that stand beside alternatives go into each of them, which would refuse
/// them otherwise.
fn strict(schema: &mut Value) {
    if let Some(all) = schema.as_object_mut() {
        if let Some(key) = ["anyOf", "oneOf"].into_iter().find(|key| all.contains_key(*key))
            && let Some(Value::Object(properties)) = all.shift_remove("properties")
        {
            let required = all.shift_remove("required").unwrap_or_else(|| json!([]));
            let alternatives = all.get_mut(key).and_then(Value::as_array_mut);
            alternatives.into_iter().flatten().for_each(|one| add(one, &properties, &required));
        }
        let alternatives = ["anyOf", "oneOf", "additionalProperties"].iter().any(|key| all.contains_key(*key));
        if !alternatives && (all.contains_key("properties") || all.get("type").is_some_and(|t| t == "object")) {
            all.insert("additionalProperties".to_owned(), false.into());
        }
        all.values_mut().for_each(strict);
    }
    schema.as_array_mut().into_iter().flatten().for_each(strict);
}

fn add(alternative: &mut Value, properties: &Map<String, Value>, required: &Value) {
    for (name, property) in properties {
        alternative["properties"][name] = property.clone();
    }
    let own = alternative["required"].as_array().into_iter().flatten();
    alternative["required"] = own.chain(required.as_array().into_iter().flatten()).cloned().collect();
}

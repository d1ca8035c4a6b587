//! What a run found as a litmus test, and what models make of it.

use crate::litmus::{Judged, NotExtracted};
use crate::report::parts::Exit;
use serde::Serialize;

/// A race, or what no order of accesses explains, as a litmus test.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Extracted {
    /// The exit code.
    pub exit: Exit,
    /// The text of the test.
    pub extracted: String,
    /// What it is of.
    pub of: Finding,
    /// What each model makes of it.
    pub models: Vec<ModelSays>,
}

/// What a test is of.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Finding {
    /// A data race.
    Race,
    /// A cycle of accesses, as after a read of what had been overwritten: no order of them explains it.
    Weak,
}

/// What a model makes of what a run came to.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelSays {
    /// The model.
    pub model: String,
    /// Whether it allows it; absent where a limit was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<bool>,
    /// Whether an execution that comes to it has a data race; absent where a limit was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub racy: Option<bool>,
}

impl Finding {
    /// The name of its test.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Race => "race",
            Self::Weak => "weak",
        }
    }
}

/// A model's judgement of what a run came to; none: a limit was reached.
#[must_use]
pub fn judgement(model: &str, judged: Judged) -> Option<String> {
    Some(match (judged.allowed?, judged.racy?) {
        (false, _) => format!("{model}: what the run came to is forbidden\n"),
        (true, true) => format!("{model}: racy; what the run came to is allowed\n"),
        (true, false) => format!("{model}: no race; what the run came to is allowed\n"),
    })
}

/// Why there is no test of something.
#[must_use]
pub fn not_extracted(of: Finding, why: &NotExtracted) -> String {
    let of = match of {
        Finding::Race => "a race",
        Finding::Weak => "a run",
    };
    let with = match why {
        NotExtracted::Atomic(op) => format!("an atomic operation `{}` of this type", op.name()),
        NotExtracted::Sizes => "accesses that overlap partly".to_owned(),
        NotExtracted::Scope => "a scope of a cluster".to_owned(),
        NotExtracted::Cluster => "the barrier of a cluster".to_owned(),
        NotExtracted::Fence => "a fence that only acquires or only releases".to_owned(),
        NotExtracted::Mmio => "an access of memory-mapped devices".to_owned(),
        NotExtracted::Value => {
            "an access that did not take effect, is of an asynchronous copy, or of more than 8 bytes".to_owned()
        }
        NotExtracted::Long => "so many accesses that depend on each other".to_owned(),
        NotExtracted::Wrong(text) => format!("a text that is no test:\n{text}"),
    };
    format!("{of} with {with} has no litmus test here")
}

/// Why there is no test of a run that did too much.
#[must_use]
pub fn too_long(deeds: usize) -> String {
    format!(
        "a litmus test of a run of more than {deeds} accesses: `warpstep minimise` may make it shorter, fewer threads do"
    )
}

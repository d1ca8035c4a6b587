//! Accesses whose origin was lost (`--check bounds`).

use super::count::{counted, plural};
use super::diagnostic::{SourcePlace, place};
use crate::base::{Pc, SourceMap};
use crate::program::env::ProgEnv;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// How many places are named.
const NAMED: usize = 3;

/// What is told of such accesses.
#[derive(Default, Serialize, JsonSchema)]
pub struct LostReport(Vec<Lost>);

/// Accesses of an instruction whose origin was lost.
#[derive(Serialize, JsonSchema)]
struct Lost {
    /// How many.
    accesses: u64,
    /// The instruction, as `FILE:LINE`.
    #[serde(skip)]
    line: String,
    /// The instruction.
    #[schemars(with = "Option<SourcePlace<'_>>")]
    place: Value,
}

impl LostReport {
    /// A report about the instructions of a program's run; `sources` are its files.
    #[must_use]
    pub fn new(all: impl Iterator<Item = (Pc, u64)>, env: &ProgEnv, sources: &SourceMap) -> Self {
        let one = |(pc, accesses): (Pc, u64)| {
            let (file, span) = env.place(pc)?;
            Some(Lost { accesses, line: sources.file_line(file, span)?, place: json!(place(file, span, sources)) })
        };
        Self(all.filter_map(one).collect())
    }

    /// A line, if there were any.
    #[must_use]
    pub fn text(&self) -> String {
        let Some(first) = self.0.first() else { return String::new() };
        let mut lines: Vec<&str> = self.0.iter().map(|lost| lost.line.as_str()).collect();
        lines.dedup();
        let count = counted(self.0.iter().map(|lost| lost.accesses).sum(), "access");
        let more = lines.len().saturating_sub(NAMED) as u64;
        let places = if lines.len() > 1 { lines[..lines.len().min(NAMED)].join(", ") } else { first.line.clone() };
        let rest = if more > 0 { format!(" and {more} more {}", plural(more, "line")) } else { String::new() };
        format!(
            "note: bounds: {count} whose origin was lost ({places}{rest}): the object in which the address lay counted as its own\n"
        )
    }
}

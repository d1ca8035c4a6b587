//! What came of a table of expected verdicts.

use super::data::Answer;
use crate::report::parts::Exit;
use crate::report::words::counted;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A table of expected verdicts, and what differs.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExpectedVerdicts {
    /// The exit code.
    pub exit: Exit,
    /// The table.
    pub table: String,
    /// Its rows.
    pub rows: usize,
    /// How many of each kind agree.
    pub groups: Vec<Group>,
    /// The rows that differ, or that were not decided.
    pub different: Vec<ExpectedRow>,
}

/// Rows of a table with the same model, property and expected verdict.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Group {
    /// The model.
    pub model: String,
    /// The property.
    pub property: &'static str,
    /// What is expected.
    pub expected: Answer,
    /// How many rows there are.
    pub rows: usize,
    /// How many agree.
    pub agree: usize,
}

/// A row of a table with its answer.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExpectedRow {
    /// The test, as the table names it.
    pub path: String,
    /// The line of the table.
    pub line: u32,
    /// The model.
    pub model: String,
    /// The property.
    pub property: &'static str,
    /// Of liveness: who is promised progress.
    pub progress: Option<&'static str>,
    /// The bound on loops; null where the file is wrong.
    pub bound: Option<u32>,
    /// What is expected.
    pub expected: Answer,
    /// The answer.
    pub answer: Answer,
    /// The answer in words.
    pub said: String,
}

impl ExpectedRow {
    /// Whether it is as expected.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.expected == self.answer
    }

    fn text(&self) -> String {
        let progress = self.progress.map_or_else(String::new, |progress| format!(" {progress}"));
        let bound = self.bound.map_or_else(String::new, |bound| format!(", bound {bound}"));
        format!(
            "line {}: {} under {}, {}{progress}{bound}: expected {}, answered {}: {}\n",
            self.line,
            self.path,
            self.model,
            self.property,
            self.expected.name(),
            self.answer.name(),
            self.said
        )
    }
}

impl ExpectedVerdicts {
    /// What came of the rows of a table.
    #[must_use]
    pub fn new(exit: Exit, table: String, rows: Vec<ExpectedRow>) -> Self {
        let mut counts: BTreeMap<(String, &'static str, Answer), (usize, usize)> = BTreeMap::new();
        for row in &rows {
            let (all, agree) = counts.entry((row.model.clone(), row.property, row.expected)).or_default();
            *all += 1;
            *agree += usize::from(row.agrees());
        }
        let groups = counts.into_iter().map(|((model, property, expected), (rows, agree))| Group {
            model,
            property,
            expected,
            rows,
            agree,
        });
        let groups = groups.collect();
        let count = rows.len();
        let different = rows.into_iter().filter(|row| !row.agrees()).collect();
        Self { exit, table, rows: count, groups, different }
    }

    /// It for people: the rows that differ, and counts.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out: String = self.different.iter().map(ExpectedRow::text).collect();
        let width = self.groups.iter().map(|g| g.model.chars().count()).max().unwrap_or(0).max(5);
        let _ = writeln!(out, "{:<width$}  property  expected   rows  agree", "model");
        for Group { model, property, expected, rows, agree } in &self.groups {
            let _ = writeln!(out, "{model:<width$}  {property:<8}  {:<8}  {rows:>5}  {agree:>5}", expected.name());
        }
        let rows = counted(self.rows as u64, "row");
        let _ = match self.different.len() {
            0 => writeln!(out, "{rows}: all agree"),
            n => writeln!(out, "{rows}: {n} differ"),
        };
        out
    }
}

//! The forms in which commands tell what came of them.

use super::target::Choice;
use clap::ValueEnum;

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

/// The forms of commands that report no defects.
pub(super) const PLAIN: [Choice<Form>; 2] =
    [(Form::Text, "text", "For people"), (Form::Json, "json", "For programs: one JSON object on standard output")];

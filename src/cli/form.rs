//! The forms in which commands tell what came of them.

use clap::ValueEnum;

/// The form of messages and results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Format {
    /// For people.
    Text,
    /// For programs: one JSON object on standard output.
    Json,
}

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

impl From<Format> for Form {
    fn from(format: Format) -> Self {
        match format {
            Format::Text => Self::Text,
            Format::Json => Self::Json,
        }
    }
}

//! What is told of a suppressed defect.

use super::diagnostic::place;
use super::location::physical;
use crate::base::SourceMap;
use crate::launch::Suppression;
use serde::Serialize;
use serde_json::{Value, json};

/// Why a defect does not make the command fail.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Suppressed {
    /// The entry's reason.
    pub(super) reason: String,
    /// The entry in the suppression file.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::report::diagnostic::SourcePlace<'_>>"))]
    place: Value,
    /// The same in a line.
    #[serde(skip)]
    pub(super) line: Option<String>,
    /// The same as SARIF has it (3.35): accepted, outside the source.
    #[serde(skip)]
    pub(super) sarif: Value,
}

impl Suppressed {
    /// The entry's reason.
    pub(super) fn reason(&self) -> &str {
        &self.reason
    }

    /// By an entry of a suppression file that `sources` has.
    #[must_use]
    pub fn new(entry: &Suppression, sources: &SourceMap) -> Self {
        let place = entry.at.and_then(|(file, span)| place(file, span, sources));
        let line = entry.at.and_then(|(file, span)| sources.file_line(file, span));
        let mut sarif = json!({ "kind": "external", "status": "accepted", "justification": entry.reason });
        if let Some(place) = entry.at.and_then(|(file, span)| physical(file, span, sources)) {
            sarif["location"] = json!({ "physicalLocation": place });
        }
        Self { reason: entry.reason.clone(), place: json!(place), line, sarif }
    }
}

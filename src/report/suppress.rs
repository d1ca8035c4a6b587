//! What is told of a suppressed defect.

use super::diagnostic::{SourcePlace, place};
use super::location::physical;
use super::stop::{StopReport, who};
use super::terminal::{Text, inline};
use crate::base::SourceMap;
use crate::launch::Suppression;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// Why a defect does not make the command fail.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Suppressed {
    /// The entry's reason.
    reason: String,
    /// The entry in the suppression file.
    #[schemars(with = "Option<SourcePlace<'_>>")]
    place: Value,
    /// The same in a line.
    #[serde(skip)]
    line: Option<String>,
    /// The same as SARIF has it (3.35): accepted, outside the source.
    #[serde(skip)]
    pub(super) sarif: Value,
}

impl Suppressed {
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

impl StopReport<'_> {
    /// A suppressed defect in a few lines.
    pub(super) fn in_short(&self, known: &Suppressed) -> String {
        let diagnostic = self.diagnostic();
        let at = self.sources.file_line(diagnostic.file, diagnostic.span);
        let by = self.stop.places().first().map(|p| format!("\n  by {}", who(p)));
        format!(
            "1 suppressed: {}{}\n  [{}] {}{}{}\n",
            inline(&known.reason),
            known.line.as_ref().map_or_else(String::new, |line| format!(" ({})", inline(line))),
            diagnostic.code,
            inline(&diagnostic.message),
            at.map_or_else(String::new, |at| format!("\n  at {}", inline(&at))),
            by.unwrap_or_default(),
        )
    }

    /// Why a run ended: in a few lines where that is suppressed.
    #[must_use]
    pub fn text(&self, colour: bool) -> Text {
        match self.suppressed {
            Some(known) => {
                (self.in_short(known) + "  the run ended there: what comes after it was not checked\n").into()
            }
            None => self.render(colour),
        }
    }
}

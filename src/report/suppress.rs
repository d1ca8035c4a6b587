//! What is told of a suppressed defect.

use super::diagnostic::{SourcePlace, place};
use super::stop::{StopReport, who};
use super::terminal::inline;
use crate::base::SourceMap;
use crate::launch::Suppression;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// Why a run stopped, where that is suppressed; `sources` has the suppression file.
#[must_use]
pub fn suppressed_stop(report: &StopReport<'_>, entry: &Suppression, sources: &SourceMap) -> String {
    suppressed(report, entry, sources) + "  the run ended there: what comes after it was not checked\n"
}

/// A suppressed defect in a few lines; `sources` has the suppression file.
pub(super) fn suppressed(report: &StopReport<'_>, entry: &Suppression, sources: &SourceMap) -> String {
    let diagnostic = report.diagnostic();
    let at =
        |source: &crate::base::Source, offset: u32| format!("{}:{}", inline(&source.name), source.line_col(offset).0);
    let place = report.sources.get(diagnostic.file).map(|s| format!("\n  at {}", at(s, diagnostic.span.start)));
    let by = report.stop.places().first().map(|p| format!("\n  by {}", who(p)));
    let entry_at = entry.at.and_then(|(file, span)| Some(format!(" ({})", at(sources.get(file)?, span.start))));
    format!(
        "1 suppressed: {}{}\n  [{}] {}{}{}\n",
        inline(&entry.reason),
        entry_at.unwrap_or_default(),
        diagnostic.code,
        inline(&diagnostic.message),
        place.unwrap_or_default(),
        by.unwrap_or_default(),
    )
}

/// Why a defect does not make the command fail.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Suppressed {
    /// The entry's reason.
    reason: String,
    /// The entry in the suppression file.
    #[schemars(with = "Option<SourcePlace<'_>>")]
    place: Value,
}

impl Suppressed {
    /// By an entry of a suppression file that `sources` has.
    #[must_use]
    pub fn new(entry: &Suppression, sources: &SourceMap) -> Self {
        let place = entry.at.and_then(|(file, span)| place(file, span, sources));
        Self { reason: entry.reason.clone(), place: json!(place) }
    }
}

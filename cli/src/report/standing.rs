//! Where the warps were when a run was ended, and which command finds out more.

use super::stop::StopReport;
use super::words::counted;
use crate::base::SourceMap;
use crate::program::env::ProgEnv;
use crate::verdict::{LimitKind, Standing, Stop, WaitingFor};
use serde_json::Value;
use std::fmt::Write;

/// Groups of lanes that a text lists.
const LISTED: usize = 12;

impl StopReport<'_> {
    /// Where the warps were in the last state of a search that a limit ended, with a heading of its own.
    #[must_use]
    pub fn search_stood(standing: &[Standing], limit: LimitKind, env: &ProgEnv, sources: &SourceMap) -> String {
        let stop = Stop::Limit(limit);
        let mut report = StopReport::new(&stop, env, sources);
        report.ended.standing = standing.to_vec();
        report.standing().map_or_else(String::new, |text| format!("in the last state of the search, {text}\n"))
    }

    /// The same as JSON.
    #[must_use]
    pub fn search_stood_json(standing: &[Standing], env: &ProgEnv, sources: &SourceMap) -> Value {
        StopReport::new(&Stop::Limit(LimitKind::Interrupted), env, sources).resolved(&standing)
    }

    /// Where the warps were, a line for each place.
    pub(super) fn standing(&self) -> Option<String> {
        let all = &self.ended.standing;
        let lanes: u64 = all.iter().map(|s| s.lanes).sum();
        if all.is_empty() {
            return None;
        }
        let mut text = format!("where the warps were ({}):", counted(lanes, "thread"));
        for s in all.iter().take(LISTED) {
            let (file, span) = self.span(s.place.pc);
            let code = || self.sources.words(file, span);
            let at = self.sources.file_line(file, span).map_or_else(String::new, |line| format!("{line}  {}", code()));
            let [x, y, z] = s.place.block;
            let first = match (s.blocks, s.warps) {
                (1, 1) => {
                    format!("{} of warp {} in block ({x}, {y}, {z})", super::words::lanes(s.place.lanes), s.place.warp)
                }
                (1, warps) => format!("{}, {warps} warps of block ({x}, {y}, {z})", counted(s.lanes, "thread")),
                (blocks, warps) => format!("{}, {warps} warps of {blocks} blocks", counted(s.lanes, "thread")),
            };
            let on = match s.on {
                Some(WaitingFor::Barrier(id)) => format!(", waiting at {}", super::words::barrier(id)),
                Some(WaitingFor::Members(mask)) => format!(", waiting for {}", super::words::lanes(mask)),
                None => String::new(),
            };
            let _ = write!(text, "\n  {at}\n    {first}{on}");
        }
        if all.len() > LISTED {
            let _ = write!(text, "\n  and at {} more places", all.len() - LISTED);
        }
        Some(text)
    }
}

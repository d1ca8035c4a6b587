//! What hunts and proofs of host scripts came to.

use super::hunt::{Ended, Models};
use super::limit::limit;
use super::parts::{Exit, Extra};
use super::suppress::Suppressed;
use super::words::counted;
use crate::base::SourceMap;
use crate::explore::Ending;
use crate::program::env::ProgEnv;
use crate::verdict::LimitKind;
use serde::Serialize;

/// How runs of a script end.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundEnd {
    /// How they end.
    #[serde(flatten)]
    pub ended: Ended,
    /// The hash of memory, where the script came to its end.
    memory_hash: Option<String>,
    /// The order that leads there: messages that are handled, and turns of warps.
    pub order: Vec<String>,
    /// The smallest seed that came there; null: the default schedule, or a search.
    seed: Option<u64>,
    /// How many seeds came there.
    times: u64,
}

impl FoundEnd {
    /// How runs of `env` end, whose files are `sources`, with the hash of memory where they come to their ends. A search
    /// found it; `order` leads there.
    #[must_use]
    pub fn new(
        (ending, memory): (Ending, Option<u64>),
        order: Vec<String>,
        accepted: Option<Suppressed>,
        program: (&ProgEnv, &SourceMap),
    ) -> Self {
        let (ended, memory_hash) = (Ended::new(ending, accepted, program), memory.map(|hash| format!("{hash:016x}")));
        Self { ended, memory_hash, order, seed: None, times: 0 }
    }

    /// The same that so many seeds came to, this one first; none: the default schedule.
    #[must_use]
    pub fn by(self, seed: Option<u64>, times: u64) -> Self {
        Self { seed, times, ..self }
    }
}

/// All orders of a host script, or those of many seeds.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Orders<'a> {
    /// The exit code.
    pub exit: Exit,
    /// The answer: all orders were gone through and none is a defect, one is, or not all were gone through.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["holds", "refuted", "limit"])))]
    verdict: &'static str,
    /// The models that it is about.
    models: &'a Models,
    /// Why it ended early, if it did.
    limit: Option<String>,
    /// Different states of a search; null: runs by seeds.
    states: Option<u64>,
    /// Runs by seeds.
    runs: Option<u64>,
    /// The different ends: of a hunt, those that are defects.
    pub ends: &'a [FoundEnd],
    /// The order that leads to where no way leads to an end, if there is such a place.
    never_ends: Option<&'a [String]>,
    /// What flags add.
    #[serde(flatten)]
    pub extra: Extra,
    /// What was gone through.
    #[serde(skip)]
    through: Through,
}

/// What a search or a hunt went through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Through {
    /// Different states, and steps between them.
    States(u64, u64),
    /// Seeds.
    Seeds(u64),
}

impl<'a> Orders<'a> {
    /// What was found in all: the different ends, the order that leads to where no way leads to an end, the limit that was
    /// reached.
    #[must_use]
    pub fn new(
        models: &'a Models,
        through: Through,
        ends: &'a [FoundEnd],
        endless: Option<&'a [String]>,
        cut: Option<LimitKind>,
    ) -> Self {
        let known = |end: &Ended| !end.ending.is_defect() || end.accepted.is_some();
        let refuted = endless.is_some() || !ends.iter().all(|end| known(&end.ended));
        let (exit, verdict) = match (refuted, cut, through) {
            (true, ..) => (1, "refuted"),
            (false, Some(_), _) => (3, "limit"),
            (false, None, Through::States(..)) => (0, "holds"),
            (false, None, Through::Seeds(_)) => (0, "limit"),
        };
        let (states, runs) = match through {
            Through::States(states, _) => (Some(states), None),
            Through::Seeds(seeds) => (None, Some(seeds)),
        };
        let (exit, limit, extra) = (Exit(exit), cut.map(limit), Extra::default());
        Self { exit, verdict, models, limit, states, runs, ends, never_ends: endless, extra, through }
    }

    /// The last lines: the verdict and what it rests on.
    #[must_use]
    pub fn summary(&self) -> String {
        let Self { models, ends, limit, verdict, .. } = self;
        match self.through {
            Through::States(states, steps) => {
                let verdict = limit.as_deref().filter(|_| *verdict == "limit").unwrap_or(verdict);
                let (states, steps) = (counted(states, "state"), counted(steps, "step"));
                format!("{verdict} ({models})\n{states}, {steps}, {}\n", counted(ends.len() as u64, "different end"))
            }
            Through::Seeds(seeds) => {
                let defects = ends.iter().filter(|end| end.ended.ending.is_defect()).count() as u64;
                let cut = limit.as_ref().map_or_else(String::new, |cut| format!("; {cut}"));
                format!("{}, {} ({models}){cut}\n", counted(seeds, "seed"), counted(defects, "distinct defect"))
            }
        }
    }
}

/// Lines of an order that are shown; a program gets them all.
const SHOWN: usize = 40;

/// The order that leads to something.
#[must_use]
pub fn order(lines: &[String]) -> String {
    let left = lines.len().saturating_sub(SHOWN);
    let head = if left > 0 { format!("  {} before these\n", counted(left as u64, "step")) } else { String::new() };
    let lines = lines.iter().skip(left).map(|line| format!("  {line}\n"));
    format!("the order that leads there:\n{head}{}", lines.collect::<String>())
}

/// That no way leads to an end any more.
#[must_use]
pub fn endless(lines: &[String]) -> String {
    format!("error[endless]: the script may come to where nothing that happens leads to its end\n{}", order(lines))
}

/// Who found an end, and how to see it again.
#[must_use]
pub fn found(end: &FoundEnd, target: &str) -> String {
    let more = if end.times > 1 { format!(", and by {} more", end.times - 1) } else { String::new() };
    match end.seed {
        Some(seed) => format!("found by seed {seed}{more}\n  see it again: warpstep run {target} --seed {seed}\n"),
        None => format!("found by the default schedule\n  see it again: warpstep run {target}\n"),
    }
}

/// How far a search is.
#[must_use]
pub fn progress(states: u64) -> String {
    counted(states, "state")
}

/// How far a hunt is.
#[must_use]
pub fn runs(seeds: u64) -> String {
    counted(seeds, "seed")
}

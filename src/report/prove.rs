//! What a proof came to, as text and as JSON.

use super::hunt::{Models, ending_json};
use crate::base::SourceMap;
use crate::explore::space::Fairness;
use crate::explore::{Class, Endless, Progress, Proof, Proved, Recorded, Shown};
use crate::program::env::ProgEnv;
use crate::verdict::LimitKind;
use serde_json::{Value, json};
use std::path::Path;

/// What a verdict is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scope<'a> {
    /// Control model and memory.
    pub models: &'a Models,
    /// Whom the scheduler promises progress, and how.
    pub progress: Progress,
    /// See `progress`.
    pub fairness: Fairness,
}

impl Scope<'_> {
    fn text(&self) -> String {
        let strong = if self.fairness == Fairness::Strong { " (strong)" } else { "" };
        format!("{}, progress {}{strong}", self.models, self.progress.name())
    }
}

/// What a run without end is called.
#[must_use]
pub const fn class(class: Option<Class>) -> (&'static str, &'static str) {
    match class {
        Some(Class::SimtDeadlock) => (
            "simt-deadlock",
            "SIMT deadlock: lanes of a warp spin for what lanes would do that wait for them to leave the loop",
        ),
        Some(Class::Starvation) => (
            "starvation",
            "starvation between blocks: the loop waits for a block that is issued only when others have ended",
        ),
        Some(Class::Mixed) => ("mixed", "mixed: some warps spin while others wait at a barrier"),
        Some(Class::Livelock) => ("livelock", "livelock: a fair scheduler can stay in this loop for ever"),
        None => ("endless", "a run that never ends; what kind, the search is too small to tell"),
    }
}

/// The exit code of a verdict.
#[must_use]
pub const fn code(proved: Proved) -> u8 {
    match proved {
        Proved::Holds => 0,
        Proved::Refuted => 1,
        Proved::Limit(_) => 3,
    }
}

/// The head of a run that never ends.
#[must_use]
pub fn endless(endless: &Endless) -> String {
    let silent = if endless.cycle.silent { "; an eviction or write-back would end it" } else { "" };
    let states = endless.cycle.states.len();
    format!("{}\n  {states} states that a fair scheduler never has to leave{silent}\n", class(endless.class).1)
}

/// The last lines: the verdict and what it rests on.
#[must_use]
pub fn summary(proof: &Proof, scope: &Scope<'_>) -> String {
    let counts = proof.counts;
    let word = match proof.proved {
        Proved::Holds => "holds".to_owned(),
        Proved::Refuted => "refuted".to_owned(),
        Proved::Limit(limit) => super::stop::limit(limit),
    };
    let ends: u64 = proof.outcomes.iter().map(|o| o.count).sum();
    format!(
        "{word} ({})\n{} states, {} transitions, {ends} final states with {} contents of memory, longest way {}\n",
        scope.text(),
        counts.states,
        counts.transitions,
        proof.outcomes.len(),
        counts.deepest,
    )
}

/// That what was done is kept, and how to go on where a limit was reached.
#[must_use]
pub fn kept(file: &Path, limit: LimitKind) -> String {
    let (file, why) = (file.display(), super::stop::limit(limit));
    let more = match limit {
        LimitKind::Switches(_) => "more switches are another search".to_owned(),
        LimitKind::Memory { .. } => "the same command with more --search-memory goes on from there".to_owned(),
        _ => "the same command goes on from there".to_owned(),
    };
    format!("{why}; what was done is kept in {file}: {more}\n")
}

/// The same as JSON.
#[must_use]
pub fn json(proof: &Proof, scope: &Scope<'_>, env: &ProgEnv, sources: &SourceMap) -> Value {
    let shown =
        |s: &Shown| json!({ "states": s.count, "ending": ending_json(&s.recorded.played.ending, env, sources) });
    let verdict = match proof.proved {
        Proved::Holds => "holds",
        Proved::Refuted => "refuted",
        Proved::Limit(_) => "limit",
    };
    let counts = proof.counts;
    let endless = proof.endless.iter().map(|e| {
        let mut value = shown(&e.shown);
        value["class"] = class(e.class).0.into();
        value["silent"] = e.cycle.silent.into();
        value
    });
    json!({
        "exit": code(proof.proved),
        "verdict": verdict,
        "models": scope.models.json(),
        "progress": scope.progress.name(),
        "strong": scope.fairness == Fairness::Strong,
        "limit": proof.limit.map(super::stop::limit),
        "states": counts.states,
        "transitions": counts.transitions,
        "outcomes": proof.outcomes.iter().map(shown).collect::<Vec<_>>(),
        "defects": proof.defects.iter().map(shown).collect::<Vec<_>>(),
        "endless": endless.collect::<Vec<_>>(),
    })
}

/// What can be done with a schedule that was written.
#[must_use]
pub fn written(recorded: &Recorded, file: &Path) -> String {
    let file = file.display();
    format!(
        "{} decisions, {} context switches; schedule written to {file}\n  warpstep replay {file}\n  warpstep minimise {file}\n",
        recorded.schedule.decisions(),
        recorded.switches,
    )
}

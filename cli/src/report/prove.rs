//! What a proof came to, as text and as JSON.

use super::hunt::{Ended, Models, length, shown};
use super::parts::{Exit, Extra};
use super::stop::StopReport;
use super::suppress::Suppressed;
use super::terminal::{Text, inline};
use super::words::{counted, word};
use crate::base::SourceMap;
use crate::explore::space::{Fairness, Progress as Counts};
use crate::explore::{Endless, Ends, Progress, Proof, Proved as Verdict, Recorded, Shown, Smaller, Symmetry, Unshown};
use crate::machine::ControlModel;
use crate::machine::walk::{Exchanged, Growth, Unlike};
use crate::program::env::ProgEnv;
use crate::verdict::{Kind, LimitKind};
use serde::Serialize;
use serde_json::{Map, Value};
use std::fmt::Write;
use std::path::{Path, PathBuf};

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
    pub(super) fn text(&self) -> String {
        format!("{}, progress {}{}", self.models, self.progress.name(), how(self.fairness))
    }
}

/// How a promise of progress is kept, where it is not weakly.
pub(super) fn how(fairness: Fairness) -> String {
    if fairness == Fairness::Weak { String::new() } else { format!(" ({})", fairness.name()) }
}

/// The exit code of a verdict.
#[must_use]
pub const fn code(proved: Verdict) -> u8 {
    match proved {
        Verdict::Holds => 0,
        Verdict::Refuted => 1,
        Verdict::Limit(_) => 3,
    }
}

/// A run that never ends: why, and what the run that shows it comes to.
#[must_use]
pub fn endless(endless: &Endless, env: &ProgEnv, sources: &SourceMap, colour: bool) -> Text {
    let mut told = StopReport::new(&endless.stop, env, sources).render(colour);
    let mut text = String::new();
    let states = counted(endless.cycle.states.len() as u64, "state");
    let _ = write!(text, "{states} that a fair scheduler need never leave");
    if endless.cycle.silent {
        text.push_str("; an eviction or write-back, which nobody promises, would leave them");
    }
    if endless.times > 1 {
        let _ = write!(text, "; {} more of the kind", counted(endless.times - 1, "cycle"));
    }
    text.push('\n');
    if !endless.stays() {
        text.push_str("the schedule leads to the loop; behind its end the default schedule leaves it\n");
    }
    told.push(text);
    told
}

/// Whether the runs of a program end: `ends`, `endless`, the name of the defect that stops some, or `limit`.
const fn ends(ends: Ends) -> &'static str {
    match ends {
        Ends::Always => "ends",
        Ends::NotAlways => "endless",
        Ends::Stops(kind) => kind.id(),
        Ends::Unknown => "limit",
    }
}

/// Under which control models the program ends.
#[must_use]
pub fn controls(controls: &[(ControlModel, Ends)]) -> String {
    let say = |(model, ends): &(ControlModel, Ends)| {
        let what = match ends {
            Ends::Always => "it ends".to_owned(),
            Ends::NotAlways => "it may run for ever".to_owned(),
            Ends::Stops(kind) => format!("it stops with a defect ({})", kind.id()),
            Ends::Unknown => "a short search did not tell whether it ends".to_owned(),
        };
        format!("under {} {what}", word(model))
    };
    let all: Vec<String> = controls.iter().map(say).collect();
    if all.is_empty() { String::new() } else { format!("{}\n", all.join("; ")) }
}

/// The last lines: the verdict and what it rests on.
#[must_use]
pub fn summary(proof: &Proof, scope: &Scope<'_>) -> String {
    let counts = proof.counts;
    let word = match proof.proved {
        Verdict::Holds => "holds".to_owned(),
        Verdict::Refuted => "refuted".to_owned(),
        Verdict::Limit(limit) => super::limit::limit(limit),
    };
    let ends: u64 = proof.outcomes.iter().map(|o| o.count).sum();
    format!(
        "{word} ({})\n{}, {}, {} with {} of memory, longest way {}\n",
        scope.text(),
        counted(counts.states, "state"),
        counted(counts.transitions, "transition"),
        counted(ends, "final state"),
        counted(proof.outcomes.len() as u64, "content"),
        counts.deepest,
    )
}

/// That counts are not those of one thread where a limit ended a search of several, or that they do not `share` it (D-threads).
#[must_use]
pub fn threads(proof: &Proof, threads: u32, share: bool) -> String {
    if threads > 1 && !share {
        return "one thread searched: several do not share a search on this memory\n".to_owned();
    }
    if threads < 2 || proof.limit.is_none() {
        return String::new();
    }
    format!(
        "counts and what is shown depend on the {threads} threads: which states come first differs from run to run\n"
    )
}

/// Which agents a search did not tell apart, or why it told all apart; nothing where nobody asked or there is one thread only.
#[must_use]
pub fn symmetry(symmetry: &Symmetry) -> String {
    let why = match symmetry {
        Symmetry::Off | Symmetry::Nobody(Unlike::Alone) => return String::new(),
        Symmetry::Exchanged(exchanged) => return exchanges(exchanged),
        Symmetry::Nobody(Unlike::Indices) => "each thread does something else with its index",
        Symmetry::Nobody(Unlike::Memory) => "memory that acts later names who waits for it",
        Symmetry::Nobody(Unlike::Calls) => "it reads clocks, prints or makes memory",
        Symmetry::Nobody(Unlike::Size) => "the launch is too large for the analysis",
        Symmetry::Races => "races depend on who came before whom",
        Symmetry::Preemptions => "switches depend on who stepped last",
    };
    format!("all threads are told apart: {why}\n")
}

/// Those who are exchanged, by kind.
fn exchanges(of: &Exchanged) -> String {
    let kinds = |counts: &[u32], what: &str| {
        let each: Vec<String> = counts.iter().map(|n| counted(u64::from(*n), what)).collect();
        (!each.is_empty()).then(|| each.join(" and "))
    };
    let within = |what: Option<String>| what.map(|what| format!("{what} of each block"));
    let blocks = kinds(&of.blocks, "block");
    let warps = within(kinds(&of.warps, "warp"));
    let threads = within(kinds(&of.threads, "thread"));
    let all: Vec<String> = [blocks, warps, threads].into_iter().flatten().collect();
    format!("not told apart, since the program cannot: {} (--no-symmetry tells them apart)\n", all.join("; "))
}

/// That races were looked for in all schedules.
pub const RACES_EVERYWHERE: &str =
    "--check races looked at every schedule: states tell what happened before what, and a race ends its run\n";

/// Where checks looked: at every schedule, or at the runs that are shown.
#[must_use]
pub fn looked(proof: &Proof, checks: &[String], races_everywhere: bool) -> String {
    let everywhere = if races_everywhere { RACES_EVERYWHERE } else { "" };
    if checks.is_empty() {
        return everywhere.to_owned();
    }
    let runs = counted(proof.shown().count() as u64, "run");
    format!(
        "{everywhere}--check {} looked at the {runs} that the search shows, one for each end, not at every schedule: `warpstep hunt` with the same \
         flags looks at more\n",
        checks.join(",")
    )
}

/// How a search that a limit ended may come to its end: a warp of `lanes` has as many ways as there are orders of its lanes.
#[must_use]
pub fn fewer(proof: &Proof, lanes: u32) -> String {
    let Verdict::Limit(_) = proof.proved else { return String::new() };
    if lanes <= FEW {
        return String::new();
    }
    format!(
        "{lanes} lanes in a warp have many orders, and most defects of theirs show with few: the same launch with fewer threads \
         in smaller warps may settle it (--block {FEW} --warp-size {FEW}; --warp-size alone where the kernel needs its threads)\n"
    )
}

/// Lanes of a warp with which a search is advised.
const FEW: u32 = 4;

/// That what was done is kept, and how to go on where a limit was reached.
#[must_use]
pub fn kept(file: &Path, limit: LimitKind) -> String {
    let (file, why) = (inline(&file.display().to_string()).into_owned(), super::limit::limit(limit));
    let more = match limit {
        LimitKind::Switches(_) => "more switches are another search".to_owned(),
        LimitKind::Search { .. } => "the same command with more --search-memory goes on from there".to_owned(),
        _ => "the same command goes on from there".to_owned(),
    };
    format!("{why}; what was done is kept in {file}: {more}\n")
}

/// All schedules of a launch.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Proved<'a> {
    /// The exit code.
    pub exit: Exit,
    /// The answer.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["holds", "refuted", "limit"])))]
    verdict: &'a str,
    /// The models that the verdict is about.
    models: &'a Models,
    /// Whom the scheduler promises progress.
    progress: Progress,
    /// How the scheduler keeps its promise.
    fairness: Fairness,
    /// Why the search ended early, if it did.
    limit: Option<String>,
    states: u64,
    transitions: u64,
    /// Which agents were not told apart.
    symmetry: Exchange,
    /// The same program with fewer threads, asked where a limit ended the search before anything was found; null without an answer.
    smaller: Option<Fewer>,
    /// Runs that came to their ends, one for each content of memory; those with other results than expected come first.
    outcomes: Vec<FoundRun>,
    /// Runs that stop with a defect.
    defects: Vec<FoundRun>,
    /// Where the warps were in the last state of a search that a limit ended.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::verdict::Standing>"))]
    standing: Value,
    /// Runs that never end.
    endless: Vec<Never>,
    /// Where runs never end: whether they do under each control model: ends, endless, limit, or the defect that stops some.
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, String>"))]
    controls: Map<String, Value>,
    /// Checks that look at runs, and at how many of those that are shown they looked; null without such checks.
    pub looked_at_runs: Option<Looked<'a>>,
    /// What flags add.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A smaller question that was answered: the same program with fewer threads.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Fewer {
    /// Blocks of each launch at most.
    blocks: u32,
    /// Threads of each block at most.
    threads: u32,
    /// Whether every run ends without a defect; results are not compared.
    holds: bool,
    /// States that were gone through.
    states: u64,
}

impl Fewer {
    const fn of(smaller: Smaller) -> Self {
        let Smaller { blocks, threads, holds, states } = smaller;
        Self { blocks, threads, holds, states }
    }
}

/// Agents that are alike and were not told apart: how many of each kind.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Exchange {
    /// Blocks.
    blocks: Vec<u32>,
    /// Warps of a block.
    warps: Vec<u32>,
    /// Threads of a block.
    threads: Vec<u32>,
    /// Why everybody was told apart, where that was not asked for.
    why: Option<&'static str>,
}

impl Exchange {
    fn of(symmetry: &Symmetry) -> Self {
        let why = match symmetry {
            Symmetry::Exchanged(_) | Symmetry::Off => None,
            Symmetry::Nobody(why) => Some(why.name()),
            Symmetry::Races => Some("races"),
            Symmetry::Preemptions => Some("preemptions"),
        };
        let Exchanged { blocks, warps, threads } = match symmetry {
            Symmetry::Exchanged(of) => of.clone(),
            _ => Exchanged::default(),
        };
        Self { blocks, warps, threads, why }
    }
}

/// Something that a search found, shown by an ordinary run.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct FoundRun {
    /// In how many states it was found.
    states: u64,
    /// Where the run's schedule was written; null for what is no defect, or where it could not be written.
    schedule: Option<String>,
    /// How the run that shows it ended.
    ending: Ended,
}

/// A run that never ends.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Never {
    #[serde(flatten)]
    found: FoundRun,
    /// What it is called; `endless` where that is not known.
    class: Kind,
    /// Cycles of the kind.
    times: u64,
    /// Why it never ends.
    #[cfg_attr(feature = "schema", schemars(with = "crate::report::data::Stopped<'_>"))]
    why: Value,
    /// Whether an eviction or write-back, which no model promises, would leave these states.
    silent: bool,
}

/// Checks that look at runs.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Looked<'a> {
    checks: &'a [String],
    /// Runs that they looked at.
    runs: usize,
}

impl<'a> Looked<'a> {
    /// Checks that looked at the runs that a proof shows, if there are such checks.
    #[must_use]
    pub fn new(proof: &Proof, checks: &'a [String]) -> Option<Self> {
        (!checks.is_empty()).then(|| Self { checks, runs: proof.shown().count() })
    }
}

/// What was told of a defect that a search found: the schedule that was written, and why it may stay.
pub struct Told {
    /// The schedule.
    pub file: Option<PathBuf>,
    /// Why it may stay.
    pub accepted: Option<Suppressed>,
}

impl<'a> Proved<'a> {
    /// What a proof of `env` came to, whose files are `sources`; `told`: of what is a defect among [`Proof::shown`], in order.
    #[must_use]
    pub fn new(
        proof: &'a Proof,
        scope: &Scope<'a>,
        told: &'a [Told],
        controls: &[(ControlModel, Ends)],
        (env, sources): (&ProgEnv, &SourceMap),
    ) -> Self {
        let mut told = told.iter();
        let mut found = |run: &'a Shown, defect: bool, marked: bool| {
            let told = if defect { told.next() } else { None };
            let accepted = told.and_then(|t| t.accepted.as_ref());
            let schedule = told.and_then(|t| t.file.as_deref()).map(shown);
            let marked = accepted.filter(|_| marked).cloned();
            let ending = Ended::new(run.recorded.played.ending.clone(), marked, (env, sources));
            (FoundRun { states: run.count, schedule, ending }, accepted)
        };
        let mut ended = |run: &'a Shown| found(run, run.recorded.played.ending.is_defect(), true).0;
        let defects = proof.defects.iter().map(&mut ended).collect();
        let outcomes = proof.outcomes.iter().map(&mut ended).collect();
        let never = |e: &'a Endless| {
            let (found, accepted) = found(&e.shown, true, false);
            let why = StopReport::new(&e.stop, env, sources).suppressed(accepted).json();
            Never { found, class: Kind::of_class(e.class), times: e.times, why, silent: e.cycle.silent }
        };
        Self {
            exit: Exit(code(proof.proved)),
            verdict: match proof.proved {
                Verdict::Holds => "holds",
                Verdict::Refuted => "refuted",
                Verdict::Limit(_) => "limit",
            },
            models: scope.models,
            progress: scope.progress,
            fairness: scope.fairness,
            limit: proof.limit.map(super::limit::limit),
            states: proof.counts.states,
            transitions: proof.counts.transitions,
            symmetry: Exchange::of(&proof.symmetry),
            smaller: proof.smaller.map(Fewer::of),
            outcomes,
            defects,
            standing: StopReport::search_stood_json(&proof.standing, env, sources),
            endless: proof.endless.iter().map(never).collect(),
            controls: controls.iter().map(|(c, e)| (word(c), ends(*e).into())).collect(),
            looked_at_runs: None,
            extra: Extra::default(),
        }
    }
}

/// How long the schedule of a defect is, and what can be done with it where it was written.
#[must_use]
pub fn written(recorded: &Recorded, file: Option<&Path>) -> String {
    let counts = length(recorded.schedule.decisions(), recorded.switches);
    let Some(file) = file.map(|f| inline(&f.display().to_string()).into_owned()) else { return format!("{counts}\n") };
    format!("{counts}; schedule written to {file}\n  warpstep replay {file}\n  warpstep minimise {file}\n")
}

/// The line of a progress bar: how far a search is.
#[must_use]
pub fn progress(done: &Counts) -> String {
    format!("{} states, {} transitions, {} MiB", done.states, done.transitions, done.bytes >> 20)
}

/// How many a second, e.g. `3,224/s`, and `0.4/s` where they are few.
#[must_use]
pub fn rate(per_second: f64) -> String {
    if per_second < 10.0 {
        return format!("{per_second:.1}/s");
    }
    let digits = format!("{:.0}", per_second.floor());
    let mut text = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + "/s"
}

/// The smaller question that was answered where a limit ended the search; nothing where none was.
#[must_use]
pub fn smaller(proof: &Proof) -> String {
    let Some(Smaller { blocks, threads, holds, states }) = proof.smaller else { return String::new() };
    let of = format!("{} of {}", counted(blocks.into(), "block"), counted(threads.into(), "thread"));
    let (states, what) = (counted(states, "state"), "what so few leave in memory is not compared");
    if holds {
        format!("a smaller question has an answer: {of} end without a defect in every schedule ({states}; {what})\n")
    } else {
        format!(
            "a smaller question has an answer: {of} are refuted ({states}); ask with --grid and --block to see how\n"
        )
    }
}

/// Which part of the states grew in a search that a limit ended.
#[must_use]
pub fn grew(growth: &Growth, env: &ProgEnv, sources: &SourceMap) -> String {
    let Growth { memories, warps, most: Some(most) } = growth else { return String::new() };
    let place = env
        .place(most.place.pc)
        .and_then(|(file, span)| Some(format!("{}  {}", sources.file_line(file, span)?, sources.words(file, span))));
    let [x, y, z] = most.place.block;
    format!(
        "what grows: states combine {} of memory with what {} have been; warp {} of block ({x}, {y}, {z}) has been in {}, \
         {} of them at {}\n",
        counted(*memories, "content"),
        counted(*warps, "warp"),
        most.place.warp,
        counted(most.ways, "way"),
        most.here,
        place.unwrap_or_default(),
    )
}

/// What was found and not shown because of a limit: each defect, and how much else. Empty when all was shown.
#[must_use]
pub fn unshown(unshown: &Unshown, env: &ProgEnv, sources: &SourceMap, colour: bool) -> Text {
    let Unshown { outcomes, defects, endless } = unshown;
    let mut text = Text::default();
    defects.iter().for_each(|stop| text.push(StopReport::new(stop, env, sources).render(colour)));
    let counts = [
        (defects.len() as u64, "defect"),
        (*endless, "kind of endless run"),
        (*outcomes, "content of memory at an end"),
    ];
    let told: Vec<String> = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} × {what}")).collect();
    if !told.is_empty() {
        text.push(format!("found, but not shown by a run within the limits: {}\n", told.join(", ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::rate;

    #[test]
    fn a_rate_has_no_digits_that_say_nothing() {
        let told = [3224.7325, 12.9, 999.0, 1_234_567.8, 0.42].map(rate);
        assert_eq!(told, ["3,224/s", "12/s", "999/s", "1,234,567/s", "0.4/s"]);
    }
}

//! What hunts, replays and minimised schedules came to.

use super::diagnostic::Diagnostic;
use super::limit::EndedEarly;
use super::parts::{Exit, Extra};
use super::run;
use super::stop::{StopReport, exit_code};
use super::suppress::Suppressed;
use super::terminal::{Text, inline};
use super::words::{counted, plural, word};
use crate::base::SourceMap;
use crate::choice::{Pct, Strategy};
use crate::explore::shard::Whole;
use crate::explore::{Ended as Why, Ending, Hunted, Limits, Measure, Recorded, Target};
use crate::launch::Unexpected;
use crate::machine::{ControlModel, MemoryModel};
use crate::program::env::ProgEnv;
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::path::Path;

/// The models that a verdict is about.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Models {
    /// The control model.
    pub control: ControlModel,
    /// The memory.
    pub memory: &'static str,
    /// Whether the lanes of an instruction access it together (`Some(false)`) or one by one. `None`: it has operations of
    /// its own. As data `whole`, `split` or null.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["whole", "split", null])))]
    pub lanes: Option<&'static str>,
}

impl Models {
    /// Those that a target is run with.
    #[must_use]
    pub fn of_target(target: &Target) -> Self {
        Self::of(target.control(), &target.start().context().config().memory)
    }

    /// Those of a run.
    #[must_use]
    pub fn of(control: ControlModel, memory: &MemoryModel) -> Self {
        let (memory, lanes) = memory.words();
        Self { control, memory, lanes }
    }

    /// The control model by its name.
    #[must_use]
    pub fn control(&self) -> String {
        word(self.control)
    }

    /// The memory, and how lanes access it, in a few words.
    #[must_use]
    pub fn memory_and_lanes(&self) -> String {
        if self.lanes == Some("split") { format!("{}, lanes split", self.memory) } else { self.memory.to_owned() }
    }

    /// The models as a part of a file's name.
    #[must_use]
    pub fn file_name(&self) -> String {
        let split = if self.lanes == Some("split") { "-lanes-split" } else { "" };
        format!("{}-{}{split}", self.control(), self.memory)
    }
}

impl fmt::Display for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "control {}, memory {}", self.control(), self.memory)?;
        self.lanes.map_or(Ok(()), |lanes| write!(f, ", lanes {lanes}"))
    }
}

/// What a strategy is called.
#[must_use]
pub const fn strategy(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::Random => "random",
        Strategy::Pct { .. } => "pct",
        Strategy::RoundRobin => "round-robin",
    }
}

/// The exit code of a run that ended like this.
#[must_use]
pub fn ending_code(ending: &Ending) -> u8 {
    match ending {
        Ending::Expected => 0,
        Ending::Unexpected(..) | Ending::Differs(..) => 1,
        Ending::Stopped(stop) => exit_code(stop),
    }
}

/// How a run ended, with all that is known of a defect; `accepted`: why it may stay.
#[must_use]
pub fn ending(
    ending: &Ending,
    (accepted, early): (Option<&Suppressed>, &EndedEarly),
    env: &ProgEnv,
    sources: &SourceMap,
    colour: bool,
) -> Text {
    match ending {
        Ending::Expected => Text::default(),
        Ending::Stopped(stop) => {
            StopReport::new(stop, env, sources).suppressed(accepted).ended(early.clone()).text(colour)
        }
        Ending::Unexpected(what) => run::unexpected(what).into(),
        Ending::Differs(what) => {
            let head = "the results depend on the schedule; expected is what the default schedule gives";
            format!("{head}\n{}", run::unexpected(what)).into()
        }
    }
}

/// How a run ended.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ended {
    /// Why it ended early; null when it did not.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::report::data::Stopped<'_>>"))]
    stopped: Value,
    #[serde(flatten)]
    unexpected: Unexpected,
    /// Whether the results differ from those of the default schedule only.
    differs: bool,
    /// The same as it was found.
    #[serde(skip)]
    pub ending: Ending,
    /// Why its defect may stay.
    #[serde(skip)]
    pub accepted: Option<Suppressed>,
}

impl Ended {
    /// The same of a run of a program with its files; `accepted`: why its defect may stay.
    #[must_use]
    pub fn new(ending: Ending, accepted: Option<Suppressed>, (env, sources): (&ProgEnv, &SourceMap)) -> Self {
        let (mut stopped, mut unexpected) = (Value::Null, Unexpected::default());
        match &ending {
            Ending::Stopped(stop) => stopped = StopReport::new(stop, env, sources).suppressed(accepted.as_ref()).json(),
            Ending::Unexpected(what) | Ending::Differs(what) => unexpected = what.clone(),
            Ending::Expected => {}
        }
        Self { stopped, unexpected, differs: matches!(ending, Ending::Differs(_)), ending, accepted }
    }
}

/// A few words on how a run ended, for the head of a schedule.
#[must_use]
pub fn headline(ending: &Ending, env: &ProgEnv, sources: &SourceMap) -> String {
    let names = |what: &Unexpected| {
        let names: Vec<&str> = what.mismatches.iter().map(|m| m.name.as_str()).collect();
        match (names.is_empty(), &what.refused) {
            (false, _) => names.join(", "),
            (true, Some(_)) => "by the caller's code".to_owned(),
            (true, None) => "the output".to_owned(),
        }
    };
    match ending {
        Ending::Expected => "nothing".to_owned(),
        Ending::Unexpected(what) => format!("results other than expected: {}", names(what)),
        Ending::Differs(what) => format!("results that depend on the schedule: {}", names(what)),
        Ending::Stopped(stop) => {
            let Diagnostic { code, file, span, .. } = StopReport::new(stop, env, sources).diagnostic();
            let at = sources.file_line(file, span).map_or_else(String::new, |at| format!(" at {at}"));
            format!("{code}{at}")
        }
    }
}

/// What is said above the report of a default run that a limit ended.
pub const UNENDED: &str = "the default schedule did not come to its end:\n";

/// A finding of a hunt, or a run that was replayed.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Found {
    /// The seed; null: the default schedule, or a schedule of a file.
    seed: Option<u64>,
    /// How many seeds found it.
    times: u64,
    /// Decisions of the schedule.
    decisions: u64,
    /// How often another warp went on.
    context_switches: u64,
    /// The file that the schedule was written to.
    schedule: Option<String>,
    /// How the run ended.
    #[serde(flatten)]
    pub ended: Ended,
}

impl Found {
    /// What a run showed of a program with its files: the seed and how many seeds there were of the kind, the file that the
    /// schedule was written to, why its defect may stay.
    #[must_use]
    pub fn new(
        (seed, times): (Option<u64>, u64),
        recorded: &Recorded,
        file: Option<&Path>,
        accepted: Option<Suppressed>,
        program: (&ProgEnv, &SourceMap),
    ) -> Self {
        Self {
            seed,
            times,
            decisions: recorded.schedule.decisions(),
            context_switches: recorded.switches,
            schedule: file.map(shown),
            ended: Ended::new(recorded.played.ending.clone(), accepted, program),
        }
    }

    /// What follows the report of it: who found it, and what can be done with it.
    #[must_use]
    pub fn text(&self) -> String {
        let finder = self.seed.map_or_else(|| "the default schedule".to_owned(), |seed| format!("seed {seed}"));
        let more = if self.times > 1 { format!(", and by {} more", self.times - 1) } else { String::new() };
        let mut out = format!("found by {finder}{more}: {}\n", length(self.decisions, self.context_switches));
        if let Some(file) = self.schedule.as_deref().map(inline) {
            out.push_str(&format!(
                "schedule written to {file}\n  see it again: warpstep replay {file}\n  make it short: warpstep minimise {file}\n"
            ));
        }
        out
    }
}

/// What a hunt was about: for its last line.
pub struct Scope<'a> {
    /// The models.
    pub models: &'a Models,
    /// The strategy.
    pub strategy: Strategy,
    /// Limits of each run.
    pub limits: Limits,
    /// Warps and steps, for PCT's bound.
    pub measure: Option<Measure>,
}

/// The exit code of a hunt; `fair`: the default schedule showed a defect.
#[must_use]
pub fn hunt_code(hunted: &Hunted, fair: bool) -> u8 {
    match &hunted.ended {
        Why::Internal(stop) => exit_code(stop),
        _ if fair || !hunted.findings.is_empty() => 1,
        Why::Unsupported(stop) => exit_code(stop),
        Why::Interrupted | Why::Memory(_) => 3,
        Why::Done | Why::Time if hunted.limited > 0 => 3,
        // Nothing was run, so nothing is known.
        Why::Time if hunted.done.is_empty() => 3,
        Why::Done | Why::Time => 0,
    }
}

/// The last lines of a hunt.
#[must_use]
pub fn summary(hunted: &Hunted, fair: bool, scope: &Scope<'_>) -> String {
    let Hunted { ended, done, limited, findings } = hunted;
    let (seeds, defects) = (done.end - done.start, findings.len() + usize::from(fair));
    let why = match ended {
        Why::Done => "",
        Why::Time => "; the time was up",
        Why::Interrupted => "; interrupted",
        Why::Memory(_) => "; there is no more memory",
        Why::Internal(_) => "; warpstep has made an error: nothing is to be trusted",
        Why::Unsupported(_) => "; the program needs what warpstep cannot do",
    };
    let mut out = format!(
        "hunted: the default schedule and {} ({}; {}): {} distinct {}{why}\n",
        counted(seeds, "seed"),
        strategy(scope.strategy),
        scope.models,
        if defects == 0 { "no".to_owned() } else { defects.to_string() },
        plural(defects as u64, "defect"),
    );
    if let Why::Memory(limit) = ended {
        out.push_str(&format!("{}; fewer --jobs need less\n", super::limit::limit(*limit)));
    }
    if *limited > 0 {
        let (runs, steps) = (counted(*limited, "run"), counted(scope.limits.steps, "warp instruction"));
        out.push_str(&format!("{runs} reached the limit of {steps}: nothing is known of them\n"));
    }
    if let Some(bound) = Bound::of(scope) {
        out.push_str(&bound.text(seeds));
    }
    out
}

/// A hunt.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hunt<'a> {
    exit: Exit,
    /// How schedules were made.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["random", "pct", "round-robin"])))]
    strategy: &'a str,
    models: &'a Models,
    /// Why it ended.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["done", "time", "interrupted", "memory", "unsupported", "internal"])))]
    ended: &'a str,
    first_seed: u64,
    /// How many seeds were run.
    seeds: u64,
    /// How many of them reached a limit: nothing is known of those.
    limited: u64,
    /// Warp instructions of a run at most.
    max_steps: u64,
    bound: Option<Bound>,
    findings: &'a [Found],
    /// What it is a part of, with `--shard`: `--merge` puts parts together.
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<Whole>,
    #[serde(flatten)]
    extra: Extra,
}

/// Which part of a hunt that was, in a line.
#[must_use]
pub fn shard(whole: &Whole, seeds: &std::ops::Range<u64>) -> String {
    let Whole { number, of, .. } = whole;
    let seeds = match seeds.end.checked_sub(seeds.start) {
        None | Some(0) => "without seeds".to_owned(),
        _ => format!("seeds {} to {}", seeds.start, seeds.end - 1),
    };
    format!("part {number} of {of}, {seeds}: with --format json its report goes into `warpstep hunt … --merge`\n")
}

/// What PCT promises.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Bound {
    depth: u32,
    warps: u64,
    steps: u64,
    /// With which one seed finds a defect between warps that `depth` ordering constraints suffice for, at least.
    probability: f64,
}

impl Bound {
    fn of(scope: &Scope<'_>) -> Option<Self> {
        let (Strategy::Pct { depth, .. }, Some(Measure { warps, steps })) = (scope.strategy, scope.measure) else {
            return None;
        };
        Some(Self { depth, warps, steps, probability: Pct::bound(depth, warps, steps) })
    }

    /// The same of so many seeds, in words.
    fn text(&self, seeds: u64) -> String {
        let Self { depth, warps, steps, probability: one } = *self;
        let all = 1.0 - libm::exp(seeds as f64 * libm::log1p(-one.min(1.0 - f64::EPSILON)));
        format!(
            "a defect between warps that {depth} ordering constraints suffice for is found by one seed with a probability of at \
             least 1/(n·k^{}) = {one:.2e}, by {seeds} of {all:.2e} (n = {warps} warps, k = {steps} steps)\n",
            depth.saturating_sub(1)
        )
    }
}

impl<'a> Hunt<'a> {
    /// The same of a part of a hunt, if it is one.
    #[must_use]
    pub fn of_whole(self, shard: Option<Whole>) -> Self {
        Self { shard, ..self }
    }

    /// What a hunt that ends with an exit code came to.
    #[must_use]
    pub fn new(exit: Exit, hunted: &'a Hunted, scope: &Scope<'a>, findings: &'a [Found], extra: Extra) -> Self {
        let ended = match hunted.ended {
            Why::Done => "done",
            Why::Time => "time",
            Why::Interrupted => "interrupted",
            Why::Memory(_) => "memory",
            Why::Unsupported(_) => "unsupported",
            Why::Internal(_) => "internal",
        };
        Self {
            exit,
            strategy: strategy(scope.strategy),
            models: scope.models,
            ended,
            first_seed: hunted.done.start,
            seeds: hunted.done.end - hunted.done.start,
            limited: hunted.limited,
            max_steps: scope.limits.steps,
            bound: Bound::of(scope),
            findings,
            shard: None,
            extra,
        }
    }
}

/// The exit code of a hunt all of whose findings are suppressed.
#[must_use]
pub const fn quiet_code(hunted: &Hunted) -> u8 {
    let all = hunted.limited == 0 && matches!(hunted.ended, Why::Done | Why::Time);
    if all { 0 } else { 3 }
}

/// The line of a progress bar: what was found so far.
#[must_use]
pub fn progress(defects: u64) -> String {
    match defects {
        0 => "no defect".to_owned(),
        1 => "1 with a defect".to_owned(),
        n => format!("{n} with a defect"),
    }
}

/// The line of a progress bar: how many decisions are left.
#[must_use]
pub fn left(decisions: usize) -> String {
    format!("{} left", counted(decisions as u64, "decision"))
}

/// A run that was seen again.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Replay<'a> {
    /// What it shows.
    #[serde(flatten)]
    pub found: Found,
    /// The exit code.
    pub exit: Exit,
    /// The hash of its trace.
    pub trace_hash: String,
    /// Who ran from where to where.
    pub turns: Vec<&'a str>,
    /// Where the schedule did not fit (`--continue`).
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::report::data::Stopped<'_>>"))]
    pub diverged: Option<Value>,
    /// What flags add.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The last line of a replay.
#[must_use]
pub fn replayed(recorded: &Recorded) -> String {
    let Recorded { played, schedule, trace, switches } = recorded;
    format!(
        "replayed: {}, {}, trace {trace:016x}: {}\n",
        length(schedule.decisions(), *switches),
        counted(played.clock, "warp instruction"),
        if played.ending.is_defect() { "a defect" } else { "no defect" }
    )
}

/// What is left of a minimised schedule.
#[must_use]
pub fn minimised(before: &Recorded, after: &Recorded, complete: bool, trials: u64, file: Option<&Path>) -> String {
    let (taken, of) = (after.schedule.taken(), before.schedule.decisions());
    let mut out = format!(
        "minimised: {taken} of {of} decisions differ from the default schedule; {} of {} context switches are left\n",
        after.switches, before.switches
    );
    let runs = counted(trials, "run");
    out.push_str(&if complete {
        format!("nothing more can go: the defect does not show with any one of them left out ({runs})\n")
    } else {
        format!("more might go: it was stopped after {runs}\n")
    });
    if let Some(file) = file {
        out.push_str(&format!("schedule written to {}\n", inline(&file.display().to_string())));
    }
    out
}

/// How long a schedule is.
pub(super) fn length(decisions: u64, switches: u64) -> String {
    format!("{}, {}", counted(decisions, "decision"), counted(switches, "context switch"))
}

/// A path as data.
#[must_use]
pub fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// A schedule made short.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Minimised {
    /// The exit code.
    pub exit: Exit,
    /// Decisions of the schedule, and those that are left.
    pub decisions: Change,
    /// How often another warp goes on.
    pub context_switches: Change,
    /// Whether nothing more can go.
    pub complete: bool,
    /// Runs that this took.
    pub runs: u64,
    /// The file that the schedule was written to.
    pub schedule: Option<String>,
    /// Why the defect may stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<Suppressed>,
    /// What flags add.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A number before and after.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "named as what they are")]
pub struct Change {
    pub before: u64,
    pub after: u64,
}

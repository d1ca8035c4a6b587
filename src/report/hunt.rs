//! What hunts, replays and minimised schedules came to.

use super::count::{counted, plural};
use super::run;
use super::stop::{StopReport, exit_code};
use super::terminal::{Text, inline};
use crate::base::SourceMap;
use crate::choice::{Pct, Strategy};
use crate::explore::{Ended, Ending, Hunted, Limits, Measure, Recorded};
use crate::machine::ControlModel;
use crate::program::env::ProgEnv;
use serde_json::{Value, json};
use std::fmt;
use std::path::Path;

/// The models that a verdict is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Models {
    /// The control model.
    pub control: ControlModel,
    /// The memory.
    pub memory: String,
    /// Whether the lanes of an instruction access it together (`Some(false)`) or one by one. `None`: it has operations of
    /// its own.
    pub split: Option<bool>,
}

impl Models {
    /// The control model by its name.
    #[must_use]
    pub const fn control(&self) -> &'static str {
        control(self.control)
    }

    /// The memory, and how lanes access it, in a few words.
    #[must_use]
    pub fn memory_and_lanes(&self) -> String {
        if self.split == Some(true) { format!("{}, lanes split", self.memory) } else { self.memory.clone() }
    }

    /// The models as a part of a file's name.
    #[must_use]
    pub fn file_name(&self) -> String {
        let split = if self.split == Some(true) { "-lanes-split" } else { "" };
        format!("{}-{}{split}", self.control(), self.memory)
    }

    const fn lanes(&self) -> Option<&'static str> {
        match self.split {
            Some(true) => Some("split"),
            Some(false) => Some("whole"),
            None => None,
        }
    }

    /// `control`, `memory` and `lanes` as a JSON object.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({ "control": self.control(), "memory": self.memory, "lanes": self.lanes() })
    }
}

/// What a control model is called.
pub(super) const fn control(control: ControlModel) -> &'static str {
    match control {
        ControlModel::Crs => "crs",
        ControlModel::Its => "its",
        ControlModel::ItsSplit => "its-split",
        ControlModel::Thread => "thread",
    }
}

impl fmt::Display for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "control {}, memory {}", self.control(), self.memory)?;
        self.lanes().map_or(Ok(()), |lanes| write!(f, ", lanes {lanes}"))
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

/// How a run ended, with all that is known of a defect.
#[must_use]
pub fn ending(ending: &Ending, env: &ProgEnv, sources: &SourceMap, colour: bool) -> Text {
    match ending {
        Ending::Expected => Text::default(),
        Ending::Stopped(stop) => StopReport::new(stop, env, sources).render(colour),
        Ending::Unexpected(mismatches, output) => mismatches
            .iter()
            .map(run::mismatch)
            .chain(output.iter().map(run::output_mismatch))
            .collect::<String>()
            .into(),
        Ending::Differs(mismatches, output) => {
            let all = mismatches.iter().map(run::mismatch).chain(output.iter().map(run::output_mismatch));
            std::iter::once(
                "the results depend on the schedule; expected is what the default schedule gives\n".to_owned(),
            )
            .chain(all)
            .collect::<String>()
            .into()
        }
    }
}

/// How a run ended, as JSON: `stopped` (as in [`StopReport::json`], or null), `mismatches` and `output_mismatch` (as in
/// [`run::json`]), and whether the results differ from those of the default schedule only (`differs`).
#[must_use]
pub fn ending_json(ending: &Ending, env: &ProgEnv, sources: &SourceMap) -> Value {
    let stopped = match ending {
        Ending::Stopped(stop) => StopReport::new(stop, env, sources).json(),
        _ => Value::Null,
    };
    let (mismatches, output) = match ending {
        Ending::Unexpected(m, o) | Ending::Differs(m, o) => (m.clone(), o.clone()),
        _ => (Vec::new(), None),
    };
    let outcome = crate::launch::Outcome { mismatches, output_mismatch: output, ..Default::default() };
    let all = run::json(&outcome);
    json!({
        "stopped": stopped,
        "mismatches": all["mismatches"],
        "output_mismatch": all["output_mismatch"],
        "differs": matches!(ending, Ending::Differs(..)),
    })
}

/// A few words on how a run ended, for the head of a schedule.
#[must_use]
pub fn headline(ending: &Ending, env: &ProgEnv, sources: &SourceMap) -> String {
    let names = |mismatches: &[crate::launch::Mismatch]| {
        let names: Vec<&str> = mismatches.iter().map(|m| m.name.as_str()).collect();
        if names.is_empty() { "the output".to_owned() } else { names.join(", ") }
    };
    match ending {
        Ending::Expected => "nothing".to_owned(),
        Ending::Unexpected(mismatches, _) => format!("results other than expected: {}", names(mismatches)),
        Ending::Differs(mismatches, _) => format!("results that depend on the schedule: {}", names(mismatches)),
        Ending::Stopped(stop) => {
            let report = StopReport::new(stop, env, sources).json();
            let word = |v: &Value| v.as_str().unwrap_or("").to_owned();
            let place = &report["place"];
            match place["line"].as_u64() {
                Some(line) => format!("{} at {}:{line}", word(&report["code"]), word(&place["file"])),
                None => word(&report["code"]),
            }
        }
    }
}

/// What is said above the report of a default run that a limit ended.
pub const UNENDED: &str = "the default schedule did not come to its end:\n";

/// Who found a defect.
fn finder(seed: Option<u64>) -> String {
    seed.map_or_else(|| "the default schedule".to_owned(), |seed| format!("seed {seed}"))
}

/// What follows the report of a finding: who found it, and what can be done with it. `file`: the schedule that was written.
#[must_use]
pub fn found(seed: Option<u64>, times: u64, recorded: &Recorded, file: Option<&Path>) -> String {
    let more = if times > 1 { format!(", and by {} more", times - 1) } else { String::new() };
    let mut out = format!(
        "found by {}{more}: {}, {}\n",
        finder(seed),
        counted(recorded.schedule.decisions(), "decision"),
        counted(recorded.switches, "context switch")
    );
    if let Some(file) = file {
        let file = inline(&file.display().to_string()).into_owned();
        out.push_str(&format!(
            "schedule written to {file}\n  see it again: warpstep replay {file}\n  make it short: warpstep minimise {file}\n"
        ));
    }
    out
}

/// A finding as JSON: `seed` (null: the default schedule), `times`, `decisions`, `context_switches`, `schedule` (the file),
/// and what [`ending_json`] says.
#[must_use]
pub fn found_json(
    seed: Option<u64>,
    times: u64,
    recorded: &Recorded,
    file: Option<&Path>,
    env: &ProgEnv,
    sources: &SourceMap,
) -> Value {
    let mut value = json!({
        "seed": seed,
        "times": times,
        "decisions": recorded.schedule.decisions(),
        "context_switches": recorded.switches,
        "schedule": file.map(|f| f.display().to_string()),
    });
    if let (Some(all), Value::Object(more)) =
        (value.as_object_mut(), ending_json(&recorded.played.ending, env, sources))
    {
        all.extend(more);
    }
    value
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
        Ended::Internal(stop) => exit_code(stop),
        _ if fair || !hunted.findings.is_empty() => 1,
        Ended::Unsupported(stop) => exit_code(stop),
        Ended::Interrupted | Ended::Memory(_) => 3,
        Ended::Done | Ended::Time if hunted.limited > 0 => 3,
        // Nothing was run, so nothing is known.
        Ended::Time if hunted.done.is_empty() => 3,
        Ended::Done | Ended::Time => 0,
    }
}

/// The last lines of a hunt.
#[must_use]
pub fn summary(hunted: &Hunted, fair: bool, scope: &Scope<'_>) -> String {
    let Hunted { ended, done, limited, findings } = hunted;
    let (seeds, defects) = (done.end - done.start, findings.len() + usize::from(fair));
    let why = match ended {
        Ended::Done => "",
        Ended::Time => "; the time was up",
        Ended::Interrupted => "; interrupted",
        Ended::Memory(_) => "; there is no more memory",
        Ended::Internal(_) => "; warpstep has made an error: nothing is to be trusted",
        Ended::Unsupported(_) => "; the program needs what warpstep cannot do",
    };
    let mut out = format!(
        "hunted: the default schedule and {} ({}; {}): {} distinct {}{why}\n",
        counted(seeds, "seed"),
        strategy(scope.strategy),
        scope.models,
        if defects == 0 { "no".to_owned() } else { defects.to_string() },
        plural(defects as u64, "defect"),
    );
    if let Ended::Memory(limit) = ended {
        out.push_str(&format!("{}; fewer --jobs need less\n", super::stop::limit(*limit)));
    }
    if *limited > 0 {
        let (runs, steps) = (counted(*limited, "run"), counted(scope.limits.steps, "warp instruction"));
        out.push_str(&format!("{runs} reached the limit of {steps}: nothing is known of them\n"));
    }
    if let Some(bound) = bound(scope, seeds) {
        out.push_str(&bound);
    }
    out
}

/// What PCT promises.
fn bound(scope: &Scope<'_>, seeds: u64) -> Option<String> {
    let (Strategy::Pct { depth, .. }, Some(Measure { warps, steps })) = (scope.strategy, scope.measure) else {
        return None;
    };
    let one = Pct::bound(depth, warps, steps);
    let all = 1.0 - libm::exp(seeds as f64 * libm::log1p(-one.min(1.0 - f64::EPSILON)));
    Some(format!(
        "a defect between warps that {depth} ordering constraints suffice for is found by one seed with a probability of at \
         least 1/(n·k^{}) = {one:.2e}, by {seeds} of {all:.2e} (n = {warps} warps, k = {steps} steps)\n",
        depth.saturating_sub(1)
    ))
}

/// A hunt as JSON, with its findings (each as in [`found_json`]).
#[must_use]
pub fn json(hunted: &Hunted, fair: bool, scope: &Scope<'_>, findings: &[Value]) -> Value {
    let ended = match hunted.ended {
        Ended::Done => "done",
        Ended::Time => "time",
        Ended::Interrupted => "interrupted",
        Ended::Memory(_) => "memory",
        Ended::Unsupported(_) => "unsupported",
        Ended::Internal(_) => "internal",
    };
    let bound = match (scope.strategy, scope.measure) {
        (Strategy::Pct { depth, .. }, Some(m)) => {
            json!({ "depth": depth, "warps": m.warps, "steps": m.steps, "probability": Pct::bound(depth, m.warps, m.steps) })
        }
        _ => Value::Null,
    };
    json!({
        "exit": hunt_code(hunted, fair),
        "strategy": strategy(scope.strategy),
        "models": scope.models.json(),
        "ended": ended,
        "first_seed": hunted.done.start,
        "seeds": hunted.done.end - hunted.done.start,
        "limited": hunted.limited,
        "max_steps": scope.limits.steps,
        "bound": bound,
        "findings": findings,
    })
}

/// The exit code of a hunt all of whose findings are suppressed.
#[must_use]
pub const fn quiet_code(hunted: &Hunted) -> u8 {
    let all = hunted.limited == 0 && matches!(hunted.ended, Ended::Done | Ended::Time);
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

/// The last line of a replay.
#[must_use]
pub fn replayed(recorded: &Recorded) -> String {
    let Recorded { played, schedule, trace, switches } = recorded;
    format!(
        "replayed: {}, {}, {}, trace {trace:016x}: {}\n",
        counted(schedule.decisions(), "decision"),
        counted(*switches, "context switch"),
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

/// The same as JSON.
#[must_use]
pub fn minimised_json(before: &Recorded, after: &Recorded, complete: bool, trials: u64, file: Option<&Path>) -> Value {
    json!({
        "exit": 1,
        "decisions": { "before": before.schedule.decisions(), "after": after.schedule.taken() },
        "context_switches": { "before": before.switches, "after": after.switches },
        "complete": complete,
        "runs": trials,
        "schedule": file.map(|f| f.display().to_string()),
    })
}

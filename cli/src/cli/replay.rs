//! `warpstep replay`

use super::follow::{FollowFlags, Followers};
use super::form::Form;
use super::hunt::StrategyFlags;
use super::output;
use super::report_flags::{ReportFlags, stopped};
use super::saved::{Saved, as_typed, check, target, words, write};
use super::target::Common;
use crate::choice::{Decisions, Observed, Oracle, Recorder, Replay as Script};
use crate::explore::{Ending, Limits, Recorded, Target};
use crate::launch::ProblemKind;
use crate::report::document::Report;
use crate::report::hunt::{self as text, Found};
use crate::report::parts::Exit;
use crate::report::{EndedEarly, Environment, Launches, StopReport, Turns};
use crate::verdict::{Event, Sink, Stop, Who};
use clap::Args;
use std::path::PathBuf;

/// Turns that are told when not all are asked for.
const LAST: usize = 12;

/// Run a schedule again, and tell what happened.
#[derive(Args)]
#[command(after_help = "\
Examples:
  warpstep replay k.schedule                      the same run, its last turns
  warpstep replay k.schedule --turns              all turns, from where to where
  warpstep replay k.schedule --show memory@7      caches after step 7 of memory
  warpstep replay k.schedule --trace run.json     a timeline for ui.perfetto.dev
  warpstep replay k.schedule --continue           goes on where it does not fit
  warpstep replay --seed 17 DIR --strategy pct    the schedule of a seed

A schedule that does not fit is refused: another program, launch, version, or a text that is not as it was written.")]
pub(super) struct Replay {
    /// A schedule; with --seed, a target as for `warpstep hunt`.
    path: PathBuf,

    /// Run the schedule of a seed; then PATH is a target.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    #[command(flatten)]
    strategy: StrategyFlags,

    #[command(flatten)]
    common: Common,

    /// Where the schedule does not fit or ends, go on by the default schedule.
    #[arg(long = "continue")]
    go_on: bool,

    /// Print all turns on standard output.
    #[arg(long)]
    turns: bool,

    #[command(flatten)]
    follow: FollowFlags,

    /// Write the schedule to a file.
    #[arg(long, value_name = "FILE")]
    save_schedule: Option<PathBuf>,

    #[command(flatten)]
    report: ReportFlags,
}

/// A run that was seen again.
struct Seen {
    recorded: Recorded,
    turns: String,
    /// What `--show memory` has gathered for a report.
    memory: Option<Vec<Environment>>,
    diverged: Option<Stop>,
}

impl Replay {
    /// Runs the command; gives the exit code.
    pub fn execute(&mut self) -> Result<u8, u8> {
        check(self.save_schedule.as_deref(), self.report.format)?;
        self.common.begin(self.common.timeout, None);
        self.seed.map_or_else(|| self.of_file(), |seed| self.of_seed(seed))
    }

    fn of_seed(&self, seed: u64) -> Result<u8, u8> {
        let target = target(&self.common, &self.path, self.report.format)?;
        let limits = self.common.limits(Some(target.play_fair(self.common.limits(None)).clock));
        let (strategy, _) = self.strategy.of(&target, limits);
        let (seen, _) = self.run(&target, strategy.oracle(seed), limits, &self.common)?;
        if let Some(file) = &self.save_schedule {
            write(file, &seen.recorded, &target, words(&self.common, &self.path));
        }
        self.tell(&target, as_typed(&self.common, &self.path), &seen)
    }

    fn of_file(&self) -> Result<u8, u8> {
        if let Some(word) = self.common.words().first() {
            let why = "a schedule names its target itself; flags of targets go with --seed";
            let kind = ProblemKind::UnfitFlag { flag: "replay", text: word.clone(), why };
            return Err(output::refuse(kind, self.report.format));
        }
        let saved = Saved::read(&self.path, Some(&self.common), &self.common.bounds, self.report.format)?;
        let script = Script::new(saved.file.schedule.clone());
        let script = if self.go_on { script.lenient() } else { script };
        let limits = match (saved.limits(), self.common.max_steps) {
            (Limits { steps, .. }, Some(most)) if most < steps => Limits { steps: most, fair_steps: 0 },
            (limits, _) => limits,
        };
        let (mut seen, mut script) = self.run(&saved.target, script, limits, &saved.common)?;
        let whole = |ending: &_| !matches!(ending, Ending::Stopped(Stop::Limit(_) | Stop::Diverged { .. }));
        let Recorded { played, trace, .. } = &mut seen.recorded;
        if whole(&played.ending)
            && played.fair_from.is_none()
            && let Err(stop) = script.finish()
        {
            played.ending = Ending::Stopped(stop);
        }
        seen.diverged = script.diverged().cloned();
        if whole(&played.ending) && seen.diverged.is_none() && *trace != saved.file.trace {
            return Err(saved.other_trace(*trace, self.report.format));
        }
        if let Some(file) = &self.save_schedule {
            write(file, &seen.recorded, &saved.target, saved.file.target.clone());
        }
        self.tell(&saved.target, saved.file.target.join(" "), &seen)
    }

    /// Runs a target by an oracle, and gives that back.
    fn run<O: Oracle>(&self, target: &Target, oracle: O, limits: Limits, common: &Common) -> Result<(Seen, O), u8> {
        let (program, sources) = (target.program(), target.start().sources());
        let keep = if self.turns { usize::MAX } else { LAST };
        let mut turns = Turns::new(Launches::new(vec![program.clone()], sources.clone()), keep);
        let seen = Decisions::default();
        let (telling, programs) = ((self.report.format, common.memory_steps()), std::slice::from_ref(&program));
        let mut followers = Followers::open(&self.follow, false, telling, (programs, sources), &seen)?;
        let mut also = |who: Who, event: &Event<'_>| {
            turns.event(who, event);
            // Nobody who follows objects to a run.
            let _ = followers.event(who, *event);
        };
        let mut recorder = Recorder::new(oracle);
        let mut watched = Observed::new(&mut recorder, |menu, pick| seen.add(menu, pick));
        let oracle: &mut dyn Oracle = if self.follow.trace.is_some() { &mut watched } else { &mut recorder };
        let (mut played, trace, switches) = target.observe(oracle, limits, common.stopping(&program), &mut also);
        target.explain(&mut played);
        let memory = followers.shown();
        followers.finish(if let Ending::Stopped(stop) = &played.ending { Some(stop) } else { None });
        let (oracle, schedule) = recorder.into_parts();
        let recorded = Recorded::new(played, schedule, trace, switches);
        Ok((Seen { recorded, turns: turns.finish(), memory, diverged: None }, oracle))
    }

    fn tell(&self, target: &Target, named: String, seen: &Seen) -> Result<u8, u8> {
        let Seen { recorded, turns, memory, diverged } = seen;
        let (env, sources) = target.listing();
        let ending = &recorded.played.ending;
        let mut reporter = self.report.open()?;
        reporter.memory.clone_from(memory);
        let standing = recorded.played.device.context().standing().to_vec();
        reporter.ended = EndedEarly { standing, target: Some(named) };
        let accepted = reporter.accept(ending, target.listing());
        let code = if accepted.is_some() { 0 } else { text::ending_code(ending) };
        if self.report.format == Form::Text {
            output::say(turns);
            if let Some(stop) = diverged {
                stopped(stop, target.listing(), self.report.format);
            }
            output::complain(reporter.ending(ending, accepted.as_ref(), target.listing()));
            output::complain(text::replayed(recorded));
        }
        let found = Found::new((self.seed, 1), recorded, self.save_schedule.as_deref(), accepted, (env, sources));
        let known = found.ended.accepted.clone();
        let report = |extra| {
            Report::Replay(Box::new(text::Replay {
                found,
                exit: Exit(code),
                trace_hash: format!("{:016x}", recorded.trace),
                turns: turns.lines().collect(),
                diverged: diverged.as_ref().map(|stop| StopReport::new(stop, env, sources).json()),
                extra,
            }))
        };
        reporter.searched(&[(ending, known.as_ref())], report, code, |_| target.listing());
        Ok(code)
    }
}

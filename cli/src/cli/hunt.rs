//! `warpstep hunt`

use super::first::First;
use super::flags::time;
use super::form::Form;
use super::output;
use super::progress::{line, running};
use super::report_flags::{ReportFlags, Reporter, stopped};
use super::saved::{Names, check, script, target, words, write};
use super::target::Common;
use crate::check::Observers;
use crate::choice::Strategy;
use crate::explore::checkpoint::{self, CheckpointError};
use crate::explore::shard::Shard;
use crate::explore::{Ended, Ending, Hunt as Search, HuntState, Hunted, Limits, Measure, Recorded, Target};
use crate::machine::Stopwatch;
use crate::report::document::Report;
use crate::report::hunt::{self as text, Found};
use crate::report::parts::Exit;
use crate::report::{EndedEarly, Models};
use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Run many schedules, one for each seed, and stop at the first that shows a defect.
#[derive(Args)]
#[command(after_help = "\
Examples:
  warpstep hunt ptx-examples/spinlock --seeds 10000
  warpstep hunt k.ptx --grid 2 --block 64 --arg … --for 10m --keep-going
  warpstep hunt DIR --strategy pct --depth 3
  warpstep hunt DIR --check deterministic,uninit      also results that differ
  warpstep hunt DIR --control its --memory fermi
  warpstep hunt SCRIPT.toml --keep-going      orders of a host script
  warpstep hunt DIR --seeds 100000 --shard 2/4 --format json > 2.json
  warpstep hunt DIR --seeds 100000 --merge 1.json 2.json 3.json 4.json

--strategy random: every decision at random.

--strategy pct: probabilistic concurrency testing. Warps have random priorities, and at DEPTH - 1 random steps the one that runs falls below all others. One seed finds a defect between warps that DEPTH ordering constraints suffice for with a probability of at least 1/(n·k^(DEPTH-1)), for n warps and k steps; the last line has the numbers.

--strategy round-robin: turns of equal length, 1 + SEED mod 64 warp instructions; warp SEED / 64 begins.

The default schedule is run first. A run that reaches --max-steps goes on by the default schedule, which proves that it never ends when the state of the whole device repeats.

Exit codes: 0 no defect found | 1 a defect | 3 no defect, but runs reached the limit, or it was interrupted")]
pub(super) struct Hunt {
    /// A folder with a launch.toml, a launch file or host script (.toml), or a PTX module (.ptx) launched by flags.
    pub(super) path: PathBuf,

    #[command(flatten)]
    pub(super) common: Common,

    /// How many seeds; 1000, or as many as there is time for.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) seeds: Option<u64>,

    /// The first seed.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..u64::MAX))]
    pub(super) first_seed: u64,

    /// Hunt for this time, e.g. 10m.
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    pub(super) time: Option<Duration>,

    #[command(flatten)]
    strategy: StrategyFlags,

    /// Go on after a defect; list the distinct ones with the smallest seed of each.
    #[arg(long)]
    pub(super) keep_going: bool,

    /// Threads of this computer; all by default.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// Write the schedule of the first defect here, not to NAME.schedule.
    #[arg(long, value_name = "FILE")]
    save_schedule: Option<PathBuf>,

    /// Keep here what was done, and go on from there when it is called again.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,

    /// With --checkpoint: keep what was done so often.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "1m")]
    checkpoint_every: Duration,

    /// Run one of N equal parts of the seeds, e.g. 2/4, on one of N computers.
    #[arg(long, value_name = "K/N", value_parser = part, conflicts_with = "checkpoint")]
    pub(super) shard: Option<Shard>,

    /// Put the JSON reports of all parts together: what comes out is what the whole hunt would have told.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["shard", "checkpoint"])]
    pub(super) merge: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) report: ReportFlags,
}

/// A part by its name.
fn part(text: &str) -> Result<Shard, String> {
    Shard::named(text).ok_or_else(|| "not of the form K/N, with K from 1 to N".to_owned())
}

/// How the schedules of seeds are made.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct StrategyFlags {
    /// How the schedule of a seed is made.
    #[arg(long, value_enum, default_value_t = Kind::Random)]
    strategy: Kind,

    /// With --strategy pct: ordering constraints of the defects that are looked for.
    #[arg(long, value_name = "D", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=16))]
    depth: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Kind {
    Random,
    Pct,
    RoundRobin,
}

impl StrategyFlags {
    /// The flags that are not as they are by default, as on a command line.
    pub fn words(self) -> &'static str {
        match self.strategy {
            Kind::Random => "",
            Kind::Pct => " --strategy pct",
            Kind::RoundRobin => " --strategy round-robin",
        }
    }

    /// The strategy for a target, which pct measures first.
    pub fn of(self, target: &Target, limits: Limits) -> (Strategy, Option<Measure>) {
        match self.strategy {
            Kind::Random => (Strategy::Random, None),
            Kind::RoundRobin => (Strategy::RoundRobin, None),
            Kind::Pct => {
                let measure = Measure::of(target, limits);
                (Strategy::Pct { depth: self.depth, steps: measure.steps }, Some(measure))
            }
        }
    }
}

/// What a hunt needs that its flags only name.
pub(super) struct Job<'a> {
    pub target: &'a Target,
    strategy: Strategy,
    limits: Limits,
}

impl Hunt {
    /// Runs the command; gives the exit code.
    pub fn execute(&mut self) -> Result<u8, u8> {
        self.common.begin(self.time, None);
        script(&self.common, &self.path, self.report.format)?.map_or_else(|| self.hunt(), |read| self.script(read))
    }

    /// Flags that are given and do not go with host scripts, each with whether it is.
    pub(super) fn of_launches(&self) -> [(&'static str, bool); 6] {
        [
            ("--strategy", self.strategy.strategy != Kind::Random),
            ("--jobs", self.jobs.is_some()),
            ("--save-schedule", self.save_schedule.is_some()),
            ("--checkpoint", self.checkpoint.is_some()),
            ("--shard", self.shard.is_some()),
            ("--merge", !self.merge.is_empty()),
        ]
    }

    fn hunt(&self) -> Result<u8, u8> {
        self.divides()?;
        let target = target(&self.common, &self.path, self.report.format)?;
        let mut reporter = self.report.open()?;
        check(self.save_schedule.as_deref(), self.report.format)?;
        if let Some(path) = &self.checkpoint {
            let usable = checkpoint::writable(path).and_then(|()| checkpoint::load(path, "hunt", target.owner()));
            usable.map_err(|e| self.refuse(&e, path))?;
        }
        let bar = running("the default schedule runs", self.report.format == Form::Text);
        let first = First::of(&target, &self.common);
        bar.finish_and_clear();
        let limits = first.limits;
        let (strategy, measure) = self.strategy.of(&target, limits);
        let job = Job { target: &target, strategy, limits };
        let mut findings = Vec::new();
        let unended = first.unended();
        if unended {
            // That it would go on may be what is looked for.
            reporter.ended = EndedEarly { standing: first.standing(), target: None };
            reporter.complain(|| text::UNENDED.into());
            reporter.complain(|| reporter.ending(&first.fair.ending, None, target.listing()));
        }
        let fair = first.record(&target, &self.common);
        if let Some(Ending::Stopped(stop)) = fair.as_ref().map(|recorded| &recorded.played.ending)
            && stop.is_ours()
        {
            return Ok(stopped(stop, target.listing(), self.report.format));
        }
        let fair = fair.filter(|recorded| recorded.played.ending.is_defect());
        if let Some(recorded) = &fair {
            findings.push(self.tell(&mut reporter, (None, 1), recorded, 1, &target));
        }
        let hunted = if fair.is_some() && !self.keep_going {
            if !self.merge.is_empty() {
                self.joined(&job)?;
            }
            let first = self.range(self.total()).start;
            let none = first..first;
            Hunted { ended: Ended::Done, done: none, limited: 0, findings: Vec::new() }
        } else {
            self.search(&job)?
        };
        if let Ended::Unsupported(stop) | Ended::Internal(stop) = &hunted.ended {
            return Ok(stopped(stop, target.listing(), self.report.format));
        }
        target.bounds().show();
        for finding in &hunted.findings {
            let recorded = target.record(strategy.oracle(finding.seed), limits, self.observers(&target));
            let number = findings.len() + 1;
            findings.push(self.tell(&mut reporter, (Some(finding.seed), finding.times), &recorded, number, &target));
        }
        let models = Models::of_target(&target);
        let scope = text::Scope { models: &models, strategy, limits, measure };
        reporter.complain(|| text::summary(&hunted, fair.is_some(), &scope).into());
        let whole = self.shard.map(|_| self.whole(&job));
        whole.iter().for_each(|whole| reporter.complain(|| text::shard(whole, &hunted.done).into()));
        let mut code = text::hunt_code(&hunted, fair.is_some());
        if code == 0 && unended {
            code = 3;
        }
        if code == 1 && findings.iter().all(|f| f.ended.accepted.is_some()) {
            code = text::quiet_code(&hunted);
        }
        let ends: Vec<_> = findings.iter().map(|f| (&f.ended.ending, f.ended.accepted.as_ref())).collect();
        let report =
            |extra| Report::Hunt(text::Hunt::new(Exit(code), &hunted, &scope, &findings, extra).of_whole(whole));
        reporter.searched(&ends, report, code, |_| target.listing());
        Ok(code)
    }

    fn names(&self) -> Names<'_> {
        Names { path: &self.path, file: self.save_schedule.as_deref(), infix: "" }
    }

    fn observers(&self, target: &Target) -> Observers {
        self.common.stopping(&target.program())
    }

    /// Writes a finding's schedule and tells it.
    fn tell(
        &self,
        reporter: &mut Reporter,
        (seed, times): (Option<u64>, u64),
        recorded: &Recorded,
        number: usize,
        target: &Target,
    ) -> Found {
        let file = write(&self.names().file(number), recorded, target, words(&self.common, &self.path));
        let accepted = reporter.accept(&recorded.played.ending, target.listing());
        let found = Found::new((seed, times), recorded, file.as_deref(), accepted, target.listing());
        reporter.complain(|| reporter.ending(&found.ended.ending, found.ended.accepted.as_ref(), target.listing()));
        reporter.complain(|| found.text().into());
        found
    }

    /// Runs the seeds that a checkpoint does not have yet.
    fn search(&self, job: &Job<'_>) -> Result<Hunted, u8> {
        let before = self.resume(job)?;
        let total = self.total();
        let Range { start, end: last } = self.range(total);
        let first = before.as_ref().map_or(start, |b| b.next);
        let bar = bar(total.map(|_| last.saturating_sub(first)), self.report.format);
        let progress = |done, defects| {
            bar.set_position(done);
            if defects > 0 {
                bar.set_message(text::progress(defects));
            }
        };
        bar.set_message(text::progress(0));
        let watch = || self.observers(job.target);
        let jobs = self.jobs.map(usize::from);
        let search = Search {
            target: job.target,
            strategy: job.strategy,
            seeds: first..last.max(first),
            limits: job.limits,
            watchers: if self.common.observes() { Some(&watch) } else { None },
            keep_going: self.keep_going,
            jobs: jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get)),
            time: Stopwatch::start(job.target.bounds().search_left()),
            interrupted: output::interrupted(),
            progress: &progress,
        };
        let hunted = match &self.checkpoint {
            None if !self.merge.is_empty() => self.merged(job, &search)?,
            None => search.run(),
            Some(path) => self.kept(path, job, before, &search)?,
        };
        bar.finish_and_clear();
        Ok(hunted)
    }

    /// Hunts, and keeps in a file what was done, together with what it held before.
    fn kept(&self, path: &Path, job: &Job<'_>, before: Option<HuntState>, search: &Search<'_>) -> Result<Hunted, u8> {
        let state = before.unwrap_or_else(|| HuntState {
            from: self.first_seed,
            next: self.first_seed,
            ..HuntState::default()
        });
        let mut earlier =
            Hunted { ended: Ended::Done, done: state.from..state.next, limited: state.limited, findings: Vec::new() };
        if !search.recall(&state.found, &mut earlier) {
            return Err(self.refuse(&CheckpointError::Damaged, path));
        }
        let mut keep = |hunted: &Hunted| {
            let state = earlier.clone().and(hunted.clone()).state(self.options(job));
            output::keep(path, "hunt", job.target.owner(), &serde_json::to_vec(&state).unwrap_or_default());
        };
        let hunted = search.run_in_parts(self.checkpoint_every, &mut keep);
        let mut all = earlier.and(hunted);
        all.findings.sort_by_key(|f| f.seed);
        Ok(all)
    }

    /// What an earlier hunt with the same options has done.
    fn resume(&self, job: &Job<'_>) -> Result<Option<HuntState>, u8> {
        let Some(path) = &self.checkpoint else { return Ok(None) };
        let data = checkpoint::load(path, "hunt", job.target.owner()).map_err(|e| self.refuse(&e, path))?;
        let Some(data) = data else { return Ok(None) };
        let state: HuntState =
            serde_json::from_slice(&data).map_err(|_| self.refuse(&CheckpointError::Damaged, path))?;
        if state.options != self.options(job) {
            return Err(self.refuse(&CheckpointError::OtherOptions, path));
        }
        if !state.is_sound(self.first_seed) {
            return Err(self.refuse(&CheckpointError::Damaged, path));
        }
        Ok(Some(state))
    }

    /// How many seeds there are in all; as many as there is time for otherwise.
    pub(super) fn total(&self) -> Option<u64> {
        self.seeds.or_else(|| self.time.is_none().then_some(1000))
    }

    /// The seeds of this hunt, or of its part.
    fn range(&self, total: Option<u64>) -> Range<u64> {
        let all = self.first_seed..total.map_or(u64::MAX, |n| self.first_seed.saturating_add(n));
        self.shard.map_or(all.clone(), |shard| shard.seeds(&all))
    }

    /// What must be the same for a hunt to go on.
    pub(super) fn options(&self, job: &Job<'_>) -> String {
        let checks = self.common.words().join(" ");
        format!("{:?} {:?} {} {} {checks}", job.strategy, job.limits, self.first_seed, self.keep_going)
    }

    fn refuse(&self, error: &CheckpointError, path: &Path) -> u8 {
        output::unusable(path, error, self.report.format)
    }
}

/// A progress bar, on a terminal only.
fn bar(total: Option<u64>, format: Form) -> ProgressBar {
    let template = match total {
        Some(_) => "{bar:30} {pos} of {len} seeds, {rate}, {eta} left: {msg}",
        None => "{pos} seeds in {elapsed}, {rate}: {msg}",
    };
    line(total, template, format == Form::Text)
}

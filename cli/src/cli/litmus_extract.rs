//! `warpstep litmus --extract`

use super::bounds::{bounds, usual_memory};
use super::form::Form;
use super::litmus::Litmus as Flags;
use super::litmus_models::{Loaded, load};
use super::output;
use super::saved::Saved;
use crate::axiom::Limits;
use crate::axiom::cat::builtin;
use crate::base::SourceMap;
use crate::check::deeds::{Deeds, Done};
use crate::check::{Check, Observers};
use crate::choice::Replay;
use crate::explore::{Ending, Limits as RunLimits, Played};
use crate::launch::ProblemKind;
use crate::litmus::tree::Litmus;
use crate::litmus::{Judged, NotExtracted, complete, extract, print, raced, unexplained};
use crate::machine::Bounds;
use crate::report::document::Report;
use crate::report::limit;
use crate::report::litmus::{Extracted, Finding, ModelSays, judgement, not_extracted, too_long};
use crate::report::parts::Exit;
use crate::report::worst;
use crate::verdict::{Bug, BugKind, Race, Stop};
use clap::Args;
use std::path::{Path, PathBuf};
use warpstep_core::base::sorted::SortedSet;

/// Warp instructions that a run goes on at most after a race, so that what is in flight takes effect.
const AFTER: u64 = 100_000;

/// What is made a litmus test of.
#[derive(Args)]
#[command(next_help_heading = "A litmus test of what a run found")]
pub(super) struct ExtractFlags {
    /// Make the smallest litmus test of what the run of a schedule shows: the race at which it stops, as hunt --check races writes one, or reads that
    /// no order of its accesses explains; and say what models make of it: ptx-v7.5, or those of --model.
    #[arg(long, value_name = "SCHEDULE", conflicts_with_all = ["paths", "expected", "compare", "property", "progress", "all", "why", "dot"])]
    pub extract: Option<PathBuf>,

    /// With --extract: write the test here, not to standard output.
    #[arg(long, value_name = "FILE", requires = "extract")]
    output: Option<PathBuf>,
}

/// What is to be in a test: a launch, the deeds that have to stay, and what it is of.
struct Found {
    done: Done,
    stays: SortedSet<u32>,
    of: Finding,
}

/// A run with what was done in it.
struct Seen {
    played: Played,
    trace: u64,
    deeds: Vec<Done>,
}

impl Seen {
    /// The run of a schedule; where it ends, the fair schedule goes on if that is asked for.
    fn of(saved: &Saved, observers: Observers, limits: RunLimits, goes_on: bool) -> Result<Self, Stop> {
        let mut replay = Replay::new(saved.file.schedule.clone());
        if goes_on {
            replay = replay.lenient();
        }
        let mut deeds = Deeds::new(saved.target.program());
        let (played, trace, _) =
            saved.target.observe(&mut replay, limits, observers, &mut |who, event| deeds.note(who, event));
        let deeds = deeds.finish().map_err(|most| Stop::Unsupported(too_long(most), None))?;
        Ok(Self { played, trace, deeds })
    }

    /// The race at which it stopped.
    fn race(&self) -> Option<(&Bug, &Race)> {
        match &self.played.ending {
            Ending::Stopped(Stop::Bug(bug)) => match &bug.kind {
                BugKind::Race(race) => Some((bug, race)),
                _ => None,
            },
            _ => None,
        }
    }
}

/// What is to be in a test of a race at which a run stopped. On memory with caches its accesses may be in flight: the run goes on.
fn of_race(saved: &Saved, seen: Seen) -> Result<Option<Found>, Stop> {
    let Some((done, pair)) = seen.race().zip(seen.deeds.last()).and_then(|((bug, race), done)| {
        let pair = raced(done, bug, race)?;
        Some((done, pair))
    }) else {
        return Ok(None);
    };
    let found = |done: Done| Some(Found { done, stays: pair.into_iter().collect(), of: Finding::Race });
    if complete(done, &pair) {
        return Ok(seen.deeds.into_iter().next_back().and_then(found));
    }
    let limits = RunLimits { steps: seen.played.clock.saturating_add(AFTER), fair_steps: 0 };
    let launch = seen.deeds.len() - 1;
    let further = Seen::of(saved, Observers::none(), limits, true)?;
    Ok(further.deeds.into_iter().nth(launch).and_then(found))
}

/// What a run shows: the race at which it stops, or what no order of accesses explains, or a race that is none of its checks' business.
fn find(saved: &Saved, seen: Seen) -> Result<Option<Found>, Stop> {
    if seen.race().is_some() {
        return of_race(saved, seen);
    }
    for done in &seen.deeds {
        if let Some(stays) = unexplained(done) {
            return Ok(Some(Found { done: done.clone(), stays, of: Finding::Weak }));
        }
    }
    let races = Observers::of(&[Check::Races], &saved.target.program(), saved.common.races(true));
    of_race(saved, Seen::of(saved, races, saved.limits(), false)?)
}

impl Flags {
    /// Makes a litmus test of what a run shows; gives the exit code.
    pub(super) fn extracted(&self, schedule: &Path) -> Result<u8, u8> {
        let bounds = bounds(self.timeout, usual_memory(), false);
        let mut sources = SourceMap::default();
        let usual = ["ptx-v7.5".to_owned()];
        let models = if self.model.is_empty() { &usual[..] } else { &self.model };
        let models = load(models, &mut sources).map_err(|failed| failed.tell(&sources, self.format))?;
        let saved = Saved::read(schedule, None, &bounds, self.format)?;
        let observers = saved.common.stopping(&saved.target.program());
        let seen = Seen::of(&saved, observers, saved.limits(), false).map_err(|stop| self.stopped(&stop))?;
        if let Ending::Stopped(stop @ Stop::Limit(_)) = &seen.played.ending {
            return Err(self.stopped(stop));
        }
        if seen.trace != saved.file.trace {
            return Err(saved.other_trace(seen.trace, self.format));
        }
        let Some(found) = find(&saved, seen).map_err(|stop| self.stopped(&stop))? else {
            let text = schedule.display().to_string();
            let why = "memory is not to blame for what its run came to: some order of the accesses explains it, and it has no race; \
                       `warpstep replay` shows the turns that led to it";
            return Err(output::refuse(ProblemKind::UnfitFlag { flag: "--extract", text, why }, self.format));
        };
        let Some(usual) = builtin("ptx-v7.5") else { return Err(self.internal("ptx-v7.5 is no model".to_owned())) };
        let up = || bounds.search_up().is_some();
        let judge = |litmus: &Litmus| Judged::of(litmus, usual, (self.way, self.limits()), &up);
        match extract(found.of.name(), &found.done, found.stays, &judge) {
            Ok(litmus) => Ok(self.tell_extracted(&litmus, found.of, &models, &bounds)),
            Err(NotExtracted::Wrong(text)) => Err(self.internal(format!("an extracted litmus test is wrong:\n{text}"))),
            Err(why) => {
                let stop = Stop::Unsupported(not_extracted(found.of, &why), None);
                match self.format {
                    Form::Text => {
                        output::complain(format!("unsupported: {}\n", not_extracted(found.of, &why)));
                        Ok(4)
                    }
                    _ => Err(self.stopped(&stop)),
                }
            }
        }
    }

    fn limits(&self) -> Limits {
        Limits { bound: self.bound.unwrap_or(1), choices: self.max_choices }
    }

    /// Writes a test, and tells what models make of it; gives the exit code.
    fn tell_extracted(&self, litmus: &Litmus, of: Finding, models: &[Loaded], bounds: &Bounds) -> u8 {
        let extracted = print(litmus);
        let text = self.format == Form::Text;
        match &self.extract.output {
            Some(file) => _ = output::write(file, extracted.as_bytes()),
            None if text => output::say(extracted.clone()),
            None => {}
        }
        let up = || bounds.search_up().is_some();
        let (mut codes, mut said) = (Vec::new(), Vec::new());
        for Loaded { name, model, .. } in models {
            let judged = Judged::of(litmus, model, (self.way, self.limits()), &up);
            let words = judgement(name, judged).unwrap_or_else(|| {
                let choices = || format!("limit reached: {} choices", self.max_choices);
                format!("{name}: {}\n", bounds.search_up().map_or_else(choices, limit))
            });
            codes.push(match judged {
                Judged { allowed: Some(true), racy: Some(false) } => 0,
                Judged { allowed: Some(_), racy: Some(_) } => 1,
                _ => 3,
            });
            if text {
                output::complain(words);
            }
            said.push(ModelSays { model: name.clone(), allowed: judged.allowed, racy: judged.racy });
        }
        let code = worst(codes);
        if !text {
            output::print_json(&Report::Extracted(Extracted { exit: Exit(code), extracted, of, models: said }));
        }
        code
    }
}

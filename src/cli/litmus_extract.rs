//! `warpstep litmus --extract`

use super::bounds::{bounds, usual_memory};
use super::form::Form;
use super::litmus::{Litmus as Flags, worst};
use super::litmus_models::load;
use super::output;
use super::saved::Saved;
use crate::axiom::Limits;
use crate::base::SourceMap;
use crate::choice::Replay;
use crate::explore::Ending;
use crate::launch::ProblemKind;
use crate::litmus::{Property, decide_until, extract, parse, print};
use crate::report::limit;
use crate::verdict::{BugKind, Stop};
use clap::Args;
use std::path::{Path, PathBuf};

/// What is made a litmus test of.
#[derive(Args)]
#[command(next_help_heading = "A litmus test of a race")]
pub(super) struct ExtractFlags {
    /// Make the smallest litmus test of the race that a schedule leads to, as hunt --check races writes one, and say what models
    /// make of it: ptx-v7.5, or those of --model.
    #[arg(long, value_name = "SCHEDULE", conflicts_with_all = ["paths", "expected", "compare", "property", "progress", "all", "why", "dot"])]
    pub extract: Option<PathBuf>,

    /// With --extract: write the test here, not to standard output.
    #[arg(long, value_name = "FILE", requires = "extract")]
    output: Option<PathBuf>,
}

impl Flags {
    /// Makes a litmus test of a race; gives the exit code.
    pub(super) fn extracted(&self, schedule: &Path) -> Result<u8, u8> {
        let unfit = |why| {
            let kind = ProblemKind::UnfitFlag { flag: "--extract", text: schedule.display().to_string(), why };
            output::refuse(kind, self.format)
        };
        if self.format != Form::Text {
            return Err(unfit("it writes a litmus test, which is text: leave --format out"));
        }
        let bounds = bounds(self.timeout, usual_memory(), false);
        let mut sources = SourceMap::default();
        let usual = ["ptx-v7.5".to_owned()];
        let models = if self.model.is_empty() { &usual[..] } else { &self.model };
        let models = load(models, &mut sources).map_err(|failed| failed.tell(&sources, self.format))?;
        let saved = Saved::read(schedule, None, &bounds, self.format)?;
        let observers = saved.common.stopping(&saved.target.program());
        let recorded = saved.target.record(Replay::new(saved.file.schedule.clone()), saved.limits(), observers);
        let found = match &recorded.played.ending {
            Ending::Stopped(Stop::Bug(bug)) => match &bug.kind {
                BugKind::Race(race) => Some((bug, race)),
                _ => None,
            },
            Ending::Stopped(stop @ Stop::Limit(_)) => return Err(self.stopped(stop)),
            _ => None,
        };
        let Some((bug, race)) = found else {
            return Err(unfit("its run does not stop at a race: hunt with --check races writes such schedules"));
        };
        if recorded.trace != saved.file.trace {
            return Err(saved.other_trace(recorded.trace, self.format));
        }
        let text = match extract("race", bug, race, saved.target.listing().0) {
            Ok(text) => text,
            Err(what) => {
                output::complain(format!("unsupported: a race with {} has no litmus test here\n", what.name()));
                return Ok(4);
            }
        };
        let file = sources.add("the litmus test", text.clone());
        let (litmus, errors) = parse(file, &text);
        if !errors.is_empty() {
            return Err(self.internal(format!("an extracted litmus test is wrong:\n{text}")));
        }
        match &self.extract.output {
            Some(file) => _ = output::write(file, print(&litmus).as_bytes()),
            None => output::say(print(&litmus)),
        }
        let limits = Limits { bound: self.bound.unwrap_or(1), choices: self.max_choices };
        let up = || bounds.search_up().is_some();
        let mut codes = Vec::new();
        for loaded in &models {
            let ask = |property| decide_until(&litmus, &loaded.model, property, self.way, limits, &up);
            let (races, outcome) = (ask(Property::Drf), ask(Property::Safety));
            let cut = |searched: &crate::axiom::Searched| searched.limited || searched.unsupported.is_some();
            let (racy, seen) = (races.witness.is_some(), outcome.witness.is_some());
            if !racy && cut(&races.searched) || !seen && cut(&outcome.searched) {
                codes.push(3);
                let why =
                    bounds.search_up().map_or_else(|| format!("limit reached: {} choices", limits.choices), limit);
                output::complain(format!("{}: {why}\n", loaded.name));
                continue;
            }
            codes.push(u8::from(racy || !seen));
            let race = if racy { "racy" } else { "no race" };
            let seen = if seen { "allowed" } else { "forbidden" };
            output::complain(format!("{}: {race}; what the run came to is {seen}\n", loaded.name));
        }
        Ok(worst(codes))
    }
}

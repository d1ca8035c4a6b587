//! What follows a run while it goes on: the lines of `--rules`, the tables of `--show`, the file of `--trace`.

use super::form::Form;
use super::show::ShowFlags;
use super::trace::{Trace, TraceFlags};
use crate::base::SourceMap;
use crate::choice::Decisions;
use crate::launch::{Problem, ProblemKind};
use crate::program::env::ProgEnv;
use crate::report::{Environment, MemoryShow, RuleTrace};
use crate::verdict::{Event, Sink, Stop, Who};
use clap::Args;
use std::sync::Arc;

/// What is told of a run while it goes on.
#[derive(Args)]
pub(super) struct FollowFlags {
    #[command(flatten)]
    pub trace: TraceFlags,

    #[command(flatten)]
    show: ShowFlags,
}

/// The followers of a run, each there or not.
pub(super) struct Followers<'a> {
    rules: Option<RuleTrace<'a>>,
    show: Option<MemoryShow>,
    timeline: Option<Trace<'a>>,
}

impl<'a> Followers<'a> {
    /// The followers that the flags ask for. `rules`: with the rules that fire. `steps`: whether memory makes steps of its own. `line` prints a line, `seen` is
    /// told by the oracle of the run.
    ///
    /// # Errors
    /// The file of the trace cannot be written; rules are printed where a report for programs is.
    pub fn open(
        flags: &'a FollowFlags,
        rules: bool,
        (form, steps): (Form, bool),
        (programs, sources): (&[Arc<ProgEnv>], &SourceMap),
        line: &'a mut dyn FnMut(&str),
        seen: &'a Decisions,
    ) -> Result<Self, Box<Problem>> {
        let lines = rules && form == Form::Text;
        if rules && !lines && flags.trace.file.is_none() {
            let why = "rules are lines of text; with --format json or sarif, --trace FILE.json shows them";
            return Err(Box::new(ProblemKind::UnfitFlag { flag: "--rules", text: String::new(), why }.at(None)));
        }
        let timeline = flags.trace.open(programs, sources, seen, rules)?;
        let rules = lines.then(|| RuleTrace::new(programs.to_vec(), sources.clone(), line));
        let show = flags.show.wanted(steps)?;
        let show = show.map(|after| after.follow(programs.to_vec(), sources.clone(), form));
        Ok(Self { rules, show, timeline })
    }

    /// Whether there is any.
    pub const fn any(&self) -> bool {
        self.rules.is_some() || self.show.is_some() || self.timeline.is_some()
    }

    /// What `--show` has gathered for a report; nothing where it was printed.
    pub fn shown(&mut self) -> Option<Vec<Environment>> {
        self.show.take().map(MemoryShow::finish)
    }

    /// Ends what has an end; `stop` says why the run ended early.
    pub fn finish(self, stop: Option<&Stop>) {
        if let Some(timeline) = self.timeline {
            timeline.finish(stop);
        }
    }
}

impl Sink for Followers<'_> {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        if let Some(rules) = &mut self.rules {
            rules.event(who, event)?;
        }
        if let Some(show) = &mut self.show {
            show.event(who, &event);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.event(who, event);
        }
        Ok(())
    }
}

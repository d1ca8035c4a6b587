//! What follows a run while it goes on, in `run` and in `replay`: the lines of `--rules`, the tables of `--show`, the
//! timeline of `--trace`.

use super::flags::size;
use super::form::Form;
use super::output;
use crate::base::SourceMap;
use crate::base::files::Draft;
use crate::choice::Decisions;
use crate::launch::ProblemKind;
use crate::program::env::ProgEnv;
use crate::report::{Environment, Launches, MemoryShow, RuleTrace, Timeline, run as text};
use crate::verdict::{Event, Sink, Stop, Who};
use clap::Args;
use std::io::{BufWriter, Error};
use std::path::PathBuf;
use std::sync::Arc;

/// What is told of a run while it goes on.
#[derive(Args)]
pub(super) struct FollowFlags {
    /// Write a timeline that ui.perfetto.dev loads: multiprocessors, warps, barriers, choices.
    #[arg(long, value_name = "FILE.json")]
    pub trace: Option<PathBuf>,

    /// Bytes of the timeline at most, about; what comes after is left out, and the file says so.
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "256M")]
    trace_limit: u64,

    /// `memory`: the memory environment after each step of memory; `memory@N`: after step N, as `replay --turns` and the
    /// timeline number them. With --memory fermi or --lanes split: other memory makes no steps of its own.
    #[arg(long, value_name = "memory[@N]")]
    show: Option<String>,
}

/// The followers of a run, each there or not.
pub(super) struct Followers<'a> {
    flags: &'a FollowFlags,
    rules: Option<RuleTrace>,
    show: Option<MemoryShow>,
    timeline: Option<Timeline<'a, BufWriter<Draft>>>,
}

impl<'a> Followers<'a> {
    /// The followers that the flags ask for. `rules`: with the rules that fire. `steps`: whether memory makes steps of its own. `seen` is told by the oracle of the run.
    ///
    /// # Errors
    /// The exit code, which has been told why: the file of the trace cannot be written; rules are printed where a report for
    /// programs is; `--show` does not say what is known, or there is nothing to be seen.
    pub fn open(
        flags: &'a FollowFlags,
        rules: bool,
        (form, steps): (Form, bool),
        (programs, sources): (&[Arc<ProgEnv>], &SourceMap),
        seen: &'a Decisions,
    ) -> Result<Self, u8> {
        let refuse = |kind| output::refuse(kind, form);
        let lines = rules && form == Form::Text;
        if rules && !lines && flags.trace.is_none() {
            let why = "rules are lines of text; with --format json or sarif, --trace FILE.json shows them";
            return Err(refuse(ProblemKind::UnfitFlag { flag: "--rules", text: String::new(), why }));
        }
        let launches = || Launches::new(programs.to_vec(), sources.clone());
        let mut timeline = None;
        if let Some(path) = &flags.trace {
            let unwritable = |e: Error| ProblemKind::Unwritable { path: path.clone(), cause: e.kind() };
            let draft = Draft::create(path).map_err(|e| refuse(unwritable(e)))?;
            let out = (BufWriter::new(draft), flags.trace_limit);
            timeline = Some(Timeline::new(launches(), seen, rules, out));
        }
        let rules = lines.then(|| RuleTrace::new(launches(), |line| output::say(format!("{line}\n"))));
        let mut show = None;
        if let Some(text) = &flags.show {
            let print: fn(&str) = |text| output::say(text);
            let print = (form == Form::Text).then_some(print);
            show = Some(MemoryShow::new(launches(), shown_step(text, steps).map_err(refuse)?, print));
        }
        Ok(Self { flags, rules, show, timeline })
    }

    /// Whether there is any.
    pub const fn any(&self) -> bool {
        self.rules.is_some() || self.show.is_some() || self.timeline.is_some()
    }

    /// What `--show` has gathered for a report; nothing where it was printed.
    pub fn shown(&mut self) -> Option<Vec<Environment>> {
        self.show.take().map(MemoryShow::finish)
    }

    /// Ends the timeline and puts its file in its place; `stop` says why the run ended early.
    pub fn finish(self, stop: Option<&Stop>) {
        let (Some(timeline), Some(path)) = (self.timeline, &self.flags.trace) else { return };
        let kept = timeline.finish(stop).and_then(|(out, cut)| {
            out.into_inner().map_err(|e| Error::from(e.error().kind()))?.keep()?;
            Ok(cut)
        });
        match kept {
            Ok(true) => output::complain(text::trace_cut(path, self.flags.trace_limit)),
            Ok(false) => {}
            Err(error) => output::lost(path, &error),
        }
    }
}

/// The step after which `--show` shows the environment; none: after each. `steps`: whether memory makes steps of its own.
fn shown_step(text: &str, steps: bool) -> Result<Option<u64>, ProblemKind> {
    let bad = |form| ProblemKind::BadFlag { flag: "--show", text: text.to_owned(), form };
    let form = "memory, or memory@N for what it is like after step N of memory";
    let (what, number) = text.split_once('@').map_or((text, None), |(what, number)| (what, Some(number)));
    let number = number.map(|number| number.parse().ok().filter(|n| *n > 0).ok_or_else(|| bad(form))).transpose()?;
    match (what, steps) {
        ("memory", true) => Ok(number),
        ("memory", false) => {
            Err(bad("flat memory acts at once and has no steps: with --memory fermi, or --lanes split"))
        }
        _ => Err(bad(form)),
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
            // What goes wrong with the file is told at the end: it is no matter of the run.
            let _ = timeline.event(who, event);
        }
        Ok(())
    }
}

//! `warpstep minimise`

use super::bounds::{bounds, usual_memory};
use super::flags::{size, time};
use super::form::Form;
use super::output;
use super::progress::line;
use super::report_flags::{ReportFlags, stopped};
use super::saved::{Saved, check, write};
use crate::choice::Replay;
use crate::explore::{Ending, Limits, Minimise as Search, Minimised};
use crate::launch::ProblemKind;
use crate::machine::Stopwatch;
use crate::report::document::Report;
use crate::report::hunt as text;
use crate::report::parts::Exit;
use crate::verdict::Stop;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Make a schedule as short as it gets while it shows the same defect.
#[derive(Args)]
#[command(after_help = "\
Examples:
  warpstep minimise k.schedule                     writes k.min.schedule
  warpstep minimise k.schedule --output short.schedule --for 1m

What is left of the decisions are the points at which the run must differ from the default schedule; where it must not, the default schedule decides. The defect is the same when its kind and its instructions are.")]
pub(super) struct Minimise {
    /// A schedule that shows a defect.
    schedule: PathBuf,

    /// Where to write what is left; NAME.min.schedule by default.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Stop after this time with what is reached by then.
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    time: Option<Duration>,

    /// Memory, e.g. 512M or 4G (exit code 3 beyond it); 8G by default, or three quarters of what is free.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_memory: Option<u64>,

    #[command(flatten)]
    report: ReportFlags,
}

impl Minimise {
    /// Runs the command; gives the exit code.
    pub fn execute(&self) -> Result<u8, u8> {
        let bounds = bounds(self.time, self.max_memory.unwrap_or_else(usual_memory), false);
        let saved = Saved::read(&self.schedule, None, &bounds, self.report.format)?;
        let Saved { file, target, common, .. } = &saved;
        let output_file = self.output.clone().unwrap_or_else(|| self.schedule.with_extension("min.schedule"));
        check(Some(&output_file), self.report.format)?;
        let observers = || common.stopping(&target.program());
        let before = target.record(Replay::new(file.schedule.clone()), saved.limits(), observers());
        if let Ending::Stopped(stop @ Stop::Limit(_)) = &before.played.ending {
            return Err(stopped(stop, target.listing(), self.report.format));
        }
        if before.trace != file.trace {
            return Err(saved.other_trace(before.trace, self.report.format));
        }
        // What was left out may make a run longer; much longer means that it spins.
        let limits = match file.schedule.fair_from {
            Some(_) => saved.limits(),
            None => Limits::of(before.played.clock),
        };
        let bar = line(None, "{spinner} {pos} runs in {elapsed}: {msg}", self.report.format == Form::Text);
        let progress = |trials, left| {
            bar.set_position(trials);
            bar.set_message(text::left(left));
        };
        let search = Search {
            target,
            watchers: if common.observes() { Some(&observers) } else { None },
            limits,
            time: Stopwatch::start(bounds.search_left()),
            interrupted: output::interrupted(),
            progress: &progress,
        };
        let minimised = search.run(&file.schedule);
        bar.finish_and_clear();
        bounds.show();
        let Some(Minimised { schedule, complete, trials }) = minimised else {
            return Err(output::refuse(ProblemKind::NoDefect { path: self.schedule.clone() }, self.report.format));
        };
        let limits = Limits { steps: schedule.fair_from.unwrap_or(u64::MAX), ..limits };
        let mut after = target.record(Replay::new(schedule.clone()), limits, observers());
        after.schedule = schedule;
        let written = write(&output_file, &after, target, file.target.clone());
        let mut reporter = self.report.open()?;
        let ending = &after.played.ending;
        let accepted = reporter.accept(ending, target.listing());
        let code = if accepted.is_some() { 0 } else { text::ending_code(ending) };
        reporter.complain(|| reporter.ending(ending, accepted.as_ref(), target.listing()));
        reporter.complain(|| text::minimised(&before, &after, complete, trials, written.as_deref()).into());
        let report = |extra| {
            let change = |before, after| text::Change { before, after };
            Report::Minimised(text::Minimised {
                exit: Exit(code),
                decisions: change(before.schedule.decisions(), after.schedule.taken() as u64),
                context_switches: change(before.switches, after.switches),
                complete,
                runs: trials,
                schedule: written.as_deref().map(text::shown),
                suppressed: accepted.clone(),
                extra,
            })
        };
        reporter.searched(&[(ending, accepted.as_ref())], report, code, |_| target.listing());
        Ok(code)
    }
}

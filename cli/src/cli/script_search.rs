//! `warpstep prove SCRIPT.toml` and `warpstep hunt SCRIPT.toml`: the orders of host scripts.

use super::form::Form;
use super::hunt::Hunt;
use super::progress;
use super::prove::Prove;
use super::report_flags::{Listing, Reporter, failed};
use super::saved::as_typed;
use super::script::Scripted;
use super::target::Common;
use crate::base::SourceMap;
use crate::check::{Check, Observers, PerLaunch};
use crate::choice::{Fair, Oracle, Strategy};
use crate::explore::{Ending, Limits, ScriptEnd, ScriptSearch, Signature, Taken};
use crate::launch::{Failure, Outcome, Problem, ProblemKind, Script, ScriptDevice};
use crate::machine::{Bounds, Config};
use crate::program::env::ProgEnv;
use crate::report::document::Report;
use crate::report::script::{self as text, FoundEnd, Orders, Through};
use crate::report::{Launches, ScriptNames, Text, Turns};
use crate::verdict::{Event, LimitKind, Sink, Stop, Who};
use std::cell::RefCell;
use std::sync::Arc;

/// States of a script's search at most, where nothing else is said: each is kept whole.
const STATES: u64 = 1 << 20;

impl Scripted {
    /// A script for many runs: all blocks that fit take part from the beginning.
    fn for_search(read: (Script, SourceMap), common: &Common, format: Form) -> Result<Self, u8> {
        common.select_mutant();
        Self::new(read, |sources| Ok(Config { eager: true, ..common.config(sources)? }), &common.bounds, format)
    }

    /// Runs the script by a seed, or by the default schedule, for so many warp instructions at most, up to a race.
    ///
    /// # Errors
    /// Why it did not come to its end.
    pub(super) fn play(&mut self, common: &Common, seed: Option<u64>, steps: Option<u64>) -> Result<Outcome, Failure> {
        let make = |env: &Arc<ProgEnv>| -> Observers { common.stopping(env) };
        let mut watching = PerLaunch::new(self.envs.clone(), &make);
        let mut tell = |who: Who, event: Event<'_>| watching.event(who, event);
        let mut oracle: Box<dyn Oracle> =
            seed.map_or_else(|| Box::new(Fair) as _, |seed| Strategy::Random.oracle(seed));
        self.device.limit_steps(steps.or(common.max_steps));
        let ran = self.device.begin(&self.script, false).and_then(|()| {
            let tell: Option<crate::machine::Tell<'_>> = if common.observes() { Some(&mut tell) } else { None };
            self.device.run_by(&self.script, &mut *oracle, tell, &mut |_| ())
        });
        ran.map_err(|failure| failure.map_stop(|stop| watching.settle(stop)))
    }

    /// The program of an end, with the files of all.
    fn listing(&self, ending: &Ending) -> Listing<'_> {
        self.listing_of(if let Ending::Stopped(stop) = ending { Some(stop) } else { None })
    }

    /// Tells a failure that is no defect of the script; gives the exit code.
    fn fail(&self, failure: &Failure, format: Form) -> u8 {
        failed(failure, self.listing_of(failure.stop()), format)
    }

    /// How a run ended, as text.
    fn ending(&self, FoundEnd { ended: end, .. }: &FoundEnd, reporter: &Reporter) -> Text {
        reporter.ending(&end.ending, end.accepted.as_ref(), self.listing(&end.ending))
    }

    /// The end of the command: the last lines, or the report.
    fn finish(&self, mut orders: Orders<'_>, reporter: &Reporter) -> u8 {
        let code = orders.exit.0;
        reporter.complain(|| orders.summary().into());
        let ends: Vec<_> = orders.ends.iter().map(|end| (&end.ended.ending, end.ended.accepted.as_ref())).collect();
        let report = |extra| {
            orders.extra = extra;
            Report::Orders(Box::new(orders))
        };
        reporter.searched(&ends, report, code, |ending| self.listing(ending));
        code
    }
}

impl Prove {
    /// Goes through all orders of a script; gives the exit code.
    pub(super) fn script(&self, read: (Script, SourceMap)) -> Result<u8, u8> {
        let format = self.report.format;
        let mut reporter = self.report.open()?;
        fits(&self.common, &self.of_launches(), true).map_err(|all| reporter.problems(&all, &read.1))?;
        let mut all = Scripted::for_search(read, &self.common, format)?;
        let bar = progress::searching(format == Form::Text);
        let bounds: &Bounds = &self.common.bounds;
        let poll = |states| {
            bar.set_message(text::progress(states));
            bounds.search_up()
        };
        let search = ScriptSearch {
            script: &all.script,
            max_states: self.max_states.unwrap_or(STATES),
            poll: &poll,
            reduced: self.reduces(),
            first: self.first,
        };
        let space = search.run(&mut all.device);
        bar.finish_and_clear();
        bounds.show();
        let space = space.map_err(|failure| all.fail(&failure, format))?;
        let mut ends = Vec::new();
        for ScriptEnd { ending, result, way, .. } in &space.ends {
            let order = order(&search, &mut all.device, (&all.envs, &all.sources), way);
            let order = order.map_err(|failure| all.fail(&failure, format))?;
            let memory = result.as_ref().map(|(memory, _)| *memory);
            let program = all.listing(ending);
            let accepted = reporter.accept(ending, program);
            ends.push(FoundEnd::new((ending.clone(), memory), order, accepted, program));
        }
        let endless = space.endless.as_ref().map(|way| order(&search, &mut all.device, (&all.envs, &all.sources), way));
        let endless = endless.transpose().map_err(|failure| all.fail(&failure, format))?;
        for end in ends.iter().filter(|end| end.ended.ending.is_defect()) {
            reporter.complain(|| all.ending(end, &reporter));
            reporter.complain(|| text::order(&end.order).into());
        }
        endless.iter().for_each(|lines| reporter.complain(|| text::endless(lines).into()));
        let through = Through::States(space.states, space.steps);
        Ok(all.finish(Orders::new(&all.models, through, &ends, endless.as_deref(), space.cut), &reporter))
    }
}

/// A way as lines: messages that are handled, and turns.
fn order(
    search: &ScriptSearch<'_>,
    device: &mut ScriptDevice,
    (envs, sources): (&[Arc<ProgEnv>], &SourceMap),
    way: &[Taken],
) -> Result<Vec<String>, Failure> {
    // What grids are called is known at the end.
    search.show(device, way, &mut |_: Who, _: Event<'_>| Ok(()), &mut |_| ())?;
    let names = ScriptNames {
        grids: device.grids().map(|(grid, name)| (grid.0, name.to_owned())).collect(),
        contexts: device.contexts().map(|(context, name)| (context.0, name.to_owned())).collect(),
    };
    let turns = RefCell::new(Turns::new(Launches::new(envs.to_vec(), sources.clone()), usize::MAX).of_script(names));
    let mut tell = |who: Who, event: Event<'_>| {
        turns.borrow_mut().event(who, &event);
        Ok(())
    };
    search.show(device, way, &mut tell, &mut |what| turns.borrow_mut().host(what))?;
    Ok(turns.into_inner().finish().lines().map(str::to_owned).collect())
}

/// A defect that seeds found.
struct Hunted {
    signature: Signature,
    ending: Ending,
    /// The hash of memory, where the script came to its end.
    memory: Option<u64>,
    /// The first seed that found it, and how many did; none: the default schedule.
    seed: Option<u64>,
    times: u64,
}

impl Hunt {
    /// Runs a script by many seeds; gives the exit code.
    pub(super) fn script(&self, read: (Script, SourceMap)) -> Result<u8, u8> {
        let format = self.report.format;
        let mut reporter = self.report.open()?;
        fits(&self.common, &self.of_launches(), false).map_err(|all| reporter.problems(&all, &read.1))?;
        let mut all = Scripted::for_search(read, &self.common, format)?;
        let bar = progress::searching(format == Form::Text);
        let mut found: Vec<Hunted> = Vec::new();
        let (mut done, mut limit) = (0, None);
        // The default schedule tells how long runs are.
        let clock = self.run_once(&mut all, None, None, &mut found)?.ok();
        let limits = Limits::of_run(clock, self.common.max_steps);
        let total = self.seeds.unwrap_or(if self.time.is_some() { u64::MAX } else { 1000 });
        while done < total && (found.is_empty() || self.keep_going) && limit.is_none_or(is_of_a_run) {
            let seed = self.first_seed + done;
            if let Err(cut) = self.run_once(&mut all, Some(seed), Some(limits.steps), &mut found)? {
                limit = Some(cut);
            }
            done += 1;
            bar.set_message(text::runs(done));
            limit = self.common.bounds.search_up().or(limit);
        }
        bar.finish_and_clear();
        let target = as_typed(&self.common, &self.path);
        let mut ends = Vec::new();
        for Hunted { ending, memory, seed, times, .. } in found {
            let program = all.listing(&ending);
            let accepted = reporter.accept(&ending, program);
            let end = FoundEnd::new((ending, memory), Vec::new(), accepted, program).by(seed, times);
            reporter.complain(|| all.ending(&end, &reporter));
            reporter.complain(|| text::found(&end, &target).into());
            ends.push(end);
        }
        Ok(all.finish(Orders::new(&all.models, Through::Seeds(done), &ends, None, limit), &reporter))
    }

    /// Runs a script by a seed, or by the default schedule, for so many warp instructions at most. Gives how many it took, or
    /// the limit that it reached.
    fn run_once(
        &self,
        all: &mut Scripted,
        seed: Option<u64>,
        steps: Option<u64>,
        found: &mut Vec<Hunted>,
    ) -> Result<Result<u64, LimitKind>, u8> {
        let (ending, memory) = match all.play(&self.common, seed, steps) {
            Ok(outcome) => (Ending::of(outcome), Some(all.device.memory_hash())),
            Err(Failure::Stop(Stop::Limit(limit))) => return Ok(Err(limit)),
            Err(Failure::Stop(stop)) if stop.kind().is_defect() => (Ending::Stopped(stop), None),
            Err(failure) => return Err(all.fail(&failure, self.report.format)),
        };
        if let Some(signature) = Signature::of_end(&ending, &[]) {
            match found.iter_mut().find(|known| known.signature == signature) {
                Some(known) => known.times += 1,
                None => found.push(Hunted { signature, ending, memory, seed, times: 1 }),
            }
        }
        Ok(Ok(all.device.clock()))
    }
}

/// Whether a limit ends one run, and not all.
const fn is_of_a_run(limit: LimitKind) -> bool {
    matches!(limit, LimitKind::Steps(_))
}

/// Whether the flags go with a host script; `given`: those that do not, each with whether it is given.
///
/// # Errors
/// Those that are given and do not.
pub(super) fn fits(common: &Common, given: &[(&'static str, bool)], searches: bool) -> Result<(), Vec<Problem>> {
    let unfit = |flag, why| ProblemKind::UnfitFlag { flag, text: String::new(), why }.at(None);
    let given = given.iter().filter(|(_, given)| *given);
    let why = "it is about launches; the orders of a host script are gone through without it";
    let mut problems: Vec<Problem> = given.map(|(flag, _)| unfit(flag, why)).collect();
    if common.checks(Check::Deterministic) {
        let why = "`warpstep prove` shows the different ends of a host script";
        problems.push(unfit("--check deterministic", why));
    } else if searches && common.observes() {
        problems.push(unfit("--check", "checks look at runs: `warpstep hunt` with the same flags"));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

//! A kernel under many schedules: hunted by seeds, or proved by all states.

use super::error::Error;
use super::kernel::Kernel;
use super::prepared::USUAL_MEMORY;
use crate::check::Check;
use crate::choice::{Fair, Strategy};
use crate::explore::space::{Fairness, Options};
use crate::explore::{Ended, Ending, Hunt, Limits, Proof as Found, Prove, Proved, Recorded, Signature, Target};
use crate::machine::walk::Grain;
use crate::machine::{ControlModel, Interrupted, Stopwatch};
use crate::report::{Models, hunt, prove};
use crate::verdict::Stop;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// A defect, with the schedule that shows it.
#[derive(Debug)]
pub struct Finding {
    /// The smallest seed that shows it; `None` for the default schedule, and for what a proof found.
    pub seed: Option<u64>,
    /// What is wrong.
    pub error: Error,
    /// The schedule as text, for [`Kernel::replay`].
    pub schedule: String,
    /// How many seeds showed it; 1 where none was counted.
    pub times: u64,
    /// What tells its defect from others of the same kernel, in every process of this version: where the seeds of a hunt are
    /// shared among several, findings of one signature are one.
    pub signature: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

/// What a hunt came to. Printed, it is the last lines that `warpstep hunt` gives.
#[derive(Debug)]
pub struct Hunted {
    /// The distinct defects, by their smallest seeds.
    pub findings: Vec<Finding>,
    /// How many seeds were run.
    pub seeds: u64,
    /// How many of these reached a limit of their own: nothing is known of them.
    pub limited: u64,
    /// Whether all seeds were run that were asked for.
    pub complete: bool,
    summary: String,
}

impl fmt::Display for Hunted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.summary.trim_end())
    }
}

/// What a proof came to. Printed, it is the verdict with the models that it is about.
#[derive(Debug)]
pub struct Proof {
    /// Whether every schedule ends as it should: `None` when a limit was reached before anything was found.
    pub holds: Option<bool>,
    /// What does not: defects, other results than expected, runs that never end.
    pub findings: Vec<Finding>,
    /// States that were gone through.
    pub states: u64,
    summary: String,
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.summary.trim_end())
    }
}

impl Kernel<'_> {
    /// Runs the default schedule and one for each seed, on all cores ([`Kernel::jobs`]), and gives every distinct defect. The kernel's memory
    /// stays as it is.
    ///
    /// # Errors
    /// What is wrong with the launch; the kernel needs what warpstep cannot do; an error of warpstep.
    pub fn hunt(mut self, seeds: Range<u64>) -> Result<Hunted, Error> {
        self.sensible(false)?;
        let mut target = self.target(true)?;
        let unhunted = Limits::of_run(None, self.config.max_steps);
        let fair = target.play_fair(unhunted);
        if self.checks.contains(&Check::Deterministic) {
            target.compare_schedules(&fair);
        }
        let limits = Limits::of_run(Some(fair.clock), self.config.max_steps);
        let env = target.program();
        let watchers = || self.observers(&env);
        let steps = fair.fair_from.unwrap_or(u64::MAX);
        let first = target.record(Fair, Limits { steps, ..limits }, watchers());
        let mut findings: Vec<Finding> = self.finding(&target, None, &first)?.into_iter().collect();
        let strategy = Strategy::Random;
        let interrupted = AtomicBool::new(false);
        let asked = |_, _| {
            if self.interrupted.as_ref().is_some_and(Interrupted::is_so) {
                interrupted.store(true, Ordering::Relaxed);
            }
        };
        let search = Hunt {
            target: &target,
            strategy,
            seeds,
            limits,
            watchers: watchers().any().then_some(&watchers),
            keep_going: true,
            jobs: self.jobs.or_else(|| std::thread::available_parallelism().ok().map(Into::into)).unwrap_or(1),
            time: Stopwatch::start(target.bounds().search_left()),
            interrupted: &interrupted,
            progress: &asked,
        };
        let hunted = search.run();
        if let Ended::Unsupported(stop) | Ended::Internal(stop) = &hunted.ended {
            return Err(self.ended(&target, &Ending::Stopped(stop.clone())));
        }
        target.bounds().show();
        let by_default = !findings.is_empty();
        for found in &hunted.findings {
            let recorded = target.record(strategy.oracle(found.seed), limits, watchers());
            let finding = self.finding(&target, Some(found.seed), &recorded)?;
            findings.extend(finding.map(|finding| Finding { times: found.times, ..finding }));
        }
        let scope = hunt::Scope { models: &Models::of_target(&target), strategy, limits, measure: None };
        Ok(Hunted {
            findings,
            seeds: hunted.done.end - hunted.done.start,
            limited: hunted.limited,
            complete: hunted.ended == Ended::Done,
            summary: hunt::summary(&hunted, by_default, &scope),
        })
    }

    /// Goes through all states of the kernel, under every schedule that is fair as [`Kernel::progress`] says. Races are looked for
    /// in all of them on flat memory; other checks look at the runs that show what was found. The kernel's memory stays as it is.
    ///
    /// # Errors
    /// As of [`Kernel::hunt`].
    pub fn prove(mut self) -> Result<Proof, Error> {
        self.sensible(true)?;
        let target = self.target(true)?;
        let env = target.program();
        let bounds = target.bounds().clone();
        let mut poll = |_: &_| bounds.search_up();
        let mut options = Options::states(target.control() == ControlModel::Crs, &mut poll);
        options.max_states = self.max_states;
        options.max_steps = self.config.max_steps;
        options.max_bytes = Some(self.config.max_memory.unwrap_or(USUAL_MEMORY));
        options.races = self.checks.contains(&Check::Races).then(|| self.races());
        let how = Prove { progress: self.progress, fairness: Fairness::Weak, grain: Grain::Alike { blocks: true } };
        let proof = target
            .prove(how, &mut options, &|| self.observers(&env))
            .map_err(|stop| self.ended(&target, &Ending::Stopped(stop)))?;
        let mut findings = Vec::new();
        for shown in proof.defects.iter().chain(&proof.outcomes) {
            findings.extend(self.finding(&target, None, &shown.recorded)?);
        }
        for endless in &proof.endless {
            let ending = Ending::Stopped(endless.stop.clone());
            let signature = signature(Signature::of_end(&ending, &endless.shown.recorded.played.circle));
            let (error, schedule) = (self.ended(&target, &ending), saved(&target, &endless.shown.recorded));
            findings.push(Finding { seed: None, error, schedule, times: 1, signature });
        }
        Ok(self.proved(&target, &proof, findings))
    }

    fn proved(&self, target: &Target, proof: &Found, findings: Vec<Finding>) -> Proof {
        let models = Models::of_target(target);
        let scope = prove::Scope { models: &models, progress: self.progress, fairness: Fairness::Weak };
        let holds = match proof.proved {
            Proved::Holds => Some(true),
            Proved::Refuted => Some(false),
            Proved::Limit(_) => None,
        };
        Proof { holds, findings, states: proof.counts.states, summary: prove::summary(proof, &scope) }
    }

    /// A run's defect, if it shows one.
    fn finding(&self, target: &Target, seed: Option<u64>, recorded: &Recorded) -> Result<Option<Finding>, Error> {
        let ending = &recorded.played.ending;
        let error = || self.ended(target, ending);
        match ending {
            Ending::Stopped(stop) if stop.is_ours() || matches!(stop, Stop::Unsupported(..)) => Err(error()),
            ending if ending.is_defect() => {
                let signature = signature(Signature::of(&recorded.played));
                Ok(Some(Finding { seed, error: error(), schedule: saved(target, recorded), times: 1, signature }))
            }
            _ => Ok(None),
        }
    }

    pub(super) fn ended(&self, target: &Target, ending: &Ending) -> Error {
        Error::ended(ending, target.start().context().env(), target.start().sources())
    }
}

/// A signature as text.
fn signature(signature: Option<Signature>) -> String {
    signature.map_or_else(String::new, |signature| format!("{signature:?}"))
}

/// The text of a schedule of a run.
pub(super) fn saved(target: &Target, recorded: &Recorded) -> String {
    let (env, sources) = target.listing();
    let found = hunt::headline(&recorded.played.ending, env, sources);
    let named = target.spec().ptx.iter().map(|(path, _)| path.display().to_string()).collect();
    recorded.file(target, named, found).text()
}

//! A file of a suite: the default schedule as `warpstep run` has it, then those of seeds as `warpstep hunt` has them.

use crate::base::SourceMap;
use crate::check::{Bounds as Objects, Check, Observers, Races, Uninit};
use crate::cli::first::First;
use crate::cli::hunt::StrategyFlags;
use crate::cli::output;
use crate::cli::saved::as_typed;
use crate::cli::script::Scripted;
use crate::cli::script_search::fits;
use crate::cli::target::Common;
use crate::explore::{Ended, Ending, Hunt, Limits, Target, explained};
use crate::launch::{
    At, Device, Failure, Outcome, Problem, ProblemKind, Script, Spec, Suppressions, Wishes, load, run,
};
use crate::machine::{Config, Stopwatch};
use crate::program::env::ProgEnv;
use crate::report::suite::{Case, Gathering, Shown};
use crate::report::{EndedEarly, LostReport, RacesReport, ReliedReport, Roots, StopReport, Suppressed, more, problem};
use crate::verdict::{LimitKind, Silent, Stop};
use std::path::Path;
use std::time::Duration;

/// How files are tested.
pub(super) struct Settings<'a> {
    pub seeds: u64,
    pub strategy: StrategyFlags,
    pub roots: &'a Roots,
    pub colour: bool,
    /// Complaints about a file that are told at most.
    pub most: usize,
    /// Threads that run seeds of one file.
    pub jobs: usize,
    pub timeout: Option<Duration>,
    /// Defects that may stay, and the file that says so.
    pub known: Option<(&'a Suppressions, &'a SourceMap)>,
}

/// A program with its files.
type Listing<'a> = (&'a ProgEnv, &'a SourceMap);

/// A file being tested.
pub(super) struct Testing<'a> {
    set: &'a Settings<'a>,
    path: &'a Path,
    /// The flags, with what the file asks for.
    common: Common,
    found: Gathering<'a>,
    /// Which suppressions have matched.
    known: Option<Suppressions>,
    runs: u64,
    notes: Vec<String>,
}

impl<'a> Testing<'a> {
    /// A file, to be tested within the bounds that the flags have.
    pub fn new(path: &'a Path, common: Common, set: &'a Settings<'a>) -> Self {
        let found = Gathering::new(set.roots, set.colour);
        let known = set.known.map(|(known, _)| known.clone());
        Self { set, path, common, found, known, runs: 0, notes: Vec::new() }
    }

    /// Tests it; gives what came of it, and which suppressions have matched.
    pub fn run(mut self) -> (Case, Option<Suppressions>) {
        let mut sources = self.common.sources();
        match Script::read(self.path, &mut sources) {
            Ok(Some(script)) => self.script(script, sources),
            Ok(None) => self.launches(sources),
            Err(problems) => self.problems(&problems, &sources),
        }
        let name = self.set.roots.relative(&self.path.display().to_string());
        (Case::new(name, self.found, self.runs, self.common.checked(), self.notes), self.known)
    }

    /// An error of ours was met while it was tested.
    pub fn panicked(path: &Path, set: &Settings<'_>) -> Case {
        let mut found = Gathering::new(set.roots, set.colour);
        found.panicked();
        Case::new(set.roots.relative(&path.display().to_string()), found, 0, Vec::new(), Vec::new())
    }

    fn launches(&mut self, mut sources: SourceMap) {
        let spec = match self.common.spec(self.path, &mut sources) {
            Ok(spec) => spec,
            Err(problems) => return self.problems(&problems, &sources),
        };
        let (wishes, file) = (spec.test.clone(), sources.clone());
        if let Err(problems) = self.wish(&wishes) {
            return self.problems(&problems, &sources);
        }
        self.default_run(&spec, sources);
        let endless = self.found.findings.iter().all(|f| f.exit == 0 || matches!(f.limit, Some(LimitKind::Steps(_))));
        let seeds = self.seeds(&wishes);
        // That a run has no end is proved by seeds; what was found otherwise is told first.
        if seeds > 0 && endless {
            self.by_seeds(seeds);
        }
        if let Some((code, at)) = wishes.defect {
            self.found.wanted(code, at, self.runs, &file);
        }
    }

    fn seeds(&self, wishes: &Wishes) -> u64 {
        wishes.seeds.unwrap_or(0).max(self.set.seeds)
    }

    /// Takes the checks that the file asks for.
    fn wish(&mut self, wishes: &Wishes) -> Result<(), Vec<Problem>> {
        self.common = self.common.with_checks(&wishes.checks)?;
        if self.common.checks(Check::Deterministic) && self.seeds(wishes) == 0 {
            let why = "schedules are compared: give seeds = N beside it, or --seeds N";
            let at: At = wishes.checks.iter().find(|(name, _)| name == Check::Deterministic.name()).and_then(|c| c.1);
            let text = Check::Deterministic.name().to_owned();
            return Err(vec![ProblemKind::UnfitFlag { flag: "check", text, why }.at(at)]);
        }
        Ok(())
    }

    /// What `warpstep run` does.
    fn default_run(&mut self, spec: &Spec, mut sources: SourceMap) {
        let common = self.common.without(Check::Deterministic);
        let loaded = common.config(&mut sources).and_then(|config| {
            let env = load(&spec.ptx, config.control, &mut sources)?;
            Ok((env, config))
        });
        let (env, config) = match loaded {
            Ok(loaded) => loaded,
            Err(problems) => return self.problems(&problems, &sources),
        };
        common.bounds.count_from_here();
        let copy = sources.clone();
        let shown = Shown { seed: None, replay: Some(format!("warpstep run {}", self.typed(&common))) };
        let mut device = match Device::new(env, sources, config) {
            Ok(device) => device,
            Err(stop) => return self.stop(&stop, EndedEarly::default(), (&ProgEnv::default(), &copy), &shown),
        };
        let mut observers = common.observers(&device.context().program());
        let result = if observers.any() {
            run(spec, &mut device, &mut observers, None, &mut |_| ())
        } else {
            run(spec, &mut device, &mut Silent, None, &mut |_| ())
        };
        let result = result.map_err(|failure| failure.map_stop(|stop| observers.settle(stop)));
        self.observed(&observers, &device, &shown);
        self.ended(result, &device, &shown);
    }

    /// What observers have found by the end of the default run.
    fn observed(&mut self, observers: &Observers, device: &Device, shown: &Shown) {
        let (env, sources) = (device.context().env(), device.sources());
        if let Some(races) = observers.get::<Races>() {
            let races =
                RacesReport::new([races], sources).accept(|stop, env, sources| self.accept(stop, (env, sources)));
            races.by_lines().for_each(|report| self.found.stop(&report, shown));
            races.unordered().iter().for_each(|diagnostic| self.found.warning(diagnostic, sources, shown));
        }
        let relied = observers.uninit().map(Uninit::relied).unwrap_or_default();
        let relied = ReliedReport::new(&relied, env, sources).text();
        let lost = LostReport::new(observers.get().into_iter().flat_map(Objects::lost), env, sources).text();
        self.notes.extend([relied, lost].into_iter().filter(|note| !note.is_empty()));
    }

    fn ended(&mut self, result: Result<Outcome, Failure>, device: &Device, shown: &Shown) {
        let (env, sources) = (device.context().env(), device.sources());
        match result {
            Ok(outcome) => {
                self.runs += 1;
                self.found.unexpected(&outcome.unexpected, false, sources, shown);
            }
            Err(Failure::Input(problems)) => self.problems(&problems, sources),
            Err(Failure::Stop(mut stop)) => {
                self.runs += 1;
                explained(&mut stop, device);
                let standing = device.context().standing().to_vec();
                let target = Some(self.typed(&self.common));
                self.stop(&stop, EndedEarly { standing, target }, (env, sources), shown);
            }
        }
    }

    /// What `warpstep hunt` does.
    fn by_seeds(&mut self, seeds: u64) {
        let mut sources = self.common.sources();
        let target = match self.common.target(self.path, &mut sources) {
            Ok(target) => target,
            Err(Failure::Input(problems)) => return self.problems(&problems, &sources),
            Err(Failure::Stop(stop)) => {
                return self.stop(&stop, EndedEarly::default(), (&ProgEnv::default(), &sources), &Shown::default());
            }
        };
        let first = First::of(&target, &self.common);
        let again = format!("warpstep hunt {} --seeds 1", self.typed(&self.common));
        let shown = Shown { seed: None, replay: Some(again) };
        self.runs += 1;
        if first.unended() {
            let early = EndedEarly { standing: first.standing(), target: Some(self.typed(&self.common)) };
            if let Ending::Stopped(stop) = &first.fair.ending {
                self.stop(stop, early, target.listing(), &shown);
            }
        }
        if let Some(recorded) = first.record(&target, &self.common)
            && (recorded.played.ending.is_defect() || recorded.played.ending.stop().is_some_and(Stop::is_ours))
        {
            return self.ending(&recorded.played.ending, target.listing(), &shown);
        }
        if self.common.bounds.up().is_none() {
            self.hunt(&target, first.limits, seeds);
        }
    }

    fn hunt(&mut self, target: &Target, limits: Limits, seeds: u64) {
        let (strategy, _) = self.set.strategy.of(target, limits);
        let common = self.common.clone();
        let watch = || common.stopping(&target.program());
        let hunt = Hunt {
            target,
            strategy,
            seeds: 0..seeds,
            limits,
            watchers: if common.observes() { Some(&watch) } else { None },
            // One that may stay must not hide another.
            keep_going: self.known.is_some(),
            jobs: self.set.jobs,
            time: Stopwatch::start(target.bounds().search_left()),
            interrupted: output::interrupted(),
            progress: &|_, _| (),
        };
        let hunted = hunt.run();
        self.runs += hunted.done.end - hunted.done.start;
        target.bounds().show();
        let options = self.set.strategy.words();
        for finding in &hunted.findings {
            let recorded = target.record(strategy.oracle(finding.seed), limits, watch());
            let replay = format!("warpstep replay --seed {} {}{options}", finding.seed, self.typed(&common));
            let shown = Shown { seed: Some(finding.seed), replay: Some(replay) };
            self.ending(&recorded.played.ending, target.listing(), &shown);
        }
        let limit = match &hunted.ended {
            Ended::Done if hunted.limited > 0 && hunted.findings.is_empty() => Some(LimitKind::Steps(limits.steps)),
            Ended::Done => None,
            Ended::Time => Some(self.time()),
            Ended::Interrupted => Some(LimitKind::Interrupted),
            Ended::Memory(limit) => Some(*limit),
            Ended::Unsupported(stop) | Ended::Internal(stop) => {
                return self.stop(stop, EndedEarly::default(), target.listing(), &Shown::default());
            }
        };
        if let Some(limit) = limit {
            self.stop(&Stop::Limit(limit), EndedEarly::default(), target.listing(), &Shown::default());
        }
    }

    /// The limit of time, of which only a clock says when it is reached.
    fn time(&self) -> LimitKind {
        LimitKind::Time(u64::try_from(self.set.timeout.unwrap_or_default().as_millis()).unwrap_or(u64::MAX))
    }

    fn script(&mut self, script: Script, sources: SourceMap) {
        let (wishes, file) = (script.test.clone(), sources.clone());
        let fit = self.wish(&wishes).and_then(|()| fits(&self.common, &[], false));
        if let Err(problems) = fit {
            return self.problems(&problems, &sources);
        }
        let common = self.common.clone();
        let config = |sources: &mut SourceMap| Ok(Config { eager: true, ..common.config(sources)? });
        let mut all = match Scripted::ready((script, sources), config, &common.bounds) {
            Ok(all) => all,
            Err((problems, sources)) => return self.problems(&problems, &sources),
        };
        let typed = self.typed(&common);
        self.play(&mut all, None, None, format!("warpstep hunt {typed} --seeds 1"));
        let limits = Limits::of_run(Some(all.device.clock()), common.max_steps);
        for seed in 0..self.seeds(&wishes) {
            if self.found.exit() != 0 {
                break;
            }
            if let Some(limit) = common.bounds.search_up() {
                let limit = if let LimitKind::Time(_) = limit { self.time() } else { limit };
                self.stop(&Stop::Limit(limit), EndedEarly::default(), all.listing_of(None), &Shown::default());
                break;
            }
            let replay = format!("warpstep hunt {typed} --first-seed {seed} --seeds 1");
            self.play(&mut all, Some(seed), Some(limits.steps), replay);
        }
        if let Some((code, at)) = wishes.defect {
            self.found.wanted(code, at, self.runs, &file);
        }
    }

    /// Runs a host script once.
    fn play(&mut self, all: &mut Scripted, seed: Option<u64>, steps: Option<u64>, replay: String) {
        let shown = Shown { seed, replay: Some(replay) };
        let played = all.play(&self.common, seed, steps);
        match played {
            Ok(outcome) => self.ending(&Ending::of(outcome), all.listing_of(None), &shown),
            Err(Failure::Input(problems)) => return self.problems(&problems, all.listing_of(None).1),
            Err(Failure::Stop(stop)) => {
                let early = EndedEarly { standing: all.device.standing(), target: None };
                self.stop(&stop, early, all.listing_of(Some(&stop)), &shown);
            }
        }
        self.runs += 1;
    }

    /// Adds how a run ended.
    fn ending(&mut self, ending: &Ending, program: Listing<'_>, shown: &Shown) {
        match ending {
            Ending::Expected => {}
            Ending::Unexpected(what) => self.found.unexpected(what, false, program.1, shown),
            Ending::Differs(what) => self.found.unexpected(what, true, program.1, shown),
            Ending::Stopped(stop) => self.stop(stop, EndedEarly::default(), program, shown),
        }
    }

    fn stop(&mut self, stop: &Stop, early: EndedEarly, program: Listing<'_>, shown: &Shown) {
        let accepted = self.accept(stop, program);
        let report = StopReport::new(stop, program.0, program.1).ended(early).suppressed(accepted.as_ref());
        self.found.stop(&report, shown);
    }

    /// Why a defect may stay, if it may.
    fn accept(&mut self, stop: &Stop, (env, sources): Listing<'_>) -> Option<Suppressed> {
        let entry = self.known.as_mut()?.accept(stop, env, sources)?;
        let (_, file) = self.set.known?;
        Some(Suppressed::new(entry, file))
    }

    fn problems(&mut self, all: &[Problem], sources: &SourceMap) {
        for one in all.iter().take(self.set.most) {
            self.found.problem(&problem(one, sources), sources);
        }
        let left = all.len().saturating_sub(self.set.most);
        if left > 0 {
            self.notes.push(more(left, all.len()));
        }
    }

    /// The file with the flags that its runs have.
    fn typed(&self, common: &Common) -> String {
        let steps = common.max_steps.map_or_else(String::new, |steps| format!(" --max-steps {steps}"));
        format!("{}{steps}", as_typed(common, self.path))
    }
}

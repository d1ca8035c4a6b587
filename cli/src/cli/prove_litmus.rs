//! `warpstep prove` of a litmus test.

use super::form::Form;
use super::output;
use super::prove::Prove;
use super::report_flags::stopped;
use crate::base::SourceMap;
use crate::check::Check;
use crate::explore::space::Space;
use crate::launch::{Problem, ProblemKind, open};
use crate::litmus::{Board, Failure, Options as Layout, Outcome, Outcomes, Placement, lower, parse};
use crate::machine::{Config, ControlModel, MemoryModel};
use crate::program::env::ProgEnv;
use crate::report::document::Report;
use crate::report::parts::Exit;
use crate::report::prove::{RACES_EVERYWHERE, Scope};
use crate::report::{Models, StopReport, exit_code, litmus as text, sarif};
use crate::verdict::Stop;

impl Prove {
    /// Where the threads of a test run.
    const fn placement(&self) -> Placement {
        match (self.same_warp, self.blocks) {
            (true, _) => Placement::SameWarp,
            (_, true) => Placement::Blocks,
            _ => Placement::Warps,
        }
    }

    /// Whether the checks that are asked for go with a litmus test, of which no run is shown.
    fn fits_litmus(&self, config: &Config) -> Result<(), Vec<Problem>> {
        let everywhere = |check: &String| check == Check::Races.name() && config.memory == MemoryModel::Flat;
        let unfit = self.common.looks_at_runs().into_iter().find(|check| !everywhere(check));
        let why = "a search through a litmus test looks for races only, and on flat memory";
        let problem = |text| ProblemKind::UnfitFlag { flag: "--check", text, why }.at(None);
        unfit.map_or(Ok(()), |check| Err(vec![problem(check)]))
    }

    /// Tells the outcomes of a test, in the form that is asked for; `more`: what a log has besides.
    pub(super) fn tell_outcomes<'a>(
        &self,
        outcomes: &Outcomes<'_>,
        complete: bool,
        code: u8,
        report: &dyn Fn() -> Report<'a>,
        more: &dyn Fn(&mut sarif::Log),
    ) {
        match self.report.format {
            Form::Text if self.all => output::say(text::outcomes(outcomes, complete)),
            Form::Text => output::say(text::verdict(outcomes, complete)),
            Form::Json => output::print_json(&report()),
            Form::Sarif => {
                // A condition is about a test's outcomes: no place in it is at fault.
                let mut log = sarif::Log::default();
                more(&mut log);
                log.properties(&report(), &["stopped"]);
                output::print_sarif(log, code);
            }
        }
    }

    /// Says something where text is asked for.
    pub(super) fn say(&self, what: impl FnOnce() -> String) {
        if self.report.format == Form::Text {
            output::say(what());
        }
    }

    /// The same beside the answer.
    pub(super) fn complain(&self, what: impl FnOnce() -> String) {
        if self.report.format == Form::Text {
            output::complain(what());
        }
    }

    /// Goes through all states of a litmus test.
    pub(super) fn litmus(&self) -> Result<u8, u8> {
        let mut sources = SourceMap::default();
        let format = self.report.format;
        if let Some((flag, text)) = self.of_kernels() {
            let why = "it is of kernels: a litmus test is searched by one thread";
            return Err(output::refuse(ProblemKind::UnfitFlag { flag, text, why }, format));
        }
        let file = open(&self.path, &mut sources).map_err(|kind| output::refuse(kind, format))?;
        let content = sources.get(file).map_or_else(String::new, |source| source.text.clone());
        let (litmus, errors) = parse(file, &content);
        let complain = |errors: &[_], sources: &SourceMap| {
            output::diagnostics(errors.iter().map(|e| text::diagnostic(e, sources)), sources, format)
        };
        if !errors.is_empty() {
            return Err(complain(&errors, &sources));
        }
        if let Some(machine) = self.machine {
            return self.on_machine(machine, &litmus, (file, &sources));
        }
        let config = self.common.config(&mut sources).map_err(|p| output::problems(&p, &sources, format))?;
        let control = config.control.unwrap_or(ControlModel::Its);
        self.fits_litmus(&config).map_err(|p| output::problems(&p, &sources, format))?;
        let layout = Layout { placement: self.placement(), control: Some(control) };
        let lowered = lower(&litmus, file, layout, &mut sources).map_err(|failure| match failure {
            Failure::Gaps(gaps) => complain(&gaps, &sources),
            Failure::Refused(problems) => output::problems(&problems, &sources, format),
        })?;
        let stopped = |stop: &Stop, env: &ProgEnv| stopped(stop, (env, &sources), format);
        let config = Config { control: Some(control), ..config };
        let memory = config.memory.clone();
        self.common.bounds.count_from_here();
        let (grain, races) = (self.how().grain, self.common.searched_races());
        let board = Board::watched(&lowered, config, grain, races);
        let mut board = board.map_err(|stop| stopped(&stop, &lowered.env))?;
        let mut space: Space<Outcome> = self.bounded(control, |options| match &self.checkpoint {
            None => Ok(board.explore(&litmus, options)),
            Some(path) => {
                let owner = board.owner(&content);
                self.kept(path, owner, |kept| board.explore_on(&litmus, options, kept))
            }
        })?;
        let mut outcomes = Outcomes::new(&litmus);
        for (outcome, reaches) in &space.outcomes {
            outcomes.count(outcome.clone(), reaches.count);
        }
        let bounds = &self.common.bounds;
        bounds.show();
        let (endless, cut) = self.progress.endless_until(&space.graph, self.how().fairness, &|| bounds.up());
        space.limit = space.limit.or(cut);
        let mut code = space.found.iter().map(|found| exit_code(&found.stop)).max().unwrap_or(0);
        if format == Form::Text {
            space.found.iter().for_each(|found| _ = stopped(&found.stop, &lowered.env));
        }
        let verdict = outcomes.verdict();
        let complete = space.limit.is_none();
        let decided = outcomes.decided(complete);
        code = code.max(if !endless.is_empty() || decided && !verdict.holds { 1 } else { 0 });
        if !decided && code == 0 {
            code = 3;
        }
        let stops = || space.found.iter().map(|f| StopReport::new(&f.stop, &lowered.env, &sources));
        let report = || {
            let stopped = stops().map(|stop| stop.json()).collect();
            let ended = (&outcomes, space.limit);
            Report::Litmus(text::Tested::new(Exit(code), ended, &space.progress, endless.len(), stopped))
        };
        let log = |log: &mut sarif::Log| stops().for_each(|stop| log.stop(&stop));
        self.tell_outcomes(&outcomes, complete, code, &report, &log);
        if format == Form::Text {
            let models = Models::of(control, &memory);
            let scope = Scope { models: &models, progress: self.progress, fairness: self.how().fairness };
            output::complain(text::searched(&scope, &space.progress, endless.len(), space.found.len()));
            if races.is_some() {
                output::complain(RACES_EVERYWHERE);
                if !space.found.is_empty() {
                    output::complain("the condition is about the runs that came to their ends\n");
                }
            }
            if let Some(limit) = space.limit {
                stopped(&Stop::Limit(limit), &lowered.env);
            }
            self.tell_kept(space.limit);
        }
        Ok(code)
    }
}

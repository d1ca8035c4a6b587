//! `warpstep prove --machine lsc-mutex`: wavefronts and CPU threads behind the mutex mechanism of lockstep sequential consistency.

use super::form::Form;
use super::output;
use super::prove::Prove;
use crate::base::{FileId, SourceMap};
use crate::explore::lockstep::{Grain, Options, Search, Space, run};
use crate::explore::space::Progress;
use crate::launch::ProblemKind;
use crate::litmus::lockstep::Program;
use crate::litmus::lockstep_machine::{Compiled, Ended, compile};
use crate::litmus::tree::Litmus;
use crate::litmus::{Observed, Outcomes};
use crate::machine::ControlModel;
use crate::memory::lockstep::Readings;
use crate::report::document::Report;
use crate::report::litmus as text;
use crate::report::lockstep_machine::{self as told, MutexRun};
use crate::report::parts::Exit;
use crate::report::sarif;

/// Steps of the run whose requests are counted; straight programs take fewer than a thousand.
const STEPS: u64 = 1 << 16;

impl Prove {
    /// A flag that says something of other machines or of how they are searched.
    fn of_other_machines(&self) -> Option<&'static str> {
        let given = self.of_launches().into_iter().filter(|(flag, given)| *given && *flag != "--all");
        self.common.chooses_models().or_else(|| given.map(|(flag, _)| flag).next())
    }

    /// Goes through the executions of a test for wavefronts on the machine.
    pub(super) fn mutexes(
        &self,
        litmus: &Litmus,
        test: &Program,
        (file, sources): (FileId, &SourceMap),
    ) -> Result<u8, u8> {
        let format = self.report.format;
        if let Some(flag) = self.of_other_machines() {
            let why = "--machine lsc-mutex is a model of its own, searched in its own way: leave it out";
            return Err(output::refuse(ProblemKind::UnfitFlag { flag, text: String::new(), why }, format));
        }
        let compiled = compile(litmus, test)
            .map_err(|refused| output::diagnostics(std::iter::once(told::refused(&refused, file)), sources, format))?;
        let grain = if self.reduces() { Grain::Needed } else { Grain::Every };
        self.common.bounds.count_from_here();
        let space = self.behind_mutexes(&compiled, grain);
        let used = MutexRun::new(&compiled, &run(&compiled.program, Readings::REPAIRED, STEPS));
        let observed = Observed::of(litmus);
        let mut outcomes = Outcomes::new(litmus);
        for end in space.ends.keys() {
            outcomes.count(observed.outcome(&Ended { compiled: &compiled, end: *end }), 1);
        }
        self.common.bounds.show();
        let complete = space.limit.is_none();
        let (verdict, decided) = (outcomes.verdict(), outcomes.decided(complete));
        let refuted = decided && !verdict.holds && litmus.condition.is_some();
        let waiting = space.stuck.0 + space.endless.0;
        let code =
            if refuted || waiting != 0 { 1 } else { u8::from(!complete || !decided && litmus.condition.is_some()) * 3 };
        let counts = Progress { states: space.states, transitions: space.steps, ..Progress::default() };
        let report = || {
            let endless = usize::try_from(waiting).unwrap_or(usize::MAX);
            let tested = text::Tested::new(Exit(code), (&outcomes, space.limit), &counts, endless, Vec::new());
            Report::Litmus(tested.with_mutexes(used.clone()))
        };
        match format {
            Form::Text if self.all => output::say(text::outcomes(&outcomes, complete)),
            Form::Text => output::say(text::verdict(&outcomes, complete)),
            Form::Json => output::print_json(&report()),
            Form::Sarif => {
                let mut log = sarif::Log::default();
                log.properties(&report(), &["stopped"]);
                output::print_sarif(log, code);
            }
        }
        if format == Form::Text {
            output::complain(told::searched(&compiled, &space, grain));
            output::complain(used.text());
        }
        Ok(code)
    }

    fn behind_mutexes(&self, compiled: &Compiled, grain: Grain) -> Space {
        self.bounded(ControlModel::Its, |bounds| {
            let mut done = Progress::default();
            let mut poll = |states| {
                done.states = states;
                (bounds.poll)(&done)
            };
            let (fair, max_states) = (grain == Grain::Every, bounds.max_states);
            let mut options = Options { readings: Readings::REPAIRED, grain, fair, max_states, poll: &mut poll };
            Search::default().explore(&compiled.program, &mut options)
        })
    }
}

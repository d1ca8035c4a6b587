//! `warpstep prove --machine`: a test on the hardware that tests of its kind are for.

use super::machine_flags::Machine;
use super::output;
use super::prove::Prove;
use crate::axiom::cat::builtin;
use crate::axiom::{Limits, Way};
use crate::base::{FileId, SourceMap};
use crate::explore::space::Progress;
use crate::explore::{lockstep, promotion};
use crate::launch::ProblemKind;
use crate::litmus::rsp::{Region, Test};
use crate::litmus::rsp_machine::axioms::{Inclusion, judge};
use crate::litmus::rsp_machine::{self, Compiled, Scheme, races_until};
use crate::litmus::tree::Litmus;
use crate::litmus::{Final, Observed, Outcomes, Property, decide_until, lockstep as wavefronts, lockstep_machine};
use crate::machine::ControlModel;
use crate::memory::lockstep::Readings;
use crate::report::lockstep_machine::{self as told_mutexes, MutexRun};
use crate::report::parts::Exit;
use crate::report::rsp_machine::{self as told_rsp, Compared};
use crate::report::{document::Report, litmus as text};
use crate::verdict::LimitKind;

/// Accesses of a program whose candidate executions are gone through, one by one, to know whether it is racy. Of longer ones the engine for
/// memory models is asked.
const FEW: usize = 10;

/// How far it goes.
const LIMITS: Limits = Limits { bound: 1, choices: 200_000 };

/// Steps of the run whose requests are counted; straight programs take fewer than a thousand.
const STEPS: u64 = 1 << 16;

/// What a search on a machine came to.
struct Came {
    states: u64,
    steps: u64,
    limit: Option<LimitKind>,
    /// In how many states, or circles of them, somebody waits for ever.
    waiting: u64,
    /// Whether an execution is there that must not be.
    broken: bool,
}

impl Prove {
    /// Goes through the executions of a test on a machine that is made for tests of its kind.
    pub(super) fn on_machine(&self, machine: Machine, litmus: &Litmus, at: (FileId, &SourceMap)) -> Result<u8, u8> {
        let why = match (machine, &litmus.rsp, &litmus.lockstep) {
            (Machine::Rsp, Some(test), _) => return self.promotion(litmus, test, at),
            (Machine::LscMutex, _, Some(test)) => return self.mutexes(litmus, test, at),
            (Machine::Rsp, _, Some(_)) => "this test is for wavefronts: give --machine lsc-mutex",
            (Machine::Rsp, ..) => {
                "it runs programs with remote-scope promotion, which begin with `OpenCL` or `RSP`: leave it out"
            }
            (Machine::LscMutex, Some(_), _) => "this program is one with remote-scope promotion: give --machine rsp",
            (Machine::LscMutex, ..) => "it runs tests for wavefronts, which begin with `LSC`: leave it out",
        };
        let text = machine.name().to_owned();
        Err(output::refuse(ProblemKind::UnfitFlag { flag: "--machine", text, why }, self.report.format))
    }

    /// Refuses flags that say something of kernels and their models, or of how those are searched.
    fn fits_machine(&self, machine: Machine) -> Result<(), u8> {
        let scheme = |flag: &&str| machine == Machine::Rsp && *flag == "--scheme";
        let runs = self.common.given().map(|(flag, _)| flag).filter(|flag| !scheme(flag));
        let own = [("--first", self.first), ("--max-steps", self.common.max_steps.is_some())];
        let searches = self.of_launches().into_iter().filter(|(flag, _)| *flag != "--all").chain(own);
        let searches = searches.filter_map(|(flag, given)| given.then_some(flag));
        let Some(flag) = runs.chain(searches).next() else { return Ok(()) };
        let why = "a machine of --machine is a model of its own, searched in its own way: leave it out";
        Err(output::refuse(ProblemKind::UnfitFlag { flag, text: String::new(), why }, self.report.format))
    }

    /// Programs with remote-scope promotion.
    fn promotion(&self, litmus: &Litmus, test: &Test, (file, sources): (FileId, &SourceMap)) -> Result<u8, u8> {
        use promotion::{Grain, Options, explore};
        let format = self.report.format;
        self.fits_machine(Machine::Rsp)?;
        let scheme = Scheme::of(self.common.scheme());
        let refuse = |refused| output::diagnostics(std::iter::once(told_rsp::refused(&refused, file)), sources, format);
        let compiled = rsp_machine::compile(test, &scheme).map_err(refuse)?;
        let grain = if self.reduces() { Grain::Needed } else { Grain::Every };
        self.common.bounds.count_from_here();
        // Without graphs there are fewer states.
        let ghost = grain == Grain::Needed || compiled.events.len() <= FEW;
        let space = self.bounded(ControlModel::Its, |bounds| {
            let (max_states, max_bytes, poll) = (bounds.max_states, bounds.max_bytes, &mut *bounds.poll);
            explore(&compiled.program, &mut Options { grain, ghost, stuck: true, max_states, max_bytes, poll })
        });
        let ends = space.ends.keys().map(|end| rsp_machine::Ended { compiled: &compiled, test, end });
        let outcomes = outcomes(litmus, ends);
        self.common.bounds.show();
        let compared = if ghost { self.compare(litmus, test, &compiled, &space) } else { Compared::TooLong };
        let (waiting, broken) = (space.stuck.0, matches!(compared, Compared::Beyond(..)));
        let came = Came { states: space.states, steps: space.steps, limit: space.limit, waiting, broken };
        let against = compared.data(space.limit.is_some());
        let code = self.tell_came(&outcomes, &came, &|tested| tested.with_axioms(against.clone()));
        self.complain(|| told_rsp::searched(&space, grain, &compared));
        let shown = space.stuck.1.iter().map(|found| &found.path);
        let beyond = if let Compared::Beyond(_, path) = &compared { Some(path) } else { None };
        for path in beyond.into_iter().chain(shown) {
            self.say(|| told_rsp::table(test, &compiled, grain, path));
        }
        Ok(code)
    }

    /// Wavefronts and CPU threads behind the mutex mechanism of lockstep sequential consistency.
    fn mutexes(
        &self,
        litmus: &Litmus,
        test: &wavefronts::Program,
        (file, sources): (FileId, &SourceMap),
    ) -> Result<u8, u8> {
        use lockstep::{Grain, Options, Search, run};
        let format = self.report.format;
        self.fits_machine(Machine::LscMutex)?;
        let refuse =
            |refused| output::diagnostics(std::iter::once(told_mutexes::refused(&refused, file)), sources, format);
        let compiled = lockstep_machine::compile(litmus, test).map_err(refuse)?;
        let grain = if self.reduces() { Grain::Needed } else { Grain::Every };
        let (readings, fair) = (Readings::REPAIRED, grain == Grain::Every);
        self.common.bounds.count_from_here();
        let space = self.bounded(ControlModel::Its, |bounds| {
            let (max_states, max_bytes, poll) = (bounds.max_states, bounds.max_bytes, &mut *bounds.poll);
            let mut options = Options { readings, grain, fair, max_states, max_bytes, poll };
            Search::default().explore(&compiled.program, &mut options)
        });
        let used = MutexRun::new(&compiled, &run(&compiled.program, readings, STEPS));
        let ends = space.ends.keys().map(|end| lockstep_machine::Ended { compiled: &compiled, end: *end });
        let outcomes = outcomes(litmus, ends);
        self.common.bounds.show();
        let waiting = space.stuck.0 + space.endless.0;
        let came = Came { states: space.states, steps: space.steps, limit: space.limit, waiting, broken: false };
        let code = self.tell_came(&outcomes, &came, &|tested| tested.with_mutexes(used.clone()));
        self.complain(|| told_mutexes::searched(&compiled, &space, grain));
        self.complain(|| used.text());
        Ok(code)
    }

    /// Tells the outcomes of a test on a machine; gives the exit code.
    fn tell_came<'a>(
        &self,
        outcomes: &'a Outcomes<'_>,
        came: &Came,
        with: &dyn Fn(text::Tested<'a>) -> text::Tested<'a>,
    ) -> u8 {
        let complete = came.limit.is_none();
        let asks = outcomes.litmus().condition.is_some();
        let (verdict, decided) = (outcomes.verdict(), outcomes.decided(complete));
        let code = if came.broken || came.waiting != 0 || asks && decided && !verdict.holds {
            1
        } else {
            u8::from(!complete || asks && !decided) * 3
        };
        let counts = Progress { states: came.states, transitions: came.steps, ..Progress::default() };
        let report = || {
            let endless = usize::try_from(came.waiting).unwrap_or(usize::MAX);
            Report::Litmus(with(text::Tested::new(Exit(code), (outcomes, came.limit), &counts, endless, Vec::new())))
        };
        self.tell_outcomes(outcomes, complete, code, &report, &|_| ());
        code
    }

    /// Whether a program is racy, if that is found out.
    fn racy(&self, litmus: &Litmus, compiled: &Compiled) -> Option<bool> {
        let up = || self.common.bounds.up().is_some();
        if compiled.events.len() <= FEW {
            return races_until(compiled, &compiled.atomic, Inclusion::Section3, &up);
        }
        let decided = decide_until(litmus, builtin("rsp")?, Property::Drf, Way::Graphs, LIMITS, &up);
        match decided.witness {
            Some(_) => Some(true),
            None => (!decided.searched.limited).then_some(false),
        }
    }

    /// Compares the executions with the axioms.
    fn compare(&self, litmus: &Litmus, test: &Test, compiled: &Compiled, space: &promotion::Space) -> Compared {
        if test.locations.iter().any(|l| l.region == Region::Local) {
            return Compared::Local;
        }
        match self.racy(litmus, compiled) {
            Some(true) => return Compared::Racy,
            Some(false) => {}
            None => return Compared::TooLong,
        }
        let broken = |graph: &_| judge(compiled, &compiled.atomic, graph, Inclusion::Section3).violated;
        let found = space.ends.iter().find_map(|(end, path)| Some((broken(&end.graph)?, path)));
        found.map_or(Compared::Allowed, |(axiom, path)| Compared::Beyond(axiom, path.clone()))
    }
}

/// The outcomes of a test, from how its executions end.
fn outcomes<'a>(litmus: &'a Litmus, ends: impl Iterator<Item = impl Final>) -> Outcomes<'a> {
    let observed = Observed::of(litmus);
    let mut outcomes = Outcomes::new(litmus);
    for end in ends {
        outcomes.count(observed.outcome(&end), 1);
    }
    outcomes
}

//! `warpstep prove --machine rsp`: a program with remote-scope promotion on the hardware that it was designed for.

use super::form::Form;
use super::output;
use super::prove::Prove;
use crate::axiom::cat::builtin;
use crate::axiom::{Limits, Way};
use crate::base::{FileId, SourceMap};
use crate::explore::promotion::{Grain, Options, Space, explore};
use crate::explore::space::Progress;
use crate::litmus::rsp::{Region, Test};
use crate::litmus::rsp_machine::axioms::{Axiom, Inclusion, judge};
use crate::litmus::rsp_machine::{Compiled, Ended, Scheme, compile, races};
use crate::litmus::tree::Litmus;
use crate::litmus::{Observed, Outcomes, Property, decide};
use crate::machine::ControlModel;
use crate::report::document::Report;
use crate::report::litmus as text;
use crate::report::parts::Exit;
use crate::report::rsp_machine::{self as told, Compared};
use crate::report::sarif;

/// Accesses of a program whose candidate executions are gone through, one by one, to know whether it is racy. Of longer ones the engine for
/// memory models is asked.
const FEW: usize = 10;

/// How far it goes.
const LIMITS: Limits = Limits { bound: 1, choices: 200_000 };

impl Prove {
    /// Goes through the executions of a program on the machine.
    pub(super) fn promotion(
        &self,
        litmus: &Litmus,
        test: &Test,
        (file, sources): (FileId, &SourceMap),
    ) -> Result<u8, u8> {
        let format = self.report.format;
        let scheme = Scheme::of(self.common.scheme());
        let compiled = compile(test, &scheme)
            .map_err(|refused| output::diagnostics(std::iter::once(told::refused(&refused, file)), sources, format))?;
        let grain = if self.reduces() { Grain::Needed } else { Grain::Every };
        self.common.bounds.count_from_here();
        // Without graphs there are fewer states.
        let ghost = grain == Grain::Needed || compiled.events.len() <= FEW;
        let space = self.executions(&compiled, grain, ghost);
        let observed = Observed::of(litmus);
        let mut outcomes = Outcomes::new(litmus);
        for end in space.ends.keys() {
            outcomes.count(observed.outcome(&Ended { compiled: &compiled, test, end }), 1);
        }
        self.common.bounds.show();
        let compared = if ghost { compare(litmus, test, &compiled, &space) } else { Compared::TooLong };
        let complete = space.limit.is_none();
        let (verdict, decided) = (outcomes.verdict(), outcomes.decided(complete));
        let refuted = decided && !verdict.holds && litmus.condition.is_some();
        let broken = matches!(compared, Compared::Beyond(..)) || space.stuck.0 != 0;
        let code =
            if refuted || broken { 1 } else { u8::from(!complete || !decided && litmus.condition.is_some()) * 3 };
        let counts = Progress { states: space.states, transitions: space.steps, ..Progress::default() };
        let report = || {
            let endless = usize::from(space.stuck.0 != 0);
            Report::Litmus(text::Tested::new(Exit(code), (&outcomes, space.limit), &counts, endless, Vec::new()))
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
            output::complain(told::searched(&space, grain, &compared));
            if let Compared::Beyond(_, path) = &compared {
                output::say(told::table(test, &compiled, grain, path));
            }
            if let Some(found) = &space.stuck.1 {
                output::say(told::table(test, &compiled, grain, &found.path));
            }
        }
        Ok(code)
    }

    fn executions(&self, compiled: &Compiled, grain: Grain, ghost: bool) -> Space {
        self.bounded(ControlModel::Its, |bounds| {
            let mut done = Progress::default();
            let mut poll = |states| {
                done.states = states;
                (bounds.poll)(&done)
            };
            let max_states = bounds.max_states;
            explore(&compiled.program, &mut Options { grain, ghost, stuck: true, max_states, poll: &mut poll })
        })
    }
}

/// Whether a program is racy, if that is found out.
fn racy(litmus: &Litmus, compiled: &Compiled) -> Option<bool> {
    if compiled.events.len() <= FEW {
        return Some(races(compiled, &compiled.atomic, Inclusion::Section3));
    }
    let decided = decide(litmus, builtin("rsp")?, Property::Drf, Way::Graphs, LIMITS);
    match decided.witness {
        Some(_) => Some(true),
        None => (!decided.searched.limited).then_some(false),
    }
}

/// Compares the executions with the axioms.
fn compare(litmus: &Litmus, test: &Test, compiled: &Compiled, space: &Space) -> Compared {
    if test.locations.iter().any(|l| l.region == Region::Local) {
        return Compared::Local;
    }
    match racy(litmus, compiled) {
        Some(true) => return Compared::Racy,
        Some(false) => {}
        None => return Compared::TooLong,
    }
    let broken =
        |graph: &_| -> Option<Axiom> { judge(compiled, &compiled.atomic, graph, Inclusion::Section3).violated };
    let found = space.ends.iter().find_map(|(end, path)| Some((broken(&end.graph)?, path)));
    found.map_or(Compared::Allowed, |(axiom, path)| Compared::Beyond(axiom, path.clone()))
}

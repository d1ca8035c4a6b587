//! `warpstep prove --machine rsp`: a program with remote-scope promotion on the hardware that it was designed for.

use super::form::Form;
use super::output;
use super::prove::Prove;
use crate::base::{FileId, SourceMap};
use crate::explore::promotion::{Grain, Options, Space, explore};
use crate::explore::space::Progress;
use crate::litmus::rsp::{Region, Test};
use crate::litmus::rsp_machine::axioms::{Axiom, Inclusion, judge};
use crate::litmus::rsp_machine::{Compiled, Ended, Scheme, compile, races};
use crate::litmus::tree::Litmus;
use crate::litmus::{Observed, Outcomes};
use crate::machine::ControlModel;
use crate::report::document::Report;
use crate::report::litmus as text;
use crate::report::parts::Exit;
use crate::report::rsp_machine::{self as told, Compared};
use crate::report::sarif;

/// Accesses of a program of which it is asked whether it is racy: the answer goes through its candidate executions, one by one.
const COMPARED: usize = 10;

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
        let space = self.executions(&compiled, grain);
        let observed = Observed::of(litmus);
        let mut outcomes = Outcomes::new(litmus);
        for end in space.ends.keys() {
            outcomes.count(observed.outcome(&Ended { compiled: &compiled, test, end }), 1);
        }
        self.common.bounds.show();
        let compared = compare(test, &compiled, &space);
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

    fn executions(&self, compiled: &Compiled, grain: Grain) -> Space {
        self.bounded(ControlModel::Its, |bounds| {
            let mut done = Progress::default();
            let mut poll = |states| {
                done.states = states;
                (bounds.poll)(&done)
            };
            let max_states = bounds.max_states;
            // Without graphs there are fewer states.
            let ghost = compiled.events.len() <= COMPARED;
            explore(&compiled.program, &mut Options { grain, ghost, stuck: true, max_states, poll: &mut poll })
        })
    }
}

/// Compares the executions with the axioms.
fn compare(test: &Test, compiled: &Compiled, space: &Space) -> Compared {
    if test.locations.iter().any(|l| l.region == Region::Local) {
        return Compared::Local;
    }
    if compiled.events.len() > COMPARED {
        return Compared::TooLong(COMPARED);
    }
    if races(compiled, &compiled.atomic, Inclusion::Section3) {
        return Compared::Racy;
    }
    let broken =
        |graph: &_| -> Option<Axiom> { judge(compiled, &compiled.atomic, graph, Inclusion::Section3).violated };
    let found = space.ends.iter().find_map(|(end, path)| Some((broken(&end.graph)?, path)));
    found.map_or(Compared::Allowed, |(axiom, path)| Compared::Beyond(axiom, path.clone()))
}

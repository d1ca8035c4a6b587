//! What a machine shows of a test beside what a model allows.
//!
//! A machine is inside a model where the model allows every outcome that it shows. What it has not shown by the time a limit stops it, and what a
//! bound on loops hides from the model, is left open.

use super::decide::outcomes;
use super::error::LitmusError;
use super::events::Threads;
use super::explore::Board;
use super::lower::{Failure, Options as Layout, lower};
use super::outcome::{Outcome, Outcomes};
use super::tree::Litmus;
use crate::axiom::{Limits, Model, Question, Searched, Way, search_by};
use crate::base::{FileId, SourceMap};
use crate::explore::space::Options;
use crate::launch::Problem;
use crate::machine::Config;
use crate::machine::walk::Grain;
use crate::program::env::ProgEnv;
use crate::verdict::{LimitKind, Stop};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

/// What a machine shows of a test.
#[derive(Debug)]
pub struct Shown<'a> {
    /// The outcomes of the runs that end, as far as the test's filter keeps them.
    pub outcomes: Outcomes<'a>,
    /// Defects that stop other runs, one of each kind and place.
    pub stops: Vec<Stop>,
    /// The program that was run.
    pub env: Arc<ProgEnv>,
    /// Why there may be more outcomes.
    pub limit: Option<LimitKind>,
    /// States seen.
    pub states: u64,
}

/// Why a machine shows nothing of a test.
#[derive(Debug)]
pub enum NotShown {
    /// What it cannot express.
    Gaps(Vec<LitmusError>),
    /// The PTX of the test was refused.
    Refused(Vec<Problem>),
    /// It stopped before anybody had a choice, or for a reason that is none of the test's.
    Stopped(Stop),
}

/// Goes through all states of a test on a machine, within the bounds of `options`.
///
/// # Errors
/// What the machine cannot run.
pub fn shown<'a>(
    litmus: &'a Litmus,
    file: FileId,
    layout: Layout,
    config: Config,
    sources: &mut SourceMap,
    options: &mut Options<'_>,
) -> Result<Shown<'a>, NotShown> {
    let lowered = lower(litmus, file, layout, sources).map_err(|failure| match failure {
        Failure::Gaps(gaps) => NotShown::Gaps(gaps),
        Failure::Refused(problems) => NotShown::Refused(problems),
    })?;
    let config = Config { control: layout.control.or(config.control), ..config };
    let mut board = Board::new(&lowered, config, Grain::Visible).map_err(NotShown::Stopped)?;
    let space = board.explore(litmus, options);
    let mut outcomes = Outcomes::new(litmus);
    for (outcome, reaches) in &space.outcomes {
        outcomes.count(outcome.clone(), reaches.count);
    }
    let stops: Vec<Stop> = space.found.into_iter().map(|found| found.stop).collect();
    match stops.iter().find(|stop| stop.is_ours() || matches!(stop, Stop::Unsupported(..))) {
        Some(stop) => Err(NotShown::Stopped(stop.clone())),
        None => Ok(Shown { outcomes, stops, env: lowered.env, limit: space.limit, states: space.progress.states }),
    }
}

/// What a model says of an outcome.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Says {
    /// Some execution has it.
    Allowed,
    /// None has.
    Forbidden,
    /// A limit was reached before that was settled, or the bound on loops may hide it.
    Open,
}

/// How often loops are gone through at most, to find an outcome that fewer rounds do not come to.
const ROUNDS: u32 = 8;

/// What a model allows of a test.
#[derive(Debug)]
pub struct Permitted<'a> {
    litmus: &'a Litmus,
    model: &'a Model,
    way: Way,
    limits: Limits,
    /// The outcomes of the executions within the bound.
    pub outcomes: Outcomes<'a>,
    /// What the search for them did.
    pub searched: Searched,
}

impl<'a> Permitted<'a> {
    /// All that a model allows of a test, within limits, until `up` says so.
    #[must_use]
    pub fn of(litmus: &'a Litmus, model: &'a Model, way: Way, limits: Limits, up: &dyn Fn() -> bool) -> Self {
        let (outcomes, searched) = outcomes(litmus, model, way, limits, up);
        Self { litmus, model, way, limits, outcomes, searched }
    }

    /// Whether these are all the outcomes that there are.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        let Searched { bounded, limited, unsupported, .. } = &self.searched;
        !*bounded && !*limited && unsupported.is_none()
    }

    /// What the model says of an outcome. One that was not found is looked for by itself, and with more rounds of loops than the bound has,
    /// where that may matter.
    #[must_use]
    pub fn says(&self, outcome: &Outcome, up: &dyn Fn() -> bool) -> Says {
        if self.outcomes.has(outcome) {
            return Says::Allowed;
        }
        if self.is_whole() {
            return Says::Forbidden;
        }
        let mut limits = self.limits;
        loop {
            let searched = look_for(self.litmus, self.model, outcome, (self.way, limits), up);
            let Searched { found, bounded, limited, unsupported, .. } = searched;
            match (found > 0, limited || unsupported.is_some(), bounded) {
                (true, ..) => return Says::Allowed,
                (false, false, false) => return Says::Forbidden,
                (false, false, true) if limits.bound < ROUNDS => limits.bound = (limits.bound * 2).min(ROUNDS),
                _ => return Says::Open,
            }
        }
    }
}

/// Looks for an execution of exactly this outcome; stops as at a limit once `up` says so.
#[must_use]
pub fn look_for(
    litmus: &Litmus,
    model: &Model,
    outcome: &Outcome,
    (way, limits): (Way, Limits),
    up: &dyn Fn() -> bool,
) -> Searched {
    let (threads, stopped) = (Threads::of(litmus), Cell::new(false));
    let wanted = |registers: &[&[Option<u64>]], finals: &[Option<u64>]| {
        if up() {
            stopped.set(true);
            return Some(false);
        }
        let mut open = false;
        for (value, asked) in threads.observe(registers, finals).zip(&outcome.0) {
            match value {
                Some(value) if value != *asked => return Some(false),
                Some(_) => {}
                None => open = true,
            }
        }
        (!open).then_some(true)
    };
    let question = Question { finals: &threads.finals, wanted: &wanted, symmetries: &[], flagged: false };
    let first = &mut |_: &_| ControlFlow::Break(());
    let mut searched = search_by(way, &threads, model, &question, limits, first);
    searched.limited |= stopped.get();
    searched
}

/// An outcome that some model allows or some machine shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// The outcome.
    pub outcome: Outcome,
    /// What each model says of it.
    pub says: Vec<Says>,
    /// Whether each machine shows it.
    pub seen: Vec<bool>,
}

/// The outcomes of a test under all models and on all machines, in ascending order.
#[must_use]
pub fn rows(permitted: &[Permitted<'_>], shown: &[Option<&Shown<'_>>], up: &dyn Fn() -> bool) -> Vec<Row> {
    let allowed = permitted.iter().flat_map(|one| one.outcomes.iter());
    let all: BTreeSet<&Outcome> = allowed
        .chain(shown.iter().flatten().flat_map(|one| one.outcomes.iter()))
        .map(|(outcome, ..)| outcome)
        .collect();
    let row = |outcome: &Outcome| Row {
        outcome: outcome.clone(),
        says: permitted.iter().map(|one| one.says(outcome, up)).collect(),
        seen: shown.iter().map(|one| one.is_some_and(|one| one.outcomes.has(outcome))).collect(),
    };
    all.into_iter().map(row).collect()
}

/// How a machine and a model agree about a test.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Agreement {
    /// The model allows all that the machine shows, and it shows no more.
    Inside,
    /// The machine shows what the model forbids.
    Beyond,
    /// A limit was reached before that was settled.
    Limit,
    /// The machine does not run the test, or the axioms are not applied to what it does.
    Unsupported,
}

impl Agreement {
    /// How the machine and the model at these positions agree.
    #[must_use]
    pub fn of(
        rows: &[Row],
        (model, permitted): (usize, &Permitted<'_>),
        (machine, shown): (usize, Option<&Shown<'_>>),
    ) -> Self {
        let Some(shown) = shown else { return Self::Unsupported };
        let seen = |says: Says| rows.iter().any(|row| row.seen[machine] && row.says[model] == says);
        match (seen(Says::Forbidden), seen(Says::Open)) {
            (true, _) => Self::Beyond,
            (false, true) if permitted.searched.unsupported.is_some() => Self::Unsupported,
            (false, open) if open || shown.limit.is_some() => Self::Limit,
            _ => Self::Inside,
        }
    }
}

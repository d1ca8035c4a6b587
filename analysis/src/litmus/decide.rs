//! What a model says of a litmus test.

use super::asked::Asked;
use super::decided::{Decided, Property};
use super::outcome::{Observed, Outcome, Outcomes, Truth};
use super::tree::{Cond, Litmus};
use crate::axiom::{Axiom, Evaluation, Execution, Limits, Model, Question, Role, Searched, Way, search_by};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Decides safety or freedom from data races.
#[must_use]
pub fn decide(litmus: &Litmus, model: &Model, property: Property, way: Way, limits: Limits) -> Decided {
    decide_until(litmus, model, property, way, limits, &|| false)
}

/// The same, which stops as at a limit of choices once `up` says so.
#[must_use]
pub fn decide_until(
    litmus: &Litmus,
    model: &Model,
    property: Property,
    way: Way,
    limits: Limits,
    up: &dyn Fn() -> bool,
) -> Decided {
    if litmus.lockstep.is_some() && property == Property::Drf {
        let what = "the models of wavefronts say nothing of races: --property safety asks for the condition".to_owned();
        let searched = Searched { unsupported: Some(what), ..Searched::default() };
        return Decided { pass: false, witness: None, lasso: None, searched };
    }
    let stopped = Cell::new(false);
    let threads = Asked::of(litmus, model);
    let observed = Observed::of(litmus);
    let truth = litmus.condition.as_ref().map_or(Truth::None, Truth::of);
    let cond = litmus.condition.as_ref().map(|c| &c.cond);
    let flagged = property == Property::Drf;
    let wanted = |registers: &[&[Option<u64>]], finals: &[Option<u64>]| {
        if up() {
            stopped.set(true);
            return Some(false);
        }
        let values = threads.observe(registers, finals);
        let known = |cond: &Cond| cond.known(&observed, &values);
        let kept = litmus.filter.as_ref().map_or(Some(true), known);
        let asked = match cond {
            Some(cond) if !flagged => known(cond).map(|holds| holds != (truth == Truth::All)),
            _ => Some(true),
        };
        both(kept, asked)
    };
    let conds: Vec<&Cond> = litmus.filter.iter().chain(cond.filter(|_| !flagged)).collect();
    let symmetries = blind(litmus, &threads, &conds);
    let question = Question { finals: threads.finals(), wanted: &wanted, symmetries: &symmetries, flagged };
    let mut witness = None;
    let mut searched = search_by(way, threads.program(), model, &question, limits, &mut |execution| {
        witness = Some(execution.clone());
        ControlFlow::Break(())
    });
    searched.limited |= stopped.get();
    let pass = witness.is_some() == (truth == Truth::Some && !flagged);
    Decided { pass, witness, lasso: None, searched }
}

/// The ways in which threads may change places so that conditions say the same.
fn blind(litmus: &Litmus, threads: &Asked, conds: &[&Cond]) -> Vec<Vec<usize>> {
    let mut all = threads.symmetries();
    all.retain(|symmetry| {
        let to = |number: u32| litmus.thread(number).map_or(number, |at| litmus.threads[symmetry[at]].number);
        conds.iter().all(|cond| cond.blind_to(&to))
    });
    all
}

/// What the executions come to that a model allows, each outcome counted once; the search stops as at a limit once `up` says so.
#[must_use]
pub fn outcomes<'a>(
    litmus: &'a Litmus,
    model: &Model,
    way: Way,
    limits: Limits,
    up: &dyn Fn() -> bool,
) -> (Outcomes<'a>, Searched) {
    let threads = Asked::of(litmus, model);
    let observed = Observed::of(litmus);
    let (stopped, seen) = (Cell::new(false), RefCell::new(BTreeSet::new()));
    let wanted = |registers: &[&[Option<u64>]], finals: &[Option<u64>]| {
        if up() {
            stopped.set(true);
            return Some(false);
        }
        let values = threads.observe(registers, finals);
        let kept = litmus.filter.as_ref().map_or(Some(true), |filter| filter.known(&observed, &values));
        let new = values.into_iter().collect::<Option<Vec<_>>>().map(|all| !seen.borrow().contains(&Outcome(all)));
        both(kept, new)
    };
    let question = Question { finals: threads.finals(), wanted: &wanted, symmetries: &[], flagged: false };
    let mut all = Outcomes::new(litmus);
    let mut searched = search_by(way, threads.program(), model, &question, limits, &mut |execution| {
        let outcome = outcome(&threads, execution);
        if seen.borrow_mut().insert(outcome.clone()) {
            all.count(outcome, 1);
        }
        ControlFlow::Continue(())
    });
    searched.limited |= stopped.get();
    (all, searched)
}

/// What an execution comes to.
fn outcome(threads: &Asked, execution: &Execution) -> Outcome {
    let registers: Vec<Vec<Option<u64>>> =
        execution.registers.iter().map(|all| all.iter().copied().map(Some).collect()).collect();
    let registers: Vec<&[Option<u64>]> = registers.iter().map(Vec::as_slice).collect();
    let finals: Vec<Option<u64>> = execution.finals.iter().map(|(_, value)| Some(*value)).collect();
    Outcome(threads.observe(&registers, &finals).into_iter().map(Option::unwrap_or_default).collect())
}

/// Whether an execution shows what it was given for, by the plainest reading of the model: an error of ours, if it does not.
///
/// # Errors
/// What is wrong with it, as a clause.
pub fn accept(litmus: &Litmus, model: &Model, property: Property, execution: &Execution) -> Result<(), String> {
    let evaluation = Evaluation::of(model, &execution.bases(model));
    if let Some(finding) = evaluation.failed() {
        return Err(format!(
            "a witness of `{}` is refused by the axiom `{}` of {}",
            litmus.name, finding.axiom.name, model.name
        ));
    }
    if property == Property::Liveness {
        return Ok(());
    }
    let (observed, outcome) = (Observed::of(litmus), outcome(&Asked::of(litmus, model), execution));
    let holds = |cond: &Cond| cond.holds(&observed, &outcome);
    let right = litmus.filter.as_ref().is_none_or(holds)
        && match &litmus.condition {
            _ if property == Property::Drf => !evaluation.flags().is_empty(),
            Some(asked) => holds(&asked.cond) != (Truth::of(asked) == Truth::All),
            None => true,
        };
    if right { Ok(()) } else { Err(format!("a witness of `{}` is not what was asked for", litmus.name)) }
}

/// The axioms of a model without which it would allow what is asked for, by their numbers, each with an execution of that; and, where no single one is
/// needed, an execution that no axiom is asked about.
#[must_use]
pub fn needed(
    litmus: &Litmus,
    model: &Model,
    property: Property,
    way: Way,
    limits: Limits,
    up: &dyn Fn() -> bool,
) -> (Vec<(usize, Execution)>, Option<Execution>) {
    let without = |kept: &dyn Fn(usize, &Axiom) -> bool| {
        let axioms = model.axioms.iter().enumerate().filter(|(k, a)| a.role == Role::Flag || kept(*k, a));
        let model = Model { axioms: axioms.map(|(_, a)| a.clone()).collect(), ..model.clone() };
        decide_until(litmus, &model, property, way, limits, up).witness
    };
    let all = (0..model.axioms.len()).filter(|k| model.axioms[*k].role == Role::Axiom);
    let needed: Vec<_> = all.filter_map(|k| Some((k, without(&|other, _| other != k)?))).collect();
    let free = if needed.is_empty() { without(&|_, _| false) } else { None };
    (needed, free)
}

/// What holds only if both do.
fn both(one: Option<bool>, two: Option<bool>) -> Option<bool> {
    match (one, two) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

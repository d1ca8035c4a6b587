//! Where the axioms do not apply: to a program that has a data race of accesses which overlap in part (PTX ISA 8.7.2).

use super::Kernel;
use super::asks::{Asks, Judged};
use super::watched::{Watched, first};
use crate::axiom::{Limits, Model, Question, Role, Way};
use crate::litmus::decided::Decided;
use std::cell::Cell;

/// The flag by which a model says that there is such a race.
pub const MIXED_SIZE_RACE: &str = "mixed-size-race";

/// What is judged of a kernel, unless that means nothing: where accesses overlap in part, an execution is looked for in which these race. Such a
/// race is what is asked for itself where races are; otherwise nothing is known of the kernel, neither that something holds nor that
/// it does not.
///
/// Rule: D-axiom-mixed-race
pub(super) fn where_axioms_apply(
    kernel: &Kernel,
    model: &Model,
    asks: &Asks,
    (way, limits): (Way, Limits),
    up: &dyn Fn() -> bool,
    mut judged: Judged,
) -> Judged {
    let searched = &mut judged.decided.searched;
    let mut model = model.clone();
    model.axioms.retain(|axiom| axiom.role == Role::Axiom || axiom.name == MIXED_SIZE_RACE);
    let flagged = model.axioms.iter().any(|axiom| axiom.role == Role::Flag);
    if matches!(asks, Asks::Races) || !searched.mixed || searched.unsupported.is_some() || !flagged {
        return judged;
    }
    let stopped = Cell::new(false);
    let wanted = |_: &[&[Option<u64>]], _: &[Option<u64>]| {
        stopped.set(stopped.get() || up());
        Some(!stopped.get())
    };
    let question = Question { finals: &[], wanted: &wanted, symmetries: &[], flagged: true };
    let watched = Watched::new(kernel, false);
    let (race, more) = first(way, &watched, &model, &question, limits);
    searched.choices += more.choices;
    if race.is_some() {
        let what = "accesses of different widths race in an execution, and the axioms do not apply to a program \
                    with such a race: `--property drf` shows it";
        searched.unsupported = Some(what.to_owned());
    } else if more.unsupported.is_some() {
        searched.unsupported = more.unsupported;
    } else if more.limited || stopped.get() {
        searched.limited = true;
    } else {
        return judged;
    }
    let searched = judged.decided.searched;
    let decided = Decided { pass: false, witness: None, lasso: None, searched };
    Judged { decided, mismatches: Vec::new(), defect: None, gap: None }
}

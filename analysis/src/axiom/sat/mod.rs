//! Deciding by a formula (way `sat`), as section 6 of the paper does: what threads may do and how they may be related are literals, the
//! model and the question are clauses, and a solver looks for values.
//!
//! The formula never excludes an execution that is allowed. What a solver finds is executed, and judged as any execution is
//! ([`Evaluation`]); what is not allowed after all is excluded by one more clause. So errors of the formula can cost
//! time, or hide something, but make up nothing.

mod choices;
mod cnf;
mod decode;
mod grounds;
mod pairs;
mod relations;
mod unfold;

use super::execution::Execution;
use super::model::Model;
use super::program::{End, Program};
use super::question::{Limits, Question, Searched, asked_for, total};
use cnf::Formula;
use decode::Decoder;
use relations::Encoder;
use std::ops::ControlFlow;
use unfold::{Unfolding, unfold};

/// Calls `found` with each execution that is wanted and allowed; one for each way to read and each last value that is asked about.
pub(super) fn search(
    program: &dyn Program,
    model: &Model,
    question: &Question<'_>,
    limits: Limits,
    found: &mut dyn FnMut(&Execution) -> ControlFlow<()>,
) -> Searched {
    let unfolding = unfold(program, asked_for(program, question), limits.bound);
    let mut done = ended(&unfolding);
    if done.limited {
        return done;
    }
    let up = || question.is_over(program.threads());
    let mut formula = Formula::new(limits.choices, &up);
    let total = total(model);
    let world = choices::world(program, model, &unfolding, question.finals, total, &mut formula);
    Encoder::new(model, &world, &mut formula, question.flagged).encode(question.flagged);
    Decoder {
        program,
        model,
        question,
        bound: limits.bound,
        unfolding: &unfolding,
        world: &world,
        formula: &mut formula,
    }
    .run(&mut done, found);
    done.choices = formula.decisions();
    done
}

/// How threads end.
fn ended(unfolding: &Unfolding) -> Searched {
    let mut done = Searched { limited: unfolding.cut, ..Searched::default() };
    if unfolding.mixed {
        done.unsupported = Some("accesses of different widths overlap".to_owned());
    }
    for end in unfolding.branches.iter().filter_map(|branch| branch.end.as_ref()) {
        match end {
            End::Bound => done.bounded = true,
            End::Fault(kind) => {
                done.faults += 1;
                done.fault.get_or_insert(*kind);
            }
            End::Unsupported(what) => {
                done.unsupported.get_or_insert_with(|| what.clone());
            }
            End::Done | End::Spin | End::Contradiction | End::Stalled(_) => {}
        }
    }
    done
}

//! Deliberate errors in the way `graphs`: on tests made by chance it then differs from the way `candidates`.

use std::panic::catch_unwind;
use warpstep::axiom::cat::builtin;
use warpstep::axiom::{Model, Way};
use warpstep::base::mutant::{Mutant, select};
use warpstep::litmus::tree::Litmus;

#[expect(dead_code, reason = "differences are not made small")]
#[path = "ways/compare.rs"]
mod compare;
#[path = "ways/generate.rs"]
mod generate;

use compare::{LIMITS, Outcomes, outcomes, parsed};

/// The mutants.
const MUTANTS: [Mutant; 6] = [
    Mutant::SourceLost,
    Mutant::NoLaterSource,
    Mutant::SequenceBackwards,
    Mutant::DifferenceOneSided,
    Mutant::FirstOrderOnly,
    Mutant::LastIsOverwritten,
];

/// So many tests of each model.
const TESTS: u64 = 60;

/// A test with what is right.
struct Case {
    litmus: Litmus,
    model: &'static Model,
    right: Outcomes,
}

fn cases() -> Vec<Case> {
    let models = ["ptx-v6.0", "ptx-v7.5", "vulkan"];
    let all = models.iter().flat_map(|name| (0..TESTS).map(move |number| (*name, number)));
    let case = |(name, number)| {
        let litmus = parsed(&generate::test(generate::Family::of(name), number));
        let model = builtin(name)?;
        let right = outcomes(&litmus, model, Way::Candidates, false, LIMITS)?;
        Some(Case { litmus, model, right })
    };
    all.filter_map(case).collect()
}

/// On how many tests the way differs, or fails.
fn noticed(cases: &[Case], mutant: Option<Mutant>) -> usize {
    let differs = |case: &&Case| {
        select(mutant);
        let found = catch_unwind(|| outcomes(&case.litmus, case.model, Way::Graphs, false, LIMITS));
        select(None);
        found.map_or(true, |found| found.is_some_and(|found| found != case.right))
    };
    cases.iter().filter(differs).count()
}

pub fn are_noticed() {
    let cases = cases();
    assert_eq!(noticed(&cases, None), 0);
    for mutant in MUTANTS {
        let count = noticed(&cases, Some(mutant));
        eprintln!("{}: noticed on {count} of {} tests", mutant.name(), cases.len());
        assert!(count > 0, "nothing tells {} apart", mutant.name());
    }
}

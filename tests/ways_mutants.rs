//! Deliberate errors in the ways `graphs` and `sat`: on tests made by chance they then differ from the way `candidates`.

use std::panic::catch_unwind;
use warpstep::axiom::cat::builtin;
use warpstep::axiom::{Model, Way};
use warpstep::base::mutant::{Mutant, select};
use warpstep::litmus::tree::Litmus;

#[expect(dead_code, reason = "differences are not made small")]
#[path = "ways/compare.rs"]
pub mod compare;
#[path = "ways/generate.rs"]
pub mod generate;

use compare::{LIMITS, Outcomes, outcomes, parsed};
use generate::Family;

/// The mutants of the way `graphs`.
const GRAPHS: &[Mutant] = &[
    Mutant::SourceLost,
    Mutant::NoLaterSource,
    Mutant::SequenceBackwards,
    Mutant::DifferenceOneSided,
    Mutant::FirstOrderOnly,
    Mutant::LastIsOverwritten,
];

/// Those of the way `sat`.
const SAT: &[Mutant] = &[Mutant::GroundsUnasked, Mutant::ConstantsUntried, Mutant::LastWritesAlike];

/// So many tests of each family.
const TESTS: u64 = 60;

/// A test with what is right.
struct Case {
    litmus: Litmus,
    model: &'static Model,
    right: Outcomes,
}

fn cases() -> Vec<Case> {
    let models = ["ptx-v6.0", "ptx-v7.5", "vulkan"].map(|name| (name, Family::of(name)));
    let families = models.into_iter().chain([("vulkan", Family::Circles)]);
    let all = families.flat_map(|family| (0..TESTS).map(move |number| (family, number)));
    let case = |((name, family), number)| {
        let litmus = parsed(&generate::test(family, number));
        let model = builtin(name)?;
        let right = outcomes(&litmus, model, Way::Candidates, false, LIMITS)?;
        Some(Case { litmus, model, right })
    };
    all.filter_map(case).collect()
}

/// On how many tests a way differs, or fails.
fn noticed(cases: &[Case], way: Way, mutant: Option<Mutant>) -> usize {
    let differs = |case: &&Case| {
        select(mutant);
        let found = catch_unwind(|| outcomes(&case.litmus, case.model, way, false, LIMITS));
        select(None);
        found.map_or(true, |found| found.is_some_and(|found| found != case.right))
    };
    cases.iter().filter(differs).count()
}

pub fn are_noticed() {
    let cases = cases();
    for (way, mutants) in [(Way::Graphs, GRAPHS), (Way::Sat, SAT)] {
        assert_eq!(noticed(&cases, way, None), 0);
        for mutant in mutants {
            let count = noticed(&cases, way, Some(*mutant));
            eprintln!("{}: noticed on {count} of {} tests", mutant.name(), cases.len());
            assert!(count > 0, "nothing tells {} apart", mutant.name());
        }
    }
}

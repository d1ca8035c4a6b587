//! Deliberate errors in the ways `graphs` and `sat`: on tests made by chance they then differ from the way `candidates`.

use std::panic::catch_unwind;
use warpstep::axiom::cat::builtin;
use warpstep::axiom::{Limits, Model, Way};
use warpstep::base::mutant::{Mutant, select};
use warpstep::explore::Progress;
use warpstep::litmus::tree::Litmus;
use warpstep::litmus::{Decided, liveness, liveness_plainly};

#[path = "ways/compare.rs"]
pub mod compare;
#[path = "ways/generate.rs"]
pub mod generate;
#[path = "ways/loops.rs"]
mod loops;

use compare::{LIMITS, Outcomes, outcomes, parsed};
use generate::Family;

/// The mutants of the way `graphs`.
const GRAPHS: &[Mutant] = &[
    Mutant::SourceLost,
    Mutant::NoLaterSource,
    Mutant::NothingComes,
    Mutant::SequenceBackwards,
    Mutant::DifferenceOneSided,
    Mutant::FirstOrderOnly,
    Mutant::LastIsOverwritten,
];

/// Those of the way `sat`.
const SAT: &[Mutant] = &[Mutant::GroundsUnasked, Mutant::ConstantsUntried, Mutant::LastWritesAlike];

/// Those of liveness.
const LIVENESS: &[Mutant] = &[Mutant::OneSpins, Mutant::StoresIrrelevant];

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

/// On how many tests with loops the verdict about liveness is another one than by the definition alone.
fn unlike_the_definition(mutant: Option<Mutant>) -> usize {
    let models = [("ptx-v6.0", false), ("vulkan", true)];
    let differs = |(name, vulkan): (&str, bool), number: u64| {
        let by_hand = number == 0 && !vulkan;
        let text = if by_hand { loops::both_wait("") } else { loops::test(vulkan, number) };
        let litmus = parsed(&text);
        let (model, limits) = (builtin(name)?, Limits { bound: 2, choices: 20_000 });
        let plain = liveness_plainly(&litmus, model, Progress::Fair, limits);
        select(mutant);
        let quick = catch_unwind(|| liveness(&litmus, model, Progress::Fair, limits));
        select(None);
        let Ok(quick) = quick else { return Some(true) };
        let open = |d: &Decided| d.pass && d.searched.limited;
        Some(!open(&plain) && !open(&quick) && quick.pass != plain.pass)
    };
    let all = models.into_iter().flat_map(|model| (0..150).map(move |number| (model, number)));
    all.filter(|(model, number)| differs(*model, *number) == Some(true)).count()
}

pub fn are_noticed() {
    assert_eq!(unlike_the_definition(None), 0);
    for mutant in LIVENESS {
        let count = unlike_the_definition(Some(*mutant));
        eprintln!("{}: noticed on {count} of 300 tests", mutant.name());
        assert!(count > 0, "nothing tells {} apart", mutant.name());
    }
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

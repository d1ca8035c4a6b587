//! Deliberate errors in the mutex mechanism: some small program then has other outcomes, or waits otherwise.

use crate::lockstep_model::outcomes;
use crate::lockstep_shapes::{Shape, exchange, load, program, store};
use std::collections::BTreeSet;
use warpstep::base::mutant::{Mutant, select};
use warpstep::explore::lockstep::{Grain, Options, Search};
use warpstep::memory::lockstep::{Outcome, Program, Readings, Source};

/// Errors that change what is done; the outcomes may all be right.
const OTHERS: &[Mutant] = &[
    Mutant::LscRefusalGrants,
    Mutant::LscAcquiredPending,
    Mutant::LscUnasked,
    Mutant::LscQueueDrops,
    Mutant::LscUncoalesced,
    Mutant::LscAskBeside,
    Mutant::LscRequestUncounted,
    Mutant::LscLateKept,
    Mutant::LscLoadsStay,
];

/// Those that drop a part of the mechanism on which its outcomes depend: they are not lockstep sequentially consistent then.
const BROKEN: &[Mutant] = &[
    Mutant::LscOutOfOrder,
    Mutant::LscReleaseEarly,
    Mutant::LscStoresUnheld,
    Mutant::LscLoadsUnheld,
    Mutant::LscNoBlock,
    Mutant::LscRetireAnyOrder,
    Mutant::LscGrantsTaken,
    Mutant::LscGrantUnmarked,
    Mutant::LscHandedOverFree,
    Mutant::LscHashOfAsker,
    Mutant::LscCommitUnheld,
    Mutant::LscUnbuffered,
    Mutant::LscNoForward,
    Mutant::LscRetireUnheld,
];

fn programs() -> Vec<Source> {
    let lines = &[0, 1, 2];
    let (x, y): (&[u8], &[u8]) = (&[0], &[1]);
    let of = |waves: &[&[Shape]], cpus: &[&[Shape]]| program(waves, cpus, lines, 4);
    let (one, other) = (&[store(x), load(y)], &[store(y), load(x)]);
    let (writer, reader) = (&[store(x), store(y)], &[load(y), load(x)]);
    vec![
        of(&[one, other], &[]),
        of(&[one], &[other]),
        of(&[], &[one, other]),
        of(&[one, &[store(y)], reader], &[]),
        of(&[one, reader], &[&[store(y)]]),
        of(&[reader], &[one, &[store(y)]]),
        of(&[writer, reader], &[]),
        of(&[reader], &[writer]),
        of(&[&[store(x), load(x)]], &[&[store(x), load(x)]]),
        of(&[&[store(&[0, 1]), load(&[2])], &[store(&[2]), load(&[0])]], &[]),
        of(&[&[store(&[0, 0])]], &[&[load(x), load(x)]]),
        of(&[&[store(y)]], &[one]),
        of(&[&[exchange(x)]], &[&[exchange(x), load(y)], &[store(y), load(x)]]),
        // All of it falsely shared.
        program(&[&[store(x), store(y)]], &[one, other], lines, 1),
    ]
}

/// The outcomes of a program, and in how many states and parts of the graph it waits for ever.
fn looks(source: &Source) -> (BTreeSet<Outcome>, [u64; 2]) {
    let program = Program::new(source).unwrap();
    let all = Options::new(Readings::REPAIRED, Grain::Every);
    let options = &mut Options { fair: true, max_states: Some(300_000), ..all };
    let space = Search::default().explore(&program, options);
    (space.ends.keys().copied().collect(), [space.stuck.0, space.endless.0])
}

pub fn are_noticed() {
    let all = programs();
    select(None);
    let right: Vec<_> = all.iter().map(looks).collect();
    let allowed: Vec<BTreeSet<_>> = all.iter().map(|source| outcomes(source).0.into_iter().collect()).collect();
    for ((ends, waits), allowed) in right.iter().zip(&allowed) {
        assert!(ends.is_subset(allowed) && *waits == [0, 0]);
    }
    // The loads of figure 7 pass the stores indeed: nothing but the mutexes is in the way of (0, 0).
    let neither = |ends: &BTreeSet<Outcome>| ends.iter().any(|end| end.register(0) == 0 && end.register(1) == 0);
    for (mutant, program) in [(Mutant::LscLoadsUnheld, 0), (Mutant::LscCommitUnheld, 2)] {
        select(Some(mutant));
        let wrong = looks(&all[program]).0;
        select(None);
        assert!(neither(&wrong) && !neither(&right[program].0), "{mutant:?}");
    }
    let mut missed = Vec::new();
    for (mutant, broken) in BROKEN.iter().map(|m| (m, true)).chain(OTHERS.iter().map(|m| (m, false))) {
        select(Some(*mutant));
        let wrong: Vec<_> = all.iter().map(looks).collect();
        select(None);
        let breaks = || wrong.iter().zip(&allowed).any(|((ends, _), allowed)| !ends.is_subset(allowed));
        let noticed = if broken { breaks() } else { wrong != right };
        missed.extend((!noticed).then(|| mutant.name()));
    }
    assert!(missed.is_empty(), "{missed:?}");
}

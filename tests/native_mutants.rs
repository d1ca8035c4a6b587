//! Deliberate errors in what makes native code: some random program can then tell it from the interpreter.

use crate::native_functions::called_in_turn;
use crate::native_programs::{compared, compared_under, written, written_under};
use std::panic::{AssertUnwindSafe, catch_unwind};
use warpstep::base::mutant::{Mutant, select};
use warpstep::check::Check;

const MUTANTS: &[Mutant] = &[
    Mutant::NativeNan,
    Mutant::NativeRow,
    Mutant::NativeOrder,
    Mutant::NativeWrap,
    Mutant::NativeLift,
    Mutant::NativeRead,
    Mutant::NativeTokens,
    Mutant::NativeHidden,
    Mutant::NativePredicates,
    Mutant::NativeEnds,
    Mutant::NativeLate,
    Mutant::NativeFuel,
    Mutant::NativeMeet,
    Mutant::NativeShift,
    Mutant::NativeLanes,
    Mutant::NativeLast,
    Mutant::NativeIdle,
    Mutant::NativeApart,
    Mutant::NativeNan64,
    Mutant::NativeNans,
    Mutant::NativeImpatient,
    Mutant::NativeNowhere,
    Mutant::NativeSides,
    Mutant::NativeMerge,
    Mutant::NativeFewer,
    Mutant::NativeFlush,
    Mutant::NativeSide,
    Mutant::NativeHalf,
    Mutant::NativeAlike,
    Mutant::NativeUnseen,
    Mutant::NativeNegative,
    Mutant::NativePass,
    Mutant::NativeRuns,
    Mutant::NativePieces,
];

/// Those in what a check is told of native code.
const TOLD: &[Mutant] = &[Mutant::NativeTold, Mutant::NativeQuiet, Mutant::NativeArrive];

/// Those in what functions do that are called.
const CALLED: &[Mutant] = &[Mutant::NativeFrame, Mutant::NativeTogether, Mutant::NativeLease, Mutant::NativeFilled];

/// Programs that are tried.
const PROGRAMS: u64 = 300;

pub fn are_noticed() {
    let mut missed = Vec::new();
    for mutant in CALLED {
        select(Some(*mutant));
        let noticed = (0..PROGRAMS).find(|seed| catch_unwind(AssertUnwindSafe(|| called_in_turn(*seed, 2))).is_err());
        select(None);
        match noticed {
            Some(seed) => println!("{}: program {seed} of functions", mutant.name()),
            None => missed.push(mutant.name()),
        }
    }
    for (mutant, told) in MUTANTS.iter().map(|m| (m, false)).chain(TOLD.iter().map(|m| (m, true))) {
        select(Some(*mutant));
        // A comparison that fails panics.
        let differs = |compare: &dyn Fn() -> u32| catch_unwind(AssertUnwindSafe(compare)).is_err();
        let noticed = if differs(&|| if told { written_under() } else { written(2) }) {
            Some("as it was written".to_owned())
        } else {
            let run = |seed: u64| if told { compared_under(seed, 2, &[Check::Races]) } else { compared(seed, 2) };
            (0..PROGRAMS).find(|seed| differs(&|| run(*seed))).map(|seed| seed.to_string())
        };
        select(None);
        match noticed {
            Some(seed) => println!("{}: program {seed}", mutant.name()),
            None => missed.push(mutant.name()),
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}

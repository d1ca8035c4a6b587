//! Deliberate errors in what makes native code: some random program can then tell it from the interpreter.

use crate::native_programs::compared;
use std::panic::{AssertUnwindSafe, catch_unwind};
use warpstep::base::mutant::{Mutant, select};

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
    Mutant::NativeSides,
    Mutant::NativeMerge,
    Mutant::NativeFewer,
];

/// Programs that are tried.
const PROGRAMS: u64 = 300;

pub fn are_noticed() {
    let mut missed = Vec::new();
    for mutant in MUTANTS {
        select(Some(*mutant));
        // A comparison that fails panics.
        let noticed = (0..PROGRAMS).find(|seed| catch_unwind(AssertUnwindSafe(|| compared(*seed, 2))).is_err());
        select(None);
        match noticed {
            Some(seed) => println!("{}: program {seed}", mutant.name()),
            None => missed.push(mutant.name()),
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}

//! Deliberate errors in what is made of blocks that run ahead: some random launch then comes to something else on several threads.

use crate::ahead_programs::compared;
use std::panic::{AssertUnwindSafe, catch_unwind};
use warpstep::base::mutant::{Mutant, select};

const MUTANTS: &[Mutant] = &[Mutant::AheadMeets, Mutant::AheadReads, Mutant::AheadBegins, Mutant::AheadApart];

/// Launches that are tried.
const LAUNCHES: u64 = 400;

pub fn are_noticed() {
    let mut missed = Vec::new();
    for mutant in MUTANTS {
        select(Some(*mutant));
        // A comparison that fails panics.
        let noticed = (0..LAUNCHES).find(|seed| catch_unwind(AssertUnwindSafe(|| compared(*seed))).is_err());
        select(None);
        match noticed {
            Some(seed) => println!("{}: launch {seed}", mutant.name()),
            None => missed.push(mutant.name()),
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}

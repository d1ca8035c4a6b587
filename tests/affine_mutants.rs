//! Deliberate errors in what is claimed of registers: some random program then has other values.

use crate::claims;
use std::panic::{AssertUnwindSafe, catch_unwind};
use warpstep::base::mutant::{Mutant, select};
use warpstep::machine::ControlModel;

const MUTANTS: &[Mutant] = &[
    Mutant::AffineMeet,
    Mutant::AffineTime,
    Mutant::AffineWrap,
    Mutant::AffineCarry,
    Mutant::AffineOrder,
    Mutant::AffineGuard,
    Mutant::AffineOnce,
    Mutant::AffineLoad,
    Mutant::AffineHalves,
    Mutant::AffineCall,
];

/// Programs that are tried.
const PROGRAMS: u64 = 1_000;

pub fn are_noticed() {
    let mut missed = Vec::new();
    for mutant in MUTANTS {
        let wrong = |seed, control| !claims::watched(seed, control).wrong.is_empty();
        let either = |seed| wrong(seed, ControlModel::Crs) || wrong(seed, ControlModel::Its);
        select(Some(*mutant));
        let noticed = catch_unwind(AssertUnwindSafe(|| (0..PROGRAMS).find(|seed| either(*seed))));
        select(None);
        match noticed {
            Ok(Some(seed)) => println!("{}: program {seed}", mutant.name()),
            _ => missed.push(mutant.name()),
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}

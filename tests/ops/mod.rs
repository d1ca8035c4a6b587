//! Single operations: our own table, whose results come from exact arithmetic (`make.py` beside it), and a public emulator's
//! recorded ones where they are at hand.

mod own;
mod recorded;

use crate::shared;
use libtest_mimic::Trial;

/// The tests of this file.
pub fn trials() -> Vec<Trial> {
    let recorded = shared::trial(
        "operations_give_the_recorded_results",
        recorded::FILE,
        recorded::operations_give_the_recorded_results,
    );
    let mut trials: Vec<Trial> = own::trials();
    trials.push(recorded);
    trials
}

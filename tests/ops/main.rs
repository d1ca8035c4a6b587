//! Single operations: our own table, whose results come from exact arithmetic (`make.py` beside it), and a public emulator's
//! recorded ones where they are at hand.

#[path = "../shared/mod.rs"]
mod shared;

mod own;
mod recorded;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let arguments = Arguments::from_args();
    let recorded = shared::trial(
        "operations_give_the_recorded_results",
        recorded::FILE,
        recorded::operations_give_the_recorded_results,
    );
    let mut trials: Vec<Trial> = own::trials();
    trials.push(recorded);
    libtest_mimic::run(&arguments, trials).exit();
}

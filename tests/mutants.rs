//! Deliberate errors and the smallest programs that tell them apart (`--features mutants`).

use warpstep::base::mutant::{Mutant, select};

fn main() {
    for mutant in Mutant::ALL {
        select(Some(*mutant));
    }
    select(None);
}

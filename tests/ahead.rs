//! Blocks on several threads come to what one thread comes to (D-ahead): memory, output, counts and stops of random launches.

use crate::ahead_programs::compared;

/// Launches that are tried; `WARPSTEP_AHEAD` has another number of them.
const LAUNCHES: u64 = 150;

#[test]
fn several_threads_come_to_what_one_does() {
    let launches = std::env::var("WARPSTEP_AHEAD").ok().and_then(|n| n.parse().ok()).unwrap_or(LAUNCHES);
    let (mut right, mut vain, mut both) = (0, 0, 0);
    for seed in 0..launches {
        let [ahead, thrown] = compared(seed);
        right += u64::from(ahead > 0);
        vain += u64::from(thrown > 0);
        both += u64::from(ahead > 0 && thrown > 0);
    }
    // Nothing would be compared otherwise.
    let enough = launches / 5;
    assert!(right > 2 * enough && vain > enough && both > enough, "{right}, {vain} and {both} of {launches}");
}
